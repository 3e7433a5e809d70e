"""Laws that trees must obey, whatever their numbers.

Round trips, power, momentum, symmetry, and the same motion seen in two ways.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chains import off_by
from helpers.pinocchio_tree import PinocchioTree
from helpers.tolerances import (
    BALANCE,
    CONSERVED,
    IDENTITY,
    NORM,
    OTHER_CODE,
    ROUND_TRIP,
    TIGHT,
    TREE_POWER,
    TREE_SAME_MOTION,
)
from helpers.tree_cases import (
    ACCELERATIONS,
    COORDINATES,
    KINDS,
    RATES,
    XYZ,
    Point,
    load_of,
    matrix_of,
    mechanism_of,
    names,
    rate_along,
    start_of,
)
from helpers.tree_golden import FORMS, arm_of
from helpers.trees import parameters, random_state, random_tree, rows, world_axes
from mechfmu.mechanisms.spherical_arm.model import SphericalArm
from mechfmu.multibody.frames import Bodies
from mechfmu.multibody.inverse_dynamics import inverse_dynamics
from mechfmu.multibody.separate_bodies import forward_dynamics
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.result import Result

some_trees = st.tuples(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=9).filter(
        lambda kinds: any(kind != "fixed" for kind in kinds)
    ),
    st.integers(0, 2**32 - 1),
)
often = settings(max_examples=40, deadline=None, derandomize=True)


def column(result: Result, wanted: list[str]) -> np.ndarray:
    return np.stack([result[name] for name in wanted], axis=1)


# --- single states ----------------------------------------------------------------------------------------------------


@often
@given(some_trees)
def test_inverse_dynamics_undoes_forward_dynamics(case: tuple[list[str], int]) -> None:
    random = np.random.default_rng(case[1])
    tree = random_tree(random, case[0])
    state = random_state(random, tree)
    frames, at, turns = tree.frames()
    own = parameters(tree)
    bodies = Bodies(
        own.m,
        np.array([W.T @ c for W, c in zip(turns, own.c, strict=True)]),
        np.array([rows(W.T @ _matrix(J) @ W) for W, J in zip(turns, own.J, strict=True)]),
    )
    axes = world_axes(frames, state)
    loads = {at[i]: (axes[at[i]].T @ F, axes[at[i]].T @ M) for i, (F, M) in state.loads.items()}
    base = [state.base.A_0.T @ x for x in (state.base.rdd_0 - state.gravity, state.base.omegad_0, state.base.omega_0)]
    motion = forward_dynamics(frames, bodies, state.q, state.v, state.tau, loads, *base)
    scale = max(np.abs(wrench).max() for pair in motion.reaction for wrench in pair)
    tau = inverse_dynamics(frames, bodies, state.q, state.v, motion.vdot, loads, *base)
    assert np.max(np.abs(tau - state.tau)) < ROUND_TRIP * scale


def _matrix(J: np.ndarray) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = J
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def passive_point(seed: int, kinds: tuple[str, ...] = KINDS, **options: str) -> Point:
    """Everything that carries power.

    Motors, springs, dampers, friction, a load on the tip, a base that moves in all ways.
    """
    random = np.random.default_rng(seed)
    tree = random_tree(random, [str(kind) for kind in random.permutation(kinds)])
    mechanism = mechanism_of(tree, base="moving", **options)
    state = random_state(random, tree)
    start = start_of(tree, state.q, state.v, state.tau) | load_of(
        random.uniform(-5.0, 5.0, 3), random.uniform(-2.0, 2.0, 3)
    )
    for scalar in mechanism.table.of("parameter"):
        for word, low, high in (
            ("stiffness", 1.0, 8.0),
            ("damping", 0.1, 0.5),
            ("friction", 0.2, 0.6),
            ("friction_speed", 0.5, 1.0),
            ("offset_", -0.3, 0.3),
        ):
            if f".{word}" in scalar.name:
                start[scalar.name] = float(random.uniform(low, high))
        if ".rest" in scalar.name:
            start[scalar.name] = float(random.uniform(-0.5, 0.5))
    start |= {
        f"base.{word}_{a}": float(random.uniform(-3.0, 3.0))
        for word in ("acceleration", "angular_acceleration")
        for a in XYZ
    }
    moved = {f"base.{word}{a}": float(random.uniform(-2.0, 2.0)) for word in ("", "velocity_", "rate_") for a in XYZ}
    e = random.normal(size=4)
    return Point(
        mechanism, start, moved | {f"base.quaternion[{k + 1}]": x for k, x in enumerate(e / np.linalg.norm(e))}
    )


@pytest.mark.parametrize("seed", range(6))
def test_power_balance_with_everything_on(seed: int) -> None:
    """d(total)/dt = power of the inputs - power lost, on a base that moves in all ways."""
    point = passive_point(seed)
    power, lost = point.rate("energy.input"), point.rate("energy.dissipated")
    (total,) = rate_along(point, ["energy.total"])
    assert lost > 0.1
    assert abs(power) > 0.1
    assert abs(total - (power - lost)) < TREE_POWER * (abs(total) + abs(power) + lost + abs(point["energy.total"]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_the_mass_matrix_is_symmetric_positive_definite_and_holds_the_kinetic_energy(seed: int, form: str) -> None:
    arm = arm_of(form)
    state = random_state(np.random.default_rng(seed), arm.tree)
    point = Point(arm, start_of(arm.tree, state.q, state.v))
    A = np.reshape(point.get(*(f"mass_matrix[{i},{j}]" for i in range(1, 8) for j in range(1, 8))), (7, 7))
    assert off_by(A, A.T) < IDENTITY
    assert np.linalg.eigvalsh(A).min() > 0
    assert state.v @ A @ state.v / 2 == pytest.approx(point["energy.kinetic"], rel=IDENTITY)


def test_the_mass_matrix_is_what_torques_work_against() -> None:
    """Separate bodies give the accelerations, Wittenburg the matrix: A (vdot with tau - vdot without) = tau."""
    arm = arm_of("quaternion")
    state = random_state(np.random.default_rng(9), arm.tree)
    driven, free = (Point(arm, start_of(arm.tree, state.q, state.v, tau)) for tau in (state.tau, 0 * state.tau))
    A = np.reshape(free.get(*(f"mass_matrix[{i},{j}]" for i in range(1, 8) for j in range(1, 8))), (7, 7))
    wanted = names(arm.tree, ACCELERATIONS)
    assert off_by(A @ (driven.get(*wanted) - free.get(*wanted)), state.tau) < IDENTITY


# --- a moving base against a moving frame -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_base_that_accelerates_upwards_is_more_gravity(seed: int) -> None:
    random = np.random.default_rng(seed)
    tree = random_tree(random, ["spherical", "revolute", "prismatic", "universal"])
    state = random_state(random, tree)
    start = start_of(tree, state.q, state.v, state.tau)
    moving = Point(mechanism_of(tree, base="moving"), start | {"base.acceleration_z": 3.0})
    heavier = Point(mechanism_of(tree), start | {"gravity": 12.81})
    lighter = Point(mechanism_of(tree), start)
    wanted = names(tree, ACCELERATIONS)
    assert off_by(moving.get(*wanted), heavier.get(*wanted)) < IDENTITY
    assert off_by(moving.get(*wanted), lighter.get(*wanted)) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_base_that_turns_is_a_turntable(seed: int) -> None:
    """A turntable below the tree, driven so that it accelerates like the base: everything on it moves the same way."""
    random = np.random.default_rng(seed)
    tree = random_tree(random, ["revolute", "spherical", "planar", "euler_zxz"])
    state = random_state(random, tree)
    angle, rate, acceleration = random.uniform(0.5, 2.0, 3)
    table = Body("table", 5.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    joints = [
        Joint("turn", "revolute", "table"),
        *(Joint(**{**vars(j), "parent": j.parent or "table"}) for j in tree.joints),
    ]
    on_table = BodyTree("on a table", (table, *tree.bodies), tuple(joints))

    def with_drive(torque: float) -> Point:
        start = start_of(on_table, np.append(angle, state.q), np.append(rate, state.v), np.append(torque, state.tau))
        return Point(mechanism_of(on_table), start)

    at_0, at_1 = (with_drive(torque)["turn.acceleration"] for torque in (0.0, 1.0))
    wanted = with_drive((acceleration - at_0) / (at_1 - at_0))
    moved = {"base.quaternion[1]": np.cos(angle / 2), "base.quaternion[4]": np.sin(angle / 2), "base.rate_z": rate}
    start = start_of(tree, state.q, state.v, state.tau) | {"base.angular_acceleration_z": acceleration}
    found = Point(mechanism_of(tree, base="moving"), start, moved)
    signals = [
        *names(tree, ACCELERATIONS),
        *(f"j1.{what}_{a}" for what in ("force", "moment") for a in XYZ),
        *(f"tip.velocity_{a}" for a in XYZ),
    ]
    assert off_by(found.get(*signals), wanted.get(*signals)) < OTHER_CODE


# --- motions ----------------------------------------------------------------------------------------------------------


def assert_balanced(result: Result) -> None:
    total, work, lost = (result[f"energy.{name}"] for name in ("total", "input", "dissipated"))
    scale = max(np.abs(total).max(), np.abs(work).max(), lost.max())
    assert np.max(np.abs(total - total[0] - work + lost)) < BALANCE * scale


@pytest.mark.parametrize("form", FORMS)
def test_energy_balance_of_the_arm_with_springs_dampers_friction_loads_and_a_moving_base(form: str) -> None:
    arm = SphericalArm(state=form, base="moving")
    start = {
        f"joint[{j}].{word}": value
        for j in (1, 2, 3)
        for word, value in dict(stiffness=3.0, damping=0.2, friction=0.1).items()
    }
    start |= {
        "tip.force_x": 2.0,
        "tip.force_z": 1.0,
        "tip.moment_y": 0.2,
        "joint[3].torque": 0.3,
        "joint[2].torque[1]": 0.2,
    }
    start |= {
        "base.acceleration_x": 1.0,
        "base.acceleration_z": -0.5,
        "base.angular_acceleration_z": 0.6,
        "base.angular_acceleration_x": 0.2,
    }
    if form == "euler":  # the spring is relaxed where the start is, far from the singular angles
        start |= {"joint[1].rest": 1.0, "joint[2].rest": 1.0}
    result = arm.simulate(stop=1.0, step=0.05, start=start, tolerance=TIGHT)
    assert np.ptp(result["energy.input"]) > 0.1
    assert result["energy.dissipated"][-1] > 0.1
    assert_balanced(result)
    e = column(result, [f"base.quaternion[{k}]" for k in range(1, 5)])
    assert np.max(np.abs(np.linalg.norm(e, axis=1) - 1)) < NORM


@pytest.mark.parametrize("form", FORMS)
def test_momentum_about_the_vertical_with_internal_torques(form: str) -> None:
    arm = SphericalArm(state=form)
    inside = {"joint[2].torque[2]": 0.4, "joint[3].torque": 0.5, "joint[2].torque[1]": -0.3}
    H = arm.simulate(stop=1.0, step=0.1, start=inside, tolerance=1e-11)["momentum.vertical"]
    assert np.max(np.abs(H - H[0])) < CONSERVED * abs(H[0])
    pushed = arm.simulate(
        stop=1.0, step=0.1, start=inside | {f"joint[1].torque[{k}]": 0.5 for k in (1, 2, 3)}, tolerance=1e-11
    )["momentum.vertical"]
    assert np.max(np.abs(pushed - pushed[0])) > 0.1 * abs(H[0])


def test_both_state_forms_give_the_same_motion() -> None:
    """With a load, a drive in the hinge and springs in it.

    What acts on the rates of the spherical joints would differ between the forms.
    """
    start = {
        "tip.force_x": 3.0,
        "tip.moment_y": 0.5,
        "joint[3].torque": 0.4,
        "joint[3].stiffness": 2.0,
        "joint[3].damping": 0.1,
    }
    quaternion, euler = (
        SphericalArm(state=form).simulate(stop=2.0, step=0.1, start=start, tolerance=1e-10) for form in FORMS
    )
    signals = [
        *(f"tip.{a}" for a in XYZ),
        *(f"tip.velocity_{a}" for a in XYZ),
        *(f"tip.rate_{a}" for a in XYZ),
        "joint[3].angle",
        "energy.total",
    ]
    assert np.ptp(column(euler, ["tip.x"])) > 0.1
    assert np.max(np.abs(column(quaternion, signals) - column(euler, signals))) < TREE_SAME_MOTION
    angles = [f"joint[{j}].angle[{k}]" for j in (1, 2) for k in (1, 2, 3)]
    assert (
        np.max(np.abs(np.exp(1j * column(quaternion, angles)) - np.exp(1j * column(euler, angles)))) < TREE_SAME_MOTION
    )


def test_a_free_body_keeps_its_momentum() -> None:
    com, inertia = np.array([0.1, -0.2, 0.3]), (0.3, 0.5, 0.6, 0.02, -0.03, 0.01)
    tree = BodyTree("stone", (Body("stone", 2.0, tuple(com), inertia),), (Joint("fly", "free", "stone"),))
    start = {"gravity": 0.0, "fly.speed_start[1]": 1.0, "fly.speed_start[2]": -0.5} | {
        f"fly.rate_start[{k}]": w for k, w in enumerate((1.0, 2.0, -0.7), start=1)
    }
    start |= {f"tip.offset_{a}": com[i] for i, a in enumerate(XYZ)}  # the tip is the mass centre
    result = mechanism_of(tree).simulate(stop=3.0, step=0.1, start=start, tolerance=1e-11)
    velocity = column(result, [f"tip.velocity_{a}" for a in XYZ])
    w = column(result, [f"tip.rate_{a}" for a in XYZ])
    e = column(result, [f"tip.quaternion[{k}]" for k in range(1, 5)])
    H = np.array(
        [matrix_of(e_i) @ _matrix(np.array(inertia)) @ matrix_of(e_i).T @ w_i for e_i, w_i in zip(e, w, strict=True)]
    )
    assert np.max(np.abs(velocity - velocity[0])) < CONSERVED * np.abs(velocity).max()
    assert np.max(np.abs(H - H[0])) < CONSERVED * np.abs(H).max()
    assert np.max(np.abs(w - w[0])) > 0.1  # it tumbles
    assert (
        np.max(np.abs(np.linalg.norm(column(result, [f"fly.quaternion[{k}]" for k in range(1, 5)]), axis=1) - 1)) < NORM
    )


def test_a_free_tree_falls_with_its_momentum_whatever_its_motors_do() -> None:
    """The momentum is Pinocchio's, of the library's states."""
    random = np.random.default_rng(2)
    tree = random_tree(random, ["free", "spherical", "revolute", "prismatic"], (0, 1, 1, 2))
    state = random_state(random, tree)
    tau = np.concatenate([np.zeros(6), state.tau[6:]])
    result = mechanism_of(tree).simulate(
        stop=0.5, step=0.05, start=start_of(tree, state.q, state.v, tau), tolerance=1e-11
    )
    pinocchio, mass = PinocchioTree(tree, np.zeros(3)), sum(b.mass for b in tree.bodies)
    q, v = column(result, names(tree, COORDINATES)), column(result, names(tree, RATES))
    linear, angular, com = (
        np.array(part) for part in zip(*(pinocchio.momentum(*point) for point in zip(q, v, strict=True)), strict=True)
    )
    fall = -9.81 * result.t[:, np.newaxis] * [0.0, 0.0, 1.0]
    assert np.max(np.abs(linear - linear[0] - mass * fall)) < CONSERVED * np.abs(linear).max()
    assert np.max(np.abs(angular - angular[0])) < CONSERVED * np.abs(angular).max()
    vertical = np.cross(com, linear)[:, 2] + angular[:, 2]
    assert off_by(result["momentum.vertical"], vertical) < OTHER_CODE
    assert np.max(np.abs(v - v[0])) > 1.0
