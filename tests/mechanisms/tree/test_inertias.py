"""Inertias as they come: judged where they move, merged with what is fixed to them; refused, taken or repaired."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.tolerances import OTHER_CODE
from helpers.tree_cases import Point, mechanism_of
from helpers.trees import matrix, random_rotation, rows
from mechfmu.cli import main
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import UserError
from mechfmu.multibody.rigid_groups import fault, impossible_inertias, merged, moving_groups, nearest_possible, repaired
from mechfmu.multibody.tree import Body, BodyTree, Joint

LINK = '<link name="{name}"><inertial>{origin}<mass value="{mass}"/>{inertia}</inertial></link>'
INERTIA = '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, mass: float, *moments: float, x: float = 0.0) -> str:
    origin = f'<origin xyz="{x} 0 0"/>'
    return LINK.format(name=name, mass=mass, origin=origin, inertia=INERTIA.format(*moments))


def joint(name: str, kind: str, parent: str, child: str) -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'


def robot(tmp_path: Path, *parts: str) -> Path:
    file = tmp_path / "robot.urdf"
    file.write_text("\n".join(("<robot name='r'>", *parts, "</robot>")))
    return file


@pytest.fixture
def impossible(tmp_path: Path) -> Path:
    """Links a and b move; b breaks the triangle inequality."""
    links = link("base", 1, 1, 1, 9), link("a", 1, 0.1, 0.1, 0.1), link("b", 1, 0.01, 0.01, 0.05)
    joints = joint("first", "continuous", "base", "a"), joint("second", "continuous", "a", "b")
    return robot(tmp_path, *links, *joints)


def test_an_impossible_inertia_is_refused_with_line_numbers_and_two_ways_out(
    impossible: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["build", str(impossible), "-o", str(tmp_path / "out")], ["list", str(impossible)]):
        assert main(command) == 2
        message = capsys.readouterr().err
        assert "robot.urdf:4: body b: its inertia breaks the triangle inequality" in message
        assert "principal moments 0.01, 0.01, 0.05" in message
        assert "--inertia warn takes it as it is, --inertia repair takes the nearest possible one" in message
    assert not (tmp_path / "out").exists()


def test_taken_as_it_is_and_repaired(impossible: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(impossible), "--inertia", "warn"]) == 0
    assert "robot.urdf:4: body b: its inertia breaks the triangle inequality" in capsys.readouterr().out
    assert main(["list", str(impossible), "--inertia", "repair"]) == 0
    changed = "body b: principal moments 0.01, 0.01, 0.05 were changed to 0.02, 0.02, 0.04 kg m2"
    assert changed in capsys.readouterr().out.replace("\n", " ")
    with pytest.warns(UserWarning, match="it is taken as it is"):
        warned = Tree.from_file(impossible, inertia="warn")
    assert warned.tree.bodies[1].inertia[:3] == (0.01, 0.01, 0.05)
    assert np.isfinite(Point(warned, {"first.torque": 1.0})["second.acceleration"])
    with pytest.warns(UserWarning, match="were changed"):
        made = Tree.from_file(impossible, inertia="repair")
    assert made.options["inertia"] == "refuse"
    assert impossible_inertias(made.tree) == []
    Point(made, {})  # its requirements are met
    with pytest.raises(UserError, match="inertia=fix: must be one of refuse, warn, repair"):
        Tree.from_file(impossible, inertia="fix")


def test_links_that_are_fixed_together_are_judged_together(tmp_path: Path) -> None:
    """A sensor with a made-up inertia on a heavy link; what is fixed to the base is not judged at all."""
    links = link("base", 1, 1, 1, 9), link("stand", 1, 1, 1, 9), link("a", 5, 0.1, 0.1, 0.1)
    sensor, weightless = link("sensor", 0.1, 1e-6, 1e-6, 5e-6, x=0.2), link("dot", 0, 1e-6, 1e-6, 1e-6)
    joints = (
        joint("j0", "fixed", "base", "stand"),
        joint("j1", "continuous", "stand", "a"),
        joint("j2", "fixed", "a", "sensor"),
        joint("j3", "fixed", "a", "dot"),
    )
    tree = Tree.from_file(robot(tmp_path, *links, sensor, weightless, *joints))
    J = 0.1 + 1e-6 + 1e-6  # about x of the joint
    assert Point(tree, {"j1.torque": 1.0})["j1.acceleration"] == pytest.approx(1 / J, rel=OTHER_CODE)
    assert tree.requirement_texts[-1].startswith("a, sensor, dot, fixed together: its inertia is not that of a body")
    with pytest.raises(UserError, match="fixed together"):
        Point(tree, {"sensor.inertia_zz": 2.0})


def whole(tree: BodyTree) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia of the one group of bodies fixed together."""
    (group,) = moving_groups(tree)
    return merged(
        group, *(np.array(part) for part in zip(*((b.mass, b.com, b.inertia) for b in tree.bodies), strict=True))
    )


def test_bodies_fixed_together_are_one() -> None:
    """A dumb-bell: two points of 2 kg, 1 m apart along x of the first and y of the second."""
    turn = (0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    bodies = Body("a", 2.0), Body("b", 2.0, (0.0, 0.5, 0.0))
    weld = Joint("weld", "fixed", "b", "a", (0.5, 0.0, 0.0), turn)
    m, c, J = whole(BodyTree("t", bodies, (Joint("hinge", "revolute", "a"), weld)))
    assert (m, *c) == (4.0, 0.5, 0.0, 0.0)
    assert pytest.approx(np.diag([0.0, 1.0, 1.0]), abs=1e-15) == J


def test_a_repair_changes_the_inertia_of_the_whole_and_nothing_else() -> None:
    random = np.random.default_rng(4)
    R = random_rotation(random)
    bodies = (
        Body("arm", 1.0, (0.1, 0.2, 0.0), (0.02, 0.02, 0.03, 0, 0, 0)),
        Body("box", 0.5, (0.0, 0.1, 0.0), (-1.0, 2.0, 2.0, 0.1, 0.2, 0.0)),
    )
    joints = (
        Joint("hinge", "revolute", "arm"),
        Joint("weld", "fixed", "box", "arm", (0.1, 0.0, 0.2), tuple(R.ravel())),
    )
    before = BodyTree("t", bodies, joints)
    tree, notes = repaired(before)
    assert [note.partition(":")[0] for note in notes] == ["body box"]
    assert tree.bodies[0] == bodies[0]
    assert replace(tree.bodies[1], inertia=bodies[1].inertia) == bodies[1]
    ((m, c, J), (m_new, c_new, J_new)) = (whole(t) for t in (before, tree))
    assert (m, *c) == (m_new, *c_new)
    assert pytest.approx(nearest_possible(J), abs=1e-12) == J_new
    tree.check()


def test_the_nearest_possible_inertia_is_possible_and_none_is_nearer() -> None:
    random = np.random.default_rng(7)
    for _ in range(50):
        A = random.normal(size=(3, 3))
        J = A + A.T
        found = nearest_possible(J)
        assert fault(1.0, found) is None
        distance = np.linalg.norm(found - J)
        for _ in range(200):
            B = random.normal(size=(3, 3)) * random.uniform(0, 1.5)
            other = np.trace(B @ B.T) * np.eye(3) - B @ B.T
            near = found + random.uniform(0, 1) * (other - found)  # the possible ones are a convex set
            assert np.linalg.norm(near - J) >= distance - 1e-12
    possible = matrix((0.2, 0.3, 0.4, 0.01, 0.02, 0.03))
    assert np.allclose(nearest_possible(possible), possible, rtol=0, atol=1e-15)
    assert rows(nearest_possible(-np.eye(3))) == (0.0,) * 6


def test_a_file_in_which_nothing_moves_is_a_free_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = robot(tmp_path, link("drone", 2, 0.1, 0.1, 0.1))
    assert main(["list", str(one)]) == 2
    assert "robot.urdf:2: link drone: is the only link and the base" in (message := capsys.readouterr().err)
    assert "--base free lets it float" in message
    assert main(["list", str(one), "--base", "free"]) == 0
    assert Point(Tree.from_file(one, "free"), {})["base.linear_acceleration[3]"] == pytest.approx(-9.81)
    two = robot(tmp_path, link("a", 2, 1, 1, 1), link("b", 0, 0, 0, 0), joint("weld", "fixed", "a", "b"))
    with pytest.raises(UserError, match="every joint is fixed; --base free lets the robot float"):
        Tree.from_file(two)
    assert Tree.from_file(two, "free").nv == 6


def test_a_joint_that_moves_no_mass_is_refused_or_held(tmp_path: Path) -> None:
    links = link("base", 1, 1, 1, 1), link("a", 1, 1, 1, 1), '<link name="tip"/>', '<link name="other"/>'
    lead = (
        '<joint name="lead" type="revolute"><parent link="a"/><child link="tip"/><limit lower="0.5" upper="1"/></joint>'
    )
    follow = joint("follow", "continuous", "a", "other").replace("</joint>", '<mimic joint="lead" offset="1"/></joint>')
    file = robot(tmp_path, *links, joint("first", "continuous", "base", "a"), lead, follow)
    with pytest.raises(UserError, match=r"robot.urdf:7: joint lead moves .* has mass; --inertia warn holds it still"):
        Tree.from_file(file)
    with pytest.warns(UserWarning, match="joint lead: moves no mass and is held at 0.5, with the 1 that follow it"):
        tree = Tree.from_file(file, inertia="warn").tree
    turned = np.reshape(tree.joints[2].rotation, (3, 3))
    assert [j.kind for j in tree.joints] == ["revolute", "fixed", "fixed"]
    assert np.allclose(turned[1:, 1:], [[np.cos(1.5), -np.sin(1.5)], [np.sin(1.5), np.cos(1.5)]])
    assert mechanism_of(tree).nv == 1


SDF = """<sdf version="1.8"><model name="arm"><link name="stand"/>
  <joint name="hold" type="fixed"><parent>world</parent><child>stand</child></joint>
  <link name="rod"><inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>3</izz></inertia></inertial></link>
  <joint name="hinge" type="revolute"><parent>stand</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def test_sdf_has_the_same_choices(tmp_path: Path) -> None:
    file = tmp_path / "arm.sdf"
    file.write_text(SDF)
    with pytest.raises(UserError, match=r"arm\.sdf:3: body rod: its inertia breaks the triangle inequality"):
        Tree.from_file(file)
    notes: list[str] = []
    assert Tree.from_file(file, inertia="warn", report=notes.append).tree.bodies[0].inertia[2] == 3.0
    assert Tree.from_file(file, inertia="repair", report=notes.append).tree.bodies[0].inertia[2] < 3.0
    assert [note.partition(": body rod: ")[0] for note in notes] == [f"{file}:3"] * 2
