"""A recorded graph as a program: its instructions in arrays, in which loops and repeated blocks can be found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi
import numpy as np

from .operations import CONDITIONAL_TANH, TEMPLATES, is_binary

OUTPUT = 1000  # + number of the output: the operation code of an instruction that writes an output
VALUE, INPUT, CONSTANT = (
    0,
    1,
    1000,
)  # operand kinds: a value, INPUT + number of the input, CONSTANT + number of the constant
NONE = -1  # kind of an operand that the instruction does not have


@dataclass
class Program:
    """One row of the arrays per instruction. Inputs and constants are operands, not instructions of their own."""

    inputs: list[str]
    outputs: list[str]
    constants: list[str]
    operation: np.ndarray  # (N,)
    kind: np.ndarray  # (N, 2)
    number: np.ndarray  # (N, 3): of the two operands; of the element written, for an output
    boundaries: list[int] = field(default_factory=list)  # instructions at which a block begins or ends

    @staticmethod
    def of(graph: casadi.Function, boundary_count: int = 0) -> Program:
        """The program of a graph. Its first `boundary_count` outputs are block boundaries: they are not written, but
        divide the program where their last element has been computed."""
        reader = _Reader(graph, boundary_count)
        for k in range(graph.n_instructions()):
            reader.read(k)
        program = Program(
            [graph.name_in(i) for i in range(graph.n_in())],
            [graph.name_out(i) for i in range(boundary_count, graph.n_out())],
            list(reader.constants),
            np.array(reader.operation, dtype=np.int64),
            np.array(reader.kind, dtype=np.int64).reshape(-1, 2),
            np.array(reader.number, dtype=np.int64).reshape(-1, 3),
            sorted(set(reader.boundaries.values())),
        )
        program = program._without_unused() if boundary_count else program
        program = program._with_reciprocals()
        program._make_tanh_conditional()
        return program

    def _make_tanh_conditional(self) -> None:
        """A tanh that is only ever multiplied by one and the same input gets that input as its second operand."""
        tanh = np.flatnonzero(self.operation == casadi.OP_TANH)
        factors: dict[int, set[tuple[int, int]]] = {int(k): set() for k in tanh}
        values = np.where(self.kind == VALUE, self.number[:, :2], -1)
        for user in np.flatnonzero(np.isin(values, list(factors)).any(axis=1)):
            for slot in (0, 1):
                if (used := int(values[user, slot])) in factors:
                    is_product = self.operation[user] == casadi.OP_MUL
                    other = int(self.kind[user, 1 - slot]), int(self.number[user, 1 - slot])
                    factors[used].add(other if is_product else (NONE, 0))
        for k, found in factors.items():
            kind, number = next(iter(found), (NONE, 0))
            if len(found) == 1 and INPUT <= kind < CONSTANT:
                self.operation[k], self.kind[k, 1], self.number[k, 1] = CONDITIONAL_TANH, kind, number

    def _without_unused(self) -> Program:
        """The program without instructions that only block boundaries need."""
        needed = self.operation >= OUTPUT
        for k in range(len(needed) - 1, -1, -1):
            if needed[k]:
                needed[self.number[k, :2][self.kind[k] == VALUE]] = True
        renumbered: np.ndarray = np.cumsum(needed) - needed
        number = self.number.copy()
        number[:, :2] = np.where(self.kind == VALUE, renumbered[self.number[:, :2]], self.number[:, :2])
        ends = np.append(renumbered, needed.sum())
        boundaries = sorted({int(ends[b]) for b in self.boundaries})
        arrays = self.operation[needed], self.kind[needed], number[needed]
        return Program(self.inputs, self.outputs, self.constants, *arrays, boundaries)

    def _with_reciprocals(self) -> Program:
        """The program in which several divisions by one number are multiplications by its reciprocal, which take a
        quarter of the time. The reciprocal is computed before the first of them."""
        users: dict[tuple[int, int], list[int]] = {}
        for k in np.flatnonzero(np.isin(self.operation, (casadi.OP_DIV, casadi.OP_INV))):
            slot = _divisor_slot(self.operation[k])
            users.setdefault((int(self.kind[k, slot]), int(self.number[k, slot])), []).append(int(k))
        shared = [found for found in users.values() if len(found) > 1]
        first = np.array(sorted(found[0] for found in shared), dtype=np.int64)

        def moved(instructions: Any) -> Any:
            return instructions + np.searchsorted(first, instructions, side="right")

        operation, kind = np.insert(self.operation, first, casadi.OP_INV), np.insert(self.kind, first, NONE, axis=0)
        number = np.insert(self.number, first, 0, axis=0)
        number[:, :2] = np.where(kind == VALUE, moved(number[:, :2]), number[:, :2])
        for found in shared:
            reciprocal = moved(found[0]) - 1
            for k in moved(np.array(found)):
                slot = _divisor_slot(operation[k])
                kind[reciprocal, 0], number[reciprocal, 0] = kind[k, slot], number[k, slot]
                operation[k] = casadi.OP_MUL if slot else casadi.OP_ASSIGN
                kind[k, slot], number[k, slot] = VALUE, reciprocal
        boundaries = [int(b + np.searchsorted(first, b)) for b in self.boundaries]
        return Program(self.inputs, self.outputs, self.constants, operation, kind, number, boundaries)

    def signature(self) -> np.ndarray:
        """One number per instruction: equal for the same operation on operands of the same kinds."""
        rows = np.column_stack([self.operation, self.kind])
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) if len(rows) else np.zeros(0, dtype=np.int64)

    def operands(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinds and numbers of the operands, with constants as one kind whose numbers tell them apart."""
        constant = self.kind >= CONSTANT
        kind = np.where(constant, CONSTANT, self.kind)
        return kind, np.where(constant, self.kind - CONSTANT, self.number[:, :2])


def _divisor_slot(operation: int) -> int:
    """Which operand is the divisor."""
    return 1 if operation == casadi.OP_DIV else 0


class _Reader:
    """Reads the instructions of a graph one after the other."""

    def __init__(self, graph: casadi.Function, boundary_count: int):
        self.graph, self.boundary_count = graph, boundary_count
        self.operation: list[int] = []
        self.kind: list[tuple[int, int]] = []
        self.number: list[tuple[int, int, int]] = []
        self.constants: dict[str, int] = {}
        self.boundaries = {-boundary_count - 1: 0}  # by boundary: the instruction after its last element
        self._slots: dict[
            int, tuple[int, int]
        ] = {}  # kind and number of what CasADi's work slots hold; they are reused

    def read(self, k: int) -> None:
        graph = self.graph
        code = graph.instruction_id(k)
        if code == casadi.OP_INPUT:
            which, element = graph.instruction_input(k)
            self._slots[graph.instruction_output(k)[0]] = (INPUT + which, element)
        elif code == casadi.OP_CONST:
            literal = repr(float(graph.instruction_constant(k))).replace("inf", "INFINITY")
            literal = f"({literal})" if literal.startswith("-") else literal
            number = self.constants.setdefault(literal, len(self.constants))
            self._slots[graph.instruction_output(k)[0]] = (CONSTANT + number, 0)
        elif code == casadi.OP_OUTPUT:
            self._read_output(k)
        elif code in TEMPLATES:
            operands = [self._slots[i] for i in graph.instruction_input(k)]
            a, b = operands[0], operands[1] if is_binary(code) else (NONE, 0)
            self._slots[graph.instruction_output(k)[0]] = (VALUE, len(self.operation))
            self._append(code, (a[0], b[0]), (a[1], b[1], 0))
        else:
            raise NotImplementedError(
                f"{graph.name()}: CasADi operation {code} has no C form; add it to mechfmu/codegen/operations.py"
            )

    def _read_output(self, k: int) -> None:
        which, element = self.graph.instruction_output(k)
        which -= self.boundary_count
        if which < 0:
            self.boundaries[which] = len(self.operation)
            return
        kind, number = self._slots[self.graph.instruction_input(k)[0]]
        self._append(OUTPUT + which, (kind, NONE), (number, 0, element))

    def _append(self, operation: int, kind: tuple[int, int], number: tuple[int, int, int]) -> None:
        self.operation.append(operation)
        self.kind.append(kind)
        self.number.append(number)
