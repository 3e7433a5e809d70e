"""The C interface of an FMU through ctypes: every function can be called in every state, and returns its status.

FMPy's own layer prevents some of the calls that the tests need.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from mechfmu.model import Mechanism

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
MODEL_EXCHANGE, CO_SIMULATION = 0, 1

LOGGER = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)

REALS, REFERENCES, INTEGERS, STRINGS, STATE = map(POINTER, (c_double, c_uint, c_int, c_char_p, c_void_p))


class Callbacks(ctypes.Structure):
    _fields_ = [
        ("logger", LOGGER),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("finished", c_void_p),
        ("environment", c_void_p),
    ]


class EventInfo(ctypes.Structure):
    _fields_ = [
        ("newDiscreteStatesNeeded", c_int),
        ("terminateSimulation", c_int),
        ("nominalsOfContinuousStatesChanged", c_int),
        ("valuesOfContinuousStatesChanged", c_int),
        ("nextEventTimeDefined", c_int),
        ("nextEventTime", c_double),
    ]


# the arguments of every function that acts on an instance, after the instance itself
FUNCTIONS: dict[str, list[Any]] = {
    "fmi2SetDebugLogging": [c_int, c_size_t, STRINGS],
    "fmi2SetupExperiment": [c_int, c_double, c_double, c_int, c_double],
    "fmi2EnterInitializationMode": [],
    "fmi2ExitInitializationMode": [],
    "fmi2Terminate": [],
    "fmi2Reset": [],
    **{
        f"fmi2{do}{kind}": [REFERENCES, c_size_t, values]
        for do in ("Get", "Set")
        for kind, values in (("Real", REALS), ("Integer", INTEGERS), ("Boolean", INTEGERS), ("String", STRINGS))
    },
    "fmi2GetFMUstate": [STATE],
    "fmi2SetFMUstate": [c_void_p],
    "fmi2FreeFMUstate": [STATE],
    "fmi2SerializedFMUstateSize": [c_void_p, POINTER(c_size_t)],
    "fmi2SerializeFMUstate": [c_void_p, c_char_p, c_size_t],
    "fmi2DeSerializeFMUstate": [c_char_p, c_size_t, STATE],
    "fmi2GetDirectionalDerivative": [REFERENCES, c_size_t, REFERENCES, c_size_t, REALS, REALS],
    "fmi2EnterEventMode": [],
    "fmi2NewDiscreteStates": [POINTER(EventInfo)],
    "fmi2EnterContinuousTimeMode": [],
    "fmi2CompletedIntegratorStep": [c_int, INTEGERS, INTEGERS],
    "fmi2SetTime": [c_double],
    "fmi2SetContinuousStates": [REALS, c_size_t],
    "fmi2GetDerivatives": [REALS, c_size_t],
    "fmi2GetEventIndicators": [REALS, c_size_t],
    "fmi2GetContinuousStates": [REALS, c_size_t],
    "fmi2GetNominalsOfContinuousStates": [REALS, c_size_t],
    "fmi2SetRealInputDerivatives": [REFERENCES, c_size_t, INTEGERS, REALS],
    "fmi2GetRealOutputDerivatives": [REFERENCES, c_size_t, INTEGERS, REALS],
    "fmi2DoStep": [c_double, c_double, c_int],
    "fmi2CancelStep": [],
    "fmi2GetStatus": [c_int, INTEGERS],
    "fmi2GetRealStatus": [c_int, REALS],
    "fmi2GetIntegerStatus": [c_int, INTEGERS],
    "fmi2GetBooleanStatus": [c_int, INTEGERS],
    "fmi2GetStringStatus": [c_int, STRINGS],
}
WITHOUT_INSTANCE = ("fmi2GetTypesPlatform", "fmi2GetVersion", "fmi2Instantiate", "fmi2FreeInstance")
ALL_FUNCTIONS = (*WITHOUT_INSTANCE, *FUNCTIONS)


def reals(values: Iterable[float]) -> Any:
    values = [float(v) for v in values]
    return (c_double * max(1, len(values)))(*values)


def integers(values: Iterable[int]) -> Any:
    values = [int(v) for v in values]
    return (c_int * max(1, len(values)))(*values)


def references(values: Iterable[int]) -> Any:
    values = list(values)
    return (c_uint * max(1, len(values)))(*values)


def guid_of(binary: Path) -> str:
    """Return the GUID in modelDescription.xml."""
    import fmpy

    return fmpy.read_model_description(str(binary.parent.parent.parent), validate=False).guid


class Refused(Exception):
    def __init__(self, status: int, said: str):
        super().__init__(f"[status {status}] {said}")
        self.status = status


class Fmu:
    """A loaded binary of a mechanism."""

    def __init__(self, mechanism: Mechanism, binary: Path):
        self.mechanism, self.guid = mechanism, guid_of(binary)
        self.library = ctypes.CDLL(str(binary))
        for name, arguments in FUNCTIONS.items():
            getattr(self.library, name).argtypes = [c_void_p, *arguments]
            getattr(self.library, name).restype = c_int
        self.library.fmi2Instantiate.argtypes = [c_char_p, c_int, c_char_p, c_char_p, POINTER(Callbacks), c_int, c_int]
        self.library.fmi2Instantiate.restype = c_void_p
        self.library.fmi2FreeInstance.argtypes = [c_void_p]
        self.library.fmi2FreeInstance.restype = None
        self.library.fmi2GetVersion.restype = self.library.fmi2GetTypesPlatform.restype = c_char_p
        self.reference = {s.name: i for i, s in enumerate(mechanism.table.scalars)}

    def open(
        self, kind: int = CO_SIMULATION, name: str = "instance", logging: bool = False, guid: str | None = None
    ) -> Component:
        return Component(self, kind, name, logging, self.guid if guid is None else guid)


class Component:
    """An instance. Calling it calls a function of the interface and returns its status."""

    def __init__(self, fmu: Fmu, kind: int, name: str, logging: bool, guid: str):
        self.fmu, self.kind, self.t = fmu, kind, 0.0
        self.log: list[tuple[str, int, str, str]] = []  # instance, status, category, message
        self._callbacks = Callbacks(logger=LOGGER(self._message))
        self.pointer = fmu.library.fmi2Instantiate(
            name.encode(), kind, guid.encode(), None, byref(self._callbacks), 0, int(logging)
        )
        if not self.pointer:
            raise Refused(ERROR, self.said)

    def __del__(self) -> None:
        self.free()

    def free(self) -> None:
        if getattr(self, "pointer", None):
            self.fmu.library.fmi2FreeInstance(self.pointer)
            self.pointer = None

    def _message(self, environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self.log.append((name.decode(), status, category.decode(), message.decode()))

    @property
    def said(self) -> str:
        return "\n".join(text for *_, text in self.log)

    def __call__(self, function: str, *arguments: Any) -> int:
        self.log.clear()
        return getattr(self.fmu.library, function)(self.pointer, *arguments)

    def do(self, function: str, *arguments: Any) -> None:
        """A call that must succeed."""
        if status := self(function, *arguments):
            raise Refused(status, f"{function}: {self.said}")

    # --- values -------------------------------------------------------------------------------------------------------

    def refs(self, names: Iterable[str]) -> list[int]:
        return [self.fmu.reference[n] for n in names]

    def get(self, *names: str) -> np.ndarray:
        values = reals([0.0] * len(names))
        self.do("fmi2GetReal", references(self.refs(names)), len(names), values)
        return np.array(values[: len(names)])

    def __getitem__(self, name: str) -> float:
        return float(self.get(name)[0])

    def get_integer(self, name: str) -> int:
        value = integers([0])
        self.do("fmi2GetInteger", references(self.refs([name])), 1, value)
        return value[0]

    def set(self, values: Mapping[str, float]) -> None:
        self.do("fmi2SetReal", references(self.refs(values)), len(values), reals(values.values()))

    def set_integer(self, values: Mapping[str, int]) -> None:
        self.do("fmi2SetInteger", references(self.refs(values)), len(values), integers(values.values()))

    # --- lifecycle ----------------------------------------------------------------------------------------------------

    def enter(
        self, start: Mapping[str, float] | None = None, tolerance: float | None = None, t: float = 0.0
    ) -> Component:
        """Into Initialization Mode."""
        if start:
            self.set(start)
        self.do("fmi2SetupExperiment", int(tolerance is not None), tolerance or 0.0, t, 0, 0.0)
        self.do("fmi2EnterInitializationMode")
        self.t = t
        return self

    def initialize(
        self, start: Mapping[str, float] | None = None, tolerance: float | None = None, t: float = 0.0
    ) -> Component:
        self.enter(start, tolerance, t).do("fmi2ExitInitializationMode")
        return self

    def continuous(self, start: Mapping[str, float] | None = None, t: float = 0.0) -> Component:
        """Into Continuous-Time Mode (Model Exchange)."""
        self.initialize(start, t=t)
        self.do("fmi2NewDiscreteStates", byref(EventInfo()))
        self.do("fmi2EnterContinuousTimeMode")
        return self

    def now(self) -> float:
        """The last successful time in Co-Simulation; in Model Exchange the time that the host has set."""
        if self.kind != CO_SIMULATION:
            return self.t
        value = reals([0.0])
        self.do("fmi2GetRealStatus", 2, value)
        return float(value[0])

    def step(self, h: float) -> None:
        self.do("fmi2DoStep", self.t, h, 1)
        self.t += h

    def run(self, steps: Sequence[float], names: Sequence[str]) -> np.ndarray:
        rows = []
        for h in steps:
            self.step(h)
            rows.append(self.get(*names))
        return np.array(rows)

    # --- FMU state ----------------------------------------------------------------------------------------------------

    def bytes(self) -> bytes:
        """Return the complete state of the instance."""
        state, size = c_void_p(), c_size_t()
        self.do("fmi2GetFMUstate", byref(state))
        self.do("fmi2SerializedFMUstateSize", state, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.do("fmi2SerializeFMUstate", state, buffer, size)
        self.do("fmi2FreeFMUstate", byref(state))
        return buffer.raw

    def restore(self, data: bytes) -> int:
        """Restore a state and return the status of the first call that failed, or OK."""
        state = c_void_p()
        status = self("fmi2DeSerializeFMUstate", data, len(data), byref(state)) or self("fmi2SetFMUstate", state)
        said = list(self.log)
        if state.value:
            self("fmi2FreeFMUstate", byref(state))
        self.log = said
        return status

    # --- derivatives --------------------------------------------------------------------------------------------------

    def directional(self, unknowns: Sequence[str], direction: Mapping[str, float]) -> np.ndarray:
        result = reals([np.nan] * len(unknowns))
        arrays = references(self.refs(unknowns)), len(unknowns), references(self.refs(direction)), len(direction)
        self.do("fmi2GetDirectionalDerivative", *arrays, reals(direction.values()), result)
        return np.array(result[: len(unknowns)])

    def states(self) -> np.ndarray:
        n = self.fmu.mechanism.table.x.size
        values = reals([0.0] * n)
        self.do("fmi2GetContinuousStates", values, n)
        return np.array(values[:n])

    def set_states(self, x: Sequence[float]) -> None:
        self.do("fmi2SetContinuousStates", reals(x), len(x))

    def derivatives(self) -> np.ndarray:
        n = self.fmu.mechanism.table.x.size
        values = reals([0.0] * n)
        self.do("fmi2GetDerivatives", values, n)
        return np.array(values[:n])

    def indicators(self) -> np.ndarray:
        n = len(self.fmu.mechanism.event_names)
        values = reals([0.0] * n)
        self.do("fmi2GetEventIndicators", values, n)
        return np.array(values[:n])

    def new_discrete_states(self) -> EventInfo:
        info = EventInfo()
        self.do("fmi2NewDiscreteStates", byref(info))
        return info

    def completed_step(self) -> bool:
        """Whether the FMU requests event mode."""
        event, end = c_int(), c_int()
        self.do("fmi2CompletedIntegratorStep", 1, byref(event), byref(end))
        assert not end.value
        return bool(event.value)
