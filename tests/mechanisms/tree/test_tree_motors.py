"""Motors as they are: the effort cuts the input off, a rotor resists and stores energy."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.paths import EXAMPLES
from helpers.tolerances import OTHER_CODE
from helpers.tree_cases import Point
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.engines import NAMES

ROBOT = EXAMPLES / "three_link_robot.urdf"
ACCELERATIONS = ("waist.acceleration", "shoulder.acceleration", "elbow.acceleration")


@pytest.mark.parametrize("engine", NAMES)
def test_torque_beyond_the_effort_has_no_effect_and_does_no_work(engine: str) -> None:
    robot = Tree.from_file(ROBOT)
    start = {"shoulder.rate_start": 0.5, "waist.torque": 1000.0, "elbow.torque": -39.0}
    limit = Point(robot, start | {"shoulder.torque": 80.0}, engine=engine)  # the effort in the file
    beyond = Point(robot, start | {"shoulder.torque": 300.0}, engine=engine)
    assert np.array_equal(limit.get(*ACCELERATIONS), beyond.get(*ACCELERATIONS))
    assert limit.rate("energy.input") == beyond.rate("energy.input") == pytest.approx(80.0 * 0.5)
    backwards = Point(robot, start | {"shoulder.torque": -300.0}, engine=engine)
    assert backwards.rate("energy.input") == pytest.approx(-80.0 * 0.5)


def test_efforts_can_be_unlimited() -> None:
    limited, unlimited = Tree.from_file(ROBOT), Tree.from_file(ROBOT, effort="unlimited")
    below, beyond = {"shoulder.torque": 79.0}, {"shoulder.torque": 300.0}
    same = [Point(tree, below).get(*ACCELERATIONS) for tree in (limited, unlimited)]
    other = [Point(tree, beyond).get(*ACCELERATIONS) for tree in (limited, unlimited)]
    assert np.array_equal(*same)
    assert abs(other[1][1]) > 2 * abs(other[0][1])
    texts = {tree: tree.table.by_name["shoulder.torque"].description for tree in (limited, unlimited)}
    assert texts[limited].endswith("; more than 80 N.m has no effect")
    assert texts[unlimited] == "motor torque in joint shoulder"


@pytest.mark.parametrize("kind", ("revolute", "prismatic"))
def test_a_rotor_adds_to_what_its_motor_moves(kind: str) -> None:
    """Closed form: a wheel or a slider without weight, J qdd = tau - I qdd, energy (J + I) v^2 / 2."""
    bodies = (Body("load", 2.0, inertia=(1.0, 1.0, 1.5, 0, 0, 0)),)
    tree = Tree(model=BodyTree("one", bodies, (Joint("drive", kind, "load", armature=3.0),)).to_json())
    J = 1.5 if kind == "revolute" else 2.0
    names = ("torque", "rate") if kind == "revolute" else ("force", "speed")
    point = Point(tree, {f"drive.{names[0]}": 9.0, f"drive.{names[1]}_start": 2.0, "gravity": 0.0})
    assert point["drive.acceleration"] == pytest.approx(9.0 / (J + 3.0), rel=OTHER_CODE)
    assert point["energy.kinetic"] == pytest.approx(0.5 * (J + 3.0) * 4.0, rel=OTHER_CODE)
    transmitted = point["drive.moment_z" if kind == "revolute" else "drive.force_z"]
    assert transmitted == pytest.approx(J * point["drive.acceleration"], rel=OTHER_CODE)
    heavier = Point(tree, {f"drive.{names[0]}": 9.0, "drive.armature": 6.0, "gravity": 0.0})
    assert heavier["drive.acceleration"] == pytest.approx(9.0 / (J + 6.0), rel=OTHER_CODE)


def test_a_rotor_is_all_that_a_joint_may_move() -> None:
    bodies = Body("load", 2.0, inertia=(1.0, 1.0, 1.5, 0, 0, 0)), Body("pointer")
    joints = Joint("drive", "revolute", "load"), Joint("gauge", "revolute", "pointer", "load", armature=3.0)
    point = Point(Tree(model=BodyTree("two", bodies, joints).to_json()), {"gauge.torque": 6.0})
    assert point["gauge.acceleration"] == pytest.approx(2.0, rel=OTHER_CODE)
