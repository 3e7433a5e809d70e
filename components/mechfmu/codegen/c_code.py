"""C code from the recorded graphs.

Every graph becomes one C function without memory of its own:

    void NAME(const double *t, const double *x, ..., double *out, ..., double *w)

A long graph is cut into blocks, each a function of its own: loops where the graph repeats itself (see rolling.py) or calls of one function
where stretches between milestones are alike (see shapes.py), pieces of plain assignments elsewhere, because compilers need time that grows
faster than the length of a function. Values that one block makes and another uses live in the work array w: single ones in a place each, those
that a loop makes or uses turn by turn in a row of places.

The code has no branches, with one exception: tanh, as in friction, is slow and not computed while the coefficient before it is zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi
import numpy as np

from .loops import Loop, find_loops
from .repeated_blocks import Shape, find_shapes

PIECE = 2000  # assignments in one piece
ROLLED_FROM = 6000  # instructions; a shorter graph is fastest as it is

BINARY = {
    "ADD": "{0} + {1}", "SUB": "{0} - {1}", "MUL": "{0} * {1}", "DIV": "{0} / {1}",
    "POW": "pow({0}, {1})", "CONSTPOW": "pow({0}, {1})", "ATAN2": "atan2({0}, {1})", "FMIN": "fmin({0}, {1})", "FMAX": "fmax({0}, {1})",
    "FMOD": "fmod({0}, {1})", "COPYSIGN": "copysign({0}, {1})", "HYPOT": "hypot({0}, {1})",
    "LT": "(double)({0} < {1})", "LE": "(double)({0} <= {1})", "EQ": "(double)({0} == {1})", "NE": "(double)({0} != {1})",
    "AND": "(double)({0} != 0 && {1} != 0)", "OR": "(double)({0} != 0 || {1} != 0)", "IF_ELSE_ZERO": "{0} != 0 ? {1} : 0.0",
}  # fmt: skip
FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
             "floor", "ceil", "fabs", "log1p", "expm1", "erf")  # fmt: skip
UNARY = {
    "ASSIGN": "{0}", "NEG": "-{0}", "SQ": "{0} * {0}", "TWICE": "2.0 * {0}", "INV": "1.0 / {0}", "NOT": "(double)({0} == 0)",
    "SIGN": "(double)(({0} > 0) - ({0} < 0))", **{f.upper(): f + "({0})" for f in FUNCTIONS},
}  # fmt: skip
TEMPLATES = {getattr(casadi, f"OP_{name}"): template for name, template in {**UNARY, **BINARY}.items()}

SPARED_TANH = 999  # tanh of the first operand where the second is not zero
TEMPLATES[SPARED_TANH] = "{1} != 0 ? tanh({0}) : 0.0"
OUTPUT = 1000  # + which output: the operation code of an instruction that writes an output
VALUE, INPUT, CONSTANT = 0, 1, 1000  # operand kinds: a value; INPUT + which input; CONSTANT + which constant; -1: none


@dataclass(frozen=True)
class Code:
    """The C text of one function, and what its caller must provide."""

    name: str
    text: str
    prototype: str
    work: int  # length of the work array


@dataclass
class Program:
    """A graph as arrays, one row per instruction; inputs and constants are operands, not instructions of their own."""

    inputs: list[str]
    outputs: list[str]
    constants: list[str]
    operation: np.ndarray  # (N,)
    kind: np.ndarray  # (N, 2)
    number: np.ndarray  # (N, 3): of the two operands; of the element written, for an output
    cuts: list[int] = field(default_factory=list)  # where a milestone has been reached

    @staticmethod
    def of(graph: casadi.Function, milestones: int = 0) -> Program:
        """The first outputs of the graph may be milestones: they are not written, but cut the program."""
        operation: list[int] = []
        kind: list[tuple[int, int]] = []
        number: list[tuple[int, int, int]] = []
        cuts = {-milestones - 1: 0}  # by milestone: where its last element is ready
        constants: dict[str, int] = {}
        slots: dict[
            int, tuple[int, int]
        ] = {}  # CasADi's work slots are used again and again: (kind, number) of what is in each now
        none = (-1, 0)
        for k in range(graph.n_instructions()):
            code = graph.instruction_id(k)
            if code == casadi.OP_INPUT:
                which, element = graph.instruction_input(k)
                slots[graph.instruction_output(k)[0]] = (INPUT + which, element)
            elif code == casadi.OP_CONST:
                literal = repr(float(graph.instruction_constant(k))).replace("inf", "INFINITY")
                literal = f"({literal})" if literal.startswith("-") else literal
                slots[graph.instruction_output(k)[0]] = (CONSTANT + constants.setdefault(literal, len(constants)), 0)
            elif code == casadi.OP_OUTPUT:
                which, element = graph.instruction_output(k)
                which -= milestones
                if which < 0:
                    cuts[which] = len(operation)
                    continue
                a = slots[graph.instruction_input(k)[0]]
                operation.append(OUTPUT + which)
                kind.append((a[0], -1))
                number.append((a[1], 0, element))
            elif code in TEMPLATES:
                operands = [slots[i] for i in graph.instruction_input(k)]
                a, b = operands[0], operands[1] if "{1}" in TEMPLATES[code] else none
                slots[graph.instruction_output(k)[0]] = (VALUE, len(operation))
                operation.append(code)
                kind.append((a[0], b[0]))
                number.append((a[1], b[1], 0))
            else:
                raise NotImplementedError(
                    f"{graph.name()}: CasADi operation {code} has no C form yet; add it to mechfmu/engines/c_code.py"
                )
        program = Program(
            [graph.name_in(i) for i in range(graph.n_in())],
            [graph.name_out(i) for i in range(milestones, graph.n_out())],
            list(constants),
            np.array(operation, dtype=np.int64),
            np.array(kind, dtype=np.int64).reshape(-1, 2),
            np.array(number, dtype=np.int64).reshape(-1, 3),
            sorted(set(cuts.values())),
        )
        program = program._needed() if milestones else program
        program._spare()
        return program

    def _spare(self) -> None:
        """A tanh that is only ever multiplied by one and the same input gets that input as its second operand."""
        factors: dict[int, set[tuple[int, int]]] = {
            int(k): set() for k in np.flatnonzero(self.operation == casadi.OP_TANH)
        }
        values = np.where(self.kind == VALUE, self.number[:, :2], -1)
        for user in np.flatnonzero(np.isin(values, list(factors)).any(axis=1)):
            for slot in (0, 1):
                if (used := int(values[user, slot])) in factors:
                    is_product = self.operation[user] == casadi.OP_MUL
                    factors[used].add(
                        (int(self.kind[user, 1 - slot]), int(self.number[user, 1 - slot])) if is_product else (-1, 0)
                    )
        for k, found in factors.items():
            kind, number = next(iter(found), (-1, 0))
            if len(found) == 1 and INPUT <= kind < CONSTANT:
                self.operation[k], self.kind[k, 1], self.number[k, 1] = SPARED_TANH, kind, number

    def _needed(self) -> Program:
        """Without what is made for milestones alone."""
        needed = self.operation >= OUTPUT
        for k in range(len(needed) - 1, -1, -1):
            if needed[k]:
                needed[self.number[k, :2][self.kind[k] == VALUE]] = True
        renumbered: np.ndarray = np.cumsum(needed) - needed
        number = self.number.copy()
        number[:, :2] = np.where(self.kind == VALUE, renumbered[self.number[:, :2]], self.number[:, :2])
        ends = np.append(renumbered, needed.sum())
        return Program(
            self.inputs,
            self.outputs,
            self.constants,
            self.operation[needed],
            self.kind[needed],
            number[needed],
            sorted({int(ends[c]) for c in self.cuts}),
        )

    def signature(self) -> np.ndarray:
        """Equal for instructions that do the same with operands of the same kinds."""
        rows = np.column_stack([self.operation, self.kind])
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) if len(rows) else np.zeros(0, dtype=np.int64)


@dataclass
class Row:
    """Places in the work array for the values low, low + step, ..., high."""

    step: int
    low: int
    high: int
    place: int = -1

    def at(self, value: int) -> int:
        return self.place + (value - self.low) // self.step


@dataclass(frozen=True)
class Call:
    """The stretch of instructions that begins at first, as call number `turn` of a shape."""

    shape: Shape
    turn: int

    @property
    def first(self) -> int:
        return self.shape.firsts[self.turn]

    @property
    def end(self) -> int:
        return self.first + self.shape.length


@dataclass
class Layout:
    """Which block every instruction belongs to and where values live that leave their block."""

    blocks: list[Loop | Call | range]
    block_of: np.ndarray
    rows: dict[tuple[int, int], list[Row]] = field(default_factory=lambda: defaultdict(list))  # (step, value % step)
    single: dict[int, int] = field(default_factory=dict)
    size: int = 0

    def row(self, step: int, value: int) -> Row:
        return next(r for r in self.rows[step, value % step] if r.low <= value <= r.high)


def c_function(graph: casadi.Function, name: str, milestones: int = 0) -> Code:
    """The C function `name` of a recorded graph; its arguments have the names of the graph's inputs and of its outputs after the milestones."""
    program = Program.of(graph, milestones)
    layout = _layout(program)
    arguments = [*program.inputs, *program.outputs, "w"]
    parameters = ", ".join(
        [f"const double *{i}" for i in program.inputs] + [f"double *restrict {o}" for o in (*program.outputs, "w")]
    )
    unused = "    " + " ".join(f"(void){a};" for a in arguments)
    stores = _stores(layout)
    text, calls = [], []
    functions: dict[Shape, str] = {}
    for number, block in enumerate(layout.blocks):
        own = f"{name}_{number}"
        if isinstance(block, Call):
            if block.shape not in functions:
                functions[block.shape] = own
                text += _emit_shape(program, layout, block.shape, own, parameters, unused)
            own = functions[block.shape]
            calls.append(f"    {own}({', '.join(arguments)}, {own}_i[{block.turn}], {own}_c[{block.turn}]);")
            continue
        lines = (
            _emit_loop(program, layout, block, number)
            if isinstance(block, Loop)
            else _emit_piece(program, layout, block, number, stores)
        )
        text += [f"static NOINLINE void {own}({parameters}) {{", unused, *lines, "}", ""]
        calls.append(f"    {own}({', '.join(arguments)});")
    prototype = f"void {name}({parameters})"
    return Code(name, "\n".join([*text, f"{prototype} {{", unused, *calls, "}", ""]), prototype + ";", layout.size)


# --- where everything lives -------------------------------------------------------------------------------------------


def _layout(program: Program) -> Layout:
    n = len(program.operation)
    if n > ROLLED_FROM and len(program.cuts) > 1:
        return _with_calls(program)
    loops = find_loops(program.signature(), program.number) if n > ROLLED_FROM else []
    while True:
        layout, misfits = _try(program, loops)
        if not misfits:
            return layout
        loops = [loop for loop in loops if loop not in misfits]


def _blocks(n: int, found: Sequence[Loop | Call]) -> Layout:
    """What was found in the program, and pieces of what lies between."""
    blocks: list[Loop | Call | range] = []
    at = 0
    for stretch in found:
        blocks += [range(i, min(i + PIECE, stretch.first)) for i in range(at, stretch.first, PIECE)]
        blocks.append(stretch)
        at = stretch.end
    blocks += [range(i, min(i + PIECE, n)) for i in range(at, n, PIECE)]
    block_of = np.zeros(n, dtype=np.int64)
    for number, block in enumerate(blocks):
        block_of[slice(block.start, block.stop) if isinstance(block, range) else slice(block.first, block.end)] = number
    return Layout(blocks, block_of)


def _with_calls(program: Program) -> Layout:
    """The layout with calls of shapes. What leaves one call of a shape has its place in all of them, so that it lies alike behind each."""
    kind, number = _operands(program)
    shapes = find_shapes(program.cuts, program.operation, kind, number, VALUE)
    layout = _blocks(
        len(program.operation),
        sorted((Call(shape, turn) for shape in shapes for turn in range(len(shape.firsts))), key=lambda c: c.first),
    )
    block_of = layout.block_of
    leaves = np.zeros(len(program.operation), dtype=bool)
    for slot in (0, 1):
        used = np.flatnonzero(kind[:, slot] == VALUE)
        made = number[used, slot]
        leaves[made[block_of[made] != block_of[used]]] = True
    for shape in shapes:
        for offset in range(shape.length):
            leaves[[first + offset for first in shape.firsts]] = leaves[
                [first + offset for first in shape.firsts]
            ].any()
    layout.single = {int(value): place for place, value in enumerate(np.flatnonzero(leaves))}
    layout.size = len(layout.single)
    return layout


def _operands(program: Program) -> tuple[np.ndarray, np.ndarray]:
    """Kinds and numbers of the operands, with constants as one kind whose numbers tell them apart."""
    constant = program.kind >= CONSTANT
    return np.where(constant, CONSTANT, program.kind), np.where(
        constant, program.kind - CONSTANT, program.number[:, :2]
    )


def _try(program: Program, loops: list[Loop]) -> tuple[Layout, list[Loop]]:
    """The layout with these loops, or those of them that use others in a way a row of places cannot serve."""
    layout = _blocks(len(program.operation), loops)
    blocks, block_of = layout.blocks, layout.block_of
    misfits: list[Loop] = []
    wanted: list[tuple[int, int, int]] = []  # rows: step, low, high
    single: set[int] = set()

    def use_one(value: int, number: int) -> None:
        home = blocks[block_of[value]]
        if isinstance(home, Loop):
            wanted.append((home.period, value, value))
        elif block_of[value] != number:
            single.add(value)

    for number, block in enumerate(blocks):
        if not isinstance(block, Loop):
            rows = slice(block.start, block.stop)  # type: ignore[union-attr]
            for slot in (0, 1):
                values = program.number[rows, slot][program.kind[rows, slot] == VALUE]
                for value in np.unique(values[block_of[values] != number]):
                    use_one(int(value), number)
            continue
        for q in range(block.period):
            for slot in (0, 1):
                if program.kind[block.first + q, slot] != VALUE:
                    continue
                value, stride = _reference(program, block, q, slot)
                if stride == 0:
                    use_one(value, number)
                elif not _same_turn(block, q, value, stride):
                    last = value + stride * (block.turns - 1)
                    low, high = min(value, last), max(value, last)
                    homes = {b for b in block_of[low : high + 1 : abs(stride)] if isinstance(blocks[b], Loop)}
                    if any(blocks[b].period != abs(stride) for b in homes):  # type: ignore[union-attr]
                        misfits.append(block)
                    wanted.append((abs(stride), low, high))
    if misfits:
        return layout, misfits
    _merge(layout, wanted, [b for b in blocks if isinstance(b, Loop)])
    for value in sorted(single):
        layout.single[value] = layout.size
        layout.size += 1
    return layout, []


def _reference(program: Program, loop: Loop, q: int, slot: int) -> tuple[int, int]:
    """The number of operand `slot` of the loop's instruction q in the first turn, and by how much it grows each turn."""
    first, second = program.number[loop.first + q, slot], program.number[loop.first + loop.period + q, slot]
    return int(first), int(second - first)


def _same_turn(loop: Loop, q: int, value: int, stride: int) -> bool:
    return stride == loop.period and loop.first <= value < loop.first + q


def _merge(layout: Layout, wanted: list[tuple[int, int, int]], loops: list[Loop]) -> None:
    """Rows that serve all uses: overlapping ones become one, and a loop that writes into a row has places there for all its turns."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for step, low, high in wanted:
        spans[step, low % step].append((low, high))
    by_period: dict[int, list[Loop]] = defaultdict(list)
    for loop in loops:
        by_period[loop.period].append(loop)
    for (step, residue), pieces in spans.items():
        own = []
        for loop in by_period[step]:
            low = loop.first + (residue - loop.first) % step
            own.append((low, low + step * (loop.turns - 1)))
        merged = _union(pieces)
        while True:  # a loop's own span joins as soon as one of its values is wanted
            grown = _union([*merged, *(o for o in own if any(o[0] <= high and low <= o[1] for low, high in merged))])
            if grown == merged:
                break
            merged = grown
        for low, high in merged:
            layout.rows[step, residue].append(Row(step, low, high, layout.size))
            layout.size += (high - low) // step + 1


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _stores(layout: Layout) -> dict[int, list[int]]:
    """The places into which plain assignments must put their values: value -> places."""
    stores: dict[int, list[int]] = defaultdict(list)
    for value, place in layout.single.items():
        stores[value].append(place)
    for rows in layout.rows.values():
        for row in rows:
            for value in range(row.low, row.high + 1, row.step):
                if not isinstance(layout.blocks[layout.block_of[value]], Loop):
                    stores[value].append(row.at(value))
    return stores


# --- the text ---------------------------------------------------------------------------------------------------------


def _emit_piece(program: Program, layout: Layout, block: range, number: int, stores: dict[int, list[int]]) -> list[str]:
    def operand(i: int, slot: int) -> str:
        kind, value = int(program.kind[i, slot]), int(program.number[i, slot])
        return _scalar(program, layout, kind, value, number)

    lines = []
    for i in block:
        code = int(program.operation[i])
        if code >= OUTPUT:
            lines.append(f"    {program.outputs[code - OUTPUT]}[{program.number[i, 2]}] = {operand(i, 0)};")
            continue
        operands = [operand(i, slot) for slot in (0, 1) if program.kind[i, slot] != -1]
        keep = "".join(f" w[{place}] = v{i};" for place in stores.get(i, ()))
        lines.append(f"    const double v{i} = {TEMPLATES[code].format(*operands)};{keep}")
    return lines


def _scalar(program: Program, layout: Layout, kind: int, value: int, number: int) -> str:
    """A single operand, as block `number` sees it."""
    if kind >= CONSTANT:
        return program.constants[kind - CONSTANT]
    if kind >= INPUT:
        return f"{program.inputs[kind - INPUT]}[{value}]"
    home = layout.blocks[layout.block_of[value]]
    if isinstance(home, Loop):
        return f"w[{layout.row(home.period, value).at(value)}]"
    return f"v{value}" if layout.block_of[value] == number else f"w[{layout.single[value]}]"


def _emit_shape(program: Program, layout: Layout, shape: Shape, name: str, parameters: str, unused: str) -> list[str]:
    """The function of a shape, and before it its tables: for every call a row of indices i and a row of constants c."""
    kind, number = _operands(program)
    firsts = np.array(shape.firsts)
    indices: dict[
        tuple[int, ...], int
    ] = {}  # columns of the table, from the first row on; columns that only differ by a number are one
    bases: list[np.ndarray] = []
    constants: dict[tuple[str, ...], int] = {}

    def index(places: np.ndarray) -> str:
        if (places == places[0]).all():
            return str(places[0])
        column = indices.setdefault(tuple((places - places[0]).tolist()), len(indices))
        if column == len(bases):
            bases.append(places)
        shift = int(places[0] - bases[column][0])
        return f"i[{column}]" + (f" + {shift}" if shift > 0 else f" - {-shift}" if shift < 0 else "")

    def operand(q: int, slot: int) -> str:
        own, numbers = int(kind[firsts[0] + q, slot]), number[firsts + q, slot]
        if own == CONSTANT:
            literals = tuple(program.constants[n] for n in numbers)
            return literals[0] if len(set(literals)) == 1 else f"c[{constants.setdefault(literals, len(constants))}]"
        if own >= INPUT:
            return f"{program.inputs[own - INPUT]}[{index(numbers)}]"
        if numbers[0] >= firsts[0]:
            return f"v{numbers[0] - firsts[0]}"
        return f"w[{index(np.array([layout.single[int(n)] for n in numbers]))}]"

    lines = []
    for q in range(shape.length):
        code = int(program.operation[firsts[0] + q])
        if code >= OUTPUT:
            lines.append(
                f"    {program.outputs[code - OUTPUT]}[{index(program.number[firsts + q, 2])}] = {operand(q, 0)};"
            )
            continue
        operands = [operand(q, slot) for slot in (0, 1) if kind[firsts[0] + q, slot] != -1]
        places = [layout.single.get(int(first) + q) for first in firsts]
        keep = f" w[{index(np.array(places))}] = v{q};" if places[0] is not None else ""
        lines.append(f"    const double v{q} = {TEMPLATES[code].format(*operands)};{keep}")
    rows_i = [", ".join(str(base[turn]) for base in bases) or "0" for turn in range(len(firsts))]
    rows_c = [", ".join(literals[turn] for literals in constants) or "0" for turn in range(len(firsts))]
    return [
        f"static const int {name}_i[][{max(1, len(bases))}] = {{", *(f"    {{{row}}}," for row in rows_i), "};",
        f"static const double {name}_c[][{max(1, len(constants))}] = {{", *(f"    {{{row}}}," for row in rows_c), "};",
        f"static NOINLINE void {name}({parameters}, const int *i, const double *c) {{", unused + " (void)i; (void)c;", *lines, "}", "",
    ]  # fmt: skip


def _emit_loop(program: Program, layout: Layout, loop: Loop, number: int) -> list[str]:
    def operand(q: int, slot: int) -> str:
        i = loop.first + q
        kind = int(program.kind[i, slot])
        value, stride = _reference(program, loop, q, slot)
        if kind >= CONSTANT or stride == 0:
            return _scalar(program, layout, kind, value, number)
        if kind >= INPUT:
            return f"{program.inputs[kind - INPUT]}[{_index(value, stride)}]"
        if _same_turn(loop, q, value, stride):
            return f"v{value - loop.first}"
        row = layout.row(abs(stride), value)
        return f"w[{_index(row.at(value), stride // abs(stride))}]"

    lines = [f"    for (int j = 0; j < {loop.turns}; j++) {{"]
    for q in range(loop.period):
        i = loop.first + q
        code = int(program.operation[i])
        if code >= OUTPUT:
            element, stride = _reference(program, loop, q, 2)
            lines.append(f"        {program.outputs[code - OUTPUT]}[{_index(element, stride)}] = {operand(q, 0)};")
            continue
        operands = [operand(q, slot) for slot in (0, 1) if program.kind[i, slot] != -1]
        rows = [r for r in layout.rows.get((loop.period, i % loop.period), ()) if r.low <= i <= r.high]
        keep = "".join(f" w[{_index(row.at(i), 1)}] = v{q};" for row in rows)
        lines.append(f"        const double v{q} = {TEMPLATES[code].format(*operands)};{keep}")
    return [*lines, "    }"]


def _index(first: int, stride: int) -> str:
    """first + stride * j"""
    if stride == 0:
        return str(first)
    step = "j" if abs(stride) == 1 else f"{abs(stride)} * j"
    return f"{first} + {step}" if stride > 0 else f"{first} - {step}"
