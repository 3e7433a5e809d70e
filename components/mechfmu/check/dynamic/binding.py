"""ctypes binding of the FMI 2.0 C functions, without any checks of arguments or states. Standard library only."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p
from typing import Any

from .trace import Trace

STATUS = ("fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal", "fmi2Pending")
OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
MODEL_EXCHANGE, CO_SIMULATION = 0, 1
DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED_STATUS = range(4)

Logger = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
Allocate = CFUNCTYPE(c_void_p, c_size_t, c_size_t)
Free = CFUNCTYPE(None, c_void_p)
StepFinished = CFUNCTYPE(None, c_void_p, c_int)


class Callbacks(Structure):
    _fields_ = [
        ("logger", Logger),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("step_finished", c_void_p),
        ("environment", c_void_p),
    ]


class EventInfo(Structure):
    _fields_ = [
        ("newDiscreteStatesNeeded", c_int),
        ("terminateSimulation", c_int),
        ("nominalsOfContinuousStatesChanged", c_int),
        ("valuesOfContinuousStatesChanged", c_int),
        ("nextEventTimeDefined", c_int),
        ("nextEventTime", c_double),
    ]


_references, _reals, _integers, _strings = POINTER(c_uint), POINTER(c_double), POINTER(c_int), POINTER(c_char_p)
_size, _state, _bytes = c_size_t, POINTER(c_void_p), c_void_p

# name -> types of the arguments after the component; the functions return a status, except those in _SIGNATURES
COMMON: dict[str, tuple[Any, ...]] = {
    "fmi2GetTypesPlatform": (),
    "fmi2GetVersion": (),
    "fmi2SetDebugLogging": (c_int, _size, _strings),
    "fmi2Instantiate": (),
    "fmi2FreeInstance": (),
    "fmi2SetupExperiment": (c_int, c_double, c_double, c_int, c_double),
    "fmi2EnterInitializationMode": (),
    "fmi2ExitInitializationMode": (),
    "fmi2Terminate": (),
    "fmi2Reset": (),
    "fmi2GetReal": (_references, _size, _reals),
    "fmi2GetInteger": (_references, _size, _integers),
    "fmi2GetBoolean": (_references, _size, _integers),
    "fmi2GetString": (_references, _size, _strings),
    "fmi2SetReal": (_references, _size, _reals),
    "fmi2SetInteger": (_references, _size, _integers),
    "fmi2SetBoolean": (_references, _size, _integers),
    "fmi2SetString": (_references, _size, _strings),
    "fmi2GetFMUstate": (_state,),
    "fmi2SetFMUstate": (c_void_p,),
    "fmi2FreeFMUstate": (_state,),
    "fmi2SerializedFMUstateSize": (c_void_p, POINTER(c_size_t)),
    "fmi2SerializeFMUstate": (c_void_p, _bytes, _size),
    "fmi2DeSerializeFMUstate": (_bytes, _size, _state),
    "fmi2GetDirectionalDerivative": (_references, _size, _references, _size, _reals, _reals),
}
EXCHANGE: dict[str, tuple[Any, ...]] = {
    "fmi2EnterEventMode": (),
    "fmi2NewDiscreteStates": (POINTER(EventInfo),),
    "fmi2EnterContinuousTimeMode": (),
    "fmi2CompletedIntegratorStep": (c_int, POINTER(c_int), POINTER(c_int)),
    "fmi2SetTime": (c_double,),
    "fmi2SetContinuousStates": (_reals, _size),
    "fmi2GetDerivatives": (_reals, _size),
    "fmi2GetEventIndicators": (_reals, _size),
    "fmi2GetContinuousStates": (_reals, _size),
    "fmi2GetNominalsOfContinuousStates": (_reals, _size),
}
SIMULATION: dict[str, tuple[Any, ...]] = {
    "fmi2SetRealInputDerivatives": (_references, _size, _integers, _reals),
    "fmi2GetRealOutputDerivatives": (_references, _size, _integers, _reals),
    "fmi2DoStep": (c_double, c_double, c_int),
    "fmi2CancelStep": (),
    "fmi2GetStatus": (c_int, POINTER(c_int)),
    "fmi2GetRealStatus": (c_int, POINTER(c_double)),
    "fmi2GetIntegerStatus": (c_int, POINTER(c_int)),
    "fmi2GetBooleanStatus": (c_int, POINTER(c_int)),
    "fmi2GetStringStatus": (c_int, POINTER(c_char_p)),
}
ALL = {**COMMON, **EXCHANGE, **SIMULATION}
OF_KIND = {"ModelExchange": {**COMMON, **EXCHANGE}, "CoSimulation": {**COMMON, **SIMULATION}}
# function -> the flag of the capability that it is for: without this flag, an importer does not call it
CAPABILITY_OF = {
    **dict.fromkeys(("fmi2GetFMUstate", "fmi2SetFMUstate", "fmi2FreeFMUstate"), "canGetAndSetFMUstate"),
    "fmi2SerializedFMUstateSize": "canSerializeFMUstate",
    "fmi2SerializeFMUstate": "canSerializeFMUstate",
    "fmi2DeSerializeFMUstate": "canSerializeFMUstate",
    "fmi2GetDirectionalDerivative": "providesDirectionalDerivative",
    "fmi2SetRealInputDerivatives": "canInterpolateInputs",
    "fmi2GetRealOutputDerivatives": "maxOutputDerivativeOrder",
    "fmi2CancelStep": "canRunAsynchronuously",
}

# the functions that are not `status f(component, ...)` -> types of the result and the arguments
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "fmi2GetTypesPlatform": (c_char_p, ()),
    "fmi2GetVersion": (c_char_p, ()),
    "fmi2Instantiate": (c_void_p, (c_char_p, c_int, c_char_p, c_char_p, POINTER(Callbacks), c_int, c_int)),
    "fmi2FreeInstance": (None, (c_void_p,)),
}


class InterpreterDamaged(Exception):
    """The FMU has left the Python interpreter of this process in an invalid state."""


class Library:
    """The FMU's shared library; the trace is told about each call."""

    def __init__(self, path: str, trace: Trace):
        self._trace = trace
        trace.begin("loading the library")
        self._handle = ctypes.CDLL(path)  # RTLD_NOW: resolves all symbols
        trace.end()
        self._functions: dict[str, Any] = {}
        for name, arguments in ALL.items():
            try:
                function = self._handle[name]
            except AttributeError:
                continue
            function.restype, function.argtypes = _SIGNATURES.get(name, (c_int, (c_void_p, *arguments)))
            self._functions[name] = function

    def has(self, name: str) -> bool:
        return name in self._functions

    def call(self, note: str, name: str, *arguments: Any) -> Any:
        """Call a function and return its result, fmi2Error if the library does not export it. `note` describes the
        circumstances."""
        if name not in self._functions:
            return ERROR
        self._trace.begin(name + note)
        try:
            result = self._functions[name](*arguments)
        except SystemError as error:  # an FMU with Python code has left an exception in this interpreter
            raise InterpreterDamaged(str(error.__cause__ or error)) from error
        self._trace.end()
        return result


def reals(values: Any) -> Any:
    return (c_double * len(values))(*values)


def integers(values: Any) -> Any:
    return (c_int * len(values))(*values)


def references(values: Any) -> Any:
    return (c_uint * len(values))(*values)


def strings(values: Any) -> Any:
    return (c_char_p * len(values))(*values)
