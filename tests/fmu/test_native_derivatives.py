"""Derivatives of the native FMU: directional derivatives in every mode, time derivatives of inputs and outputs, and the
declared dependencies."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence

import casadi
import fmpy
import numpy as np
import pytest

from helpers.chains import general_parameters, off_by
from helpers.native_build import Native, extra
from helpers.native_fmi import DISCARD, ERROR, MODEL_EXCHANGE, OK, Component, Fmu, integers, reals, references
from helpers.native_mechanisms import Driven
from helpers.tolerances import CENTRAL, HELD_INPUT, OUTPUT_DERIVATIVE, POLYNOMIAL_INPUT, TANGENT, TIGHTEST
from mechfmu import Exoskeleton, LinkChain
from mechfmu.codegen.recording import ARGUMENTS, recording_of
from mechfmu.model import Mechanism

pytest_plugins = ("helpers.native_fixtures",)

MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "1 link": lambda: LinkChain(links=1),
    "3 links": lambda: LinkChain(links=3),
    "2 links on a moving base": lambda: LinkChain(links=2, base="moving"),
    "with time in it": Driven,
    "hybrid": lambda: extra("bouncing_ball"),
}
every_mechanism = pytest.mark.parametrize("which", MECHANISMS)


def loaded(native: Native, which: str) -> Fmu:
    mechanism = MECHANISMS[which]()
    return Fmu(mechanism, native.binary(mechanism))


def names(fmu: Fmu, *roles: str) -> list[str]:
    """Of the Real variables with these roles."""
    return [s.name for s in fmu.mechanism.table.of(*roles) if s.row.kind == "Real"]  # type: ignore[arg-type]


def start_values(fmu: Fmu, seed: int) -> dict[str, float]:
    """Parameters and inputs in general position."""
    random, mechanism = np.random.default_rng(seed), fmu.mechanism
    values = general_parameters(mechanism, seed) if isinstance(mechanism, LinkChain) else {}
    values |= {name: float(random.uniform(-3.0, 3.0)) for name in names(fmu, "input")}
    return values


def in_mode(fmu: Fmu, mode: str, seed: int) -> Component:
    """An instance in general position in that mode."""
    instance = fmu.open() if mode == "stepping" else fmu.open(MODEL_EXCHANGE)
    start = start_values(fmu, seed)
    if mode == "initialization":
        instance.enter(start, t=0.3)
        instance[names(fmu, "derivative")[0]]  # reading computes the start state, which is otherwise done when needed
        return instance
    if mode == "event":
        return instance.initialize(start, t=0.3)
    if mode == "continuous":
        instance.continuous(start, t=0.3)
        instance.do("fmi2SetTime", 0.3)
        instance.set_states(np.random.default_rng(seed + 7).uniform(0.1, 1.0, fmu.mechanism.table.x.size))
        return instance
    instance.initialize(start, t=0.3).step(0.05)
    return instance


MODES = ("initialization", "event", "continuous", "stepping")
every_mode = pytest.mark.parametrize("mode", MODES)


def knowns_of(fmu: Fmu, mode: str) -> list[str]:
    knowns = names(fmu, "parameter", "input") if mode == "initialization" else names(fmu, "state", "input")
    return [k for k in knowns if not k.startswith("solver.")]


def unknowns_of(fmu: Fmu, mode: str) -> list[str]:
    return names(fmu, "output", "derivative", *(["state"] if mode == "initialization" else []))


def jacobian_by_casadi(instance: Component, mode: str, unknowns: Sequence[str], knowns: Sequence[str]) -> np.ndarray:
    """The whole matrix, from the recorded graphs, at the point where the instance is."""
    mechanism = instance.fmu.mechanism
    table, graphs = mechanism.table, recording_of(mechanism)
    symbols = graphs.symbols
    point = [symbols[a] for a in ARGUMENTS]
    if mode == "initialization":
        x, d = graphs.initial.call(point)
        point = [symbols["t"], x, d, symbols["u"], symbols["p"]]
    values = {"output": graphs.outputs.call(point)[0], "derivative": graphs.rates.call(point)[0], "state": point[1]}
    argument = {"parameter": "p", "input": "u", "state": "x"}
    rows = casadi.vertcat(*(values[table.by_name[n].role][table.by_name[n].index] for n in unknowns))
    columns = [symbols[argument[table.by_name[n].role]][table.by_name[n].index] for n in knowns]
    at = [[instance.t], *(value_vector(instance, role) for role in ("state", "discrete", "input", "parameter"))]
    blocks = {
        a: casadi.Function("J", [symbols[b] for b in ARGUMENTS], [casadi.jacobian(rows, symbols[a])])
        for a in argument.values()
    }
    numbers = {a: np.array(casadi.DM(block(*at))).reshape(len(unknowns), -1) for a, block in blocks.items()}
    found = [numbers[argument[table.by_name[n].role]][:, table.by_name[n].index] for n in knowns]
    assert len(columns) == len(found)
    return np.column_stack(found)


def value_vector(instance: Component, role: str) -> np.ndarray:
    scalars = sorted(instance.fmu.mechanism.table.of(role), key=lambda s: s.index)  # type: ignore[arg-type]
    kinds = {"Real": "fmi2GetReal", "Boolean": "fmi2GetBoolean"}
    found = []
    for s in scalars:
        value = reals([0]) if s.row.kind == "Real" else integers([0])
        instance.do(kinds.get(s.row.kind, "fmi2GetInteger"), references(instance.refs([s.name])), 1, value)
        found.append(float(value[0]))
    return np.array(found)


def jacobian_of(instance: Component, unknowns: Sequence[str], knowns: Sequence[str]) -> np.ndarray:
    """Column by column from the FMU."""
    return np.column_stack([instance.directional(unknowns, {k: 1.0}) for k in knowns])


# --- directional derivatives ------------------------------------------------------------------------------------------


@every_mechanism
@every_mode
@pytest.mark.parametrize("seed", range(3))
def test_directional_derivatives_are_those_of_casadi(native: Native, which: str, mode: str, seed: int) -> None:
    """Every unknown along every known."""
    fmu = loaded(native, which)
    instance = in_mode(fmu, mode, seed)
    unknowns, knowns = unknowns_of(fmu, mode), knowns_of(fmu, mode)
    wanted = jacobian_by_casadi(instance, mode, unknowns, knowns)
    assert off_by(jacobian_of(instance, unknowns, knowns), wanted) < TANGENT
    assert np.count_nonzero(wanted) > 0


def test_derivatives_along_start_parameters_see_the_discrete_state_move(native: Native) -> None:
    """The anchors of pinned feet move with the start parameters, and the rates draw the feet to them."""
    mechanism = Exoskeleton.three_link(contact="pinned")
    instance = Fmu(mechanism, native.binary(mechanism)).open(MODEL_EXCHANGE).enter({})
    unknowns = names(instance.fmu, "output", "derivative")
    knowns = [k for k in names(instance.fmu, "parameter") if k.endswith("_start")]
    wanted = jacobian_by_casadi(instance, "initialization", unknowns, knowns)
    assert off_by(jacobian_of(instance, unknowns, knowns), wanted) < TANGENT


@every_mechanism
@pytest.mark.parametrize("mode", ("initialization", "event", "continuous"))
def test_directional_derivatives_are_differences(native: Native, which: str, mode: str) -> None:
    """The FMU against itself: knowns moved a little to both sides, along random directions."""
    fmu = loaded(native, which)
    instance = in_mode(fmu, mode, seed=11)
    unknowns, knowns = unknowns_of(fmu, mode), knowns_of(fmu, mode)
    random, step = np.random.default_rng(5), 1e-5
    if mode == "event":
        knowns = [k for k in knowns if k not in names(fmu, "state")]  # for Continuous-Time Mode
    point = dict(zip(knowns, instance.get(*knowns), strict=True))

    def values(moved: dict[str, float]) -> np.ndarray:
        states = names(fmu, "state")
        if set(states) <= set(moved):
            ordered = sorted(fmu.mechanism.table.of("state"), key=lambda s: s.index)
            instance.set_states([moved[s.name] for s in ordered])
        instance.set({k: v for k, v in moved.items() if k not in states})
        return instance.get(*unknowns)

    for _ in range(4):
        direction = dict(zip(knowns, random.uniform(-1.0, 1.0, len(knowns)), strict=True))
        up, down = (values({k: v + side * step * direction[k] for k, v in point.items()}) for side in (1, -1))
        values(point)
        found = instance.directional(unknowns, direction)
        assert off_by(found, (up - down) / (2 * step)) < CENTRAL


@every_mechanism
@every_mode
def test_directional_derivatives_are_linear_in_the_seed(native: Native, which: str, mode: str) -> None:
    """A known that is listed twice counts twice; a zero seed gives zero; unknowns can be in any order."""
    fmu = loaded(native, which)
    instance = in_mode(fmu, mode, seed=2)
    unknowns, knowns = unknowns_of(fmu, mode), knowns_of(fmu, mode)
    matrix = jacobian_of(instance, unknowns, knowns)
    seed = np.random.default_rng(1).uniform(-2, 2, len(knowns))
    whole = instance.directional(unknowns, dict(zip(knowns, seed, strict=True)))
    assert off_by(whole, matrix @ seed) < TANGENT
    assert not instance.directional(unknowns, {knowns[-1]: 0.0}).any()
    assert np.array_equal(instance.directional(unknowns[::-1], {knowns[-1]: 1.0}), matrix[::-1, -1])
    twice, values = references(instance.refs([knowns[-1]] * 2)), reals([np.nan] * len(unknowns))
    arrays = references(instance.refs(unknowns)), len(unknowns), twice, 2
    instance.do("fmi2GetDirectionalDerivative", *arrays, reals([1.5, 0.5]), values)
    assert np.array(values[: len(unknowns)]) == pytest.approx(2 * matrix[:, -1], rel=TANGENT, abs=1e-300)


@every_mode
def test_derivatives_do_not_change_the_instance(native: Native, mode: str) -> None:
    fmu = loaded(native, "2 links on a moving base")
    instance = in_mode(fmu, mode, seed=3)
    everything = names(fmu, "parameter", "input", "state", "output", "derivative")
    before, state = instance.get(*everything), instance.bytes()
    jacobian_of(instance, unknowns_of(fmu, mode), knowns_of(fmu, mode))
    assert np.array_equal(instance.get(*everything), before)
    assert instance.bytes() == state


@pytest.mark.parametrize(
    ("mode", "unknown", "known", "text"),
    (
        ("continuous", "tip.x", "link[1].mass", r"link\[1\].mass is not a known"),
        ("stepping", "tip.x", "link[1].mass", r"link\[1\].mass is not a known"),
        ("initialization", "tip.x", "joint[1].angle", r"joint\[1\].angle is not a known"),
        ("continuous", "tip.x", "tip.y", "tip.y is not a known"),
        ("continuous", "gravity", "joint[1].torque", "gravity is not an unknown"),
        ("continuous", "tip.x", "solver.method", "solver.method is of type Integer"),
    ),
)
def test_what_cannot_be_differentiated_is_refused(
    native: Native, mode: str, unknown: str, known: str, text: str
) -> None:
    instance = in_mode(loaded(native, "3 links"), mode, seed=0)
    before = instance.bytes()
    arrays = references(instance.refs([unknown])), 1, references(instance.refs([known])), 1
    status = instance("fmi2GetDirectionalDerivative", *arrays, reals([1.0]), reals([0.0]))
    assert status == ERROR
    assert re.search(text, instance.said)
    assert instance.bytes() == before


# --- dependencies -----------------------------------------------------------------------------------------------------


AT_REST = "der(energy.input)"
"""A moving base that is at rest at the start does no work there, whatever the forces on it depend on."""


def declared(fmu: Fmu, native: Native, part: str) -> dict[str, set[str]]:
    description = fmpy.read_model_description(str(native.fmu(fmu.mechanism)))
    running = [*description.outputs, *description.derivatives]
    unknowns = {"running": running, "initial": description.initialUnknowns}[part]
    return {u.variable.name: {v.name for v in u.dependencies} for u in unknowns}


def influences(instance: Component, known: str, unknowns: Sequence[str]) -> set[str]:
    """The unknowns that change when the known does."""
    before, at = instance.get(*unknowns), instance[known]

    def put(value: float) -> None:
        instance.set({known: value})

    put(at + 0.123)
    after = instance.get(*unknowns)
    put(at)
    assert np.array_equal(instance.get(*unknowns), before)
    return {u for u, a, b in zip(unknowns, before, after, strict=True) if a != b}


@every_mechanism
@pytest.mark.parametrize("part", ("running", "initial"))
def test_declared_dependencies_are_the_true_ones(native: Native, which: str, part: str) -> None:
    """Only declared dependencies exist, and each declared one shows at one of several points."""
    fmu = loaded(native, which)
    wanted = declared(fmu, native, part)
    mode = "continuous" if part == "running" else "initialization"
    unknowns = [u for u in wanted if fmu.mechanism.table.by_name[u].row.kind == "Real"]
    knowns = knowns_of(fmu, mode)
    found: dict[str, set[str]] = {u: set() for u in unknowns}
    for seed in (0, 1):
        instance = in_mode(fmu, mode, seed)
        for known in knowns:
            for unknown in influences(instance, known, unknowns):
                found[unknown].add(known)
    for unknown in unknowns:
        expected = wanted[unknown] & set(knowns)
        assert found[unknown] <= expected, unknown
        if not (isinstance(fmu.mechanism, LinkChain) and fmu.mechanism.moving and unknown == AT_REST):
            assert found[unknown] == expected, unknown
        assert not any(k.startswith("solver.") for k in wanted[unknown])


# --- inputs that are polynomials within a step ------------------------------------------------------------------------

TORQUE = "joint[1].torque"


def set_input_derivatives(instance: Component, name: str, by_order: dict[int, float]) -> int:
    refs = references(instance.refs([name] * len(by_order)))
    return instance("fmi2SetRealInputDerivatives", refs, len(by_order), integers(by_order), reals(by_order.values()))


@pytest.fixture(scope="module")
def rod(native: Native) -> Fmu:
    return Fmu(LinkChain(links=1), native.binary(LinkChain(links=1)))


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=3), native.binary(LinkChain(links=3)))


@pytest.mark.parametrize("method", (1, 2, 3), ids=("explicit", "implicit", "automatic"))
@pytest.mark.parametrize(
    "coefficients", ((0.7,), (0.0, 1.3), (0.2, -0.5, 2.0), (1.0, 0.5, -1.5, 4.0)), ids=lambda c: f"degree {len(c) - 1}"
)
def test_a_free_rod_under_a_polynomial_torque(rod: Fmu, coefficients: tuple[float, ...], method: int) -> None:
    """Without gravity the angle is the double integral of the torque over the inertia."""
    instance = rod.open()
    instance.set_integer({"solver.method": method})
    instance.initialize(
        {"gravity": 0.0, "joint[1].angle_start": 0.3, "joint[1].rate_start": -0.2, TORQUE: coefficients[0]}, TIGHTEST
    )
    inertia = instance["link[1].inertia"] + instance["link[1].mass"] * instance["link[1].com"] ** 2
    if len(coefficients) > 1:
        assert set_input_derivatives(instance, TORQUE, dict(enumerate(coefficients[1:], start=1))) == OK
    h = 0.8
    instance.step(h)
    # torque = sum of c_i h^i / i!, twice integrated
    factorial = np.cumprod([1.0, *range(1, 8)])
    rate = -0.2 + sum(c * h ** (i + 1) / factorial[i + 1] for i, c in enumerate(coefficients)) / inertia
    angle = 0.3 - 0.2 * h + sum(c * h ** (i + 2) / factorial[i + 2] for i, c in enumerate(coefficients)) / inertia
    torque = sum(c * h**i / factorial[i] for i, c in enumerate(coefficients))
    assert instance["joint[1].angle"] == pytest.approx(angle, abs=POLYNOMIAL_INPUT)
    assert instance["joint[1].rate"] == pytest.approx(rate, abs=POLYNOMIAL_INPUT)
    assert instance[TORQUE] == pytest.approx(torque, abs=POLYNOMIAL_INPUT), "the input is where the polynomial took it"
    assert instance["joint[1].acceleration"] == pytest.approx(torque / inertia, rel=POLYNOMIAL_INPUT)


def test_derivatives_hold_for_one_step_only(rod: Fmu) -> None:
    """After it the input stays where it is, unless it is set again."""
    instance = rod.open().initialize({"gravity": 0.0, "joint[1].angle_start": 0.0, TORQUE: 1.0}, TIGHTEST)
    inertia = instance["link[1].inertia"] + instance["link[1].mass"] * instance["link[1].com"] ** 2
    set_input_derivatives(instance, TORQUE, {1: 2.0})
    instance.step(0.5)
    rate = instance["joint[1].rate"]
    assert instance[TORQUE] == pytest.approx(2.0, abs=POLYNOMIAL_INPUT)
    instance.step(0.5)
    assert instance[TORQUE] == pytest.approx(2.0, abs=POLYNOMIAL_INPUT)
    assert instance["joint[1].rate"] - rate == pytest.approx(2.0 * 0.5 / inertia, abs=POLYNOMIAL_INPUT)


def test_a_reset_forgets_input_derivatives(rod: Fmu) -> None:
    """Set before initialization, as the state table allows, they are for the first step; a reset forgets them."""
    start = {"gravity": 0.0, "joint[1].angle_start": 0.0}
    used, fresh = rod.open(), rod.open()
    assert set_input_derivatives(used, TORQUE, {1: 5.0}) == OK
    used.do("fmi2Reset")
    for instance in (used, fresh):
        instance.initialize(start).step(0.1)
    assert used.bytes() == fresh.bytes()
    early = rod.open()
    assert set_input_derivatives(early, TORQUE, {1: 5.0}) == OK
    early.initialize(start).step(0.1)
    assert early["joint[1].rate"] > 0


@pytest.mark.parametrize("method", (1, 2), ids=("explicit", "implicit"))
def test_one_step_with_a_polynomial_is_many_with_held_torques(chain: Fmu, method: int) -> None:
    """A chain under gravity has no closed form: the reference has the torque in 2,000 pieces, held at their mean."""
    start = {"joint[1].angle_start": -0.5, "joint[2].damping": 0.1}
    derivatives, h, count = {1: 3.0, 2: -20.0, 3: 60.0}, 0.4, 2000

    def torque(t: float) -> float:
        return 0.5 + 3.0 * t - 10.0 * t**2 + 10.0 * t**3

    smooth, held = chain.open(), chain.open()
    for instance in (smooth, held):
        instance.set_integer({"solver.method": method})
        instance.initialize(start | {TORQUE: 0.5}, 1e-9)
    set_input_derivatives(smooth, TORQUE, derivatives)
    smooth.step(h)
    for i in range(count):
        held.set({TORQUE: torque((i + 0.5) * h / count)})
        held.step(h / count)
    angles = [f"joint[{k}].angle" for k in (1, 2, 3)]
    assert smooth.get(*angles) == pytest.approx(held.get(*angles), abs=HELD_INPUT)
    assert smooth["energy.input"] == pytest.approx(held["energy.input"], abs=HELD_INPUT)
    without = chain.open().initialize(start | {TORQUE: 0.5}, 1e-9)
    without.step(h)
    assert np.abs(without.get(*angles) - smooth.get(*angles)).max() > 100 * HELD_INPUT, "the derivatives mattered"


@pytest.mark.parametrize("pieces", (1, 4, 25))
def test_a_polynomial_in_pieces_is_the_same_polynomial(rod: Fmu, pieces: int) -> None:
    """A host that sends the derivatives anew at every step sees the same motion for any step size."""
    instance = rod.open().initialize({TORQUE: 1.0}, TIGHTEST)
    h = 0.5 / pieces
    for i in range(pieces):
        t = i * h
        instance.set({TORQUE: 1.0 + 2.0 * t - 4.0 * t**2 + 3.0 * t**3})
        set_input_derivatives(instance, TORQUE, {1: 2.0 - 8.0 * t + 9.0 * t**2, 2: -8.0 + 18.0 * t, 3: 18.0})
        instance.step(h)
    whole = rod.open().initialize({TORQUE: 1.0}, TIGHTEST)
    set_input_derivatives(whole, TORQUE, {1: 2.0, 2: -8.0, 3: 18.0})
    whole.step(0.5)
    assert instance["joint[1].angle"] == pytest.approx(whole["joint[1].angle"], abs=POLYNOMIAL_INPUT)


@pytest.mark.parametrize(
    ("name", "order", "value", "text"),
    (
        (TORQUE, 0, 1.0, "order must be from 1 to 3"),
        (TORQUE, 4, 1.0, "order must be from 1 to 3"),
        (TORQUE, -1, 1.0, "order must be from 1 to 3"),
        (TORQUE, 1, float("nan"), "finite"),
        (TORQUE, 2, float("inf"), "finite"),
        ("gravity", 1, 1.0, "gravity is not an input"),
        ("joint[1].angle", 1, 1.0, "not an input"),
        ("solver.method", 1, 1.0, "Integer"),
    ),
)
def test_bad_input_derivatives_are_refused(rod: Fmu, name: str, order: int, value: float, text: str) -> None:
    """All or nothing: a good one beside a bad one is not taken either."""
    instance = rod.open().initialize()
    before = instance.bytes()
    refs, orders, values = references(instance.refs([TORQUE, name])), integers([1, order]), reals([5.0, value])
    assert instance("fmi2SetRealInputDerivatives", refs, 2, orders, values) == ERROR
    assert text in instance.said
    assert instance.bytes() == before


# --- derivatives of outputs over time ---------------------------------------------------------------------------------


def output_derivatives(instance: Component, outputs: Sequence[str]) -> np.ndarray:
    values = reals([np.nan] * len(outputs))
    orders = integers([1] * len(outputs))
    instance.do("fmi2GetRealOutputDerivatives", references(instance.refs(outputs)), len(outputs), orders, values)
    return np.array(values[: len(outputs)])


@pytest.mark.parametrize("which", ("3 links", "2 links on a moving base", "with time in it"))
@pytest.mark.parametrize("slope", (0.0, 3.0), ids=("held input", "input on a ramp"))
def test_output_derivatives_are_differences(native: Native, which: str, slope: float) -> None:
    """Around the end of a step, with the inputs going on as they did in it."""
    fmu, h = loaded(native, which), 1e-4
    inputs, outputs = names(fmu, "input"), names(fmu, "state", "output")
    instance = fmu.open().initialize(start_values(fmu, seed=4), TIGHTEST)

    def go(step: float) -> np.ndarray:
        for name in inputs if slope else ():
            set_input_derivatives(instance, name, {1: slope})
        instance.step(step)
        return instance.get(*outputs)

    before = go(0.02)
    go(h)
    found = output_derivatives(instance, outputs)
    after = go(h)
    wanted = (after - before) / (2 * h)
    assert off_by(found, wanted) < OUTPUT_DERIVATIVE
    assert np.abs(wanted).max() > 0.1


def test_derivatives_of_states_are_the_rates(chain: Fmu) -> None:
    instance = chain.open().initialize({TORQUE: 1.0})
    instance.step(0.1)
    states = names(chain, "state")
    assert np.array_equal(output_derivatives(instance, states), instance.get(*(f"der({s})" for s in states)))


@pytest.mark.parametrize(
    ("name", "order", "text"),
    (("tip.x", 2, "only order 1"), ("tip.x", 0, "only order 1"), ("gravity", 1, "not an output")),
)
def test_output_derivatives_that_are_not_supported(chain: Fmu, name: str, order: int, text: str) -> None:
    instance = chain.open().initialize()
    refs, orders, values = references(instance.refs([name])), integers([order]), reals([0.0])
    assert instance("fmi2GetRealOutputDerivatives", refs, 1, orders, values) == ERROR
    assert text in instance.said


# --- status -----------------------------------------------------------------------------------------------------------


def test_status_after_a_discarded_step(chain: Fmu) -> None:
    """The instance is unchanged, reports the last successful time, and can make a smaller step."""
    instance = chain.open()
    instance.set_integer({"solver.method": 1})
    instance.initialize(
        {"joint[2].stiffness": 1e8, "link[2].inertia": 1e-6, "link[2].mass": 1e-3, "joint[2].angle_start": 0.1}
    )
    instance.step(1e-3)
    before = instance.bytes()
    assert instance("fmi2DoStep", 1e-3, 100.0, 1) == DISCARD
    assert "stopped at t = " in instance.said and "200000 evaluations of the equations were not enough" in instance.said
    assert instance.bytes() == before
    time, ended, status = reals([-1.0]), integers([7]), integers([7])
    instance.do("fmi2GetRealStatus", 2, time)
    instance.do("fmi2GetBooleanStatus", 3, ended)
    assert time[0] == 1e-3 and ended[0] == 0
    assert instance("fmi2GetStatus", 0, status) == OK
    instance.step(1e-3)


@pytest.mark.parametrize(
    ("function", "kind"),
    [("fmi2GetStatus", k) for k in (1, 2, 3, 9)]
    + [("fmi2GetRealStatus", k) for k in (0, 1, 3)]
    + [("fmi2GetIntegerStatus", k) for k in range(4)]
    + [("fmi2GetBooleanStatus", k) for k in (0, 1, 2)]
    + [("fmi2GetStringStatus", k) for k in range(4)],
)
def test_a_status_that_does_not_exist(chain: Fmu, function: str, kind: int) -> None:
    """Steps are never pending, so they have no such status."""
    instance = chain.open().initialize()
    place = {"fmi2GetRealStatus": reals([0.0]), "fmi2GetStringStatus": (ctypes.c_char_p * 1)()}.get(
        function, integers([0])
    )
    assert instance(function, kind, place) in (DISCARD, ERROR)
    assert instance.said
