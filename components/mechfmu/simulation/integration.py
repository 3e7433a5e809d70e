"""Integration over one communication step: adaptive, error-controlled, without hidden state.

DOP853, an explicit one-step method of order 8, is the default: at a communication point it restarts at no cost, from
the step size that its error control proposed last. When it needs very many steps the mechanism is stiff (hard springs,
light bodies), and LSODA, which chooses between Adams and BDF methods, takes over; the user can also choose a method.
All that is kept between communication steps is `SolverState`, two numbers.

A zero crossing of a guard, from positive to negative, ends the integration there; it is located on the solver's dense
output. Guards that cross zero at the same time do so in one event.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .limits import EVALUATION_LIMIT, EVENT_SAMPLES_PER_STEP, EVENT_TIME_TOLERANCE, NEGLIGIBLE_INTERVAL

if TYPE_CHECKING:
    from scipy.integrate import OdeSolver  # imported where it is used: the import is most of the start of an FMU

MAX_EXPLICIT_STEPS = 200  # within one communication step; a restart of LSODA costs about as much as 25 of them
ROOT_TOLERANCE = 1e-13  # s, of the zero crossing of one guard
ROOT_OFFSET = 10  # times ROOT_TOLERANCE: the first trial of a time just after a zero crossing
ROOT_OFFSET_FACTOR = 4  # from one trial to the next

EXPLICIT, IMPLICIT, AUTOMATIC = 1, 2, 3  # the items of solver.method

Function = Callable[[float, np.ndarray], np.ndarray]


class IntegrationError(RuntimeError):
    """The solver cannot reach the end of the step; the message has the reason. The state before the step is valid."""


@dataclass(frozen=True)
class SolverState:
    """What the solver keeps from one communication step to the next."""

    step: float = 0.0  # the step size that the error control proposes next; 0: none yet
    stiff: bool = False


@dataclass(frozen=True)
class LocatedEvent:
    """The first event of an integration."""

    first: int  # the guard that crossed zero first
    guards: tuple[int, ...]  # all guards that crossed zero at that time
    guards_before: np.ndarray  # values of all guards before the event


@dataclass(frozen=True)
class IntegrationEnd:
    """Where an integration ended: at its end time, or at an event."""

    t: float
    x: np.ndarray
    solver: SolverState
    event: LocatedEvent | None = None


@dataclass
class Budget:
    """How many evaluations of the equations are left in a communication step."""

    left: int = EVALUATION_LIMIT

    def counted(self, function: Function) -> Function:
        def call(t: float, x: np.ndarray) -> np.ndarray:
            self.left -= 1
            return function(t, x)

        return call


def integrate(
    rates: Function,
    t: float,
    t_end: float,
    x: np.ndarray,
    state: SolverState,
    rtol: float,
    max_step: float = 0.0,
    guards: Function | None = None,
    method: int = AUTOMATIC,
    budget: Budget | None = None,
) -> IntegrationEnd:
    """Integrate from (t, x) to t_end, or to the first event before it.

    rtol       also the absolute tolerance
    max_step   0: free
    budget     shared by several calls
    """
    if x.size == 0 or t_end - t <= EVENT_TIME_TOLERANCE * NEGLIGIBLE_INTERVAL:
        return IntegrationEnd(t_end, x, state)
    limit = max_step if max_step > 0 else np.inf
    stiff, proposed = method == IMPLICIT or (method == AUTOMATIC and state.stiff), state.step
    budget = budget or Budget()
    rates, guards = budget.counted(rates), guards and budget.counted(guards)
    solver = _start(rates, t, t_end, x, rtol, limit, stiff, proposed)
    for count in itertools.count(1):
        message = solver.step()
        if solver.status == "failed":
            raise IntegrationError(f"the solver stopped at t = {solver.t:g} s: {message}")
        if not np.all(np.isfinite(solver.y)):
            raise IntegrationError(f"the solution is no longer finite at t = {solver.t:g} s")
        if guards is not None and (found := _first_event(guards, solver)):
            t_event, event = found
            return IntegrationEnd(t_event, solver.dense_output()(t_event), SolverState(proposed, stiff), event)
        if not stiff:
            # the last step may have been shortened to reach t_end: it may raise the proposal, not lower it
            if solver.status == "running" or solver.h_abs > proposed:
                proposed = float(solver.h_abs)
            if method == AUTOMATIC and count == MAX_EXPLICIT_STEPS and solver.status == "running":
                stiff = True
                solver = _start(rates, solver.t, t_end, solver.y, rtol, limit, stiff, proposed)
        if solver.status == "finished":
            return IntegrationEnd(t_end, solver.y, SolverState(proposed, stiff))
        if budget.left <= 0:
            break
    raise IntegrationError(
        f"the step to t = {t_end:g} s stopped at t = {solver.t:g} s: {EVALUATION_LIMIT} evaluations of the equations "
        "were not enough: use a smaller communication step or a larger tolerance"
    )


def _start(
    rates: Function, t: float, t_end: float, x: np.ndarray, rtol: float, limit: float, stiff: bool, proposed: float
) -> OdeSolver:
    from scipy.integrate import DOP853, LSODA

    if stiff:
        return LSODA(rates, t, x, t_end, rtol=rtol, atol=rtol, max_step=limit)
    first = min(proposed, t_end - t) if proposed > 0 else None
    return DOP853(rates, t, x, t_end, rtol=rtol, atol=rtol, max_step=limit, first_step=first)


def _first_event(guards: Function, solver: OdeSolver) -> tuple[float, LocatedEvent] | None:
    """The time of the first event in the solver's last step, just after the zero crossing, and the event.

    Guards are sampled several times within the step: one may become positive and negative again, as after a bounce.
    """
    dense_output = solver.dense_output()
    times = np.linspace(solver.t_old, solver.t, EVENT_SAMPLES_PER_STEP + 1)
    values = [guards(t, dense_output(t)) for t in times[:-1]] + [guards(solver.t, solver.y)]
    for (t_a, before), (t_b, after) in itertools.pairwise(zip(times, values, strict=True)):
        crossing = np.flatnonzero((before > 0) & (after <= 0))
        if crossing.size:
            crossings = [
                (_locate_zero_crossing(lambda t: guards(t, dense_output(t)), int(k), t_a, t_b, float(after[k])), int(k))
                for k in crossing
            ]
            earliest, first = min(crossings)
            t_event = max(t for t, _ in crossings if t <= earliest + 2 * EVENT_TIME_TOLERANCE)
            g = after if t_event == solver.t else guards(t_event, dense_output(t_event))
            crossed = tuple(int(k) for k in crossing if k == first or g[k] <= 0)
            return t_event, LocatedEvent(first, crossed, before)
    return None


def _locate_zero_crossing(guards: Callable[[float], np.ndarray], k: int, t_a: float, t_b: float, at_b: float) -> float:
    """The time between t_a and t_b just after guard k has crossed zero, so that it does not cross it again."""
    from scipy.optimize import brentq

    root = float(brentq(lambda t: guards(t)[k], t_a, t_b, xtol=ROOT_TOLERANCE)) if at_b < 0 else t_b
    offset = ROOT_OFFSET * ROOT_TOLERANCE
    while root + offset < t_b and guards(root + offset)[k] > 0:
        offset *= ROOT_OFFSET_FACTOR
    return min(root + offset, t_b)
