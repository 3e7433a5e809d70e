"""One instance of the FMU, with the calls of an importer that follows the standard.

`call` makes any call. All other methods make only calls that the tables of sections 3.2.3 and 4.2.4 allow, with their
conditions; a rule that asks for another one is a mistake of the checker (IllegalCall), not a finding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from typing import TYPE_CHECKING, Any

from . import binding
from .binding import DISCARD, DO_STEP_STATUS, FATAL, PENDING, STATUS, TERMINATED_STATUS, WARNING
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
CALLS_SENTENCE = {"CoSimulation": "cs-calls", "ModelExchange": "me-calls"}
TYPES = ("Real", "Integer", "Boolean", "String")
MAX_EVENT_ITERATIONS = 10_000
POLL_SECONDS = 1e-3  # between two questions whether an asynchronous step has ended

Excitation = Callable[[float], dict[ModelVariable, Value]]  # time -> values of inputs


def status_name(status: int) -> str:
    return STATUS[status] if 0 <= status < len(STATUS) else str(status)


MAY_DISCARD = {  # 2.1.3: a value is outside of its domain, or the step is too long
    "ModelExchange": (
        *(f"fmi2Set{name}" for name in ("Real", "Integer", "Boolean", "String", "ContinuousStates")),
        *(f"fmi2Get{name}" for name in ("Real", "Derivatives", "ContinuousStates", "EventIndicators")),
    ),
    "CoSimulation": ("fmi2DoStep",),
}


ONLY_ONE = "the FMU can be instantiated only once per process, and fails the second time"


class CallFailed(Exception):
    """A legal call that did not succeed. `discarded`: the FMU may refuse the values or the step size that the importer
    has chosen."""

    def __init__(self, function: str, status: int, kind: str, state: str, message: str):
        super().__init__(f"{function} returned {status_name(status)} ({state}{f': {message}' if message else ''})")
        self.function, self.status, self.state = function, status, state
        self.discarded = status == DISCARD and function in MAY_DISCARD[kind]
        self.sentence = CALLS_SENTENCE[kind]


class SimulationTerminated(Exception):
    """The FMU has requested the end of the simulation."""


class EndlessEventIteration(Exception):
    """fmi2NewDiscreteStates always asks to be called again."""


class NotJudged(Exception):
    """The checker cannot decide something; the text gives the reason."""


class ProcessSpent(Exception):
    """After fmi2Fatal no function of the FMU may be called any more; the rule goes on in a new process."""


class IllegalCall(Exception):
    """A rule asked for a call that the standard does not allow: a mistake of the checker."""


class FmuInstance:
    """An instance."""

    def __init__(self, session: Session, component: int, kind: str, callbacks: binding.Callbacks):
        self.session, self.component, self.kind = session, component, kind
        self.model = session.model
        self.library = session.library
        self.state = INSTANTIATED
        self.t = self.model.start_time
        self.tolerance = self.model.tolerance
        self.stop_time: float | None = None  # given to fmi2SetupExperiment
        self.next_event: float | None = None
        self.must_step = False  # Co-Simulation: values were set, so the next call is a step, not a read
        self.observe_event: Callable[[binding.EventInfo], None] | None = None  # after each fmi2NewDiscreteStates
        self.rollback = False  # an earlier FMU state may be set again (noSetFMUStatePriorToCurrentPoint is false)
        self.callbacks = callbacks
        self.last_status = 0  # of the last call
        self._pointer = c_void_p(component)

    def call(self, name: str, *arguments: Any, note: str = "") -> int:
        """Call any function and return its status. After fmi2Fatal no further call is allowed in this process."""
        if self.session.fatal:
            raise ProcessSpent
        self.session.begin_call(name)
        status: int = self.library.call(note or f" ({self.state})", name, self._pointer, *arguments)
        self.session.fatal = status == FATAL
        self.last_status = status
        return status

    def call_checked(self, name: str, *arguments: Any) -> None:
        """Call a function that must succeed."""
        status = self.call(name, *arguments)
        if status not in (0, WARNING):
            raise self.failure(name, status)

    def failure(self, name: str, status: int) -> CallFailed | NotJudged:
        """The exception for a legal call that did not succeed."""
        if self.session.again:
            return NotJudged(ONLY_ONE)
        return CallFailed(name, status, self.kind, self.state, self.session.last_message())

    # --- states -------------------------------------------------------------------------------------------------------

    def setup_experiment(self) -> None:
        with_tolerance, tolerance = int(self.tolerance is not None), self.tolerance or 0.0
        stop = (int(self.stop_time is not None), self.stop_time or 0.0)
        self.call_checked("fmi2SetupExperiment", with_tolerance, tolerance, self.model.start_time, *stop)

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
        self.state, self.t, self.next_event, self.must_step = INSTANTIATED, self.model.start_time, None, False

    def free(self) -> None:
        if not self.session.fatal:
            self.library.call(f" ({self.state})", "fmi2FreeInstance", self._pointer)
        self.session.remove(self)

    # --- values -------------------------------------------------------------------------------------------------------

    def readable(self) -> list[ModelVariable]:
        """The variables that may be read in the present state, without constants."""
        if self.state == INSTANTIATED or self.must_step:
            return []
        if self.state == INITIALIZATION:
            return [v for v in self.model.initial_readable if v.variability != "constant"]
        return self.model.everything

    def settable(self, v: ModelVariable) -> bool:
        """Whether the variable may be set in the present state (conditions 1, 3, 4, 5, 6 of the tables)."""
        tunable = v.causality == "parameter" and v.variability == "tunable"
        if v.variability == "constant" or v.causality == "independent":
            return False
        if self.state == INSTANTIATED:
            return v.initial in ("exact", "approx")
        if self.state == INITIALIZATION:
            return v.initial == "exact" or v.causality == "input"
        if self.state == CONTINUOUS_TIME:
            return v.causality == "input" and v.variability == "continuous" and v.type == "Real"
        return self.state in (STEP_COMPLETE, EVENT_MODE) and (v.causality == "input" or tunable)

    def _all_settable(self) -> frozenset[ModelVariable]:
        known = self.session.settable
        if self.state not in known:
            known[self.state] = frozenset(v for v in self.model.variables if self.settable(v))
        return known[self.state]

    def get(self, variables: Sequence[ModelVariable]) -> list[Value]:
        if self.must_step:
            raise IllegalCall("reading after setting, without a step in between")
        if self.state == INSTANTIATED:
            raise IllegalCall("reading before initialization")
        if self.state == INITIALIZATION and not set(variables) <= set(self.model.initial_readable):
            raise IllegalCall("reading a variable that is not in InitialUnknowns in initialization mode")
        found: dict[ModelVariable, Value] = {}
        for kind, group in _by_type(variables).items():
            values = empty_array(kind, len(group))
            self.call_checked(f"fmi2Get{kind}", binding.references([v.reference for v in group]), len(group), values)
            numbers = _python_values(kind, values)
            if len(group) == len(variables):
                return numbers
            found.update(zip(group, numbers, strict=True))
        return [found[v] for v in variables]

    def numbers(self, variables: Sequence[ModelVariable]) -> list[float]:
        """Values of variables that are not strings."""
        return [float(v) for v in self.get(variables)]

    def set(self, values: dict[ModelVariable, Value]) -> None:
        if not values.keys() <= self._all_settable():
            names = ", ".join(v.name for v in values if not self.settable(v))
            raise IllegalCall(f"setting {names} in the state {self.state}")
        for kind, group in _by_type(values).items():
            references = binding.references([v.reference for v in group])
            self.call_checked(f"fmi2Set{kind}", references, len(group), array(kind, [values[v] for v in group]))
        self.must_step = self.must_step or (bool(values) and self.state == STEP_COMPLETE)

    # --- Co-Simulation ------------------------------------------------------------------------------------------------

    def try_step(self, h: float) -> int:
        """Make a step, wait for its end if it is asynchronous, and return its status."""
        status = self.call("fmi2DoStep", self.t, h, int(not self.rollback))
        if status == PENDING:
            status = self.wait()
        self.must_step = False
        return status

    def wait(self) -> int:
        """The status of an asynchronous step when it has ended."""
        end = time.monotonic() + self.session.call_seconds
        value = c_int(PENDING)
        while value.value == PENDING:
            self.call_checked("fmi2GetStatus", DO_STEP_STATUS, byref(value))
            if time.monotonic() > end:
                message = f"fmi2GetStatus says fmi2Pending for {self.session.call_seconds:g} s"
                raise CallFailed("fmi2DoStep", PENDING, self.kind, self.state, message)
            time.sleep(POLL_SECONDS)
        return value.value

    def step(self, h: float) -> None:
        """A step that must succeed, unless the FMU asks to end the simulation."""
        status = self.try_step(h)
        if status == DISCARD and self.wants_to_end():
            raise SimulationTerminated
        if status not in (0, WARNING):
            raise self.failure("fmi2DoStep", status)
        self.t += h

    def wants_to_end(self) -> bool:
        """After fmi2Discard: whether the FMU asks to end the simulation."""
        ended = c_int(0)
        status = self.call("fmi2GetBooleanStatus", TERMINATED_STATUS, byref(ended))
        return status <= WARNING and bool(ended.value)

    # --- Model Exchange -----------------------------------------------------------------------------------------------

    def new_discrete_states(self) -> binding.EventInfo:
        info = binding.EventInfo()
        self.call_checked("fmi2NewDiscreteStates", byref(info))
        if self.observe_event is not None:
            self.observe_event(info)
        if info.terminateSimulation:
            raise SimulationTerminated
        return info

    def iterate_events(self) -> None:
        """Iterate in event mode until the discrete states are final, then enter continuous-time mode."""
        for _ in range(MAX_EVENT_ITERATIONS):
            info = self.new_discrete_states()
            if not info.newDiscreteStatesNeeded:
                break
        else:
            raise EndlessEventIteration
        self.next_event = info.nextEventTime if info.nextEventTimeDefined else None
        self.call_checked("fmi2EnterContinuousTimeMode")
        self.state = CONTINUOUS_TIME

    def enter_event_mode(self) -> None:
        self.call_checked("fmi2EnterEventMode")
        self.state = EVENT_MODE

    def event(self) -> None:
        self.enter_event_mode()
        self.iterate_events()

    def completed_step(self) -> bool:
        """Report an accepted step, where the FMU needs it. Returns whether it asks for event mode."""
        if self.model.flag("ModelExchange", "completedIntegratorStepNotNeeded"):
            return False
        event, end = c_int(0), c_int(0)
        self.call_checked("fmi2CompletedIntegratorStep", int(not self.rollback), byref(event), byref(end))
        if end.value:
            raise SimulationTerminated
        return bool(event.value)

    def states(self) -> list[float]:
        return self._vector("fmi2GetContinuousStates", len(self.model.states))

    def derivatives(self) -> list[float]:
        return self._vector("fmi2GetDerivatives", len(self.model.states))

    def indicators(self) -> list[float]:
        return self._vector("fmi2GetEventIndicators", self.model.indicators)

    def nominals(self) -> list[float]:
        return self._vector("fmi2GetNominalsOfContinuousStates", len(self.model.states))

    def _vector(self, name: str, n: int) -> list[float]:
        values = (c_double * n)()
        self.call_checked(name, values, n)
        return list(values)

    def set_time_and_states(self, t: float, x: Sequence[float]) -> None:
        self.set_time(t)
        if len(x):
            self.set_states(x)

    def set_time(self, t: float) -> None:
        self.t = t
        self.call_checked("fmi2SetTime", t)

    def set_states(self, x: Sequence[float]) -> None:
        self.call_checked("fmi2SetContinuousStates", binding.reals(x), len(x))


def _by_type(variables: Iterable[ModelVariable]) -> dict[str, list[ModelVariable]]:
    """The variables of each type, in the order of the types."""
    found: dict[str, list[ModelVariable]] = {kind: [] for kind in TYPES}
    for v in variables:
        found[v.type].append(v)
    return {kind: group for kind, group in found.items() if group}


def empty_array(kind: str, n: int = 1) -> Any:
    """A C array for the result of fmi2Get<kind>."""
    return ({"Real": c_double, "String": c_char_p}.get(kind, c_int) * n)()


def array(kind: str, values: Sequence[Value]) -> Any:
    """A C array of values for fmi2Set<kind>."""
    if kind == "String":
        return binding.strings([str(v).encode() for v in values])
    return binding.reals([float(v) for v in values]) if kind == "Real" else binding.integers([int(v) for v in values])


def _python_values(kind: str, values: Any) -> list[Value]:
    if kind == "String":
        return [(value or b"").decode(errors="replace") for value in values]
    return [bool(value) for value in values] if kind == "Boolean" else list(values)


def same(a: Value, b: Value) -> bool:
    """Whether two values are the same: all bits, except the sign of zero."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))
