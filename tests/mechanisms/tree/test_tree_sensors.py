"""Frames of sensors against Pinocchio: pose, velocity, inertial sensor, and force and torque in the joint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.chains import off_by
from helpers.fmu_client import Host
from helpers.pinocchio_tree import PinocchioTree
from helpers.tolerances import ENGINES, ROBOTS, SENSORS
from helpers.tree_cases import (
    ACCELERATIONS,
    KINDS,
    XYZ,
    BuildTree,
    Point,
    load_of,
    matrix_of,
    mechanism_of,
    names,
    start_of,
)
from helpers.trees import random_rotation, random_state, random_tree
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.model import UserError
from mechfmu.multibody.attachments import FramePoint
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.engines import NAMES

pytest_plugins = ["helpers.tree_fixtures"]
pin = needs.module("pinocchio")

G = np.array([0.0, 0.0, -9.81])
VECTORS = ("", "velocity_", "rate_", "gyroscope_", "accelerometer_", "joint_force_", "joint_torque_")
SOLID = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)


def vector_names(frame: str, vectors: tuple[str, ...] = VECTORS) -> list[str]:
    return [f"{frame}.{word}{a}" for word in vectors for a in XYZ]


def quaternion_names(frame: str) -> list[str]:
    return [f"{frame}.quaternion[{k}]" for k in (1, 2, 3, 4)]


def motion_of(model: pin.Model, data: pin.Data, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Pinocchio's rotation, and the vectors of VECTORS but those of the joint; after forwardKinematics(q, v, a)."""
    placed = pin.updateFramePlacement(model, data, number)
    R = placed.rotation
    world = pin.getFrameVelocity(model, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    own = pin.getFrameVelocity(model, data, number, pin.ReferenceFrame.LOCAL)
    a = pin.getFrameClassicalAcceleration(model, data, number, pin.ReferenceFrame.LOCAL).linear
    return R, np.concatenate([placed.translation, world.linear, world.angular, own.angular, a - R.T @ G])


def with_random_frames(tree: BodyTree, random: np.random.Generator) -> BodyTree:
    """One frame on every body, placed and turned at random."""
    points = (
        FramePoint(f"s{b.name}", b.name, tuple(random.uniform(-0.5, 0.5, 3)), tuple(random_rotation(random).ravel()))
        for b in tree.bodies
    )
    return replace(tree, points=tuple(points))


@pytest.mark.parametrize("engine", NAMES)
def test_frames_on_every_kind_of_joint(engine: str) -> None:
    """Pinocchio gets the accelerations found, and a hinge held in place of a fixed joint, whose force it then knows."""
    random = np.random.default_rng(5)
    tree = with_random_frames(random_tree(random, [*KINDS, "fixed"]), random)
    state, force, moment = random_state(random, tree), random.uniform(-5, 5, 3), random.uniform(-2, 2, 3)
    start = start_of(tree, state.q, state.v, state.tau) | load_of(force, moment)
    found = Point(mechanism_of(tree), start, engine=engine)

    hinged = replace(tree, joints=tuple(replace(j, kind="revolute") if j.kind == "fixed" else j for j in tree.joints))
    q, v, a = (_with_held(tree, x, what) for x, what in (
        (state.q, "coordinates"), (state.v, "rates"), (found.get(*names(tree, ACCELERATIONS)), "rates")))  # fmt: skip
    other = PinocchioTree(hinged, G)
    placed = [pin.SE3(np.reshape(p.rotation, (3, 3)), np.array(p.position)) for p in tree.points]
    frames = [
        other.model.addFrame(pin.Frame(p.name, k, 0, placed[k - 1], pin.FrameType.OP_FRAME))
        for k, p in enumerate(tree.points, start=1)
    ]
    data, loads = other.model.createData(), other._loads(other._q(q), force, moment)
    pin.rnea(other.model, data, other._q(q), v, a, loads)
    wrenches = [placed[k - 1].actInv(data.f[k]) for k in range(1, other.model.njoints)]
    pin.forwardKinematics(other.model, data, other._q(q), v, a)
    for number, point, wrench in zip(frames, tree.points, wrenches, strict=True):
        R, vectors = motion_of(other.model, data, number)
        assert np.abs(matrix_of(found.get(*quaternion_names(point.name))) - R).max() < SENSORS
        wanted = np.concatenate([vectors, wrench.linear, wrench.angular])
        assert off_by(found.get(*vector_names(point.name)), wanted) < SENSORS, point.name


def _with_held(tree: BodyTree, x: np.ndarray, what: str) -> np.ndarray:
    """Numbers of all joints, with a zero for each fixed one."""
    parts, at = [], 0
    for joint in tree.joints:
        count = getattr(joint, what)
        parts.append(x[at : at + count] if count else np.zeros(1))
        at += count
    return np.concatenate(parts)


def test_the_tool_of_a_robot_in_its_fmu(tree_fmu: BuildTree, host: Host) -> None:
    """Both programs read the file by themselves; tool0 hangs on fixed joints."""
    (file,) = needs.robot_descriptions().rglob("ur5_robot.urdf")
    robot, model = Tree.from_file(file, frames=["tool0"]), pin.buildModelFromUrdf(str(file))
    random = np.random.default_rng(2)
    q, v = random.uniform(-1.5, 1.5, (2, model.nv))
    data = model.createData()
    tau = np.array(pin.rnea(model, data, q, v, random.uniform(-5, 5, model.nv)))
    a = np.array(pin.aba(model, data, q, v, tau))
    start: dict[str, float] = {}
    for k, name in enumerate(model.names[1:]):
        start |= {f"{name}.angle_start": q[k], f"{name}.rate_start": v[k], f"{name}.torque": tau[k]}
        start |= {f"{name}.damping": 0.0, f"{name}.friction": 0.0}
    pin.forwardKinematics(model, data, q, v, a)
    R, wanted = motion_of(model, data, model.getFrameId("tool0"))
    slave = host.open(tree_fmu(robot)).initialize({n: float(x) for n, x in start.items()})
    assert off_by(slave.get(*vector_names("tool0", VECTORS[:5])), wanted) < ROBOTS
    assert np.abs(matrix_of(np.array(slave.get(*quaternion_names("tool0")))) - R).max() < ROBOTS


def test_an_inertial_sensor_on_a_base_that_moves() -> None:
    """On the base itself: its acceleration less gravity, turned into the sensor's axes. It has no joint."""
    random = np.random.default_rng(8)
    R, e, a = random_rotation(random), random.normal(size=4), random.uniform(-3, 3, 3)
    e /= np.linalg.norm(e)
    tree = BodyTree(
        "t",
        (Body("b", 1.0, (0.1, 0.0, 0.2), SOLID),),
        (Joint("j", "revolute", "b"),),
        points=(FramePoint("imu", "", (0.0, 0.0, 0.0), tuple(R.ravel())),),
    )
    inputs = {f"base.acceleration_{axis}": a[i] for i, axis in enumerate(XYZ)}
    point = Point(mechanism_of(tree, base="moving"), inputs, {f"base.quaternion[{k + 1}]": e[k] for k in range(4)})
    wanted = (matrix_of(e) @ R).T @ (a - G)
    assert off_by(point.get(*vector_names("imu", ("accelerometer_",))), wanted) < ENGINES
    assert "imu.joint_force_x" not in point.mechanism.table.by_name


ROBOT = """<robot name="r"><link name="root"/>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand-2"/>
  <joint name="hinge" type="continuous"><parent link="root"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="hand-2"/><origin xyz="0 0 1"/></joint>
  <sensor name="imu"><parent link="arm"/><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/></sensor>
  <sensor name="arm"><parent link="arm"/><origin xyz="0 0 7"/></sensor>
  <gazebo reference="hand-2"><sensor name="ft"><pose>0 0 0.5 0 0 -1.5707963267948966</pose></sensor></gazebo></robot>"""


def test_links_joints_and_sensors_of_a_file_can_be_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT)
    asked = ["imu", "ft", "hand-2", "mount", "root", "hinge", "arm", "arm_sensor"]
    points = Tree.from_file(file, frames=[*asked, "imu"]).tree.points
    assert [(p.name, p.body) for p in points] == [
        ("imu", "arm"), ("ft", "hand_2"), ("hand_2", "hand_2"), ("mount", "hand_2"), ("root", ""), ("hinge", "arm"),
        ("arm", "arm"), ("arm_sensor", "arm"),
    ]  # fmt: skip
    assert points[0].position == (1, 2, 3)
    assert points[0].rotation == (0, -1, 0, 1, 0, 0, 0, 0, 1)
    assert (points[1].position, points[1].rotation) == ((0, 0, 0.5), (0, 1, 0, -1, 0, 0, 0, 0, 1))
    assert points[-1].position == (0, 0, 7)
    assert "hinge_frame.x" in Tree.from_file(file, frames=asked).table.by_name  # hinge.x could be the joint's
    assert Tree.from_file(file).options == Tree(model=Tree.from_file(file).tree.to_json()).options
    with pytest.raises(UserError, match="--frame imo: there is no link, joint or sensor of this name"):
        Tree.from_file(file, frames=["imo"])


@pytest.mark.parametrize(
    "pose",
    (
        '<pose degrees="true">0 0 0.5 0 0 -90</pose>',
        '<pose rotation_format="quat_xyzw" relative_to="hand-2">0 0 0.5 0 0 -0.70710678 0.70710678</pose>',
    ),
)
def test_poses_of_sensors(pose: str, tmp_path: Path) -> None:
    (file := tmp_path / "robot.urdf").write_text(ROBOT.replace("<pose>0 0 0.5 0 0 -1.5707963267948966</pose>", pose))
    (point,) = read_tree(file, frames=["ft"]).points
    assert (point.position, point.rotation) == ((0, 0, 0.5), (0, 1, 0, -1, 0, 0, 0, 0, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    (
        (
            '<sensor name="imu"><parent link="arm"/>',
            '<sensor name="imu"><parent link="leg"/>',
            "imu: link leg does not",
        ),
        ('name="ft"><pose>', 'name="ft"><pose relative_to="arm">', "ft: relative_to arm is not its link hand-2; it is"),
        ('name="ft"><pose>', 'name="ft"><pose>nan ', "ft: pose: needs 6 numbers, has 7; it is left out"),
    ),
)
def test_the_reason_is_told_where_a_sensor_is_left_out(old: str, new: str, message: str, tmp_path: Path) -> None:
    on_joints = '<sensor name="s"><parent joint="hinge"/></sensor><gazebo reference="hinge"><sensor name="t"/></gazebo>'
    text = ROBOT.replace(old, new).replace("</robot>", f"{on_joints}</robot>")  # those on joints are not mentioned
    (file := tmp_path / "robot.urdf").write_text(text)
    reports: list[str] = []
    read_tree(file, report=reports.append)
    assert len(reports) == 1
    assert f"sensor {message}" in reports[0]


TOML = """
[[body]]
name = "arm"
mass = 1.0
inertia = [1, 1, 1, 0, 0, 0]
[[joint]]
name = "hinge"
kind = "revolute"
child = "arm"
child_position = [0, 0, 0.5]
[[frame]]
name = "imu"
body = "arm"
position = [1, 0, 0]
rotation = { rpy = [0, 0, 1.5707963267948966] }
"""


def test_frames_of_a_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "arm.toml"
    file.write_text(TOML)
    (imu,) = Tree.from_file(file).tree.points
    assert (imu.position, imu.rotation) == ((1, 0, 0.5), (0, -1, 0, 1, 0, 0, 0, 0, 1))
    file.write_text(TOML.replace('body = "arm"', 'body = "leg"'))
    with pytest.raises(UserError, match=r"arm\.toml:11: frame imu: there is no body leg"):
        Tree.from_file(file)
