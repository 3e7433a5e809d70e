"""Equations of any mechanism that is a tree of bodies.

The data of a tree are in multibody/tree.py, its dynamics in multibody/separate_bodies.py, its table in variables.py.
World axes: z up, gravity along -z.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...model.drawing import Drawing
from ...model.mechanism import Array, Caution, Note
from ...model.variables import Row
from ...multibody.coupled_bodies import Member, coupled_forward_dynamics
from ...multibody.frames import BASE, Bodies
from ...multibody.ground_contact import GroundForce
from ...multibody.inverse_dynamics import times_inertia
from ...multibody.kinematics import Pose, poses
from ...multibody.path_to_body import origin_velocity, resolved
from ...multibody.rigid_groups import RigidGroup
from ...multibody.rotations import (
    cross,
    from_quaternion,
    normalising_rate,
    quaternion_of,
    quaternion_product,
    quaternion_rate,
    zxz_angles,
)
from ...multibody.separate_bodies import TreeMotion, forward_dynamics
from .contacts import STATIC_BELOW_SLIDING, contact_outputs, ground_forces, with_ground
from .drawing import tree_drawing
from .followers import expanded, lifted, reduced
from .inertia_requirements import TEXT, groups_judged_together, inertia_margins, possible_bodies
from .motors import armature, saturated
from .passive_forces import passive_forces
from .sensors import frame_outputs
from .singularity import STOP_BELOW, sine, singularity_guards, singularity_notes
from .variables import ACCELERATIONS, INERTIA, RATES, UPRIGHT, XYZ, TreeVariables, start_symbol

EQUAL_FRICTION = 1e-12  # static and sliding coefficient may be the same
LENGTH_TOLERANCE = 1e-6  # of a start quaternion; beyond it, a warning reports that it is normalised


class TreeMechanism(TreeVariables):
    """A tree of bodies with driven, elastic, damped joints."""

    without_singularity = "describe the joint as kind spherical"  # what to do instead of Euler angles

    # --- the start ----------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        parts: dict[str, Any] = {"work": 0.0, "loss": 0.0} if self.counts_energy else {}
        for row in self.coordinate_rows():
            value = getattr(p, start_symbol(row.symbol))
            parts[row.symbol] = value / np.sqrt(np.sum(value * value)) if row.symbol.startswith("e_") else value
        for row in self.joint_rows("state", "v", RATES):
            parts[row.symbol] = getattr(p, row.symbol.replace("v_", "v_start_", 1))
        if self.moving:
            parts |= {f"base_{s}{a}": 0.0 for s in "rvw" for a in XYZ} | {"base_e": np.array(UPRIGHT)}
        return self.table.x.pack(**parts), np.zeros(0)

    def project(self, x: Array, d: Array, p: Array) -> Array:
        """Quaternions of length one."""
        named = vars(self.table.x(x))
        for symbol, value in named.items():
            if symbol.startswith("e_") or symbol == "base_e":
                named[symbol] = value / np.sqrt(np.sum(value * value))
        return self.table.x.pack(**named)

    def requirements(self, p: Array) -> Array:
        """Possible inertias and a possible start.

        Quaternions must be different from zero, Euler angles must not be at their singularity.
        """
        p = self.table.p(p)
        own = self.bodies(p, own_axes=True)
        found = inertia_margins(own, *self._judged)
        for j in self.balls if self.has_start else ():
            e = getattr(p, f"e_start_{j}")
            length = np.sqrt(np.sum(e * e))
            found += [length - 1e-6, LENGTH_TOLERANCE - np.abs(length - 1.0)]
        for j in self.angled if self.has_start else ():
            found.append(np.abs(sine(self.tree.joints[j].kind, getattr(p, f"angle_start_{j}")[1])) - STOP_BELOW)
        if self.tree.contacts and self.has_start:
            found.append(p.contact_mus - p.contact_mud + EQUAL_FRICTION)
        return np.stack(found) if found else np.zeros(0)

    @cached_property
    def _judged(self) -> tuple[list[int], list[RigidGroup]]:
        """Bodies, and bodies fixed together, whose inertias must be possible."""
        return possible_bodies(self.tree), groups_judged_together(self.tree)

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        texts = [f"{self.body_label(i)}: {TEXT}" for i in self._judged[0]]
        for group in self._judged[1]:
            names = ", ".join(self.body_label(i) for i in group.bodies if i in self.massive)
            texts.append(f"{names}, fixed together: {TEXT}")
        if not self.has_start:
            return tuple(texts)
        for j in self.balls:
            start = f"{self.joint_label(j)}: its quaternion_start is"
            texts.append(f"{start} zero, which is not an orientation")
            texts.append(Caution(f"{start} not of length 1; it is divided by its length"))
        singular = f"its angles start at their singularity (|sin phi_2| < {STOP_BELOW:g}): {self.without_singularity}"
        friction = (STATIC_BELOW_SLIDING,) if self.tree.contacts else ()
        return (*texts, *(f"{self.joint_label(j)}: {singular}" for j in self.angled), *friction)

    # --- the equations ------------------------------------------------------------------------------------------------

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        q, v = self.coordinates(x)
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        tau, motor, loss, _ = self.joint_forces(q, v, U, P)
        motion, load_power, base_power, ground = self.motion(q, v, tau, X, U, P)
        for touch in ground:
            loss = loss + touch.loss
        energy = {"work": motor + load_power + base_power, "loss": loss}
        parts: dict[str, Any] = energy if self.counts_energy else {}
        parts |= self.spread(self._coordinate_rates(q, v), self.coordinate_rows())
        parts |= self.spread(reduced(self.tree, self.followers, motion.vdot), self.joint_rows("state", "v", RATES))
        if self.moving:
            w = np.stack([X.base_wx, X.base_wy, X.base_wz])
            for a in XYZ:
                parts |= {
                    f"base_r{a}": getattr(X, f"base_v{a}"),
                    f"base_v{a}": getattr(U, f"base_a{a}"),
                    f"base_w{a}": getattr(U, f"base_eps{a}"),
                }
            parts["base_e"] = quaternion_rate(X.base_e, from_quaternion(X.base_e).T @ w) + normalising_rate(X.base_e)
        return self.table.x.pack(**parts)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        q, v = self.coordinates(x)
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        frames, at, turns = self.frames
        tau, _, _, spring_energy = self.joint_forces(q, v, U, P)
        motion, _, _, ground = self.motion(q, v, tau, X, U, P)
        for touch in ground:
            spring_energy = spring_energy + touch.energy
        where = poses(frames, q, v, self.base_pose(X))
        kinetic, weight, H = self._energies(where, v, P)
        tip = where[at[-1]]
        tip_r, tip_v = tip.point(self._tip_arm(P))
        parts: dict[str, Any] = {
            "tip_e": quaternion_product(tip.e, quaternion_of(turns[-1].T)),
            "H": H,
            "singularity": self._singularity(q),
        }
        if self.counts_energy:
            potential = weight + spring_energy
            parts |= {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
        loads = [self._world_wrench(where, motion, at[j]) for j in self.movable]
        for i, a in enumerate(XYZ):
            parts |= {f"tip_{a}": tip_r[i], f"tip_v{a}": tip_v[i], f"tip_w{a}": tip.w[i]}
            parts |= {
                f"joint_f{a}": np.stack([F[i] for F, _ in loads]),
                f"joint_m{a}": np.stack([M[i] for _, M in loads]),
            }
        for j in self.balls:
            parts[f"angles_{j}"] = zxz_angles(frames[at[j]].rotation(q))
        parts |= self.spread(motion.vdot, self.joint_rows("output", "vdot", ACCELERATIONS, joints=self.movable))
        for j in self.followers:
            frame, unit = frames[at[j]], "m" if frames[at[j]].motion == "slide" else "rad"
            parts |= {f"{'position' if unit == 'm' else 'angle'}_{j}": q[frame.q], f"v_{j}_{unit}": v[frame.v]}
        parts |= self._frame_outputs(where, motion, X, U, P) | contact_outputs(ground)
        return self.table.y.pack(**parts, **self.extra_outputs(q, v, P))

    def _frame_outputs(self, where: list[Pose], motion: TreeMotion, X: Any, U: Any, P: Any) -> dict[str, Array]:
        """Outputs of the frames of sensors."""
        if not self.tree.points:
            return {}
        _, at, turns = self.frames
        number = {body.name: i for i, body in enumerate(self.tree.bodies)}
        pose = self.base_pose(X)
        a_0, alpha_0, omega_0 = self._base_motion(pose, U, P)
        parts: dict[str, Array] = {}
        for i, point in enumerate(self.tree.points):
            k, W, placed = BASE, np.eye(3), pose
            if point.body:
                body = number[point.body]
                k, W, placed = at[body], turns[body], where[at[body]]
            parts |= frame_outputs(i, point, k, W, placed, motion, (omega_0, a_0, alpha_0))
        return parts

    def extra_outputs(self, q: Array, v: Array, P: Any) -> dict[str, Array]:
        """Outputs that a mechanism adds to the table."""
        return {}

    # --- Euler angles -------------------------------------------------------------------------------------------------

    @property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.event_notes)

    @property
    def event_notes(self) -> dict[str, Note]:  # type: ignore[override]
        return singularity_notes(self.without_singularity) if self.angled else {}

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        """Use the sign of sin phi_2 at the start: a step right through the singularity ends on the wrong side of it."""
        if not self.angled:
            return np.zeros(0)
        P, least = self.table.p(p), 1.0
        for j, now in self._sines(self.coordinates(x)[0]).items():
            start = sine(self.tree.joints[j].kind, getattr(P, f"angle_start_{j}")[1])
            least = np.minimum(least, np.where(start < 0, -now, now))
        found = singularity_guards(least)
        return np.stack([found[event] for event in self.event_names])

    def _singularity(self, q: Array) -> Array:
        least = 1.0 + 0.0 * q[0]
        for now in self._sines(q).values():
            least = np.minimum(least, np.abs(now))
        return least

    def _sines(self, q: Array) -> dict[int, Array]:
        """sin phi_2 of the joints with angles; the frame of the middle turn is the one before the body's frame."""
        frames, at, _ = self.frames
        return {j: sine(self.tree.joints[j].kind, q[frames[at[j] - 1].q]) for j in self.angled}

    # --- the drawing --------------------------------------------------------------------------------------------------

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """Seen along y: the lines of the drawing, that to the tip first."""
        return [(line[:, 0], line[:, 2]) for line in self.drawing(value).lines]

    def drawing(self, value: Any) -> Drawing:
        return tree_drawing(self, value)

    # --- parts of the equations ---------------------------------------------------------------------------------------

    def bodies(self, P: Any, own_axes: bool = False) -> Bodies:
        """The parameters of all bodies in the axes of their frames, or in their own; bodies without mass have none."""
        turns = [np.eye(3)] * len(self.tree.bodies) if own_axes else self.frames[2]
        m: list[Any] = [0.0] * len(self.tree.bodies)
        c: list[Any] = [np.zeros(3)] * len(m)
        J: list[Any] = [np.zeros(6)] * len(m)
        for number, i in enumerate(self.massive):
            m[i] = P.m[number]
            com = np.stack([getattr(P, f"c{a}")[number] for a in XYZ])
            xx, yy, zz, xy, xz, yz = (getattr(P, f"J{s}")[number] for s in INERTIA)
            inertia = np.stack([xx, yy, zz, xy, xz, yz])
            W = turns[i]
            if not np.array_equal(W, np.eye(3)):
                com = W.T @ com
                full = W.T @ np.stack([np.stack([xx, xy, xz]), np.stack([xy, yy, yz]), np.stack([xz, yz, zz])]) @ W
                inertia = np.stack([full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2]])
            c[i], J[i] = com, inertia
        return Bodies(m, c, J)

    def base_pose(self, X: Any) -> Pose:
        if not self.moving:
            zero = np.zeros(3)
            return Pose(np.eye(3), np.array(UPRIGHT), zero, zero, zero)
        r, v, w = (_vector(X, f"base_{s}") for s in "rvw")
        return Pose(from_quaternion(X.base_e), X.base_e, r, v, w)

    def coordinates(self, x: Array) -> tuple[Array, Array]:
        """Coordinates and rates of all joints, those that follow others included."""
        return expanded(self.tree, self.followers, x[: self.nq], x[self.nq : self.nq + self.nv])

    def joint_forces(self, q: Array, v: Array, U: Any, P: Any) -> tuple[Array, Array, Array, Array]:
        """The whole force in each rate, the motors' power, the power lost, and the energy of the springs."""
        motors = self.motor_rows()
        given = self.gathered(U, motors) if motors else np.zeros(0)
        motor = lifted(self.tree, self.followers, saturated(self.tree, self.independent, self.limited, given))
        passive, loss, energy = passive_forces(self.tree, self.passive, self.stopped, q, v, P)
        return motor + passive, np.sum(motor * v), loss, energy

    def motion(
        self, q: Array, v: Array, tau: Array, X: Any, U: Any, P: Any
    ) -> tuple[TreeMotion, Array, Array, list[GroundForce]]:
        """The accelerations, the power of the tip's load and of the base, and the forces of the ground."""
        frames, at, _ = self.frames
        base = self.base_pose(X)
        where = poses(frames, q, v, base) if self.tree.contacts or self.moving else []
        last, arm = at[-1], self._tip_arm(P)
        F, M = resolved(frames, last, q, [base.A.T @ _vector(U, "tip_f"), base.A.T @ _vector(U, "tip_m")])
        ground = ground_forces(self.tree.contacts, *self.touching, where, P)
        loads = with_ground({last: (F, M + cross(arm, F))}, ground, self.touching[0], where)
        a_0, alpha_0, omega_0 = self._base_motion(base, U, P)
        arguments = frames, self.bodies(P), q, v, tau, loads, a_0, alpha_0, omega_0, armature(self.tree, P)
        motion = coupled_forward_dynamics(*arguments, self.members) if self.members else forward_dynamics(*arguments)
        tip_w = motion.omega[last]
        tip_v = origin_velocity(frames, last, q, v, motion.omega, base.A.T @ base.v, omega_0) + cross(tip_w, arm)
        load_power = np.sum(F * tip_v) + np.sum(M * tip_w)
        base_power: Any = 0.0
        if self.moving:
            for k, frame in enumerate(frames):
                if frame.parent == BASE:
                    F_k, M_k = self._world_wrench(where, motion, k)
                    arm_k = where[k].r - base.r
                    base_power = base_power + np.sum(F_k * base.v) + np.sum((M_k + cross(arm_k, F_k)) * base.w)
        return motion, load_power, base_power, ground

    def _base_motion(self, base: Pose, U: Any, P: Any) -> tuple[Array, Array, Array]:
        """Acceleration with the weight, angular acceleration and angular velocity of the base, in its axes."""
        up = np.stack([0.0 * P.gravity, 0.0 * P.gravity, P.gravity])
        acceleration = _vector(U, "base_a") + up if self.moving else up
        epsilon = _vector(U, "base_eps") if self.moving else np.zeros(3)
        return base.A.T @ acceleration, base.A.T @ epsilon, base.A.T @ base.w

    @cached_property
    def members(self) -> dict[int, Member]:
        """As `BodyTree.members`."""
        return self.tree.members(self.frames[1])

    def spread(self, flat: Array, rows: list[Row]) -> dict[str, Array]:
        """A flat vector cut into the parts that belong to the rows, by symbol."""
        found, at = {}, 0
        for row in rows:
            found[row.symbol] = flat[at : at + row.count]
            at += row.count
        return found

    def gathered(self, named: Any, rows: list[Row]) -> Array:
        """The reverse: values of the rows as one vector."""
        return np.concatenate([np.reshape(getattr(named, row.symbol), (row.count,)) for row in rows])

    def _tip_arm(self, P: Any) -> Array:
        """The tip in the axes of the last frame."""
        return self.frames[2][-1].T @ _vector(P, "tip_offset_")

    def _world_wrench(self, where: list[Pose], motion: TreeMotion, k: int) -> tuple[Array, Array]:
        """The reaction on frame k in world axes."""
        F, M = motion.reaction[k]
        return where[k].A @ F, where[k].A @ M

    def _energies(self, where: list[Pose], v: Array, P: Any) -> tuple[Array, Array, Array]:
        """Kinetic energy, potential energy of the weight, angular momentum about the vertical."""
        bodies, at = self.bodies(P), self.frames[1]
        kinetic, weight, H = 0.0, 0.0, 0.0
        for number, i in enumerate(self.massive):
            pose = where[at[i]]
            r, velocity = pose.point(bodies.c[i])
            w = pose.A.T @ pose.w
            Jw = times_inertia(bodies.J[i], w)
            kinetic = kinetic + 0.5 * (bodies.m[i] * np.sum(velocity * velocity) + np.sum(w * Jw))
            weight = weight + P.gravity * P.m[number] * r[2]
            H = H + bodies.m[i] * (r[0] * velocity[1] - r[1] * velocity[0]) + (pose.A @ Jw)[2]
        for rate, rotor in armature(self.tree, P).items():
            kinetic = kinetic + 0.5 * rotor * v[rate] ** 2
        return kinetic, weight, H

    def _coordinate_rates(self, q: Array, v: Array) -> Array:
        """dq/dt of the states: the rates themselves, except for quaternions."""
        parts = []
        following = {self.frames[1][j] for j in self.followers}
        for k, frame in enumerate(self.frames[0]):
            if k in following:
                continue
            if frame.motion == "ball":
                e = q[frame.q : frame.q + 4]
                parts.append(quaternion_rate(e, v[frame.v : frame.v + 3]) + normalising_rate(e))
            elif frame.rates:
                parts.append(np.reshape(v[frame.v], (1,)))
        return np.concatenate(parts)


def _vector(named: Any, prefix: str) -> Array:
    return np.stack([getattr(named, f"{prefix}{a}") for a in XYZ])
