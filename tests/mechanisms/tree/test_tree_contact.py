"""Bodies on the ground: a ball, a box on a slope, energy, communication steps, and what files say about contacts."""

from __future__ import annotations

import warnings
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from helpers import needs
from helpers.bouncing_reference import Fall, heights
from helpers.chains import off_by
from helpers.fmu_client import Host
from helpers.pinocchio_tree import PinocchioTree
from helpers.robot_files import SDF_MODEL
from helpers.tolerances import (
    BOUNCING_BALL,
    GROUND_ENERGY,
    GROUND_STEP,
    OTHER_CODE,
    RESTITUTION,
    ROLLING,
    SAME_STIFFNESS,
    SLIDING,
    TIGHT,
    TIGHTEST,
    TREE_POWER,
    WEIGHT,
)
from helpers.tree_cases import ACCELERATIONS, BuildTree, Point, mechanism_of, names, rate_along, start_of
from helpers.trees import random_state, random_tree
from mechfmu.analysis.linear import linearize
from mechfmu.mechanisms.computed_torque.model import ComputedTorque
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.readers.read import read_tree
from mechfmu.mechanisms.tree.start_in_ground import start_in_ground
from mechfmu.model import UserError
from mechfmu.multibody.attachments import ContactSphere
from mechfmu.multibody.tree import Body, BodyTree, Joint

pytest_plugins = ["helpers.tree_fixtures"]
pin = needs.module("pinocchio")

G, RADIUS = 9.81, 0.1
BALL = BodyTree(
    "Ball",
    (Body("ball", 1.0, inertia=(0.004, 0.004, 0.004, 0.0, 0.0, 0.0)),),  # 2/5 m r^2
    (Joint("free", "free", "ball"),),
    contacts=(ContactSphere("ball", "ball", radius=RADIUS),),
)
CORNERS = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.04, 0.04)]
BOX = BodyTree(
    "Box",
    (Body("box", 2.0, inertia=(0.008, 0.008, 0.0133, 0.0, 0.0, 0.0)),),
    (Joint("free", "free", "box"),),
    contacts=tuple(ContactSphere(f"corner{i}", "box", corner) for i, corner in enumerate(CORNERS)),
)
STIFFNESS = {"contact.stiffness": 1e6}


def test_a_ball_bounces_as_the_law_integrated_with_40_digits() -> None:
    """Four impacts in a second, the last ones below 1 m/s."""
    start = {"free.position_start[3]": RADIUS + 0.1, "contact.stiffness": 1e5, "contact.damping": 0.5}
    found = mechanism_of(BALL).simulate(stop=1.0, step=0.01, start=start, tolerance=TIGHTEST)
    fall = Fall(Decimal("9.81"), Decimal("1e5"), Decimal("0.5"), Decimal("0.1"))
    wanted = np.array(heights(fall, [Decimal(i) / 100 for i in range(101)]))
    assert np.max(np.abs(found["free.position[3]"] - RADIUS - wanted)) < BOUNCING_BALL
    assert np.sum(np.diff(np.sign(np.diff(wanted))) > 0) >= 3  # it did bounce
    assert np.max(np.abs(found["ball.depth"] + wanted)) < BOUNCING_BALL


@pytest.mark.parametrize("speed", (0.2, 2.0))
def test_the_speed_after_an_impact_follows_from_damping_alone(speed: float) -> None:
    """d v - ln(1 + d v) is the same before and after; without weight, at any stiffness."""
    start = {"gravity": 0.0, "contact.damping": 0.5, "free.position_start[3]": RADIUS + 0.001}
    start |= {"free.speed_start[3]": -speed}
    before = 0.5 * speed - np.log(1 + 0.5 * speed)
    wanted = brentq(lambda v: -0.5 * v - np.log(1 - 0.5 * v) - before, 1e-6, min(speed, 1.9999), xtol=1e-14)
    for stiffness in (1e5, 1e7):
        found = mechanism_of(BALL).simulate(
            stop=0.2, step=0.1, start=start | {"contact.stiffness": stiffness}, tolerance=TIGHT
        )
        assert found["free.speed[3]"][-1] == pytest.approx(wanted, rel=RESTITUTION)


def on_slope(tree: BodyTree, angle: float, height: float, friction: tuple[float, float]) -> dict[str, float]:
    """Start values of a body that lies on the slope, its origin `height` above it."""
    return {
        "free.position_start[1]": height * np.sin(angle),
        "free.position_start[3]": height * np.cos(angle),
        "free.quaternion_start[1]": np.cos(angle / 2),
        "free.quaternion_start[3]": np.sin(angle / 2),
        "ground.inclination": angle,
        "contact.static_friction": friction[0],
        "contact.sliding_friction": friction[1],
    }


def downhill(result, angle: float, word: str) -> np.ndarray:
    return result[f"free.{word}[1]"] * np.cos(angle) - result[f"free.{word}[3]"] * np.sin(angle)


@pytest.mark.parametrize("side", (0.97, 1.03), ids=("below", "above"))
def test_a_box_on_a_slope_sticks_below_the_friction_angle_and_slides_above(side: float) -> None:
    """Below, it creeps slower than the friction speed; above, it accelerates by g (sin - mu cos)."""
    friction, slow = (0.5, 0.5), 0.01
    angle = float(np.arctan(side * friction[0]))
    start = on_slope(BOX, angle, 0.04 - 0.002, friction) | STIFFNESS | {"contact.friction_speed": slow}
    result = mechanism_of(BOX).simulate(stop=4.0, step=0.05, start=start, tolerance=1e-7)
    speed = downhill(result, angle, "speed")
    if side < 1:
        assert 0 < speed[-1] < slow
        assert abs(speed[-1] - speed[-20]) < 1e-3 * slow  # it does not accelerate
    else:
        wanted = G * (np.sin(angle) - friction[1] * np.cos(angle))
        assert np.diff(speed[-20:]) / 0.05 == pytest.approx(wanted, rel=SLIDING)
    pushes = sum(np.array([result[f"corner{i}.force_{a}"][-1] for a in "xyz"]) for i in range(8))
    normal = pushes @ [np.sin(angle), 0.0, np.cos(angle)]
    assert normal == pytest.approx(2.0 * G * np.cos(angle), rel=SLIDING)


def test_static_friction_is_the_larger_one() -> None:
    """Between both friction angles a box at rest stays, and one that slides goes on faster and faster."""
    angle = float(np.arctan(0.6))
    start = on_slope(BOX, angle, 0.04 - 0.002, (0.7, 0.5)) | STIFFNESS | {"contact.friction_speed": 0.01}
    kicked = start | {"free.speed_start[1]": 0.5 * np.cos(angle), "free.speed_start[3]": -0.5 * np.sin(angle)}
    mechanism = mechanism_of(BOX)
    rest, slides = (mechanism.simulate(stop=2.0, step=0.1, start=s, tolerance=1e-6) for s in (start, kicked))
    assert 0 < downhill(rest, angle, "speed")[-1] < 0.01
    assert downhill(slides, angle, "speed")[-1] > 0.5 + 0.9 * 2.0 * G * np.cos(angle) * (0.6 - 0.5)


def test_a_ball_rolls_down_a_slope() -> None:
    """a = g sin / (1 + 2/5), when it has stopped to bounce and its slip is steady."""
    angle = 0.2
    start = on_slope(BALL, angle, RADIUS - 0.002, (0.9, 0.7)) | STIFFNESS
    result = mechanism_of(BALL).simulate(stop=3.0, step=0.1, start=start, tolerance=1e-8)
    assert np.diff(downhill(result, angle, "speed")[-10:]) / 0.1 == pytest.approx(G * np.sin(angle) / 1.4, rel=ROLLING)
    assert result["free.rate[2]"][-1] * RADIUS == pytest.approx(downhill(result, angle, "speed")[-1], rel=0.02)


TUMBLING = {
    "free.position_start[3]": 0.3, "free.speed_start[1]": 1.0, "free.rate_start[1]": 6.0, "free.rate_start[2]": 4.0,
    "free.rate_start[3]": -3.0, "ground.inclination": 0.1, **STIFFNESS,
}  # fmt: skip


def test_energy_never_grows_and_every_joule_is_accounted_for() -> None:
    result = mechanism_of(BOX).simulate(stop=1.5, step=0.005, start=TUMBLING, tolerance=TIGHT)
    total, lost = result["energy.total"], result["energy.dissipated"]
    assert np.max(np.abs(total + lost - total[0])) < GROUND_ENERGY * total[0]
    assert np.max(np.diff(total)) < GROUND_ENERGY * total[0]
    assert np.min(np.diff(lost)) > -GROUND_ENERGY * total[0]
    assert lost[-1] > 0.5 * total[0]
    assert min(result[f"corner{i}.force_z"].min() for i in range(8)) > -1e-12  # no corner is pulled, on a gentle slope


@pytest.mark.parametrize(("rate", "speed"), ((3.0, -0.4), (-2.0, 0.3), (0.0, -0.004)))
def test_power_balance_in_contact(rate: float, speed: float) -> None:
    """Sliding, leaving the ground faster than the damping pushes, and almost at rest."""
    states = {"free.position[3]": RADIUS - 0.001, "free.rate[2]": rate, "free.speed[1]": speed, "free.speed[3]": speed}
    point = Point(mechanism_of(BALL), {"contact.friction_speed": 0.5}, states)
    lost = point.rate("energy.dissipated")
    (total,) = rate_along(point, ["energy.total"], step=1e-5)
    assert lost > 0
    assert abs(total + lost) < TREE_POWER * (lost + abs(point["energy.total"]))


def test_bodies_accelerate_as_in_pinocchio_under_the_same_forces() -> None:
    """It gets the forces found, on the lowest points of the spheres as it places them."""
    random = np.random.default_rng(4)
    tree = random_tree(random, ["free", "revolute", "spherical", "prismatic"])
    spheres = (ContactSphere(f"c{b.name}", b.name, tuple(random.uniform(-0.3, 0.3, 3)), 0.2) for b in tree.bodies)
    tree, state, angle = replace(tree, contacts=tuple(spheres)), random_state(random, tree), 0.3
    ground = {"ground.height": 5.0, "ground.inclination": angle, "contact.stiffness": 10.0, "contact.damping": 0.01}
    found = Point(mechanism_of(tree), start_of(tree, state.q, state.v, state.tau) | ground)

    other = PinocchioTree(tree, np.array([0.0, 0.0, -G]))
    q, loads = other._q(state.q), pin.StdVec_Force()
    pin.forwardKinematics(other.model, other.data, q)
    loads.append(pin.Force.Zero())
    for k, sphere in enumerate(tree.contacts, start=1):
        placed, force = other.data.oMi[k], found.get(*(f"{sphere.name}.force_{a}" for a in "xyz"))
        arm = placed.rotation @ np.array(sphere.position) - 0.2 * np.array([np.sin(angle), 0.0, np.cos(angle)])
        loads.append(pin.Force(placed.rotation.T @ force, placed.rotation.T @ np.cross(arm, force)))
        depth = np.array([np.sin(angle), 0, np.cos(angle)]) @ (np.array([0, 0, 5.0]) - placed.translation - arm)
        assert found[f"{sphere.name}.depth"] == pytest.approx(depth, rel=OTHER_CODE)
        assert np.linalg.norm(force) > 1
    wanted = pin.aba(other.model, other.data, q, state.v, state.tau, loads)
    assert off_by(found.get(*names(tree, ACCELERATIONS)), wanted) < OTHER_CODE


def test_nothing_happens_above_the_ground() -> None:
    start = {"free.position_start[3]": 0.5, "free.speed_start[1]": 1.0}
    with_ground, without = (Point(mechanism_of(t), start) for t in (BALL, replace(BALL, contacts=())))
    assert with_ground.rates().tolist() == without.rates().tolist()
    assert with_ground["ball.depth"] == RADIUS - 0.5
    assert "ground.height" not in without.mechanism.table.by_name


def test_a_start_deep_inside_the_ground_is_named_with_what_lifts_it() -> None:
    """A contact that stands on the ground sinks in a little, which is no reason for a warning."""
    free = mechanism_of(replace(BOX, contacts=(ContactSphere("foot", "box", (0.0, 0.0, -0.5), 0.05),)))
    lifted = {"free.position_start[3]": 0.55}
    assert start_in_ground(free, {}) == (
        'contact foot starts 0.55 m inside the ground: set --start "free.position_start[3]=0.55"'
    )
    assert start_in_ground(free, lifted) == start_in_ground(free, {"free.position_start[3]": 0.549}) == ""
    slide = replace(BOX, joints=(Joint("slide", "prismatic", "box", axis=(1.0, 0.0, 0.0)),))
    found = start_in_ground(mechanism_of(slide), {"ground.height": "2 m"})
    assert found == 'contact corner0 starts 2 m inside the ground, and 7 more: set --start "ground.height=-0.04"'
    assert start_in_ground(ComputedTorque(model=slide.to_json()), {}) == "", "a controller has no ground"


def test_the_linearised_ground_is_a_spring() -> None:
    """A ball at rest, at the depth sqrt(m g / k): its stiffness is 2 sqrt(m g k); none in the air or just touching."""
    k = 1e6
    for depth, wanted in ((np.sqrt(G / k), 2 * np.sqrt(G * k)), (0.0, 0.0), (-0.1, 0.0)):
        start = {"free.position_start[3]": RADIUS - depth, "contact.stiffness": k}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # in the air it falls
            linear = linearize(mechanism_of(BALL), start)
        speed, position = (linear.states.index(f"free.{word}[3]") for word in ("speed", "position"))
        assert np.all(np.isfinite(linear.A))
        assert -linear.A[speed, position] == pytest.approx(wanted, rel=SAME_STIFFNESS)
        assert np.linalg.matrix_rank(linear.projection) == len(linear.states) - 1  # the length of the quaternion


def test_the_communication_step_does_not_matter_in_an_fmu(tree_fmu: BuildTree, host: Host) -> None:
    slave = host.open(tree_fmu(mechanism_of(BOX)))
    wanted, found = ["free.position[1]", "free.position[2]", "free.position[3]", "free.rate[3]"], []
    for step in (0.001, 0.02, 0.3):
        slave.reset()
        slave.initialize(TUMBLING, tolerance=TIGHT)
        found.append(slave.run([step] * round(0.6 / step), wanted)[-1])
    assert np.max(np.abs(np.array(found) - found[0])) < GROUND_STEP
    with pytest.raises(Exception, match="static_friction must not be less than contact"):
        host.open(tree_fmu(mechanism_of(BOX))).initialize({"contact.static_friction": 0.1})


# --- a quadruped ------------------------------------------------------------------------------------------------------

LEGS = {"FL": 1.0, "FR": 1.0, "HL": -1.0, "HR": -1.0}


def test_a_quadruped_carries_its_weight_and_is_pushed(tree_fmu: BuildTree, host: Host) -> None:
    """Springs and dampers hold its joints. At rest its feet carry its weight; a push moves it alike at any step."""
    (file,) = needs.robot_descriptions().rglob("solo12.urdf")
    robot = Tree.from_file(file, "free", contacts=[f"{leg}_FOOT:0.015" for leg in LEGS])
    start = {"base.position_start[3]": 0.235}
    for leg, sign in LEGS.items():
        for joint, angle in (("HAA", 0.0), ("HFE", 0.8 * sign), ("KFE", -1.6 * sign)):
            held = {"angle_start": angle, "rest_angle": angle, "stiffness": 20.0, "damping": 0.5}
            start |= {f"{leg}_{joint}.{word}": value for word, value in held.items()}
    slave = host.open(tree_fmu(robot)).initialize(start, tolerance=1e-8)
    forces = slave.run([0.05] * 160, [f"{leg}_FOOT.force_z" for leg in LEGS])[-1]
    weight = G * sum(body.mass for body in robot.tree.bodies)
    assert sum(forces) == pytest.approx(weight, rel=WEIGHT)
    assert min(forces) > 0.2 * weight

    at_rest, found = slave.save(), []
    for step in (0.001, 0.02):
        slave.restore(at_rest)
        for force in (15.0, 0.0):
            slave.set({"base.force[2]": force})
            rows = slave.run([step] * round(0.1 / step), ["base.position[2]", "base.speed[2]", "FL_FOOT.force_z"])
        found.append(rows[-1])
    assert abs(found[0][0]) > 0.005
    assert found[1] == pytest.approx(found[0], abs=GROUND_STEP)


# --- files ------------------------------------------------------------------------------------------------------------

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ROBOT = f"""<robot name="r">
<link name="trunk">{INERTIAL}<collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision></link>
<link name="foot">{INERTIAL}
  <collision><origin xyz="0 0 -0.1"/><geometry><sphere radius="0.02"/></geometry></collision>
  <collision><geometry><cylinder radius="0.02" length="1"/></geometry></collision></link>
<link name="hand">{INERTIAL}</link>
<joint name="ankle" type="continuous"><parent link="trunk"/><child link="foot"/></joint>
<joint name="hand" type="continuous"><parent link="trunk"/><child link="hand"/></joint></robot>"""


def test_contacts_of_a_urdf_file(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT)

    def contacts(*asked: str, base: str = "free") -> list[ContactSphere]:
        return list(Tree.from_file(file, base, contacts=asked).tree.contacts)

    foot = ContactSphere("foot", "foot", (0.0, 0.0, -0.1), 0.02)
    assert contacts() == []
    assert contacts("foot") == [foot]
    assert contacts("foot:0.05") == [ContactSphere("foot", "foot", radius=0.05)]
    assert contacts("hand") == [ContactSphere("hand", "hand")]  # nothing to touch with in the file: its origin
    everything = contacts("all")
    assert [c.name for c in everything] == [*(f"trunk_{i}" for i in range(1, 9)), "foot"]
    assert {c.position for c in everything[:8]} == {
        (x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)
    }
    file.write_text(ROBOT.replace('"hand"', '"trunk_1"'))
    corner, hand = contacts("trunk", "trunk_1:0.2")[0::8]
    assert (corner.name, corner.body) == ("trunk_1", "trunk")  # the link of this name does not displace it
    assert hand == ContactSphere("trunk_1_2", "trunk_1", radius=0.2)
    file.write_text(ROBOT)
    assert contacts("all", base="fixed") == [foot]  # the trunk is the base
    variables = Tree.from_file(file, "free", contacts=["hand"]).table.by_name
    assert "hand_contact.force_x" in variables  # hand.force_x is that of the joint hand
    for wrong, message in {
        "leg": "--contact leg: there is no link leg that moves",
        "foot:-1": "--contact foot:-1: the radius must be a number of metres, 0 or more",
        "foot:nan": "--contact foot:nan: the radius must be a number of metres",
        "foot:": "--contact foot:: the radius must be a number of metres",
    }.items():
        with pytest.raises(UserError, match=message):
            contacts(wrong)


@pytest.mark.parametrize("asked", (("foot", "foot:0.03"), ("foot:0.02", "foot:0.03"), ("all", "foot:0.03")))
def test_different_contacts_of_one_link_are_rejected(asked: tuple[str, str], tmp_path: Path) -> None:
    (file := tmp_path / "robot.urdf").write_text(ROBOT)
    message = "--contact {} and --contact {}: different contacts of link foot; omit one of them"
    with pytest.raises(UserError) as caught:
        read_tree(file, "free", contacts=asked)
    assert str(caught.value) == message.format(*asked)
    assert len(read_tree(file, "free", contacts=["all", "foot", "foot"]).contacts) == 9
    assert len(read_tree(file, "free", contacts=["trunk", "trunk:0.1"]).contacts) == 9  # corners and a sphere


def test_contact_of_a_link_in_a_nested_model(tmp_path: Path) -> None:
    (file := tmp_path / "robot.sdf").write_text(SDF_MODEL)
    for text, radius in (("arm::hand", 0.0), ("arm::hand:0.2", 0.2)):
        (sphere,) = read_tree(file, contacts=[text]).contacts
        assert (sphere.body, sphere.radius) == ("arm__hand", radius)


TOML = """
[[body]]
name = "trunk"
mass = 1.0
inertia = [1, 1, 1, 0, 0, 0]
[[joint]]
name = "base"
kind = "free"
child = "trunk"
[[contact]]
name = "foot"
body = "trunk"
position = [0, 0, -1]
radius = 0.1
"""


def test_contacts_of_a_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "hopper.toml"
    file.write_text(TOML)
    assert Tree.from_file(file).tree.contacts == (ContactSphere("foot", "trunk", (0, 0, -1), 0.1),)
    for old, new, message in (
        ('body = "trunk"', 'body = "leg"', "11: contact foot: there is no body leg"),
        ('body = "trunk"', "", "10: contact foot: needs a body"),
        ("radius = 0.1", "radius = -0.1", "14: contact foot: radius -0.1 is negative"),
        ("radius = 0.1", "radios = 0.1", "14: contact foot: unknown key radios; did you mean radius?"),
    ):
        file.write_text(TOML.replace(old, new))
        with pytest.raises(UserError, match=message.replace("?", r"\?").replace("11:", r"1\d:")):
            Tree.from_file(file)
