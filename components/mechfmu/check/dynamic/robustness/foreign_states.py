"""R4: foreign FMU states, and random calls."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Iterator
from ctypes import byref, c_size_t, c_void_p
from typing import Any

from ...findings import Finding, rule
from ..binding import OF_KIND, OK, PENDING, WARNING
from ..instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    STEP_COMPLETE,
    TERMINATED,
    FmuInstance,
    status_name,
)
from ..saving import STATE_FUNCTIONS, deserialize, save, serialize
from ..session import Session
from .arguments import ARRAY_FUNCTIONS, supported, valid_arguments

CALLS_PER_INSTANCE = 40  # random calls
STATE_AFTER = {
    "fmi2EnterInitializationMode": INITIALIZATION,
    "fmi2Terminate": TERMINATED,
    "fmi2Reset": INSTANTIATED,
    "fmi2EnterEventMode": EVENT_MODE,
    "fmi2EnterContinuousTimeMode": CONTINUOUS_TIME,
}


@rule("R4", "foreign states, random calls", "2.1.8")
def foreign_states(s: Session) -> Iterator[Finding]:
    """NULL instead of an FMU state, one that was freed, and byte vectors that are truncated, overwritten or random are
    refused; random calls, as many as requested, do not crash."""
    if s.model.flag(s.kind, "canGetAndSetFMUstate"):
        yield from _null_states(s)
        if s.model.flag(s.kind, "canSerializeFMUstate"):
            yield from _foreign_bytes(s)
    yield from random_calls(s)


def _null_states(s: Session) -> Iterator[Finding]:
    buffer = ctypes.create_string_buffer(8)
    cases: dict[str, tuple[str, tuple[Any, ...]]] = {
        "a NULL state": ("fmi2SetFMUstate", (None,)),
        "a NULL pointer to a state": ("fmi2GetFMUstate", (None,)),
        "the size of a NULL state": ("fmi2SerializedFMUstateSize", (None, byref(c_size_t()))),
        "a NULL state, to be serialized": ("fmi2SerializeFMUstate", (None, ctypes.cast(buffer, c_void_p), 8)),
    }
    for what, (name, arguments) in cases.items():
        instance = None
        if s.attempt(what):
            instance = s.new_instance().enter_run_state()
        if instance is None or not supported(instance, name):
            continue
        status = instance.call(name, *arguments, note=f" ({what})")
        if status <= WARNING:
            yield Finding(name, f"it returns {status_name(status)} for {what}", "fmi2Error")
        instance.free()
    if s.attempt("a freed state"):
        instance = s.new_instance().enter_run_state()
        handle = save(instance).handle
        old = c_void_p(handle.value)
        instance.call_checked("fmi2FreeFMUstate", byref(handle))
        status = instance.call("fmi2SetFMUstate", old, note=" (a freed state)")
        if status <= WARNING:
            problem = f"it returns {status_name(status)} for a freed state"
            yield Finding("fmi2SetFMUstate", problem, "fmi2Error")
        instance.free()


def _foreign_bytes(s: Session) -> Iterator[Finding]:
    data = _serialized(s)
    if data is None:
        return
    rng = random.Random(s.seed)
    middle = len(data) // 2
    cases = {
        "a truncated byte vector": data[:middle],
        "an empty byte vector": b"",
        "a byte vector that is too long": data + bytes(len(data)),
        "random bytes": rng.randbytes(len(data)),
        "a byte vector with its first bytes overwritten": bytes(min(16, len(data))) + data[16:],
    }
    for what, changed in cases.items():
        if not s.attempt(what):
            continue
        instance = s.new_instance().enter_run_state()
        handle = c_void_p()
        buffer = ctypes.create_string_buffer(changed, max(1, len(changed)))
        arguments = (ctypes.cast(buffer, c_void_p), len(changed), byref(handle))
        status = instance.call("fmi2DeSerializeFMUstate", *arguments, note=f" ({what})")
        if status <= WARNING and handle.value:
            status = instance.call("fmi2SetFMUstate", handle, note=f" ({what})")
        if status <= WARNING:
            problem = f"it returns {status_name(status)} for {what}"
            yield Finding("fmi2DeSerializeFMUstate", problem, "fmi2Error")
        instance.free()


def _serialized(s: Session) -> bytes | None:
    """A state of this FMU as bytes."""
    instance = s.new_instance().enter_run_state()
    saved = save(instance)
    generator = serialize(instance, saved.handle)
    data: bytes | None = None
    try:
        next(generator)
    except StopIteration as end:
        data = end.value
    if data is not None:
        handle = deserialize(instance, data)
        instance.call_checked("fmi2FreeFMUstate", byref(handle))
    instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.free()
    return data


def random_calls(s: Session) -> Iterator[Finding]:
    """Random calls, as many as requested, on several instances: none may crash or hang."""
    names = [n for n in OF_KIND[s.kind] if n not in ("fmi2Instantiate", "fmi2FreeInstance", *STATE_FUNCTIONS)]
    names = [n for n in names if not n.endswith(("TypesPlatform", "Version"))]
    count = math.ceil(s.random / CALLS_PER_INSTANCE)
    for i in range(count):
        if s.time_used(0.8):
            s.not_judged(f"random calls: the time budget was used up after {i} of {count} instances")
            return
        if not s.attempt(f"random calls {i}"):
            continue
        rng = random.Random(f"{s.seed} {s.kind} {i}")
        instance = s.new_instance()
        for _ in range(CALLS_PER_INSTANCE):
            _random_call(instance, rng.choice(names), rng)
        instance.free()
    yield from ()


def _random_call(instance: FmuInstance, name: str, rng: random.Random) -> None:
    """A call with valid, partly invalid or missing arguments. If it succeeds, the state is that after a legal call."""
    before = instance.state
    arguments = valid_arguments(instance, name) if supported(instance, name) else None
    if arguments is None:
        return
    if rng.random() < 0.3:
        arguments = tuple(_corrupted(a, name in ARRAY_FUNCTIONS, rng) for a in arguments)
    status = instance.call(name, *arguments, note=f" ({before}, random call)")
    if status == PENDING:
        instance.wait()
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
