"""Trees written as TOML are the same trees when they are read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.paths import EXAMPLES
from helpers.robot_files import ROBOT
from mechfmu.cli import main
from mechfmu.mechanisms.tree.readers import toml_file
from mechfmu.mechanisms.tree.readers.common import MAX_BODIES
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.mechanisms.tree.readers.toml_file import read_toml
from mechfmu.mechanisms.tree.readers.toml_writer import toml_text
from mechfmu.mechanisms.tree.readers.urdf import read_urdf
from mechfmu.model import UserError
from mechfmu.multibody.attachments import IDENTITY, ContactSphere, FramePoint
from mechfmu.multibody.tree import BodyShape, BodyTree


def complete() -> BodyTree:
    """A tree that has something in every field."""
    tree = read_urdf(ROBOT)
    turn = (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    joints = [replace(j, armature=0.1, rest=0.2, stiffness=3.0) if j.rates else j for j in tree.joints]
    bodies = [replace(body, com=(0.1, 0.2, 0.3)) for body in tree.bodies]
    joints[2] = replace(joints[2], mimic="shoulder", multiplier=-2.0, offset=0.3)
    shapes = (BodyShape("", "sphere", (0.1,)), BodyShape("tool", "box", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), turn))
    points = (FramePoint("tip", "tool", (0.0, 0.1, 0.2), turn), FramePoint("origin", "", (0.0, 0.0, 0.0), IDENTITY))
    contacts = (ContactSphere("heel", "slider", (0.1, 0.0, 0.0), 0.05),)
    tree = replace(tree, bodies=tuple(bodies), joints=tuple(joints))
    return replace(tree, shapes=shapes, points=points, contacts=contacts)


def test_every_field_survives() -> None:
    tree = complete()
    tree.check()
    assert read_toml(toml_text(tree)) == tree
    assert BodyTree.from_json(tree.to_json()) == tree


@pytest.mark.parametrize("file", ("three_link_robot.urdf", "three_link_robot.sdf", "spherical_arm.toml"))
def test_the_examples_survive(file: str) -> None:
    tree = read_tree(EXAMPLES / file)
    assert read_toml(toml_text(tree)) == tree


def test_axes_survive_to_the_last_bit() -> None:
    tree, random = read_urdf(ROBOT), np.random.default_rng(1)
    for _ in range(50):
        axis = random.normal(size=3)
        joint = replace(tree.joints[0], axis=tuple((axis / np.linalg.norm(axis)).tolist()))
        changed = replace(tree, joints=(joint, *tree.joints[1:]))
        assert read_toml(toml_text(changed)) == changed


def test_large_trees_survive() -> None:
    """As many bodies as other files may have, and more corners that touch the ground than bodies."""
    bodies = 20
    numbers = 'xyz="0.123456789 0.123456789 0.123456789" rpy="0.1 0.2 0.3"'
    inertial = f"""<inertial><origin {numbers}/><mass value="1.23456789"/><inertia ixx="1" iyy="1.1" izz="1.2" ixy="0"
        ixz="0" iyz="0"/></inertial>"""
    links = "".join(f'<link name="l{i}">{inertial}</link>' for i in range(bodies))
    joints = "".join(
        f"""<joint name="j{i}" type="revolute"><parent link="l{i - 1}"/><child link="l{i}"/><origin {numbers}/>
        <axis xyz="1 2 3"/><limit lower="-1.23456789" upper="1.23456789" effort="1.23456789"/></joint>"""
        for i in range(1, bodies)
    )
    tree = read_urdf(f'<robot name="r">{links}{joints}</robot>')
    assert len(toml_text(tree)) / bodies * MAX_BODIES < toml_file.MAX_BYTES
    contacts = tuple(ContactSphere(f"c{i}", "l1") for i in range(MAX_BODIES + 1))
    tree = replace(tree, contacts=contacts)
    assert read_toml(toml_text(tree)) == tree


def test_robots_survive() -> None:
    files = [file for file in sorted(needs.robot_descriptions().rglob("*.urdf")) if "ur5" in file.name][:3]
    assert files
    for file in files:
        tree = read_tree(file)
        assert read_toml(toml_text(tree)) == tree


def test_convert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, toml = EXAMPLES / "three_link_robot.urdf", tmp_path / "robot.toml"
    assert main(["convert", str(urdf), str(toml)]) == 0
    assert "4 joints, 3 degrees of freedom" in capsys.readouterr().out
    assert read_tree(toml) == read_tree(urdf)
    assert toml.read_text().startswith(
        "# Units are kg, m, kg m2, rad. Converted from three_link_robot.urdf by mechfmu."
    )


@pytest.mark.parametrize(
    "arguments, message",
    (
        (["none.urdf", "a.toml"], "none.urdf: No such file"),
        (["robot.urdf", "robot.urdf"], "cannot write robot.urdf: the file must end in .toml"),
        (["robot.urdf", "a.toml", "--base", "moving"], "--base moving: must be fixed or free"),
        (["robot.urdf", "a.toml", "--option", "x=1"], "only xacro files have arguments; there is no option x"),
        (["robot.urdf", "a.toml", "--ignore", "sensor"], "--ignore sensor: unknown for a URDF file"),
    ),
)
def test_convert_refuses_and_writes_nothing(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(ROBOT)
    assert main(["convert", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["robot.urdf"]


@pytest.mark.parametrize(
    "extra, message",
    (
        ('[[shape]]\nkind = "cone"\nsize = [1]', r"shape 1: unknown kind cone"),
        ('[[shape]]\nkind = "sphere"\nsize = [1, 2]', r"shape 1: size must be a list of 1 numbers"),
        ('[[shape]]\nbody = "hnd"\nkind = "sphere"\nsize = [1]', r"its body hnd does not exist; did you mean hand"),
        ('[[frame]]\nbody = "hand"', r"frame 1: needs a name"),
        ('[[frame]]\nname = "a"\n[[frame]]\nname = "a"', r"frame a: there are two of this name"),
        ('[[contact]]\nname = "a"\nbody = "hand"\nradius = -1', r"contact a: radius -1 is negative"),
        ("multiplier = 2", r"joint wrist: multiplier is for a joint with mimic"),
        ('mimic = "elbow"', r"joint wrist: mimic: joint elbow is spherical, and cannot lead it"),
        ('mimic = "wrist"', r"joint wrist: mimic: the joints follow each other in a circle: wrist -> wrist"),
        ('mimic = "none"', r"joint wrist: mimic: joint none does not exist"),
        ("armature = -1", r"joint wrist: armature -1 is negative"),
    ),
)
def test_faults_in_the_new_keys(extra: str, message: str) -> None:
    text = (EXAMPLES / "spherical_arm.toml").read_text()
    with pytest.raises(UserError, match=message):
        read_toml(f"{text}\n{extra}\n")
