"""Integration over one communication step: adaptive, error-controlled, free of memory that cannot be saved.

DOP853, an explicit one-step method of order 8, does the work: at a communication point it starts again at no cost, from the step
size its error control last wanted. When it needs very many steps the mechanism is stiff (hard springs, light bodies), and LSODA,
which chooses between Adams and BDF methods by itself, takes over from there; a method can also be demanded. What must survive between
communication steps is `Memory`, two numbers.

A guard that falls through zero ends the integration there, located on the solver's dense output. Guards that fall in the same moment do so together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.integrate import (
        OdeSolver,  # imported where it is used: it takes longer than all else that an FMU needs at its start
    )

EXPLICIT_STEPS = 200  # within one communication step; LSODA's restart costs about as much as 25 of them
EVALUATION_LIMIT = 200_000  # of the equations within one communication step before it is given up, as in instance.c
EVENT_TIME_TOLERANCE = 1e-10  # s: guards that fall within it of each other, up to a factor of two, fall together
ROOT_TOLERANCE = 1e-13  # s, of a single guard
LOOKS = 8  # at the guards, in one internal step

EXPLICIT, IMPLICIT, AUTOMATIC = 1, 2, 3  # the items of solver.method

Function = Callable[[float, np.ndarray], np.ndarray]


class IntegrationError(RuntimeError):
    """The solver cannot reach the end of the step; the message says why. The state before the step is still valid."""


@dataclass(frozen=True)
class Memory:
    """What the solver remembers from one communication step to the next."""

    step: float = 0.0  # the step size the error control wants next; 0: none yet
    stiff: bool = False


@dataclass(frozen=True)
class Arrival:
    """Where an integration ended: at its end time, or at an event, whose guards are `fallen`; guard `event` was the first of them, and the guards that
    were above zero before it are `standing`."""

    t: float
    x: np.ndarray
    memory: Memory
    event: int | None = None
    fallen: tuple[int, ...] = ()
    standing: np.ndarray | None = None


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
    rates: Function, t: float, t_end: float, x: np.ndarray, memory: Memory, rtol: float, max_step: float = 0.0, guards: Function | None = None,
    method: int = AUTOMATIC, budget: Budget | None = None,
) -> Arrival:  # fmt: skip
    """From (t, x) to t_end, or to the first event before it. `rtol` is also the absolute tolerance; max_step = 0 means free; budget: for several calls."""
    if (
        x.size == 0 or t_end - t <= EVENT_TIME_TOLERANCE * 1e-3
    ):  # nothing to integrate, or only the rest after an event at the very end
        return Arrival(t_end, x, memory)
    limit = max_step if max_step > 0 else np.inf
    stiff, wanted = method == IMPLICIT or (method == AUTOMATIC and memory.stiff), memory.step
    budget = budget or Budget()
    rates, guards = budget.counted(rates), guards and budget.counted(guards)
    solver = _start(rates, t, t_end, x, rtol, limit, stiff, wanted)
    for count in itertools.count(1):
        message = solver.step()
        if solver.status == "failed":
            raise IntegrationError(f"the solver stopped at t = {solver.t:g} s: {message}")
        if not np.all(np.isfinite(solver.y)):
            raise IntegrationError(f"the solution is no longer finite at t = {solver.t:g} s")
        if guards is not None and (event := _first_event(guards, solver)):
            k, fallen, t_event, standing = event
            return Arrival(t_event, solver.dense_output()(t_event), Memory(wanted, stiff), k, fallen, standing)
        if not stiff:
            if solver.status == "running" or solver.h_abs > wanted:
                wanted = float(
                    solver.h_abs
                )  # the last step was cut to fit: keep what was wanted before it, unless it asks for more
            if method == AUTOMATIC and count == EXPLICIT_STEPS and solver.status == "running":
                stiff = True
                solver = _start(rates, solver.t, t_end, solver.y, rtol, limit, stiff, wanted)
        if solver.status == "finished":
            return Arrival(t_end, solver.y, Memory(wanted, stiff))
        if budget.left <= 0:
            break
    raise IntegrationError(
        f"the step to t = {t_end:g} s stopped at t = {solver.t:g} s: {EVALUATION_LIMIT} evaluations of the equations were not enough: "
        "use a smaller communication step or a larger tolerance"
    )


def _start(
    rates: Function, t: float, t_end: float, x: np.ndarray, rtol: float, limit: float, stiff: bool, wanted: float
) -> OdeSolver:
    from scipy.integrate import DOP853, LSODA

    if stiff:
        return LSODA(rates, t, x, t_end, rtol=rtol, atol=rtol, max_step=limit)
    first = min(wanted, t_end - t) if wanted > 0 else None
    return DOP853(rates, t, x, t_end, rtol=rtol, atol=rtol, max_step=limit, first_step=first)


def _first_event(guards: Function, solver: OdeSolver) -> tuple[int, tuple[int, ...], float, np.ndarray] | None:
    """The earliest fall of a guard through zero during the solver's last step, all that have fallen by then, when (just after the root), and the guards before.

    Guards are looked at several times within the step: one may rise and fall again in it, as after a bounce.
    """
    dense = solver.dense_output()
    times = np.linspace(solver.t_old, solver.t, LOOKS + 1)
    values = [guards(t, dense(t)) for t in times[:-1]] + [guards(solver.t, solver.y)]
    for (t_a, before), (t_b, after) in itertools.pairwise(zip(times, values, strict=True)):
        falling = np.flatnonzero((before > 0) & (after <= 0))
        if falling.size:
            times_of_fall = [
                (_just_fallen(lambda t: guards(t, dense(t)), int(k), t_a, t_b, float(after[k])), int(k))
                for k in falling
            ]
            earliest, first = min(times_of_fall)
            t_event = max(t for t, _ in times_of_fall if t <= earliest + 2 * EVENT_TIME_TOLERANCE)
            there = after if t_event == solver.t else guards(t_event, dense(t_event))
            return first, tuple(int(k) for k in falling if k == first or there[k] <= 0), t_event, before
    return None


def _just_fallen(guards: Callable[[float], np.ndarray], k: int, t_a: float, t_b: float, at_b: float) -> float:
    """When guard k has fallen between t_a and t_b: a hair beyond the root, so that it has really fallen and does not fire again."""
    from scipy.optimize import brentq

    root = float(brentq(lambda t: guards(t)[k], t_a, t_b, xtol=ROOT_TOLERANCE)) if at_b < 0 else t_b
    beyond = 10 * ROOT_TOLERANCE
    while root + beyond < t_b and guards(root + beyond)[k] > 0:
        beyond *= 4
    return min(root + beyond, t_b)
