"""One instance of the FMU, with the calls of an importer that follows the standard."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from typing import TYPE_CHECKING, Any

from . import binding
from .binding import STATUS, WARNING
from .integration import integrate
from .model import ModelVariable, Value

if TYPE_CHECKING:
    from .session import Session

INSTANTIATED = "instantiated"
INITIALIZATION = "initialization mode"
STEP_COMPLETE = "step complete"
EVENT_MODE = "event mode"
CONTINUOUS_TIME = "continuous-time mode"
TERMINATED = "terminated"
STATES_OF = {
    "CoSimulation": (INSTANTIATED, INITIALIZATION, STEP_COMPLETE, TERMINATED),
    "ModelExchange": (INSTANTIATED, INITIALIZATION, EVENT_MODE, CONTINUOUS_TIME, TERMINATED),
}
RUNNING = {"CoSimulation": STEP_COMPLETE, "ModelExchange": CONTINUOUS_TIME}
TYPES = ("Real", "Integer", "Boolean", "String")
MAX_EVENT_ITERATIONS = 100

Excitation = Callable[[float], dict[ModelVariable, float]]  # time -> values of inputs


def status_name(status: int) -> str:
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


class CallFailed(Exception):
    """A legal call that did not succeed."""

    def __init__(self, function: str, status: int, state: str, message: str):
        super().__init__(f"{function} returned {status_name(status)}{f' ({message})' if message else ''}")
        self.function, self.status, self.state = function, status, state


class SimulationTerminated(Exception):
    """The FMU has requested the end of the simulation."""


class FmuInstance:
    """An instance. `call` makes any call; the other methods make legal calls and raise CallFailed if these fail."""

    def __init__(self, session: Session, component: int, kind: str, callbacks: binding.Callbacks):
        self.session, self.component, self.kind = session, component, kind
        self.model = session.model
        self.state = INSTANTIATED
        self.t = self.model.start_time
        self.tolerance = self.model.tolerance
        self.next_event: float | None = None
        self.callbacks = callbacks

    def call(self, name: str, *arguments: Any, note: str = "") -> int:
        """Call any function and return its status."""
        return self.session.library.call(note or f" ({self.state})", name, c_void_p(self.component), *arguments)

    def call_checked(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        status = self.call(name, *arguments)
        if status not in (0, WARNING):
            raise CallFailed(name, status, self.state, self.session.last_message())

    # --- states -------------------------------------------------------------------------------------------------------

    def setup_experiment(self) -> None:
        with_tolerance, tolerance = int(self.tolerance is not None), self.tolerance or 0.0
        self.call_checked("fmi2SetupExperiment", with_tolerance, tolerance, self.model.start_time, 0, 0.0)

    def enter_initialization(self) -> None:
        self.call_checked("fmi2EnterInitializationMode")
        self.state = INITIALIZATION

    def exit_initialization(self) -> None:
        self.call_checked("fmi2ExitInitializationMode")
        self.state = STEP_COMPLETE if self.kind == "CoSimulation" else EVENT_MODE

    def go_to(self, state: str) -> FmuInstance:
        """Bring the instance to a later state."""
        path = STATES_OF[self.kind]
        for step in path[path.index(self.state) + 1 : path.index(state) + 1]:
            if step == INITIALIZATION:
                self.setup_experiment()
                self.enter_initialization()
            elif step in (STEP_COMPLETE, EVENT_MODE):
                self.exit_initialization()
            elif step == CONTINUOUS_TIME:
                self.iterate_events()
            else:
                self.call_checked("fmi2Terminate")
                self.state = TERMINATED
        return self

    def enter_run_state(self) -> FmuInstance:
        return self.go_to(RUNNING[self.kind])

    def reset(self) -> None:
        self.call_checked("fmi2Reset")
        self.state, self.t = INSTANTIATED, self.model.start_time

    def free(self) -> None:
        self.session.library.call(f" ({self.state})", "fmi2FreeInstance", c_void_p(self.component))
        self.session.remove(self)

    # --- values -------------------------------------------------------------------------------------------------------

    def get(self, variables: Sequence[ModelVariable]) -> list[Value]:
        found: dict[int, Value] = {}
        for kind in TYPES:
            group = [v for v in variables if v.type == kind]
            if not group:
                continue
            values = empty_array(kind, len(group))
            self.call_checked(f"fmi2Get{kind}", binding.references([v.reference for v in group]), len(group), values)
            found.update((v.index, _python_value(kind, value)) for v, value in zip(group, values, strict=True))
        return [found[v.index] for v in variables]

    def numbers(self, variables: Sequence[ModelVariable]) -> list[float]:
        """Values of variables that are not strings."""
        return [float(v) for v in self.get(variables)]

    def set(self, values: dict[ModelVariable, Value]) -> None:
        for kind in TYPES:
            group = [(v, value) for v, value in values.items() if v.type == kind]
            if group:
                references = binding.references([v.reference for v, _ in group])
                self.call_checked(f"fmi2Set{kind}", references, len(group), array(kind, [x for _, x in group]))

    # --- Co-Simulation ------------------------------------------------------------------------------------------------

    def step(self, h: float) -> None:
        self.call_checked("fmi2DoStep", self.t, h, 1)
        self.t += h

    # --- Model Exchange -----------------------------------------------------------------------------------------------

    def iterate_events(self) -> None:
        """Iterate in event mode until the discrete states are final, then enter continuous-time mode."""
        info = binding.EventInfo()
        for _ in range(MAX_EVENT_ITERATIONS):
            self.call_checked("fmi2NewDiscreteStates", byref(info))
            if info.terminateSimulation:
                raise SimulationTerminated
            if not info.newDiscreteStatesNeeded:
                break
        self.next_event = info.nextEventTime if info.nextEventTimeDefined else None
        self.call_checked("fmi2EnterContinuousTimeMode")
        self.state = CONTINUOUS_TIME

    def event(self) -> None:
        self.call_checked("fmi2EnterEventMode")
        self.state = EVENT_MODE
        self.iterate_events()

    def states(self) -> list[float]:
        return self._vector("fmi2GetContinuousStates", len(self.model.states))

    def derivatives(self) -> list[float]:
        return self._vector("fmi2GetDerivatives", len(self.model.states))

    def indicators(self) -> list[float]:
        return self._vector("fmi2GetEventIndicators", self.model.indicators)

    def _vector(self, name: str, n: int) -> list[float]:
        values = (c_double * n)()
        self.call_checked(name, values, n)
        return list(values)

    def set_time_and_states(self, t: float, x: Sequence[float]) -> None:
        self.t = t
        self.call_checked("fmi2SetTime", t)
        if x:
            self.call_checked("fmi2SetContinuousStates", binding.reals(x), len(x))

    # --- both ---------------------------------------------------------------------------------------------------------

    def advance(self, h: float, substeps: int = 1) -> None:
        """From t to t + h: one communication step, or `substeps` steps of the checker's own integration."""
        if self.kind == "CoSimulation":
            self.step(h)
        else:
            integrate(self, self.t + h, substeps)

    def run(
        self,
        steps: Iterable[float],
        variables: Sequence[ModelVariable],
        excitation: Excitation | None = None,
        substeps: int = 1,
    ) -> list[list[Value]]:
        """The values of the variables before the first step and after each step."""
        rows = [self.get(variables)]
        for h in steps:
            if excitation:
                self.set(dict(excitation(self.t)))
            self.advance(h, substeps)
            rows.append(self.get(variables))
        return rows


def empty_array(kind: str, n: int = 1) -> Any:
    """A C array for the result of fmi2Get<kind>."""
    return ({"Real": c_double, "String": c_char_p}.get(kind, c_int) * n)()


def array(kind: str, values: Sequence[Value]) -> Any:
    """A C array of values for fmi2Set<kind>."""
    if kind == "String":
        return binding.strings([str(v).encode() for v in values])
    return binding.reals([float(v) for v in values]) if kind == "Real" else binding.integers([int(v) for v in values])


def _python_value(kind: str, value: Any) -> Value:
    if kind == "String":
        return (value or b"").decode(errors="replace")
    return bool(value) if kind == "Boolean" else value


def same(a: Value, b: Value) -> bool:
    """Whether two values are the same: all bits, except the sign of zero."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))
