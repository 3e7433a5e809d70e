"""SDF models: the same robot as in URDF, frames, joints, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from helpers.chains import off_by
from helpers.fmu_client import Host
from helpers.paths import EXAMPLES
from helpers.robot_files import INERTIAL, ROBOT
from helpers.robot_files import SDF_MODEL as MODEL
from helpers.tolerances import SAME_ROBOT
from helpers.tree_cases import ACCELERATIONS, BuildTree, Point, mechanism_of, names, start_of
from mechfmu.mechanisms.computed_torque.model import ComputedTorque
from mechfmu.mechanisms.tree.readers.common import from_rpy
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.mechanisms.tree.readers.sdf import ModelReader, read_sdf
from mechfmu.mechanisms.tree.readers.toml_file import read_toml
from mechfmu.mechanisms.tree.readers.toml_writer import toml_text
from mechfmu.mechanisms.tree.readers.unsupported import Unsupported
from mechfmu.mechanisms.tree.readers.urdf import read_urdf
from mechfmu.model import UserError
from mechfmu.multibody.tree import BodyTree

pytest_plugins = ["helpers.tree_fixtures"]

URDF, SDF = (EXAMPLES / f"three_link_robot.{ending}" for ending in ("urdf", "sdf"))
HOLD = '<joint name="hold" type="fixed"><parent>world</parent><child>ground</child></joint>'


def as_sdf(urdf: str, absolute: bool) -> str:
    """A URDF as SDF.

    Links stand relative to their joints and joints to their parents; or, `absolute`, links in the model's frame, as
    converters write it, and joints where SDF puts them.
    """
    robot = etree.fromstring(urdf.encode())
    pose = {"ground": (np.eye(3), np.zeros(3))}
    joints = {j.find("child").get("link"): j for j in robot.findall("joint")}

    def placed(link: str) -> tuple[np.ndarray, np.ndarray]:
        if link not in pose:
            R, r = placed(joints[link].find("parent").get("link"))
            xyz, rpy = ([float(x) for x in origin(joints[link], key).split()] for key in ("xyz", "rpy"))
            pose[link] = R @ from_rpy(rpy), r + R @ np.array(xyz)
        return pose[link]

    def origin(element: etree._Element, key: str) -> str:
        return element.find("origin").get(key, "0 0 0") if element.find("origin") is not None else "0 0 0"

    def quaternion(R: np.ndarray) -> str:
        w = np.sqrt(1 + np.trace(R)) / 2
        x = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
        return " ".join(repr(float(v)) for v in [*(np.array(x) / (4 * w)), w])

    parts = [HOLD]
    for link in robot.findall("link"):
        name, inertial = link.get("name"), link.find("inertial")
        where = f'<pose relative_to="{joints[name].get("name")}"/>' if name in joints else ""
        if absolute:
            R, r = placed(name)
            where = f'<pose rotation_format="quat_xyzw">{" ".join(map(repr, r.tolist()))} {quaternion(R)}</pose>'
        mass = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
        if inertial is not None:
            entries = "".join(f"<{k}>{v}</{k}>" for k, v in inertial.find("inertia").items())
            mass = (
                f"<inertial><pose>{origin(inertial, 'xyz')} {origin(inertial, 'rpy')}</pose>"
                f"<mass>{inertial.find('mass').get('value')}</mass><inertia>{entries}</inertia></inertial>"
            )
        parts.append(f'<link name="{name}">{where}{mass}</link>')
    for child, joint in joints.items():
        parent, axis, limit, dynamics = (joint.find(t) for t in ("parent", "axis", "limit", "dynamics"))
        parent = parent.get("link")
        where = f'<pose relative_to="{parent}">{origin(joint, "xyz")} {origin(joint, "rpy")}</pose>'
        words = "".join(f"<{k}>{v}</{k}>" for k, v in limit.items()) if limit is not None else ""
        words = words if limit is None or "lower" in limit.attrib else f"<lower>0</lower>{words}"
        words = words.replace("<effort>0</effort>", "")  # in URDF, 0 means none
        own = "".join(f"<{k}>{v}</{k}>" for k, v in dynamics.items()) if dynamics is not None else ""
        xyz = axis.get("xyz") if axis is not None else "1 0 0"
        axes = f"<axis><xyz>{xyz}</xyz><limit>{words}</limit><dynamics>{own}</dynamics></axis>"
        parts.append(
            f'<joint name="{joint.get("name")}" type="{joint.get("type")}">{"" if absolute else where}'
            f"<parent>{parent}</parent><child>{child}</child>{axes if joint.get('type') != 'fixed' else ''}</joint>"
        )
    return f'<sdf version="1.9"><model name="{robot.get("name")}">{"".join(parts)}</model></sdf>'


def accelerations(tree: BodyTree, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    q, v, tau = random.uniform(0.0, 0.3, (3, sum(joint.rates for joint in tree.joints)))
    return Point(mechanism_of(tree), start_of(tree, q, v, tau)).get(*names(tree, ACCELERATIONS))


@pytest.mark.parametrize("absolute", (False, True))
def test_a_robot_as_urdf_and_as_sdf(absolute: bool) -> None:
    urdf, sdf = read_urdf(ROBOT), read_sdf(as_sdf(ROBOT, absolute))
    assert [b.name for b in sdf.bodies] == [b.name for b in urdf.bodies]
    for one, other in zip(urdf.joints, sdf.joints, strict=True):
        fields = ("name", "kind", "parent", "child", "damping", "friction", "lower", "upper", "effort")
        assert [getattr(one, f) for f in fields] == [getattr(other, f) for f in fields]
    for seed in range(3):
        assert off_by(accelerations(sdf, seed), accelerations(urdf, seed)) < SAME_ROBOT


def test_a_robot_that_floats_as_urdf_and_as_sdf() -> None:
    """SDF lets a model float unless a joint holds it, URDF on request."""
    mass = '<inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = ROBOT.replace('<link name="ground"/>', f'<link name="ground">{mass}</link>')
    sdf = as_sdf(text, absolute=False).replace(HOLD, "")
    assert read_sdf(sdf) == read_urdf(text, "free")
    assert read_sdf(sdf, "fixed") == read_urdf(text) == read_sdf(as_sdf(text, absolute=False))


def test_the_examples_give_the_same_tree() -> None:
    assert read_tree(SDF) == read_tree(URDF)


def test_the_fmus_of_both_examples_give_the_same_numbers(tree_fmu: BuildTree, host: Host) -> None:
    tree = read_tree(URDF)
    start = start_of(tree, [0.3, 0.2, -0.1], [0.4, -0.5, 0.6], [1.0, 2.0, 3.0])
    found = []
    for file in (URDF, SDF):
        slave = host.open(tree_fmu(mechanism_of(read_tree(file))))
        slave.initialize(start)
        found.append(slave.get(*names(tree, ACCELERATIONS)))
    assert list(found[0]) == list(found[1])


# --- frames and joints ------------------------------------------------------------------------------------------------


def test_frames_nested_models_and_two_axes() -> None:
    tree = read_sdf(MODEL)
    assert [(j.name, j.kind, j.parent, j.child) for j in tree.joints] == [
        ("base", "free", "", "trunk"),
        ("shoulder", "spherical", "trunk", "arm__upper"),
        ("arm__wrist", "revolute", "arm__upper", "arm__wrist_cross"),
        ("arm__wrist_2", "revolute", "arm__wrist_cross", "arm__hand"),
    ]
    base, shoulder, first, second = tree.joints
    assert base.position == (1.0, 2.0, 0.0), "where the file puts it"
    assert shoulder.position == (0.0, 0.0, 3.0)
    assert np.reshape(shoulder.rotation, (3, 3)) @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-15)
    assert (first.position, first.lower, first.upper, first.effort) == ((0.0, 0.0, 1.0), -1.0, None, None)
    assert (second.axis, second.damping, second.stiffness, second.rest) == ((0.0, 1.0, 0.0), 0.5, 3.0, 0.1)
    assert (tree.bodies[0].mass, tree.bodies[2].mass, tree.bodies[0].inertia[:3]) == (2.0, 0.0, (1.0, 1.0, 1.0))


def test_an_axis_is_expressed_in_another_frame() -> None:
    frame = '<frame name="turned"><pose degrees="true">0 0 5 0 90 0</pose></frame><link name="hand">'
    text = MODEL.replace('<link name="hand">', frame).replace("<xyz>1 0 0", '<xyz expressed_in="turned">1 0 0')
    assert read_sdf(text).joints[2].axis == pytest.approx((0.0, 0.0, -1.0), abs=1e-15)


RESOLVED = {  # where libsdformat's own test of these frames says that they stand in the model: point, pitch in degrees
    "P": ((1, 0, 0), 0),
    "F1": ((1, 0, 1), 0),
    "C": ((2, 0, 0), 90),
    "F2": ((4, 0, 0), 90),
    "J": ((2, 3, 0), 0),
    "F3": ((2, 3, 3), 90),
    "F4": ((6, 3, 3), 0),
}


def test_frames_stand_where_libsdformat_puts_them() -> None:
    text = """<model name="m"><link name="P"><pose>1 0 0 0 0 0</pose></link>
        <link name="C"><pose degrees="true">2 0 0 0 90 0</pose></link>
        <joint name="J" type="fixed"><pose degrees="true">0 3 0 0 -90 0</pose><parent>P</parent><child>C</child></joint>
        <frame name="F1"><pose relative_to="P">0 0 1 0 0 0</pose></frame>
        <frame name="F2"><pose relative_to="C">0 0 2 0 0 0</pose></frame>
        <frame name="F3"><pose relative_to="J" degrees="true">0 0 3 0 90 0</pose></frame>
        <frame name="F4"><pose relative_to="F3" degrees="true">0 0 4 0 -90 0</pose></frame></model>"""
    reader = ModelReader(Unsupported(frozenset()))
    reader.collect(etree.fromstring(text), "", 0)
    for name, (point, pitch) in RESOLVED.items():
        R, r = reader.frames.between("__model__", name, name, 0)
        assert r == pytest.approx(point, abs=1e-12)
        assert pytest.approx(from_rpy((0.0, np.radians(pitch), 0.0)), abs=1e-12) == R


def test_a_root_link_is_held_on_request() -> None:
    held = read_sdf(MODEL, "fixed")
    assert held.joints[0].name == "shoulder"
    assert held.joints[0].position == (1.0, 2.0, 3.0)
    assert read_sdf(MODEL, "free") == read_sdf(MODEL)


def test_a_mimic_joint_follows() -> None:
    mimic = '<mimic joint="elbow"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>'
    text = as_sdf(ROBOT, False).replace('"screw"', '"elbow"')
    text = text.replace("</axis></joint>", f"{mimic}</axis></joint>", 1)
    joint = next(j for j in read_sdf(text).joints if j.mimic)
    assert (joint.mimic, joint.multiplier) == ("elbow", 2.0)
    assert joint.offset == pytest.approx(0.5 - 2 * 0.1)


def test_the_frame_of_a_model_without_links_is_that_of_the_first_nested_one() -> None:
    """As libsdformat has it; so the joint hangs on a link, and not on the world."""
    text = """<sdf version="1.9"><model name="m"><model name="in"><link name="a"/></model>
        <model name="out"><link name="b"/></model>
        <joint name="j" type="ball"><parent>F</parent><child>out::b</child></joint></model></sdf>"""
    for frame in ('<frame name="F"/>', '<frame name="F" attached_to="in"/>'):
        tree = read_sdf(text.replace("<joint", f"{frame}<joint"))
        assert [(j.kind, j.parent, j.child) for j in tree.joints] == [
            ("free", "", "in__a"),
            ("spherical", "in__a", "out__b"),
        ]


def test_a_joint_that_ends_at_the_base_closes_a_loop() -> None:
    text = as_sdf(ROBOT, False)
    back = '<joint name="back" type="ball"><parent>tool</parent><child>ground</child></joint></model>'
    message = "joint back: link ground has two parents, joint hold carries it already"
    for kind in ("ball", "fixed"):
        with pytest.raises(UserError, match=message):
            read_sdf(text.replace("</model>", back.replace("ball", kind)))


def test_a_joint_follows_the_second_axis_of_another() -> None:
    mimic = '<axis><xyz>1 0 0</xyz><mimic joint="wrist" axis="axis2"/>'
    assert read_sdf(MODEL.replace("<axis><xyz>1 0 0</xyz>", mimic)).joints[2].mimic == "arm__wrist_2"


# --- what is refused --------------------------------------------------------------------------------------------------

FAULTS = {  # old text, new text, message
    "version": ('version="1.8"', 'version="1.6"', r":1: version 1.6 of SDF is not supported: 1.7 is the first one"),
    "no version": (' version="1.8"', "", r":1: the file: <sdf> has no version"),
    "frame": ('relative_to="socket"', 'relative_to="sockt"', r":8: model arm: there is no frame sockt; did you mean"),
    "loop of frames": (
        'attached_to="trunk"><pose degrees="true"',
        'attached_to="trunk"><pose relative_to="arm"',
        r":8: model arm: is relative to itself: arm::__model__ -> socket -> arm::__model__",
    ),
    "loop of attachments": ('attached_to="trunk"', 'attached_to="socket"', r":7: frame socket: is relative to itself"),
    "outside": (
        "<pose>1 0 0 0 0 0</pose>",
        '<pose relative_to="ground"/>',
        r":4: model robot: its pose is relative to",
    ),
    "joint of the world": ("</world>", '<joint name="j"/></world>', r":\d+: joint j: a joint of the world"),
    "child": ("<child>arm::upper", "<child>arm::uper", r":20: joint shoulder: there is no frame arm::uper"),
    "gearbox": ('type="universal"', 'type="gearbox"', r":\d+: joint arm::wrist: unknown or unsupported type gearbox"),
    "nan": ("<mass>2</mass>", "<mass>nan</mass>", r":6: link trunk: mass: nan is not a number"),
    "second root": ("</world>", f"<model name='b'><link name='x'>{INERTIAL}</link></model></world>", "a second one"),
    "loose link": ('<link name="hand">', f'<link name="more">{INERTIAL}</link><link name="hand">', "a second root"),
    "name": ('<link name="hand">', '<link name="a::b">', "needs a name of its own without ::"),
    "pose": ("<pose>1 0 0 0 0 0</pose>", "<pose>1 0 0</pose>", r":5: model robot: pose: needs 6 numbers, has 3"),
    "auto": ("<inertial>", '<inertial auto="true">', r"inertial auto=true is not supported"),
    "doctype": ("<sdf ", "<!DOCTYPE sdf><sdf ", "a DOCTYPE is not allowed"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_one_line(fault: str) -> None:
    old, new, message = FAULTS[fault]
    assert old in MODEL
    with pytest.raises(UserError, match=message) as caught:
        read_sdf(MODEL.replace(old, new, 1))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "word, old, new, message",
    (
        ("sensor", "</link>", '<sensor name="imu" type="imu"/></link>', "unsupported: sensor imu. To leave this out"),
        ("plugin", "</model>\n  </world>", '<plugin name="drive"/></model></world>', "unsupported: plugin drive"),
        ("include", "</world>", "<include><uri>model://x</uri></include></world>", "unsupported: <include>"),
        ("gravity", '<world name="w">', '<world name="w"><gravity>0 1 -1.6</gravity>', "gravity 0 1 -1.6"),
        (
            "fluid",
            '<link name="trunk">',
            '<link name="trunk"><velocity_decay><linear>1</linear></velocity_decay>',
            "decay",
        ),
        (
            "fluid",
            '<model name="arm">',
            '<model name="arm"><enable_wind>true</enable_wind>',
            "enable_wind true of model arm",
        ),
        ("static", '<model name="arm">', '<model name="arm"><static>1</static>', "static 1 of model arm"),
        (
            "kinematic",
            '<link name="trunk">',
            '<link name="trunk"><kinematic>true</kinematic>',
            "kinematic true of link trunk",
        ),
        ("gravity", '<link name="trunk">', '<link name="trunk"><gravity>0</gravity>', "gravity 0 of link trunk"),
    ),
)
def test_what_a_tree_does_not_do_is_named_or_left_out(word: str, old: str, new: str, message: str) -> None:
    text = MODEL.replace(old, new, 1)
    with pytest.raises(UserError) as caught:
        read_sdf(text)
    line = MODEL[: MODEL.index(old)].count("\n") + 1
    assert f":{line}: " in str(caught.value)
    assert message in str(caught.value) and f"--ignore {word}" in str(caught.value)
    assert len(read_sdf(text, ignore=[word]).joints) == 4


@pytest.mark.parametrize("element, gravity", (("<gravity>0 0 -1.6</gravity>", 1.6), ("", 9.8)))
def test_gravity_starts_with_that_of_the_world(element: str, gravity: float) -> None:
    """Which the specification says to be 9.8 m/s2 where the file has none."""
    tree = read_sdf(MODEL.replace('<world name="w">', f'<world name="w">{element}'), "fixed")
    assert tree.gravity == gravity
    starts = [
        next(row.start for row in made.rows() if row.name == "gravity")
        for made in (mechanism_of(tree), ComputedTorque(model=tree.to_json(), law="gravity"))
    ]
    assert starts == [gravity, gravity]
    assert read_toml(toml_text(tree)) == tree


def test_gravity_of_a_model_without_a_world_is_the_usual_one() -> None:
    assert read_tree(SDF).gravity == 9.81


def unknown_in(text: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    read_sdf(text, report=lambda message, line: found.append((line, message)))
    return found


@pytest.mark.parametrize(
    "old, new, message",
    (
        ("<dynamics><damping>", "<dynamcs/><dynamics><damping>", "joint wrist: <dynamcs> in <axis2> is unknown and"),
        ("<upper>", "<uper>1</uper><upper>", "joint wrist: <uper> in <limit> is unknown and ignored; did you mean upp"),
        ("<limit>", '<limit lower="1">', "joint wrist: attribute lower of <limit> is unknown and ignored"),
        ("relative_to", "relativ_to", "model arm: attribute relativ_to of <pose> is unknown and ignored; did you mean"),
    ),
)
def test_a_typing_error_is_reported_with_its_line(old: str, new: str, message: str) -> None:
    ((line, text),) = unknown_in(MODEL.replace(old, new, 1))
    assert text.startswith(message)
    assert line == MODEL[: MODEL.index(old)].count("\n") + 1


def test_a_typing_error_is_reported_once() -> None:
    ((_, text),) = unknown_in(MODEL.replace("<mass>", "<mas>0</mas><mass>"))
    assert "<mas> in <inertial>" in text and "(2 more of this kind)" in text


def test_what_sdf_knows_and_what_has_a_namespace_is_not_reported() -> None:
    known = "<self_collide>1</self_collide><light/><visual name='v'/><x:y/>"
    text = MODEL.replace("<sdf ", '<sdf xmlns:x="x" ').replace('<link name="trunk">', f'<link name="trunk">{known}')
    assert unknown_in(text) == []


def test_base_free_and_a_joint_at_the_world_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"joint foot holds the model at the world, so --base free is impossible"):
        read_tree(SDF, "free")
