"""Random programs, compiled and called."""

from __future__ import annotations

import ctypes
import operator
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import casadi
import numpy as np

from helpers.native_build import RUNTIME, run, zig
from mechfmu.codegen import c_model
from mechfmu.codegen.c_text import Code
from mechfmu.codegen.operations import TEMPLATES
from mechfmu.codegen.program import CONSTANT, INPUT, OUTPUT, VALUE, Program

PREAMBLE = c_model.PREAMBLE.replace('#include "model.h"', "")


WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-variable")
FLAGS = ("-std=c99", *WARNINGS, "-ffp-contract=off", "-shared", "-fPIC", f"-I{RUNTIME}")


def compiled(codes: Sequence[Code], folder: Path, level: str = "-O0") -> ctypes.CDLL:
    """Compile functions into one library, with gcc if it is installed: it takes a third of the time of zig."""
    file = folder / "code.c"
    file.write_text("\n".join([PREAMBLE, *(code.prototype for code in codes), *(code.text for code in codes)]))
    compiler = ["gcc"] if shutil.which("gcc") else zig("-fno-sanitize=undefined")
    run([*compiler, *FLAGS, level, file, "-o", folder / "code.so", "-lm"])
    return ctypes.CDLL(str(folder / "code.so"))


def call(library: ctypes.CDLL, code: Code, inputs: Sequence[np.ndarray], sizes: Sequence[int]) -> list[np.ndarray]:
    """Return the results.

    The work array is filled with NaN before, so that reading a value that was not written shows; the numbers beside it
    must not change.
    """
    beyond = 16
    work = np.full(code.work + 2 * beyond, np.nan)
    work[:beyond] = work[beyond + code.work :] = 4711.0
    outputs = [np.full(size + 1, np.nan) for size in sizes]
    arguments = [np.ascontiguousarray(np.append(i, 0.0), dtype=float) for i in inputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arguments, *outputs)]
    getattr(library, code.name)(*pointers, ctypes.c_void_p(work.ctypes.data + 8 * beyond))
    assert (work[:beyond] == 4711.0).all() and (work[beyond + code.work :] == 4711.0).all(), (
        f"{code.name} writes outside its work array"
    )
    assert all(np.isnan(o[-1]) for o in outputs)
    return [o[:-1] for o in outputs]


OPS = {name: getattr(casadi, f"OP_{name}") for name in ("ADD", "SUB", "MUL", "FMIN", "SIN", "TANH", "NEG", "FABS")}


EVALUATE: dict[int, Callable[..., float]] = {
    OPS["ADD"]: operator.add,
    OPS["SUB"]: operator.sub,
    OPS["MUL"]: operator.mul,
    OPS["FMIN"]: min,
    OPS["SIN"]: np.sin,
    OPS["TANH"]: np.tanh,
    OPS["NEG"]: operator.neg,
    OPS["FABS"]: abs,
}


@dataclass
class Writer:
    """Writes a program with the patterns that loops consist of, in an order that CasADi would not choose."""

    random: np.random.Generator
    size: int = 600  # of each input
    operation: list[int] = field(default_factory=list)
    kind: list[tuple[int, int]] = field(default_factory=list)
    number: list[tuple[int, int, int]] = field(default_factory=list)
    written: int = 0  # elements of the output
    spans: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # first, period, iterations of the repetitions so far

    def is_value(self, i: int) -> bool:
        return 0 <= i < len(self.operation) and self.operation[i] < OUTPUT

    def pattern(self, q: int, first: int, period: int, iterations: int, body: list[int]) -> tuple[int, int, int]:
        """kind, number in the first iteration, stride"""
        random = self.random
        for _ in range(20):
            choice = random.integers(0, 8)
            if choice == 0:
                stride = int(random.choice([-3, -1, 0, 1, 1, 2]))
                low = random.integers(0, self.size - 3 * iterations)
                first_element = low if stride >= 0 else low - stride * (iterations - 1)
                return INPUT + int(random.integers(0, 2)), int(first_element), stride
            if choice == 1:
                return CONSTANT + int(random.integers(0, 3)), 0, 0
            if choice == 2:  # made in this iteration
                earlier = [k for k in range(q) if body[k] < OUTPUT]
                if earlier:
                    return VALUE, first + int(random.choice(earlier)), period
            if choice in (
                3,
                4,
            ):  # made by this loop, some iterations ago; before its first one by whatever stands there
                lag, k = int(random.integers(1, 4)), int(random.integers(0, len(body)))
                if body[k] < OUTPUT and all(self.is_value(first + k - t * period) for t in range(1, lag + 1)):
                    return VALUE, first + k - lag * period, period
            if choice == 5 and first:  # the same one in every iteration
                i = int(random.integers(0, first))
                if self.is_value(i):
                    return VALUE, i, 0
            if choice == 6 and self.spans:  # what another repetition has made, forwards or backwards
                f, p, n = self.spans[int(random.integers(0, len(self.spans)))]
                k = int(random.integers(0, p))
                if n >= iterations and self.is_value(f + k):
                    skip = int(random.integers(0, n - iterations + 1))
                    forwards = random.random() < 0.5
                    return (
                        (VALUE, f + k + skip * p, p) if forwards else (VALUE, f + k + (skip + iterations - 1) * p, -p)
                    )
            if choice == 7 and first:  # any values at equal distances
                stride = int(random.choice([-7, -5, -2, -1, 1, 2, 3, 5]))
                low = int(random.integers(0, first))
                places = [low + stride * t for t in range(iterations)]
                if all(0 <= i < first and self.is_value(i) for i in places):
                    return VALUE, low, stride
        return INPUT, int(random.integers(0, self.size)), 0

    def repeat(self, period: int, iterations: int) -> None:
        """Write a body `iterations` times."""
        random, first = self.random, len(self.operation)
        body = [
            OUTPUT if random.random() < 0.2 and q else int(random.choice(list(OPS.values()))) for q in range(period)
        ]
        slots = [[self.pattern(q, first, period, iterations, body) for _ in range(2)] for q in range(period)]
        outputs, start = [q for q in range(period) if body[q] >= OUTPUT], self.written
        backwards = random.random() < 0.3
        for j in range(iterations):
            for q, code in enumerate(body):
                (ka, na, sa), (kb, nb, sb) = slots[q]
                if code >= OUTPUT:
                    row = iterations - 1 - j if backwards else j
                    self.emit(code, (ka, -1), (na + sa * j, 0, start + row * len(outputs) + outputs.index(q)))
                elif "{1}" in TEMPLATES[code]:
                    self.emit(code, (ka, kb), (na + sa * j, nb + sb * j, 0))
                else:
                    self.emit(code, (ka, -1), (na + sa * j, 0, 0))
        self.written += iterations * len(outputs)
        self.spans.append((first, period, iterations))

    def emit(self, code: int, kind: tuple[int, int], number: tuple[int, int, int]) -> None:
        self.operation.append(code)
        self.kind.append(kind)
        self.number.append(number)

    def program(self) -> Program:
        for i in range(len(self.operation)):  # every value is also seen in the output
            if self.is_value(i) and self.random.random() < 0.15:
                self.emit(OUTPUT, (VALUE, -1), (i, 0, self.written))
                self.written += 1
        last = max(i for i in range(len(self.operation)) if self.is_value(i))
        self.emit(OUTPUT, (VALUE, -1), (last, 0, self.written))
        self.written += 1
        arrays = np.array(self.operation), np.array(self.kind), np.array(self.number)
        return Program(["a", "b"], ["out"], ["0.5", "(-1.25)", "3.0"], *arrays)


def evaluate(program: Program, inputs: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Interpret the program."""
    constants = [float(c.strip("()")) for c in program.constants]
    values, out = np.zeros(len(program.operation)), np.full(size, np.nan)

    def operand(kind: int, number: int) -> float:
        if kind == VALUE:
            return float(values[number])
        return constants[kind - CONSTANT] if kind >= CONSTANT else float(inputs[kind - INPUT][number])

    for i, code in enumerate(program.operation):
        operands = [operand(k, n) for k, n in zip(program.kind[i], program.number[i], strict=False) if k != -1]
        if code >= OUTPUT:
            out[program.number[i, 2]] = operands[0]
        else:
            values[i] = EVALUATE[code](*operands)
    return out
