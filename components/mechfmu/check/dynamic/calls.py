"""D3: which function may be called in which state, and the status that functions return."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ..findings import Finding, rule
from . import binding
from .binding import DISCARD, FATAL, WARNING
from .call_table import allowed
from .instance import (
    CALLS_SENTENCE,
    EVENT_MODE,
    INITIALIZATION,
    INSTANTIATED,
    RUNNING,
    STATES_OF,
    TERMINATED,
    CallFailed,
    FmuInstance,
    array,
    empty_array,
    status_name,
)
from .model import ModelVariable
from .session import Session
from .snapshots import Comparison, Reader
from .statuses import WatchedLibrary, watched
from .stirring import FAILURES, repeatable_run, run_parts

SET_SENTENCE = {INSTANTIATED: "set-before", INITIALIZATION: "set-during"}
Held = dict[str, dict[str, list[Finding]]]  # functions of a capability that failed -> state -> findings


@rule("D3", "calls allowed in each state", "3.2.3, 4.2.4")
def allowed_calls(s: Session) -> Iterator[Finding]:
    """Every function succeeds in each state in which the tables allow it, with their conditions; fmi2Reset and
    fmi2FreeInstance in each state; freeing NULL is ignored. Functions return only a status that is defined for them.
    After fmi2Terminate all variables have their final values."""
    library = WatchedLibrary(s)
    parts: dict[str, Callable[[], Iterator[Finding]]] = {"a run": partial(_run, s, library)}
    held: Held = {}
    for state in STATES_OF[s.kind]:
        parts[state] = partial(_in_state, s, library, state, held)
    if s.kind == "ModelExchange":
        parts["fmi2Terminate in event mode"] = partial(_terminate, s, library)
    parts["fmi2FreeInstance of NULL"] = partial(_free_nothing, s)
    yield from _told_once(run_parts(s, parts))
    for by_state in held.values():
        if RUNNING[s.kind] not in by_state:  # what fails everywhere is a finding of another rule
            yield from (finding for findings in by_state.values() for finding in findings)
    yield from library.found.values()


def _told_once(findings: Iterator[Finding]) -> Iterator[Finding]:
    """A variable that cannot be set or read in one state often cannot in others either."""
    told: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.line is None or (finding.where, finding.cause) not in told:
            yield finding
        told.add((finding.where, finding.cause))


# --- one state --------------------------------------------------------------------------------------------------------


def _in_state(s: Session, library: WatchedLibrary, state: str, held: Held) -> Iterator[Finding]:
    """All calls that leave the instance in its state, fmi2Reset, the same way again, and fmi2FreeInstance. After a call
    that fails, the next ones get a new instance."""
    instance: FmuInstance | None = None
    for call in allowed(s, state):
        if not s.library.has(call.name) or not s.model.capable(s.kind, call.capability):
            continue
        if instance is None:
            instance = watched(s.new_instance(), library).go_to(state)
        prepared = call.prepare(instance)
        if prepared is None:
            continue
        s.log.clear()
        status = instance.call(call.name, *prepared.arguments)
        if status <= DISCARD or call.may_fail:  # where fmi2Discard is not defined, the library notices it
            continue
        findings = list(_failed(s, instance, call.name, status, prepared.variables))
        if call.capability:
            held.setdefault(call.name, {})[state] = findings
        else:
            yield from findings
        instance.free()
        instance = None
    instance = instance or watched(s.new_instance(), library).go_to(state)
    status = instance.call("fmi2Reset")
    if status > WARNING:
        yield from _failed(s, instance, "fmi2Reset", status, [])
    else:
        instance.state, instance.t, instance.must_step = INSTANTIATED, s.model.start_time, False
        with contextlib.suppress(*FAILURES):  # what fmi2Reset does is checked by D7
            instance.go_to(state)
    instance.free()


def _failed(
    s: Session, instance: FmuInstance, name: str, status: int, variables: Sequence[ModelVariable]
) -> Iterator[Finding]:
    """A call that must succeed has failed; for values, the variables that are to blame are looked for."""
    state, reason = instance.state, s.reason()
    sentence = CALLS_SENTENCE[s.kind]
    if variables and name.startswith("fmi2Set"):
        sentence = SET_SENTENCE.get(state, "set-tunable" if variables[0].causality == "parameter" else sentence)
    problem = f"{name} returns {status_name(status)} in the state {state}{reason}"
    cause = f"{name} returns {status_name(status)}"  # in one state or in several
    blamed = _blamed(s, state, name, variables) if status != FATAL else []
    for v in blamed:
        yield v.finding(problem, "fmi2OK: it is allowed there", sentence, cause=cause)
    if not blamed:
        yield Finding(name, problem, "fmi2OK: it is allowed there", sentence=sentence, cause=cause)


def _blamed(s: Session, state: str, name: str, variables: Sequence[ModelVariable]) -> Sequence[ModelVariable]:
    """The first variable with which the call fails alone, found by halving."""
    kind = name[7:]
    while len(variables) > 1 and not s.time_used(0.5):
        half = variables[: len(variables) // 2]
        instance = s.new_instance()
        try:
            instance.go_to(state)
        except FAILURES:
            return []
        references = binding.references([v.reference for v in half])
        reading = name.startswith("fmi2Get")
        values = (
            empty_array(kind, len(half)) if reading else array(kind, [0 if v.start is None else v.start for v in half])
        )
        status = instance.call(name, references, len(half), values)
        instance.free()
        if status == FATAL:
            return []
        variables = half if status > DISCARD else variables[len(half) :]
    return variables


def _terminate(s: Session, library: WatchedLibrary) -> Iterator[Finding]:
    """Model Exchange: the simulation may end in event mode, too."""
    instance = watched(s.new_instance(), library).go_to(EVENT_MODE)
    status = instance.call("fmi2Terminate")
    if status > WARNING:
        yield from _failed(s, instance, "fmi2Terminate", status, [])
    instance.free()


def _free_nothing(s: Session) -> Iterator[Finding]:
    """A NULL instance is ignored; a crash is reported by the checker."""
    s.library.call(" (NULL)", "fmi2FreeInstance", None)
    yield from ()


# --- runs -------------------------------------------------------------------------------------------------------------


def _run(s: Session, library: WatchedLibrary) -> Iterator[Finding]:
    """A stirred run, of which all statuses are looked at; then fmi2Terminate, which keeps the final values."""
    plan = repeatable_run(s)
    instance = plan.prepared(watched(s.new_instance(), library))
    plan.run(instance)
    reader = Reader(s.model.variables)
    last = reader.read(instance)
    instance.go_to(TERMINATED)
    try:
        final = reader.read(instance)
    except CallFailed as error:
        yield Finding(error.function, str(error), "the final values", sentence="final-values")
        return
    comparison = Comparison("after fmi2Terminate it differs", "final-values", ("before", "after"))
    yield from comparison.findings([last], [final])
    instance.free()
