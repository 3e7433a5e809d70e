"""D3: which function may be called in which state."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Iterator
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any

from ..findings import Finding, rule
from . import binding
from .binding import OF_KIND, OK, STATUS, WARNING
from .loading import OPTIONAL
from .model import ModelVariable
from .session import Session
from .instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    STATES_OF,
    STEP_COMPLETE,
    TERMINATED,
    SimulationTerminated,
    CallFailed,
    FmuInstance,
    array,
)

ANY = frozenset({INSTANTIATED, INITIALIZATION, STEP_COMPLETE, EVENT_MODE, CONTINUOUS_TIME, TERMINATED})
BOTH = frozenset({EVENT_MODE, CONTINUOUS_TIME})
READABLE = ANY - {INSTANTIATED}
NONE: frozenset[str] = frozenset()

# function -> (states in which it must work, states in which it must be refused). In the states that stand in neither, the versions of the standard or
# their readers differ, or it depends on more than the state: there it must only not crash.
STATE_TABLE: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "fmi2SetDebugLogging": (ANY, NONE),
    "fmi2SetupExperiment": (frozenset({INSTANTIATED}), READABLE),
    "fmi2EnterInitializationMode": (NONE, READABLE),
    "fmi2ExitInitializationMode": (frozenset({INITIALIZATION}), ANY - {INITIALIZATION}),
    "fmi2Terminate": (BOTH | {STEP_COMPLETE}, frozenset({INSTANTIATED, INITIALIZATION, TERMINATED})),
    "fmi2Reset": (ANY, NONE),
    **{f"fmi2Get{t}": (READABLE, frozenset({INSTANTIATED})) for t in ("Real", "Integer", "Boolean", "String")},
    "fmi2SetReal": (ANY - {TERMINATED}, frozenset({TERMINATED})),
    **{
        f"fmi2Set{t}": (ANY - {CONTINUOUS_TIME, TERMINATED}, frozenset({CONTINUOUS_TIME, TERMINATED}))
        for t in ("Integer", "Boolean", "String")
    },
    # Model Exchange
    "fmi2EnterEventMode": (frozenset({CONTINUOUS_TIME}), ANY - BOTH),
    "fmi2NewDiscreteStates": (frozenset({EVENT_MODE}), ANY - {EVENT_MODE}),
    "fmi2EnterContinuousTimeMode": (NONE, ANY - {EVENT_MODE}),
    "fmi2CompletedIntegratorStep": (frozenset({CONTINUOUS_TIME}), ANY - {CONTINUOUS_TIME}),
    "fmi2SetTime": (BOTH, frozenset({INSTANTIATED, TERMINATED})),
    "fmi2SetContinuousStates": (frozenset({CONTINUOUS_TIME}), frozenset({INSTANTIATED, INITIALIZATION, TERMINATED})),
    "fmi2GetDerivatives": (BOTH, frozenset({INSTANTIATED})),
    "fmi2GetEventIndicators": (BOTH, frozenset({INSTANTIATED})),
    "fmi2GetContinuousStates": (BOTH, frozenset({INSTANTIATED})),
    "fmi2GetNominalsOfContinuousStates": (BOTH, NONE),
    # Co-Simulation
    "fmi2DoStep": (frozenset({STEP_COMPLETE}), ANY - {STEP_COMPLETE}),
    "fmi2CancelStep": (NONE, ANY),
    "fmi2SetRealInputDerivatives": (NONE, frozenset({TERMINATED})),
    "fmi2GetRealOutputDerivatives": (NONE, frozenset({INSTANTIATED, INITIALIZATION})),
    **{
        f"fmi2Get{t}Status": (NONE, frozenset({INSTANTIATED, INITIALIZATION}))
        for t in ("", "Real", "Integer", "Boolean", "String")
    },
    # their success is the business of D6 and D10
    **{
        f"fmi2{f}": (NONE, NONE)
        for f in (
            "GetFMUstate",
            "SetFMUstate",
            "FreeFMUstate",
            "SerializedFMUstateSize",
            "SerializeFMUstate",
            "DeSerializeFMUstate",
        )
    },
    "fmi2GetDirectionalDerivative": (NONE, frozenset({INSTANTIATED})),
}


# what an instance of the other interface type must not do; that it answers questions does no harm
ACTIONS = frozenset(
    {
        "fmi2DoStep",
        "fmi2EnterEventMode",
        "fmi2NewDiscreteStates",
        "fmi2EnterContinuousTimeMode",
        "fmi2CompletedIntegratorStep",
        "fmi2SetTime",
        "fmi2SetContinuousStates",
    }
)


@rule("D3", "every function in every state", "3.2.3, 4.2.4", severity="warning")
def call_states(s: Session) -> Iterator[Finding]:
    """Every function in every state: where the state table allows it, it works; where not, it returns fmi2Error; it never crashes."""
    for name, (legal, illegal) in STATE_TABLE.items():
        if not s.library.has(name):
            continue
        mine = name in OF_KIND[s.kind]
        refused, accepted = [], []
        for state in STATES_OF[s.kind]:
            if (name in OPTIONAL and state not in illegal and s.model.flag(s.kind, OPTIONAL[name])) or not s.attempt(
                f"{name} {state}"
            ):
                continue  # what the FMU says it can do is looked at by other rules
            instance = _reach(s, state)
            arguments = valid_arguments(instance, name) if unit else None
            if instance is None or arguments is None:
                continue
            status = instance.call(name, *arguments)
            if mine and state in legal and status > WARNING:
                refused.append(f"{STATUS[status]} ({state}{f': {said}' if (said := s.last_message()) else ''})")
            if status <= WARNING and (state in illegal if mine else name in ACTIONS):
                accepted.append(state)
            instance.free()
        if refused:
            yield Finding(name, f"it returns {', '.join(refused)}", "fmi2OK: it is allowed there", severity="error")
        if accepted:
            why = "it is not allowed there" if mine else f"this is no function of {s.kind}"
            yield Finding(name, f"it works in the states {', '.join(accepted)}", f"fmi2Error: {why}")
    if s.attempt("fmi2FreeInstance(NULL)"):
        s.library.call("(NULL)", "fmi2FreeInstance", None)
    yield from random_calls(s)


def _reach(s: Session, state: str) -> FmuInstance | None:
    """An instance in this state, or None when the FMU ends by itself before."""
    instance = s.new_instance()
    try:
        return instance.go_to(state)
    except (CallFailed, SimulationTerminated):
        instance.free()
        return None


def _settable(instance: FmuInstance, kind: str) -> ModelVariable | None:
    """A variable of this type that may be set in the unit's state."""
    early = instance.state in (INSTANTIATED, INITIALIZATION)
    for v in instance.model.variables:
        if (
            v.type == kind
            and v.start is not None
            and (v.causality == "input" or (early and v.causality == "parameter"))
        ):
            return v
    return None


def valid_arguments(instance: FmuInstance, name: str) -> tuple[Any, ...] | None:
    """Arguments with which the call should succeed where it is legal, or None when this FMU has nothing to call it with."""
    m, n = instance.model, len(instance.model.states)
    kind = name[7:]
    if kind in ("Real", "Integer", "Boolean", "String"):
        v = (
            _settable(instance, kind)
            if name.startswith("fmi2Set")
            else next((v for v in m.variables if v.type == kind), None)
        )
        if v is None:
            return None
        values = (
            array(kind, [v.start if v.start is not None else 0])
            if name.startswith("fmi2Set")
            else ({"Real": c_double, "String": c_char_p}.get(kind, c_int) * 1)()
        )
        return binding.references([v.reference]), 1, values
    one = next((v for v in m.of("input", types=("Real",))), None)
    out = next((v for v in m.of("output", types=("Real",))), None)
    match name:
        case "fmi2SetDebugLogging":
            return 1, 0, None
        case "fmi2SetupExperiment":
            return 0, 0.0, m.start_time, 0, 0.0
        case "fmi2NewDiscreteStates":
            return (byref(binding.EventInfo()),)
        case "fmi2CompletedIntegratorStep":
            return 1, byref(c_int(0)), byref(c_int(0))
        case "fmi2SetTime":
            return (m.start_time,)
        case "fmi2SetContinuousStates":
            x = instance.states() if instance.state in BOTH and instance.kind == "ModelExchange" else [0.0] * n
            return binding.reals(x), n
        case "fmi2GetContinuousStates" | "fmi2GetDerivatives" | "fmi2GetNominalsOfContinuousStates":
            return (c_double * n)(), n
        case "fmi2GetEventIndicators":
            return (c_double * m.indicators)(), m.indicators
        case "fmi2DoStep":
            return instance.t, m.step_size, 1
        case "fmi2GetStatus" | "fmi2GetIntegerStatus":
            return 0, byref(c_int(0))
        case "fmi2GetRealStatus":
            return 2, byref(c_double(0))
        case "fmi2GetBooleanStatus":
            return 3, byref(c_int(0))
        case "fmi2GetStringStatus":
            return 1, byref(c_char_p())
        case "fmi2SetRealInputDerivatives":
            return (
                (binding.references([one.reference]), 1, binding.integers([1]), binding.reals([0.0])) if one else None
            )
        case "fmi2GetRealOutputDerivatives":
            return (
                (binding.references([out.reference]), 1, binding.integers([1]), binding.reals([0.0])) if out else None
            )
        case "fmi2GetDirectionalDerivative":
            if not one or not out:
                return None
            return (
                binding.references([out.reference]),
                1,
                binding.references([one.reference]),
                1,
                binding.reals([1.0]),
                binding.reals([0.0]),
            )
        case "fmi2GetFMUstate" | "fmi2FreeFMUstate":
            return (byref(c_void_p()),)
        case "fmi2SetFMUstate":
            return (None,)
        case "fmi2SerializedFMUstateSize":
            return None, byref(c_size_t())
        case "fmi2SerializeFMUstate":
            return None, ctypes.create_string_buffer(8), 8
        case "fmi2DeSerializeFMUstate":
            return ctypes.create_string_buffer(8), 8, byref(c_void_p())
        case _:
            return ()


def random_calls(s: Session) -> Iterator[Finding]:
    """As many random calls as were asked for, on instances that live for some of them: none may crash or hang."""
    names = [n for n in OF_KIND[s.kind] if n in STATE_TABLE and s.library.has(n)]
    lives = math.ceil(s.random / 40)
    for life in range(lives):
        if s.time_used(0.8):
            yield Finding(
                "random calls",
                f"time was up after {life} of {lives} instances",
                "more time (--timeout)",
                severity="note",
            )
            return
        if not s.attempt(f"random calls {life}"):
            continue
        rng = random.Random(f"{s.seed} {s.kind} {life}")
        instance = s.new_instance()
        for _ in range(40):
            _random_call(instance, rng.choice(names), rng)
        instance.free()


def _random_call(instance: FmuInstance, name: str, rng: random.Random) -> None:
    """A call with arguments that are good, partly spoilt or missing. The unit's state is what the book says if the call was a legal one."""
    before = instance.state
    if before not in STATE_TABLE[name][0] and name.startswith("fmi2SetContinuous"):
        arguments: tuple[Any, ...] | None = (binding.reals([0.0] * len(instance.model.states)), len(instance.model.states))
    else:
        arguments = valid_arguments(instance, name)
    if arguments is None:
        return
    if rng.random() < 0.3:
        arguments = tuple(_corrupted(a, name in ARRAYS, rng) for a in arguments)
    status = instance.call(name, *arguments, note=f" ({before}, random call)")
    if status not in (OK, WARNING):
        return
    after = {
        "fmi2EnterInitializationMode": INITIALIZATION,
        "fmi2ExitInitializationMode": STEP_COMPLETE if instance.kind == "CoSimulation" else EVENT_MODE,
        "fmi2Terminate": TERMINATED,
        "fmi2Reset": INSTANTIATED,
        "fmi2EnterEventMode": EVENT_MODE,
        "fmi2EnterContinuousTimeMode": CONTINUOUS_TIME,
    }
    instance.state = after.get(name, before)
    if name == "fmi2DoStep":
        instance.t += instance.model.step_size
    if name == "fmi2Reset":
        instance.t = instance.model.start_time


ARRAYS = frozenset(
    f"fmi2{verb}{kind}" for verb in ("Get", "Set") for kind in ("Real", "Integer", "Boolean", "String")
)  # NULL must be refused here


def _corrupted(argument: Any, null: bool, rng: random.Random) -> Any:
    """The same argument, or one that no sane host would give. Sizes stay: an array that is shorter than it says is the host's crime."""
    if rng.random() < 0.5:
        return argument
    if isinstance(argument, float):
        return rng.choice([math.nan, math.inf, -1.0, 0.0, -argument])
    return None if null and not isinstance(argument, int) else argument
