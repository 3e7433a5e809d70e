"""Integration of a Model Exchange instance with CVODE: adaptive and implicit, events located on the dense output. The
same instance in the same state gives the same calls with the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_double
from typing import TYPE_CHECKING, Any

from . import binding
from .binding import DISCARD, WARNING
from .instance import CallFailed, NotJudged

if TYPE_CHECKING:
    from .instance import Excitation, FmuInstance

BISECTIONS = 50
EVENT_SAMPLES = 4  # points of a step, its end included, at which event indicators are looked at
SOLVER_STEPS = 50  # at least so many in an experiment
INSTANT = 1e-13  # relative length of an interval in which nothing happens: rounding of times
MAX_RESTARTS = 30  # after evaluations that the FMU discarded
MAX_EVENTS = 20_000
METHODS = ("BDF", "Adams")
EULER = "Euler's method"  # with fixed steps, as a standard of comparison
DEFAULT_TOLERANCE = 1e-6
LOCAL_SHARE = 0.1  # of the tolerance, for the error of a step: those of many steps add up
ADVANCE_TOLERANCE = 1e-3  # where a run is only compared with its repetition
OVERRUN = 1.5  # times the rule's time budget, after which no more time is spent where the rule sets no limit itself
ABSOLUTE_FACTOR = 0.01  # of tolerance and nominal value, as the standard recommends (3.2.2)


def advance(instance: FmuInstance, h: float) -> None:
    """From t to t + h. The solver starts anew, so that a replay repeats it bit by bit."""
    ExchangeRun(instance, ADVANCE_TOLERANCE).run([instance.t + h], lambda t: None)


class ExchangeRun:
    """Integrates an instance in continuous-time mode and calls `read` at the given times. `on_event` is called before
    and after each event."""

    def __init__(
        self,
        instance: FmuInstance,
        tolerance: float | None = None,
        method: str = METHODS[0],
        on_event: Callable[[str], None] | None = None,
        out_of_time: Callable[[], bool] | None = None,
    ):
        import numpy as np

        self.instance, self.method, self.np = instance, method, np
        self.rtol = tolerance or instance.tolerance or DEFAULT_TOLERANCE
        self.on_event = on_event or (lambda when: None)
        self.out_of_time = out_of_time or (lambda: instance.session.time_used(OVERRUN))
        self.n, self.nz = len(instance.model.states), instance.model.indicators
        self._x, self._dx, self._z = (c_double * self.n)(), (c_double * self.n)(), (c_double * self.nz)()
        self._views = [np.ctypeslib.as_array(b) if len(b) else np.zeros(0) for b in (self._x, self._dx, self._z)]
        self._discarded = False
        self._failure: CallFailed | None = None
        self.inputs: Excitation | None = None  # continuous inputs
        self.events = 0
        self.restarts = 0
        self.largest_step = (instance.model.stop_time - instance.model.start_time) / SOLVER_STEPS

    def run(self, times: Sequence[float], read: Callable[[float], None]) -> None:
        """From the present time to the last of the times; `read` is called at each of them. Raises NotJudged if no
        solver gets there, CallFailed if a call fails, SimulationTerminated if the FMU ends the simulation."""
        pending = [t for t in times if t >= self.instance.t]
        end = pending[-1]
        while pending and pending[0] <= self.instance.t:
            read(pending.pop(0))
        while self.instance.t < end:
            event_time = self.instance.next_event
            target = end if event_time is None else min(end, max(event_time, self.instance.t))
            if self._segment(target, pending, read) or (event_time is not None and self.instance.t >= event_time):
                self._handle_event()
            while pending and pending[0] <= self.instance.t:
                read(pending.pop(0))

    def _handle_event(self) -> None:
        self.events += 1
        if self.events > MAX_EVENTS:
            raise NotJudged(f"more than {MAX_EVENTS} events by t = {self.instance.t:g}")
        self.on_event("before")
        self.instance.event()
        self.on_event("after")

    def _segment(self, end: float, pending: list[float], read: Callable[[float], None]) -> bool:
        """Integrate to `end` or to the first state or step event. Returns whether there is an event to handle."""
        if end <= self.instance.t:
            return False
        x0, t0 = self.np.array(self.instance.states()), self.instance.t
        if end - t0 <= INSTANT * max(abs(end), self.largest_step):  # too short for a solver
            self._move(end, x0)
            return self.instance.completed_step()
        z = self._indicators()
        stepper = self._stepper(t0, x0, end)
        while True:
            if self.out_of_time():
                raise NotJudged(f"the time budget was used up at t = {self.instance.t:g}")
            t_old, t_new, dense = stepper()
            crossing = self._first_crossing(z, t_old, t_new, dense)
            stop = t_new if crossing is None else crossing
            while pending and pending[0] < stop:
                self._move(pending[0], dense(pending[0]))
                read(pending.pop(0))
            self._move(stop, dense(stop))
            wants_event = self.instance.completed_step()
            if crossing is not None or wants_event:
                return True
            if stop >= end:
                return False
            z = self._indicators()

    def _stepper(self, t: float, x: Any, end: float) -> Callable[[], tuple[float, float, Callable[[float], Any]]]:
        """A function that makes one step of the solver: its begin, its end, and the dense output."""
        if self.n == 0:
            return self._stateless_stepper(t, x, end)
        if self.method == EULER:
            return self._euler_stepper(t, x, end)
        from .cvode import CvodeSolver

        first: float | None = None
        solver: Any = None

        def make(t: float, x: Any) -> Any:
            nominals = self.np.array(self.instance.nominals())
            nominals = self.np.where(self.np.isfinite(nominals) & (nominals > 0), nominals, 1.0)  # found by D14
            rtol = LOCAL_SHARE * self.rtol
            max_step = min(self.largest_step, end - t)
            atol = ABSOLUTE_FACTOR * rtol * nominals
            return CvodeSolver(self.method, self._rates, t, x, end, rtol, atol, max_step, first)

        def step() -> tuple[float, float, Callable[[float], Any]]:
            nonlocal solver, first
            while True:
                t_old, x_old = (t, x) if solver is None else (solver.t, solver.y.copy())
                solver = solver or make(t_old, x_old)
                tried = min(self.largest_step, end - t_old)
                solver.step()
                if self._failure is not None:
                    raise self._failure
                if self._discarded or solver.failed:
                    self._give_up_if_hopeless()
                    first = tried / 10**self.restarts if self.restarts < 12 else tried * 1e-12
                    solver = make(t_old, x_old)
                    continue
                return t_old, solver.t, solver.dense_output()

        return step

    def _stateless_stepper(self, t: float, x: Any, end: float) -> Any:
        now = t

        def step() -> tuple[float, float, Callable[[float], Any]]:
            nonlocal now
            before, now = now, min(end, now + self.largest_step)
            return before, now, lambda s: x

        return step

    def _euler_stepper(self, t: float, x: Any, end: float) -> Any:
        """Explicit steps of the largest size: how coarse a simple solver is."""
        now = t

        def step() -> tuple[float, float, Callable[[float], Any]]:
            nonlocal now, x
            before, y, dx = now, x, self._rates(now, x)
            if self._failure is not None or self._discarded or not self.np.all(self.np.isfinite(dx)):
                raise SolverFailed(f"{EULER} fails at t = {now:g}")
            now = min(end, now + self.largest_step)
            x = y + (now - before) * dx
            return before, now, lambda s: y + (s - before) * dx

        return step

    def _give_up_if_hopeless(self) -> None:
        """After a failed step: try again with a shorter one, unless this has happened too often."""
        self.restarts += 1
        discarded, self._discarded = self._discarded, False
        if self.restarts > MAX_RESTARTS or (not discarded and self.restarts > 3):
            reason = "the FMU discards its evaluations" if discarded else f"{self.method} fails"
            raise SolverFailed(f"{reason} at t = {self.instance.t:g}")

    def _rates(self, t: float, x: Any) -> Any:
        """The derivatives. A failure is noted, not raised: an exception must not pass through the solver's C code."""
        views, call = self._views, self.instance.call
        if self._failure is None and not self._discarded:
            views[0][:] = x
            self.instance.t = t
            calls = (
                ("fmi2SetTime", (t,)),
                ("fmi2SetContinuousStates", (self._x, self.n)),
                *self._input_calls(t),
                ("fmi2GetDerivatives", (self._dx, self.n)),
            )
            for name, arguments in calls:
                status = call(name, *arguments)
                if status == DISCARD:
                    self._discarded = True
                elif status > WARNING:
                    state, message = self.instance.state, self.instance.session.last_message()
                    self._failure = CallFailed(name, status, self.instance.kind, state, message)
        return views[1].copy()

    def _input_calls(self, t: float) -> list[tuple[str, tuple[Any, ...]]]:
        values = self.inputs(t) if self.inputs else {}
        references = binding.references([v.reference for v in values])
        return [("fmi2SetReal", (references, len(values), binding.reals(list(values.values()))))] if values else []

    def _move(self, t: float, x: Any) -> None:
        self.instance.set_time_and_states(float(t), [float(xi) for xi in x])
        for name, arguments in self._input_calls(t):
            self.instance.call_checked(name, *arguments)

    def _indicators(self) -> Any:
        if self.nz:
            self.instance.call_checked("fmi2GetEventIndicators", self._z, self.nz)
        return self._views[2].copy()

    def _first_crossing(self, z: Any, t_old: float, t_new: float, dense: Callable[[float], Any]) -> float | None:
        """The time right after the first change of an event indicator's domain in this step, or None."""
        if self.nz == 0:
            return None
        positive, low = z > 0, t_old
        for i in range(1, EVENT_SAMPLES + 1):
            high = t_new if i == EVENT_SAMPLES else t_old + (t_new - t_old) * i / EVENT_SAMPLES
            self._move(high, dense(high))
            if self.np.any((self._indicators() > 0) != positive):
                break
            low = high
        else:
            return None
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            self._move(middle, dense(middle))
            if self.np.any((self._indicators() > 0) != positive):
                high = middle
            else:
                low = middle
        return high


class SolverFailed(NotJudged):
    """A solver of the checker does not get through the experiment."""


def grid(start: float, stop: float, points: int) -> list[float]:
    """So many equal intervals of an experiment."""
    return [start + (stop - start) * i / points for i in range(points)] + [stop]
