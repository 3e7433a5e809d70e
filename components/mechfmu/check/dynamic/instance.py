"""One instance of the FMU, driven through its life by the book."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from typing import TYPE_CHECKING, Any

from . import binding
from .binding import DISCARD, STATUS, WARNING
from .model import Value, ModelVariable

if TYPE_CHECKING:
    from .session import Session

INSTANTIATED, INITIALIZATION, STEP_COMPLETE, EVENT_MODE, CONTINUOUS_TIME, TERMINATED = (
    "instantiated",
    "initialization mode",
    "step complete",
    "event mode",
    "continuous-time mode",
    "terminated",
)
STATES_OF = {
    "CoSimulation": (INSTANTIATED, INITIALIZATION, STEP_COMPLETE, TERMINATED),
    "ModelExchange": (INSTANTIATED, INITIALIZATION, EVENT_MODE, CONTINUOUS_TIME, TERMINATED),
}
RUNNING = {"CoSimulation": STEP_COMPLETE, "ModelExchange": CONTINUOUS_TIME}

Excitation = Callable[[float], dict[ModelVariable, float]]


class CallFailed(Exception):
    """A legal call that did not succeed."""

    def __init__(self, function: str, status: int, state: str, said: str):
        super().__init__(
            f"{function} returned {STATUS[status] if 0 <= status < 6 else status}{f' ({said})' if said else ''}"
        )
        self.function, self.status, self.state = function, status, state


class FmuInstance:
    """An instance. `call` makes any call; the rest is what a host does, and raises CallFailed when that does not work."""

    def __init__(self, session: Session, component: int, kind: str, keep: Any):
        self.session, self.component, self.kind = session, component, kind
        self.model = session.model
        self.state = INSTANTIATED
        self.t = self.model.start_time
        self.tolerance = self.model.tolerance
        self.next_event: float | None = None
        self._keep = keep  # the callbacks must outlive the instance

    def call(self, name: str, *arguments: Any, note: str = "") -> int:
        """The status of any function."""
        return self.session.library.call(note or f" ({self.state})", name, c_void_p(self.component), *arguments)

    def call_checked(self, name: str, *arguments: Any) -> None:
        status = self.call(name, *arguments)
        if status not in (0, WARNING):
            raise CallFailed(name, status, self.state, self.session.last_message())

    # --- life -----------------------------------------------------------------------------------------------------------

    def setup(self, stop: float | None = None) -> FmuInstance:
        tolerance = self.tolerance
        self.call_checked(
            "fmi2SetupExperiment",
            int(tolerance is not None),
            tolerance or 0.0,
            self.model.start_time,
            int(stop is not None),
            stop or 0.0,
        )
        return self

    def enter(self) -> FmuInstance:
        self.call_checked("fmi2EnterInitializationMode")
        self.state = INITIALIZATION
        return self

    def exit(self) -> FmuInstance:
        self.call_checked("fmi2ExitInitializationMode")
        self.state = STEP_COMPLETE if self.kind == "CoSimulation" else EVENT_MODE
        return self

    def go_to(self, state: str) -> FmuInstance:
        """From instantiated on to a later state."""
        path = STATES_OF[self.kind]
        for step in path[path.index(self.state) + 1 : path.index(state) + 1]:
            if step == INITIALIZATION:
                self.setup().enter()
            elif step in (STEP_COMPLETE, EVENT_MODE):
                self.exit()
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
        self.session.forget(self)

    # --- values ---------------------------------------------------------------------------------------------------------

    def get(self, variables: Sequence[ModelVariable]) -> list[Value]:
        found: dict[int, Value] = {}
        for kind in ("Real", "Integer", "Boolean", "String"):
            group = [v for v in variables if v.type == kind]
            if not group:
                continue
            values: Any = ({"Real": c_double, "String": c_char_p}.get(kind, c_int) * len(group))()
            self.call_checked(f"fmi2Get{kind}", binding.references([v.reference for v in group]), len(group), values)
            for v, value in zip(group, values, strict=True):
                found[v.index] = (
                    (value or b"").decode(errors="replace")
                    if kind == "String"
                    else bool(value)
                    if kind == "Boolean"
                    else value
                )
        return [found[v.index] for v in variables]

    def numbers(self, variables: Sequence[ModelVariable]) -> list[float]:
        """Values of variables that are not strings."""
        return [float(v) for v in self.get(variables)]

    def set(self, values: dict[ModelVariable, Value]) -> None:
        for kind in ("Real", "Integer", "Boolean", "String"):
            group = [(v, value) for v, value in values.items() if v.type == kind]
            if group:
                self.call_checked(
                    f"fmi2Set{kind}",
                    binding.references([v.reference for v, _ in group]),
                    len(group),
                    array(kind, [x for _, x in group]),
                )

    # --- Co-Simulation ----------------------------------------------------------------------------------------------------

    def step(self, h: float) -> None:
        self.call_checked("fmi2DoStep", self.t, h, 1)
        self.t += h

    # --- Model Exchange ---------------------------------------------------------------------------------------------------

    def iterate_events(self) -> None:
        """In event mode: until nothing changes, then on to continuous time."""
        info = binding.EventInfo()
        for _ in range(100):
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

    # --- either -----------------------------------------------------------------------------------------------------------

    def advance(self, h: float, substeps: int = 1) -> None:
        """From t to t + h: a communication step, or so many steps of the checker's own integration."""
        if self.kind == "CoSimulation":
            self.step(h)
        else:
            from .integration import integrate

            integrate(self, self.t + h, substeps)

    def run(
        self, steps: Iterable[float], variables: Sequence[ModelVariable], excitation: Excitation | None = None, substeps: int = 1
    ) -> list[list[Value]]:
        """The variables before the first and after every step."""
        rows = [self.get(variables)]
        for h in steps:
            if excitation:
                self.set(dict(excitation(self.t)))
            self.advance(h, substeps)
            rows.append(self.get(variables))
        return rows


class SimulationTerminated(Exception):
    """The FMU has asked for the end of the simulation."""


def array(kind: str, values: Sequence[Value]) -> Any:
    """A C array for fmi2Set<kind>."""
    if kind == "String":
        return binding.strings([str(v).encode() for v in values])
    return binding.reals([float(v) for v in values]) if kind == "Real" else binding.integers([int(v) for v in values])


def same(a: Value, b: Value) -> bool:
    """The same value, bit by bit but for the sign of zero."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def discarded(instance: FmuInstance, status: int) -> bool:
    return status == DISCARD and instance.kind == "CoSimulation"


def heap_in_use() -> int | None:
    """Bytes that are allocated and not freed, where the C library can tell."""

    class Info(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_size_t)
            for name in (
                "arena",
                "ordblks",
                "smblks",
                "hblks",
                "hblkhd",
                "usmblks",
                "fsmblks",
                "uordblks",
                "fordblks",
                "keepcost",
            )
        ]

    try:
        function = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    function.restype = Info
    info = function()
    return int(info.uordblks + info.hblkhd)
