"""Part of D4: many values in one call, empty strings, large integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings import Finding
from .binding import ERROR, WARNING
from .initial_values import InitialValues, finish
from .instance import CONTINUOUS_TIME, EVENT_MODE, TYPES, CallFailed, FmuInstance, NotJudged, status_name
from .model import ModelVariable
from .session import Session
from .snapshots import Reader
from .stirring import FAILURES, Refused, Values, assign, grid_steps, other_values, while_running

LARGE = (16_777_217, 70_001, 1_001, 301)  # more than 24 (those of a float), 16, 9 and 8 bits


def many_at_once(s: Session) -> Iterator[Finding]:
    """Start values that are accepted one by one are also accepted in one call."""
    exact = [v for v in s.model.variables if v.initial == "exact" and v.variability != "constant"]
    for kind in TYPES:
        values = other_values([v for v in exact if v.type == kind])
        if len(values) < 2 or _accepts(s, values, one_by_one=False) or not _accepts(s, values, one_by_one=True):
            continue
        problem = f"it refuses {len(values)} values in one call; one by one, it accepts them all"
        yield Finding(f"fmi2Set{kind}", problem, "the same effect", sentence="set-values")


def _accepts(s: Session, values: Values, one_by_one: bool) -> bool:
    instance = s.new_instance()
    try:
        assign(instance, values, one_by_one)
    except Refused:
        return False
    finally:
        finish(instance)
    return True


def empty_strings(s: Session, initial: InitialValues) -> Iterator[Finding]:
    """Parameters that accept any other text accept an empty one, and are then read as such."""
    texts = [v for v in initial.accepted if v.type == "String" and v.causality == "parameter"]
    if not texts:
        return
    instance = s.new_instance()
    empty = []
    for v in texts:
        status = _set_text(instance, v, "")
        if status == ERROR:
            problem = f"an empty string is refused with {status_name(status)}, another one is not"
            yield v.finding(problem, "fmi2OK", "set-before")
        if status <= WARNING:
            empty.append(v)
    try:
        instance.enter_run_state()
        row = Reader(empty).read(instance)
    except (*FAILURES, CallFailed):
        s.not_judged("empty strings: the FMU does not initialize with them")
        return
    for v, text in zip(empty, row.parts[0] if empty else (), strict=True):
        if text is None:
            yield v.finding("fmi2GetString returns a NULL pointer for an empty string", "a string", "string-type")
        elif text != b"":
            yield v.finding(f"set to an empty string before initialization, it is {text!r}", "''", "set-before")
    instance.free()


def _set_text(instance: FmuInstance, v: ModelVariable, text: str) -> int:
    try:
        assign(instance, {v: text})
    except Refused:
        return instance.last_status
    return 0


def large_integers(s: Session) -> Iterator[Finding]:
    """Inputs and tunable parameters keep integers of many bits, as far as their limits and the FMU allow."""
    if not _large(while_running(s), LARGE[0]):
        return
    for size in LARGE:
        values = _large(while_running(s), size)
        instance = s.new_instance().enter_run_state()
        if s.kind == "ModelExchange":
            instance.enter_event_mode()
        try:
            assign(instance, values)
            if instance.state not in (EVENT_MODE, CONTINUOUS_TIME):
                instance.step(grid_steps(s)[0])
        except (*FAILURES, CallFailed):
            continue
        for v, found in zip(values, instance.get(list(values)), strict=True):
            if found != values[v]:
                yield v.finding(f"set to {values[v]!r}, it is {found!r}", "the value that was set", "set-values")
        finish(instance)
        return
    raise NotJudged("the FMU does not accept the values")


def _large(variables: Sequence[ModelVariable], size: int) -> Values:
    found: Values = {}
    for v in variables:
        fitting = [x for x in LARGE if x <= size and v.inside(x)]
        if v.type == "Integer" and not v.items and fitting:
            found[v] = fitting[0]
    return found
