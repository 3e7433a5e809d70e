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
from .instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    STATES_OF,
    STEP_COMPLETE,
    TERMINATED,
    TYPES,
    CallFailed,
    FmuInstance,
    SimulationTerminated,
    array,
    empty_array,
)
from .loading import OPTIONAL
from .model import ModelVariable
from .session import Session

ANY = frozenset({INSTANTIATED, INITIALIZATION, STEP_COMPLETE, EVENT_MODE, CONTINUOUS_TIME, TERMINATED})
BOTH = frozenset({EVENT_MODE, CONTINUOUS_TIME})
READABLE = ANY - {INSTANTIATED}
NONE: frozenset[str] = frozenset()

# function -> (states in which it must succeed, states in which it must fail). In all other states the editions of the
# standard or their interpretations differ, or success depends on more than the state: there it only must not crash.
STATE_TABLE: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "fmi2SetDebugLogging": (ANY, NONE),
    "fmi2SetupExperiment": (frozenset({INSTANTIATED}), READABLE),
    "fmi2EnterInitializationMode": (NONE, READABLE),
    "fmi2ExitInitializationMode": (frozenset({INITIALIZATION}), ANY - {INITIALIZATION}),
    "fmi2Terminate": (BOTH | {STEP_COMPLETE}, frozenset({INSTANTIATED, INITIALIZATION, TERMINATED})),
    "fmi2Reset": (ANY, NONE),
    **{f"fmi2Get{t}": (READABLE, frozenset({INSTANTIATED})) for t in TYPES},
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
    **{f"fmi2Get{t}Status": (NONE, frozenset({INSTANTIATED, INITIALIZATION})) for t in ("", *TYPES)},
    # success is checked by D6 and D10
    "fmi2GetFMUstate": (NONE, NONE),
    "fmi2SetFMUstate": (NONE, NONE),
    "fmi2FreeFMUstate": (NONE, NONE),
    "fmi2SerializedFMUstateSize": (NONE, NONE),
    "fmi2SerializeFMUstate": (NONE, NONE),
    "fmi2DeSerializeFMUstate": (NONE, NONE),
    "fmi2GetDirectionalDerivative": (NONE, frozenset({INSTANTIATED})),
}

# functions that must fail for an instance of the other interface type; for the others success does no harm
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
# state after a successful call
STATE_AFTER = {
    "fmi2EnterInitializationMode": INITIALIZATION,
    "fmi2Terminate": TERMINATED,
    "fmi2Reset": INSTANTIATED,
    "fmi2EnterEventMode": EVENT_MODE,
    "fmi2EnterContinuousTimeMode": CONTINUOUS_TIME,
}
# functions with arrays, which must fail for NULL
ARRAY_FUNCTIONS = frozenset(f"fmi2{verb}{kind}" for verb in ("Get", "Set") for kind in TYPES)
CALLS_PER_INSTANCE = 40  # random calls


@rule("D3", "every function in every state", "3.2.3, 4.2.4", severity="warning")
def call_states(s: Session) -> Iterator[Finding]:
    """Every function in every state: it succeeds where the state table allows it, returns
    fmi2Error where not, and never crashes."""
    for name in STATE_TABLE:
        if s.library.has(name):
            yield from _function_in_all_states(s, name)
    if s.attempt("fmi2FreeInstance(NULL)"):
        s.library.call("(NULL)", "fmi2FreeInstance", None)
    yield from random_calls(s)


def _function_in_all_states(s: Session, name: str) -> Iterator[Finding]:
    legal, illegal = STATE_TABLE[name]
    of_kind = name in OF_KIND[s.kind]
    failed, accepted = [], []
    for state in STATES_OF[s.kind]:
        if name in OPTIONAL and state not in illegal and s.model.flag(s.kind, OPTIONAL[name]):
            continue  # optional functions that the FMU declares are checked by other rules
        if not s.attempt(f"{name} {state}"):
            continue
        instance = _instance_in(s, state)
        arguments = valid_arguments(instance, name) if instance else None
        if instance is None or arguments is None:
            continue
        status = instance.call(name, *arguments)
        if of_kind and state in legal and status > WARNING:
            message = s.last_message()
            failed.append(f"{STATUS[status]} ({state}{f': {message}' if message else ''})")
        if status <= WARNING and (state in illegal if of_kind else name in ACTIONS):
            accepted.append(state)
        instance.free()
    if failed:
        yield Finding(name, f"it returns {', '.join(failed)}", "fmi2OK: it is allowed there", severity="error")
    if accepted:
        reason = "it is not allowed there" if of_kind else f"it is not a function of {s.kind}"
        yield Finding(name, f"it succeeds in the states {', '.join(accepted)}", f"fmi2Error: {reason}")


def _instance_in(s: Session, state: str) -> FmuInstance | None:
    """A new instance in this state, or None if the FMU does not reach it."""
    instance = s.new_instance()
    try:
        return instance.go_to(state)
    except (CallFailed, SimulationTerminated):
        instance.free()
        return None


def _settable(instance: FmuInstance, kind: str) -> ModelVariable | None:
    """A variable of this type that may be set in the state of the instance."""
    before_run = instance.state in (INSTANTIATED, INITIALIZATION)
    causalities = ("input", "parameter") if before_run else ("input",)
    candidates = (v for v in instance.model.variables if v.type == kind and v.start is not None)
    return next((v for v in candidates if v.causality in causalities), None)


def valid_arguments(instance: FmuInstance, name: str) -> tuple[Any, ...] | None:
    """Arguments for a legal call that should succeed, or None if this FMU has no suitable variable."""
    if name in ARRAY_FUNCTIONS:
        return _value_arguments(instance, name[:7] == "fmi2Set", name[7:])
    if name in ("fmi2SetRealInputDerivatives", "fmi2GetRealOutputDerivatives", "fmi2GetDirectionalDerivative"):
        return _derivative_arguments(instance, name)
    m, n = instance.model, len(instance.model.states)
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


def _value_arguments(instance: FmuInstance, setting: bool, kind: str) -> tuple[Any, ...] | None:
    any_variable = next((v for v in instance.model.variables if v.type == kind), None)
    v = _settable(instance, kind) if setting else any_variable
    if v is None:
        return None
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


def random_calls(s: Session) -> Iterator[Finding]:
    """Random calls, as many as requested, on several instances: none may crash or hang."""
    names = [n for n in OF_KIND[s.kind] if n in STATE_TABLE and s.library.has(n)]
    count = math.ceil(s.random / CALLS_PER_INSTANCE)
    for i in range(count):
        if s.time_used(0.8):
            problem = f"the time limit was reached after {i} of {count} instances"
            yield Finding("random calls", problem, "more time (--timeout)", severity="note")
            return
        if not s.attempt(f"random calls {i}"):
            continue
        rng = random.Random(f"{s.seed} {s.kind} {i}")
        instance = s.new_instance()
        for _ in range(CALLS_PER_INSTANCE):
            _random_call(instance, rng.choice(names), rng)
        instance.free()


def _random_call(instance: FmuInstance, name: str, rng: random.Random) -> None:
    """A call with valid, partly invalid or missing arguments. If it succeeds, the state is that after a legal call."""
    before = instance.state
    if before not in STATE_TABLE[name][0] and name.startswith("fmi2SetContinuous"):
        arguments: tuple[Any, ...] | None = (
            binding.reals([0.0] * len(instance.model.states)),
            len(instance.model.states),
        )
    else:
        arguments = valid_arguments(instance, name)
    if arguments is None:
        return
    if rng.random() < 0.3:
        arguments = tuple(_corrupted(a, name in ARRAY_FUNCTIONS, rng) for a in arguments)
    status = instance.call(name, *arguments, note=f" ({before}, random call)")
    if status not in (OK, WARNING):
        return
    instance.state = STATE_AFTER.get(name, before)
    if name == "fmi2ExitInitializationMode":
        instance.state = STEP_COMPLETE if instance.kind == "CoSimulation" else EVENT_MODE
    if name == "fmi2DoStep":
        instance.t += instance.model.step_size
    if name == "fmi2Reset":
        instance.t = instance.model.start_time


def _corrupted(argument: Any, null: bool, rng: random.Random) -> Any:
    """The same argument or an invalid one. Sizes do not change: a wrong size is an error of the importer."""
    if rng.random() < 0.5:
        return argument
    if isinstance(argument, float):
        return rng.choice([math.nan, math.inf, -1.0, 0.0, -argument])
    return None if null and not isinstance(argument, int) else argument
