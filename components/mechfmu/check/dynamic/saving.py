"""D6: saving and restoring the FMU state."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Iterator, Sequence
from ctypes import byref, c_size_t, c_void_p
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..findings import Finding, rule
from .binding import WARNING
from .instance import INITIALIZATION, INSTANTIATED, RUNNING, TERMINATED, FmuInstance, status_name
from .model import ModelVariable
from .session import Session
from .snapshots import EXACT, Comparison, Reader, ValueSnapshot, varying
from .stirring import RepeatableRun, accepted_parameters, assign, repeatable_run, run_parts, set_slopes, with_slopes

EARLY, LATE = 0.3, 0.75  # of a run: before late events, and after them
SHORT = 8  # steps
GUARD = 64  # bytes past the end of a serialized state that must not be written
REPLAY_TOLERANCE = 1e-6  # Co-Simulation: an internal solver that starts anew gives results within its tolerance
STATE_FUNCTIONS = (
    "fmi2GetFMUstate",
    "fmi2SetFMUstate",
    "fmi2FreeFMUstate",
    "fmi2SerializedFMUstateSize",
    "fmi2SerializeFMUstate",
    "fmi2DeSerializeFMUstate",
)
Handle = c_void_p


@dataclass(frozen=True)
class SavedState:
    """An FMU state, and what this program knows about the instance in it."""

    handle: Handle
    t: float
    state: str
    next_event: float | None
    must_step: bool


def save(instance: FmuInstance, handle: Handle | None = None) -> SavedState:
    """A copy of the FMU's state, in a new handle or in one that is used already."""
    handle = Handle() if handle is None else handle
    instance.call_checked("fmi2GetFMUstate", byref(handle))
    return SavedState(handle, instance.t, instance.state, instance.next_event, instance.must_step)


def restore(instance: FmuInstance, saved: SavedState, handle: Handle | None = None) -> None:
    instance.call_checked("fmi2SetFMUstate", saved.handle if handle is None else handle)
    instance.t, instance.state = saved.t, saved.state
    instance.next_event, instance.must_step = saved.next_event, saved.must_step


def new_instance(s: Session) -> FmuInstance:
    """A new instance that is told that earlier states may be set again."""
    instance = s.new_instance()
    instance.rollback = True
    return instance


class Replays:
    """The runs of one session that are compared."""

    def __init__(self, s: Session):
        self.s = s
        self.plan = with_slopes(s, repeatable_run(s))
        self.reader = Reader(s.model.everything)
        self.wrong = False  # a difference has been reported; further ones would repeat it

    @cached_property
    def ignored(self) -> set[ModelVariable]:
        """What differs between two new instances cannot be compared (a clock, for example). It is looked for when
        something differs; beside an instance in use, so not where there may be only one."""
        runs: list[list[ValueSnapshot]] = [] if not self.s.once_per_process else [[], []]
        while len(runs) < 2:
            instance = self.plan.prepared(new_instance(self.s))
            runs.append([self.reader.read(instance), *self.plan.run(instance, self.reader)])
            instance.free()
        found = varying(runs[0], runs[-1])
        if found:
            names = ", ".join(sorted(v.name for v in found)[:3])
            self.s.not_judged(f"{len(found)} variables differ between two new instances ({names}): not compared")
        return found

    @property
    def tolerance(self) -> float:
        return EXACT if self.s.kind == "ModelExchange" else max(REPLAY_TOLERANCE, self.s.model.tolerance or 0.0)

    def same(
        self, problem: str, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]
    ) -> Iterator[Finding]:
        """Findings about values that must be the same."""
        yield from self._compared(Comparison(problem, "fmu-state", ("saved", "restored"), EXACT), expected, found)

    def replayed(
        self, problem: str, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]
    ) -> Iterator[Finding]:
        """Findings about a run that must repeat another one."""
        labels = ("first run", "replay")
        yield from self._compared(Comparison(problem, "fmu-state", labels, self.tolerance), expected, found)

    def _compared(
        self, comparison: Comparison, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]
    ) -> Iterator[Finding]:
        if self.wrong or not varying(expected, found):
            return
        for finding in replace(comparison, ignored=self.ignored).findings(expected, found):
            self.wrong |= bool(finding.sentence)
            yield finding


@rule("D6", "saved FMU states", "2.1.8")
def saved_states(s: Session) -> Iterator[Finding]:
    """A state can be saved in every mode. Restored, it brings back all variables of all types, time, inputs and
    parameters, and the simulation repeats, events included; also several times, with several saved states, after other
    states were freed, after fmi2Terminate, and, serialized, in a second instance. Freeing NULL is ignored; freeing
    returns NULL."""
    if not s.model.flag(s.kind, "canGetAndSetFMUstate"):
        return
    replays = Replays(s)
    sentences = dict.fromkeys(STATE_FUNCTIONS, "state-supported")
    parts = {name: partial(part, replays) for name, part in PARTS.items()}
    yield from run_parts(s, parts, sentences=sentences)


def _replay(r: Replays) -> Iterator[Finding]:
    early, late = r.plan.part(EARLY), r.plan.part(LATE)
    instance = r.plan.prepared(new_instance(r.s))
    r.plan.run(instance, None, 0, early)
    first, at_first = save(instance), r.reader.read(instance)
    to_late = r.plan.run(instance, r.reader, early, late)
    second, at_second = save(instance), r.reader.read(instance)
    to_end = r.plan.run(instance, r.reader, late)
    restore(instance, first)
    lost = list(r.same("a restored state is not the saved one", [at_first], [r.reader.read(instance)]))
    again = r.plan.run(instance, r.reader, early)
    r.wrong = False
    replayed = list(r.replayed("a replay from a restored state differs", [*to_late, *to_end], again))
    plot = next((f.plot for f in replayed if f.plot), None)
    yield from [replace(f, plot=plot if f is lost[0] else None) for f in lost] or replayed
    r.wrong |= any(f.sentence for f in lost)
    restore(instance, second)
    yield from r.same("the second of two saved states is not restored", [at_second], [r.reader.read(instance)])
    again = r.plan.run(instance, r.reader, late)
    yield from r.replayed("a replay from the second of two saved states differs", to_end, again)
    for _ in range(2):
        restore(instance, first)
    yield from r.same("a state that is set again is not restored", [at_first], [r.reader.read(instance)])
    instance.call_checked("fmi2FreeFMUstate", byref(first.handle))
    restore(instance, second)
    yield from r.same("a state is lost when another one is freed", [at_second], [r.reader.read(instance)])
    instance.go_to(TERMINATED)
    restore(instance, second)
    yield from r.same("a state is not restored after fmi2Terminate", [at_second], [r.reader.read(instance)])
    again = r.plan.run(instance, r.reader, late)
    yield from r.replayed("a replay after fmi2Terminate differs", to_end, again)
    instance.call_checked("fmi2FreeFMUstate", byref(second.handle))
    instance.free()


def _reused_handle(r: Replays) -> Iterator[Finding]:
    early, late = r.plan.part(EARLY), r.plan.part(LATE)
    instance = r.plan.prepared(new_instance(r.s))
    used, kept = save(instance), save(instance)
    at_start = r.reader.read(instance)
    r.plan.run(instance, None, 0, early)
    used, at_early = save(instance, used.handle), r.reader.read(instance)
    r.plan.run(instance, None, early, late)
    restore(instance, used)
    yield from r.same("a state saved into a used handle is not restored", [at_early], [r.reader.read(instance)])
    restore(instance, kept)
    problem = "a state changes when another one is saved into a used handle"
    yield from r.same(problem, [at_start], [r.reader.read(instance)])
    for saved in (used, kept):
        instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.free()


def _before_run(r: Replays) -> Iterator[Finding]:
    """States saved before and in initialization mode bring back the mode and the start values."""
    plan = _short(r.plan)
    for state in (INSTANTIATED, INITIALIZATION):
        if not r.s.attempt(f"a state saved in the state {state}"):
            continue
        instance = new_instance(r.s)
        if plan.parameters:
            assign(instance, plan.parameters)
        instance.go_to(state)
        if r.plan.excitation and state == INITIALIZATION:
            assign(instance, dict(r.plan.excitation(instance.t)))
        saved = save(instance)
        expected = _onward(plan, r.reader, instance)
        restore(instance, saved)
        found = _onward(plan, r.reader, instance)
        yield from r.replayed(f"a state saved in the state {state} is not restored", expected, found)
        instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
        instance.free()


def _parameters(r: Replays) -> Iterator[Finding]:
    """A state saved before initialization brings back parameters that were set afterwards."""
    changed = r.plan.parameters or accepted_parameters(r.s)
    plan = RepeatableRun(r.plan.steps[:SHORT], reads=frozenset(range(SHORT)))
    if not changed:
        return
    plain = new_instance(r.s)
    expected = _onward(plan, r.reader, plain)
    plain.free()
    instance = new_instance(r.s)
    saved = save(instance)
    assign(instance, changed)
    _onward(plan, r.reader, instance)
    restore(instance, saved)
    found = _onward(plan, r.reader, instance)
    yield from r.replayed("parameters of a state saved before initialization are not restored", expected, found)
    instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.free()


def _onward(plan: RepeatableRun, reader: Reader, instance: FmuInstance) -> list[ValueSnapshot]:
    """Initialize, as far as this is not done, and run."""
    instance.enter_run_state()
    return [reader.read(instance), *plan.run(instance, reader)]


def _short(plan: RepeatableRun) -> RepeatableRun:
    steps = plan.steps[:SHORT]
    return RepeatableRun(steps, plan.excitation, plan.parameters, {}, frozenset(range(len(steps))))


def _event_mode(r: Replays) -> Iterator[Finding]:
    """Model Exchange: a state saved in event mode, at the start and later."""
    if r.s.kind != "ModelExchange":
        return
    instance = new_instance(r.s)
    if r.plan.parameters:
        assign(instance, r.plan.parameters)
    instance.enter_run_state()
    middle = r.plan.part(LATE)
    r.plan.run(instance, None, 0, middle)
    instance.enter_event_mode()
    saved, before = save(instance), r.reader.read(instance)
    instance.iterate_events()
    expected = [r.reader.read(instance), *r.plan.run(instance, r.reader, middle)]
    restore(instance, saved)
    yield from r.same("a state saved in event mode is not restored", [before], [r.reader.read(instance)])
    instance.iterate_events()
    again = [r.reader.read(instance), *r.plan.run(instance, r.reader, middle)]
    yield from r.replayed("a replay from event mode differs", expected, again)
    instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.free()


def _inputs_set(r: Replays) -> Iterator[Finding]:
    """Co-Simulation: a state saved after inputs and tunable parameters were set, before the step, contains them."""
    values = next(iter(r.plan.changes.values()), {})
    early = r.plan.part(EARLY)
    if r.s.kind != "CoSimulation" or early + 2 > len(r.plan.steps):
        return
    instance = r.plan.prepared(new_instance(r.s))
    r.plan.run(instance, None, 0, early)
    if r.plan.excitation:
        values = {**values, **r.plan.excitation(instance.t)}
    if values:
        assign(instance, values)
    if r.plan.slopes and r.plan.excitation:
        set_slopes(instance, dict(r.plan.excitation(instance.t)))
    saved = save(instance)
    rows = []
    for _ in range(2):
        instance.step(r.plan.steps[early])
        rows.append([r.reader.read(instance)])
        r.plan.run(instance, None, early + 1)
        restore(instance, saved)
    yield from r.replayed("inputs or parameters set before the state was saved are not restored", *rows)
    instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.step(r.plan.steps[early])
    instance.free()


def _serialized(r: Replays) -> Iterator[Finding]:
    if not r.s.model.flag(r.s.kind, "canSerializeFMUstate"):
        return
    late = r.plan.part(LATE)
    instance = r.plan.prepared(new_instance(r.s))
    r.plan.run(instance, None, 0, late)
    saved, values = save(instance), r.reader.read(instance)
    data = yield from serialize(instance, saved.handle)
    expected = r.plan.run(instance, r.reader, late)
    if data is None:
        return
    again = yield from serialize(instance, saved.handle)
    if again is not None and len(again) != len(data):
        problem = f"the size of one state is first {len(data)}, later {len(again)}"
        yield Finding("fmi2SerializedFMUstateSize", problem, "the same size", sentence="serialized-size")
    instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    handle = deserialize(instance, data)
    restore(instance, saved, handle)
    yield from r.same("a serialized state is not restored", [values], [r.reader.read(instance)])
    instance.call_checked("fmi2FreeFMUstate", byref(handle))
    instance.free()
    for state in (INSTANTIATED, RUNNING[r.s.kind]):
        other = new_instance(r.s).go_to(state)
        handle = deserialize(other, data)
        restore(other, saved, handle)
        other.call_checked("fmi2FreeFMUstate", byref(handle))
        found = [r.reader.read(other)]
        yield from r.same(f"a serialized state is not restored in a second instance ({state})", [values], found)
        problem = f"a replay from a serialized state in a second instance ({state}) differs"
        yield from r.replayed(problem, expected, r.plan.run(other, r.reader, late))
        other.free()


def serialize(instance: FmuInstance, handle: Handle) -> Generator[Finding, None, bytes | None]:
    """The bytes of a state, or None if it cannot be stored."""
    size = c_size_t(0)
    instance.call_checked("fmi2SerializedFMUstateSize", handle, byref(size))
    if not 0 < size.value < 1 << 31:
        problem = f"the size is {size.value}"
        yield Finding("fmi2SerializedFMUstateSize", problem, "a number of bytes", sentence="serialized-size")
        return None
    data = ctypes.create_string_buffer(b"\xa5" * (size.value + GUARD), size.value + GUARD)
    instance.call_checked("fmi2SerializeFMUstate", handle, ctypes.cast(data, c_void_p), size.value)
    if data.raw[size.value :] != b"\xa5" * GUARD:
        problem = f"it writes beyond the {size.value} bytes that fmi2SerializedFMUstateSize asked for"
        yield Finding("fmi2SerializeFMUstate", problem, "no more than this", sentence="serialize")
    return data.raw[: size.value]


def deserialize(instance: FmuInstance, data: bytes) -> Handle:
    handle = Handle()
    buffer = ctypes.create_string_buffer(data, len(data))
    pointer = ctypes.cast(buffer, c_void_p)
    instance.call_checked("fmi2DeSerializeFMUstate", pointer, len(data), byref(handle))
    ctypes.memset(buffer, 0x5A, len(data))  # the byte vector belongs to the importer
    return handle


def _freeing(r: Replays) -> Iterator[Finding]:
    instance = new_instance(r.s).enter_run_state()
    status = instance.call("fmi2FreeFMUstate", byref(Handle()), note=" (a NULL state)")
    if status > WARNING:
        problem = f"it returns {status_name(status)} for a NULL state"
        yield Finding("fmi2FreeFMUstate", problem, "fmi2OK: it is ignored", sentence="free-state-null")
    handle = save(instance).handle
    instance.call_checked("fmi2FreeFMUstate", byref(handle))
    if handle.value:
        problem, expected = "it does not reset the pointer to the freed state", "a NULL pointer in its argument"
        yield Finding("fmi2FreeFMUstate", problem, expected, sentence="free-state-returns-null")
    instance.free()


PARTS = {
    "replay": _replay,
    "a used handle": _reused_handle,
    "states before the run": _before_run,
    "parameters before initialization": _parameters,
    "event mode": _event_mode,
    "inputs": _inputs_set,
    "serialized states": _serialized,
    "freeing": _freeing,
}
