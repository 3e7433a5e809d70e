"""Meshes of robot files: formats, folders, limits, and what becomes of them in trees, FMUs and pictures."""

from __future__ import annotations

import contextlib
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import matplotlib.image
import numpy as np
import pytest
from lxml import etree

from helpers import needs
from helpers.look_cases import robot_file
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.readers.meshes import dae, shapes
from mechfmu.mechanisms.tree.readers.meshes.dae import read_dae
from mechfmu.mechanisms.tree.readers.meshes.obj import read_obj
from mechfmu.mechanisms.tree.readers.meshes.piece import MeshError, Piece
from mechfmu.mechanisms.tree.readers.meshes.shapes import LINK_TRIANGLES, ROBOT_TRIANGLES, Meshes
from mechfmu.mechanisms.tree.readers.meshes.simplify import shares, simplified
from mechfmu.mechanisms.tree.readers.meshes.stl import read_stl
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.mechanisms.tree.readers.toml_writer import toml_text
from mechfmu.model import UserError
from mechfmu.multibody.surface import surface_of
from mechfmu.multibody.tree import BodyTree
from mechfmu.view.animate import animate
from mechfmu.view.recording import PAGE_BYTES, recording_page
from mechfmu.view.solids import filled_triangles

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=float)  # a tetrahedron
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])

OBJ = """# a comment
mtllib colours.mtl
v 0 0 0
v 1 0 0
v 0 2 0
v 0 0 3
usemtl red
f 1/1/1 3 2
f 1 2 -1
usemtl plain
f 1 4 3
f 2 3 4
"""
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit meter="0.5"/><up_axis>Y_UP</up_axis></asset>
 <library_effects><effect id="fx"><profile_COMMON><technique sid="c"><phong>
  <diffuse><color>0 0.2 1 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
 <library_materials><material id="blue"><instance_effect url="#fx"/></material></library_materials>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
   <technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  GROUPS
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s"><node><translate>0 0 1</translate><rotate>0 0 1 90</rotate>
  <node><scale>2 2 2</scale><instance_geometry url="#g"><bind_material><technique_common>
   <instance_material symbol="m" target="#blue"/></technique_common></bind_material></instance_geometry></node>
 </node></visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
TRIANGLES = """<triangles count="4" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
  <input semantic="NORMAL" source="#n" offset="1"/><p>0 0 2 0 1 0 0 0 1 0 3 0 0 0 3 0 2 0 1 0 2 0 3 0</p></triangles>"""
POLYGONS = """<polylist count="3" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
  <vcount>3 3 3</vcount><p>0 2 1 0 1 3 0 3 2</p></polylist>
  <polygons count="1" material="m"><input semantic="VERTEX" source="#v" offset="0"/><p>1 2 3</p></polygons>"""

ROBOT = """<robot name="arm">
 <material name="green"><color rgba="0 1 0 1"/></material>
 <link name="base"/>
 <link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="0 0 5" rpy="0 0 1.5707963267948966"/><material name="green"/>
   <geometry><mesh filename="FILE" scale="1 2 1"/></geometry></visual>
 </link>
 <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def binary_stl(triangles: np.ndarray, header: bytes = b"solid but binary") -> bytes:
    rows = (struct.pack("<12fH", *([0.0] * 3), *t.ravel(), 0) for t in triangles)
    return header.ljust(80) + struct.pack("<I", len(triangles)) + b"".join(rows)


def text_stl(triangles: np.ndarray) -> bytes:
    facets = ("".join(f"   vertex {x} {y} {z}\n" for x, y, z in t) for t in triangles)
    loops = "".join(f" facet normal 0 0 0\n  outer loop\n{f}  endloop\n endfacet\n" for f in facets)
    return f"solid a\n{loops}endsolid a\n".encode()


def sphere(rings: int) -> tuple[np.ndarray, np.ndarray]:
    """A unit sphere of many triangles."""
    turn, rise = np.linspace(0, 2 * np.pi, 2 * rings), np.linspace(-np.pi / 2, np.pi / 2, rings)
    a, b = np.meshgrid(turn, rise)
    vertices = np.stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)], axis=2).reshape(-1, 3)
    k = (np.arange(rings - 1)[:, None] * 2 * rings + np.arange(2 * rings - 1)).ravel()
    lower, upper = np.stack([k, k + 1, k + 2 * rings], axis=1), np.stack([k + 1, k + 2 * rings + 1, k + 2 * rings], 1)
    return vertices, np.concatenate([lower, upper])


def volume(pieces: list[Piece]) -> float:
    corners = np.concatenate([p.vertices[p.triangles] for p in pieces])
    return float(np.sum(np.linalg.det(corners)) / 6)


def robot(folder: Path, filename: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "arm.urdf"
    file.write_text(ROBOT.replace("FILE", filename))
    return file


def drawn(file: Path, *package_paths: Path) -> tuple[BodyTree, list[str]]:
    notes: list[str] = []
    return read_tree(file, report=notes.append, package_paths=package_paths), notes


# --- formats ----------------------------------------------------------------------------------------------------------


def test_all_formats_give_the_same_body() -> None:
    triangles = CORNERS[FACES]
    for data in (binary_stl(triangles), text_stl(triangles)):
        assert volume(read_stl(data)) == pytest.approx(1.0)
    pieces = read_obj(OBJ.encode(), lambda name: b"newmtl red\nKd 1 0 0\n" if name == "colours.mtl" else b"")
    assert volume(pieces) == pytest.approx(1.0) and [p.colour for p in pieces] == ["#ff0000", ""]
    for groups in (TRIANGLES, POLYGONS):
        found = read_dae(DAE.replace("GROUPS", groups).encode())
        assert volume(found) == pytest.approx(1.0)  # scaled by 2, in units of 0.5 m
        corners = np.concatenate([p.vertices for p in found])
        np.testing.assert_allclose(corners.min(axis=0), [-2, 0, 0.5], atol=1e-12)  # turned about z, then moved
        np.testing.assert_allclose(corners.max(axis=0), [0, 1, 3.5], atol=1e-12)
        assert {p.colour for p in found} == {"#0033ff"}


def test_a_mirror_does_not_turn_a_body_inside_out(tmp_path: Path) -> None:
    file = DAE.replace("GROUPS", TRIANGLES)
    inside, mirrored = volume(read_dae(file.encode())), volume(read_dae(file.replace("2 2 2", "-2 2 2").encode()))
    assert mirrored == pytest.approx(inside) and inside > 0
    (tmp_path / "a.stl").write_bytes(binary_stl(CORNERS[FACES]))
    read = Meshes(tmp_path / "arm.urdf", (), lambda text, line: None)
    read.shapes("arm", "a.stl", (-1.0, 1.0, 1.0), (np.eye(3), np.zeros(3)), "")
    assert volume(read.pieces) == pytest.approx(1.0)


def test_a_colour_that_is_none_is_left_out() -> None:
    for colour in ("1 0", "nan 0 0 1"):
        data = DAE.replace("GROUPS", TRIANGLES).replace("0 0.2 1 1", colour)
        assert [piece.colour for piece in read_dae(data.encode())] == [""]
    (piece, _) = read_obj(OBJ.encode(), lambda _: b"newmtl red\nKd nan 0 0\n")
    assert piece.colour == ""


def test_a_library_of_colours_cannot_be_read_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_READ", 100_000)
    (tmp_path / "a.obj").write_text("mtllib colours.mtl\n" * 1000 + OBJ)
    (tmp_path / "colours.mtl").write_text("#" * 1000)
    tree, notes = drawn(robot(tmp_path, "a.obj"))
    assert not tree.shapes and "a.obj is too much: the meshes of the robot have more than 0.1 MB" in notes[0]


ENTITIES = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]>'
ENDLESS = DAE.replace("<translate>", '<instance_node url="#n"/><translate>').replace("<node>", '<node id="n">', 1)


@pytest.mark.parametrize(
    ("read", "data", "message"),
    [
        (read_stl, b"x" * 80 + struct.pack("<I", 4_000_000_000), "more than 1,000,000 triangles"),
        (read_stl, b"x" * 80 + struct.pack("<I", 900_000), "cut off"),
        (read_stl, b"", "not an STL"),
        (read_stl, b"solid\nvertex 1 2\n", "three numbers"),
        (read_stl, binary_stl(np.full((1, 3, 3), np.nan)), "not finite"),
        (lambda data: read_obj(data, lambda _: b""), b"v 0 0 0\nf 1 2 3\n", "does not exist"),
        (lambda data: read_obj(data, lambda _: b""), b"v 0 0 zero\n", "not a valid OBJ"),
        (lambda data: read_obj(data, lambda _: b""), b"v 0 0 0\n" + b"f 1 1 1\n" * 1_000_001, "more than 1,000,000"),
        (read_dae, DAE.replace("<COLLADA", ENTITIES + "<COLLADA").encode(), "DOCTYPE"),
        (read_dae, DAE.replace("<COLLADA", ENTITIES + "<COLLADA").encode("utf-16"), "DOCTYPE|not valid XML"),
        (read_dae, ENDLESS.replace("GROUPS", TRIANGLES).encode(), "without end"),
        (read_dae, DAE.replace("GROUPS", TRIANGLES.replace("0 0 2", "0 0 99")).encode(), "does not exist"),
        (read_dae, DAE.replace("GROUPS", POLYGONS.replace("3 3 3", "3 3 9")).encode(), "cut off"),
        (read_dae, DAE.replace("GROUPS", TRIANGLES).replace("1 0 0 0 2", "1 x 0 0 2").encode(), "not a valid DAE"),
        (read_dae, b"<COLLADA", "not valid XML"),
    ],
)
def test_bad_meshes_are_named_and_cost_nothing(read: object, data: bytes, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        read(data)  # type: ignore[operator]


@pytest.mark.parametrize("many", ("groups", "nodes"))
def test_the_numbers_of_a_dae_file_are_read_once(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often they are used: otherwise a file of 50 MB takes hours."""
    file = DAE.replace("GROUPS", TRIANGLES * (50 if many == "groups" else 1))
    if many == "nodes":
        file = file.replace("<node>", '<instance_node url="#n"/>' * 49 + '<node id="n">', 1)
    read: list[str] = []
    plain = dae._numbers

    def counted(element: etree._Element, kind: type = float) -> np.ndarray:
        read.append(etree.QName(element).localname)
        return plain(element, kind)

    monkeypatch.setattr(dae, "_numbers", counted)
    assert len(read_dae(file.encode())) == 50
    assert (read.count("float_array"), read.count("color")) == (1, 1)


def test_damaged_meshes_are_read_or_named() -> None:
    random = Random(17)
    triangles = CORNERS[FACES]
    files: list[tuple[Callable[[bytes], list[Piece]], bytes]] = [
        (read_stl, binary_stl(triangles)),
        (read_stl, text_stl(triangles)),
        (lambda data: read_obj(data, lambda _: data), (OBJ + "newmtl red\nKd 1 0 0\n").encode()),
        (read_dae, DAE.replace("GROUPS", TRIANGLES + POLYGONS).encode()),
    ]
    read_well = 0
    for read, data in files:
        for _ in range(300):
            at, length = random.randrange(len(data)), random.randrange(4)
            damaged = data[:at] + random.choice([b"", b"-", b"9", b" ", b"e99", bytes([255])]) + data[at + length :]
            with contextlib.suppress(MeshError):
                for piece in read(damaged):
                    vertices, _ = simplified(piece.vertices, piece.triangles, 2) if len(piece.triangles) else (0, 0)
                    assert np.all(np.isfinite(vertices))
                read_well += 1
    assert 100 < read_well < 1100


# --- fewer triangles --------------------------------------------------------------------------------------------------


def test_a_simplified_sphere_is_still_a_sphere() -> None:
    vertices, triangles = simplified(*sphere(100), allowed=1000)
    assert 500 < len(triangles) <= 1000
    assert np.max(np.abs(np.linalg.norm(vertices, axis=1) - 1)) < 0.02
    assert volume([Piece(vertices, triangles)]) == pytest.approx(4 / 3 * np.pi, rel=0.03)


def test_small_meshes_keep_their_triangles_and_large_ones_share_the_rest() -> None:
    assert shares([10, 5000, 300, 4000], 1500, 1000) == [10, 595, 300, 595]
    assert shares([10, 5000], 1500, 1000) == [10, 1000]


# --- folders ----------------------------------------------------------------------------------------------------------


def test_meshes_are_found_in_packages_and_beside_the_file(tmp_path: Path) -> None:
    data = binary_stl(CORNERS[FACES])
    package = tmp_path / "arm_description"
    for folder in (package / "meshes", package / "urdf"):
        folder.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>arms</name></package>")
    (package / "meshes" / "a b.STL").write_bytes(data)
    path = package / "meshes" / "a b.STL"
    inside = ("package://arm_description/meshes/a b.STL", "package://arms/meshes/a b.STL", "../meshes/a b.STL")
    for name in (*inside, "meshes/a b.STL", str(path), path.as_uri()):
        tree, notes = drawn(robot(package / "urdf", name))
        (shape,) = tree.shapes
        assert not notes and shape.colour == "#00ff00" and shape.kind == "mesh"
        np.testing.assert_allclose(shape.size, [1, 4, 3])
        np.testing.assert_allclose(shape.position, [-2, 0.5, 6.5], atol=1e-12)
    elsewhere = robot(tmp_path / "other", "package://arm_description/meshes/a b.STL")
    assert not drawn(elsewhere)[0].shapes
    for given in (tmp_path, package):
        assert len(drawn(elsewhere, given)[0].shapes) == 1
    with pytest.raises(UserError, match="--package-path nowhere: there is no such folder"):
        drawn(elsewhere, Path("nowhere"))


def test_no_file_outside_the_folders_of_the_robot_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.stl"
    secret.write_bytes(binary_stl(CORNERS[FACES]))
    package = tmp_path / "arm_description"
    robot(package, "")
    (package / "link.stl").symlink_to(secret)
    names = ("../secret.stl", "link.stl", str(secret), secret.as_uri(), "package://arm_description/../secret.stl")
    for name in names:
        tree, notes = drawn(robot(package, name))
        assert not tree.shapes and len(notes) == 1, name
        assert "is outside the folders of the robot; --package-path DIR" in notes[0], name
    for name in ("//server/a.stl", "file:////server/a.stl", r"\\server\a.stl"):
        assert "is on another machine" in drawn(robot(package, name))[1][0]
    for name in (f"package://{tmp_path.name}/secret.stl", "http://example.org/a.stl", "", "\0.stl", ".", "package://"):
        tree, notes = drawn(robot(package, name.replace("\0", "%00")))
        assert not tree.shapes and len(notes) == 1, name


def test_missing_meshes_are_named_once(tmp_path: Path) -> None:
    text = ROBOT.replace("FILE", "a.stl")
    visual = text[text.index("<visual>") : text.index("</visual>") + 9]
    more = "".join(visual.replace("a.stl", f"{k % 9}.stl") for k in range(20))
    file = tmp_path / "arm.urdf"
    file.write_text(text.replace(visual, visual + more))
    with pytest.warns(
        UserWarning, match="a.stl was not found, 0.stl was not found.* and 5 more; --package-path"
    ) as found:
        without = Tree.from_file(file)
    assert len(found) == 1
    assert without.options == Tree.from_file(file, meshes=False).options  # drawn as if it had none


# --- trees, FMUs, pictures --------------------------------------------------------------------------------------------


def test_a_tree_with_meshes_survives_json_and_toml(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(OBJ)
    (tmp_path / "colours.mtl").write_text("newmtl red\nKd 1 0 0\n")
    tree, _ = drawn(robot(tmp_path, "a.obj"))
    assert [shape.colour for shape in tree.shapes] == ["#ff0000", "#00ff00"]
    assert BodyTree.from_json(tree.to_json()) == tree
    (tmp_path / "arm.toml").write_text(toml_text(tree, "arm"))
    assert read_tree(tmp_path / "arm.toml") == tree
    broken = tree.to_json().replace(tree.shapes[0].mesh, tree.shapes[0].mesh[:-8])
    with pytest.raises(UserError, match="its triangles: the text is not base64"):
        _ = Tree(model=broken).tree


def test_sdf_files_have_meshes(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(binary_stl(CORNERS[FACES]))
    visual = """<visual name="v"><geometry><mesh><uri>model://arm/a.stl</uri></mesh></geometry>
     <material><diffuse>1 0 0 1</diffuse></material></visual>"""
    (tmp_path / "model.config").write_text("<model/>")
    inertia = "<inertial><mass>1</mass></inertial>"
    file = tmp_path / "arm.sdf"
    model = f'<sdf version="1.8"><model name="arm"><link name="a">{inertia}{visual}</link></model></sdf>'
    file.write_text(model.replace("model://arm", f"model://{tmp_path.name}"))
    (shape,) = read_tree(file).shapes
    assert shape.kind == "mesh" and shape.colour == "#ff0000" and shape.size == (1, 2, 3)


def test_mjcf_files_have_the_meshes_that_the_compiler_reads(tmp_path: Path) -> None:
    needs.package("mujoco")
    (tmp_path / "a.stl").write_bytes(binary_stl(CORNERS[FACES]))
    geom = '<geom type="mesh" mesh="a" rgba="1 0 0 1" pos="0 0 5"/>'
    body = f'<body name="arm"><joint name="hinge" axis="0 1 0"/>{geom}</body>'
    file = tmp_path / "arm.xml"
    file.write_text(f'<mujoco><asset><mesh name="a" file="a.stl"/></asset><worldbody>{body}</worldbody></mujoco>')
    (shape,) = read_tree(file).shapes
    vertices, triangles = surface_of(shape.mesh, shape.size)
    corners = np.array(shape.position) + vertices @ np.reshape(shape.rotation, (3, 3)).T
    expected = CORNERS + np.array([0, 0, 5])
    assert sorted(corners.round(3).tolist()) == sorted(expected.tolist())
    assert len(triangles) == 4 and shape.colour == "#ff0000"


def test_meshes_do_not_change_the_model(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(binary_stl(CORNERS[FACES]))
    file = robot(tmp_path, "a.stl")
    found = {}
    for name, meshes in (("with", True), ("again", True), ("without", False)):
        (path,) = Tree.from_file(file, meshes=meshes).build(tmp_path / name, kind="native")
        with zipfile.ZipFile(path) as fmu:
            found[name] = path.read_bytes(), fmu.read("sources/model.c"), fmu.read("resources/model.json")
    assert found["with"][0] == found["again"][0]
    assert found["with"][1] == found["without"][1]  # the GUID included
    model = json.loads(json.loads(found["with"][2])["options"]["model"])
    assert len(surface_of(model["shapes"][0]["mesh"], (1.0, 1.0, 1.0))[1]) == 4


def test_a_robot_is_drawn_with_its_meshes_and_colours(tmp_path: Path) -> None:
    panda = Tree.from_file(robot_file("panda.urdf"), report=lambda _: None)
    count = dict.fromkeys(["", *(body.name for body in panda.tree.bodies)], 0)
    for shape in panda.tree.shapes:
        count[shape.body] += len(surface_of(shape.mesh, shape.size)[1])
    assert max(count.values()) <= LINK_TRIANGLES and 5000 < sum(count.values()) <= ROBOT_TRIANGLES
    assert len(panda.options["model"]) < 250_000
    result = panda.simulate(stop=0.04, step=0.04)
    corners, colours = filled_triangles(panda.drawing(result.at(0)))
    np.testing.assert_allclose(corners[:, :, 1].max(), 1.1, atol=0.05)  # m; stretched out upwards
    assert len(np.unique(colours.round(2), axis=0)) > 20
    animate(result, tmp_path / "panda.gif", fps=25)
    pixels = matplotlib.image.imread(tmp_path / "panda.gif")[:, :, :3] / 255
    page = recording_page(result)
    assert len(page) < PAGE_BYTES + 500_000 and '"colour":"#ffffff"' in page
    light = np.mean(np.all((pixels > 0.7) & (pixels < 0.98), axis=2))
    assert light > 0.02  # white arms, shaded
