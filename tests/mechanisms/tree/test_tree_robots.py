"""Real robots from their URDF files against Pinocchio, which reads the same files by itself.

Through the library and through the FMUs.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.chains import off_by
from helpers.fmu_client import Host
from helpers.robot_choices import by_library, first_that_works, reference_of, tree_of, worst
from helpers.tolerances import ROBOT_TABLE, ROBOTS, TOTAL_MASS
from helpers.tree_cases import BuildTree, Point, engine_of
from mechfmu.mechanisms.tree.model import Tree

pytest_plugins = ["helpers.tree_fixtures"]
pin = needs.module("pinocchio")

WHERE = {"ur5": ("ur5_robot.urdf", "fixed"), "panda": ("panda.urdf", "fixed"), "solo12": ("solo12.urdf", "free")}
STATES = 3


def file_of(robot: str) -> Path:
    """In the installed package of robot descriptions."""
    (found,) = needs.robot_descriptions().rglob(WHERE[robot][0])
    return found


@dataclass
class Robot:
    """A robot in both programs, and states of it."""

    tree: Tree
    model: pin.Model

    def point(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, float]]:
        """Pinocchio's q, v and tau, and the same as start values and inputs. Joints are matched by name.

        The torques are those of accelerations of like size in all joints: one light finger must not dwarf the others.
        """
        random, model = np.random.default_rng(seed), self.model
        q = np.array(
            [
                random.uniform(max(low, -3.0), min(high, 3.0))
                for low, high in zip(model.lowerPositionLimit, model.upperPositionLimit, strict=True)
            ]
        )
        for k in self._free():
            e = random.normal(size=4)
            q[model.idx_qs[k] : model.idx_qs[k] + 7] = [*random.uniform(-1.0, 1.0, 3), *(e / np.linalg.norm(e))]
        v, wanted = random.uniform(-1.0, 1.0, (2, model.nv))
        tau = np.array(pin.rnea(model, model.createData(), q, v, 5.0 * wanted))
        kinds = {joint.name: joint.kind for joint in self.tree.tree.joints}
        start: dict[str, float] = {}
        for k in range(1, model.njoints):
            name, at_q, at_v = model.names[k], model.idx_qs[k], model.idx_vs[k]
            if k in self._free():
                name, A = self._free_name(), self._turned(q, at_q)
                groups = {
                    "position_start": q[at_q : at_q + 3],
                    "quaternion_start": q[[at_q + 6, at_q + 3, at_q + 4, at_q + 5]],
                    "speed_start": A @ v[at_v : at_v + 3],
                    "rate_start": v[at_v + 3 : at_v + 6],  # speeds: here the world's, there the body's
                    "force": A @ tau[at_v : at_v + 3],
                    "torque": tau[at_v + 3 : at_v + 6],
                }
                start |= {f"{name}.{word}[{i + 1}]": x for word, values in groups.items() for i, x in enumerate(values)}
                continue
            assert model.nqs[k] == 1, name
            words = ("angle", "rate", "torque") if kinds[name] == "revolute" else ("position", "speed", "force")
            start |= {
                f"{name}.{words[0]}_start": q[at_q],
                f"{name}.{words[1]}_start": v[at_v],
                f"{name}.{words[2]}": tau[at_v],
            }
            start |= {f"{name}.damping": 0.0, f"{name}.friction": 0.0}  # Pinocchio's aba has neither
        return q, v, tau, {name: float(value) for name, value in start.items()}

    def _free(self) -> list[int]:
        return [k for k in range(1, self.model.njoints) if self.model.nvs[k] == 6]

    def _free_name(self) -> str:
        (name,) = (j.name for j in self.tree.tree.joints if j.kind == "free")
        return name

    @staticmethod
    def _turned(q: np.ndarray, at: int) -> np.ndarray:
        return pin.Quaternion(q[at + 6], *q[at + 3 : at + 6]).toRotationMatrix()

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> dict[str, float]:
        """Pinocchio's, by the names of the FMU."""
        a = np.array(pin.aba(self.model, self.model.createData(), q, v, tau))
        found: dict[str, float] = {}
        for k in range(1, self.model.njoints):
            name, at_q, at_v = self.model.names[k], self.model.idx_qs[k], self.model.idx_vs[k]
            if k in self._free():
                name, A = self._free_name(), self._turned(q, at_q)
                linear = A @ (a[at_v : at_v + 3] + np.cross(v[at_v + 3 : at_v + 6], v[at_v : at_v + 3]))
                found |= {f"{name}.linear_acceleration[{i + 1}]": x for i, x in enumerate(linear)}
                found |= {f"{name}.angular_acceleration[{i + 1}]": x for i, x in enumerate(a[at_v + 3 : at_v + 6])}
            else:
                found[f"{name}.acceleration"] = a[at_v]
        return found


@lru_cache
def robot_of(name: str) -> Robot:
    base = WHERE[name][1]
    text = re.sub(
        r"<mimic[^>]*/>", "", file_of(name).read_text()
    )  # a finger that follows another: both programs let it move on its own
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromXML(text)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf"
        file.write_text(text)
        return Robot(Tree.from_file(file, base=base, effort="unlimited", meshes=False), model)


@pytest.fixture(params=WHERE)
def robot(request: pytest.FixtureRequest) -> Robot:
    return robot_of(request.param)


@pytest.mark.parametrize("engine", ("numpy", "casadi"))
def test_accelerations_in_the_library(robot: Robot, engine: str) -> None:
    engine_of(engine, robot.tree)
    for seed in range(STATES):
        q, v, tau, start = robot.point(seed)
        wanted = robot.accelerations(q, v, tau)
        found = Point(robot.tree, start, engine=engine).get(*wanted)
        assert off_by(found, list(wanted.values())) < ROBOTS


def test_accelerations_of_the_fmus(robot: Robot, tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(robot.tree))
    for seed in range(STATES):
        q, v, tau, start = robot.point(seed)
        wanted = robot.accelerations(q, v, tau)
        slave.reset()
        slave.initialize(start)
        assert off_by(slave.get(*wanted), list(wanted.values())) < ROBOTS


def test_every_joint_of_the_file_is_there(robot: Robot) -> None:
    """Degrees of freedom and moving mass are Pinocchio's; a robot half read would have others."""
    assert robot.tree.nv == robot.model.nv
    moves = {"": False}
    for joint in robot.tree.tree.joints:
        moves[joint.child] = moves[joint.parent] or joint.kind != "fixed"
    assert sum(body.mass for body in robot.tree.tree.bodies if moves[body.name]) == pytest.approx(
        pin.computeTotalMass(robot.model), rel=TOTAL_MASS
    )


def test_limits_of_the_file_are_limits_of_the_variables() -> None:
    robot = robot_of("panda")
    for k in range(1, robot.model.njoints):
        name, at = robot.model.names[k], robot.model.idx_qs[k]
        joint = next(j for j in robot.tree.tree.joints if j.name == name)
        start = robot.tree.table.by_name[f"{name}.{'angle' if joint.kind == 'revolute' else 'position'}_start"]
        assert (start.row.min, start.row.max) == (
            robot.model.lowerPositionLimit[at],
            robot.model.upperPositionLimit[at],
        )
        assert start.row.min <= start.start <= start.row.max


# --- files as they are, with the options that they need ---------------------------------------------------------------

SAMPLE = (
    "panda.urdf",  # a finger follows the other
    "talos_left_arm.urdf",  # six joints of a gripper follow one
    "hyq_no_sensors.urdf",  # impossible inertias of links that are fixed to others
    "bolt.urdf",  # inertia without mass, likewise
    "iris_simple.urdf",  # nothing moves but the whole
    "romeo_laas_small.urdf",  # impossible inertias, and joints that move no mass
)


def assert_as_pinocchio(file: Path, states: int) -> None:
    choice, tree, error = first_that_works(file)
    if tree is None:
        assert "has no link" in error
        return
    reference = reference_of(file, choice, tree)
    points = [reference.state(seed) for seed in range(states)]
    assert worst(points, by_library(tree)) < ROBOT_TABLE
    assert tree.nv == reference.G.shape[1]


@pytest.mark.parametrize("name", SAMPLE)
def test_robots_as_they_are(name: str) -> None:
    (file,) = needs.robot_descriptions().rglob(name)
    assert_as_pinocchio(file, STATES)


def test_followers_in_the_fmus(tree_fmu: BuildTree, host: Host) -> None:
    (file,) = needs.robot_descriptions().rglob("panda.urdf")
    tree = tree_of(file, {})
    slave = host.open(tree_fmu(tree))
    for seed in range(STATES):
        state = reference_of(file, {}, tree).state(seed)
        slave.reset()
        slave.initialize(state.start)
        assert off_by(slave.get(*state.wanted), list(state.wanted.values())) < ROBOTS


def test_every_robot_of_the_package() -> None:
    files = sorted(needs.robot_descriptions().rglob("*.urdf"))
    assert len(files) > 60
    for file in files:
        assert_as_pinocchio(file, 10)
