"""Joints that follow others, and rotors, against Pinocchio by projection, and the laws that they must obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chains import off_by
from helpers.pinocchio_tree import PinocchioTree, pin
from helpers.tolerances import CLOSED_MODE, ENGINES, OTHER_CODE, TREE_POWER
from helpers.tree_cases import (
    ACCELERATIONS,
    COORDINATES,
    KINDS,
    RATES,
    Point,
    load_of,
    mechanism_of,
    names,
    rate_along,
    start_of,
    wrench_names,
)
from helpers.trees import random_state, random_tree
from mechfmu.analysis.linear import linearize
from mechfmu.mechanisms.computed_torque.model import ComputedTorque
from mechfmu.multibody.coupled_bodies import closing_frames
from mechfmu.multibody.tree import Body, BodyTree, Joint, TreeError
from mechfmu.simulation.engines import NAMES

some_trees = st.tuples(
    st.lists(st.sampled_from((*KINDS, "revolute", "prismatic", "revolute")), min_size=2, max_size=9).filter(
        lambda kinds: sum(kind in ("revolute", "prismatic") for kind in kinds) > 1
    ),
    st.integers(0, 2**32 - 1),
)
often = settings(max_examples=40, deadline=None, derandomize=True)


class Case:
    """A random tree with followers, in chains and across branches, and with rotors; a state of it; and G."""

    def __init__(self, kinds: list[str], seed: int, rotors: bool = True):
        random = np.random.default_rng(seed)
        tree = random_tree(random, kinds)
        simple = [i for i, joint in enumerate(tree.joints) if joint.kind in ("revolute", "prismatic")]
        random.shuffle(simple)
        joints = list(tree.joints)
        for n, i in enumerate(simple[1:], start=1):
            if random.random() < 0.6:
                leader, multiplier, offset = simple[random.integers(n)], *random.uniform(-2.0, 2.0, 2)
                joints[i] = replace(joints[i], mimic=joints[leader].name, multiplier=multiplier, offset=offset)
        if rotors:
            joints = [replace(j, armature=random.uniform(0, 2) * (random.random() < 0.5)) for j in joints]
        self.tree = replace(tree, joints=tuple(joints))
        self.own = BodyTree("own", (), tuple(j for j in joints if not j.mimic))  # joints that follow no other
        state = random_state(random, self.own)
        self.q, self.v, self.tau = state.q, state.v, state.tau
        self.force, self.moment = random.uniform(-5.0, 5.0, 3), random.uniform(-2.0, 2.0, 3)
        self._expand()

    def _expand(self) -> None:
        """All coordinates, and G, by following every chain."""
        by_name = {joint.name: joint for joint in self.tree.joints}
        starts: dict[str, tuple[int, int]] = {}
        nq = nv = 0
        for joint in self.own.joints:
            starts[joint.name] = nq, nv
            nq, nv = nq + joint.coordinates, nv + joint.rates
        q: list[float] = []
        rows = []
        for joint in self.tree.joints:
            leader, multiplier, offset = joint, 1.0, 0.0
            while leader.mimic:
                offset += multiplier * leader.offset
                multiplier *= leader.multiplier
                leader = by_name[leader.mimic]
            at_q, at_v = starts[leader.name]
            own = self.q[at_q : at_q + joint.coordinates]
            q.extend(multiplier * own + offset if joint.mimic else own)
            rows += [multiplier * np.eye(nv)[at_v + i] for i in range(joint.rates)]
        self.all_q, self.G = np.array(q), np.array(rows)
        self.rotors = np.array([joint.armature for joint in self.tree.joints for _ in range(joint.rates)])

    def point(self, engine: str = "numpy", **options: str) -> Point:
        start = start_of(self.own, self.q, self.v, self.tau) | load_of(self.force, self.moment)
        states: dict[str, float] = {}
        if options.get("base") == "moving":
            start |= {"base.acceleration_x": 2.0, "base.acceleration_z": -1.0, "base.angular_acceleration_y": 3.0}
            states = {"base.velocity_y": 0.7, "base.rate_x": 0.4, "base.rate_z": -0.8}
        return Point(mechanism_of(self.tree, **options), start, states, engine)

    def wanted(self) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations of all joints and wrenches in them: (G^T (M + I) G) vdot = tau - G^T h."""
        other = PinocchioTree(self.tree, np.array([0.0, 0.0, -9.81]))
        q, v = other._q(self.all_q), self.G @ self.v
        loads = other._loads(q, self.force, self.moment)
        none = np.zeros(len(v))

        def torques(v: np.ndarray, vdot: np.ndarray, *loads: object) -> np.ndarray:
            return np.array(pin.rnea(other.model, other.data, q, v, vdot, *loads))

        rest = torques(none, none)
        M = np.array([torques(none, unit) - rest for unit in np.eye(len(v))]).T + np.diag(self.rotors)
        rhs = self.tau - self.G.T @ torques(v, none, loads)
        vdot = self.G @ np.linalg.solve(self.G.T @ M @ self.G, rhs)
        return vdot, other._solved(q, v, vdot, loads).wrench


def assert_as_projected(case: Case, engine: str = "numpy") -> None:
    found, (vdot, wrench) = case.point(engine), case.wanted()
    assert off_by(found.get(*names(case.tree, ACCELERATIONS)), vdot) < OTHER_CODE
    assert off_by(found.get(*wrench_names(case.tree)), wrench.ravel()) < OTHER_CODE
    assert off_by(found.get(*names(case.tree, RATES)), case.G @ case.v) < OTHER_CODE
    assert off_by(found.get(*names(case.tree, COORDINATES)), case.all_q) < OTHER_CODE


@often
@given(some_trees)
def test_accelerations_and_reactions_are_those_of_the_projected_equations(case: tuple[list[str], int]) -> None:
    assert_as_projected(Case(*case))


@pytest.mark.parametrize("engine", NAMES)
def test_followers_and_rotors_in_every_engine(engine: str) -> None:
    case = Case(["spherical", "revolute", "fixed", "prismatic", "universal", "revolute", "revolute"], 5)
    assert sum(bool(joint.mimic) for joint in case.tree.joints) > 1
    assert_as_projected(case, engine)
    plain, other = case.point(), case.point(engine)
    assert off_by(other.rates(), plain.rates()) < ENGINES


@settings(max_examples=12, deadline=None, derandomize=True)
@given(some_trees)
def test_power_is_balanced(case: tuple[list[str], int]) -> None:
    """The change of the energy is the work of the inputs less losses: couplings do none, rotors store it.

    Springs, dampers, friction and stops act in joints that follow others as in all; the base moves.
    """
    made = Case(*case)
    passive = {"damping": 0.3, "friction": 0.2, "stiffness": 2.0, "rest": 0.1}
    joints = [replace(j, **passive) if j.rates and j.kind != "free" else j for j in made.tree.joints]
    made.tree = replace(made.tree, joints=tuple(replace(j, upper=-0.2) if j.mimic else j for j in joints))
    point = made.point(stops="elastic", base="moving")
    (change,) = rate_along(point, ["energy.total"])
    work, loss = point.rate("energy.input"), point.rate("energy.dissipated")
    assert abs(change - work + loss) < TREE_POWER * (abs(change) + abs(work) + abs(loss) + point["energy.kinetic"])


@settings(max_examples=15, deadline=None, derandomize=True)
@given(some_trees)
def test_the_controller_makes_the_plant_accelerate_as_asked(case: tuple[list[str], int]) -> None:
    kinds = [kind for kind in case[0] if kind != "free"]
    made = Case(kinds, case[1])
    controller = ComputedTorque(model=made.tree.to_json())
    random = np.random.default_rng(case[1])
    asked = random.uniform(-3.0, 3.0, len(made.v))
    measured = dict(zip(names(made.own, COORDINATES), made.q, strict=True))
    measured |= dict(zip(names(made.own, RATES), made.v, strict=True))
    wanted = {f"{_reference(name)}": value for name, value in measured.items()}
    accelerations = names(made.own, ACCELERATIONS)
    wanted |= dict(zip((_reference(name) for name in accelerations), asked, strict=True))
    torques = Point(controller, measured | wanted)
    made.tau = torques.get(*(s.name for s in controller.table.of("output")))
    made.force, made.moment = np.zeros(3), np.zeros(3)
    inputs = {s.name: x for s, x in zip(controller.table.of("output"), made.tau, strict=True)}
    plant = Point(mechanism_of(made.tree), start_of(made.own, made.q, made.v) | inputs)
    assert off_by(plant.get(*accelerations), asked) < OTHER_CODE


def _reference(name: str) -> str:
    word, bracket, index = name.partition("[")
    return f"{word}_reference{bracket}{index}"


def hinges(**follower: object) -> BodyTree:
    """Two wheels on the base; the second follows the first."""
    bodies = Body("wheel", 1.0, inertia=(0.1, 0.1, 0.2, 0, 0, 0)), Body("other", 1.0, inertia=(0.1, 0.1, 0.05, 0, 0, 0))
    second = Joint("second", "revolute", "other", position=(1.0, 0, 0), **{"mimic": "first", **follower})  # type: ignore
    first = Joint("first", "revolute", "wheel", stiffness=3.0, armature=0.07)
    return BodyTree("wheels", bodies, (first, second))


def test_two_coupled_wheels_on_a_spring_swing_with_the_frequency_of_their_common_inertia() -> None:
    """J = J_1 + I + m^2 J_2, in the linear model."""
    tree = hinges(multiplier=-3.0, offset=0.5)
    modes = linearize(mechanism_of(tree)).modes()
    swings = [abs(mode[0].imag) for mode in modes if mode[0].imag]
    assert swings == [pytest.approx(np.sqrt(3.0 / (0.2 + 0.07 + 9 * 0.05)), rel=CLOSED_MODE)]


def test_a_follower_without_mass_moves_with_its_leader() -> None:
    tree = hinges()
    tree = replace(tree, bodies=(tree.bodies[0], Body("other")))
    tree.check()
    point = Point(mechanism_of(tree), {"first.torque": 2.7})
    assert point["second.acceleration"] == pytest.approx(10.0, rel=OTHER_CODE)


def test_a_group_is_closed_as_far_out_as_possible() -> None:
    """On the palm for two fingers, before a finger for a joint that its own finger follows."""
    tree = random_tree(np.random.default_rng(1), ["revolute"] * 5, (0, 1, 2, 2, 4))
    follow = {3: "j3", 4: "j2"}  # joint 4 and 3 are on body 2; joint 5 on body 4
    joints = tuple(replace(j, mimic=follow[i]) if i in follow else j for i, j in enumerate(tree.joints))
    tree = replace(tree, joints=joints)
    frames, at, _ = tree.frames()
    assert closing_frames(frames, tree.members(at)) == {1: [2], 0: [1]}


@pytest.mark.parametrize(
    ("follower", "message"),
    (
        ({"mimic": "third"}, "joint second: mimic: joint third does not exist"),
        ({"mimic": "second"}, "joint second: mimic: the joints follow each other in a circle: second -> second"),
        ({"kind": "universal"}, "joint second: mimic: a universal joint cannot follow another"),
        ({"armature": -1.0}, "joint second: armature -1 is negative"),
        ({"multiplier": np.nan}, "joint second: a number is not finite"),
    ),
)
def test_impossible_followers(follower: dict[str, object], message: str) -> None:
    tree = hinges()
    tree = replace(tree, joints=(tree.joints[0], replace(tree.joints[1], **follower)))  # type: ignore[arg-type]
    with pytest.raises(TreeError, match=message):
        tree.check()


def test_a_tree_with_rotors_and_followers_survives_json_and_others_look_as_before() -> None:
    tree = hinges(multiplier=2.0, armature=0.1)
    assert BodyTree.from_json(tree.to_json()) == tree
    plain = hinges(mimic="")
    assert not {"mimic", "multiplier", "offset"} & set(plain.to_json().split('"'))
