"""Repeated blocks: stretches of a program that do the same with other operands.

A recording of a tree of bodies contains the work on every body in full, and for two bodies with the same kind of joint
it is the same work with other operands. Code of that length neither fits into a processor's caches nor compiles in
reasonable time. Between two block boundaries (see model/block_boundaries.py) lies the work on one body. Blocks that do
the same become one C function, called for each of them with a row of a table: which values, elements of inputs and
constants this call works on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

MIN_LENGTH = 30  # instructions; a shorter block is not worth a call
MIN_CALLS = 3


@dataclass(frozen=True)
class RepeatedBlock:
    """The instructions first .. first + length - 1, for each of `firsts`."""

    firsts: tuple[int, ...]
    length: int


def find_repeated_blocks(
    boundaries: Sequence[int], operation: np.ndarray, kind: np.ndarray, number: np.ndarray, value: int
) -> list[RepeatedBlock]:
    """Find the blocks between boundaries that do the same.

    kind, number   of the operands; the number of an operand of kind `value` is that of the instruction that made it
    """
    alike: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for first, end in pairwise(boundaries):
        if end - first < MIN_LENGTH:
            continue
        inside = (kind[first:end] == value) & (number[first:end, :2] >= first)
        own = np.where(inside, number[first:end, :2] - first, -1)
        alike[end - first, np.column_stack([operation[first:end], kind[first:end], own]).tobytes()].append(first)
    return [RepeatedBlock(tuple(firsts), length) for (length, _), firsts in alike.items() if len(firsts) >= MIN_CALLS]
