"""Spherical-joint arm: three bodies on two spherical joints and a hinge, seven degrees of freedom.

            base
             o   joint 1, spherical         z up; in the arm that hangs straight down all body axes are parallel to
             |   body 1, 0.45 m             those of the world; the spherical joints are mounted turned by -90 degrees
             o   joint 2, spherical         about x, so that the straight arm is not where Euler angles are singular
             |   body 2, 0.40 m
             o   joint 3, hinge about x
             |   body 3, 0.25 m
             *   tip

With state=quaternion (the default) the orientations of joints 1 and 2 are quaternions and their rates the angular
velocities in the axes of the outboard body; with state=euler they are z-x-z angles and their derivatives. A torque
input belongs to the rate it drives.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...model.energy import ENERGY
from ...model.mechanism import Array, Option
from ...model.variables import Row
from ...multibody.rotations import about, quaternion_of
from ...multibody.tree import Body, BodyTree, Joint
from ..tree.base import TreeMechanism
from .wittenburg import Equations, equations, graph

MOUNTING = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0)  # Rx(-90 degrees)
START_ANGLES: tuple[float | tuple[float, ...], ...] = ((-0.326, 1.457, 0.018), (-0.09, 1.745, 0.183), 0.299)
START_RATES: tuple[float | tuple[float, ...], ...] = ((0.342, 1.447, 0.749), (0.23, 0.017, -1.482), 0.917)


class SphericalArm(TreeMechanism):
    """An arm of three bodies with two spherical joints and a hinge."""

    key = "spherical_arm"
    title = "Arm with two spherical joints and a hinge, 7 degrees of freedom"
    stop_time = 5.0
    option_list = (
        Option("state", "quaternion", "how the spherical joints are described", choices=("quaternion", "euler")),
        Option("base", "fixed", "the base stands still, or follows acceleration inputs", choices=("fixed", "moving")),
        Option("mass_matrix", "no", "whether the mass matrix is an output", choices=("no", "yes")),
        ENERGY,
    )
    tip_offset = (0.0, 0.0, -0.25)
    without_singularity = "use state=quaternion"

    @cached_property
    def tree(self) -> BodyTree:
        kind = "spherical" if self.has_quaternions else "euler_zxz"
        return BodyTree(
            "SphericalArm",
            (
                Body("body[1]", 4.0, (0.0, 0.0, -0.2), (0.075, 0.072, 0.01, 0.0, 0.0, 0.0)),
                Body("body[2]", 2.5, (0.0, 0.0, -0.18), (0.038, 0.036, 0.005, 0.0, 0.0, 0.0)),
                Body("body[3]", 1.2, (0.0, 0.0, -0.11), (0.007, 0.0064, 0.0011, 0.0, 0.0, 0.0)),
            ),
            (
                Joint("joint[1]", kind, "body[1]", rotation=MOUNTING),
                Joint("joint[2]", kind, "body[2]", "body[1]", (0.0, 0.0, -0.45), MOUNTING),
                Joint("joint[3]", "revolute", "body[3]", "body[2]", (0.0, 0.0, -0.4), axis=(1.0, 0.0, 0.0)),
            ),
        )

    @property
    def has_quaternions(self) -> bool:
        return bool(self.options["state"] == "quaternion")

    @property
    def moving(self) -> bool:  # type: ignore[override]
        return bool(self.options["base"] == "moving")

    @cached_property
    def start_coordinates(self) -> dict[str, float | tuple[float, ...]]:  # type: ignore[override]
        starts = [_quaternion(s) if self.has_quaternions and isinstance(s, tuple) else s for s in START_ANGLES]
        return {f"joint[{i}]": s for i, s in enumerate(starts, start=1)}

    @cached_property
    def start_rates(self) -> dict[str, float | tuple[float, ...]]:  # type: ignore[override]
        pairs = zip(START_ANGLES, START_RATES, strict=True)
        starts = [_omega(a, r) if self.has_quaternions and isinstance(a, tuple) else r for a, r in pairs]
        return {f"joint[{i}]": s for i, s in enumerate(starts, start=1)}

    # --- Wittenburg's method: the cross-check of the start, and the mass matrix ---------------------------------------

    def rows(self) -> tuple[Row, ...]:
        if self.options["mass_matrix"] == "no":
            return super().rows()
        n = range(1, self.nv + 1)
        names = tuple(f"mass_matrix[{i},{j}]" for i in n for j in n)
        text = "element of the mass matrix, in the order of the rates"
        return (*super().rows(), Row("mass_matrix", names, "output", text, "1", size=len(names)))

    def extra_outputs(self, q: Array, v: Array, P: Any) -> dict[str, Array]:
        if self.options["mass_matrix"] == "no":
            return {}
        A = self._wittenburg(q, v, np.zeros(self.nv), P).A
        return {"mass_matrix": np.reshape(A, (self.nv * self.nv,))}

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (
            *super().requirement_texts,
            "the accelerations at the start by separate bodies and by Wittenburg's method disagree: "
            "the parameters are too extreme",
        )

    def requirements(self, p: Array) -> Array:
        """Beside the bodies' inertias: both methods must give the same start, A vdot = B to 1e-8."""
        P = self.table.p(p)
        x, _ = self.initial(p)
        q, v = x[: self.nq], x[self.nq : self.nq + self.nv]
        X, U = self.table.x(x), self.table.u(np.zeros(self.table.u.size))
        tau = self.joint_forces(q, v, U, P)[0]
        vdot = self.motion(q, v, tau, X, U, P)[0].vdot
        other = self._wittenburg(q, v, tau, P)
        residual, size = other.A @ vdot - other.B, 1.0
        for B in other.B:
            size = np.maximum(size, np.abs(B))
        worst = 0.0
        for r in residual:
            worst = np.maximum(worst, np.abs(r))
        return np.concatenate([super().requirements(p), np.reshape(1e-8 * size - worst, (1,))])

    def _wittenburg(self, q: Array, v: Array, tau: Array, P: Any) -> Equations:
        zero = 0.0 * P.gravity
        return equations(graph(self.tree), self.bodies(P, own_axes=True), q, v, tau, np.stack([zero, zero, -P.gravity]))


def _turns(angles: tuple[float, ...]) -> list[Array]:
    return [about(axis, np.cos(a), np.sin(a)) for axis, a in zip((2, 0, 2), angles, strict=True)]


def _quaternion(angles: tuple[float, ...]) -> tuple[float, ...]:
    first, second, third = _turns(angles)
    return tuple(float(e) for e in quaternion_of(first @ second @ third))


def _omega(angles: tuple[float, ...], rates: float | tuple[float, ...]) -> tuple[float, ...]:
    """The angular velocity in child axes of z-x-z angles and their rates."""
    _, second, third = _turns(angles)
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    a, b, c = np.broadcast_to(rates, 3)
    return tuple(float(w) for w in third.T @ (second.T @ (z * a) + x * b) + z * c)
