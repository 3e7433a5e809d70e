"""The readers of robot descriptions.

What they read, against Pinocchio's own parser and the golden data, and what they refuse, with line and element.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers import needs
from helpers.paths import DOCS, TESTS
from helpers.robot_files import EXAMPLE, ROBOT
from helpers.tolerances import GOLDEN, OTHER_CODE, TOTAL_MASS
from helpers.trees import TreeState, golden_tree, separate_bodies
from mechfmu.mechanisms.spherical_arm.wittenburg import AT_REST
from mechfmu.mechanisms.tree.readers import common as reading
from mechfmu.mechanisms.tree.readers import toml_file, urdf
from mechfmu.mechanisms.tree.readers.common import legal_names
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.mechanisms.tree.readers.toml_file import read_toml
from mechfmu.mechanisms.tree.readers.urdf import read_urdf
from mechfmu.model import UserError
from mechfmu.multibody.rotations import from_quaternion
from mechfmu.multibody.tree import BodyTree, Joint

FORMAT = DOCS / "tree_format.md"
GRAVITY = np.array([0.0, 0.0, -9.81])


def accelerations(tree: BodyTree, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return separate_bodies(tree, TreeState(q, v, tau, AT_REST, {}, GRAVITY)).vdot


def off_by(found: Any, expected: Any) -> float:
    """Relative to the largest element; nan counts as infinitely wrong."""
    error = float(np.max(np.abs(np.asarray(found) - expected)) / np.max(np.abs(expected)))
    return error if np.isfinite(error) else np.inf


# --- URDF: what is read -----------------------------------------------------------------------------------------------


POINTS = '<inertial><mass value="9"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
HEAVY = ROBOT.replace('<link name="ground"/>', f'<link name="ground">{POINTS}</link>')


def test_fields_of_a_urdf() -> None:
    tree = read_urdf(ROBOT)
    assert tree.name == "toy"
    assert [b.name for b in tree.bodies] == [
        "upper",
        "flange",
        "tool",
        "slider",
    ]  # depth first, joints in the order of the file
    shoulder, mount, screw, rail = tree.joints
    assert (shoulder.kind, shoulder.parent, shoulder.position) == ("revolute", "", (0.1, 0.0, 0.5))
    assert shoulder.axis == pytest.approx((0, np.sqrt(0.5), np.sqrt(0.5)), abs=1e-15)
    assert (shoulder.lower, shoulder.upper, shoulder.effort, shoulder.damping, shoulder.friction) == (
        -1.5,
        2,
        30,
        0.4,
        0.25,
    )
    assert (mount.kind, mount.parent, mount.position) == ("fixed", "upper", (0, 0, 0.4))
    assert (screw.kind, screw.axis, screw.lower, screw.upper, screw.effort) == ("revolute", (1, 0, 0), None, None, None)
    assert (rail.kind, rail.axis, rail.lower, rail.upper) == ("prismatic", (0, 0, -1), 0, 0.3)
    assert (tree.bodies[0].mass, tree.bodies[0].com) == (2.5, (0, 0.02, 0.2))
    assert tree.bodies[1].mass == 0
    assert tree.bodies[2].inertia == (0.004, 0.005, 0.002, 0, 0, 0)


def test_a_file_and_its_text_give_the_same_tree(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT)
    assert read_urdf(file) == read_urdf(str(file)) == read_urdf(ROBOT) == read_urdf(ROBOT.encode())
    assert read_tree(file, meshes=False) == replace(
        read_urdf(file), points=(), contacts=()
    )  # frames are for those who ask
    assert read_urdf(ROBOT.encode("utf-16")) == read_urdf(ROBOT)  # what a redirection in PowerShell writes
    assert (
        read_urdf(
            ROBOT.replace('?xml version="1.0"', '?xml version="1.0" encoding="latin-1"').replace("toy", "töy")
        ).name
        == "t_y"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    (
        ('?xml version="1.0"', '?xml version="0.0"'),
        ('value="2.5"', 'value=" 2.5\n"'),
        ('lower="-1.5"', 'lower="-1.5 "'),
    ),
)
def test_odd_versions_of_xml_and_blanks_around_numbers_are_accepted(old: str, new: str) -> None:
    assert read_urdf(ROBOT.replace(old, new, 1).encode()) == read_urdf(ROBOT)


def test_a_robot_without_name_is_called_like_its_file(tmp_path: Path) -> None:
    (tmp_path / "my-robot.urdf").write_text(ROBOT.replace('name="toy" ', ""))
    assert read_urdf(tmp_path / "my-robot.urdf").name == "my_robot"


def test_a_default_namespace_and_foreign_elements_do_not_disturb() -> None:
    text = ROBOT.replace("<robot ", '<robot xmlns="http://www.ros.org" xmlns:s="http://sensors" ').replace(
        "<link name=", "<s:joint/><link name="
    )
    assert read_urdf(text) == read_urdf(ROBOT)


def test_free_base() -> None:
    tree = read_urdf(HEAVY, "free")
    assert (tree.bodies[0].name, tree.bodies[0].mass) == ("ground", 9)
    assert (tree.joints[0].name, tree.joints[0].kind, tree.joints[0].parent) == ("base", "free", "")
    assert [j.parent for j in tree.joints] == ["", "ground", "upper", "flange", "ground"]
    assert read_urdf(HEAVY).bodies == tree.bodies[1:], "a held root link has no inertia"


def test_free_base_avoids_the_names_of_the_file() -> None:
    text = HEAVY.replace('joint name="mount"', 'joint name="base"').replace(
        'joint name="rail"', 'joint name="base_joint"'
    )
    assert [j.name for j in read_urdf(text, "free").joints] == ["base_0", "shoulder", "base", "screw", "base_joint"]


def test_free_base_needs_mass_on_the_root_link_or_on_what_is_fixed_to_it() -> None:
    with pytest.raises(
        UserError,
        match=r"description:5: link ground: the root link cannot float: neither it nor a link fixed to it has mass",
    ):
        read_urdf(ROBOT, "free")
    dummy = f"""<robot name="r"><link name="root"/><link name="pelvis">{POINTS}</link><link name="leg">{POINTS}</link>
        <joint name="to_pelvis" type="fixed"><parent link="root"/><child link="pelvis"/></joint>
        <joint name="hip" type="revolute"><parent link="pelvis"/><child link="leg"/></joint></robot>"""
    tree = read_urdf(dummy, "free")
    assert [(j.name, j.kind, j.child) for j in tree.joints] == [
        ("base", "free", "root"),
        ("to_pelvis", "fixed", "pelvis"),
        ("hip", "revolute", "leg"),
    ]
    with pytest.raises(UserError, match="link root: the root link cannot float"):
        read_urdf(dummy.replace('name="to_pelvis" type="fixed"', 'name="to_pelvis" type="revolute"'), "free")


def test_origins_may_have_quaternions() -> None:
    """As in URDF 1.1: 90 degrees about z, its length rounded."""
    quaternion, angles = 'quat_xyzw="0 0 .70711 .70711"', f'rpy="0 0 {np.pi / 2}"'
    both = (read_urdf(ROBOT.replace('rpy="0.3 -0.2 0.1"', new)) for new in (quaternion, angles))
    assert next(both) == next(both)


@pytest.mark.parametrize("base", ("floating", "", "moving"))
def test_other_bases_are_rejected(base: str) -> None:
    with pytest.raises(UserError, match="must be fixed or free"):
        read_urdf(ROBOT, base)


def test_names_are_made_legal_and_stay_unique() -> None:
    assert legal_names(["a b", "a_b", "a-b", "1st", "ok", "é", "a_b_2"]) == {
        "a b": "a_b_3",
        "a_b": "a_b",
        "a-b": "a_b_4",
        "1st": "_1st",
        "ok": "ok",
        "é": "_",
        "a_b_2": "a_b_2",
    }
    text = (
        ROBOT.replace('"upper"', '"upper arm"')
        .replace('"tool"', '"upper-arm"')
        .replace('name="screw"', 'name="3.5/screw"')
        .replace('"toy"', '"1 toy"')
    )
    tree = read_urdf(text)
    assert tree.name == "_1_toy"
    assert [b.name for b in tree.bodies] == ["upper_arm", "flange", "upper_arm_2", "slider"]
    assert [(j.name, j.parent, j.child) for j in tree.joints[1:3]] == [
        ("mount", "upper_arm", "flange"),
        ("_3_5_screw", "flange", "upper_arm_2"),
    ]


# --- URDF against Pinocchio -------------------------------------------------------------------------------------------


def random_motion(tree: BodyTree, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q: list[float] = []
    for joint in tree.joints:
        own = random.uniform(-1.5, 1.5, joint.coordinates)
        if joint.kind == "free":
            own[3:] /= np.linalg.norm(own[3:])
        q.extend(own)
    return np.array(q), random.uniform(-1.5, 1.5, sum(j.rates for j in tree.joints))


class Pinocchio:
    """Pinocchio's model of the same URDF, in our coordinates: joints in the order of our tree.

    Free joints with speeds in the axes of their parent.
    """

    def __init__(self, text: str, tree: BodyTree):
        self.pin = needs.module("pinocchio")
        text = (
            text.replace("oops", "1").replace("nonsense", "1").replace('"x y z"', '"1 1 1"')
        )  # it reads what we ignore
        free_base = tree.joints[0].name == "base"
        self.model = (
            self.pin.buildModelFromXML(text, self.pin.JointModelFreeFlyer())
            if free_base
            else self.pin.buildModelFromXML(text)
        )
        self.model.gravity.linear = GRAVITY
        self.moving = [j for j in tree.joints if j.rates]
        assert len(self.moving) == len(self.model.joints) - 1
        self.total_mass = sum(i.mass for i in list(self.model.inertias)[1:])

    def places(self) -> list[tuple[Joint, int, int, int, int]]:
        """Each joint with its first coordinate and rate here, and there."""
        found, q, v = [], 0, 0
        for joint in self.moving:
            name = joint.name if self.model.existJointName(joint.name) else "root_joint"
            theirs = self.model.joints[self.model.getJointId(name)]
            found.append((joint, q, v, theirs.idx_q, theirs.idx_v))
            q, v = q + joint.coordinates, v + joint.rates
        assert v == self.model.nv
        return found

    def forward_and_inverse(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, vdot: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The accelerations due to tau, and the torques that give the accelerations vdot."""
        Q, V, T, A = (
            self.pin.neutral(self.model),
            np.zeros(self.model.nv),
            np.zeros(self.model.nv),
            np.zeros(self.model.nv),
        )
        for joint, i, k, qi, vi in self.places():
            own = slice(vi, vi + joint.rates)
            V[own], T[own], A[own] = v[k : k + joint.rates], tau[k : k + joint.rates], vdot[k : k + joint.rates]
            if joint.kind == "free":
                R = np.asarray(from_quaternion(q[i + 3 : i + 7]))
                Q[qi : qi + 7] = [*q[i : i + 3], *q[i + 4 : i + 7], q[i + 3]]
                V[vi : vi + 3], T[vi : vi + 3] = R.T @ V[vi : vi + 3], R.T @ T[vi : vi + 3]
                A[vi : vi + 3] = R.T @ A[vi : vi + 3] - np.cross(V[vi + 3 : vi + 6], V[vi : vi + 3])
            elif self.model.joints[self.model.getJointId(joint.name)].nq == 2:  # continuous
                Q[qi : qi + 2] = np.cos(q[i]), np.sin(q[i])
            else:
                Q[qi] = q[i]
        forward = self.pin.aba(self.model, self.model.createData(), Q, V, T)
        inverse = self.pin.rnea(self.model, self.model.createData(), Q, V, A)
        own_forward, own_inverse = np.zeros(self.model.nv), np.zeros(self.model.nv)
        for joint, i, k, _, vi in self.places():
            own = slice(k, k + joint.rates)
            own_forward[own], own_inverse[own] = forward[vi : vi + joint.rates], inverse[vi : vi + joint.rates]
            if joint.kind == "free":
                R = np.asarray(from_quaternion(q[i + 3 : i + 7]))
                own_forward[k : k + 3] = R @ (forward[vi : vi + 3] + np.cross(V[vi + 3 : vi + 6], V[vi : vi + 3]))
                own_inverse[k : k + 3] = R @ inverse[vi : vi + 3]
        return own_forward, own_inverse


def worst_difference(tree: BodyTree, other: Pinocchio, states: int = 3) -> float:
    """Of accelerations.

    Random torques accelerate light hands most and would hide errors elsewhere, so a second set of torques makes all
    accelerations about 1.
    """
    random, worst = np.random.default_rng(4), 0.0
    for _ in range(states):
        q, v = random_motion(tree, random)
        tau, vdot = random.uniform(-5, 5, len(v)), random.uniform(-1, 1, len(v))
        forward, inverse = other.forward_and_inverse(q, v, tau, vdot)
        worst = max(
            worst, off_by(accelerations(tree, q, v, tau), forward), off_by(accelerations(tree, q, v, inverse), vdot)
        )
    return worst


ROBOTS = {  # robot: degrees of freedom on a fixed base
    "ur_description/urdf/ur5_robot.urdf": 6,
    "panda_description/urdf/panda.urdf": 9,
    "kinova_description/robots/kinova.urdf": 6,
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf": 2,
    "iris_description/robots/iris.urdf": 4,
    "solo_description/robots/solo12.urdf": 12,
    "go2_description/urdf/go2.urdf": 12,
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": 29,
    "talos_data/robots/talos_reduced.urdf": 32,
    "centauro_description/urdf/centauro.urdf": 39,
}


@pytest.mark.parametrize("base", ("fixed", "free"))
@pytest.mark.parametrize("robot", ROBOTS)
def test_real_robots_move_as_in_pinocchio(robot: str, base: str) -> None:
    text = (needs.robot_descriptions() / robot).read_text()
    text = re.sub(r"<mimic [^>]*/>", "", text)  # Pinocchio lets these joints move on their own
    tree = read_urdf(text, base)
    other = Pinocchio(text, tree)
    assert sum(j.rates for j in tree.joints) == ROBOTS[robot] + 6 * (base == "free")
    if base == "free":
        assert sum(b.mass for b in tree.bodies) == pytest.approx(other.total_mass, rel=TOTAL_MASS)
    assert worst_difference(tree, other) < OTHER_CODE


def test_the_comparison_notices_a_small_change() -> None:
    text = (needs.robot_descriptions() / "solo_description/robots/solo12.urdf").read_text()
    tree = read_urdf(text, "free")
    foot = len(tree.bodies) - 1
    changed = replace(
        tree, bodies=(*tree.bodies[:foot], replace(tree.bodies[foot], mass=tree.bodies[foot].mass * (1 + 1e-6)))
    )
    assert worst_difference(changed, Pinocchio(text, tree)) > 10 * OTHER_CODE


REASONS = (
    "does not exist",
    "triangle inequality",
    "not positive",
    "--inertia warn holds it still",
    "every joint is fixed",
    "nothing can move",
    "no link",
    "has mass",
)


def test_real_robots_are_read_or_rejected_for_a_stated_reason() -> None:
    files = sorted(needs.robot_descriptions().rglob("*.urdf"))
    reasons: dict[str, int] = {}
    for file in files:
        try:
            read_urdf(file)
        except UserError as error:
            where, _, message = str(error).removeprefix(f"{file}").partition(": ")
            reason = next(r for r in REASONS if r in message)
            assert re.fullmatch(r":\d+", where)
            reasons[reason] = reasons.get(reason, 0) + 1
    assert sum(reasons.values()) < len(files) / 6, reasons


def test_every_joint_type_moves_as_in_pinocchio() -> None:
    tree = read_urdf(ROBOT)
    assert worst_difference(tree, Pinocchio(ROBOT, tree)) < OTHER_CODE
    floating = ROBOT.replace('name="rail" type="prismatic"', 'name="rail" type="floating"').replace(
        '<axis xyz="0 0 -3"/><limit upper="0.3" effort="5" velocity="1"/>', '<origin xyz="1 2 3" rpy="1 2 3"/>'
    )
    damped = floating.replace('<origin xyz="1 2 3"', '<dynamics damping="2"/><origin xyz="1 2 3"')
    with pytest.raises(UserError, match=r"joint rail: a floating joint has no damping .*; --ignore free leaves them"):
        read_urdf(damped)
    assert read_urdf(damped, ignore=["free"]) == read_urdf(floating)
    tree = read_urdf(floating)
    assert tree.joints[-1].kind == "free"
    assert worst_difference(tree, Pinocchio(floating, tree)) < OTHER_CODE


@pytest.mark.parametrize("axis", ("0 0 1", "0 0 -2", "1 0 0", "0 -1 0", "1 -2 3", "1e-4 -1e-4 -1"))
def test_a_planar_joint_is_two_slides_and_a_turn(axis: str) -> None:
    """Pinocchio has only planes orthogonal to z, so it gets the three joints.

    Their axes follow the documented rule: the smallest turn from z to the axis.
    """
    a = np.array([float(x) for x in axis.split()])
    a /= np.linalg.norm(a)
    turn = np.cross([0, 0, 1], a)
    angle = np.arctan2(np.linalg.norm(turn), a[2])
    x, y = (
        Rotation.from_rotvec(
            angle * (turn / np.linalg.norm(turn) if np.linalg.norm(turn) > 0 else np.array([1.0, 0, 0]))
        )
        .as_matrix()
        .T
    )[:2]
    head = ROBOT[: ROBOT.index('  <joint name="rail"')]
    tail = """<link name="tip">
        <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial></link>
        <joint name="end" type="revolute"><parent link="slider"/><child link="tip"/>
        <origin xyz="0.3 0.2 0.1" rpy="1 1 1"/><axis xyz="0 1 1"/><limit effort="1" velocity="1"/></joint></robot>"""
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'
    links = '<parent link="ground"/><child link="slider"/>'
    planar = f'{head}<joint name="rail" type="planar">{links}{origin}<axis xyz="{axis}"/></joint>{tail}'
    steps = [
        ("ground", "s1", "prismatic", x, origin),
        ("s1", "s2", "prismatic", y, ""),
        ("s2", "slider", "revolute", a, ""),
    ]
    three = head
    for i, (parent, child, kind, direction, where) in enumerate(steps):
        numbers = " ".join(repr(float(d)) for d in direction)
        three += f'<joint name="step{i}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{where}'
        three += f'<axis xyz="{numbers}"/><limit effort="1" velocity="1"/></joint>'
    three = f'{three}<link name="s1"/><link name="s2"/>{tail}'
    tree, other = read_urdf(planar), Pinocchio(three, read_urdf(three))
    assert [j.kind for j in tree.joints] == ["revolute", "fixed", "revolute", "planar", "revolute"]
    assert worst_difference(tree, other) < OTHER_CODE


# --- URDF: what is refused --------------------------------------------------------------------------------------------

INERTIA = 'ixx="0.004" ixy="0" ixz="0" iyy="0.005" iyz="0" izz="0.002"'

URDF_FAULTS = {  # old text, new text, where the message points, the message
    "syntax": ("</robot>", "</robots>", "</robots>", "is not valid XML: Opening and ending tag mismatch"),
    "undefined entity": ('name="toy"', 'name="&toy;"', "&toy;", "is not valid XML: Entity 'toy' not defined"),
    "wrong root": ("robot", "sdf", "<sdf", "is not a URDF file: its root element is <sdf>"),
    "doctype": ("<!-- every joint type -->", "<!DOCTYPE robot>", "<!DOCTYPE", "a DOCTYPE is not allowed"),
    "xacro": ("<transmission", "<xacro:arm side='left'/><transmission", "<xacro:arm", "its name must end in .xacro"),
    "nameless link": ('<link name="flange"/>', "<link/>", "<link/>", "link: needs a name"),
    "nameless joint": ('<joint name="mount"', '<joint name=""', '<joint name=""', "joint: needs a name"),
    "long name": ('"toy"', f'"{"x" * 201}"', '<robot name="x', "its name is longer than 200 characters"),
    "two links": (
        '<link name="flange"/>',
        '<link name="flange"/>\n<link name="flange" />',
        '"flange" />',
        "link flange: there is another one of this name in line 28",
    ),
    "two joints": (
        'joint name="rail"',
        'joint name="screw"',
        '<joint name="screw" type="prismatic"',
        "joint screw: there is another one of this name in line 34",
    ),
    "unknown parent": (
        '<parent link="flange"/>',
        '<parent link="flanke"/>',
        '<joint name="screw"',
        "joint screw: its parent flanke does not exist; did you mean flange?",
    ),
    "unknown child": (
        '<child link="tool"/>',
        '<child link="hammer"/>',
        '<joint name="screw"',
        "joint screw: its child hammer does not exist",
    ),
    "missing parent": ('<parent link="flange"/>', "", '<joint name="screw"', "joint screw: <joint> has no <parent>"),
    "missing child": ('<child link="tool"/>', "", '<joint name="screw"', "joint screw: <joint> has no <child>"),
    "empty parent": (
        '<parent link="flange"/>',
        '<parent link=""/>',
        '<joint name="screw"',
        "joint screw: its parent has no name",
    ),
    "parent without link": ('<parent link="flange"/>', "<parent/>", "<parent/>", "joint screw: <parent> has no link"),
    "two parent elements": (
        '<parent link="flange"/>',
        '<parent link="flange"/><parent link="upper" />',
        '"upper" />',
        "joint screw: there is a second <parent>",
    ),
    "two parents": (
        '<child link="slider"/>',
        '<child link="tool"/>',
        '<joint name="rail"',
        "joint rail: link tool has two parents, joint screw carries it already",
    ),
    "own parent": (
        '<parent link="flange"/>',
        '<parent link="tool"/>',
        '<joint name="screw"',
        "joint screw: its parent and its child are the same link tool",
    ),
    "loop beside the tree": (
        '<parent link="ground"/>\n',
        '<parent link="tool"/>\n',
        '<joint name="shoulder"',
        "joint shoulder: link upper hangs on a loop: upper -> tool -> flange -> upper",
    ),
    "two roots": (
        '<link name="flange"/>',
        '<link name="flange"/><link name="lost"/>',
        '"lost"',
        "link lost: is a second root link (ground, lost)",
    ),
    "unknown type": (
        'type="prismatic"',
        'type="prismatik"',
        "prismatik",
        "joint rail: unknown type prismatik; did you mean prismatic? (known: revolute, continuous",
    ),
    "no type": (' type="prismatic"', "", '<joint name="rail"', "joint rail: <joint> has no type"),
    "mimic of nobody": (
        '<child link="tool"/>',
        '<child link="tool"/><mimic joint="rali"/>',
        '<joint name="screw"',
        "joint screw: mimic: joint rali does not exist; did you mean rail?; --ignore mimic lets every joint move",
    ),
    "mimic of itself": (
        '<child link="tool"/>',
        '<child link="tool"/><mimic joint="screw"/>',
        '<joint name="screw"',
        "joint screw: mimic: the joints follow each other in a circle: screw -> screw",
    ),
    "mimic of a fixed joint": (
        '<child link="tool"/>',
        '<child link="tool"/><mimic joint="mount"/>',
        '<joint name="screw"',
        "joint screw: mimic: joint mount is fixed, and cannot lead it (only revolute and prismatic joints lead)",
    ),
    "mimic of a floating joint": (
        'name="mount" type="fixed">',
        'name="mount" type="floating"><mimic joint="rail"/>',
        '<joint name="mount"',
        "joint mount: mimic: a free joint cannot follow another (allowed: revolute, prismatic)",
    ),
    "limit of a floating joint": (
        '<joint name="rail" type="prismatic"',
        '<joint name="rail" type="floating"',
        '<limit upper="0.3"',
        "joint rail: a floating joint has no limit upper; --ignore free leaves its limits out",
    ),
    "mimic multiplier": (
        '<child link="tool"/>',
        '<child link="tool"/><mimic joint="rail" multiplier="nan"/>',
        "<mimic",
        "joint screw: mimic multiplier: nan is not a number",
    ),
    "mimic without joint": (
        '<child link="tool"/>',
        '<child link="tool"/><mimic multiplier="2"/>',
        "<mimic",
        "joint screw: <mimic> has no joint",
    ),
    "rotor of nobody": (
        '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>',
        '<transmission name="t"><joint name="elbow"/><rotorInertia>1</rotorInertia></transmission>',
        "<transmission",
        "transmission t: joint elbow does not exist",
    ),
    "rotor of two joints": (
        '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>',
        '<transmission><joint name="rail"/><joint name="shoulder"/><motorInertia>1</motorInertia></transmission>',
        "<transmission",
        "transmission: has 2 joints and 0 actuators: a rotor inertia needs one of each; --ignore transmission leaves",
    ),
    "rotor that is no number": (
        '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>',
        '<transmission><joint name="rail"/><motorInertia>light</motorInertia></transmission>',
        "<motorInertia",
        "transmission: motorInertia: light is not a number",
    ),
    "two reductions": (
        '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>',
        '<transmission name="t"><joint name="rail"><mechanicalReduction>5</mechanicalReduction></joint><actuator>'
        "<mechanicalReduction>10</mechanicalReduction><rotorInertia>1</rotorInertia></actuator></transmission>",
        "<transmission",
        "transmission t: mechanicalReduction is 10 and 5; give it once, or --ignore transmission",
    ),
    "reduction of zero": (
        '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>',
        '<transmission name="t"><joint name="rail"/><mechanicalReduction>0</mechanicalReduction>'
        "<rotorInertia>1</rotorInertia></transmission>",
        "<transmission",
        "transmission t: its reduction is 0",
    ),
    "joint in gazebo": (
        '<joint type="magic"/>',
        '<joint name="loop" type="revolute"><parent>tool</parent><child>ground</child></joint>',
        '<joint name="loop"',
        "unsupported: joint loop in <gazebo>. To leave this out: --ignore loop",
    ),
    "loop joint": (
        "<transmission",
        '<loop_joint name="l"/>\n<linear_bushing_rpy/><force_element/><transmission',
        "<loop_joint",
        "unsupported: loop_joint l; linear_bushing_rpy (line 47) and 1 more. To leave this out: --ignore loop",
    ),
    "joint of Drake": (
        "<transmission",
        '<drake:joint xmlns:drake="d" name="s" type="ball"/><transmission',
        "<drake:",
        "unsupported: drake:joint s. To leave this out: --ignore loop",
    ),
    "spring of Drake": (
        "<transmission",
        '<drake:linear_spring_damper xmlns:drake="d" name="s"/><transmission',
        "<drake:",
        "unsupported: linear_spring_damper s. To leave this out: --ignore spring",
    ),
    "word": ('xyz="0.1 0 0.5"', 'xyz="0.1 abc 0.5"', "abc", "joint shoulder: origin xyz: abc is not a number"),
    "nan": ('xyz="0.1 0 0.5"', 'xyz="0.1 nan 0.5"', "nan", "joint shoulder: origin xyz: nan is not a number"),
    "infinite": ('<mass value="2.5"', '<mass value="inf"', '"inf"', "link upper: mass: inf is not a number"),
    "overflow": ('<mass value="2.5"', '<mass value="1e999"', "1e999", "link upper: mass: inf is not finite"),
    "huge": ('<mass value="2.5"', '<mass value="1e31"', "1e31", "link upper: mass: 1e+31 is too large"),
    "underscore": ('<mass value="2.5"', '<mass value="2_5"', "2_5", "link upper: mass: 2_5 is not a number"),
    "foreign digit": ('<mass value="2.5"', '<mass value="２"', "２", "link upper: mass: ２ is not a number"),
    "no digits": ('<mass value="2.5"', '<mass value=""', '<mass value=""', "link upper: mass: nothing is not a number"),
    "two numbers": (
        'xyz="0.1 0 0.5"',
        'xyz="0.1 0.5"',
        '"0.1 0.5"',
        "joint shoulder: origin xyz: needs 3 numbers, has 2",
    ),
    "two rotations": (
        'rpy="0.3 -0.2 0.1"',
        'rpy="0 0 0" quat_xyzw="0 0 0 1"',
        "quat_xyzw",
        "joint shoulder: its origin has rpy and quat_xyzw",
    ),
    "long quaternion": (
        'rpy="0.3 -0.2 0.1"',
        'quat_xyzw="0 0 1 1"',
        "quat_xyzw",
        "joint shoulder: origin quat_xyzw: the quaternion's length is 1.41421, not 1",
    ),
    "commas": (
        'rpy="0.3 -0.2 0.1"',
        'rpy="0.3, -0.2, 0.1"',
        "0.3,",
        "joint shoulder: origin rpy: 0.3, is not a number",
    ),
    "xacro number": (
        'rpy="0.3 -0.2 0.1"',
        'rpy="0 0 ${pi}"',
        "${pi}",
        "joint shoulder: origin rpy: ${pi} is not a number",
    ),
    "axis": ('<axis xyz="0 2 2"/>', '<axis xyz="0 0 0" />', '"0 0 0" />', "joint shoulder: its axis is zero"),
    "axis without xyz": ('<axis xyz="0 2 2"/>', "<axis/>", "<axis/>", "joint shoulder: <axis> has no xyz"),
    "negative damping": (
        'damping="0.4"',
        'damping="-0.4"',
        '<joint name="shoulder"',
        "joint shoulder: damping -0.4 is negative",
    ),
    "bad friction": ('friction="0.25"', 'friction="x"', 'friction="x"', "joint shoulder: friction: x is not a number"),
    "limits": (
        'lower="-1.5"',
        'lower="2.5"',
        '<joint name="shoulder"',
        "joint shoulder: its lower limit 2.5 is above its upper limit 2",
    ),
    "effort": ('effort="30"', 'effort="-30"', '"-30"', "joint shoulder: limit effort -30 is negative"),
    "no mass": ('<mass value="2.5"/>', "", "<inertial>\n      <origin", "link upper: <inertial> has no <mass>"),
    "mass without value": ('<mass value="2.5"/>', "<mass/>", "<mass/>", "link upper: <mass> has no value"),
    "no inertia": (
        f"<inertia {INERTIA}/>",
        "",
        '<link name="tool"><inertial>',
        "link tool: <inertial> has no <inertia>",
    ),
    "incomplete inertia": (' iyz="0.003"', "", '<inertia ixx="0.04"', "link upper: <inertia> has no iyz"),
    "two inertials": (
        "<collision>",
        "<inertial/>\n<collision>",
        "<inertial/>",
        "link upper: there is a second <inertial>",
    ),
    "negative mass": (
        '<mass value="2.5"',
        '<mass value="-2.5"',
        '<link name="upper"',
        "body upper: mass -2.5 is negative",
    ),
    "not positive": ('ixx="0.004"', 'ixx="-0.004"', '<link name="tool"', "body tool: its inertia is not positive"),
    "triangle": (
        'ixx="0.004"',
        'ixx="0.008"',
        '<link name="tool"',
        "body tool: its inertia breaks the triangle inequality",
    ),
    "inertia without mass": (
        '<mass value="0.5"',
        '<mass value="0"',
        '<link name="tool"',
        "body tool: inertia without mass",
    ),
    "nothing carried": (
        '<child link="slider"/>',
        '<child link="bare"/></joint><link name="bare"/>'
        '<joint name="x" type="revolute"><parent link="ground"/><child link="slider"/>',
        '<joint name="rail"',
        "joint rail moves, but neither its body bare nor anything outboard of it has mass",
    ),
}


def test_rotor_inertias_of_transmissions() -> None:
    """Seen from the joint: times the square of the reduction, which alone has no effect."""
    old = '<transmission name="t"><joint name="shoulder"/><joint name="shoulder"/></transmission>'
    forms = (
        "<actuator><mechanicalReduction>-50</mechanicalReduction><rotorInertia>2e-4</rotorInertia></actuator>",
        "<mechanicalReduction>-50</mechanicalReduction><motorInertia>2e-4</motorInertia>",
        '<actuator xmlns:drake="https://drake.mit.edu"><drake:gear_ratio value="50"/>'
        '<drake:rotor_inertia value="2e-4"/></actuator>',
    )
    for form in forms:
        text = f'<transmission><joint name="shoulder"/>{form}</transmission>'
        tree = read_urdf(ROBOT.replace(old, text))
        assert [joint.armature for joint in tree.joints] == [pytest.approx(0.5), 0.0, 0.0, 0.0], form
    plain = forms[0].partition("<rotorInertia>")[0] + "</actuator>"
    reduction = f'<transmission><joint name="shoulder"/>{plain}</transmission>'
    assert read_urdf(ROBOT.replace(old, reduction)) == read_urdf(ROBOT)
    ignored = f'<transmission><joint name="nobody"/>{forms[0]}</transmission>'
    assert read_urdf(ROBOT.replace(old, ignored), ignore=("transmission",)) == read_urdf(ROBOT)


def test_rotors_of_floating_joints_are_rejected() -> None:
    text = ROBOT.replace('type="continuous"', 'type="floating"').replace('lower="7" upper="-7"', "")
    drive = '<transmission name="d"><joint name="screw"/><rotorInertia>1</rotorInertia></transmission></robot>'
    text = text.replace("</robot>", drive)
    with pytest.raises(UserError, match="transmission d: joint screw is floating and has no rotor; --ignore trans"):
        read_urdf(text)
    assert read_urdf(text, ignore=["transmission"]).joints[2].armature == 0


def test_limits_loops_and_springs_can_be_ignored() -> None:
    text = ROBOT.replace('type="prismatic"', 'type="planar"')
    extended = text.replace("</robot>", '<loop_joint name="l"/><force_element/></robot>')
    with pytest.raises(UserError, match=":44: joint rail: a planar joint has no limit upper; --ignore planar leaves"):
        read_urdf(text)
    assert read_urdf(extended, ignore=["planar", "loop", "spring"]) == read_urdf(text, ignore=["planar"])


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    (
        (
            'upper="2"',
            'uper="2"',
            11,
            "joint shoulder: unknown attribute uper in <limit> is ignored; did you mean upper?",
        ),
        (
            "<dynamics ",
            "<dynamic ",
            12,
            "joint shoulder: unknown element <dynamic> in <joint> is ignored; did you mean",
        ),
        ("<limit ", "<limits ", 11, "joint shoulder: unknown element <limits> in <joint> and 2 more are ignored; did"),
        (
            'xyz="0 0.02',
            'xzy="0 0.02',
            18,
            "link upper: unknown attribute xzy in <origin> is ignored; did you mean xyz?",
        ),
        (
            "</inertial>",
            "<density/></inertial>",
            21,
            "link upper: unknown element <density> in <inertial> and 2 more are",
        ),
        ("<safety_controller", '<v:limits xmlns:v="v"/><hardwareInterface', 0, ""),
    ),
)
def test_unknown_elements_and_attributes_are_reported_once(old: str, new: str, line: int, message: str) -> None:
    reports: list[tuple[str, int]] = []
    read_urdf(ROBOT.replace(old, new), report=lambda *report: reports.append(report))
    assert [number for _, number in reports] == ([line] if message else [])
    assert all(text.startswith(message) for text, _ in reports)


def test_mimic_elements() -> None:
    """Names are changed as those of the joints are, and a fixed joint follows nobody."""
    text = ROBOT.replace('name="rail"', 'name="the-rail"')
    text = text.replace('<child link="tool"/>', '<child link="tool"/><mimic joint="the-rail" offset="0.1"/>')
    text = text.replace('<child link="flange"/>', '<child link="flange"/><mimic joint="screw"/>')
    tree = read_urdf(text)
    mimics = {joint.name: (joint.mimic, joint.multiplier, joint.offset) for joint in tree.joints if joint.mimic}
    assert mimics == {"screw": ("the_rail", 1.0, 0.1)}
    assert not any(joint.mimic for joint in read_urdf(text, ignore=("mimic",)).joints)


@pytest.mark.parametrize("case", URDF_FAULTS)
def test_faults_of_a_urdf(case: str) -> None:
    old, new, at, message = URDF_FAULTS[case]
    assert old in ROBOT
    text = (
        ROBOT.replace(old, new, 1)
        if case != "wrong root"
        else ROBOT.replace("<robot ", "<sdf ").replace("</robot>", "</sdf>")
    )
    line = text[: text.index(at)].count("\n") + 1
    with pytest.raises(UserError) as caught:
        read_urdf(text)
    assert str(caught.value).startswith(f"description:{line}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


PAIR = '<link name="a"/><link name="b"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'


@pytest.mark.parametrize(
    ("text", "message"),
    (
        ("<robot/>", "description:1: has no link"),
        (
            '<robot><link name="a"/></robot>',
            "description:1: link a: is the only link and the base, so nothing can move; with mass and inertia, --base",
        ),
        (
            f'<robot><link name="a">{POINTS}</link></robot>',
            "description:1: link a: is the only link and the base, so nothing can move; --base free lets it float",
        ),
        (
            f"<robot>{PAIR}</robot>",
            "description:1: no joint of the tree can move: every joint is fixed; with mass and inertia, --base",
        ),
        (
            "<robot>" + PAIR.replace('"b"/>', f'"b">{POINTS}</link>', 1) + "</robot>",
            "description:1: no joint of the tree can move: every joint is fixed; --base free lets the robot float",
        ),
        (
            f'<robot>{PAIR}<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
            "description:2: has no root link: its joints form a loop",
        ),
        ("<", "description:1: is not valid XML: "),
        ("<robot><link name='a'/>", "description:1: is not valid XML: "),
    ),
)
def test_faults_of_a_whole_urdf(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_urdf(text)
    assert message in str(caught.value)


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    text = ROBOT.replace('"flange"', '"a&#10;b&#x202e;c"').replace(
        '<parent link="a&#10;b&#x202e;c"/>', '<parent link="a&#10;b"/>'
    )
    with pytest.raises(UserError) as caught:
        read_urdf(text)
    assert str(caught.value).isprintable()


LAUGHS = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
ENTITIES = {  # what stands between <!DOCTYPE robot and > in an otherwise valid file, whose name is &a;
    "unused": "",
    "internal": '[<!ENTITY a "toy">]',
    "external": '[<!ENTITY a SYSTEM "file://{secret}">]',
    "external subset": 'SYSTEM "file://{secret}"',
    "parameter": '[<!ENTITY % b SYSTEM "file://{secret}"> %b; <!ENTITY a "toy">]',
    "network": 'SYSTEM "http://127.0.0.1:9/robot.dtd"',
    "laughs": f'[<!ENTITY e0 "ha">{LAUGHS}<!ENTITY a "&e11;">]',
}


@pytest.mark.parametrize("encoding", ("utf-8", "utf-16", "cp037"))
@pytest.mark.parametrize("kind", ENTITIES)
def test_entities_are_never_read(kind: str, encoding: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY a 'top secret'>")
    declared = ENTITIES[kind].replace("{secret}", secret.as_posix())
    text = ROBOT.replace('version="1.0"', f'version="1.0" encoding="{encoding}"').replace(
        "<!-- every joint type -->", f"<!DOCTYPE robot {declared}>"
    )
    text = text.replace('name="toy"', 'name="toy"' if kind == "unused" else 'name="&a;"')
    with pytest.raises(UserError) as caught:
        read_urdf(text.encode(encoding))
    assert "secret" not in str(caught.value)
    if encoding == "utf-8" or (encoding == "utf-16" and kind in ("unused", "internal")):
        assert (
            str(caught.value)
            == f"description:{2 if encoding == 'utf-8' else 1}: a DOCTYPE is not allowed in a robot description"
        )
    else:  # the parser may refuse what was declared before we see the DOCTYPE
        assert re.match(r"description:\d+: (a DOCTYPE is not allowed|is not valid XML)", str(caught.value))


def test_xinclude_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "more.xml").write_text("<robot><link name='extra'/></robot>")
    include = (
        f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{(tmp_path / "more.xml").as_posix()}"/></robot>'
    )
    assert read_urdf(ROBOT.replace("</robot>", include)) == read_urdf(ROBOT)


def test_depth_and_count_are_limited() -> None:
    with pytest.raises(UserError, match="depth"):
        read_urdf("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>")
    with pytest.raises(UserError, match="there are 5001 link elements; at most 5000 are allowed"):
        read_urdf("<robot>" + '<link name="a"/>' * 5001 + "</robot>")


def test_a_long_chain_needs_no_recursion() -> None:
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="1"/><inertia {INERTIA}/></inertial></link>' for i in range(1500)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in reversed(range(1499))
    )
    tree = read_urdf(f"<robot>{links}{joints}</robot>")
    assert [b.name for b in tree.bodies] == [f"l{i}" for i in range(1, 1500)]


# --- files ------------------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("none.urdf", "none.toml"):
        with pytest.raises(UserError, match=rf"{name}: No such file or directory"):
            read_tree(tmp_path / name)
        (tmp_path / name).mkdir()
        with pytest.raises(UserError, match=rf"{name}: is not a file"):
            read_tree(tmp_path / name)
    for path in ("a\0b.urdf", "x" * 5000 + ".toml"):
        with pytest.raises(UserError):
            read_tree(path)
    (tmp_path / "empty.urdf").touch()
    with pytest.raises(UserError, match=r"empty.urdf:1: is not valid XML: Document is empty"):
        read_tree(tmp_path / "empty.urdf")
    for module, suffix in ((urdf, "urdf"), (toml_file, "toml")):
        monkeypatch.setattr(module, "MAX_BYTES", 1000)
        (tmp_path / f"large.{suffix}").write_text("#" * 1001)
        with pytest.raises(UserError, match=r"is larger than 0\.001 MB"):
            read_tree(tmp_path / f"large.{suffix}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in this file system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(UserError, match="is not a file"):
        read_tree(tmp_path / "pipe.urdf")


def test_the_suffix_chooses_the_reader(tmp_path: Path) -> None:
    for name, text in (("a.URDF", ROBOT), ("a.toml", EXAMPLE.read_text())):
        (tmp_path / name).write_text(text)
        assert read_tree(tmp_path / name, meshes=False).bodies
    with pytest.raises(UserError, match=r"base=free is for URDF and SDF files"):
        read_tree(tmp_path / "a.toml", "free")
    with pytest.raises(UserError, match=r"must end in .urdf, .xacro, .sdf, .xml"):
        read_tree("a.json")


# --- TOML: what is read -----------------------------------------------------------------------------------------------

ARM = json.loads((TESTS / "golden" / "spherical_arm_7dof.json").read_text())["variants"]
TREES = json.loads((TESTS / "golden" / "random_trees.json").read_text())["trees"]


def test_the_example_against_the_golden_accelerations() -> None:
    tree, angles = read_tree(EXAMPLE), read_toml(EXAMPLE.read_text().replace('"spherical"', '"euler_zxz"'))
    for state in ARM["mounted"]["states"]:
        found = accelerations(angles, *(np.array(state[key]) for key in ("q", "v", "tau")))
        assert off_by(found, state["qdd"]) < GOLDEN
        form = state["quaternion_form"]
        q = np.array(form["q"])
        for first in (0, 4):
            # the golden quaternion turns child axes into the parent's, ours into those of the joint, which is mounted
            # at -90 degrees about x
            half = np.sqrt(0.5)
            w, x, y, z = q[first : first + 4]
            q[first : first + 4] = half * w - half * x, half * x + half * w, half * y - half * z, half * z + half * y
        assert off_by(accelerations(tree, q, np.array(form["v"]), np.array(form["tau"])), form["vdot"]) < GOLDEN


def test_the_documentation_shows_the_example_and_is_right_about_mass_centres() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", FORMAT.read_text(), re.DOTALL)
    assert blocks[0] == EXAMPLE.read_text()
    tables = EXAMPLE.read_text().split("[[")
    others = "[[".join(t for t in tables if 'name = "hand"' not in t and 'name = "wrist"' not in t)
    ours, other = read_toml(EXAMPLE), read_toml(others + "\n" + blocks[1])
    assert ours.joints == other.joints
    assert ours.bodies == other.bodies


def in_toml(model: dict, form: str) -> str:
    """A golden model with each body in its own axes with the origin in its mass centre, as the golden data has it."""
    text = []
    for k, body in reversed(
        list(enumerate(model["bodies"], start=1))
    ):  # children first: the order is the reader's task
        joint = body["joint"]
        Gp, Gc, J, cc = (np.array(m) for m in (joint["Gp"], joint["Gc"], body["J"], joint["cc"]))
        kind = {"quaternion": "spherical"}.get(joint["kind"], joint["kind"])
        text += [
            "[[joint]]",
            f'name = "j{k}"',
            f'kind = "{kind}"',
            f'child = "b{k}"',
            f"position = {joint['cp']}",
            f"rotation = {rotation(Gp, form)}",
        ]
        text += [f"child_position = {(-Gc.T @ cc).tolist()}", f"child_rotation = {rotation(Gc.T, form)}"]
        text += [f'parent = "b{body["parent"]}"'] if body["parent"] else []
        text += [f"axis = {joint['axis']}"] if joint["axis"] else []
        text += [
            "[[body]]",
            f'name = "b{k}"',
            f"mass = {body['mass']}",
            f"inertia = {J[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)].tolist()}",
        ]
    return "\n".join(text)


def rotation(R: np.ndarray, form: str) -> str:
    values = {
        "matrix": R.tolist(),
        "quaternion": np.roll(Rotation.from_matrix(R).as_quat(), 1).tolist(),
        "rpy": [
            float(np.arctan2(R[2, 1], R[2, 2])),
            float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))),
            float(np.arctan2(R[1, 0], R[0, 0])),
        ],
    }
    return f"{{ {form} = {values[form]} }}"


@pytest.mark.parametrize("form", ("matrix", "quaternion", "rpy"))
@pytest.mark.parametrize(
    "model",
    [ARM["mounted"]["model"], ARM["plain"]["model"], *(t["model"] for t in TREES)],
    ids=("mounted", "plain", "tree1", "tree2"),
)
def test_bodies_in_frames_of_their_own(model: dict, form: str) -> None:
    """The golden trees are tested elsewhere; a file in other frames must give the same tree."""
    expected = golden_tree(model)
    tree = read_toml(in_toml(model, form))
    by_name = {b.name: (b, j) for b, j in zip(tree.bodies, tree.joints, strict=True)}
    for k, (body, joint) in enumerate(zip(expected.bodies, expected.joints, strict=True), start=1):
        found_body, found_joint = by_name[f"b{k}"]
        assert found_joint.kind == joint.kind
        assert found_joint.parent.replace("b", "body ") == joint.parent
        for key in ("com", "inertia"):
            assert getattr(found_body, key) == pytest.approx(getattr(body, key), abs=1e-14)
        for key in ("position", "rotation", "axis"):
            assert getattr(found_joint, key) == pytest.approx(getattr(joint, key), abs=1e-14)


def test_golden_accelerations_through_frames_of_their_own() -> None:
    for variant in ARM.values():
        tree = read_toml(in_toml(variant["model"], "quaternion"))
        for state in variant["states"]:
            assert (
                off_by(accelerations(tree, *(np.array(state[key]) for key in ("q", "v", "tau"))), state["qdd"]) < GOLDEN
            )


def test_all_keys_of_a_toml_file() -> None:
    text = """
body = [{ name = "a", mass = 1, inertia = [1, 1, 1, 0, 0, 0] }]
[[joint]]
name = "a"
kind = "prismatic"
child = "a"
parent = ""
position = [1, 2, 3]
rotation = { rpy = [0, 0, 3.141592653589793] }
axis = [0, -2, 0]
stiffness = 1
rest = 2
damping = 3
friction = 4
friction_speed = 5
lower = -6
upper = 7
effort = 8
armature = 9
"""
    tree = read_toml(text)
    assert tree.name == "tree"
    place = "", (1, 2, 3), (-1, 0, 0, 0, -1, 0, 0, 0, 1), (0, -1, 0)
    numbers = 1, 2, 3, 4, 5, -6, 7, 8
    assert tree.joints == (Joint("a", "prismatic", "a", *place, *numbers, armature=9),)


def test_a_joint_of_a_toml_file_that_follows_another() -> None:
    second = (
        '[[joint]]\nname = "b"\nkind = "revolute"\nparent = "forearm"\nchild = "b"\nmimic = "wrist"\noffset = 0.5\n'
    )
    body = '\n[[body]]\nname = "b"\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n'
    tree = read_toml(EXAMPLE.read_text() + body + second)
    assert [(j.mimic, j.multiplier, j.offset) for j in tree.joints if j.mimic] == [("wrist", 1.0, 0.5)]


def test_subtables_and_rounded_rotations() -> None:
    text = EXAMPLE.read_text()
    as_table = text.replace(
        "rotation = { rpy = [-1.5707963267948966, 0, 0] } # turned",
        "[joint.rotation]\nrpy = [-1.5707963267948966, 0, 0] # turned",
    )
    assert as_table != text
    assert read_toml(as_table) == read_toml(text)
    for form in ("quaternion = [0.7071068, -0.7071068, 0, 0]", "matrix = [[1, 0, 0], [0, 1e-8, 1], [0, -1, 0]]"):
        tree = read_toml(text.replace("rpy = [-1.5707963267948966, 0, 0]", form))
        assert tree.joints[0].rotation == pytest.approx(read_toml(text).joints[0].rotation, abs=1e-7)
    assert (
        read_toml(text.replace("\n", "\r\n").encode())
        == read_toml(b"\xef\xbb\xbf" + text.encode())
        == read_toml(EXAMPLE)
    )


# --- TOML: what is refused --------------------------------------------------------------------------------------------

TOML_FAULTS = {  # old text, new text, where the message points, the message
    "syntax": (
        "mass = 4.0",
        "mass = 4,0",
        "4,0",
        "is not valid TOML: Expected newline or end of document after a statement",
    ),
    "unclosed": (
        "com = [0, 0, -0.2]",
        "com = [0, 0, -0.2",
        "inertia = { xx = 0.075",
        "is not valid TOML: Unclosed array",
    ),
    "key twice": ("mass = 4.0", "mass = 4.0\nmass = 5.0", "mass = 5.0", "is not valid TOML: Cannot overwrite a value"),
    "gravity": (
        'name = "',
        'gravity = -1.6\nname = "',
        "gravity",
        "gravity -1.6 m/s2: must be finite and not negative",
    ),
    "top key": (
        'name = "spherical_arm"',
        'nane = "spherical_arm"',
        "nane",
        "the file: unknown key nane; did you mean name? (known: name, gravity, body, joint, shape, frame, contact)",
    ),
    "table": (
        '[[joint]]\nname = "wrist"',
        '[[joints]]\nname = "wrist"',
        "[[joints]]",
        "the file: unknown key joints; did you mean joint?",
    ),
    "body key": ("mass = 2.5", "mas = 2.5", "mas = 2.5", "body forearm: unknown key mas; did you mean mass?"),
    "joint key": (
        'parent = "upper_arm"',
        'parrent = "upper_arm"',
        "parrent",
        "joint elbow: unknown key parrent; did you mean parent?",
    ),
    "nameless": ('name = "forearm" # 0.4 m long', "", "[[body]]\n\nmass = 2.5", "body 2: needs a name"),
    "bad name": (
        'name = "wrist"',
        'name = "left-wrist"',
        "left-wrist",
        "joint left-wrist: a name is made of letters, digits and _",
    ),
    "control character": ('name = "wrist"', 'name = "a\\u001bb"', "u001b", r"joint 'a\x1bb': a name is made of"),
    "name of the file": (
        'name = "spherical_arm"',
        "name = 7",
        "name = 7",
        "name 7: must be a text of letters, digits and _",
    ),
    "number as text": ("mass = 2.5", 'mass = "2.5"', '"2.5"', "body forearm: mass must be a number"),
    "true": ("mass = 2.5", "mass = true", "= true", "body forearm: mass must be a number"),
    "nan": ("mass = 2.5", "mass = nan", "= nan", "body forearm: mass: nan is not finite"),
    "infinite": ("mass = 2.5", "mass = -inf", "= -inf", "body forearm: mass: -inf is not finite"),
    "overflow": ("mass = 2.5", "mass = 1e999", "1e999", "body forearm: mass: inf is not finite"),
    "huge": ("mass = 2.5", "mass = 1e31", "1e31", "body forearm: mass: 1e+31 is too large"),
    "huge integer": ("mass = 2.5", f"mass = 0x{'f' * 5000}", "0xfff", "body forearm: mass is too large"),
    "count": (
        "com = [0, 0, -0.18]",
        "com = [0, -0.18]",
        "com = [0, -0.18]",
        "body forearm: com must be a list of 3 numbers",
    ),
    "no list": ("com = [0, 0, -0.18]", "com = 0.18", "com = 0.18", "body forearm: com must be a list of 3 numbers"),
    "inertia count": (
        "inertia = { xx = 0.038, yy = 0.036, zz = 0.005 }",
        "inertia = [1, 1, 1]",
        "[1, 1, 1]",
        "body forearm: inertia must be a list of 6 numbers",
    ),
    "inertia key": ("zz = 0.005", "zz = 0.005, zx = 0", "zx", "body forearm: inertia: unknown key zx"),
    "inertia part": (", zz = 0.005", "", "yy = 0.036 }", "body forearm: inertia needs zz"),
    "no inertia": (
        "inertia = { xx = 0.038, yy = 0.036, zz = 0.005 }",
        "",
        '[[body]]\nname = "forearm"',
        "body forearm: has a mass and no inertia",
    ),
    "negative mass": ("mass = 2.5", "mass = -2.5", '[[body]]\nname = "forearm"', "body forearm: mass -2.5 is negative"),
    "not positive": (
        "xx = 0.038",
        "xx = -0.038",
        '[[body]]\nname = "forearm"',
        "body forearm: its inertia is not positive",
    ),
    "triangle": (
        "xx = 0.038",
        "xx = 0.38",
        '[[body]]\nname = "forearm"',
        "body forearm: its inertia breaks the triangle inequality",
    ),
    "no mass": ("mass = 1.2", "mass = 0", '[[body]]\nname = "hand"', "body hand: inertia without mass"),
    "nothing carried": (
        "mass = 1.2\ncom = [0, 0, -0.11]\ninertia = { xx = 0.007, yy = 0.0064, zz = 0.0011 }",
        "",
        '[[joint]]\nname = "wrist"',
        "joint wrist moves, but neither its body hand nor anything outboard of it has mass",
    ),
    "kind": (
        'kind = "revolute"',
        'kind = "revolut"',
        '"revolut"',
        "joint wrist: unknown kind revolut; did you mean revolute? (known: fixed, revolute",
    ),
    "no kind": ('kind = "revolute"\n', "", '[[joint]]\nname = "wrist"', "joint wrist: needs a kind"),
    "kind as number": (
        'kind = "revolute"\n',
        "kind = 3\n",
        "kind = 3",
        "joint wrist: kind must be a text in quotation marks",
    ),
    "no child": ('child = "hand"\n', "", '[[joint]]\nname = "wrist"', "joint wrist: needs a child"),
    "unknown parent": (
        'parent = "forearm"',
        'parent = "forarm"',
        '[[joint]]\nname = "wrist"',
        "joint wrist: its parent forarm does not exist; did you mean forearm?",
    ),
    "unknown child": (
        'child = "hand"',
        'child = ""',
        '[[joint]]\nname = "wrist"',
        "joint wrist: its child  does not exist",
    ),
    "two parents": (
        'child = "hand"',
        'child = "upper_arm"',
        '[[joint]]\nname = "wrist"',
        "joint wrist: body upper_arm has two parents, joint shoulder carries it already",
    ),
    "not carried": (
        '[[body]]\nname = "hand"',
        '[[body]]\nname = "lost"\n[[body]]\nname = "hand"',
        '[[body]]\nname = "lost"',
        "body lost: no joint carries it",
    ),
    "loop": (
        'kind = "spherical"\nchild = "upper_arm"',
        'kind = "spherical"\nchild = "upper_arm"\nparent = "hand"',
        '[[joint]]\nname = "shoulder"',
        "joint shoulder: body upper_arm hangs on a loop: upper_arm -> hand -> forearm -> upper_arm",
    ),
    "own parent": (
        'parent = "forearm"',
        'parent = "hand"',
        '[[joint]]\nname = "wrist"',
        "joint wrist: its parent and its child are the same body hand",
    ),
    "two bodies": (
        'name = "hand" # 0.25',
        'name = "forearm" # 0.25',
        '[[body]]\nname = "forearm" # 0.25',
        "body forearm: there is another one of this name in line 16",
    ),
    "two joints": (
        'name = "wrist"',
        'name = "elbow" #',
        '[[joint]]\nname = "elbow" #',
        "joint elbow: there is another one of this name in line 36",
    ),
    "axis": ("axis = [1, 0, 0]", "axis = [0, 0, 0]", "axis = [0, 0, 0]", "joint wrist: its axis is zero"),
    "needless axis": (
        'child = "forearm"',
        'child = "forearm"\naxis = [0, 0, 1]',
        "axis = [0, 0, 1]",
        "joint elbow: a spherical joint has no axis",
    ),
    "needless limit": (
        'child = "forearm"',
        'child = "forearm"\nlower = 0',
        "lower = 0",
        "joint elbow: a spherical joint has no lower",
    ),
    "needless damping": (
        'kind = "revolute"\nparent = "forearm"\nchild = "hand"\nposition = [0, 0, -0.4]\naxis = [1, 0, 0]',
        'kind = "fixed"\nparent = "forearm"\nchild = "hand"\ndamping = 1',
        "damping = 1",
        "joint wrist: a fixed joint has no damping",
    ),
    "negative stiffness": (
        "axis = [1, 0, 0]",
        "stiffness = -1",
        '[[joint]]\nname = "wrist"',
        "joint wrist: stiffness -1 is negative",
    ),
    "friction speed": (
        "axis = [1, 0, 0]",
        "friction_speed = 0",
        '[[joint]]\nname = "wrist"',
        "joint wrist: friction_speed 0 must be greater than 0",
    ),
    "limits": (
        "axis = [1, 0, 0]",
        "lower = 2\nupper = 1",
        '[[joint]]\nname = "wrist"',
        "joint wrist: its lower limit 2 is above its upper limit 1",
    ),
    "effort": ("axis = [1, 0, 0]", "effort = -2", "effort = -2", "joint wrist: effort -2 is negative"),
    "free damping": ('kind = "spherical"', 'kind = "free"\ndamping = 2', "damping = 2", "a free joint has no damping"),
    "ball at rest": ('kind = "spherical"', 'kind = "spherical"\nrest = 2', "rest = 2", "a spherical joint has no rest"),
    "mimic": (
        "axis = [1, 0, 0]",
        'mimic = "wirst"',
        '[[joint]]\nname = "wrist"',
        "joint wrist: mimic: joint wirst does",
    ),
    "offset": ("axis = [1, 0, 0]", "offset = 2", "offset = 2", "joint wrist: offset is for a joint with mimic"),
    "armature": (
        "axis = [1, 0, 0]",
        "armature = -2",
        '[[joint]]\nname = "wrist"',
        "joint wrist: armature -2 is negative",
    ),
    "rotation form": (
        "axis = [1, 0, 0]",
        "rotation = [0, 0, 0]",
        "rotation = [0, 0, 0]",
        "joint wrist: rotation must be one of { rpy = [...] }, { quaternion",
    ),
    "rotation twice": (
        "axis = [1, 0, 0]",
        "rotation = { rpy = [0, 0, 0], quaternion = [1, 0, 0, 0] }",
        "quaternion",
        "joint wrist: rotation must be one of",
    ),
    "rotation key": (
        "axis = [1, 0, 0]",
        "rotation = { rpyy = [0, 0, 0] }",
        "rpyy",
        "joint wrist: rotation: unknown key rpyy; did you mean rpy?",
    ),
    "quaternion": (
        "axis = [1, 0, 0]",
        "rotation = { quaternion = [1, 1, 0, 0] }",
        "quaternion",
        "joint wrist: rotation: the quaternion's length is 1.41421, not 1",
    ),
    "matrix": (
        "axis = [1, 0, 0]",
        "rotation = { matrix = [[1, 0, 0], [0, 2, 0], [0, 0, 1]] }",
        "matrix",
        "joint wrist: rotation: the matrix is not a rotation",
    ),
    "mirror": (
        "axis = [1, 0, 0]",
        "child_rotation = { matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }",
        "matrix",
        "joint wrist: child_rotation: the matrix is not a rotation",
    ),
    "rows": (
        "axis = [1, 0, 0]",
        "rotation = { matrix = [[1, 0, 0]] }",
        "matrix",
        "joint wrist: rotation matrix must be a list of 3 rows",
    ),
    "row": (
        "axis = [1, 0, 0]",
        "rotation = { matrix = [[1, 0], 1, 2] }",
        "matrix",
        "joint wrist: rotation matrix: each row must be a list of 3 numbers",
    ),
    "nesting": ("mass = 2.5", f"mass = {'[' * 50}{']' * 50}", "mass = [[", "brackets are nested too deeply"),
    "dots": ("mass = 2.5", f"{'a.' * 50}a = 1", "a.a.a", "a key has too many parts"),
}


@pytest.mark.parametrize("case", TOML_FAULTS)
def test_faults_of_a_toml_file(case: str, tmp_path: Path) -> None:
    old, new, at, message = TOML_FAULTS[case]
    text = EXAMPLE.read_text()
    assert old in text
    text = text.replace(old, new, 1)
    file = tmp_path / "arm.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_tree(file)
    line = text[: text.index(at)].count("\n") + 1
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "message"),
    (
        ("\n", "description: has no [[body]]"),
        ("[[body]]\nname = 'a'\n", "description: has no [[joint]]"),
        ("[body]\nname = 'a'\n", "description:1: body must be a list of tables: write [[body]] before each"),
        ("body = 3\n", "description:1: body must be a list of tables"),
        ("#\nbody = [3]\njoint = [4]\n", "description:2: body 1: must be a table"),
        (
            "[[body]]\nname = 'a'\n[[joint]]\nname = 'j'\nkind = 'fixed'\nchild = 'a'\n",
            "description: no joint of the tree can move: every joint is fixed",
        ),
        ("a = '''\n[[body]]\n'''\n[[body]]\nnam = 'a'\n[[joint]]\n", "description:1: the file: unknown key a"),
        (
            "name = '''\n[[body]]\n'''\n[[body]]\nnam = 'a'\n[[joint]]\n",
            "description:1: name '[[body]]\\n': must be a text",
        ),
        ("[[body]]\nmass = 1 # '''\n[[body]]\nname = 'a'\nmas = 3\n", "description: has no [[joint]]"),
        (
            "[[body]]\nname = 'b' # '''\n[[body]]\nname = 'a'\nmas = 3\n[[joint]]\n",
            "description:5: body a: unknown key mas",
        ),
        ("a = 1\n\udc80", "is not valid TOML"),
    ),
)
def test_faults_of_a_whole_toml_file(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_toml(text)
    assert message in str(caught.value)


def test_a_file_that_is_not_text_is_rejected_with_its_line() -> None:
    with pytest.raises(UserError, match="description:3: is not UTF-8 text"):
        read_toml(b"a = 1\n\n\xff\n")
    assert reading.printable(10**5000) == "a very large number"


def test_many_bodies_in_a_toml_file_are_rejected() -> None:
    with pytest.raises(UserError, match="there are 5001 body elements"):
        read_toml("[[body]]\n" * 5001)
