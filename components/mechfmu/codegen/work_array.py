"""Blocks of a program, and storage of values used by other blocks.

A long program is divided into blocks, each a C function of its own: loops where the program repeats itself (loops.py),
calls of one function for repeated blocks (repeated_blocks.py), and stretches of plain assignments elsewhere, because
compile time grows faster than the length of a function. Values that one block makes and another uses are kept in the
work array w: single ones in a slot each, those that a loop makes or uses iteration by iteration in equidistant slots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .loops import Loop, find_loops
from .program import VALUE, Program
from .repeated_blocks import RepeatedBlock, find_repeated_blocks

MAX_BLOCK_LENGTH = 2000  # assignments in one block without repetition
LOOPS_FROM = 6000  # instructions; a shorter program is fastest as straight-line code


@dataclass(frozen=True)
class BlockCall:
    """Call number `number` of a repeated block."""

    block: RepeatedBlock
    number: int

    @property
    def first(self) -> int:
        return self.block.firsts[self.number]

    @property
    def end(self) -> int:
        return self.first + self.block.length


Block = Loop | BlockCall | range


@dataclass
class StridedSlots:
    """Slots of the work array for the values low, low + step, ..., high."""

    step: int
    low: int
    high: int
    first_slot: int = -1

    def slot(self, value: int) -> int:
        return self.first_slot + (value - self.low) // self.step


@dataclass
class WorkLayout:
    """The block of every instruction, and the slots of values that leave their block."""

    blocks: list[Block]
    block_of: np.ndarray
    strided: dict[tuple[int, int], list[StridedSlots]] = field(default_factory=lambda: defaultdict(list))
    """By step and value % step."""
    single: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def strided_slots(self, step: int, value: int) -> StridedSlots:
        return next(s for s in self.strided[step, value % step] if s.low <= value <= s.high)

    def stores(self) -> dict[int, list[int]]:
        """The slots into which plain assignments must put their values: value -> slots."""
        stores: dict[int, list[int]] = defaultdict(list)
        for value, slot in self.single.items():
            stores[value].append(slot)
        for groups in self.strided.values():
            for slots in groups:
                for value in range(slots.low, slots.high + 1, slots.step):
                    if not isinstance(self.blocks[self.block_of[value]], Loop):
                        stores[value].append(slots.slot(value))
        return stores


def work_layout(program: Program) -> WorkLayout:
    """Divide a program into blocks and lay out its work array."""
    n = len(program.operation)
    if n > LOOPS_FROM and len(program.boundaries) > 1:
        return _layout_with_calls(program)
    loops = find_loops(program.signature(), program.number) if n > LOOPS_FROM else []
    while True:
        layout, unsuitable = _layout_with_loops(program, loops)
        if not unsuitable:
            return layout
        loops = [loop for loop in loops if loop not in unsuitable]


def _blocks(n: int, found: Sequence[Loop | BlockCall]) -> WorkLayout:
    """The loops and calls found in the program, and blocks of plain assignments between them."""
    blocks: list[Block] = []
    at = 0
    for block in found:
        blocks += [range(i, min(i + MAX_BLOCK_LENGTH, block.first)) for i in range(at, block.first, MAX_BLOCK_LENGTH)]
        blocks.append(block)
        at = block.end
    blocks += [range(i, min(i + MAX_BLOCK_LENGTH, n)) for i in range(at, n, MAX_BLOCK_LENGTH)]
    block_of = np.zeros(n, dtype=np.int64)
    for number, own in enumerate(blocks):
        block_of[slice(own.start, own.stop) if isinstance(own, range) else slice(own.first, own.end)] = number
    return WorkLayout(blocks, block_of)


# --- repeated blocks --------------------------------------------------------------------------------------------------


def _layout_with_calls(program: Program) -> WorkLayout:
    """The layout with calls of repeated blocks. A value that leaves one call has a slot in all calls of that block, so
    that the slots of each call lie in the same order."""
    kind, number = program.operands()
    repeated = find_repeated_blocks(program.boundaries, program.operation, kind, number, VALUE)
    calls = [BlockCall(block, k) for block in repeated for k in range(len(block.firsts))]
    layout = _blocks(len(program.operation), sorted(calls, key=lambda call: call.first))
    block_of = layout.block_of
    leaves = np.zeros(len(program.operation), dtype=bool)
    for slot in (0, 1):
        used = np.flatnonzero(kind[:, slot] == VALUE)
        made = number[used, slot]
        leaves[made[block_of[made] != block_of[used]]] = True
    for block in repeated:
        for offset in range(block.length):
            same = [first + offset for first in block.firsts]
            leaves[same] = leaves[same].any()
    layout.single = {int(value): slot for slot, value in enumerate(np.flatnonzero(leaves))}
    layout.size = len(layout.single)
    return layout


# --- loops ------------------------------------------------------------------------------------------------------------


def reference(program: Program, loop: Loop, q: int, slot: int) -> tuple[int, int]:
    """The number of operand `slot` of the loop's instruction q in the first iteration, and its growth per iteration."""
    first, second = program.number[loop.first + q, slot], program.number[loop.first + loop.period + q, slot]
    return int(first), int(second - first)


def same_iteration(loop: Loop, q: int, value: int, stride: int) -> bool:
    """Whether the loop's instruction q uses a value that the same iteration has made."""
    return stride == loop.period and loop.first <= value < loop.first + q


def _layout_with_loops(program: Program, loops: list[Loop]) -> tuple[WorkLayout, list[Loop]]:
    """The layout with these loops, and those of them that use others in a way that strided slots cannot serve."""
    layout = _blocks(len(program.operation), loops)
    uses = _Uses(program, layout)
    for number, block in enumerate(layout.blocks):
        if isinstance(block, Loop):
            uses.collect_loop(block, number)
        elif isinstance(block, range):
            uses.collect_plain(block, number)
    if uses.unsuitable:
        return layout, uses.unsuitable
    _add_strided_slots(layout, uses.strided, loops)
    for value in sorted(uses.single):
        layout.single[value] = layout.size
        layout.size += 1
    return layout, []


class _Uses:
    """The values that blocks use of each other."""

    def __init__(self, program: Program, layout: WorkLayout):
        self._program, self._blocks, self._block_of = program, layout.blocks, layout.block_of
        self.strided: list[tuple[int, int, int]] = []  # step, low, high
        self.single: set[int] = set()
        self.unsuitable: list[Loop] = []

    def collect_plain(self, block: range, number: int) -> None:
        rows = slice(block.start, block.stop)
        for slot in (0, 1):
            values = self._program.number[rows, slot][self._program.kind[rows, slot] == VALUE]
            for value in np.unique(values[self._block_of[values] != number]):
                self._add_one(int(value), number)

    def collect_loop(self, loop: Loop, number: int) -> None:
        for q in range(loop.period):
            for slot in (0, 1):
                if self._program.kind[loop.first + q, slot] != VALUE:
                    continue
                value, stride = reference(self._program, loop, q, slot)
                if stride == 0:
                    self._add_one(value, number)
                elif not same_iteration(loop, q, value, stride):
                    self._add_strided(loop, value, stride)

    def _add_one(self, value: int, number: int) -> None:
        home = self._blocks[self._block_of[value]]
        if isinstance(home, Loop):
            self.strided.append((home.period, value, value))
        elif self._block_of[value] != number:
            self.single.add(value)

    def _add_strided(self, loop: Loop, value: int, stride: int) -> None:
        last = value + stride * (loop.iterations - 1)
        low, high = min(value, last), max(value, last)
        homes = [self._blocks[b] for b in set(self._block_of[low : high + 1 : abs(stride)])]
        if any(isinstance(home, Loop) and home.period != abs(stride) for home in homes):
            self.unsuitable.append(loop)
        self.strided.append((abs(stride), low, high))


def _add_strided_slots(layout: WorkLayout, uses: list[tuple[int, int, int]], loops: list[Loop]) -> None:
    """Add strided slots that serve all uses: overlapping ones become one, and a loop that writes into some has slots
    there for all its iterations."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for step, low, high in uses:
        spans[step, low % step].append((low, high))
    by_period: dict[int, list[Loop]] = defaultdict(list)
    for loop in loops:
        by_period[loop.period].append(loop)
    for (step, residue), pieces in spans.items():
        own = []
        for loop in by_period[step]:
            low = loop.first + (residue - loop.first) % step
            own.append((low, low + step * (loop.iterations - 1)))
        merged = _union(pieces)
        while True:  # a loop's own span joins as soon as one of its values is used
            grown = _union([*merged, *(o for o in own if any(o[0] <= high and low <= o[1] for low, high in merged))])
            if grown == merged:
                break
            merged = grown
        for low, high in merged:
            layout.strided[step, residue].append(StridedSlots(step, low, high, layout.size))
            layout.size += (high - low) // step + 1


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The union of closed intervals."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged
