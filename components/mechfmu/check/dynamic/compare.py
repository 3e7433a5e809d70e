"""Comparison of recorded signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .instance import same
from .model import Value

Rows = Sequence[Sequence[float]]

ROUNDING = 1e-12  # relative differences below this count as zero
REST = 1e-6  # a signal that changes less than this is constant, whatever noise it has


@dataclass(frozen=True)
class Difference:
    column: int
    absolute: float
    relative: float  # to the range of the signal


def _spread(values: Sequence[float]) -> float:
    """The range of a signal; for a constant one, a fraction of its size."""
    finite = [v for v in values if math.isfinite(v)]
    if not finite:
        return 1.0
    span = max(finite) - min(finite)
    size = max(abs(v) for v in finite)
    return max(span, 1e-3 * size, REST)


def _gap(x: float, y: float) -> float:
    if same(x, y):
        return 0.0
    gap = abs(x - y) if math.isfinite(x) and math.isfinite(y) else math.inf
    return gap if gap > ROUNDING * max(1.0, abs(x)) else 0.0


def worst_difference(a: Rows, b: Rows, mean: bool = False) -> Difference | None:
    """The signal with the largest difference relative to its range; None if all are equal. With `mean`, the
    difference is averaged over time, so that a jump at a slightly different time counts little. A number that is
    finite in only one of the runs is an infinite difference."""
    worst = None
    for column in range(len(a[0])):
        ours, theirs = [r[column] for r in a], [r[column] for r in b]
        gaps = [_gap(x, y) for x, y in zip(ours, theirs, strict=True)]
        gap = sum(gaps) / len(gaps) if mean else max(gaps)
        found = Difference(column, gap, gap / _spread([*ours, *theirs]))
        if gap > 0 and (worst is None or found.relative > worst.relative):
            worst = found
    return worst


def first_difference(a: Sequence[Sequence[Value]], b: Sequence[Sequence[Value]]) -> tuple[int, int] | None:
    """Row and column of the first value whose bits differ."""
    for i, (ours, theirs) in enumerate(zip(a, b, strict=True)):
        for j, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if not same(x, y):
                return i, j
    return None


def floats(rows: Sequence[Sequence[Value]], column: int) -> tuple[float, ...]:
    """A column, for a plot."""
    return tuple(float(r[column]) if not isinstance(r[column], str) else math.nan for r in rows)
