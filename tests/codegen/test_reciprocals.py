"""Divisions by the same value become products with one reciprocal."""

from __future__ import annotations

from pathlib import Path

import casadi
import numpy as np

from helpers.programs import call, compiled
from mechfmu.codegen.c_text import c_function
from mechfmu.codegen.program import Program

x = casadi.SX.sym("x", 4)
U, V = x[0] + 1.0, x[1] * x[2]


def of(*results: casadi.SX) -> casadi.Function:
    return casadi.Function("shared", [x], [casadi.vertcat(*results)], ["x"], ["out"])


def count(program: Program, *operations: int) -> int:
    return int(np.isin(program.operation, operations).sum())


def test_one_reciprocal_for_each_divisor() -> None:
    program = Program.of(of(x[1] / U, x[2] / U, x[3] / V, 1.0 / U, x[3] * (1.0 / U)))
    assert count(program, casadi.OP_INV) == 1
    assert count(program, casadi.OP_DIV) == 1, "the only division by V"


def test_divisions_by_different_values_remain() -> None:
    graph = of(x[1] / U, x[3] / V, 1.0 / x[3], x[0] / x[3])
    assert count(Program.of(graph), casadi.OP_INV, casadi.OP_DIV) == 4, "arguments are not values of the program"


def test_the_results_are_the_same_to_rounding(tmp_path: Path) -> None:
    graph = of(x[1] / U, x[2] / U, x[3] / V, 1.0 / U, x[3] / U / U, casadi.sin(U) / U)
    code = c_function(graph, "shared")
    library = compiled([code], tmp_path)
    for values in np.random.default_rng(1).uniform(0.1, 5.0, (50, 4)):
        (found,) = call(library, code, [values], [6])
        wanted = np.array(graph(values)).ravel()
        assert np.all(np.abs(found - wanted) <= 3 * np.spacing(np.abs(wanted)))


def test_a_block_begins_before_its_reciprocal() -> None:
    inner, outer = x[1] / U, x[2] / U
    graph = casadi.Function("blocks", [x], [U, inner, outer, inner * outer], ["x"], ["boundary_0", "b1", "b2", "out"])
    program = Program.of(graph, boundary_count=3)
    (first,) = np.flatnonzero(program.operation == casadi.OP_INV)
    assert first in program.boundaries
