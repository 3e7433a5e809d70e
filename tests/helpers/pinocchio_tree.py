"""The same trees in Pinocchio: composite joints where it has no single one.

Its quaternions are x, y, z, w, and its spatial vectors have the linear part first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers import needs
from helpers.trees import matrix
from mechfmu.multibody.tree import BodyTree, Joint

pin = needs.module("pinocchio")

SEQUENCES = {  # the names of Pinocchio's simple joints
    "universal": ("RX", "RY"),
    "planar": ("PX", "PY", "RZ"),
    "euler_zxz": ("RZ", "RX", "RZ"),
    "cardan_xyz": ("RX", "RY", "RZ"),
    "cardan_zyx": ("RZ", "RY", "RX"),
    "spherical": ("Spherical",),
    "free": ("Translation", "Spherical"),
}


def _joint_model(joint: Joint) -> Any:
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    if joint.kind == "revolute":
        return pin.JointModelRevoluteUnaligned(axis)
    if joint.kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    composite = pin.JointModelComposite()
    if joint.kind == "cylindrical":
        parts = [pin.JointModelPrismaticUnaligned(axis), pin.JointModelRevoluteUnaligned(axis)]
    else:
        parts = [getattr(pin, f"JointModel{part}")() for part in SEQUENCES[joint.kind]]
    for part in parts:
        composite.addJoint(part)
    return composite


@dataclass
class Solved:
    """Accelerations; and for each joint that moves the wrench on its child and its axes S, in world axes.

    A wrench is a force and a moment about the joint.
    """

    vdot: np.ndarray
    wrench: np.ndarray
    S: list[np.ndarray]


class PinocchioTree:
    """The tree on a base that stands still, or that is led by a joint without mass."""

    def __init__(self, tree: BodyTree, gravity: np.ndarray, led: bool = False):
        self.tree, self.led, self.quaternions = tree, led, []
        model = self.model = pin.Model()
        model.gravity = pin.Motion(np.asarray(gravity, float), np.zeros(3))
        at: dict[str, tuple[int, pin.SE3]] = {"": (0, pin.SE3.Identity())}
        if led:
            at[""] = (
                model.addJoint(0, _joint_model(Joint("base", "free", "base")), pin.SE3.Identity(), "led base"),
                pin.SE3.Identity(),
            )
            self.quaternions.append(3)
        for joint, body in zip(tree.joints, tree.bodies, strict=True):
            parent, frame = at[joint.parent]
            frame = frame * pin.SE3(np.reshape(joint.rotation, (3, 3)), np.array(joint.position))
            if joint.kind == "fixed":
                at[body.name] = parent, frame
            else:
                if joint.kind in ("spherical", "free"):
                    self.quaternions.append(model.nq + (3 if joint.kind == "free" else 0))
                at[body.name] = model.addJoint(parent, _joint_model(joint), frame, joint.name), pin.SE3.Identity()
            number, placed = at[body.name]
            model.appendBodyToJoint(number, pin.Inertia(body.mass, np.array(body.com), matrix(body.inertia)), placed)
        self.last = at[tree.bodies[-1].name]
        self.data = model.createData()

    def _q(self, q: np.ndarray) -> np.ndarray:
        q = np.array(q, dtype=float)
        for k in self.quaternions:
            q[k : k + 4] = q[[k + 1, k + 2, k + 3, k]]
        return q

    def _loads(self, q: np.ndarray, force: np.ndarray, moment: np.ndarray) -> Any:
        """The load on the origin of the last body, world axes, as Pinocchio wants it."""
        pin.forwardKinematics(self.model, self.data, q)
        number, placed = self.last
        frame = self.data.oMi[number] * placed
        loads = pin.StdVec_Force()
        for _ in range(self.model.njoints):
            loads.append(pin.Force.Zero())
        loads[number] = placed.act(pin.Force(frame.rotation.T @ force, frame.rotation.T @ moment))
        return loads

    def solve(
        self,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        force: np.ndarray | None = None,
        moment: np.ndarray | None = None,
    ) -> Solved:
        """On a base that stands still."""
        q, v = self._q(q), np.asarray(v, float)
        loads = self._loads(q, np.zeros(3) if force is None else force, np.zeros(3) if moment is None else moment)
        vdot = np.array(pin.aba(self.model, self.data, q, v, np.asarray(tau, float), loads))
        return self._solved(q, v, vdot, loads)

    def led_solve(
        self,
        base: tuple[np.ndarray, ...],
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        force: np.ndarray,
        moment: np.ndarray,
    ) -> Solved:
        """On a base of given position, quaternion, velocities and accelerations (linear and angular, world axes)."""
        r, e, rd, w, rdd, eps = (np.asarray(b, float) for b in base)
        q, A = self._q(np.concatenate([r, e, q])), pin.Quaternion(*e).toRotationMatrix()
        v, a_base = np.concatenate([rd, A.T @ w, v]), np.concatenate([rdd, A.T @ eps])
        loads = self._loads(q, force, moment)
        none = np.zeros(self.model.nv)
        b = np.array(pin.rnea(self.model, self.data, q, v, none, loads))
        rest = np.array(pin.rnea(self.model, self.data, q, none, none))
        # the mass matrix column by column: crba wants joints in another order
        M = np.array(
            [np.array(pin.rnea(self.model, self.data, q, none, unit)) - rest for unit in np.eye(self.model.nv)]
        ).T
        vdot = np.linalg.solve(M[6:, 6:], np.asarray(tau, float) - b[6:] - M[6:, :6] @ a_base)
        return self._solved(q, v, np.concatenate([a_base, vdot]), loads)

    def _solved(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, loads: Any) -> Solved:
        pin.rnea(self.model, self.data, q, v, vdot, loads)
        first = 2 if self.led else 1
        wrench, axes = [], []
        for k in range(first, self.model.njoints):
            R = self.data.oMi[k].rotation
            wrench.append(np.concatenate([R @ self.data.f[k].linear, R @ self.data.f[k].angular]))
            S = np.reshape(self.data.joints[k].S, (6, -1))
            axes.append(np.concatenate([R @ S[:3], R @ S[3:]]))
        return Solved(vdot[6:] if self.led else vdot, np.array(wrench), axes)

    def momentum(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Linear momentum, angular momentum about the mass centre, and the mass centre."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self._q(q), np.asarray(v, float))
        return np.array(h.linear), np.array(h.angular), np.array(self.data.com[0])
