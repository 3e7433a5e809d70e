"""D13: the default experiment, from instantiation to the release of the instance."""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
import statistics
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..findings import Finding, Plot, rule
from .binding import DISCARD, ERROR, FATAL, WARNING
from .instance import TERMINATED, CallFailed, EndlessEventIteration, FmuInstance, NotJudged, SimulationTerminated
from .integration import METHODS, ExchangeRun, SolverFailed, grid
from .loading import endless_iteration
from .model import ModelVariable
from .resources import Clock, Inventory, Settings, flush_output, heap_in_use
from .runs import run_steps
from .session import Session
from .snapshots import Reader, ValueSnapshot

GRID = 200  # intervals at which a Model Exchange run is read
FULL_READS = 50  # times at which all variables are read, not only outputs and states
BUDGET = 0.6  # of the rule's time, for each run
SAMPLES = 20  # of the memory in use
HEAP_PER_STEP, HEAP_TOTAL = 64, 20_000  # bytes: the checker's own objects take up to 40 per step, 8,000 in all
EVALUATIONS, EVALUATION_STEP = 20, 1e-9  # between two samples in Model Exchange; of the experiment's length
KEPT = 0.5  # of the growth: so much memory in use after the instance was freed is a leak
RISING = 0.8  # share of the samples that must be larger than the one before
SLOWDOWN, SLOW_STEP = 20, 2e-3  # a step at the end against one at the beginning; s
FEWEST_STEPS = 10  # of which the duration can be judged
SLOW_CALL, OUTLIER = 1.0, 100  # s; one step against the others
SLOW_STEPS, SLOWER_THAN_TIME = 0.1, 1.0  # s; of the simulated time
SETTLE_SECONDS, SETTLE_STEP = 2.0, 0.1  # for threads and processes to end


@dataclass
class Watch:
    """What is looked at while the experiment runs."""

    s: Session
    settings: Settings
    signals: Reader
    everything: Reader
    texts: Sequence[ModelVariable]
    findings: list[Finding] = field(default_factory=list)
    reported: set[int] = field(default_factory=set)
    memory: list[tuple[int, int]] = field(default_factory=list)  # step, bytes
    printed: list[int] = field(default_factory=list)  # bytes of output
    reads: int = 0
    judged: dict[Reader, ValueSnapshot] = field(default_factory=dict)  # the last values of each reader

    def read(self, instance: FmuInstance, every: int) -> None:
        """Read the values and note those that are not finite or outside their limits."""
        reader = self.everything if self.reads % every == 0 else self.signals
        if self.reads % every == 0:
            self.compare_settings(instance)
            self.read_texts(instance)
        self.reads += 1
        values = reader.read(instance)
        if reader in self.judged and values.parts == self.judged[reader].parts:
            return
        self.judged[reader] = values
        for v, x in reader.unpack(values.parts):
            value = float(x)
            if math.isfinite(value) and v.inside(value) and (not v.items or value in v.items):
                continue
            if v.index in self.reported:
                continue
            self.reported.add(v.index)
            if not math.isfinite(value):
                problem, expected = f"it is {value!r} at t = {instance.t:.6g}", "a finite value"
                self.findings.append(v.finding(problem, expected, cause="not finite"))
            elif v.items and value not in v.items:
                problem = f"it is {value:g} at t = {instance.t:.6g}, which is not an item of its enumeration"
                self.findings.append(v.finding(problem, f"one of {v.items[:10]}", sentence="enumeration", cause="item"))
            elif not v.inside(value - 1e-9 * abs(value)) and not v.inside(value + 1e-9 * abs(value)):
                limits = f"[{v.min}, {v.max}]"
                problem = f"it is {value:.6g} at t = {instance.t:.6g}, outside its limits {limits}"
                self.findings.append(v.finding(problem, "a value within min and max", cause="limits"))

    def read_texts(self, instance: FmuInstance) -> None:
        for v, text in zip(self.texts, instance.get(self.texts), strict=True):
            if "\ufffd" in str(text) and v.index not in self.reported:  # stands for bytes that cannot be decoded
                self.reported.add(v.index)
                problem = f"it is {text!r} at t = {instance.t:.6g}, with bytes that are not UTF-8"
                self.findings.append(v.finding(problem, "a text in UTF-8", sentence="string-type", cause="UTF-8"))

    def compare_settings(self, instance: FmuInstance) -> None:
        for what in self.settings.changes(Settings.take()):
            if all(f.cause != what for f in self.findings):
                problem, expected = f"{what} has changed by t = {instance.t:.6g}", "settings that are restored"
                self.findings.append(Finding("the process", problem, expected, sentence="global-settings", cause=what))

    def sample(self, step: int) -> None:
        """The memory in use, and how much was printed."""
        flush_output()
        self.printed.append(self.s.printed)
        gc.collect()
        if (heap := heap_in_use()) is not None:
            self.memory.append((step, heap))


@rule("D13", "the default experiment, whole", "2.2.5, 3.2, 4.2")
def default_experiment(s: Session) -> Iterator[Finding]:
    """The default experiment runs to its stop time: no call fails, no step is discarded, all values are finite and
    within their limits, the memory in use does not grow with every step, the steps do not become slower and print
    nothing; settings of the process are restored; afterwards no memory, file descriptors, threads, child processes and
    files are left behind."""
    if s.kind == "ModelExchange":
        import fmpy.sundials  # noqa: F401  before resources are counted
    s.library.has("fmi2Instantiate")  # loads the library
    files, settings = _inventory(s).files, Settings.take()
    if s.attempt("experiment"):
        before = _inventory(s) if s.once_per_process else _after_short_run(s)
        watch = _watch(s, settings)
        yield from _experiment(s, watch)
        yield from watch.findings
        s.free_all()
        gc.collect()
        yield from _memory_growth(watch.memory, heap_in_use())
        yield from _printed(watch.printed)
        if not s.once_per_process:  # what its only instance leaves behind may belong to the library
            yield from _left_behind(before, _settled(s, before), files)


def _inventory(s: Session) -> Inventory:
    """With the files in the FMU, the working directory and the folder for temporary files, which contains it."""
    return Inventory.take(s.work.parent, s.fmu)


def _after_short_run(s: Session) -> Inventory:
    """What the first instance leaves behind. A library may keep something until it is unloaded, such as a pool of
    threads; what every instance adds is a leak."""
    instance = s.new_instance()
    with contextlib.suppress(CallFailed, SimulationTerminated, EndlessEventIteration, NotJudged):
        instance.enter_run_state()
        run_steps(instance, s.steps(2), ())
    instance.free()
    time.sleep(SETTLE_STEP)
    return _inventory(s)


def _settled(s: Session, before: Inventory) -> Inventory:
    """The inventory, when threads and processes have had the time to end."""
    for _ in range(round(SETTLE_SECONDS / SETTLE_STEP)):
        now = _inventory(s)
        if now.threads <= before.threads and now.children - now.ended <= before.children:
            return now
        time.sleep(SETTLE_STEP)
    return now


def _watch(s: Session, settings: Settings) -> Watch:
    readable = [v for v in s.model.everything if v.type != "String"]
    texts = [v for v in s.model.everything if v.type == "String"]
    listed = {d.index for d in (*s.model.outputs, *s.model.derivatives)} | set(s.model.states)
    return Watch(s, settings, Reader([v for v in readable if v.index in listed]), Reader(readable), texts)


def _experiment(s: Session, watch: Watch) -> Iterator[Finding]:
    try:
        if s.kind == "CoSimulation":
            yield from _co_simulation(s, watch)
        else:
            _model_exchange(s, watch)
    except CallFailed as error:
        if not s.model.stop_declared:
            s.not_judged(f"no stop time is declared, and {error}")
            return
        # an FMU may fail, but only with these statuses (2.1.3)
        sentence = "" if error.status in (ERROR, FATAL) else error.sentence
        yield Finding(error.function, f"{error}, in the default experiment", "fmi2OK", sentence=sentence)
    except EndlessEventIteration:
        yield endless_iteration(s.kind)
    except SimulationTerminated:
        s.not_judged("the FMU ended the simulation before the default stop time")
    except NotJudged as reason:
        s.not_judged(str(reason))


# --- Co-Simulation ----------------------------------------------------------------------------------------------------


def _co_simulation(s: Session, watch: Watch) -> Iterator[Finding]:
    h, span = s.model.step_size, s.model.stop_time - s.model.start_time
    count = max(1, math.floor(span / h + 1e-9))
    every, sample = max(1, count // FULL_READS), max(1, count // SAMPLES)
    instance = s.new_instance().enter_run_state()
    watch.read(instance, every)
    seconds = array("d", bytes(8 * count))  # a list would grow with the steps, like a leak
    with Clock() as clock:
        for i in range(count):
            if s.time_used(BUDGET):
                yield from _slow(s, seconds[:i])
                raise NotJudged(f"the time budget was used up at t = {instance.t:g}")
            began = clock.seconds()
            status = instance.try_step(h)
            seconds[i] = clock.seconds() - began
            if status == DISCARD:
                yield from _discard(s, instance, h)
                return
            if status > WARNING:
                raise CallFailed("fmi2DoStep", status, s.kind, f"t = {instance.t:g}", s.last_message())
            instance.t = s.model.start_time + (i + 1) * h
            watch.read(instance, every)
            s.log.clear()
            if i % sample == 0:
                watch.sample(i)
    instance.go_to(TERMINATED)  # D3 reads the final values
    yield from _slow(s, seconds)


def _discard(s: Session, instance: FmuInstance, h: float) -> Iterator[Finding]:
    if instance.wants_to_end():
        raise SimulationTerminated
    problem = f"it returns fmi2Discard at t = {instance.t:g} for the step size of the default experiment, {h:g} s"
    yield Finding("fmi2DoStep", f"{problem}{s.reason()}", "fmi2OK: the default experiment can be run")


def _slow(s: Session, seconds: Sequence[float]) -> Iterator[Finding]:
    """Steps that become slower, one that takes very long, or all of them slower than real time."""
    h = s.model.step_size
    if len(seconds) < FEWEST_STEPS:
        return
    part = max(5, len(seconds) // 10)
    first, last = statistics.median(seconds[:part]), statistics.median(seconds[-part:])
    usual, longest = statistics.median(seconds), max(seconds)
    problem = ""
    if last > SLOW_STEP and last > SLOWDOWN * first:
        problem = f"a step takes {1e3 * first:.3g} ms at the beginning and {1e3 * last:.3g} ms at the end"
    elif longest > SLOW_CALL and longest > OUTLIER * usual:
        problem = f"one step takes {longest:.3g} s, the others {1e3 * usual:.3g} ms"
    elif usual > SLOWER_THAN_TIME * h and usual > SLOW_STEPS and s.model.stop_declared:
        problem = f"a step of {h:g} s takes {usual:.3g} s"
    if problem:
        yield Finding("fmi2DoStep", problem, "steps that do not keep the importer waiting", cause="slow")


# --- Model Exchange ---------------------------------------------------------------------------------------------------


def _model_exchange(s: Session, watch: Watch) -> None:
    """The first of the solvers that reaches the stop time."""
    for method in METHODS:
        watch.reads = 0
        instance = s.new_instance().enter_run_state()
        run = ExchangeRun(instance, method=method, out_of_time=lambda: s.time_used(BUDGET))

        def read(t: float, instance: FmuInstance = instance) -> None:
            watch.read(instance, GRID // FULL_READS)
            s.log.clear()

        try:
            run.run(grid(s.model.start_time, s.model.stop_time, GRID), read)
        except SolverFailed:
            if method == METHODS[-1]:
                raise
            instance.free()
            continue
        _repeat_evaluations(watch, instance)
        instance.go_to(TERMINATED)
        return


def _repeat_evaluations(watch: Watch, instance: FmuInstance) -> None:
    """The calls of many steps and events without a solver, which needs memory of its own: does the FMU's grow?"""
    h = EVALUATION_STEP * (watch.s.model.stop_time - watch.s.model.start_time)
    for i in range(SAMPLES * EVALUATIONS):
        if instance.next_event is not None and instance.next_event <= instance.t + h:
            instance.event()
        instance.set_time_and_states(instance.t + h, instance.states())
        instance.derivatives()
        instance.indicators()
        watch.signals.read(instance)
        if instance.completed_step() or i % EVALUATIONS == 0:
            instance.event()
        watch.s.log.clear()
        if i % EVALUATIONS == 0:
            watch.sample(i)


# --- what remains -----------------------------------------------------------------------------------------------------


def _memory_growth(samples: Sequence[tuple[int, int]], finally_used: int | None) -> Iterator[Finding]:
    """Memory that grows with every step; an error if it is not freed with the instance."""
    later = samples[len(samples) // 4 :]
    if len(later) < 8:
        return
    (first_step, first), (last_step, last) = later[0], later[-1]
    per_step = (last - first) / max(1, last_step - first_step)
    rising = sum(b[1] > a[1] for a, b in itertools.pairwise(later))
    if per_step > HEAP_PER_STEP and last - first > HEAP_TOTAL and rising >= RISING * (len(later) - 1):
        lines = {"allocated by C functions": tuple(m / 1e6 for _, m in samples)}
        plot = Plot("memory [MB]", tuple(float(n) for n, _ in samples), lines)
        problem = f"the memory in use grows by {per_step:.0f} bytes with every step"
        if finally_used is not None and finally_used - first > KEPT * (last - first):
            problem += ", and fmi2FreeInstance does not free it"
            yield Finding("fmi2FreeInstance", problem, "no leak", sentence="free-all", plot=plot, cause="memory")
        else:
            yield Finding("the default experiment", problem, "no growth", plot=plot, cause="memory")


def _printed(samples: Sequence[int]) -> Iterator[Finding]:
    """Output with nearly every step, which hides that of the importer."""
    growing = sum(b > a for a, b in itertools.pairwise(samples))
    if len(samples) > 2 and growing >= RISING * (len(samples) - 1):
        problem = f"it prints {samples[-1] - samples[0]} bytes to the standard output, in nearly every step"
        yield Finding("the default experiment", problem, "messages to the logger only", cause="output")


def _left_behind(before: Inventory, after: Inventory, first_files: frozenset[str]) -> Iterator[Finding]:
    opened = after.descriptors - before.descriptors if len(after.descriptors) > len(before.descriptors) else set()
    where = "fmi2FreeInstance"
    if opened:
        problem = f"file descriptors are left open: {len(opened)} ({sorted(opened)[0].partition(' ')[2]})"
        yield Finding(where, problem, "all resources freed", sentence="free-all", cause="descriptors")
    if after.threads > before.threads:
        problem = f"{after.threads - before.threads} threads are still running"
        yield Finding(where, problem, "all resources freed", sentence="free-all", cause="threads")
    if after.children > before.children:
        problem = f"processes are left that the FMU has started: {after.children - before.children}"
        yield Finding(where, problem, "all resources freed", sentence="free-all", cause="children")
    if files := sorted(after.files - first_files):
        problem = f"{len(files)} files are left behind ({', '.join(files[:3])})"
        yield Finding(where, problem, "no files in the working directory or in the FMU", cause="files")
