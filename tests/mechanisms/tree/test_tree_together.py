"""A quadruped with a leg that follows another one, rotors, feet on the ground and sensors, all at once.

Pinocchio reads the file without its mimic elements and transmissions. With its mass matrix M, bias h and Jacobians J of
the points where the FMU's forces f of the ground act, and with the matrix G of the mimic elements,

    G^T (M + rotors) G vdot_r = G^T (sum J^T f - h)                                                                 (1)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helpers import needs
from helpers.chains import off_by
from helpers.robot_reference import RobotReference
from helpers.tolerances import ROBOTS, SENSORS
from helpers.tree_cases import XYZ, Point
from mechfmu.mechanisms.tree.model import Tree

pin = needs.module("pinocchio")

ROTORS = {"FL_HFE": (2e-4, 9.0), "HL_KFE": (3e-4, 6.0), "HR_KFE": (5e-4, 3.0)}  # inertia, reduction
MIMIC = '<mimic joint="HL_KFE" multiplier="-0.8" offset="0.1"/>'
FEET, RADIUS = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), 0.016
GROUND = {"ground.height": 0.05, "ground.inclination": 0.1, "contact.stiffness": 1e5}
SENSOR = "HR_LOWER_LEG"  # carried by the joint that follows


def quadruped() -> str:
    text = (needs.robot_descriptions() / "solo_description/robots/solo12.urdf").read_text()
    for name, (inertia, reduction) in ROTORS.items():
        actuator = f"<rotorInertia>{inertia}</rotorInertia><mechanicalReduction>{reduction}</mechanicalReduction>"
        motor = f'<transmission name="{name}_motor"><joint name="{name}"/><actuator name="m">{actuator}</actuator>'
        text = text.replace("</robot>", f"{motor}</transmission></robot>")
    head, tail = text.split('<joint name="HR_KFE" type="revolute">')
    return f'{head}<joint name="HR_KFE" type="revolute">{MIMIC}{tail}'


def test_followers_rotors_feet_and_sensors_at_once(tmp_path: Path) -> None:
    file = tmp_path / "quadruped.urdf"
    file.write_text(quadruped())
    feet = [f"{foot}:{RADIUS}" for foot in FEET]
    robot = Tree.from_file(file, "free", frames=[SENSOR], contacts=feet, meshes=False)
    other = RobotReference(quadruped(), base="free")
    model, data = other.model, other.data
    for name, (inertia, reduction) in ROTORS.items():
        model.armature[model.idx_vs[model.getJointId(name)]] = inertia * reduction**2

    random = np.random.default_rng(3)
    angles = {model.names[k]: random.uniform(-0.3, 0.3) for k in other.moving[1:]}
    angles |= {"HR_KFE": -0.8 * angles["HL_KFE"] + 0.1}
    e = np.array([0.05, -0.1, 0.02, 1.0])
    q = np.array([0.1, -0.2, 0.36, *(e / np.linalg.norm(e)), *(angles[name] for name in model.names[2:])])
    v = other.G @ random.uniform(-1.0, 1.0, other.G.shape[1])
    none = np.zeros(other.G.shape[1])
    start = other._named(q, v, none, np.zeros(model.nv), angles).start | GROUND
    found = Point(robot, start, engine="casadi")
    forces = {foot: found.get(*(f"{foot}.force_{a}" for a in XYZ)) for foot in FEET}
    assert sum(np.linalg.norm(force) > 1.0 for force in forces.values()) >= 2  # they do touch

    normal = np.array([np.sin(0.1), 0.0, np.cos(0.1)])
    loads, wrenches = np.zeros(model.nv), [pin.Force.Zero() for _ in range(model.njoints)]
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for foot, force in forces.items():
        number = model.getFrameId(foot)
        J = pin.getFrameJacobian(model, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        wrench = np.concatenate([force, np.cross(-RADIUS * normal, force)])
        loads += J.T @ wrench
        joint, placed = model.frames[number].parentJoint, data.oMf[number]
        world = pin.SE3(np.eye(3), placed.translation).act(pin.Force(wrench))
        wrenches[joint] += data.oMi[joint].actInv(world)
    upper = np.triu(pin.crba(model, data, q))
    M, G = upper + np.triu(upper, 1).T, other.G
    h = np.array(pin.nonLinearEffects(model, data, q, v))
    a = G @ np.linalg.solve(G.T @ M @ G, G.T @ (loads - h))  # (1)
    wanted = other._named(q, v, none, a, angles).wanted
    assert off_by(found.get(*wanted), np.array([*wanted.values()])) < ROBOTS

    pin.rnea(model, data, q, v, a, wrenches)
    wrench = data.f[model.getJointId("HR_KFE")]
    pin.forwardKinematics(model, data, q, v, a)
    number = model.getFrameId(SENSOR)
    R = pin.updateFramePlacement(model, data, number).rotation
    felt = pin.getFrameClassicalAcceleration(model, data, number, pin.ReferenceFrame.LOCAL).linear + 9.81 * R[2]
    for word, vector in {"accelerometer": felt, "joint_force": wrench.linear, "joint_torque": wrench.angular}.items():
        assert off_by(found.get(*(f"{SENSOR}.{word}_{axis}" for axis in XYZ)), vector) < SENSORS, word
