"""D16: what is left behind by instantiate/free cycles and by saved states."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_void_p
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..findings import Finding, Plot, rule
from .instance import FmuInstance
from .resources import heap_in_use
from .saving import deserialize, save, serialize
from .session import Session
from .stirring import before_initialization, run_parts

CYCLES = 1000
MIN_CYCLES = 100  # with fewer, a leak of memory cannot be told from noise
COUNTED_CYCLES = 8  # enough to see that each cycle leaves something countable behind
SAMPLES = 20  # measurements in CYCLES
SECONDS = 8.0  # no more cycles than fit into this time, if these are MIN_CYCLES
SLOW_SHARE = 0.3  # of the rule's time budget: the end in any case
STEPS = 2  # of every tenth instance
MANY = 60  # descriptors, threads or processes left behind: no need to make more
SENTENCES = {"fmi2FreeInstance": "free-all", "fmi2FreeFMUstate": "free-state", "fmi2GetFMUstate": "", "fmi2Reset": ""}
MIN_RISING = 0.8  # fraction of the later measurements that must be larger than the one before


@dataclass(frozen=True)
class Resource:
    """Something that a process uses."""

    name: str
    measure: Callable[[], int | None]
    per_cycle: float  # growth per cycle that is a leak, not noise
    countable: bool  # few cycles are enough


@dataclass
class Measurements:
    cycles: list[int]
    values: list[list[int | None]]  # one list for each resource


@rule("D16", "leaks", "2.1.5, 2.1.8")
def leaks(s: Session) -> Iterator[Finding]:
    """1,000 instantiate/free cycles, and as many resets and saved and freed states, leave nothing behind: memory, file
    descriptors, threads, child processes. A state that is saved into a used handle takes no more memory, nor does a
    string that is set again."""
    parts = {
        "instantiate/free cycles": partial(_cycles, s, "instantiate/free cycle", "fmi2FreeInstance", _life(s)),
        "resets": partial(_resets, s),
    }
    if s.model.flag(s.kind, "canGetAndSetFMUstate"):
        parts["saved states"] = partial(_saved_states, s)
        parts["a state that is saved again"] = partial(_saved_again, s)
    yield from run_parts(s, parts, lambda error: False)


def _life(s: Session) -> Callable[[int], None]:
    steps = s.steps(STEPS)

    def cycle(number: int) -> None:
        instance = s.new_instance().enter_run_state()
        if number % 10 == 0:
            _use(instance, steps)
        instance.free()

    return cycle


def _resets(s: Session) -> Iterator[Finding]:
    """An instance that is reset again and again, with its strings set each time."""
    instance = s.new_instance()
    texts = {v: v.start for v in before_initialization(s) if v.type == "String" and v.start is not None}

    def cycle(number: int) -> None:
        instance.set(texts)
        instance.enter_run_state()
        instance.reset()

    yield from _cycles(s, "reset", "fmi2Reset", cycle)
    instance.free()


def _use(instance: FmuInstance, steps: Sequence[float]) -> None:
    """A few steps; in Model Exchange evaluations and an event, without a solver, whose memory would count as well."""
    if instance.kind == "CoSimulation":
        for h in steps:
            instance.step(h)
        return
    if instance.model.states:
        instance.set_time_and_states(instance.t, instance.states())
        instance.derivatives()
    instance.completed_step()
    instance.event()


def _saved_states(s: Session) -> Iterator[Finding]:
    instance = s.new_instance()
    instance.rollback = True
    instance.enter_run_state()
    with_bytes = s.model.flag(s.kind, "canSerializeFMUstate")

    def cycle(number: int) -> None:
        saved = save(instance)
        instance.call_checked("fmi2SetFMUstate", saved.handle)
        if with_bytes:
            data = _bytes(saved.handle)
            other = deserialize(instance, data) if data else c_void_p()
            instance.call_checked("fmi2FreeFMUstate", byref(other))
        instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))

    def _bytes(handle: c_void_p) -> bytes | None:
        generator = serialize(instance, handle)
        try:
            next(generator)
        except StopIteration as end:
            return end.value
        return None

    yield from _cycles(s, "saved and freed state", "fmi2FreeFMUstate", cycle)
    instance.free()


def _saved_again(s: Session) -> Iterator[Finding]:
    """The importer gives the same handle again and again, whose memory the FMU typically reuses (2.1.8)."""
    instance = s.new_instance()
    instance.rollback = True
    instance.enter_run_state()
    handle = c_void_p()

    def cycle(number: int) -> None:
        save(instance, handle)

    yield from _cycles(s, "state saved into a used handle", "fmi2GetFMUstate", cycle)
    instance.call_checked("fmi2FreeFMUstate", byref(handle))
    instance.free()


def _cycles(s: Session, what: str, function: str, cycle: Callable[[int], None]) -> Iterator[Finding]:
    """Repeat the cycle, measure, and report what grows."""
    measured = _measure(s, cycle)
    done = measured.cycles[-1]
    if done < MIN_CYCLES:
        s.not_judged(f"memory: only {done} {what}s in the time for this")
    for resource, values in zip(RESOURCES, measured.values, strict=True):
        if done < (COUNTED_CYCLES if resource.countable else MIN_CYCLES):
            continue
        samples = [(n, x) for n, x in zip(measured.cycles, values, strict=True) if x is not None]
        growth = _growth(samples, resource)
        if growth is None:
            continue
        plot = Plot(resource.name, tuple(float(n) for n, _ in samples), {what: tuple(float(x) for _, x in samples)})
        problem = f"each {what} leaves {growth:.3g} {resource.name} behind ({done} cycles)"
        yield Finding(function, problem, "no growth", sentence=SENTENCES[function], plot=plot)
        if not resource.countable:
            return  # the other measures of memory grow with it


def _growth(samples: list[tuple[int, int]], resource: Resource) -> float | None:
    """Growth per cycle in the later half of the measurements, if it is steady and more than noise."""
    half = samples[len(samples) // 3 :]
    if len(half) < 4:
        return None
    (first_cycle, first), (last_cycle, last) = half[0], half[-1]
    rising = sum(b[1] > a[1] for a, b in itertools.pairwise(half))
    per_cycle = (last - first) / max(1, last_cycle - first_cycle)
    return per_cycle if per_cycle > resource.per_cycle and rising >= MIN_RISING * (len(half) - 1) else None


def _measure(s: Session, cycle: Callable[[int], None]) -> Measurements:
    """Make cycles, and measure the resources now and then: more often at first, when it is not known how many cycles
    there will be."""
    measured = Measurements([], [[] for _ in RESOURCES])
    cycle(0)  # whatever is allocated once is no leak
    began, done, every = time.monotonic(), 0, 1
    while True:
        if done % every == 0 or done == CYCLES:
            _take(s, measured, done)
            if _too_many(measured):
                break
        every = 1 if done < 20 else 10 if done < 200 else CYCLES // SAMPLES
        late = time.monotonic() - began
        if done >= CYCLES or (late > SECONDS and done >= MIN_CYCLES) or late > SLOW_SHARE * s.seconds:
            break
        done += 1
        cycle(done)
    if measured.cycles[-1] != done:
        _take(s, measured, done)
    return measured


def _take(s: Session, measured: Measurements, done: int) -> None:
    s.log.clear()
    gc.collect()
    measured.cycles.append(done)
    for resource, values in zip(RESOURCES, measured.values, strict=True):
        values.append(resource.measure())


def _too_many(measured: Measurements) -> bool:
    """Whether a leak is proven, so that more cycles would only exhaust the machine."""
    for resource, values in zip(RESOURCES, measured.values, strict=True):
        if resource.countable and (values[-1] or 0) - (values[0] or 0) > MANY:
            return True
    return False


# --- what a process uses ----------------------------------------------------------------------------------------------


def _statm(field: int) -> int | None:
    if sys.platform != "linux":
        return None
    return int(Path("/proc/self/statm").read_text().split()[field]) * os.sysconf("SC_PAGESIZE")


def _entries(folder: str) -> int | None:
    try:
        return sum(1 for _ in Path(folder).iterdir())
    except OSError:
        return None


def child_processes() -> int | None:
    """Processes that this one has started and that have not ended, or whose end nobody has asked for."""
    if sys.platform != "linux":
        return None
    count, own = 0, str(os.getpid())
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                count += (folder / "stat").read_text().rsplit(")", 1)[1].split()[1] == own
    return count


RESOURCES = (
    Resource("file descriptors", partial(_entries, "/proc/self/fd"), 0.05, True),
    Resource("threads", partial(_entries, "/proc/self/task"), 0.05, True),
    Resource("child processes", child_processes, 0.05, True),
    Resource("bytes, allocated by C functions,", heap_in_use, 16.0, False),
    Resource("bytes of memory in use", partial(_statm, 1), 2000.0, False),
    Resource("bytes of address space", partial(_statm, 0), 4000.0, False),
)
