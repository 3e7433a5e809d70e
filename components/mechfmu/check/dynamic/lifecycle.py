"""D7: reset, and several instances in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ..findings import Finding, rule
from .binding import ERROR
from .copies import POSSIBLE, in_copy
from .instance import EVENT_MODE, RUNNING, STATES_OF, STEP_COMPLETE, TERMINATED, CallFailed, FmuInstance
from .model import ModelVariable
from .session import Session
from .snapshots import Comparison, Part, Reader, ValueSnapshot, varying
from .stirring import PLAIN, RepeatableRun, assign, repeatable_run, run_parts, set_slopes, with_slopes

RESET_SHARE = 0.5  # of the time budget
SHORT = 8  # steps of a run that is compared from a state before the run
SECONDS_SHARE = 0.04  # of the time budget, for one run
ERROR_STEPS = 3  # after so many steps the stop time is exceeded, to see an error


class Lives:
    """The runs of one session that are compared: a plain one, and a stirred one that must leave no trace."""

    def __init__(self, s: Session):
        self.s = s
        self.reader = Reader(s.model.variables)
        self.ignored: set[ModelVariable] = set()
        self.broken: set[str] = set()  # sentences; further differences would repeat the cause
        elsewhere = self._in_other_processes()
        self.plain = repeatable_run(s, PLAIN, SECONDS_SHARE) if elsewhere is None else elsewhere[0]
        self.expected = self.life(self.plain)
        self.second = [] if s.once_per_process else self.life(self.plain.shortened(SHORT))
        if elsewhere is not None:
            self.ignored = self._unequal(elsewhere[1])
        self.stirred = with_slopes(s, repeatable_run(s, seconds_share=SECONDS_SHARE))
        if self.ignored:
            names = ", ".join(sorted(v.name for v in self.ignored)[:3])
            s.not_judged(f"{len(self.ignored)} variables differ between two processes ({names}): not compared")

    def life(self, plan: RepeatableRun) -> list[ValueSnapshot]:
        """A run of a new instance."""
        instance = self.s.new_instance()
        rows = self.run(plan, instance)
        instance.free()
        return rows

    def run(self, plan: RepeatableRun, instance: FmuInstance) -> list[ValueSnapshot]:
        plan.prepared(instance)
        return [self.reader.read(instance), *plan.run(instance, self.reader)]

    def compared(self, problem: str, sentence: str, found: Sequence[ValueSnapshot]) -> Iterator[Finding]:
        """Findings where a run differs from that of the first instance of a process."""
        comparison = Comparison(problem, sentence, ("new instance", "here"), ignored=self.ignored)
        yield from self.once(comparison, self.expected, found)

    def once(
        self, comparison: Comparison, expected: Sequence[ValueSnapshot], found: Sequence[ValueSnapshot]
    ) -> Iterator[Finding]:
        """Findings where two runs differ, unless an earlier comparison has shown the same."""
        cause = "reset" if comparison.sentence == "reset" else "several instances"
        if cause in self.broken:
            return
        for finding in comparison.findings(expected, found):
            self.broken |= {cause} if finding.sentence else set()
            yield finding

    def _in_other_processes(self) -> tuple[RepeatableRun, list[tuple[Part, ...]]] | None:
        """The plain run, and its values if it is the first one of a process: what differs from process to process does
        not depend on the FMU alone (a clock, for example). None where processes cannot be copied."""
        if not POSSIBLE:
            return None
        self.s.library.has("fmi2Instantiate")  # loads the library
        found = in_copy(lambda: _plain_data(repeatable_run(self.s, PLAIN, SECONDS_SHARE)))
        if found is None:
            return None
        plan = RepeatableRun(found[0], reads=found[1])
        parts: list[tuple[Part, ...]] | None = in_copy(lambda: [row.parts for row in self.life(plan)])
        return None if parts is None else (plan, parts)

    def _unequal(self, parts: Sequence[tuple[Part, ...]]) -> set[ModelVariable]:
        others = [ValueSnapshot(row.reader, row.t, p) for row, p in zip(self.expected, parts, strict=False)]
        return varying(self.expected, others)


def _plain_data(plan: RepeatableRun) -> tuple[tuple[float, ...], frozenset[int]]:
    return plan.steps, plan.reads


@rule("D7", "reset and several instances", "2.1.5, 2.1.6")
def reset_and_instances(s: Session) -> Iterator[Finding]:
    """After fmi2Reset from any state, an instance behaves like a new one, whatever was set or happened before. A second
    instance with other parameters, one that was freed, reset, terminated or that failed does not affect another one."""
    lives = Lives(s)
    parts = {"reset": partial(_resets, lives)}

    def judged(error: CallFailed) -> bool:  # that fmi2Reset succeeds is checked by D3, except after an error
        return error.function != "fmi2Reset"

    if not s.once_per_process:
        parts["two instances at a time"] = partial(_interleaved, lives)
        parts["a later instance"] = partial(_later, lives)
    if s.kind == "CoSimulation":
        parts["reset after an error"] = partial(_reset_after_error, lives)
    if not s.once_per_process:
        parts["after a terminated instance"] = partial(_after_terminated, lives)
    yield from run_parts(s, parts, judged)


def _resets(r: Lives) -> Iterator[Finding]:
    """One instance is stirred, reset and compared with a new one, from each state until one differs."""
    instance: FmuInstance | None = None
    for state in (RUNNING[r.s.kind], *(x for x in STATES_OF[r.s.kind] if x != RUNNING[r.s.kind])):
        if r.s.time_used(RESET_SHARE):
            r.s.not_judged(f"reset from the state {state}: the time budget was used up")
            continue
        if not r.s.attempt(f"reset: {state}"):
            continue
        if instance is None:
            instance = r.s.new_instance()
        else:
            instance.reset()
        long = state in (RUNNING[r.s.kind], TERMINATED)
        _stir(r, instance, state, len(r.stirred.steps) if long else SHORT)
        instance.reset()
        problem = f"after fmi2Reset ({state}) it differs from a new instance"
        plan = r.plain if long else r.plain.shortened(SHORT)
        findings = list(r.compared(problem, "reset", r.run(plan, instance)))
        yield from findings
        if findings:
            instance.free()
            return


def _stir(r: Lives, instance: FmuInstance, state: str, steps: int) -> None:
    """Bring an instance to this state, with everything changed that can be."""
    path = STATES_OF[r.s.kind]
    if r.stirred.parameters:
        assign(instance, r.stirred.parameters)
    instance.go_to(path[min(path.index(state), 2)])
    if path.index(state) > 1:
        instance.enter_run_state()
        r.stirred.run(instance, None, 0, min(steps, len(r.stirred.steps)))
    if state == STEP_COMPLETE and r.stirred.excitation:  # the last call before fmi2Reset
        inputs = dict(r.stirred.excitation(instance.t))
        assign(instance, inputs)
        if r.stirred.slopes:
            set_slopes(instance, inputs)
    if state == EVENT_MODE:
        instance.enter_event_mode()
    elif state == TERMINATED:
        instance.go_to(TERMINATED)


def failed(r: Lives) -> FmuInstance | None:
    """Co-Simulation: an instance that has returned fmi2Error, since it was to step past its stop time."""
    instance = r.s.new_instance()
    h = r.s.model.step_size
    instance.stop_time = r.s.model.start_time + ERROR_STEPS * h
    instance.enter_run_state()
    for _ in range(ERROR_STEPS):
        instance.step(h)
    status = instance.try_step(h)
    if status == ERROR:
        return instance
    instance.free()
    return None


def _reset_after_error(r: Lives) -> Iterator[Finding]:
    instance = failed(r)
    if instance is None:
        return
    instance.stop_time = None
    try:
        instance.reset()
    except CallFailed as error:
        yield Finding("fmi2Reset", f"{error}, after fmi2Error", "fmi2OK", sentence="reset-after-error")
        return
    try:
        found = r.run(r.plain, instance)
    except CallFailed as error:
        problem = f"{error}, after fmi2Error and fmi2Reset"
        yield Finding(error.function, problem, "fmi2OK, as in a new instance", sentence="reset")
        return
    yield from r.compared("after fmi2Error and fmi2Reset it differs from a new instance", "reset", found)
    instance.free()


def _later(r: Lives) -> Iterator[Finding]:
    """The second instance of the process, and one after another one was stirred and freed."""
    yield from r.compared("in a second instance it differs from the first", "new-instance", r.second)
    r.life(r.stirred)
    problem = "in a new instance, after another one was freed, it differs from the first instance"
    yield from r.compared(problem, "new-instance", r.life(r.plain))


def _interleaved(r: Lives) -> Iterator[Finding]:
    """Three instances in turn: a plain one; a stirred one, freed in the middle; and one that is reset in the middle."""
    alone = r.s.new_instance()
    stirred_alone = r.run(r.stirred, alone)
    alone.free()
    two, one, three = (r.s.new_instance() for _ in range(3))  # the plain one is neither the first nor the last
    r.stirred.prepared(two)
    r.plain.prepared(one)
    r.stirred.prepared(three)
    rows, other_rows = [r.reader.read(one)], [r.reader.read(two)]
    middle = min(len(r.plain.steps), len(r.stirred.steps)) // 2
    for k in range(len(r.plain.steps)):
        if k < middle:
            r.stirred.step(two, k)
            other_rows += [r.reader.read(two)] if k in r.stirred.reads else []
            r.stirred.step(three, k)
        elif k == middle:
            two.free()
            three.reset()
            three.enter_run_state()
        r.plain.step(one, k)
        rows += [r.reader.read(one)] if k in r.plain.reads else []
    yield from r.compared("with other instances in the process it differs", "many-instances", rows)
    problem = "an instance with other parameters differs when there is a second one"
    comparison = Comparison(problem, "many-instances", ("alone", "with a second one"), ignored=r.ignored)
    yield from r.once(comparison, stirred_alone, other_rows)


def _after_terminated(r: Lives) -> Iterator[Finding]:
    """A new instance beside one that is terminated, and freed in the middle; in Co-Simulation, one that failed too."""
    other = r.s.new_instance()
    r.run(r.stirred, other)
    other.go_to(TERMINATED)
    broken = failed(r) if r.s.kind == "CoSimulation" else None
    instance = r.plain.prepared(r.s.new_instance())
    rows = [r.reader.read(instance)]
    middle = len(r.plain.steps) // 2
    rows += r.plain.run(instance, r.reader, 0, middle)
    other.free()
    rows += r.plain.run(instance, r.reader, middle)
    problem = "beside an instance that was terminated it differs" if broken is None else OTHERS_ENDED
    yield from r.compared(problem, "many-instances" if broken is None else "other-instances", rows)


OTHERS_ENDED = "beside an instance that was terminated and one that failed it differs"
