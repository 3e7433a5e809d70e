"""What is drawn is where the mechanism is: lines, shapes, forces; and films of it."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from chains import off_by
from command_line import done, refused
from conftest import Build
from look_cases import ROBOT, chain, crane, robot_file
from matplotlib.animation import FFMpegWriter
from native_build import extra, tool
from tolerances import IDENTITY, OTHER_CODE, SAME_NUMBER

from mechfmu import LinkChain
from mechfmu.core.tree import Tree as TreeData
from mechfmu.mechanisms import UserError, make
from mechfmu.mechanisms.drawing import Solid
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.urdf import read_urdf
from mechfmu.run.player import FRAMES_AT_MOST, mesh, player_page


def page_data(page: str) -> dict:
    return json.loads(page.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])


# --- planar mechanisms ------------------------------------------------------------------------------------------------------


def test_strokes_are_the_drawing_of_a_mechanism_that_has_no_other() -> None:
    ball = extra("bouncing_ball")
    result = ball.simulate(stop=0.2)
    (line,) = ball.drawing(result.at(3)).lines
    assert np.array_equal(line, np.transpose(ball.strokes(result.at(3))[0]))
    assert not make("pid_controller").drawing(result.at(0))


def test_arrows_of_a_chain_are_its_reactions_and_its_load() -> None:
    result = chain()
    drawing = LinkChain(links=4).drawing(result.at(57))
    load, first = drawing.arrows[:2]
    assert load.kind == "force" and np.array_equal(load.force, [result.inputs["tip.force_x"][57], 0.0])
    assert load.force[0] == pytest.approx(20.0 * np.sin(3 * result.t[57]), rel=SAME_NUMBER)
    assert load.at == pytest.approx([result["tip.x"][57], result["tip.y"][57]], abs=IDENTITY)
    assert first.kind == "reaction" and np.array_equal(first.force, [result["joint[1].reaction_x"][57], result["joint[1].reaction_y"][57]])


def test_the_arrow_that_holds_a_hanging_chain_is_its_weight() -> None:
    result = LinkChain(links=3, mass=6.0).simulate(stop=0.1, start={"joint[1].angle_start": -np.pi / 2})
    drawing = LinkChain(links=3).drawing(result.at(5))
    assert drawing.arrows[1].force == pytest.approx([0.0, 6.0 * 9.81], abs=60 * IDENTITY)
    assert drawing.ground and not LinkChain(links=3, base="moving").drawing(LinkChain(links=3, base="moving").simulate(stop=0.1).at(0)).ground


@pytest.mark.parametrize("kind", ["native"])
def test_inputs_of_an_fmu_are_kept_with_its_result(fmu: Build, tmp_path: Path) -> None:
    from mechfmu.run.simulate import simulate_fmu

    (tmp_path / "push.csv").write_text("time,tip.force_x\n0,0\n1,10\n")
    result = simulate_fmu(fmu(links=2), 0.5, 0.1, {"tip.force_y": 3.0}, tmp_path / "push.csv")
    assert result.inputs["tip.force_x"] == pytest.approx(10 * result.t, abs=10 * IDENTITY)
    assert np.all(result.inputs["tip.force_y"] == 3.0)
    assert result.until(0.2).t[-1] == pytest.approx(0.2) and len(result.until(0.2).inputs["tip.force_x"]) == 3
    assert simulate_fmu(fmu(links=2), 0.1, 0.1, {"tip.force_y": 3.0}).inputs["tip.force_y"][0] == 3.0


# --- trees ------------------------------------------------------------------------------------------------------------------


def test_shapes_are_where_pinocchio_has_them() -> None:
    """A real quadruped of boxes, cylinders and spheres, in a random pose. Its meshes are left out: nobody reads them here."""
    text = re.sub(r"<visual>((?!</visual>).)*<mesh.*?</visual>", "", robot_file("a1.urdf").read_text(), flags=re.DOTALL)
    model = pin.buildModelFromXML(text)
    q = np.random.default_rng(8).uniform(-1.0, 1.0, model.nq)
    expected = {}
    for kind in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL):  # what is to be seen comes last and counts
        geometry = pin.buildGeomFromUrdfString(model, text, kind)
        placed = geometry.createData()
        pin.updateGeometryPlacements(model, model.createData(), geometry, placed, q)
        expected |= {o.name.rsplit("_", 1)[0]: (o.geometry, M) for o, M in zip(geometry.geometryObjects, placed.oMg, strict=True)}

    data = read_urdf(text)
    tree = Tree(model=dataclasses.replace(data, joints=tuple(dataclasses.replace(j, lower=None, upper=None) for j in data.joints)).to_json())
    angles = {f"{model.names[k]}.angle_start": float(q[model.idx_qs[k]]) for k in range(1, model.njoints)}
    solids = tree.drawing(tree.simulate(stop=1e-6, step=1e-6, start=angles).at(0)).solids
    compared = 0
    for shape, solid in zip(tree.tree.shapes, solids, strict=False):
        if shape.body not in expected:  # the root link, which is the base here
            continue
        body, M = expected.pop(shape.body)
        size = {"box": lambda s: 2 * s.halfSide, "cylinder": lambda s: [s.radius, 2 * s.halfLength], "sphere": lambda s: [s.radius]}[solid.kind](body)
        assert off_by(np.array(solid.size), np.array(size)) < OTHER_CODE
        assert off_by(solid.position, M.translation) < OTHER_CODE
        assert off_by(solid.rotation, M.rotation) < OTHER_CODE
        compared += 1
    assert compared >= 20 and len(expected) <= 1, expected


def test_shapes_of_a_link_with_a_planar_joint_stay_in_their_place() -> None:
    """Its joint's frame is turned to the axis, so everything on the link is given anew."""
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry></visual></link>
    <joint name="j" type="planar"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="1 2 2"/></joint></robot>"""
    tree = Tree(model=read_urdf(text).to_json())
    (solid,) = tree.drawing(tree.simulate(stop=0.1).at(0)).solids
    assert solid.position == pytest.approx([1.0, 2.0, 4.0], abs=IDENTITY)
    assert solid.rotation == pytest.approx(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), abs=IDENTITY)


def test_shapes_travel_with_the_model(tmp_path: Path) -> None:
    tree = crane(tmp_path).tree
    assert [(s.body, s.kind) for s in tree.shapes] == [
        ("", "box"),
        ("mast", "cylinder"),
        ("boom", "cylinder"),
        ("load", "sphere"),
    ]  # boom: its mesh is not seen
    assert TreeData.from_json(tree.to_json()) == tree
    assert "shapes" not in dataclasses.replace(tree, shapes=()).to_json()


@pytest.mark.parametrize("wrong", ['<box size="1 2"/>', '<box size="1 2 nan"/>', '<cylinder radius="1"/>', '<sphere radius="-1"/>', "<cube/>", ""])
def test_a_wrong_shape_is_left_out(wrong: str) -> None:
    right = ROBOT.replace('<sphere radius="0.1"/>', wrong)
    assert right != ROBOT
    assert [s.body for s in read_urdf(right).shapes] == ["", "mast", "boom"]


def test_the_box_of_a_body_without_shape_has_its_inertia() -> None:
    J = np.array([[0.07, 0.01, -0.005], [0.01, 0.05, 0.008], [-0.005, 0.008, 0.06]])
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    data = make("spherical_arm").tree
    data = dataclasses.replace(data, bodies=(dataclasses.replace(data.bodies[0], inertia=inertia), *data.bodies[1:]))
    tree = Tree(model=data.to_json())
    result = tree.simulate(stop=0.01)
    box, body = tree.drawing(result.at(0)).solids[0], data.bodies[0]
    assert box.kind == "box" and not box.real
    a2 = np.array(box.size) ** 2
    about = body.mass / 12 * np.diag(np.sum(a2) - a2)
    M = np.reshape(data.joints[0].rotation, (3, 3))  # at the start the body's axes are those of its joint
    assert off_by(box.rotation @ about @ box.rotation.T, M @ J @ M.T) < IDENTITY
    assert np.linalg.det(box.rotation) == pytest.approx(1.0)


def test_a_made_up_inertia_gives_rods_instead_of_a_huge_box() -> None:
    """The wrist of this robot file has the inertia of a plate of almost a metre."""
    tree = Tree.from_file(robot_file("ur5_robot.urdf"))
    drawing = tree.drawing(tree.simulate(stop=0.01).at(0))
    reach = np.ptp(np.concatenate(drawing.lines), axis=0).max()
    assert {s.kind for s in drawing.solids} == {"box", "cylinder"}
    assert max(max(s.size) for s in drawing.solids) < reach


def test_reactions_of_a_tree_carry_its_weight(tmp_path: Path) -> None:
    tree = crane(tmp_path)
    result = tree.simulate(stop=0.01, start={"luff.angle_start": np.pi / 2})  # the boom hangs
    drawing = tree.drawing(result.at(0))
    slew = next(a for a in drawing.arrows if a.name == "slew.force")
    assert slew.kind == "reaction" and slew.force == pytest.approx([0.0, 0.0, 16.0 * 9.81], abs=1e3 * IDENTITY)
    assert slew.at == pytest.approx([0.0, 0.0, 0.1])
    assert len({len(tree.drawing(result.at(i)).solids) for i in range(len(result.t))}) == 1


# --- meshes -----------------------------------------------------------------------------------------------------------------

ROUND = np.sin(2 * np.pi / 20) / (2 * np.pi / 20)  # a circle's area as a polygon of 20 sides has it
VOLUMES = {"box": ((2.0, 3.0, 4.0), 24.0, 1.0), "cylinder": ((2.0, 3.0), 12 * np.pi, ROUND), "sphere": ((2.0,), 32 / 3 * np.pi, None)}


@pytest.mark.parametrize("kind", VOLUMES)
def test_meshes_are_closed_and_face_outwards(kind: str) -> None:
    """The divergence theorem: the volume from the triangles, positive only when all of them face outwards."""
    size, volume, part = VOLUMES[kind]
    vertices, faces, edges = mesh(Solid(kind, size, np.zeros(3), np.eye(3)))  # type: ignore[arg-type]
    triangles = vertices[np.array(faces)]
    found = np.sum(np.linalg.det(triangles)) / 6
    assert np.linalg.det(triangles).min() > 0
    assert found == pytest.approx(volume * part, rel=IDENTITY) if part else 0.95 * volume < found < volume
    sides = [tuple(sorted((f[k], f[k - 1]))) for f in faces for k in range(3)]
    assert all(sides.count(side) == 2 for side in set(sides))
    assert all(0 <= v < len(vertices) for edge in edges for v in edge)


# --- pages and films --------------------------------------------------------------------------------------------------------


def test_a_long_result_is_thinned_and_an_unknown_signal_refused() -> None:
    result = LinkChain(links=1).simulate(stop=2.0, step=0.001)
    data = page_data(player_page(result))
    assert len(data["lines"]["starts"]) == FRAMES_AT_MOST + 1
    assert data["chosen"][:3] == ["energy.kinetic", "energy.potential", "energy.total"]
    assert page_data(player_page(result, ["tip.x"]))["chosen"] == ["tip.x"]
    with pytest.raises(UserError, match=r"no signal tip\.z"):
        player_page(result, ["tip.z"])


def test_films_that_cannot_be_made_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"\.gif or \.mp4 or \.html"):
        chain().animate(tmp_path / "film.avi")
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UserError, match="greater than 0"):
            chain().animate(tmp_path / "film.html", speed=bad)
    with pytest.raises(UserError, match="cannot write"):
        chain().animate(tmp_path / "nowhere" / "film.html")
    with pytest.raises(UserError, match="cannot write"):
        chain().plot(file=tmp_path / "nowhere" / "plot.html")
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(UserError, match="ffmpeg"):
        chain().animate(tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


def test_mp4(tmp_path: Path) -> None:
    tool("ffmpeg")
    chain().animate(tmp_path / "film.mp4", fps=10)
    asked = [tool("ffprobe"), "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries", "stream=nb_read_frames,width,height", "-of", "json"]
    (stream,) = json.loads(subprocess.run([*asked, str(tmp_path / "film.mp4")], capture_output=True, text=True, check=True).stdout)["streams"]
    assert stream["nb_read_frames"] == "21" and stream["width"] % 2 == stream["height"] % 2 == 0


@pytest.mark.parametrize("kind", ["native"])
def test_command(fmu: Build, tmp_path: Path) -> None:
    """Pages of an FMU, with chosen signals; and no run for a film that cannot be made."""
    file = fmu(links=2)
    text = done("simulate", file, "--stop", 0.3, "--plot", "plot.html", "--animate", "film.html", "--signals", "tip.x,energy.total", folder=tmp_path)
    assert "wrote plot.html" in text and "wrote film.html" in text
    assert page_data((tmp_path / "film.html").read_text(encoding="utf-8"))["chosen"] == ["tip.x", "energy.total"]
    assert "tip.x" in (tmp_path / "plot.html").read_text(encoding="utf-8")
    refused("simulate", file, "--animate", "film.avi", folder=tmp_path, words=("film.avi", ".mp4"))
