"""Wittenburg's method against golden data, against the method of separate bodies, and against the laws it must obey."""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
from typing import Any

import casadi
import numpy as np
import pytest

from helpers.chains import off_by
from helpers.paths import GOLDEN_DATA
from helpers.tolerances import ENGINES, GOLDEN, IDENTITY, OTHER_CODE
from helpers.trees import (
    ROTATIONAL,
    TreeState,
    golden_tree,
    matrix,
    parameters,
    random_state,
    random_tree,
    separate_bodies,
)
from mechfmu.codegen.recording import has_nan, numpy_mode
from mechfmu.mechanisms.spherical_arm import wittenburg
from mechfmu.mechanisms.spherical_arm.wittenburg import (
    AT_REST,
    Base,
    Equations,
    Graph,
    JointLoads,
    equations,
    graph,
    joint_loads,
)
from mechfmu.multibody.frames import Bodies
from mechfmu.multibody.rotations import from_quaternion
from mechfmu.multibody.tree import Body, BodyTree, Joint, TreeError

ARM = json.loads((GOLDEN_DATA / "spherical_arm_7dof.json").read_text())["variants"]
TREES = {tree["name"]: tree for tree in json.loads((GOLDEN_DATA / "random_trees.json").read_text())["trees"]}
ARM_STATES = [(name, i) for name, variant in ARM.items() for i in range(len(variant["states"]))]
TREE_STATES = [(name, i) for name, tree in TREES.items() for i in range(len(tree["cases"]))]
SEEDS = range(20)


@dataclasses.dataclass
class Solution:
    graph: Graph
    eq: Equations
    qdd: np.ndarray
    loads: JointLoads

    def on_children(self, moments: np.ndarray) -> np.ndarray:
        """Force and one kind of moment, as the children of the joints receive them."""
        return np.diag(self.graph.S)[:, np.newaxis] * np.concatenate([self.loads.X, moments], axis=1)


def solve(
    tree: BodyTree, state: TreeState, reversed_arcs: list[str] | tuple[str, ...] = (), module: Any = wittenburg
) -> Solution:
    g = module.graph(tree, reversed_arcs)
    eq = module.equations(g, parameters(tree), state.q, state.v, state.tau, state.gravity, state.base, state.loads)
    qdd = np.linalg.solve(eq.A, eq.B)
    return Solution(g, eq, qdd, module.joint_loads(g, eq, qdd))


def golden_state(data: dict, tau: str = "tau") -> TreeState:
    return TreeState(*(np.array(data[key]) for key in ("q", "v", tau)), AT_REST, {}, np.array([0.0, 0.0, -9.81]))


def random_case(seed: int, bodies: int = 9) -> tuple[BodyTree, TreeState, list[str]]:
    """Every kind of joint, branches, random directions of the arcs, loads, a base that moves in all ways."""
    random = np.random.default_rng(seed)
    kinds = [*ROTATIONAL, *random.choice(ROTATIONAL, bodies - len(ROTATIONAL))]
    tree = random_tree(random, [str(k) for k in random.permutation(kinds)], coordinate_axes=bool(seed % 2))
    return tree, random_state(random, tree), [joint.name for joint in tree.joints if random.random() < 0.5]


# --- golden data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reversed_arcs", ((), ("joint 2",), ("joint 1", "joint 3")), ids=("outwards", "second reversed", "others reversed")
)
@pytest.mark.parametrize(("variant", "i"), ARM_STATES)
def test_the_arm(variant: str, i: int, reversed_arcs: tuple[str, ...]) -> None:
    data = ARM[variant]["states"][i]
    found = solve(golden_tree(ARM[variant]["model"]), golden_state(data), reversed_arcs)
    assert off_by(found.eq.A, data["mass_matrix"]) < GOLDEN
    assert off_by(found.eq.B, data["rhs_B"]) < GOLDEN
    assert off_by(found.qdd, data["qdd"]) < GOLDEN
    assert off_by(found.on_children(found.loads.Y + found.loads.Y_c), data["joint_wrench"]) < GOLDEN
    assert off_by(found.on_children(found.loads.Y_c), data["constraint_wrench"]) < GOLDEN


@pytest.mark.parametrize("reversed_arcs", ((), ("joint 2",)), ids=("outwards", "second reversed"))
@pytest.mark.parametrize(("variant", "i"), ARM_STATES)
def test_the_arm_with_quaternions(variant: str, i: int, reversed_arcs: tuple[str, ...]) -> None:
    data = ARM[variant]["states"][i]
    found = solve(
        golden_tree(ARM[variant]["model"], quaternions=True), golden_state(data["quaternion_form"]), reversed_arcs
    )
    assert off_by(found.eq.A, data["quaternion_form"]["mass_matrix"]) < GOLDEN
    assert off_by(found.qdd, data["quaternion_form"]["vdot"]) < GOLDEN
    assert off_by(found.on_children(found.loads.Y + found.loads.Y_c), data["joint_wrench"]) < GOLDEN


@pytest.mark.parametrize(("name", "i"), TREE_STATES)
def test_golden_trees(name: str, i: int) -> None:
    data = TREES[name]["cases"][i]
    found = solve(golden_tree(TREES[name]["model"]), golden_state(data, "tau_total"), ["joint 2", "joint 4"])
    assert off_by(found.eq.A, data["mass_matrix"]) < GOLDEN
    assert off_by(found.eq.B, data["rhs_B"]) < GOLDEN
    assert off_by(found.qdd, data["vdot"]) < GOLDEN
    assert off_by(found.on_children(found.loads.Y + found.loads.Y_c), data["joint_wrench"]) < GOLDEN
    assert off_by(found.on_children(found.loads.Y_c), data["constraint_wrench"]) < GOLDEN


# --- the method of separate bodies ------------------------------------------------------------------------------------


def assert_same_as_separate_bodies(tree: BodyTree, state: TreeState, reversed_arcs: list[str]) -> None:
    wanted, found = separate_bodies(tree, state), solve(tree, state, reversed_arcs)
    assert off_by(found.qdd, wanted.vdot) < OTHER_CODE
    assert off_by(found.loads.omegad, wanted.omegad) < OTHER_CODE
    wrench = found.on_children(found.loads.Y + found.loads.Y_c)
    assert off_by(wrench[:, :3], wanted.force) < OTHER_CODE
    assert off_by(wrench[:, 3:], wanted.moment) < OTHER_CODE


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees_agree_with_separate_bodies(seed: int) -> None:
    assert_same_as_separate_bodies(*random_case(seed))


@pytest.mark.parametrize("backwards", (False, True), ids=("outwards", "reversed"))
@pytest.mark.parametrize("parents", ((0, 1, 2), (0, 0, 0), (0, 1, 1)), ids=("chain", "star", "fork"))
@pytest.mark.parametrize("kind", ROTATIONAL)
def test_every_kind_of_joint_agrees_with_separate_bodies(kind: str, parents: tuple[int, ...], backwards: bool) -> None:
    random = np.random.default_rng(7)
    tree = random_tree(random, [kind] * 3, parents)
    assert_same_as_separate_bodies(tree, random_state(random, tree), [joint.name for joint in tree.joints if backwards])


def test_a_body_without_mass_between_others() -> None:
    random = np.random.default_rng(5)
    tree = random_tree(random, ["revolute", "spherical", "universal"], (0, 1, 2))
    first, second, third = tree.bodies
    tree = dataclasses.replace(tree, bodies=(first, Body(second.name), third))
    tree.check()
    assert_same_as_separate_bodies(tree, random_state(random, tree), ["j2"])


# --- the graph --------------------------------------------------------------------------------------------------------


def test_the_matrices_of_the_example_in_the_docstring() -> None:
    joints = [Joint(f"j{k}", "revolute", f"b{k}", parent) for k, parent in ((1, ""), (2, "b1"), (3, "b1"), (4, "b3"))]
    found = graph(BodyTree("example", tuple(Body(f"b{k}", 1.0) for k in range(1, 5)), tuple(joints)), ["j3"])
    assert found.S_0.tolist() == [1, 0, 0, 0]
    assert found.S.tolist() == [[-1, 1, -1, 0], [0, -1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]]
    assert found.T.tolist() == [[-1, -1, -1, -1], [0, -1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]]
    assert [found.before(i) for i in range(4)] == [[], [0], [0], [0, 2]]
    assert [found.after(i) for i in range(4)] == [[1, 2, 3], [], [3], []]


@pytest.mark.parametrize("seed", SEEDS)
def test_incidence_and_paths_are_inverse(seed: int) -> None:
    tree, _, reversed_arcs = random_case(seed, bodies=15)
    found = graph(tree, reversed_arcs)
    assert np.array_equal(found.T @ found.S, np.eye(15))
    assert np.array_equal(found.S_0 @ found.T, -np.ones(15))
    for a, (arc, joint) in enumerate(zip(found.arcs, tree.joints, strict=True)):
        assert (arc.start, arc.end) == ((a, found.parent[a]) if joint.name in reversed_arcs else (found.parent[a], a))


@pytest.mark.parametrize("kind", ("fixed", "prismatic", "cylindrical", "planar", "free", "unheard_of"))
def test_other_joints_are_rejected_by_name(kind: str) -> None:
    tree = BodyTree("other", (Body("b", 1.0),), (Joint("the odd joint", kind, "b"),))
    with pytest.raises(TreeError, match=rf"^joint the odd joint: .*not for {kind}$"):
        graph(tree)


def test_only_joints_that_exist_can_be_reversed() -> None:
    with pytest.raises(TreeError, match=r"^joint j9: .*no such joint"):
        graph(BodyTree("one", (Body("b1", 1.0),), (Joint("j1", "revolute", "b1"),)), ["j1", "j9"])


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mass_matrix_is_symmetric_positive_definite_and_holds_the_kinetic_energy(seed: int) -> None:
    tree, state, reversed_arcs = random_case(seed)
    found = solve(tree, state, reversed_arcs)
    A = found.eq.A
    assert off_by(A, A.T) < IDENTITY
    assert np.linalg.eigvalsh(A).min() > 0
    # of the motion relative to the base: the velocities are the accelerations at rest if the rates are taken for them
    at_rest = dataclasses.replace(state, v=0 * state.v, base=dataclasses.replace(AT_REST, A_0=state.base.A_0))
    rates = solve(tree, at_rest)
    moved = joint_loads(rates.graph, rates.eq, state.v)
    J = [R @ matrix(body.inertia) @ R.T for R, body in zip(rates.eq.rotation, tree.bodies, strict=True)]
    energy = (
        sum(b.mass * u @ u + w @ Ji @ w for b, u, w, Ji in zip(tree.bodies, moved.rdd, moved.omegad, J, strict=True))
        / 2
    )
    assert state.v @ A @ state.v / 2 == pytest.approx(energy, rel=IDENTITY)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_directions_of_the_arcs_do_not_matter(seed: int) -> None:
    tree, state, reversed_arcs = random_case(seed)
    outwards, mixed = solve(tree, state), solve(tree, state, reversed_arcs)
    assert off_by(mixed.eq.A, outwards.eq.A) < IDENTITY
    assert off_by(mixed.eq.B, outwards.eq.B) < IDENTITY
    for part in ("Y", "Y_c"):
        assert (
            off_by(mixed.on_children(getattr(mixed.loads, part)), outwards.on_children(getattr(outwards.loads, part)))
            < IDENTITY
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_obeys_newton_and_euler(seed: int) -> None:
    """The loads of the joints, put on each body by itself, with the bodies' plain masses and inertias."""
    tree, state, reversed_arcs = random_case(seed)
    found = solve(tree, state, reversed_arcs)
    S, loads, none = found.graph.S, found.loads, (np.zeros(3), np.zeros(3))
    for i, body in enumerate(tree.bodies):
        R, w = found.eq.rotation[i], found.eq.omega[i]
        J = R @ matrix(body.inertia) @ R.T
        F, M = state.loads.get(i, none)
        force, moment = body.mass * state.gravity + F, M
        for a in np.flatnonzero(S[i]):
            point = np.zeros(3) if a == i else np.array(tree.joints[a].position)
            force = force + S[i, a] * loads.X[a]
            moment = (
                moment + S[i, a] * (loads.Y + loads.Y_c)[a] + np.cross(R @ (point - body.com), S[i, a] * loads.X[a])
            )
        scale = np.abs(loads.X).max()
        assert np.max(np.abs(force - body.mass * loads.rdd[i])) < IDENTITY * scale
        assert np.max(np.abs(moment - J @ loads.omegad[i] - np.cross(w, J @ w))) < IDENTITY * scale


@pytest.mark.parametrize("seed", SEEDS)
def test_drives_and_constraints_share_the_moment(seed: int) -> None:
    """The drive does tau = -p.Y, within the space of its axes; the constraint does no work."""
    tree, state, reversed_arcs = random_case(seed)
    found = solve(tree, state, reversed_arcs)
    scale = np.abs(found.loads.Y + found.loads.Y_c).max()
    for a, arc in enumerate(found.graph.arcs):
        p = found.eq.p[a]
        assert off_by(-p @ found.loads.Y[a], state.tau[arc.v]) < IDENTITY
        assert np.max(np.abs(p @ found.loads.Y_c[a])) < IDENTITY * scale
        if len(p) < 3:
            assert np.max(np.abs(found.loads.Y[a] - p.T @ (p @ found.loads.Y[a]))) < IDENTITY * scale


@pytest.mark.parametrize("angle", (1e-2, 1e-4))
def test_quaternions_have_no_singular_place(angle: float) -> None:
    """The condition of A grows as 1 / angle^2 with Euler angles; the same poses are harmless with quaternions."""
    model = ARM["plain"]["model"]
    q = np.array([0.3, angle, -0.5, 0.4, angle, 0.2, 0.1])

    def quaternion(a: float, b: float, c: float) -> list[float]:
        return [
            np.cos(b / 2) * np.cos((a + c) / 2),
            np.sin(b / 2) * np.cos((a - c) / 2),
            np.sin(b / 2) * np.sin((a - c) / 2),
            np.cos(b / 2) * np.sin((a + c) / 2),
        ]

    e = np.array([*quaternion(*q[:3]), *quaternion(*q[3:6]), q[6]])
    still, gravity = np.zeros(7), np.array([0.0, 0.0, -9.81])
    with_angles = solve(golden_tree(model), TreeState(q, still, still, AT_REST, {}, gravity))
    without = solve(golden_tree(model, quaternions=True), TreeState(e, still, still, AT_REST, {}, gravity))
    assert off_by(from_quaternion(e[:4]), with_angles.eq.rotation[0]) < IDENTITY
    assert off_by(without.eq.rotation, with_angles.eq.rotation) < IDENTITY
    assert np.linalg.cond(with_angles.eq.A) > 10 / angle**2
    assert np.linalg.cond(without.eq.A) < 2e3


# --- printed errors ---------------------------------------------------------------------------------------------------


def with_printed(right: str, printed: str) -> types.ModuleType:
    """The library's own module with an error of a printed source put back."""
    text = inspect.getsource(wittenburg)
    assert text.count(right) == 1, f"{right!r} is written differently now: adapt this test"
    module = types.ModuleType(wittenburg.__name__)  # a name that dataclasses can look up
    module.__package__ = wittenburg.__package__
    exec(compile(text.replace(right, printed), "printed", "exec"), vars(module))
    return module


PRINTED_D = (
    "T[a, j] * S[i, a] * c[i, a] for a in arcs if T[a, j] * S[i, a]",
    "T[a, i] * S[j, a] * c[j, a] for a in arcs if T[a, i] * S[j, a]",
)
PRINTED_RDD_0 = (
    "cross(base.omegad_0, c) + _centripetal(base.omega_0, c) for c in joint_points",
    "0.0 * c for c in joint_points",
)


@pytest.mark.parametrize(("variant", "i"), ARM_STATES)
def test_the_golden_arm_rejects_the_printed_indices_of_d(variant: str, i: int) -> None:
    """The erratum leaves A symmetric: only numbers made elsewhere show it."""
    data = ARM[variant]["states"][i]
    found = solve(golden_tree(ARM[variant]["model"]), golden_state(data), module=with_printed(*PRINTED_D))
    assert off_by(found.eq.A, found.eq.A.T) < IDENTITY
    assert off_by(found.qdd, data["qdd"]) > 0.1


@pytest.mark.parametrize("printed", (PRINTED_D, PRINTED_RDD_0), ids=("d", "rdd_0"))
@pytest.mark.parametrize("seed", range(5))
def test_random_trees_reject_the_printed_forms(seed: int, printed: tuple[str, str]) -> None:
    tree, state, reversed_arcs = random_case(seed)
    assert (
        off_by(solve(tree, state, reversed_arcs, with_printed(*printed)).qdd, separate_bodies(tree, state).vdot) > 0.01
    )


def test_the_printed_indices_of_d_are_invisible_when_no_body_hangs_on_another() -> None:
    random = np.random.default_rng(3)
    tree = random_tree(random, ["spherical", "revolute"], (0, 0))
    state = random_state(random, tree)
    assert (
        off_by(solve(tree, state, module=with_printed(*PRINTED_D)).qdd, separate_bodies(tree, state).vdot) < OTHER_CODE
    )


# --- recording --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_equations_can_be_recorded_with_symbols(seed: int) -> None:
    """Everything that is a number may be a symbol, parameters of the bodies too."""
    tree, state, reversed_arcs = random_case(seed, bodies=6)
    own, base, loaded = parameters(tree), state.base, list(state.loads)
    forces, moments = (np.array([state.loads[i][part] for i in loaded]) for part in (0, 1))
    values = [
        own.m,
        own.c,
        own.J,
        state.q,
        state.v,
        state.tau,
        state.gravity,
        base.A_0,
        base.rdd_0,
        base.omega_0,
        base.omegad_0,
        forces,
        moments,
    ]
    symbols = [casadi.SX.sym(f"s{k}", value.size) for k, value in enumerate(values)]

    def results(*x: Any) -> list[Any]:
        g = graph(tree, reversed_arcs)
        eq = equations(
            g, Bodies(*x[:3]), *x[3:7], Base(*x[7:11]), {i: (x[11][k], x[12][k]) for k, i in enumerate(loaded)}
        )
        qdd = np.linalg.solve(eq.A, eq.B)
        loads = joint_loads(g, eq, qdd)
        return [
            eq.A,
            eq.B,
            eq.omega,
            np.stack(eq.rotation),
            qdd,
            loads.X,
            loads.Y,
            loads.Y + loads.Y_c,
            loads.omegad,
            loads.rdd,
        ]

    with numpy_mode():
        recorded = results(*(np.reshape(s, value.shape) for s, value in zip(symbols, values, strict=True)))
        function = casadi.Function("wittenburg", symbols, [casadi.SX(np.reshape(r, (-1,))) for r in recorded])
    assert not has_nan(function)
    for found, wanted in zip(function(*(value.ravel() for value in values)), results(*values), strict=True):
        assert off_by(found.full().ravel(), np.ravel(wanted)) < ENGINES
