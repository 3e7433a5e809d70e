"""Drawings are true to the mechanism: lines, shapes, forces; plots and animations."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.animation import FFMpegWriter

from helpers import needs
from helpers.build import Build
from helpers.cart_cases import CART_NAMES, DQ, Q
from helpers.cart_reference import FREE, RIGID, accelerations
from helpers.chains import off_by
from helpers.command_line import done, refused
from helpers.look_cases import ROBOT, chain, crane, robot_file
from helpers.native_build import extra
from helpers.tolerances import IDENTITY, OTHER_CODE, SAME_NUMBER
from mechfmu import Exoskeleton, LinkChain, WheeledCart
from mechfmu.mechanisms import make
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.mechanisms.tree.readers.urdf import read_urdf
from mechfmu.model import UserError
from mechfmu.model.drawing import Drawing, Floor, Solid, hatched_floor, overlaid
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.result import DisplayUnit, Result
from mechfmu.view.plot import COLOURS, constant_range, signals_without_plot
from mechfmu.view.recording import MAX_FRAMES, recording_page
from mechfmu.view.solids import mesh

pin = needs.module("pinocchio")

DIFFERENCE = 1e-4  # relative error of a central difference over these steps


def slope(result: Result, name: str, i: int) -> float:
    return float((result[name][i + 1] - result[name][i - 1]) / (result.t[i + 1] - result.t[i - 1]))


def page_data(page: str) -> dict:
    return json.loads(page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0])


# --- planar mechanisms ------------------------------------------------------------------------------------------------


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
    assert first.kind == "reaction" and np.array_equal(
        first.force, [result["joint[1].reaction_x"][57], result["joint[1].reaction_y"][57]]
    )


def test_the_arrow_that_holds_a_hanging_chain_is_its_weight() -> None:
    result = LinkChain(links=3, mass=6.0).simulate(stop=0.1, start={"joint[1].angle_start": -np.pi / 2})
    drawing = LinkChain(links=3).drawing(result.at(5))
    assert drawing.arrows[1].force == pytest.approx([0.0, 6.0 * 9.81], abs=60 * IDENTITY)
    assert (
        drawing.ground
        and not LinkChain(links=3, base="moving")
        .drawing(LinkChain(links=3, base="moving").simulate(stop=0.1).at(0))
        .ground
    )


def test_the_moments_of_a_chain_do_its_work() -> None:
    """Each acts on the rod further out: with the load on the tip they do the work that the mechanism counts."""
    motors = {f"joint[{k}].torque": m for k, m in enumerate((3.0, -1.0, 2.0), 1)} | {"tip.moment": 0.5}
    result = LinkChain(links=3).simulate(stop=0.5, step=1e-3, start=motors)
    (load, *joints), i = LinkChain(links=3).drawing(result.at(300)).moments, 300
    power = sum(m.moment * result[f"joint[{k}].rate"][i] for k, m in enumerate(joints, 1)) + load.moment * np.sum(
        [result[f"joint[{k}].rate"][i] for k in (1, 2, 3)]
    )
    assert power == pytest.approx(slope(result, "energy.input", i), rel=DIFFERENCE)
    assert load.at == pytest.approx([result["tip.x"][i], result["tip.y"][i]], abs=IDENTITY) and np.array_equal(
        joints[0].at, [0.0, 0.0]
    )


@pytest.mark.parametrize("front", ["rigid", "free", "viscous"])
def test_forces_on_the_wheels_of_a_cart_are_the_multipliers_of_its_constraints(front: str) -> None:
    """Another formulation in seven coordinates, in which the ground's forces are unknowns."""
    start = {
        "wheel.left_torque": 1.2,
        "wheel.right_torque": 2.0,
        "steering.torque": 3e-3,
        "wheel.damping": 0.02,
        "wheel.rolling_resistance": 0.1,
    }
    cart = WheeledCart(front=front)
    result = cart.simulate(stop=1.0, step=0.1, start=start | ({} if front == "rigid" else {"yaw_rate_start": 0.3}))
    value = result.at(7)
    p = {key: value(name) for key, name in CART_NAMES.items()}
    q, dq = np.array([value(n) for n in Q]), np.array([value(n) for n in DQ])
    drag = 0.02 * dq[4:] + 0.1 * np.tanh(dq[4:] / 0.1)
    tau = np.array([0, 0, 3e-3, 0, -drag[0], 1.2 - drag[1], 2.0 - drag[2]])
    heading, fork = q[3], q[2] + q[3]
    if front == "viscous":
        tau = tau - 1000.0 * value("front.slip") * np.array(
            [-np.sin(fork), np.cos(fork), 0, p["l1"] * np.cos(q[2]), 0, 0, 0]
        )
    ddq, multipliers = accelerations(q, dq, tau, p, RIGID if front == "rigid" else FREE)
    F5, F6, F7, *sideways, S = multipliers  # the last two are to the right
    f = {"rigid": -sideways[0] if front == "rigid" else 0.0, "free": 0.0, "viscous": -1000.0 * value("front.slip")}[
        front
    ]
    ahead, left = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
    along, aside = np.array([np.cos(fork), np.sin(fork)]), np.array([-np.sin(fork), np.cos(fork)])
    wanted = {
        "front wheel": F5 * along + f * aside,
        "rear left wheel": F6 * ahead,
        "rear right wheel": F7 * ahead,
        "rear axle": -S * left,
    }
    found = {a.name: a.force for a in cart.drawing(value).arrows if a.kind == "reaction"}
    assert found.keys() == wanted.keys()
    assert all(off_by(found[name], wanted[name]) < 1e3 * IDENTITY for name in wanted), (found, wanted)
    m, mu = p["m0"] + 3 * p["m1"], p["m1"] * (p["l1"] - 2 * p["l2"])  # the mass centre lies mu/m ahead of M
    momentum_rate = m * np.array([value("pose.acceleration_x"), value("pose.acceleration_y")]) + mu * (
        ddq[3] * left - dq[3] ** 2 * ahead
    )
    assert off_by(sum(found.values()), momentum_rate) < 1e3 * IDENTITY and mu != 0


def test_a_cart_is_drawn_where_it_is_and_its_wheels_roll() -> None:
    cart = WheeledCart()
    result = cart.simulate(
        stop=1.0, step=0.1, start={"wheel.left_torque": 0.6, "wheel.right_torque": 0.6, "wheel.torque_limit": 0.45}
    )
    before, after = (cart.drawing(result.at(i)) for i in (9, 10))
    value = result.at(10)
    body = after.outlines[0]
    assert np.linalg.norm(body[0] - body[1:3].mean(axis=0)) == pytest.approx(0.8) and np.linalg.norm(
        body[1] - body[2]
    ) == pytest.approx(0.6)
    assert after.traced[0] == pytest.approx([value("pose.x"), value("pose.y")])
    assert (body[:3] * [[3], [2.5], [2.5]]).sum(axis=0) / 8 == pytest.approx(after.traced[0])  # l1 = 0.5, l2 = 0.3
    drive = next(a.force for a in after.arrows if a.name == "wheel.left_torque")
    assert drive == pytest.approx(
        0.45 / 0.15 * np.array([np.cos(value("pose.heading")), np.sin(value("pose.heading"))])
    )  # within its limit
    marks = [
        [line.mean(axis=0) - d.outlines[0][0] for line in d.outlines[1:] if len(line) == 2][:3] for d in (before, after)
    ]
    ahead = np.array(
        [
            np.cos(value("pose.heading") + value("steering.angle")),
            np.sin(value("pose.heading") + value("steering.angle")),
        ]
    )
    turned = value("wheel.front_angle") - result.at(9)("wheel.front_angle")
    assert 0 < turned < 0.3
    assert np.arcsin(marks[1][0] @ ahead / 0.15) - np.arcsin(marks[0][0] @ ahead / 0.15) == pytest.approx(
        turned, abs=0.02
    )  # the fork also turns a little


def test_the_ground_and_gravity_accelerate_the_exoskeleton() -> None:
    """Linear and angular momentum about the centre of mass follow from the external forces and moments drawn."""
    exo, i = Exoskeleton.three_link(contact="pinned"), 150
    result = exo.simulate(
        stop=0.02, step=1e-4, start={"link[1].moment": 4.0, "link[2].moment": -2.0, "hip.moment[1]": 30.0}
    )
    drawing, value = exo.drawing(result.at(i)), result.at(i)
    feet = [a for a in drawing.arrows if a.name.startswith("foot")]
    ankles = [m for m in drawing.moments if m.name.startswith("foot")]
    mass = sum(value(f"link[{k}].mass") for k in range(1, 4))
    wanted = mass * np.array([slope(result, "com.velocity_x", i), slope(result, "com.velocity_y", i)])
    force, weight = feet[0].force + feet[1].force, np.array([0.0, -9.81 * mass])
    assert np.linalg.norm(force + weight - wanted) < DIFFERENCE * np.linalg.norm(force) and force[1] > 100
    arms = [a.at - [value("com.x"), value("com.y")] for a in feet]
    turning = sum(r[0] * a.force[1] - r[1] * a.force[0] for r, a in zip(arms, feet, strict=True)) + sum(
        m.moment for m in ankles
    )
    assert turning == pytest.approx(slope(result, "momentum.angular", i), abs=DIFFERENCE * np.linalg.norm(force))
    assert {m.moment for m in ankles} == {-4.0, 2.0}


def test_the_moments_of_an_exoskeleton_do_its_work() -> None:
    """In flight: outer and inner link of every hinge."""
    pairs = {
        "link[2].moment": (1, 2),
        "link[3].moment": (4, 3),
        "link[6].moment": (6, 5),
        "hip.moment[1]": (2, 5),
        "hip.moment[2]": (3, 5),
    }
    exo = Exoskeleton(contact="flight")
    result = exo.simulate(stop=0.2, step=1e-3, start=dict(zip(pairs, (3.0, -2.0, 4.0, 5.0, -1.0), strict=True)))
    value, i = result.at(100), 100
    moments = {m.name: m for m in exo.drawing(value).moments if m.moment}
    assert moments.keys() == pairs.keys()
    power = sum(
        moments[name].moment * (value(f"link[{outer}].rate") - value(f"link[{inner}].rate"))
        for name, (outer, inner) in pairs.items()
    )
    assert power == pytest.approx(slope(result, "energy.input", i), rel=DIFFERENCE)
    for name, (_, inner) in list(pairs.items())[:3]:
        assert moments[name].at == pytest.approx([value(f"link[{inner}].end_x"), value(f"link[{inner}].end_y")])


def test_the_floor_stands_still_while_its_middle_moves() -> None:
    before, after = (hatched_floor(Floor(np.array([x, 0.5]), np.array([0.0, 1.0]))) for x in (0.0, 0.3))
    assert after[0].tolist() == [[-0.7, 0.5], [1.3, 0.5]]
    hatches = [{round(float(h[0, 0]), 9) for h in f[1:]} for f in (before, after)]
    assert len(hatches[0] & hatches[1]) >= 13 and max(hatches[1]) > 1.0


def test_drawings_of_several_mechanisms_lie_one_over_the_other(tmp_path: Path) -> None:
    flat, tree = LinkChain(links=4), crane(tmp_path)
    chain_drawing, crane_drawing = flat.drawing(chain().at(5)), tree.drawing(tree.simulate(stop=0.01).at(0))
    both = overlaid([chain_drawing, Drawing(), chain_drawing])
    assert len(both.lines) == 2 and len(both.arrows) == 2 * len(chain_drawing.arrows) and len(both.traced) == 2
    assert overlaid([chain_drawing, crane_drawing]).dimension == 3 and overlaid(
        [chain_drawing, crane_drawing]
    ).lines == list(crane_drawing.lines)
    assert not overlaid([]) and not overlaid([Drawing()])


@pytest.mark.parametrize("kind", ["native"])
def test_inputs_of_an_fmu_are_kept_with_its_result(fmu: Build, tmp_path: Path) -> None:
    from mechfmu.simulation.simulate import simulate_fmu

    (tmp_path / "push.csv").write_text("time,tip.force_x\n0,0\n1,10\n")
    result = simulate_fmu(fmu(links=2), 0.5, 0.1, {"tip.force_y": 3.0}, tmp_path / "push.csv")
    assert result.inputs["tip.force_x"] == pytest.approx(10 * result.t, abs=10 * IDENTITY)
    assert np.all(result.inputs["tip.force_y"] == 3.0)
    assert result.until(0.2).t[-1] == pytest.approx(0.2) and len(result.until(0.2).inputs["tip.force_x"]) == 3
    assert simulate_fmu(fmu(links=2), 0.1, 0.1, {"tip.force_y": 3.0}).inputs["tip.force_y"][0] == 3.0


# --- trees ------------------------------------------------------------------------------------------------------------


def test_shapes_are_where_pinocchio_has_them() -> None:
    """A real quadruped of boxes, cylinders and spheres, in a random pose. Its meshes are omitted."""
    text = re.sub(r"<visual>((?!</visual>).)*<mesh.*?</visual>", "", robot_file("a1.urdf").read_text(), flags=re.DOTALL)
    model = pin.buildModelFromXML(text)
    q = np.random.default_rng(8).uniform(-1.0, 1.0, model.nq)
    expected = {}
    for kind in (pin.GeometryType.COLLISION, pin.GeometryType.VISUAL):  # what is to be seen comes last and counts
        geometry = pin.buildGeomFromUrdfString(model, text, kind)
        placed = geometry.createData()
        pin.updateGeometryPlacements(model, model.createData(), geometry, placed, q)
        expected |= {
            o.name.rsplit("_", 1)[0]: (o.geometry, M) for o, M in zip(geometry.geometryObjects, placed.oMg, strict=True)
        }

    data = read_urdf(text)
    tree = Tree(
        model=dataclasses.replace(
            data, joints=tuple(dataclasses.replace(j, lower=None, upper=None) for j in data.joints)
        ).to_json()
    )
    angles = {f"{model.names[k]}.angle_start": float(q[model.idx_qs[k]]) for k in range(1, model.njoints)}
    solids = tree.drawing(tree.simulate(stop=1e-6, step=1e-6, start=angles).at(0)).solids
    compared = 0
    for shape, solid in zip(tree.tree.shapes, solids, strict=False):
        if shape.body not in expected:  # the root link, which is the base here
            continue
        body, M = expected.pop(shape.body)
        size = {
            "box": lambda s: 2 * s.halfSide,
            "cylinder": lambda s: [s.radius, 2 * s.halfLength],
            "sphere": lambda s: [s.radius],
        }[solid.kind](body)
        assert off_by(np.array(solid.size), np.array(size)) < OTHER_CODE
        assert off_by(solid.position, M.translation) < OTHER_CODE
        assert off_by(solid.rotation, M.rotation) < OTHER_CODE
        compared += 1
    assert compared >= 20 and len(expected) <= 1, expected


def test_shapes_of_a_link_with_a_planar_joint_stay_in_their_place() -> None:
    """Its joint's frame is turned to the axis, so everything on the link is given anew."""
    text = """<robot name="r"><link name="a"/><link name="b">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry></visual></link>
    <joint name="j" type="planar"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="1 2 2"/></joint>
    </robot>"""
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
    assert BodyTree.from_json(tree.to_json()) == tree
    assert "shapes" not in dataclasses.replace(tree, shapes=()).to_json()


@pytest.mark.parametrize(
    "wrong",
    ['<box size="1 2"/>', '<box size="1 2 nan"/>', '<cylinder radius="1"/>', '<sphere radius="-1"/>', "<cube/>", ""],
)
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
    tree = Tree.from_file(robot_file("ur5_robot.urdf"), meshes=False)
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


def test_motors_of_a_tree_do_its_work() -> None:
    """Motor forces and moments in world axes times the velocity of the body: the work that the mechanism computes."""
    for kind in ("free", "universal", "cylindrical"):
        tree = Tree(
            model=BodyTree(
                "t",
                (Body("b", 2.0, (0.1, 0.2, 0.0), (0.1, 0.2, 0.15, 0, 0, 0)),),
                (Joint("j", kind, "b", axis=(1.0, 2.0, 2.0)),),
            ).to_json()
        )
        driven = {
            s.name: 1.0 + 0.5 * k for k, s in enumerate(s for s in tree.table.of("input") if s.name.startswith("j."))
        }
        result = tree.simulate(stop=0.5, step=1e-3, start=driven)
        i = 300
        drawing = tree.drawing(result.at(i))
        motors = (
            [a.force for a in drawing.arrows if a.name in driven and a.kind == "force"],
            [m.moment for m in drawing.moments if m.name in driven],
        )
        velocity, rate = (np.array([result[f"tip.{word}_{a}"][i] for a in "xyz"]) for word in ("velocity", "rate"))
        assert (
            len(motors[0]) == {"free": 3, "universal": 0, "cylindrical": 1}[kind]
            and len(motors[1]) == {"free": 1, "universal": 2, "cylindrical": 1}[kind]
        )
        power = sum((f @ velocity for f in motors[0]), 0.0) + sum((m @ rate for m in motors[1]), 0.0)
        assert power == pytest.approx(slope(result, "energy.input", i), rel=DIFFERENCE), kind


# --- meshes -----------------------------------------------------------------------------------------------------------

ROUND = np.sin(2 * np.pi / 20) / (2 * np.pi / 20)  # a circle's area as a polygon of 20 sides has it
VOLUMES = {
    "box": ((2.0, 3.0, 4.0), 24.0, 1.0),
    "cylinder": ((2.0, 3.0), 12 * np.pi, ROUND),
    "sphere": ((2.0,), 32 / 3 * np.pi, None),
}


@pytest.mark.parametrize("kind", VOLUMES)
def test_meshes_are_closed_and_face_outwards(kind: str) -> None:
    """The divergence theorem: the volume from the triangles, positive only when all of them face outwards."""
    size, volume, part = VOLUMES[kind]
    vertices, faces = mesh(Solid(kind, size, np.zeros(3), np.eye(3)))  # type: ignore[arg-type]
    triangles = vertices[np.array(faces)]
    found = np.sum(np.linalg.det(triangles)) / 6
    assert np.linalg.det(triangles).min() > 0
    assert found == pytest.approx(volume * part, rel=IDENTITY) if part else 0.95 * volume < found < volume
    sides = [tuple(sorted((f[k], f[k - 1]))) for f in faces for k in range(3)]
    assert all(sides.count(side) == 2 for side in set(sides))


# --- pages and animations ---------------------------------------------------------------------------------------------


def test_a_long_result_is_thinned_and_an_unknown_signal_refused() -> None:
    result = LinkChain(links=1).simulate(stop=2.0, step=0.001)
    data = page_data(recording_page(result))
    assert data["frames"]["rows"] == data["values"]["rows"] == MAX_FRAMES
    assert data["frames"]["moving"] < data["frames"]["kept"] < len(data["frames"]["columns"])  # what stands still: once
    assert data["chosen"][:3] == ["energy.kinetic", "energy.potential", "energy.total"]
    assert page_data(recording_page(result, ["tip.x"]))["chosen"] == ["tip.x"]
    with pytest.raises(UserError, match=r"no signal tip\.z"):
        recording_page(result, ["tip.z"])


def test_animations_that_cannot_be_written_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"\.gif or \.mp4 or \.html"):
        chain().animate(tmp_path / "animation.avi")
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UserError, match="greater than 0"):
            chain().animate(tmp_path / "animation.html", speed=bad)
    with pytest.raises(UserError, match="cannot write"):
        chain().animate(tmp_path / "nowhere" / "animation.html")
    with pytest.raises(UserError, match="cannot write"):
        chain().plot(file=tmp_path / "nowhere" / "plot.html")
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(UserError, match="ffmpeg"):
        chain().animate(tmp_path / "animation.mp4")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_animation_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mechfmu.view.film.pictures", interrupted)
    with pytest.raises(KeyboardInterrupt):
        chain().animate(tmp_path / "animation.gif", fps=2)
    assert list(tmp_path.iterdir()) == []


def test_without_a_display_a_file_name_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests have none; Jupyter's way to draw into its pages counts as one."""
    for show in (chain().plot, chain().animate):
        with pytest.raises(UserError, match="there is no display: give a file name"):
            show()
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close(chain().plot(["tip.x"]))


def test_a_panel_that_is_constant_but_for_rounding_looks_constant(tmp_path: Path) -> None:
    noise = 1e-10 * np.sin(np.arange(len(chain().t)) ** 2)
    result = dataclasses.replace(
        chain(),
        signals={"flat": 40.0 + noise, "low": 40.0 + 1e-3 * chain().t},
        shown=dict.fromkeys(("flat", "low"), DisplayUnit("J")),
    )
    figure = result.plot(["flat"], tmp_path / "flat.png")
    low, high = figure.axes[0].get_ylim()
    assert high - low == pytest.approx(4e-5) and low < 40.0 < high
    assert (
        "e" not in figure.axes[0].yaxis.get_offset_text().get_text()
        and figure.axes[0].lines[0].get_color() == COLOURS[0]
    )
    assert result.plot(["flat"], tmp_path / "flat.html").layout.yaxis.range == pytest.approx((low, high))
    assert result.plot(["flat", "low"], tmp_path / "both.html").layout.yaxis.range is None
    assert constant_range([np.array([np.nan])]) is None and constant_range([np.zeros(3)]) is None


def test_what_a_plot_leaves_out_is_told(tmp_path: Path) -> None:
    missing = signals_without_plot(chain())
    figure = chain().plot(file=tmp_path / "some.svg")
    drawn = [line.get_label() for axes in figure.axes for line in axes.lines]
    assert missing and set(drawn) | set(missing) == set(chain().names)
    assert figure.axes[0].get_title() == f"LinkChain ({len(drawn)} of {len(chain().names)} signals)"
    everything = chain().plot(chain().names, tmp_path / "all.svg")
    assert not signals_without_plot(chain(), chain().names) and sum(len(axes.lines) for axes in everything.axes) == len(
        chain().names
    )


@pytest.mark.parametrize("kind", ["native"])
def test_command(fmu: Build, tmp_path: Path) -> None:
    """Pages of an FMU, with chosen signals; and no run for an animation that cannot be written."""
    file = fmu(links=2)
    files = ["--plot", "plot.html", "--animate", "animation.html", "--signals", "tip.x,energy.total"]
    text = done("simulate", file, "--stop", 0.3, *files, folder=tmp_path)
    assert "wrote plot.html" in text and "wrote animation.html" in text
    assert page_data((tmp_path / "animation.html").read_text(encoding="utf-8"))["chosen"] == ["tip.x", "energy.total"]
    assert "tip.x" in (tmp_path / "plot.html").read_text(encoding="utf-8")
    refused("simulate", file, "--animate", "animation.avi", folder=tmp_path, words=("animation.avi", ".mp4"))
