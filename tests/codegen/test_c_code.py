"""The generated C: every operation, loops against straight-line code and CasADi, hundreds of random programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from helpers.chains import general_case, off_by
from helpers.programs import Writer, call, compiled, evaluate
from helpers.tolerances import LOOPS, SAME_OPERATIONS, TANGENT
from mechfmu import LinkChain
from mechfmu.codegen import c_model, loops, work_array
from mechfmu.codegen.c_text import Code, c_function
from mechfmu.codegen.operations import BINARY, TEMPLATES, UNARY
from mechfmu.codegen.program import Program
from mechfmu.codegen.recording import recording_of

pytest_plugins = ("helpers.native_fixtures",)

NEVER = 10**9


def loops_in(code: Code) -> int:
    return code.text.count("for (int j")


# --- every operation --------------------------------------------------------------------------------------------------

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 1e-300, np.inf, -np.inf])
NAMES = {getattr(casadi, f"OP_{name}"): name for name in {**UNARY, **BINARY}}
NEVER_RECORDED = ("ASSIGN", "CONSTPOW")  # CasADi drops the one at once, and makes the other only of a constant exponent


def graph_of(code: int) -> casadi.Function:
    """out[i] = operation(a[i], b[i])"""
    n = SPECIAL.size**2 + 60
    a, b = casadi.SX.sym("a", n), casadi.SX.sym("b", n)
    binary = "{1}" in TEMPLATES[code]
    out = casadi.SX.binary(code, a, b) if binary else casadi.SX.unary(code, a)
    return casadi.Function(NAMES[code], [a, b], [out], ["a", "b"], ["out"])


def test_every_operation(tmp_path: Path) -> None:
    """On special values in all combinations and on random ones, against CasADi's own evaluation."""
    graphs = {code: graph_of(code) for code in NAMES}
    for code, graph in graphs.items():
        assert code in Program.of(graph).operation or NAMES[code] in NEVER_RECORDED, NAMES[code]
    codes = {code: c_function(graph, f"op_{NAMES[code].lower()}") for code, graph in graphs.items()}
    library = compiled(list(codes.values()), tmp_path)
    random = np.random.default_rng(1)
    pairs = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    a, b = np.hstack([pairs, random.uniform(-3, 3, (2, 30)), random.uniform(0, 1, (2, 30))])
    for code, graph in graphs.items():
        wanted = np.array(graph(a, b)).ravel()
        (found,) = call(library, codes[code], [a, b], [a.size])
        assert np.array_equal(np.isnan(found), np.isnan(wanted)), NAMES[code]
        assert np.array_equal(np.isinf(found), np.isinf(wanted)), NAMES[code]
        finite = np.isfinite(wanted)
        assert found[finite] == pytest.approx(wanted[finite], rel=SAME_OPERATIONS, abs=0.0), NAMES[code]
        assert finite.sum() > 15, NAMES[code]


CONSTANTS = (0.1, -0.1, 1e300, -1e-300, 5e-324, 123456789.125, -7.0, np.inf, -np.inf, np.pi)


@pytest.mark.parametrize("value", CONSTANTS, ids=str)
def test_every_constant(tmp_path: Path, value: float) -> None:
    """As operand on either side; a negative or infinite one must not spoil the expression around it."""
    x = casadi.SX.sym("x", 2)
    constant = casadi.SX(value)
    out = casadi.vertcat(
        x[0] - constant, constant - x[0], x[0] * constant, casadi.fmax(x[1], constant), constant, -x[1] / constant
    )
    graph = casadi.Function("f", [x], [out], ["x"], ["out"])
    code = c_function(graph, "f")
    point = np.array([0.3, -2.5])
    (found,) = call(compiled([code], tmp_path), code, [point], [6])
    assert np.array_equal(found, np.array(graph(point)).ravel())


def test_tanh_is_not_computed_where_its_only_factor_is_zero(tmp_path: Path) -> None:
    x, p = casadi.SX.sym("x", 4), casadi.SX.sym("p", 3)
    t = casadi.tanh(x)
    out = casadi.vertcat(p[0] * t[0], t[0] * p[0] + 1, p[1] * t[1], p[2] * t[1], t[2] * x[3], p[1] * t[3] + t[3])
    graph = casadi.Function("f", [x, p], [out], ["x", "p"], ["out"])
    code = c_function(graph, "f")
    # p[0] is the factor of t[0] and x[3] of t[2]; the others have two factors or none
    assert code.text.count("!= 0 ? tanh(") == 2
    library = compiled([code], tmp_path)
    for point in (np.array([0.3, -2.0, 0.5, 0.7]), np.array([30.0, 0.1, 0.5, 0.0])):
        for factors in (np.array([0.0, 2.0, 0.0]), np.array([1.5, 0.0, -3.0])):
            (found,) = call(library, code, [point, factors], [6])
            assert found == pytest.approx(np.array(graph(point, factors)).ravel(), rel=SAME_OPERATIONS, abs=0.0)


def test_one_number_divides_once(tmp_path: Path) -> None:
    """By other numbers and by inputs, with the reciprocal itself among the quotients and at block boundaries."""
    a, b = casadi.SX.sym("a", 4), casadi.SX.sym("b", 2)
    norm = casadi.sqrt(a[0] ** 2 + a[1] ** 2)
    out = casadi.vertcat(a[0] / norm, 1 / norm, a[2] / b[0], a[1] / norm, a[3] / b[1], a[3] / b[0] + norm)
    graph = casadi.Function(
        "quotients", [a, b], [a[2] / b[0], norm, out], ["a", "b"], ["boundary_0", "boundary_1", "out"]
    )
    operations = Program.of(graph, 2).operation.tolist()
    assert operations.count(casadi.OP_INV) == 2 and operations.count(casadi.OP_DIV) == 1
    code = c_function(graph, "quotients", 2)
    values = [np.array([3.0, -4.0, 7.0, 0.3]), np.array([-0.7, 1.9])]
    (found,) = call(compiled([code], tmp_path), code, values, [6])
    assert found == pytest.approx(np.array(graph(*values)[2]).ravel(), rel=SAME_OPERATIONS, abs=0.0)


def test_an_unknown_operation_is_an_error_that_names_the_function() -> None:
    x = casadi.SX.sym("x")
    with pytest.raises(NotImplementedError, match=r"weird: CasADi operation .* has no C form"):
        c_function(casadi.Function("weird", [x], [casadi.erfinv(x)]), "weird")


# --- chains: loops against straight lines -----------------------------------------------------------------------------


def graphs_of(chain: LinkChain) -> dict[str, casadi.Function]:
    return {g.name(): g for g in c_model.graphs(chain)}


@pytest.mark.parametrize("base", ("fixed", "moving"))
@pytest.mark.parametrize("n", (12, 13, 31, 60))
def test_loops_compute_what_the_equations_say(
    n: int, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates, outputs and tangents as loops, against CasADi's evaluation; for the shortest chain also against C without
    loops."""
    monkeypatch.setattr(work_array, "LOOPS_FROM", 0)
    graphs = graphs_of(LinkChain(links=n, base=base))
    functions = ("rates", "outputs", "tangent")
    looped = {name: c_function(graphs[name], f"{name}_looped") for name in functions}
    assert all(loops_in(code) > 5 for code in looped.values())
    monkeypatch.setattr(work_array, "LOOPS_FROM", NEVER)
    straight = {name: c_function(graphs[name], f"{name}_straight") for name in functions if n == 12}
    assert not any(loops_in(code) for code in straight.values())
    library = compiled([*looped.values(), *straight.values()], tmp_path, "-O1" if n == 13 else "-O0")
    for seed in range(3):
        case, random = general_case(n, base, seed), np.random.default_rng(seed)
        point = [np.zeros(1), case.x, np.zeros(0), case.u, case.p]
        seeds = [np.ones(1), *(random.uniform(-1, 1, v.size) for v in (case.x, np.zeros(0), case.u, case.p))]
        for name, arguments in (("rates", point), ("outputs", point), ("tangent", [*point, *seeds])):
            sizes = [graphs[name].size1_out(i) for i in range(graphs[name].n_out())]
            found = call(library, looped[name], arguments, sizes)
            for a, b in zip(found, graphs[name].call([casadi.DM(v) for v in arguments]), strict=True):
                assert off_by(a, np.array(b).ravel()) < TANGENT, name
            for a, b in zip(found, call(library, straight[name], arguments, sizes) if straight else found, strict=True):
                assert off_by(a, b) < LOOPS, name


def test_the_code_of_a_long_chain_does_not_grow_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The purpose of the loops."""
    monkeypatch.setattr(work_array, "LOOPS_FROM", 0)
    sizes = {}
    for n in (50, 100):
        recorded = recording_of(LinkChain(links=n))
        sizes[n] = [len(c_function(graph, graph.name()).text) for graph in (recorded.rates, recorded.outputs)]
    assert sizes[100][0] < 1.1 * sizes[50][0] and sizes[100][1] < 1.1 * sizes[50][1]


@pytest.mark.slow
def test_a_very_long_chain(tmp_path: Path) -> None:
    case = general_case(400, "moving")
    graphs = graphs_of(case.chain)
    codes = {name: c_function(graphs[name], name) for name in ("rates", "outputs")}
    library = compiled(list(codes.values()), tmp_path, "-O2")
    point = [np.zeros(1), case.x, np.zeros(0), case.u, case.p]
    for name in ("rates", "outputs"):
        wanted = getattr(case.chain, name)(*case.arguments)
        (found,) = call(library, codes[name], point, [wanted.size])
        assert off_by(found, wanted) < TANGENT


# --- random graphs, recorded by CasADi -------------------------------------------------------------------------------

BINARY_OPS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    casadi.fmin,
    casadi.fmax,
    casadi.atan2,
)
UNARY_OPS: tuple[Callable[[Any], Any], ...] = (casadi.sin, casadi.tanh, lambda a: -a, casadi.fabs, casadi.cos)


def random_graph(seed: int) -> casadi.Function:
    """Repetitions over arrays as in mechanisms: forwards, backwards, carried values, lags, strides, shared scalars."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 40))
    a, b, c = casadi.SX.sym("a", 3 * n + 4), casadi.SX.sym("b", 3 * n + 4), casadi.SX.sym("c", 4)
    shared = [c[i] for i in range(4)]
    arrays: list[list[casadi.SX]] = [[a[i] for i in range(3 * n)], [b[i] for i in range(3 * n)]]
    for _ in range(int(random.integers(1, 5))):
        depth = int(random.integers(1, 4))
        carried = [
            random.choice(shared) if random.random() < 0.7 else casadi.SX(float(random.integers(1, 5)))
            for _ in range(depth)
        ]
        steps = [
            (
                int(random.integers(0, 6)),
                int(random.integers(0, len(arrays))),
                int(random.integers(0, 3)),
                int(random.choice([1, 1, 1, 2])),
                bool(random.random() < 0.3),
                int(random.integers(0, 6)),
            )
            for _ in range(int(random.integers(1, 6)))
        ]
        made = []
        for j in range(n):
            value = carried[-depth]
            for kind, which, offset, stride, backwards, op in steps:
                array = arrays[which]
                position = offset + stride * j
                position = len(array) - 1 - position if backwards else position
                constant = shared[offset] if kind == 4 else casadi.SX(0.25 * (offset + 1))
                other = array[position % len(array)] if kind < 4 else constant
                if op % 2:
                    value = UNARY_OPS[op % len(UNARY_OPS)](BINARY_OPS[op](value, other))
                else:
                    value = BINARY_OPS[op](casadi.sin(value), other)
            carried.append(value)
            made.append(value)
        arrays.append(made)
        shared.append(casadi.tanh(made[int(random.integers(0, n))]))
    results = arrays[2:]
    out = [v for array in results for v in (array[::-1] if random.random() < 0.3 else array)]
    if random.random() < 0.3:
        out = [results[-1][-1], shared[-1]]
    return casadi.Function(f"g{seed}", [a, b, c], [casadi.vertcat(*out)], ["a", "b", "c"], ["out"])


@pytest.mark.parametrize("batch", range(2))
def test_random_graphs_against_casadi(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [random_graph(1000 * batch + i) for i in range(120)]
    codes = []
    for i, graph in enumerate(graphs):
        monkeypatch.setattr(work_array, "LOOPS_FROM", 0)
        monkeypatch.setattr(work_array, "MAX_BLOCK_LENGTH", (7, 40, 2000)[i % 3])
        monkeypatch.setattr(loops, "MIN_ITERATIONS", (3, 3, 8)[i % 3])
        codes.append(c_function(graph, graph.name()))
    assert sum(loops_in(code) for code in codes) > 2 * len(codes), "most of them have loops"
    library = compiled(codes, tmp_path)
    random = np.random.default_rng(batch)
    for graph, code in zip(graphs, codes, strict=True):
        inputs = [random.uniform(-1, 1, graph.size1_in(i)) for i in range(3)]
        (found,) = call(library, code, inputs, [graph.size1_out(0)])
        wanted = np.array(graph(*inputs)).ravel()
        assert np.abs(found - wanted).max() < LOOPS * max(1.0, np.abs(wanted).max()), graph.name()


# --- random programs, instruction by instruction ---------------------------------------------------------------------


def random_program(seed: int) -> tuple[Program, int]:
    """The program, and how many elements it writes."""
    random = np.random.default_rng(seed)
    writer = Writer(random)
    periods = [int(random.integers(1, 9)) for _ in range(2)]
    for _ in range(int(random.integers(2, 6))):
        if random.random() < 0.3:
            writer.repeat(int(random.integers(1, 30)), 1)  # a stretch without repetition
        else:
            writer.repeat(
                int(random.choice(periods)) if random.random() < 0.6 else int(random.integers(1, 12)),
                int(random.integers(2, 25)),
            )
    return writer.program(), writer.written


@pytest.mark.parametrize("batch", range(2))
def test_random_programs_instruction_by_instruction(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values carried over several iterations, read backwards, read across loops of other periods, written backwards."""
    monkeypatch.setattr(Program, "of", staticmethod(lambda program, boundary_count: program))
    monkeypatch.setattr(work_array, "LOOPS_FROM", 0)
    programs = [random_program(5000 * batch + i) for i in range(150)]
    codes = []
    for i, (program, _) in enumerate(programs):
        monkeypatch.setattr(work_array, "MAX_BLOCK_LENGTH", (5, 33, 2000)[i % 3])
        monkeypatch.setattr(loops, "MIN_ITERATIONS", (2, 3, 8)[i % 3])
        codes.append(c_function(program, f"program_{i}"))  # type: ignore[arg-type]
    assert sum(loops_in(code) for code in codes) > len(codes)
    library = compiled(codes, tmp_path)
    random = np.random.default_rng(batch)
    for (program, size), code in zip(programs, codes, strict=True):
        inputs = [random.uniform(-1, 1, 600) for _ in range(2)]
        wanted = evaluate(program, inputs, size)
        assert not np.isnan(wanted).any()
        (found,) = call(library, code, inputs, [size])
        assert np.abs(found - wanted).max() <= LOOPS * max(1.0, np.abs(wanted).max()), code.name


def test_loops_are_found_where_they_are() -> None:
    """Twelve iterations of three instructions with a carried value, between others; one at either end may be missed."""
    signature = np.array([9, 8, 7, 6, *([1, 2, 3] * 12), 5, 4])
    first = np.array([0, 0, 0, 0, *(v for j in range(12) for v in (10 + j, 4 + 3 * j, 5 + 3 * j)), 0, 0])
    second = np.array([0, 0, 0, 0, *(v for j in range(12) for v in (99 - 2 * j, 3 * j + 3, 0)), 0, 0])
    numbers = np.column_stack([first, second, np.zeros_like(first)])
    (loop,) = loops.find_loops(signature, numbers)
    assert loop.period == 3 and loop.iterations >= 11
    assert loop.first >= 4 and loop.end <= 40


def test_a_repetition_with_an_irregular_operand_is_not_a_loop() -> None:
    signature = np.array([1, 2, 3] * 12)
    numbers = np.zeros((36, 3), dtype=int)
    numbers[::3, 0] = np.arange(12) ** 2
    assert loops.find_loops(signature, numbers) == []


def test_numbers_in_the_model_are_exact() -> None:
    """Start values pass through text into C and back without losing a bit."""
    for value in (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5e-17):
        assert float(c_model._number(value)) == value
    assert c_model._number(np.inf) == "INFINITY" and c_model._number(-np.inf) == "-INFINITY"
    assert c_model._string('a "quoted" \\ text') == '"a \\"quoted\\" \\\\ text"'
