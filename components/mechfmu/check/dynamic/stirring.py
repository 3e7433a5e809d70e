"""Runs in which everything is stirred that an importer may change: parameters of all types before initialization,
continuous inputs at every second step, discrete inputs and tunable parameters a few times. A run goes deep into the
default experiment, so that late events happen, and is the same whenever it is repeated."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_char_p
from dataclasses import dataclass, field, replace

from ..findings import Finding
from . import binding
from .binding import WARNING
from .experiments import accepted_excitation
from .instance import (
    CONTINUOUS_TIME,
    STEP_COMPLETE,
    TYPES,
    CallFailed,
    EndlessEventIteration,
    Excitation,
    FmuInstance,
    IllegalCall,
    NotJudged,
    SimulationTerminated,
    array,
)
from .model import ModelVariable, Value
from .session import Session
from .snapshots import Reader, ValueSnapshot

FRACTION = 0.9  # of the default experiment
EXCHANGE_STEPS = 45  # Model Exchange: steps of a run
MAX_STEPS = 3000
READ_VALUES = 200_000  # values that one run records at most
MIN_READS = 5
RUN_SECONDS = 1.0  # of processor time for one run, which a rule repeats a dozen times
MAX_TRIALS = 20  # new instances, to find out which values the FMU accepts
SLOW_SECONDS = 1.0  # an instantiation that takes longer is not repeated to find out details
CHANGES = (
    0.05,
    0.15,
    0.35,
    0.5,
    0.65,
    0.8,
    0.9,
)  # when discrete inputs and tunable parameters change, in parts of the run
SLOPE_STEPS = 4  # every so many steps, derivatives of inputs are set as well
LONG_TEXT = "Größe in µm, 漢字 and € " + 6 * "0123456789 "  # no length or encoding of a string may be taken for granted
PARTS_SHARE = 0.85  # of the time budget, after which no further part of a rule is begun
PLAIN, INPUTS, ALL = "nothing", "continuous inputs", "everything"

Values = dict[ModelVariable, Value]


class Refused(Exception):
    """The FMU does not accept a value, which it may do."""


FAILURES = (CallFailed, NotJudged, Refused, EndlessEventIteration)


def assign(instance: FmuInstance, values: Values, one_by_one: bool = False, overwrite: bool = False) -> None:
    """Set values, all variables of a type in one call. With `overwrite`, the memory of strings is overwritten
    afterwards, as an importer may do. Raises Refused if the FMU does not accept them."""
    for v in values:
        if not instance.settable(v):
            raise IllegalCall(f"setting {v.name} in the state {instance.state}")
    if one_by_one:
        for v, value in values.items():
            _assign_group(instance, v.type, [(v, value)], overwrite)
        return
    for kind in TYPES:
        group = [(v, value) for v, value in values.items() if v.type == kind]
        if group:
            _assign_group(instance, kind, group, overwrite)


_texts: list[ctypes.Array[ctypes.c_char]] = []  # memory of strings that is not reused


def _assign_group(
    instance: FmuInstance, kind: str, group: Sequence[tuple[ModelVariable, Value]], overwrite: bool
) -> None:
    references = binding.references([v.reference for v, _ in group])
    buffers = []
    if kind == "String":
        buffers = [ctypes.create_string_buffer(str(value).encode()) for _, value in group]
        data = (c_char_p * len(group))(*[ctypes.cast(b, c_char_p) for b in buffers])
        _texts.extend(buffers)
    else:
        data = array(kind, [value for _, value in group])
    note = f" ({instance.state}, {group[0][0].name}{' ...' if len(group) > 1 else ''})"
    status = instance.call(f"fmi2Set{kind}", references, len(group), data, note=note)
    for buffer in buffers if overwrite else ():
        ctypes.memset(buffer, ord("#"), len(buffer) - 1)
    instance.must_step = instance.must_step or instance.state == STEP_COMPLETE
    if status > WARNING:
        raise Refused


def other_values(variables: Sequence[ModelVariable], number: int = 0) -> Values:
    """A legal value other than the start value for each variable, where there is one; they differ among each other.
    Other numbers give other values, now and then the start value too."""
    found = {v: _other_value(v, number) for v in variables if v.start is not None}
    return {v: value for v, value in found.items() if value is not None}


def _other_value(v: ModelVariable, number: int) -> Value | None:
    if v.type == "Real":
        return v.other_value(1e-3 * (1 + v.index % 89 / 97) * (1 + number))
    if v.type == "String":
        return f"{v.start} changed {number}, {LONG_TEXT}"
    if v.type == "Boolean":
        return bool(v.start) == bool(number % 2)
    start = int(v.start or 0)
    if v.items:
        others = [x for x in v.items if x != start and v.inside(x)]
        choice = [*others, start]
    else:
        near = (start + 1, start + 2, start - 1, start + 3)
        choice = [x for x in near if abs(x) < 1 << 31 and v.inside(x)]  # fmi2Integer has 32 bits
    return choice[number % len(choice)] if choice and choice[0] != start else None


def before_initialization(s: Session) -> list[ModelVariable]:
    """The parameters, which may be set before initialization."""
    return [v for v in s.model.of("parameter") if v.initial == "exact" and v.variability in ("fixed", "tunable")]


def while_running(s: Session) -> list[ModelVariable]:
    """What may be set at events or communication points, without the continuous inputs."""
    tunable = [v for v in s.model.of("parameter") if v.variability == "tunable"]
    return tunable + [v for v in s.model.of("input") if v.variability != "continuous"]


@dataclass(frozen=True)
class RepeatableRun:
    """A run that can be repeated."""

    steps: tuple[float, ...]
    excitation: Excitation | None = None
    parameters: Values = field(default_factory=dict)  # set before initialization
    changes: dict[int, Values] = field(default_factory=dict)  # set before the step of this number
    reads: frozenset[int] = frozenset()  # the steps after which values are recorded
    slopes: bool = False  # derivatives of inputs are set, too
    overwrite: bool = False  # the memory of strings is overwritten after use

    def prepared(self, instance: FmuInstance) -> FmuInstance:
        """Bring a new instance to the beginning of the run."""
        if self.parameters:
            assign(instance, self.parameters, overwrite=self.overwrite)
        try:
            return instance.enter_run_state()
        except EndlessEventIteration:
            raise NotJudged("the event iteration at the start does not end, a finding of D14") from None

    def run(
        self, instance: FmuInstance, reader: Reader | None = None, first: int = 0, last: int | None = None
    ) -> list[ValueSnapshot]:
        """Make the steps from `first` to `last`, without the latter."""
        rows = []
        for k in range(first, len(self.steps) if last is None else last):
            self.step(instance, k)
            if reader is not None and k in self.reads:
                rows.append(reader.read(instance))
        return rows

    def step(self, instance: FmuInstance, k: int, on_event: Callable[[str], None] | None = None) -> None:
        """Set what is to be set, and make step k. `on_event` is called before and after each event."""
        if k in self.changes:
            change(instance, self.changes[k], on_event, self.overwrite)
        if values := self.inputs(instance, k):
            assign(instance, values)
            if self.slopes and k % SLOPE_STEPS == 0:
                set_slopes(instance, values)
        if instance.kind == "CoSimulation":
            instance.step(self.steps[k])
        else:
            from .integration import ADVANCE_TOLERANCE, ExchangeRun

            run = ExchangeRun(instance, ADVANCE_TOLERANCE, on_event=on_event)
            run.run([instance.t + self.steps[k]], lambda t: None)

    def inputs(self, instance: FmuInstance, k: int) -> Values:
        """The continuous inputs that step k begins with; every second step keeps them."""
        return dict(self.excitation(instance.t)) if self.excitation and k % 2 == 0 else {}

    def shortened(self, steps: int) -> RepeatableRun:
        """The beginning of the run."""
        return replace(self, steps=self.steps[:steps])

    def part(self, fraction: float) -> int:
        """The number of the step at this fraction of the run."""
        return min(len(self.steps), max(0, round(fraction * len(self.steps))))


def set_slopes(instance: FmuInstance, inputs: Values) -> None:
    """Co-Simulation: set the first derivatives of continuous inputs."""
    span = instance.model.stop_time - instance.model.start_time
    values = [(v.reference, v.scale / span) for v in inputs if v.type == "Real"]
    if values:
        references = binding.references([reference for reference, _ in values])
        orders, slopes = binding.integers([1] * len(values)), binding.reals([slope for _, slope in values])
        status = instance.call("fmi2SetRealInputDerivatives", references, len(values), orders, slopes)
        if status > WARNING:
            raise Refused


def change(
    instance: FmuInstance, values: Values, on_event: Callable[[str], None] | None = None, overwrite: bool = False
) -> None:
    """Set discrete inputs and tunable parameters: in Model Exchange at an event."""
    if instance.state == CONTINUOUS_TIME:
        notify = on_event or (lambda when: None)
        notify("before")
        instance.enter_event_mode()
        assign(instance, values, overwrite=overwrite)
        instance.iterate_events()
        notify("after")
    else:
        assign(instance, values, overwrite=overwrite)


# --- which run the FMU accepts ----------------------------------------------------------------------------------------


def grid_steps(s: Session) -> tuple[float, ...]:
    """The communication steps of a run."""
    m = s.model
    span = FRACTION * (m.stop_time - m.start_time)
    if s.kind == "ModelExchange":
        return (span / EXCHANGE_STEPS,) * EXCHANGE_STEPS
    count = math.floor(span / m.step_size + 1e-9)
    return (m.step_size,) * max(1, min(count, MAX_STEPS))


def repeatable_run(s: Session, wanted: str = ALL, seconds_share: float = 0.08) -> RepeatableRun:
    """The most stirring run that the FMU accepts, at most as long as a share of the rule's time budget allows. What it
    does not accept is left out: whether it had to is not decided here."""
    base = RepeatableRun(grid_steps(s))
    if wanted == PLAIN:
        return _fitted(s, base, seconds_share)
    if s.attempt("everything is changed"):
        full = replace(base, excitation=s.excitation(), parameters=other_values(before_initialization(s)))
        full = replace(full, changes=_changes(base, while_running(s)))
        if fitted := _trial(s, full, seconds_share):
            return fitted
    excitation = accepted_excitation(s) if s.attempt("inputs are excited") else None
    with_inputs = replace(base, excitation=excitation)
    if s.attempt("parameters of all types are changed"):
        full = replace(with_inputs, parameters=accepted_parameters(s), changes=_accepted_changes(s, with_inputs))
        if fitted := _trial(s, full, seconds_share):
            return fitted
    if excitation and (fitted := _trial(s, with_inputs, seconds_share)):
        return fitted
    return _fitted(s, base, seconds_share)


def with_slopes(s: Session, plan: RepeatableRun) -> RepeatableRun:
    """The same run with derivatives of the inputs, if the FMU uses them."""
    if not plan.excitation or s.kind != "CoSimulation" or not s.model.flag(s.kind, "canInterpolateInputs"):
        return plan
    candidate = replace(plan, slopes=True)
    return candidate if _runs_with(s, candidate.shortened(SLOPE_STEPS + 1)) else plan


def _trial(s: Session, candidate: RepeatableRun, seconds_share: float) -> RepeatableRun | None:
    """The run, fitted, or None if the FMU does not run with it."""
    try:
        return _fitted(s, candidate, seconds_share, strict=True)
    except FAILURES:
        return None
    finally:
        s.free_all()


def _fitted(s: Session, candidate: RepeatableRun, seconds_share: float, strict: bool = False) -> RepeatableRun:
    """The run, ended before the FMU ends the simulation and where the time is used up; with `strict`, an error on
    the way is raised."""
    instance = candidate.prepared(s.new_instance())
    end, processor_end = time.monotonic() + seconds_share * s.seconds, time.process_time() + RUN_SECONDS
    reached, late = 0, False
    try:
        for k in range(len(candidate.steps)):
            candidate.step(instance, k)
            reached = k + 1
            late = time.monotonic() > end or time.process_time() > processor_end
            if late:
                break
    except SimulationTerminated:
        pass
    except FAILURES:
        if strict:
            raise
    instance.free()
    if reached < len(candidate.steps) and late:
        done = sum(candidate.steps[:reached]) / (s.model.stop_time - s.model.start_time)
        s.not_judged(f"only {done:.0%} of the default experiment was run, for want of time")
    reads = max(MIN_READS, min(reached, READ_VALUES // max(1, len(s.model.everything))))
    rows = frozenset(math.ceil((i + 1) * reached / reads) - 1 for i in range(reads)) if reached else frozenset()
    return replace(candidate, steps=candidate.steps[:reached], reads=rows)


def accepted_parameters(s: Session, variables: Sequence[ModelVariable] | None = None) -> Values:
    """Values other than the start values with which the FMU initializes and makes two steps."""
    wanted = other_values(before_initialization(s) if variables is None else variables)

    def works(values: Values) -> bool:
        return _runs_with(s, RepeatableRun(grid_steps(s)[:2], parameters=values))

    return _accepted(s, wanted, works)


def _accepted_changes(s: Session, base: RepeatableRun) -> dict[int, Values]:
    """Changes of discrete inputs and tunable parameters that the FMU accepts while it is running."""
    steps = min(3, len(base.steps))

    def works(values: Values) -> bool:
        return _runs_with(s, replace(base, steps=base.steps[:steps], changes={min(1, steps - 1): values}))

    return _changes(base, list(_accepted(s, other_values(while_running(s)), works)))


def _changes(base: RepeatableRun, variables: Sequence[ModelVariable]) -> dict[int, Values]:
    """Values of these variables in the course of a run; what may be set only once per instant is set once."""
    found = {round(f * len(base.steps)): other_values(variables, i) for i, f in enumerate(CHANGES)}
    return {k: values for k, values in found.items() if values}


def _runs_with(s: Session, candidate: RepeatableRun) -> bool:
    instance = s.new_instance()
    try:
        candidate.run(candidate.prepared(instance))
    except FAILURES:
        return False
    except SimulationTerminated:
        return True
    finally:
        instance.free()
    return True


def _accepted(s: Session, wanted: Values, works: Callable[[Values], bool]) -> Values:
    """As many of the values as the FMU accepts together, found by halving."""
    if not wanted:
        return {}
    began = time.monotonic()
    if works(wanted):
        return wanted
    if time.monotonic() - began > SLOW_SECONDS:
        s.not_judged("the FMU refuses a value, and to find out which one takes too long")
        return {}
    kept: Values = {}
    groups = [{v: x for v, x in wanted.items() if v.type == kind} for kind in TYPES]
    queue = [g for g in groups if g]
    trials = 1
    while queue and trials < MAX_TRIALS and not s.time_used(0.3):
        group = queue.pop(0)
        trials += 1
        if works({**kept, **group}):
            kept |= group
        elif len(group) > 1:
            items = list(group.items())
            middle = len(items) // 2
            queue += [dict(items[:middle]), dict(items[middle:])]
    return kept


def run_parts(
    s: Session,
    parts: Mapping[str, Callable[[], Iterator[Finding]]],
    judged: Callable[[CallFailed], bool] = lambda error: True,
    sentences: Mapping[str, str] | None = None,
) -> Iterator[Finding]:
    """The findings of the parts of a rule, each with instances of its own. A legal call that fails is a finding if it
    is `judged` by this rule, and the next part follows; what the checker cannot decide is not judged. `sentences` says
    what a failing function breaks, other than the calling sequences."""
    for name, part in parts.items():
        if s.time_used(PARTS_SHARE):
            s.not_judged(f"{name}: the time budget was used up")
            continue
        if not s.attempt(name):
            continue
        try:
            yield from part()
        except CallFailed as error:
            if judged(error):
                sentence = (sentences or {}).get(error.function, error.sentence)
                yield Finding(error.function, f"{error} ({name})", "fmi2OK", sentence=sentence)
            else:
                s.not_judged(f"{name}: {error}")
        except NotJudged as reason:
            s.not_judged(f"{name}: {reason}")
        except (Refused, EndlessEventIteration, SimulationTerminated) as error:
            s.not_judged(f"{name}: {error.__doc__}")
        s.free_all()
