"""The same chain in Pinocchio.

Revolute joints about z, gravity along -y, its base driven through three joints without mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers import needs
from helpers.chains import Case

pinocchio = needs.module("pinocchio")


def model_of(case: Case, driven_base: bool) -> Any:
    """One joint per rod; a driven base is three joints before them (x, y, angle) without inertia of their own."""
    p = case.chain.table.p(case.p)
    model = pinocchio.Model()
    model.gravity = pinocchio.Motion(np.array([0.0, -p.gravity, 0.0]), np.zeros(3))
    parent, here = 0, pinocchio.SE3.Identity()
    for joint in (pinocchio.JointModelPX(), pinocchio.JointModelPY(), pinocchio.JointModelRZ()) if driven_base else ():
        parent = model.addJoint(parent, joint, here, f"base_{parent}")
    for k in range(case.chain.links):
        parent = model.addJoint(parent, pinocchio.JointModelRZ(), here, f"joint_{k}")
        inertia = pinocchio.Inertia(p.m[k], np.array([p.lc[k], 0.0, 0.0]), np.diag([0.0, p.J[k], p.J[k]]))
        model.appendBodyToJoint(parent, inertia, pinocchio.SE3.Identity())
        here = pinocchio.SE3(np.eye(3), np.array([p.l[k], 0.0, 0.0]))
    return model


def joint_moments(case: Case) -> np.ndarray:
    """Motor, spring, damper and friction of every joint, as the specification writes them."""
    x, u, p = case.chain.table.x(case.x), case.chain.table.u(case.u), case.chain.table.p(case.p)
    return u.tau - p.k * (x.q - p.q_ref) - p.d * x.dq - p.tc * np.tanh(x.dq / p.vs)


def solve(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Joint accelerations, and the force (x, y) and moment of the base on rod 1, for the base's prescribed motion."""
    x, u, p = case.chain.table.x(case.x), case.chain.table.u(case.u), case.chain.table.p(case.p)
    base = (
        [[x.base_x, x.base_y, x.base_angle], [x.base_vx, x.base_vy, x.base_w], [u.base_ax, u.base_ay, u.base_eps]]
        if case.chain.moving
        else [[0.0] * 3] * 3
    )
    model = model_of(case, driven_base=True)
    tip_at = pinocchio.SE3(np.eye(3), np.array([p.l[-1], 0.0, 0.0]))
    tip = model.addFrame(pinocchio.Frame("tip", model.njoints - 1, 0, tip_at, pinocchio.FrameType.OP_FRAME))
    data = model.createData()
    q, v, base_a = np.append(base[0], x.q), np.append(base[1], x.dq), np.array(base[2])

    # the load on the tip as joint efforts, through the Jacobian of the tip
    jacobian = pinocchio.computeFrameJacobian(model, data, q, tip, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    load = jacobian.T @ np.array([u.tip_fx, u.tip_fy, 0.0, 0.0, 0.0, u.tip_m])

    # M [a_base; qdd] + b = [reaction; tau] + load, with a_base given
    M = pinocchio.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    b = pinocchio.nonLinearEffects(model, data, q, v) - load
    qdd = np.linalg.solve(M[3:, 3:], joint_moments(case) - b[3:] - M[3:, :3] @ base_a)
    reaction = M[:3, :3] @ base_a + M[:3, 3:] @ qdd + b[:3]
    return qdd, reaction


def aba(case: Case) -> np.ndarray:
    """Joint accelerations on a fixed base by Pinocchio's articulated-body algorithm, without load on the tip."""
    model = model_of(case, driven_base=False)
    data = model.createData()  # owns what aba returns, so that is copied
    x = case.chain.table.x(case.x)
    return np.array(pinocchio.aba(model, data, np.array(x.q), np.array(x.dq), joint_moments(case)))
