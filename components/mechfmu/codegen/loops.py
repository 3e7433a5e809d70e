"""Loop detection in straight-line code.

Recording a mechanism of a thousand equal bodies unrolls its loops: the graph repeats one body's instructions a thousand
times. This module finds the repetitions again, so that the C code has the size of one body whatever their number.

Instructions are numbered 0..N-1 in order of execution. An instruction has a signature (its operation and the kinds of
its operands) and operand numbers (for a value: the instruction that made it; for an input: the element). A run of equal
signatures with period P is a loop when every operand number grows by a constant from one iteration to the next:

    number(iteration j) = first + stride * j

    stride 0   the same value in every iteration
    stride P   made in this loop, by this iteration or an earlier one
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

MIN_ITERATIONS = 8  # fewer are not worth a loop
WINDOW = 4  # instructions that must be equal before a period is tried
CANDIDATES = 24  # periods tried at one place
HEAD = 64  # instructions compared before a period is examined
MAX_PERIOD = 20_000  # instructions


@dataclass(frozen=True)
class Loop:
    """Instructions first .. first + period * iterations - 1."""

    first: int
    period: int
    iterations: int

    @property
    def end(self) -> int:
        return self.first + self.period * self.iterations


def find_loops(signature: np.ndarray, numbers: np.ndarray) -> list[Loop]:
    """Find loops that do not overlap, in order.

    signature   (N,) integers
    numbers     (N, slots) operand numbers
    """
    text = signature.astype(np.uint32).tobytes()
    loops: list[Loop] = []
    i, n = 0, len(signature)
    while i < n:
        best: Loop | None = None
        for period in _periods(text, i, n):
            if best is not None and best.first - i + period > best.period * best.iterations:
                break  # longer than what the best loop already covers
            loop = _loop(signature, numbers, i, period) if _begins_to_repeat(text, i, period) else None
            if loop and (best is None or loop.period * (loop.iterations - 1) > best.period * (best.iterations - 1)):
                best = loop
        if best is None:
            i += 1
        else:
            loops.append(best)
            i = best.end
    return loops


def _periods(text: bytes, i: int, n: int) -> Iterator[int]:
    """Distances at which the next few instructions occur again."""
    window = text[4 * i : 4 * (i + WINDOW)]
    at = 4 * i
    for _ in range(CANDIDATES):
        at = text.find(window, at + 4, 4 * min(n, i + MAX_PERIOD))
        while at % 4 and at >= 0:
            at = text.find(window, at + 1, 4 * min(n, i + MAX_PERIOD))
        if at < 0:
            return
        yield at // 4 - i


def _begins_to_repeat(text: bytes, i: int, period: int) -> bool:
    """Whether the instructions from i on equal those a period later: a cheap test that rules out nearly all periods."""
    size = 4 * min(HEAD, (MIN_ITERATIONS - 1) * period)
    return text[4 * i : 4 * i + size] == text[4 * (i + period) : 4 * (i + period) + size]


def _loop(signature: np.ndarray, numbers: np.ndarray, i: int, period: int) -> Loop | None:
    """The longest loop of this period in the run of equal signatures that begins at i."""
    reach = _run(signature, i, period)
    iterations = (reach + period) // period
    if iterations < MIN_ITERATIONS:
        return None
    steps = np.diff(numbers[i : i + iterations * period].reshape(iterations, -1), axis=0)
    same = (steps[1:] == steps[:-1]).all(axis=1)
    start, length = _longest_true(same)
    if length + 2 < MIN_ITERATIONS:
        return None
    return Loop(i + start * period, period, length + 2)


def _run(signature: np.ndarray, i: int, period: int) -> int:
    """The number of instructions from i on that equal the one a period later."""
    done, block = 0, 4 * period + 64
    while True:
        a = signature[i + done : i + done + block]
        b = signature[i + done + period : i + done + period + block]
        m = min(len(a), len(b))
        equal = a[:m] == b[:m]
        if not equal.all():
            return done + int(np.argmin(equal))
        done += m
        if m < block:
            return done
        block *= 2


def _longest_true(flags: np.ndarray) -> tuple[int, int]:
    """Start and length of the longest stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    if edges.size == 0:
        return 0, 0
    starts, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - starts))
    return int(starts[k]), int(ends[k] - starts[k])
