"""D7: many instances, one after another and at the same time."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from ..findings import Finding, Plot, rule
from .experiments import accepted_excitation, compare_runs
from .instance import CallFailed, FmuInstance
from .session import Session

CYCLES = 1000  # instantiate/free cycles of the leak test
MIN_CYCLES = 100  # with fewer, a leak cannot be told from noise
CYCLES_PER_SAMPLE = 50  # memory is measured this often
HEAP_LEAK = 16.0  # bytes per cycle on the C heap: less than the smallest allocation
PROCESS_LEAK = 2000.0  # bytes per cycle of the whole process, where the heap cannot be measured: above the noise
MIN_RISING = 0.6  # fraction of the samples that must be larger than the one before


@rule("D7", "reset, several instances, leaks", "2.1.5, 2.1.6")
def reset_and_lifecycle(s: Session) -> Iterator[Finding]:
    """After fmi2Reset an instance behaves like a new one; two instances do not affect each other;
    1,000 instantiate/free cycles do not leak memory."""
    excitation, variables, steps = accepted_excitation(s), s.model.everything, s.steps(8)
    single = s.new_instance().enter_run_state()
    expected = single.run(steps, variables, excitation)
    single.free()
    if s.attempt("reset"):
        instance = s.new_instance()
        _disturb(s, instance)
        instance.reset()
        found = instance.enter_run_state().run(steps, variables, excitation)
        problem, labels = "after fmi2Reset it differs from a new instance", ("new instance", "after fmi2Reset")
        yield from compare_runs(s, variables, expected, found, problem, labels)
        instance.free()
    if not s.model.flag(s.kind, "canBeInstantiatedOnlyOncePerProcess") and s.attempt("two instances"):
        instance, other = s.new_instance(), s.new_instance()
        _disturb(s, other)
        instance.enter_run_state()
        rows = [instance.get(variables)]
        for h in steps:
            if excitation:
                instance.set(dict(excitation(instance.t)))
            instance.advance(h)
            with contextlib.suppress(CallFailed):  # the other instance was disturbed and may fail
                other.advance(h)
            rows.append(instance.get(variables))
        problem, labels = "with a second instance in the process it differs", ("alone", "with a second instance")
        yield from compare_runs(s, variables, expected, rows, problem, labels)
        instance.free()
        other.free()
    if s.attempt("instantiate/free cycles"):
        yield from _leaks(s)


def _disturb(s: Session, instance: FmuInstance) -> None:
    """Make an instance different from a new one: another parameter value, other inputs, some steps."""
    for v in s.model.of("parameter", types=("Real",)):
        value = float(v.start or 0.0) + 0.01 * v.scale
        if v.inside(value) and isinstance(v.start, float):
            try:
                instance.set({v: value})
            except CallFailed:
                instance.reset()
                continue
            break
    try:
        instance.enter_run_state()
        instance.run(s.steps(5), (), s.excitation(0.2))
    except CallFailed:
        instance.reset()


Sample = tuple[int, int | None, int | None]  # cycles, bytes on the heap, bytes of the process


def _leaks(s: Session) -> Iterator[Finding]:
    samples = _measure_cycles(s)
    cycles = samples[-1][0]
    if cycles < MIN_CYCLES:
        problem = f"only {cycles} instantiate/free cycles within the time limit"
        yield Finding("fmi2Instantiate", problem, f"{CYCLES:,}, to detect a leak", severity="note")
        return
    for column, limit, what in ((1, HEAP_LEAK, "allocated by C functions"), (2, PROCESS_LEAK, "of the whole process")):
        values = [(sample[0], size) for sample in samples if (size := sample[column]) is not None]
        half = values[len(values) // 2 :]
        if len(half) < 4:
            continue
        (first_cycle, first_size), (last_cycle, last_size) = half[0], half[-1]
        rising = sum(b[1] > a[1] for a, b in itertools.pairwise(half))
        per_cycle = (last_size - first_size) / (last_cycle - first_cycle)
        if per_cycle > limit and rising >= MIN_RISING * (len(half) - 1):
            plot = Plot("memory [MB]", tuple(float(n) for n, _ in values), {what: tuple(m / 1e6 for _, m in values)})
            problem = f"each instantiate/free cycle leaks {per_cycle:.0f} bytes ({what}, {cycles} cycles)"
            yield Finding("fmi2FreeInstance", problem, "no growth", plot=plot)
            return


def _measure_cycles(s: Session) -> list[Sample]:
    """Run instantiate/free cycles and measure the memory in use."""
    cycles = 0
    samples: list[Sample] = []
    s.free_all()
    while cycles < CYCLES and not s.time_used(0.6):
        if cycles % CYCLES_PER_SAMPLE == 0:
            s.log.clear()
            gc.collect()
            samples.append((cycles, _heap_in_use(), _resident()))
        instance = s.new_instance().enter_run_state()
        if cycles % 10 == 0:
            instance.run(s.steps(1), ())
        instance.free()
        cycles += 1
    gc.collect()
    samples.append((cycles, _heap_in_use(), _resident()))
    return samples


class _Mallinfo2(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


def _heap_in_use() -> int | None:
    """Bytes that are allocated and not freed, where the C library has mallinfo2."""
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    function.restype = _Mallinfo2
    info = function()
    return int(info.uordblks + info.hblkhd)


def _resident() -> int | None:
    """Resident memory of this process in bytes, on Linux."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * 4096 if sys.platform == "linux" else None
