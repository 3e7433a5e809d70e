"""The C text of a program.

Every graph becomes one C function without memory of its own:

    void NAME(const double *t, const double *x, ..., double *out, ..., double *w)

It calls one function per block (see work_array.py): a loop, a repeated block, or plain assignments. The code has no
branches, with one exception: tanh, as in friction, is slow and not computed while its coefficient is zero.

The same function is also written for SIMD lanes: its numbers are then of the type Real (fmu_src/native/real.h), one
instance per lane.

Where an element of an argument is used for the first time in a function, a comment gives the name of the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import casadi
import numpy as np

from .legend import summary
from .loops import Loop
from .operations import LANE_TEMPLATES, TEMPLATES
from .program import CONSTANT, INPUT, NONE, OUTPUT, Program
from .repeated_blocks import RepeatedBlock
from .work_array import BlockCall, WorkLayout, reference, same_iteration, work_layout

Names = Mapping[str, Sequence[str]]  # by argument: the variable of each element


@dataclass(frozen=True)
class Code:
    """The C text of one function, and what its caller must provide."""

    name: str
    text: str
    prototype: str
    work: int  # length of the work array


def c_function(
    graph: casadi.Function, name: str, boundary_count: int = 0, names: Names | None = None, lanes: bool = False
) -> Code:
    """Return the C function `name` of a recorded graph.

    Its arguments are named as the graph's inputs and its outputs after the block boundaries; names: of the variables in
    them, for comments; lanes: for SIMD lanes.
    """
    program = Program.of(graph, boundary_count)
    writer = _Writer(program, work_layout(program), names or {}, lanes)
    text, calls = writer.blocks(name)
    prototype = f"void {name}({writer.parameters})"
    lines = [*text, f"{prototype} {{", writer.unused, *calls, "}", ""]
    return Code(name, "\n".join(lines), prototype + ";", writer.layout.size)


class _Writer:
    """Writes the functions of one program."""

    def __init__(self, program: Program, layout: WorkLayout, names: Names, lanes: bool):
        self.program, self.layout, self.names = program, layout, names
        self.real = "Real" if lanes else "double"
        self.templates = LANE_TEMPLATES if lanes else TEMPLATES
        self.constant = "real({0})" if lanes else "{0}"
        self.arguments = [*program.inputs, *program.outputs, "w"]
        inputs = [f"const {self.real} *{i}" for i in program.inputs]
        self.parameters = ", ".join([*inputs, *(f"{self.real} *restrict {o}" for o in (*program.outputs, "w"))])
        self.unused = "    " + " ".join(f"(void){a};" for a in self.arguments)

    def blocks(self, name: str) -> tuple[list[str], list[str]]:
        """The functions of all blocks, and the calls of them in order."""
        text: list[str] = []
        calls: list[str] = []
        arguments = ", ".join(self.arguments)
        functions: dict[RepeatedBlock, str] = {}
        stores = self.layout.stores()
        for number, block in enumerate(self.layout.blocks):
            own = f"{name}_{number}"
            if isinstance(block, BlockCall):
                if block.block not in functions:
                    functions[block.block] = own
                    text += _RepeatedBlockText(self, block.block).function(own)
                own = functions[block.block]
                calls.append(f"    {own}({arguments}, {own}_i[{block.number}], {own}_c[{block.number}]);")
                continue
            lines = self.loop(block, number) if isinstance(block, Loop) else self.assignments(block, number, stores)
            text += [f"static NOINLINE void {own}({self.parameters}) {{", self.unused, *lines, "}", ""]
            calls.append(f"    {own}({arguments});")
        return text, calls

    def assignments(self, block: range, number: int, stores: Mapping[int, Sequence[int]]) -> list[str]:
        program, comments = self.program, _Comments(self.names)

        def operand(i: int, slot: int) -> str:
            kind, value = int(program.kind[i, slot]), int(program.number[i, slot])
            return self.scalar(kind, value, number, comments)

        lines = []
        for i in block:
            code = int(program.operation[i])
            if code >= OUTPUT:
                output, element = program.outputs[code - OUTPUT], int(program.number[i, 2])
                target = comments.name(output, [element])
                lines.append(f"    {output}[{element}] = {operand(i, 0)};{comments.take(target)}")
                continue
            operands = [operand(i, slot) for slot in (0, 1) if program.kind[i, slot] != NONE]
            keep = "".join(f" w[{place}] = v{i};" for place in stores.get(i, ()))
            lines.append(
                f"    const {self.real} v{i} = {self.templates[code].format(*operands)};{keep}{comments.take()}"
            )
        return lines

    def scalar(self, kind: int, value: int, number: int, comments: _Comments) -> str:
        """A single operand, as block `number` sees it."""
        if kind >= CONSTANT:
            return self.constant.format(self.program.constants[kind - CONSTANT])
        if kind >= INPUT:
            argument = self.program.inputs[kind - INPUT]
            comments.add(argument, [value])
            return f"{argument}[{value}]"
        layout = self.layout
        home = layout.blocks[layout.block_of[value]]
        if isinstance(home, Loop):
            return f"w[{layout.strided_slots(home.period, value).slot(value)}]"
        return f"v{value}" if layout.block_of[value] == number else f"w[{layout.single[value]}]"

    def loop(self, loop: Loop, number: int) -> list[str]:
        program, layout, comments = self.program, self.layout, _Comments(self.names)

        def elements(first: int, stride: int) -> list[int]:
            return [first + stride * j for j in range(loop.iterations)]

        def operand(q: int, slot: int) -> str:
            kind = int(program.kind[loop.first + q, slot])
            value, stride = reference(program, loop, q, slot)
            if kind >= CONSTANT or stride == 0:
                return self.scalar(kind, value, number, comments)
            if kind >= INPUT:
                argument = program.inputs[kind - INPUT]
                comments.add(argument, elements(value, stride))
                return f"{argument}[{_index(value, stride)}]"
            if same_iteration(loop, q, value, stride):
                return f"v{value - loop.first}"
            slots = layout.strided_slots(abs(stride), value)
            return f"w[{_index(slots.slot(value), stride // abs(stride))}]"

        lines = [f"    for (int j = 0; j < {loop.iterations}; j++) {{"]
        for q in range(loop.period):
            i = loop.first + q
            code = int(program.operation[i])
            if code >= OUTPUT:
                output, (first, stride) = program.outputs[code - OUTPUT], reference(program, loop, q, 2)
                target = comments.name(output, elements(first, stride))
                lines.append(f"        {output}[{_index(first, stride)}] = {operand(q, 0)};{comments.take(target)}")
                continue
            operands = [operand(q, slot) for slot in (0, 1) if program.kind[i, slot] != NONE]
            kept = [s for s in layout.strided.get((loop.period, i % loop.period), ()) if s.low <= i <= s.high]
            keep = "".join(f" w[{_index(slots.slot(i), 1)}] = v{q};" for slots in kept)
            expression = self.templates[code].format(*operands)
            lines.append(f"        const {self.real} v{q} = {expression};{keep}{comments.take()}")
        return [*lines, "    }"]


class _RepeatedBlockText:
    """The function of a repeated block, and its tables: for every call a row of indices i and a row of constants c."""

    def __init__(self, writer: _Writer, block: RepeatedBlock):
        self.writer, self.block = writer, block
        self.firsts = np.array(block.firsts)
        self.kind, self.number = writer.program.operands()
        self.comments = _Comments(writer.names)
        self.indices: dict[tuple[int, ...], int] = {}  # columns of the table, relative to their first row
        self.bases: list[np.ndarray] = []  # the same, absolute; columns that differ by a constant are one
        self.constants: dict[tuple[str, ...], int] = {}

    def function(self, name: str) -> list[str]:
        lines = [self._line(q) for q in range(self.block.length)]
        calls = range(len(self.firsts))
        rows_i = [", ".join(str(base[call]) for base in self.bases) or "0" for call in calls]
        rows_c = [", ".join(literals[call] for literals in self.constants) or "0" for call in calls]
        return [
            *_table("int", f"{name}_i", max(1, len(self.bases)), rows_i),
            *_table("double", f"{name}_c", max(1, len(self.constants)), rows_c),
            f"static NOINLINE void {name}({self.writer.parameters}, const int *i, const double *c) {{",
            self.writer.unused + " (void)i; (void)c;",
            *lines,
            "}",
            "",
        ]

    def _line(self, q: int) -> str:
        program = self.writer.program
        code = int(program.operation[self.firsts[0] + q])
        if code >= OUTPUT:
            output, elements = program.outputs[code - OUTPUT], program.number[self.firsts + q, 2]
            target = self.comments.name(output, elements)
            return f"    {output}[{self._index(elements)}] = {self._operand(q, 0)};{self.comments.take(target)}"
        operands = [self._operand(q, slot) for slot in (0, 1) if self.kind[self.firsts[0] + q, slot] != NONE]
        slots = [self.writer.layout.single.get(int(first) + q) for first in self.firsts]
        keep = f" w[{self._index(np.array(slots))}] = v{q};" if slots[0] is not None else ""
        expression = self.writer.templates[code].format(*operands)
        return f"    const {self.writer.real} v{q} = {expression};{keep}{self.comments.take()}"

    def _operand(self, q: int, slot: int) -> str:
        program = self.writer.program
        kind, numbers = int(self.kind[self.firsts[0] + q, slot]), self.number[self.firsts + q, slot]
        if kind == CONSTANT:
            literals = tuple(program.constants[n] for n in numbers)
            if len(set(literals)) == 1:
                return self.writer.constant.format(literals[0])
            return self.writer.constant.format(f"c[{self.constants.setdefault(literals, len(self.constants))}]")
        if kind >= INPUT:
            argument = program.inputs[kind - INPUT]
            self.comments.add(argument, numbers)
            return f"{argument}[{self._index(numbers)}]"
        if numbers[0] >= self.firsts[0]:
            return f"v{numbers[0] - self.firsts[0]}"
        return f"w[{self._index(np.array([self.writer.layout.single[int(n)] for n in numbers]))}]"

    def _index(self, places: np.ndarray) -> str:
        """Places that differ from call to call come from the table."""
        if (places == places[0]).all():
            return str(places[0])
        column = self.indices.setdefault(tuple((places - places[0]).tolist()), len(self.indices))
        if column == len(self.bases):
            self.bases.append(places)
        shift = int(places[0] - self.bases[column][0])
        return f"i[{column}]" + (f" + {shift}" if shift > 0 else f" - {-shift}" if shift < 0 else "")


class _Comments:
    """The names of variables: those that one C function reads, each at its first use, and those that it writes."""

    def __init__(self, names: Names):
        self._names = names
        self._read: list[str] = []  # in the current line
        self._known: set[str] = set()

    def name(self, argument: str, elements: Iterable[int]) -> str:
        """The name of elements that a line uses in successive iterations or calls; empty: not known."""
        names = self._names.get(argument)
        return summary([names[int(element)] for element in elements]) if names else ""

    def add(self, argument: str, elements: Iterable[int]) -> None:
        """The current line reads these elements."""
        name = self.name(argument, elements)
        if name and name not in self._known:
            self._known.add(name)
            self._read.append(name)

    def take(self, target: str = "") -> str:
        """The comment of the current line, which writes `target`, or nothing."""
        read, self._read = ", ".join(self._read), []
        text = f"{target} = {read}" if target and read else target or read
        return f" /* {text} */" if text else ""


def _table(kind: str, name: str, columns: int, rows: Sequence[str]) -> list[str]:
    return [f"static const {kind} {name}[][{columns}] = {{", *(f"    {{{row}}}," for row in rows), "};"]


def _index(first: int, stride: int) -> str:
    """first + stride * j"""
    if stride == 0:
        return str(first)
    step = "j" if abs(stride) == 1 else f"{abs(stride)} * j"
    return f"{first} + {step}" if stride > 0 else f"{first} - {step}"
