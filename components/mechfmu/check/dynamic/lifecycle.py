"""D7: many lives, one after the other and side by side."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from ..findings import Finding, Plot, rule
from .experiments import compare_runs, accepted_excitation
from .session import Session
from .instance import CallFailed, FmuInstance, heap_in_use

LIVES = 1000
LEAK = 16.0  # bytes per life on the C heap: less than the smallest thing that can be forgotten
GROWTH = 2000.0  # bytes per life of the whole process, where the heap cannot be looked into: noise stays below


@rule("D7", "reset, several instances, leaks", "2.1.5, 2.1.6")
def reset_and_lifecycle(s: Session) -> Iterator[Finding]:
    """After fmi2Reset an instance is like a new one; two instances do not know of each other; a thousand lives do not fill the memory."""
    excitation, variables, steps = accepted_excitation(s), s.model.everything, s.steps(8)
    alone = s.new_instance().enter_run_state()
    expected = alone.run(steps, variables, excitation)
    alone.free()
    if s.attempt("reset"):
        instance = s.new_instance()
        _stir(s, instance)
        instance.reset()
        again = instance.enter_run_state().run(steps, variables, excitation)
        yield from compare_runs(
            s,
            variables,
            expected,
            again,
            "after fmi2Reset it differs from a new instance",
            ("new instance", "after fmi2Reset"),
        )
        instance.free()
    if not s.model.flag(s.kind, "canBeInstantiatedOnlyOncePerProcess") and s.attempt("two instances"):
        instance, other = s.new_instance(), s.new_instance()
        _stir(s, other)
        instance.enter_run_state()
        rows = [instance.get(variables)]
        for h in steps:
            if excitation:
                instance.set(dict(excitation(instance.t)))
            instance.advance(h)
            _walk(other, h)
            rows.append(instance.get(variables))
        yield from compare_runs(
            s, variables, expected, rows, "with a second instance beside it it differs", ("alone", "beside another")
        )
        instance.free()
        other.free()
    if s.attempt("many lives"):
        yield from _leaks(s)


def _stir(s: Session, instance: FmuInstance) -> None:
    """Makes an instance as different from a new one as it can be: another parameter, other inputs, some steps."""
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


def _walk(instance: FmuInstance, h: float) -> None:
    with contextlib.suppress(CallFailed):  # it has been stirred; only its neighbour is looked at
        instance.advance(h)


def _resident() -> int | None:
    """Bytes of memory that this process has, where the system can tell."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * 4096 if sys.platform == "linux" else None


def _leaks(s: Session) -> Iterator[Finding]:
    lives, marks = 0, []
    s.free_all()
    while lives < LIVES and not s.time_used(0.6):
        if lives % 50 == 0:
            s.log.clear()
            gc.collect()
            marks.append((lives, heap_in_use(), _resident()))
        instance = s.new_instance().enter_run_state()
        if lives % 10 == 0:
            instance.run(s.steps(1), ())
        instance.free()
        lives += 1
    gc.collect()
    marks.append((lives, heap_in_use(), _resident()))
    if lives < 100:
        yield Finding(
            "fmi2Instantiate", f"only {lives} lives within the time limit", "a thousand, to see a leak", severity="note"
        )
        return
    for which, limit, what in ((1, LEAK, "allocated by C functions"), (2, GROWTH, "of the whole process")):
        values = [(m[0], m[which]) for m in marks if m[which] is not None]
        half = values[len(values) // 2 :]
        if len(half) < 4:
            continue
        grown = (half[-1][1] or 0) - (half[0][1] or 0)
        rises = sum((b[1] or 0) > (a[1] or 0) for a, b in itertools.pairwise(half))
        per_life = grown / (half[-1][0] - half[0][0])
        if per_life > limit and rises >= 0.6 * (len(half) - 1):
            plot = Plot(
                "memory [MB]", tuple(float(n) for n, _ in values), {what: tuple((m or 0) / 1e6 for _, m in values)}
            )
            yield Finding(
                "fmi2FreeInstance",
                f"every life of an instance leaves {per_life:.0f} bytes behind ({what}, {lives} lives)",
                "no growth",
                plot=plot,
            )
            return
