"""Finding pieces of straight-line code that are alike.

Recording a tree of bodies writes out the work on every body, and for two bodies with the same kind of joint it is the same work with other
operands. Code of that length neither fits into a processor's caches nor compiles in reasonable time. Between two milestones (see
model/block_boundaries.py) lies the work on one body; those stretches of instructions that do the same become one shape, a function that is called
for each of them with a row of a table: which values, elements of inputs and constants this call works on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SHORTEST = 30  # instructions; fewer are not worth a call
FEWEST = 3  # calls


@dataclass(frozen=True)
class Shape:
    """The instructions first .. first + length - 1, for every one of `firsts`."""

    firsts: tuple[int, ...]
    length: int


def find_shapes(
    cuts: Sequence[int], operation: np.ndarray, kind: np.ndarray, number: np.ndarray, value: int
) -> list[Shape]:
    """The shapes of the stretches between cuts. kind, number: of operands; a number of kind `value` is that of the instruction that made it."""
    alike: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for first, end in pairwise(cuts):
        if end - first < SHORTEST:
            continue
        inside = (kind[first:end] == value) & (number[first:end, :2] >= first)
        own = np.where(inside, number[first:end, :2] - first, -1)
        alike[end - first, np.column_stack([operation[first:end], kind[first:end], own]).tobytes()].append(first)
    return [Shape(tuple(firsts), length) for (length, _), firsts in alike.items() if len(firsts) >= FEWEST]
