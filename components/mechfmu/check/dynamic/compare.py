"""Comparing recorded signals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .model import Value
from .instance import same

Rows = Sequence[Sequence[float]]

ROUNDING = 1e-12


@dataclass(frozen=True)
class Difference:
    column: int
    absolute: float
    relative: float  # to the range of the signal


def _spread(values: Sequence[float]) -> float:
    """How much a signal moves; at rest, how large it is."""
    finite = [v for v in values if math.isfinite(v)]
    if not finite:
        return 1.0
    span = max(finite) - min(finite)
    size = max(abs(v) for v in finite)
    return max(span, 1e-3 * size, 1e-6)  # what is smaller is rest, whatever noise it has


def _gap(x: float, y: float) -> float:
    if same(x, y):
        return 0.0
    gap = abs(x - y) if math.isfinite(x) and math.isfinite(y) else math.inf
    return gap if gap > ROUNDING * max(1.0, abs(x)) else 0.0


def worst_difference(a: Rows, b: Rows, mean: bool = False) -> Difference | None:
    """The signal that differs most for its range; None when all are equal. `mean` averages over time, so that a jump that comes a little later counts
    little. Numbers that are not finite on one side only differ infinitely."""
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
    """Row and column of the first value that is not the same to the last bit."""
    for i, (ours, theirs) in enumerate(zip(a, b, strict=True)):
        for j, (x, y) in enumerate(zip(ours, theirs, strict=True)):
            if not same(x, y):
                return i, j
    return None


def floats(rows: Sequence[Sequence[Value]], column: int) -> tuple[float, ...]:
    """One column for a plot."""
    return tuple(float(r[column]) if not isinstance(r[column], str) else math.nan for r in rows)
