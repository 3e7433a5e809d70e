"""Arguments for any call of an instance: those that would be right in another state."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any

from .. import binding
from ..binding import DO_STEP_STATUS, LAST_SUCCESSFUL_TIME, PENDING_STATUS, TERMINATED_STATUS
from ..instance import TYPES, FmuInstance, array, empty_array
from ..model import ModelVariable

# functions that do something only with this capability flag
OPTIONAL = {
    **dict.fromkeys(("fmi2GetFMUstate", "fmi2SetFMUstate", "fmi2FreeFMUstate"), "canGetAndSetFMUstate"),
    **dict.fromkeys(
        ("fmi2SerializedFMUstateSize", "fmi2SerializeFMUstate", "fmi2DeSerializeFMUstate"), "canSerializeFMUstate"
    ),
    "fmi2GetDirectionalDerivative": "providesDirectionalDerivative",
    "fmi2SetRealInputDerivatives": "canInterpolateInputs",
    "fmi2CancelStep": "canRunAsynchronuously",
}
ARRAY_FUNCTIONS = frozenset(f"fmi2{verb}{kind}" for verb in ("Get", "Set") for kind in TYPES)


def unknown_reference(variables: Sequence[ModelVariable]) -> int:
    """A value reference that does not exist. There may be hidden variables right after the last one."""
    return min(max((v.reference for v in variables), default=0) + 1_000_003, 0xFFFFFFFE)


def any_value(kind: str) -> Any:
    """A C array with one value for fmi2Set<kind>."""
    return array(kind, ["text" if kind == "String" else 0])


def supported(instance: FmuInstance, name: str) -> bool:
    """Whether the FMU has this function: what an optional one does without its capability flag is not specified."""
    flag = OPTIONAL.get(name)
    return instance.library.has(name) and (flag is None or instance.model.flag(instance.kind, flag))


def valid_arguments(instance: FmuInstance, name: str) -> tuple[Any, ...] | None:
    """Arguments as for a legal call, or None if this FMU has no suitable variable."""
    if name in ARRAY_FUNCTIONS:
        return _value_arguments(instance, name[4:7] == "Set", name[7:])
    if name in ("fmi2SetRealInputDerivatives", "fmi2GetRealOutputDerivatives", "fmi2GetDirectionalDerivative"):
        return _derivative_arguments(instance, name)
    m, n = instance.model, len(instance.model.states)
    simple: dict[str, tuple[Any, ...]] = {
        "fmi2SetDebugLogging": (1, 0, None),
        "fmi2SetupExperiment": (0, 0.0, m.start_time, 0, 0.0),
        "fmi2NewDiscreteStates": (byref(binding.EventInfo()),),
        "fmi2CompletedIntegratorStep": (1, byref(c_int(0)), byref(c_int(0))),
        "fmi2SetTime": (m.start_time,),
        "fmi2SetContinuousStates": ((c_double * n)(), n),
        "fmi2GetContinuousStates": ((c_double * n)(), n),
        "fmi2GetDerivatives": ((c_double * n)(), n),
        "fmi2GetNominalsOfContinuousStates": ((c_double * n)(), n),
        "fmi2GetEventIndicators": ((c_double * m.indicators)(), m.indicators),
        "fmi2DoStep": (instance.t, m.step_size, 1),
        "fmi2GetStatus": (DO_STEP_STATUS, byref(c_int(0))),
        "fmi2GetIntegerStatus": (DO_STEP_STATUS, byref(c_int(0))),
        "fmi2GetRealStatus": (LAST_SUCCESSFUL_TIME, byref(c_double(0))),
        "fmi2GetBooleanStatus": (TERMINATED_STATUS, byref(c_int(0))),
        "fmi2GetStringStatus": (PENDING_STATUS, byref(c_char_p())),
        "fmi2GetFMUstate": (byref(c_void_p()),),
        "fmi2FreeFMUstate": (byref(c_void_p()),),
        "fmi2SetFMUstate": (None,),
        "fmi2SerializedFMUstateSize": (None, byref(c_size_t())),
        "fmi2SerializeFMUstate": (None, ctypes.create_string_buffer(8), 8),
        "fmi2DeSerializeFMUstate": (ctypes.create_string_buffer(8), 8, byref(c_void_p())),
    }
    return simple.get(name, ())


def _value_arguments(instance: FmuInstance, setting: bool, kind: str) -> tuple[Any, ...] | None:
    candidates = [v for v in instance.model.variables if v.type == kind]
    if setting:
        candidates = [v for v in candidates if v.causality in ("parameter", "input") and v.start is not None]
    if not candidates:
        return None
    v = next((v for v in candidates if v.causality == "input"), candidates[0])
    values = array(kind, [v.start if v.start is not None else 0]) if setting else empty_array(kind)
    return binding.references([v.reference]), 1, values


def _derivative_arguments(instance: FmuInstance, name: str) -> tuple[Any, ...] | None:
    references = binding.references
    inputs = [v.reference for v in instance.model.of("input", types=("Real",))][:1]
    outputs = [v.reference for v in instance.model.of("output", types=("Real",))][:1]
    if name == "fmi2GetDirectionalDerivative":
        if not inputs or not outputs:
            return None
        return references(outputs), 1, references(inputs), 1, binding.reals([1.0]), binding.reals([0.0])
    chosen = inputs if name == "fmi2SetRealInputDerivatives" else outputs
    return (references(chosen), 1, binding.integers([1]), binding.reals([0.0])) if chosen else None
