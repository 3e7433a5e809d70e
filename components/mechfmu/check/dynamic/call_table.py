"""The tables of sections 3.2.3 and 4.2.4: the functions that are allowed in a state, with legal arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from functools import partial
from typing import Any, NamedTuple

from . import binding
from .binding import DO_STEP_STATUS, LAST_SUCCESSFUL_TIME, PENDING_STATUS, TERMINATED_STATUS
from .instance import (
    CONTINUOUS_TIME,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    STEP_COMPLETE,
    TERMINATED,
    TYPES,
    FmuInstance,
    array,
    empty_array,
)
from .model import Model, ModelVariable
from .session import Session
from .statuses import VECTORS

READABLE = frozenset({STEP_COMPLETE, EVENT_MODE, CONTINUOUS_TIME, INITIALIZATION, TERMINATED})


class Prepared(NamedTuple):
    """The arguments of a call, and the variables in them."""

    arguments: tuple[Any, ...]
    variables: Sequence[ModelVariable] = ()


class Call(NamedTuple):
    """A function, and its arguments for an instance; None if this FMU has none that are legal."""

    name: str
    prepare: Callable[[FmuInstance], Prepared | None]
    capability: str = ""  # without this flag the function need not work; with it, another rule checks what it does
    may_fail: bool = False  # only a crash counts


def plain(*arguments: Any) -> Callable[[FmuInstance], Prepared]:
    return lambda instance: Prepared(arguments)


def allowed(s: Session, state: str) -> Iterator[Call]:
    """The functions that leave the instance in this state, in an order that is allowed: values are set last."""
    yield Call("fmi2SetDebugLogging", plain(1, 0, None))
    if state == INSTANTIATED:
        start, stop = s.model.start_time, s.model.stop_time
        yield Call("fmi2SetupExperiment", plain(1, s.model.tolerance or 1e-6, start, 1, stop))
        yield Call("fmi2SetupExperiment", plain(0, 0.0, start, 0, 0.0))
    if state in READABLE:
        for kind in TYPES:
            yield Call(f"fmi2Get{kind}", partial(_reading, kind))
    if s.kind == "ModelExchange":
        yield from _exchange(s, state)
    elif state in (STEP_COMPLETE, TERMINATED):
        yield from _step_status()
        yield Call("fmi2GetRealOutputDerivatives", _output_derivatives, "maxOutputDerivativeOrder")
    if state in READABLE:
        yield Call("fmi2GetDirectionalDerivative", _directional, "providesDirectionalDerivative")
    yield from _states(s)
    for kind in TYPES:
        yield Call(f"fmi2Set{kind}", partial(_setting, kind))
    if s.kind == "CoSimulation" and state != TERMINATED:
        yield Call("fmi2SetRealInputDerivatives", _input_derivatives, "canInterpolateInputs")


def _exchange(s: Session, state: str) -> Iterator[Call]:
    n, nz = len(s.model.states), s.model.indicators
    if n and not (s.model.before_2_0_3 and state not in (EVENT_MODE, CONTINUOUS_TIME)):
        yield Call("fmi2GetNominalsOfContinuousStates", plain((c_double * n)(), n))
    if state in READABLE:
        for name in VECTORS:
            count = nz if name == "fmi2GetEventIndicators" else n
            if count:
                yield Call(name, plain((c_double * count)(), count))
    if state == CONTINUOUS_TIME:
        yield Call("fmi2SetTime", lambda instance: Prepared((instance.t,)))
        if n:
            yield Call("fmi2SetContinuousStates", lambda i: Prepared((binding.reals(i.states()), n)))
            yield Call("fmi2SetReal", _states_by_reference)
        yield Call("fmi2CompletedIntegratorStep", plain(1, byref(c_int(0)), byref(c_int(0))))
    if state == EVENT_MODE:
        yield Call("fmi2NewDiscreteStates", plain(byref(binding.EventInfo())))
        yield Call("fmi2EnterEventMode", plain())


def _step_status() -> Iterator[Call]:
    """A status that the slave does not have gets fmi2Discard."""
    yield Call("fmi2GetStatus", plain(DO_STEP_STATUS, byref(c_int())), may_fail=True)
    yield Call("fmi2GetRealStatus", plain(LAST_SUCCESSFUL_TIME, byref(c_double())), may_fail=True)
    yield Call("fmi2GetIntegerStatus", plain(DO_STEP_STATUS, byref(c_int())), may_fail=True)
    yield Call("fmi2GetBooleanStatus", plain(TERMINATED_STATUS, byref(c_int())), may_fail=True)
    yield Call("fmi2GetStringStatus", plain(PENDING_STATUS, byref(c_char_p())), may_fail=True)


def _states(s: Session) -> Iterator[Call]:
    """Save the state, make bytes of it and a state of these, set it, and free both. The calls share what they need; a
    new instance begins anew."""
    handles: dict[int, tuple[c_void_p, c_void_p]] = {}
    size = c_size_t()

    def with_handle(arguments: Callable[[c_void_p, c_void_p], tuple[Any, ...]]) -> Callable[[FmuInstance], Any]:
        def prepare(instance: FmuInstance) -> Prepared | None:
            pair = handles.get(id(instance))
            return Prepared(arguments(*pair)) if pair else None

        return prepare

    def first(instance: FmuInstance) -> Prepared:
        handles[id(instance)] = pair = (c_void_p(), c_void_p())
        return Prepared((byref(pair[0]),))

    flag = "canGetAndSetFMUstate"
    yield Call("fmi2GetFMUstate", first, flag)
    if s.model.flag(s.kind, flag) and s.model.flag(s.kind, "canSerializeFMUstate"):
        flag, data = "canSerializeFMUstate", ctypes.create_string_buffer(1)

        def bytes_of(handle: c_void_p, other: c_void_p) -> tuple[Any, ...]:
            nonlocal data
            data = ctypes.create_string_buffer(max(1, min(size.value, 1 << 31)))
            return handle, ctypes.cast(data, c_void_p), size.value

        yield Call("fmi2SerializedFMUstateSize", with_handle(lambda h, other: (h, byref(size))), flag)
        yield Call("fmi2SerializeFMUstate", with_handle(bytes_of), flag)
        back = with_handle(lambda h, other: (ctypes.cast(data, c_void_p), size.value, byref(other)))
        yield Call("fmi2DeSerializeFMUstate", back, flag)
        flag = "canGetAndSetFMUstate"
    yield Call("fmi2SetFMUstate", with_handle(lambda h, other: (h,)), flag)
    yield Call("fmi2FreeFMUstate", with_handle(lambda h, other: (byref(h),)), flag)
    yield Call("fmi2FreeFMUstate", with_handle(lambda h, other: (byref(other),)), flag)


# --- arguments --------------------------------------------------------------------------------------------------------


def _reading(kind: str, instance: FmuInstance) -> Prepared | None:
    initializing = instance.state == INITIALIZATION
    candidates = instance.model.initial_readable if initializing else instance.model.variables
    variables = [v for v in candidates if v.type == kind]
    if not variables:
        return None
    references = binding.references([v.reference for v in variables])
    return Prepared((references, len(variables), empty_array(kind, len(variables))), variables)


def _setting(kind: str, instance: FmuInstance) -> Prepared | None:
    """The start values, for all variables that may be set in the state of the instance."""
    candidates = [v for v in instance.model.variables if v.type == kind and v.start is not None]
    variables = [v for v in candidates if instance.settable(v)]
    if not variables:
        return None
    values = array(kind, [v.start for v in variables if v.start is not None])
    return Prepared((binding.references([v.reference for v in variables]), len(variables), values), variables)


def _states_by_reference(instance: FmuInstance) -> Prepared | None:
    """In continuous-time mode, states may be set by their references as well (condition 5)."""
    found = [instance.model.by_index.get(i) for i in instance.model.states]
    variables = [v for v in found if v is not None]
    if not variables or len(variables) < len(found):
        return None
    return Prepared(
        (binding.references([v.reference for v in variables]), len(variables), binding.reals(instance.states()))
    )


def _continuous(model: Model, *causalities: str) -> list[int]:
    return [v.reference for v in model.of(*causalities, types=("Real",)) if v.variability == "continuous"]


def _input_derivatives(instance: FmuInstance) -> Prepared | None:
    found = _continuous(instance.model, "input")
    n = len(found)
    return Prepared((binding.references(found), n, binding.integers([1] * n), binding.reals([0.0] * n))) if n else None


def _output_derivatives(instance: FmuInstance) -> Prepared | None:
    found = _continuous(instance.model, "output")
    n = len(found)
    return Prepared((binding.references(found), n, binding.integers([1] * n), (c_double * n)())) if n else None


def _directional(instance: FmuInstance) -> Prepared | None:
    """An unknown and a known of the present mode, as ModelStructure lists them."""
    model = instance.model
    initializing = instance.state == INITIALIZATION
    for unknown in model.initial_unknowns if initializing else model.outputs:
        v = model.by_index.get(unknown.index)
        if v is None or v.type != "Real" or (v.variability != "continuous" and not initializing):
            continue
        for index in unknown.on or ():
            known = model.by_index.get(index)
            if known is not None and known.type == "Real" and _is_known(instance, known):
                pair = binding.references([v.reference]), 1, binding.references([known.reference]), 1
                return Prepared((*pair, binding.reals([1.0]), (c_double * 1)()))
    return None


def _is_known(instance: FmuInstance, v: ModelVariable) -> bool:
    if instance.state == INITIALIZATION:
        return v.causality == "input" or v.initial == "exact"
    return v.variability == "continuous" and v.causality == "input"
