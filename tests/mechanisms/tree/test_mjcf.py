"""MJCF models: accelerations against MuJoCo's own, the data of joints and motors, and what is refused."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.chains import off_by
from helpers.fmu_client import Host
from helpers.mujoco_tree import MujocoTree
from helpers.robot_files import MJCF_MODEL as CHAIN
from helpers.tolerances import MUJOCO
from helpers.tree_cases import ACCELERATIONS, BuildTree, Point, mechanism_of, names, start_of
from mechfmu.cli import main
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.readers.mjcf import read_mjcf
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.model import UserError
from mechfmu.multibody.tree import BodyTree, Joint

pytest_plugins = ["helpers.tree_fixtures"]
needs.package("mujoco", whole_file=True)

STATES = 3
GYMNASIUM = {  # models of the package, and what has to be left out
    "ant": (),
    "half_cheetah": (),
    "hopper": (),
    "humanoid": ("tendon",),
    "inverted_double_pendulum": ("gravity",),
    "inverted_pendulum": (),
    "point": (),
    "pusher": ("gravity",),
    "reacher": (),
    "swimmer": ("fluid",),
    "walker2d": (),
}


def folder_of(package: str, *path: str) -> Path:
    """A folder of an installed package, which is not imported."""
    specification = importlib.util.find_spec(package)
    assert specification and specification.origin
    return Path(specification.origin).parent.joinpath(*path)


def gymnasium_file(name: str) -> Path:
    needs.package("gymnasium")
    return folder_of("gymnasium", "envs", "mujoco", "assets", f"{name}.xml")


def unlimited(tree: BodyTree, mimic: bool = False) -> BodyTree:
    """Without what the solver of MuJoCo does: limits, dry friction, and, unless mimic, couplings."""
    free = {"lower": None, "upper": None, "effort": None, "friction": 0.0} | ({} if mimic else {"mimic": ""})
    return replace(tree, joints=tuple(replace(joint, **free) for joint in tree.joints))


def worst_acceleration(file: Path, ignore: tuple[str, ...]) -> float:
    tree = unlimited(read_mjcf(file, ignore=(*ignore, "contact")))
    mechanism, other = mechanism_of(tree), MujocoTree(file, tree)
    found = []
    for seed in range(STATES):
        q, v, tau, wanted = other.accelerations(seed)
        ours = Point(mechanism, start_of(tree, q, v, tau)).get(*names(tree, ACCELERATIONS))
        found.append(off_by(ours, wanted))
    return max(found)


# --- accelerations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GYMNASIUM)
def test_accelerations_of_gymnasiums_models(name: str) -> None:
    assert worst_acceleration(gymnasium_file(name), GYMNASIUM[name]) < MUJOCO


def test_accelerations_of_mujocos_own_model() -> None:
    """Free bodies, balls with rotor inertia, hinges and slides, several joints on a body."""
    file = folder_of("mujoco", "testdata", "model.xml")
    if not file.is_file():
        pytest.skip("this version of mujoco comes without a model")
    assert worst_acceleration(file, ("tendon", "sensor", "gravcomp", "fluid", "actuator", "equality")) < MUJOCO


def test_accelerations_of_an_fmu(tree_fmu: BuildTree, host: Host) -> None:
    file = gymnasium_file("hopper")
    tree = unlimited(read_mjcf(file, ignore=["contact"]))
    other, slave = MujocoTree(file, tree), host.open(tree_fmu(mechanism_of(tree)))
    q, v, tau, wanted = other.accelerations(1)
    slave.initialize(start_of(tree, q, v, tau))
    assert off_by(slave.get(*names(tree, ACCELERATIONS)), wanted) < MUJOCO


def test_a_body_that_three_joints_turn_slide_and_turn_again(tmp_path: Path) -> None:
    """Joints with points, references and springs of their own, on a body that another one carries askew."""
    file = tmp_path / "model.xml"
    file.write_text(CHAIN)
    assert worst_acceleration(file, ()) < MUJOCO


# --- what is read -----------------------------------------------------------------------------------------------------


def joints_of(text: str, *ignore: str) -> dict[str, Joint]:
    return {joint.name: joint for joint in read_mjcf(text, ignore=(*ignore, "contact")).joints}


def test_joints_of_one_body_are_a_chain() -> None:
    tree = read_mjcf(CHAIN, ignore=["contact"])
    assert tree.name == "chain"
    assert [(j.name, j.kind, j.parent, j.child) for j in tree.joints] == [
        ("yaw", "revolute", "", "arm_yaw"),
        ("lift", "prismatic", "arm_yaw", "arm_lift"),
        ("roll", "revolute", "arm_lift", "arm"),
        ("plate", "fixed", "arm", "plate"),
        ("hang", "spherical", "plate", "ball"),
    ], "the mast is fixed to the world, and so a part of the base"
    assert [b.mass > 0 for b in tree.bodies] == [False, False, True, True, True]
    assert {s.body for s in tree.shapes} == {"arm", "plate", "ball"}


def test_springs_dampers_limits_and_motors() -> None:
    joints = joints_of(CHAIN)
    assert (joints["yaw"].stiffness, joints["yaw"].rest) == (5.0, 0.2)
    assert (joints["lift"].damping, joints["lift"].armature) == (2.0, 0.1)
    assert (joints["roll"].friction, joints["roll"].lower, joints["roll"].upper) == (0.7, -1.0, 2.0)
    assert joints["hang"].damping == 0.3
    assert joints["yaw"].effort == 15.0, "gear times the force, which limits more than ctrl does"
    assert joints["lift"].effort == 5.0, "the motors of a joint add up"
    assert joints["roll"].effort is None


def test_of_a_servo_the_range_of_its_force_stays() -> None:
    servo = '<position joint="roll" kp="3" gear="2" ctrlrange="-1 1" forcerange="-7 7"/>'
    text = CHAIN.replace('<motor joint="roll"/>', servo)
    with pytest.raises(UserError, match="actuator is not a motor"):
        joints_of(text)
    assert joints_of(text, "actuator")["roll"].effort == 14.0


def test_of_a_motor_its_rotor_and_damping_are_seen_through_the_gear() -> None:
    motor = '<motor joint="roll" gear="-3" armature="0.1" damping="0.2" ctrlrange="-4 4"/>'
    if not hasattr(importlib.import_module("mujoco").MjModel, "actuator_armature"):
        pytest.skip("this version of mujoco has no rotors in motors")
    roll = joints_of(CHAIN.replace('<motor joint="roll"/>', motor))["roll"]
    assert (roll.armature, roll.damping, roll.effort) == (pytest.approx(0.9), pytest.approx(1.8), 12.0)


def test_the_joint_limits_the_sum_of_its_motors() -> None:
    assert joints_of(CHAIN.replace('name="lift"', 'name="lift" actuatorfrcrange="-2 2"'))["lift"].effort == 2.0


def test_a_ctrl_that_is_not_clamped_does_not_limit_the_effort() -> None:
    joints = joints_of(CHAIN.replace("<worldbody>", '<option><flag clampctrl="disable"/></option><worldbody>'))
    assert (joints["yaw"].effort, joints["lift"].effort) == (15.0, None), "the range of the force stays"


def test_bodies_fixed_to_the_world_are_the_base() -> None:
    """And what they carry stands where they put it."""
    text = """<mujoco><worldbody><body pos="0 0 1" euler="0 0 90"><body pos="1 0 0"><body pos="1 0 0"><joint name="j"/>
        <geom size="1"/></body></body></body></worldbody></mujoco>"""
    (joint,) = read_mjcf(text).joints
    assert (joint.parent, joint.position) == ("", pytest.approx((0.0, 2.0, 1.0)))


def test_a_linear_coupling_of_joints() -> None:
    coupling = '<equality><joint joint1="roll" joint2="yaw" polycoef="0.1 2 0 0 0"/></equality></mujoco>'
    joint = joints_of(CHAIN.replace("</mujoco>", coupling), "actuator")["roll"]
    assert (joint.mimic, joint.multiplier) == ("yaw", 2.0)
    assert joint.offset == pytest.approx(0.1 - 2 * 0.3), "MuJoCo counts from the references"
    inactive = coupling.replace("joint1", 'active="false" joint1')
    assert joints_of(CHAIN.replace("</mujoco>", inactive))["roll"].mimic == ""


COUPLED = CHAIN.replace(
    "</mujoco>",
    """<equality><joint joint1="roll" joint2="yaw" polycoef="0.1 2 0 0 0"/>
    <joint joint1="lift" joint2="roll" polycoef="0 0.3 0 0 0"/></equality></mujoco>""",
).replace('name="roll"', 'name="roll" armature="0.4"')


def test_accelerations_of_coupled_joints(tmp_path: Path) -> None:
    """A chain of couplings, by projection of MuJoCo's mass matrix and forces; the constraint solver is off."""
    file = tmp_path / "model.xml"
    file.write_text(COUPLED)
    tree = unlimited(read_mjcf(file, ignore=["contact", "actuator"]), mimic=True)
    assert (tree.joints[1].mimic, tree.joints[2].mimic, tree.joints[2].armature) == ("roll", "yaw", 0.4)
    leaders, other = replace(tree, joints=tuple(j for j in tree.joints if not j.mimic)), MujocoTree(file, tree)
    for seed in range(STATES):
        q, v, tau, wanted = other.accelerations(seed)
        ours = Point(mechanism_of(tree), start_of(leaders, q, v, tau)).get(*names(tree, ACCELERATIONS))
        assert off_by(ours, wanted) < MUJOCO


def test_a_motor_of_a_joint_that_follows_is_refused() -> None:
    with pytest.raises(UserError, match=r"the motor of joint roll, which follows joint yaw.*--ignore actuator"):
        joints_of(COUPLED)


def test_couplings_are_left_out_on_request() -> None:
    joints = joints_of(COUPLED, "mimic")
    assert [joints[name].mimic for name in ("roll", "lift")] == ["", ""]


def test_a_free_body_starts_where_the_file_puts_it() -> None:
    text = """<mujoco><worldbody><body pos="1 2 3" euler="0 0 90"><freejoint name="root"/>
        <geom size="0.1"/></body></worldbody></mujoco>"""
    tree = read_mjcf(text)
    (joint,) = tree.joints
    assert (joint.kind, joint.parent, joint.position) == ("free", "", (1.0, 2.0, 3.0))
    assert np.reshape(joint.rotation, (3, 3)) @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-15)
    assert (tree.bodies[0].name, tree.name) == ("body_1", "robot")


def test_constraints_that_are_switched_off_have_no_effect() -> None:
    """Each by its own flag, or all of them at once."""
    for flags in ('limit="disable" equality="disable" frictionloss="disable"', 'constraint="disable"'):
        joints = joints_of(COUPLED.replace("<worldbody>", f"<option><flag {flags}/></option><worldbody>"))
        assert [joints[name].mimic for name in ("roll", "lift")] == ["", ""]
        assert (joints["roll"].lower, joints["roll"].friction) == (None, 0.0)


TOML = 'body = [{name="b", mass=1, inertia=[1, 1, 1, 0, 0, 0]}]\njoint = [{name="f", kind="free", child="b"}]'
FLOATS = {
    "xml": '<mujoco><worldbody><body name="b"><freejoint name="f"/><geom size="0.1"/></body></worldbody></mujoco>',
    "toml": TOML,
    "urdf": """<robot name="r"><link name="world"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="f" type="floating"><parent link="world"/>
        <child link="b"/></joint></robot>""",
}


@pytest.mark.parametrize("suffix", FLOATS)
def test_a_body_that_floats_cannot_be_held(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / f"robot.{suffix}"
    file.write_text(FLOATS[suffix])
    for command in ("build", "list", "linearize", "convert"):
        written = [str(tmp_path / "out.toml")] if command == "convert" else []
        assert main([command, str(file), *written, "--base", "fixed"]) == 2
        text = f"{file}: base=fixed: body b is not held by the base, joint f lets it float"
        assert capsys.readouterr().err.startswith(f"mechfmu {command}: {text}; ")
    with pytest.raises(UserError, match="base=moving: body b is not held"):
        Tree.from_file(file, base="moving")
    assert Tree.from_file(file).tree.joints[0].kind == "free"
    assert list(tmp_path.iterdir()) == [file]


def test_contacts_are_not_simulated_which_a_warning_says() -> None:
    with pytest.warns(RuntimeWarning, match=r"contacts are not simulated \(pairs of bodies that could touch: 2\)"):
        read_mjcf(CHAIN)  # the arm and the ball can touch the world, but not each other, which a joint connects
    read_mjcf(CHAIN.replace("<worldbody>", '<option><flag contact="disable"/></option><worldbody>', 1))


# --- what is refused --------------------------------------------------------------------------------------------------

REFUSED = {  # what is put in, word to leave it out, and the message
    "tendon": (
        '<tendon><fixed name="t"><joint joint="yaw" coef="1"/></fixed></tendon></mujoco>',
        "</mujoco>",
        "unsupported: tendon t. To leave this out: --ignore tendon",
    ),
    "sensor": (
        '<sensor><jointpos name="a" joint="yaw"/><jointpos joint="roll"/></sensor></mujoco>',
        "</mujoco>",
        "unsupported: sensor a and 1 more. To leave this out: --ignore sensor",
    ),
    "actuator": (
        '<position name="p" joint="yaw" kp="3"/></actuator>',
        "</actuator>",
        "unsupported: actuator p is not a motor",
    ),
    "equality": (
        '<equality><weld name="w" body1="arm" body2="ball"/></equality></mujoco>',
        "</mujoco>",
        "unsupported: equality w does not couple two joints",
    ),
    "fluid": ('<option density="1000"/><worldbody>', "<worldbody>", "forces of the medium (density 1000, viscosity 0)"),
    "gravity": ('<option gravity="0 0 0"/><worldbody>', "<worldbody>", "gravity 0 0 0 m/s2, which the FMU has"),
    "gravcomp": ('name="arm" gravcomp="1"', 'name="arm"', "gravcomp of body arm"),
    "ball": ('name="hang" range="0 1"', 'name="hang"', "the range of the ball joint hang"),
    "mocap": ('<body name="hand" mocap="true"/></worldbody>', "</worldbody>", "mocap body hand"),
    "free": (
        '<body name="f"><joint name="root" type="free" damping="1"/><geom size="1"/></body></worldbody>',
        "</worldbody>",
        "damping of the free joint root",
    ),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_a_tree_does_not_do_is_named_with_its_line_or_left_out(word: str) -> None:
    new, old, message = REFUSED[word]
    text = CHAIN.replace(old, new, 1)
    with pytest.raises(UserError) as caught:
        read_mjcf(text, ignore=["contact"])
    assert message in str(caught.value) and f"--ignore {word}" in str(caught.value)
    line = text[: text.index(new)].count("\n") + 1
    assert str(caught.value).startswith(f"description:{line}: ")
    assert len(read_mjcf(text, ignore=["contact", word]).joints) >= 5


def test_all_kinds_are_named_in_one_line() -> None:
    text = CHAIN
    for word in ("tendon", "sensor", "gravcomp"):
        new, old, _ = REFUSED[word]
        text = text.replace(old, new, 1)
    with pytest.raises(UserError, match="--ignore tendon --ignore sensor --ignore gravcomp") as caught:
        read_mjcf(text, ignore=["contact"])
    assert "\n" not in str(caught.value)


def test_limits_that_are_not_symmetric_are_refused() -> None:
    text = CHAIN.replace('ctrlrange="-2 2" forcerange="-1.5 1.5"', 'ctrlrange="0 1"')
    with pytest.raises(UserError, match=r"the motor of joint yaw has limits 0 .. 10 that are not symmetric"):
        joints_of(text)
    assert joints_of(text, "actuator")["yaw"].effort is None


@pytest.mark.parametrize(
    "old, new, message",
    (
        ('type="ball"', 'type="bal"', r"description:14: compiler of MuJoCo: invalid keyword: 'bal' \(element joint\)"),
        ("</mujoco>", "</mujoc>", r"description:26: is not valid XML: Opening and ending tag mismatch"),
        ('mass="2"', 'mass="nan"', r"a number is not finite|compiler of MuJoCo"),
        ("<worldbody>", '<include file="none.xml"/><worldbody>', r"line 3 here or in an included file: compiler"),
        (
            "</worldbody>",
            '<replicate count="99"><replicate count="99"><geom size="1"/></replicate></replicate></worldbody>',
            r"description:19: <replicate>: 9801 elements are too many; at most 5000",
        ),
        ("<mujoco ", "<!DOCTYPE x><mujoco ", r"description:1: a DOCTYPE is not allowed"),
    ),
)
def test_faults_of_a_file_are_one_line(old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        joints_of(CHAIN.replace(old, new, 1))
    assert str(caught.value).isprintable()


def test_the_root_element_chooses_the_reader(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(f"<?xml version='1.0'?>\n<!-- <robot> -->\n{CHAIN}")
    assert read_tree(file, ignore=["contact"]).name == "chain"
    include = tmp_path / "include.xml"
    include.write_text("<mujocoinclude><body/></mujocoinclude>")
    with pytest.raises(UserError, match=r"include.xml:1: <mujocoinclude> is an include file of an MJCF model"):
        read_tree(include)
    with pytest.raises(UserError, match=r"base=free is for URDF and SDF files; in an MJCF file, a <freejoint/>"):
        read_tree(file, "free")
    with pytest.raises(UserError, match=r"--ignore sensors: unknown for an MJCF file; did you mean sensor\?"):
        read_tree(file, ignore=["sensors"])


def test_the_command_line_names_and_ignores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "robot.xml"
    new, old, _ = REFUSED["tendon"]
    file.write_text(CHAIN.replace(old, new, 1))
    assert main(["list", str(file), "--ignore", "contact"]) == 2
    line = f"{file}:26: unsupported: tendon t. To leave this out: --ignore tendon"
    assert capsys.readouterr().err == f"mechfmu list: {line}\n"
    assert main(["list", str(file), "--ignore", "tendon,sensor"]) == 0
    shown = capsys.readouterr()
    assert "hang (spherical) - ball" in shown.out
    assert shown.err.startswith(f"mechfmu list: warning: {file}: contacts are not simulated")
    assert main(["convert", str(file), str(tmp_path / "robot.toml"), "--ignore", "tendon", "--ignore", "contact"]) == 0
    assert read_tree(tmp_path / "robot.toml") == read_tree(file, ignore=["tendon", "contact"])
