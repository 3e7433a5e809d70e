"""C code of graphs with block boundaries: blocks that do the same become one function, with the same results."""

from __future__ import annotations

import re
from pathlib import Path

import casadi
import numpy as np
import pytest

from helpers.programs import OPS, Writer, call, compiled, evaluate
from helpers.tolerances import CENTRAL, ENGINES, LOOPS
from helpers.tree_cases import engine_of, mechanism_of
from helpers.trees import random_state, random_tree
from mechfmu.codegen import repeated_blocks, work_array
from mechfmu.codegen.c_model import boundary_count, graphs
from mechfmu.codegen.c_text import Code, c_function
from mechfmu.codegen.operations import TEMPLATES
from mechfmu.codegen.program import CONSTANT, INPUT, OUTPUT, VALUE, Program
from mechfmu.codegen.repeated_blocks import RepeatedBlock, find_repeated_blocks
from mechfmu.model.block_boundaries import block_boundary, recorded_boundaries


def calls_in(code: Code) -> int:
    return len(re.findall(r"_i\[\d+\], \w+_c\[\d+\]\);", code.text))


# --- random programs, instruction by instruction ---------------------------------------------------------------------


class Bodies(Writer):
    """Writes a few kinds of stretches again and again, each time with operands from anywhere."""

    def stretch(self, body: list[int], inner: list[list[int | None]], kinds: list[list[int]]) -> None:
        first, random = len(self.operation), self.random
        made = [i for i in range(first) if self.is_value(i)]
        for q, code in enumerate(body):
            kind, number = [], []
            for own, outer in zip(inner[q], kinds[q], strict=True):
                chosen = VALUE if own is not None else outer if outer != VALUE or made else INPUT
                if own is not None:
                    place = first + own
                else:
                    place = int(random.choice(made) if chosen == VALUE else random.integers(0, self.size))
                kind.append(chosen + int(random.integers(0, 3)) if chosen == CONSTANT else chosen)
                number.append(0 if chosen == CONSTANT else place)
            if code >= OUTPUT:
                self.emit(code, (kind[0], -1), (number[0], 0, self.written))
                self.written += 1
            elif "{1}" in TEMPLATES[code]:
                self.emit(code, (kind[0], kind[1]), (number[0], number[1], 0))
            else:
                self.emit(code, (kind[0], -1), (number[0], 0, 0))

    def of_kind(self, length: int) -> tuple[list[int], list[list[int | None]], list[list[int]]]:
        random = self.random
        body = [
            OUTPUT if random.random() < 0.1 and q else int(random.choice(list(OPS.values()))) for q in range(length)
        ]
        values = [[k for k in range(q) if body[k] < OUTPUT] for q in range(length)]
        inner = [
            [int(random.choice(values[q])) if values[q] and random.random() < 0.5 else None for _ in range(2)]
            for q in range(length)
        ]
        operands = (VALUE, VALUE, INPUT, INPUT + 1, CONSTANT)
        kinds = [[int(random.choice(operands)) for _ in range(2)] for _ in range(length)]
        return body, inner, kinds


def random_program(seed: int) -> tuple[Program, int]:
    random = np.random.default_rng(seed)
    writer, boundaries = Bodies(random), [0]
    kinds = [writer.of_kind(int(random.integers(1, 25))) for _ in range(3)]
    for _ in range(int(random.integers(5, 20))):
        writer.stretch(*kinds[int(random.integers(0, 3))])
        if random.random() < 0.9:
            boundaries.append(len(writer.operation))
    program = writer.program()
    program.boundaries = boundaries
    return program, writer.written


def test_random_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Program, "of", staticmethod(lambda program, boundary_count: program))
    monkeypatch.setattr(work_array, "LOOPS_FROM", 0)
    programs, codes = [random_program(seed) for seed in range(150)], []
    for i, (program, _) in enumerate(programs):
        monkeypatch.setattr(work_array, "MAX_BLOCK_LENGTH", (5, 33, 2000)[i % 3])
        monkeypatch.setattr(repeated_blocks, "MIN_LENGTH", (1, 5, 10)[i % 3])
        monkeypatch.setattr(repeated_blocks, "MIN_CALLS", (1, 2, 3)[i % 3])
        codes.append(c_function(program, f"program_{i}"))  # type: ignore[arg-type]
    assert sum(calls_in(code) for code in codes) > 4 * len(codes)
    library = compiled(codes, tmp_path)
    random = np.random.default_rng(0)
    for (program, size), code in zip(programs, codes, strict=True):
        inputs = [random.uniform(-1, 1, 600) for _ in range(2)]
        wanted = evaluate(program, inputs, size)
        assert not np.isnan(wanted).any()
        (found,) = call(library, code, inputs, [size])
        assert np.abs(found - wanted).max() <= LOOPS * max(1.0, np.abs(wanted).max()), code.name


def test_repeated_blocks_are_found_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of three: alike at 0, 3 and 9; with another operation at 6; with another inner operand at 12."""
    monkeypatch.setattr(repeated_blocks, "MIN_LENGTH", 3)
    operation = np.array([1, 2, 3] * 2 + [1, 2, 4] + [1, 2, 3] * 2)
    kind = np.tile([[5, -1], [0, 5], [0, 0]], (5, 1))
    rows = [([first, 0], [first, 7], [first, first + (first < 12)]) for first in (0, 3, 6, 9, 12)]
    number = np.array(rows).reshape(-1, 2)
    assert find_repeated_blocks([0, 3, 6, 9, 12, 15], operation, kind, number, value=0) == [RepeatedBlock((0, 3, 9), 3)]


# --- block boundaries -------------------------------------------------------------------------------------------------


def test_block_boundaries_are_recorded_by_the_innermost_recorder() -> None:
    block_boundary(1.0)
    with recorded_boundaries() as outer:
        block_boundary(2.0)
        with recorded_boundaries() as inner:
            block_boundary(3.0, [4.0])
        block_boundary(5.0)
    block_boundary(6.0)
    assert outer == [(2.0,), (5.0,)]
    assert inner == [(3.0, [4.0])]


def test_values_that_only_a_block_boundary_needs_are_not_computed() -> None:
    x = casadi.SX.sym("x", 2)
    shared = casadi.cos(x[1])
    graph = casadi.Function(
        "f", [x], [casadi.sin(x[0]), casadi.vertcat(x[0] * x[1], shared), 2 * shared], ["x"], ["m0", "m1", "out"]
    )
    program = Program.of(graph, 2)
    assert [TEMPLATES.get(int(code), "out") for code in program.operation] == ["cosine({0})", "2.0 * {0}", "out"]
    assert program.outputs == ["out"]
    assert program.boundaries == [0, 1]


def test_a_large_tree_is_made_of_calls_and_agrees() -> None:
    """Every kind of joint several times; rates, outputs and derivatives."""
    random = np.random.default_rng(5)
    joints = ["revolute"] * 6 + ["prismatic"] * 4 + ["spherical"] * 3 + ["universal"] * 2 + ["free"]
    tree = random_tree(random, [str(kind) for kind in random.permutation(joints)])
    mechanism = mechanism_of(tree)
    codes = {g.name(): c_function(g, g.name(), boundary_count(g)) for g in graphs(mechanism)}
    assert all(calls_in(codes[name]) >= 10 for name in ("rates", "outputs", "tangent"))
    _, x, d, u, p = mechanism.start()
    numpy, compiled_c = engine_of("numpy", mechanism), engine_of("c", mechanism)
    for _ in range(3):
        state = random_state(random, tree)
        x[: len(state.q) + len(state.v)] = np.concatenate([state.q, state.v])
        u[:] = random.uniform(-1.0, 1.0, len(u))
        for name in ("rates", "outputs"):
            found, wanted = (getattr(engine, name)(0.0, x, d, u, p) for engine in (compiled_c, numpy))
            assert np.max(np.abs(found - wanted)) < ENGINES * np.max(np.abs(wanted))
        direction = random.uniform(-1.0, 1.0, len(x))
        dx_dot, y_dot = compiled_c.tangent(0.0, x, d, u, p, 0.0, direction, np.zeros(len(u)), np.zeros(len(p)))
        h = 1e-5
        for name, derivative in (("rates", dx_dot), ("outputs", y_dot)):
            f = getattr(compiled_c, name)
            ahead, behind = f(0.0, x + h * direction, d, u, p), f(0.0, x - h * direction, d, u, p)
            assert np.max(np.abs((ahead - behind) / (2 * h) - derivative)) < CENTRAL * np.max(np.abs(derivative))
