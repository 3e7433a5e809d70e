"""The computed-torque controller in closed loop with its tree.

Errors decay as they should, weight is carried, spherical joints follow.
"""

from __future__ import annotations

from dataclasses import replace

import fmpy.validation
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.fmu_client import Host
from helpers.tolerances import AT_REST, SAMPLED_DECAY, TREE_DECAY
from helpers.tree_cases import (
    ACCELERATIONS,
    COORDINATES,
    FORCES,
    RATES,
    BuildTree,
    Point,
    engine_of,
    mechanism_of,
    names,
    start_of,
)
from helpers.tree_golden import product
from helpers.trees import random_state, random_tree
from mechfmu.mechanisms.computed_torque.model import ARM, ComputedTorque
from mechfmu.model import UserError
from mechfmu.multibody.tree import Body, BodyTree, Joint

pytest_plugins = ["helpers.tree_fixtures"]

OMEGA = 10.0
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "cardan_zyx", "spherical")


def reference(name: str) -> str:
    word, bracket, index = name.partition("[")
    return f"{word}_reference{bracket}{index}"


class Loop:
    """Controller and plant as one set of differential equations, without sampling."""

    def __init__(self, tree: BodyTree, start: dict[str, float], references: dict[str, float], **parameters: float):
        self.plant, self.controller = mechanism_of(tree), ComputedTorque(model=tree.to_json())
        self._plant, self._controller = engine_of("casadi", self.plant), engine_of("casadi", self.controller)
        _, self.x, self.d, self.u, self.p = self.plant.start(start)
        _, _, _, self.uc, self.pc = self.controller.start({**references, **parameters})
        measured = [*names(tree, COORDINATES), *names(tree, RATES)]
        self._from = [self.plant.table.by_name[n].index for n in measured]
        self._to = [self.controller.table.by_name[n].index for n in measured]
        self._motors = [self.plant.table.by_name[n].index for n in names(tree, FORCES)]

    def rates(self, t: float, x: np.ndarray) -> np.ndarray:
        self.uc[self._to] = x[self._from]
        self.u[self._motors] = self._controller.outputs(t, np.zeros(0), np.zeros(0), self.uc, self.pc)
        return np.asarray(self._plant.rates(t, x, self.d, self.u, self.p))

    def run(self, times: np.ndarray) -> dict[str, np.ndarray]:
        solution = solve_ivp(self.rates, (0.0, times[-1]), self.x, "DOP853", t_eval=times, rtol=1e-10, atol=1e-12)
        assert solution.success
        return {s.name: solution.y[s.index] for s in self.plant.table.of("state")}


def test_errors_decay_like_a_critically_damped_oscillator() -> None:
    """e = e_0 (1 + omega t) exp(-omega t) from rest, in every joint, whatever the others do."""
    targets = {"shoulder.angle_reference": 0.9, "elbow.angle_reference": -1.1}
    times = np.linspace(0.0, 1.0, 21)
    found = Loop(ARM, {"shoulder.angle_start": -0.5, "elbow.angle_start": 0.4}, targets).run(times)
    shape = (1 + OMEGA * times) * np.exp(-OMEGA * times)
    assert np.max(np.abs(0.9 - found["shoulder.angle"] - 1.4 * shape)) < TREE_DECAY
    assert np.max(np.abs(-1.1 - found["elbow.angle"] + 1.5 * shape)) < TREE_DECAY


def test_frequency_and_damping_ratio_are_those_of_the_parameters() -> None:
    omega, zeta = 6.0, 0.4
    times = np.linspace(0.0, 2.0, 21)
    found = Loop(
        ARM, {"elbow.angle_start": 1.0}, {}, **{"control.frequency": omega, "control.damping_ratio": zeta}
    ).run(times)
    w = omega * np.sqrt(1 - zeta**2)
    shape = np.exp(-zeta * omega * times) * (np.cos(w * times) + zeta * omega / w * np.sin(w * times))
    assert np.max(np.abs(found["elbow.angle"] - shape)) < TREE_DECAY
    assert np.max(np.abs(found["shoulder.angle"])) < TREE_DECAY


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_joint_gets_the_acceleration_asked_for(seed: int) -> None:
    """On the reference itself, the tree accelerates as the reference does."""
    random = np.random.default_rng(seed)
    tree = random_tree(random, [str(k) for k in random.permutation(KINDS)])
    state = random_state(random, tree)
    wanted = random.uniform(-3.0, 3.0, len(state.v))
    controller = ComputedTorque(model=tree.to_json())
    inputs = {}
    for words, values in ((COORDINATES, state.q), (RATES, state.v)):
        inputs |= dict(zip(names(tree, words), values, strict=True)) | dict(
            zip(map(reference, names(tree, words)), values, strict=True)
        )
    inputs |= dict(zip(map(reference, names(tree, ACCELERATIONS)), wanted, strict=True))
    tau = Point(controller, inputs).get(*names(tree, FORCES))
    found = Point(mechanism_of(tree), start_of(tree, state.q, state.v, tau)).get(*names(tree, ACCELERATIONS))
    assert np.max(np.abs(found - wanted)) < AT_REST


@pytest.mark.parametrize("seed", range(3))
def test_springs_dampers_and_friction_are_compensated(seed: int) -> None:
    """The same with passive laws in every joint of the plant; a controller that does not know them misses by far."""
    random = np.random.default_rng(seed)
    bare = random_tree(random, [str(k) for k in random.permutation(KINDS)])
    laws = ("stiffness", "rest", "damping", "friction", "friction_speed")
    passive = (replace(j, **dict(zip(laws, random.uniform(0.5, 2.0, len(laws)), strict=True))) for j in bare.joints)
    tree = replace(bare, joints=tuple(passive))
    state = random_state(random, tree)
    wanted = random.uniform(-3.0, 3.0, len(state.v))
    inputs = {}
    for words, values in ((COORDINATES, state.q), (RATES, state.v)):
        inputs |= dict(zip(names(tree, words), values, strict=True)) | dict(
            zip(map(reference, names(tree, words)), values, strict=True)
        )
    inputs |= dict(zip(map(reference, names(tree, ACCELERATIONS)), wanted, strict=True))
    missed = []
    for known in (tree, bare):
        tau = Point(ComputedTorque(model=known.to_json()), inputs).get(*names(tree, FORCES))
        found = Point(mechanism_of(tree), start_of(tree, state.q, state.v, tau)).get(*names(tree, ACCELERATIONS))
        missed.append(np.max(np.abs(found - wanted)))
    assert missed[0] < AT_REST
    assert missed[1] > 1.0


def test_a_spherical_joint_turns_to_its_reference_on_the_shortest_way() -> None:
    """About a fixed axis from rest, the angle that is missing decays like any other error."""
    axis, angle = np.array([0.6, 0.0, 0.8]), 1.3
    tree = BodyTree(
        "ball",
        (Body("b", 2.0, (0.1, 0.0, -0.3), (0.05, 0.06, 0.04, 0.01, 0.0, 0.0)),),
        (Joint("ball", "spherical", "b"),),
    )
    target = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    references = {
        f"ball.quaternion_reference[{k + 1}]": -3.0 * target[k] for k in range(4)
    }  # neither length nor sign may matter
    times = np.linspace(0.0, 1.0, 11)
    found = Loop(tree, {}, references).run(times)
    e = np.stack([found[f"ball.quaternion[{k}]"] for k in range(1, 5)], axis=1)
    missing = [
        2 * np.arccos(min(1.0, abs(product(e_i * [1, -1, -1, -1], target)[0])))
        for e_i in e / np.linalg.norm(e, axis=1, keepdims=True)
    ]
    shape = (1 + OMEGA * times) * np.exp(-OMEGA * times)
    large = angle * shape > 1e-2  # arccos of nearly 1 is inexact
    assert large.sum() > 5
    assert np.max(np.abs(missing - angle * shape)[large]) < 10 * TREE_DECAY


def test_gravity_compensation_holds_any_arm_at_rest() -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        tree = random_tree(random, [str(k) for k in random.permutation(KINDS)])
        q = random_state(random, tree).q
        measured = dict(zip(names(tree, COORDINATES), q, strict=True))
        controller = ComputedTorque(model=tree.to_json(), law="gravity")
        tau = Point(controller, measured).get(*names(tree, FORCES))
        rest = np.zeros(len(tau))
        held, dropped = (
            Point(mechanism_of(tree), start_of(tree, q, rest, t)).get(*names(tree, ACCELERATIONS)) for t in (tau, rest)
        )
        assert np.max(np.abs(held)) < AT_REST
        assert np.max(np.abs(dropped)) > 1.0


def test_gravity_compensation_leaves_springs_and_dampers_as_they_are() -> None:
    """It has no parameters for them, and a moving arm gets the torques of one at rest."""
    joints = tuple(replace(j, stiffness=3.0, damping=2.0) for j in ARM.joints)
    controllers = [ComputedTorque(model=tree.to_json(), law="gravity") for tree in (ARM, replace(ARM, joints=joints))]
    assert "elbow.stiffness" not in controllers[1].table.by_name
    angles, rates = {"shoulder.angle": 0.3, "elbow.angle": -0.8}, {"shoulder.rate": 2.0, "elbow.rate": -1.0}
    at_rest, moving = (
        Point(controllers[0], angles).get(*names(ARM, FORCES)),
        Point(controllers[1], angles | rates).get(*names(ARM, FORCES)),
    )
    assert np.array_equal(at_rest, moving)
    assert abs(at_rest[0]) > 1.0


def test_free_joints_are_rejected() -> None:
    tree = BodyTree("stone", (Body("b", 1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),), (Joint("fly", "free", "b"),))
    with pytest.raises(UserError, match=r"^joint fly is free: it has no motor"):
        _ = ComputedTorque(model=tree.to_json()).table


@pytest.mark.parametrize(
    "text", ("{", '{"name": "x"}', "[]", '{"name": "x", "bodies": [{"nonsense": 1}], "joints": []}')
)
def test_a_model_that_is_not_a_tree_is_rejected(text: str) -> None:
    with pytest.raises(UserError, match="option model is not the description of a tree"):
        _ = ComputedTorque(model=text).table


# --- FMUs -------------------------------------------------------------------------------------------------------------


def test_two_fmus_in_a_loop(tree_fmu: BuildTree, host: Host) -> None:
    plant = host.open(tree_fmu(mechanism_of(ARM)), "plant")
    controller = host.open(tree_fmu(ComputedTorque(model=ARM.to_json())), "controller")
    measured, motors, h = [*names(ARM, COORDINATES), *names(ARM, RATES)], names(ARM, FORCES), 1e-3
    plant.initialize({"shoulder.angle_start": -0.5, "elbow.angle_start": 0.4})
    controller.initialize({"shoulder.angle_reference": 0.9, "elbow.angle_reference": -1.1})
    errors, steps = [], 300
    for _ in range(steps):
        controller.set(dict(zip(measured, plant.get(*measured), strict=True)))
        plant.set(dict(zip(motors, controller.get(*motors), strict=True)))
        plant.step(h)
        controller.step(h)
        errors.append([0.9 - plant["shoulder.angle"], -1.1 - plant["elbow.angle"]])
    times = h * np.arange(1, steps + 1)
    shape = (1 + OMEGA * times) * np.exp(-OMEGA * times)
    assert shape[-1] < 0.2
    assert np.max(np.abs(np.array(errors) - np.outer(shape, [1.4, -1.5]))) < SAMPLED_DECAY * 1.5


def test_the_controller_is_a_valid_fmu(tree_fmu: BuildTree) -> None:
    assert fmpy.validation.validate_fmu(str(tree_fmu(ComputedTorque(model=ARM.to_json())))) == []
