"""Mechanisms that are trees of bodies: variables and equations, for any tree (see multibody/tree.py for the data, multibody/separate_bodies.py for the
dynamics). World axes: z up, gravity along -z.

The states are the coordinates of all joints, then their rates, then the energies' integrals; a moving base has 13 more.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...model.drawing import Drawing
from ...model.mechanism import Array, Caution, Mechanism, Note, UserError
from ...model.variables import Role, Row
from ...multibody.inverse_dynamics import times_inertia
from ...multibody.kinematics import Pose, poses
from ...multibody.rotations import (
    from_quaternion,
    quaternion_of,
    quaternion_product,
    quaternion_rate,
    rotation_vector,
    towards_unit_length,
    zxz_angles,
)
from ...multibody.separate_bodies import Bodies, Frame, TreeMotion, cross, forward_dynamics
from ...multibody.tree import MOTIONS, BodyTree, Joint, TreeError
from .drawing import tree_drawing

XYZ = "xyz"
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
UPRIGHT = (1.0, 0.0, 0.0, 0.0)  # the quaternion of no rotation
WARN_BELOW, STOP_BELOW = 1e-2, 1e-4  # |sin phi_2| of Euler angles
NEAR_SINGULARITY, AT_SINGULARITY = "near_singularity", "at_singularity"  # the events
OFF_LENGTH = 1e-6  # of a start quaternion, beyond which a warning tells that it is normalised


def described(model: str) -> BodyTree:
    """The tree that an option describes as JSON, checked."""
    try:
        tree = BodyTree.from_json(model)
        tree.check()
    except TreeError as error:
        raise UserError(str(error)) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"option model is no description of a tree: {error}") from None
    return tree


def identifier(tree: BodyTree) -> str:
    """The name of a tree, as a C identifier."""
    name = re.sub(r"\W", "_", tree.name, flags=re.ASCII) or "Tree"
    return name if not name[0].isdigit() else f"_{name}"


class TreeMechanism(Mechanism):
    """A tree of bodies with driven, elastic, damped joints."""

    @property
    @abstractmethod
    def tree(self) -> BodyTree:
        """The tree, checked."""

    moving = False  # the base follows acceleration inputs
    elastic_stops = False  # joints with limits are held back there
    has_start = True  # the start of the joints is a set of parameters
    start_coordinates: Mapping[
        str, float | tuple[float, ...]
    ] = {}  # default start of joints, by name, where it is not zero
    start_rates: Mapping[str, float | tuple[float, ...]] = {}
    tip_offset: tuple[float, ...] = (0.0, 0.0, 0.0)  # of the tip in the frame of the last body
    without_singularity = "describe the joint as kind spherical"  # what to do instead of Euler angles

    def body_label(self, i: int) -> str:
        return self.tree.bodies[i].name

    def joint_label(self, j: int) -> str:
        return self.tree.joints[j].name

    @cached_property
    def _frames(self) -> tuple[list[Frame], list[int], list[np.ndarray]]:
        return self.tree.frames()

    @cached_property
    def _massive(self) -> list[int]:
        """Bodies with mass: the others are only frames, and have no parameters."""
        return [i for i, b in enumerate(self.tree.bodies) if b.mass > 0]

    @cached_property
    def _moving(self) -> list[int]:
        return [j for j, joint in enumerate(self.tree.joints) if joint.rates]

    @cached_property
    def _passive(self) -> list[int]:
        """Joints with spring, damper and friction: all that move, but for free ones."""
        return [j for j in self._moving if self.tree.joints[j].kind != "free"]

    @cached_property
    def _stopped(self) -> list[int]:
        """Joints with an elastic stop."""
        limited = [
            j
            for j in self._passive
            if self.tree.joints[j].rates == 1 and (self.tree.joints[j].lower, self.tree.joints[j].upper) != (None, None)
        ]
        return limited if self.elastic_stops else []

    @property
    def nq(self) -> int:
        return sum(j.coordinates for j in self.tree.joints)

    @property
    def nv(self) -> int:
        return sum(j.rates for j in self.tree.joints)

    # --- the variables ------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Row, ...]:
        rows = [Row("gravity", "gravity", "parameter", "acceleration of gravity, along -z", "m/s2", start=9.81)]
        rows += self._body_rows() + self._passive_rows() + self._coordinate_rows("parameter", "_start", " at the start")
        rows += self._joint_rows(
            "parameter",
            "v_start",
            {"rad": ("rate_start", "rad/s"), "m": ("speed_start", "m/s")},
            "{what} of joint {name}",
        )
        if self._stopped:
            rows += [
                Row(
                    "k_stop",
                    "stops.stiffness",
                    "parameter",
                    "stiffness of the stops at the joints' limits, per rad or m",
                    "N.m/rad",
                    start=1e4,
                    above=0.0,
                ),
                Row(
                    "c_stop",
                    "stops.dissipation",
                    "parameter",
                    "how much harder a stop pushes against motion into it than out of it",
                    "s",
                    start=0.1,
                    min=0.0,
                ),
            ]
        rows += [Row(f"tip_offset_{a}", f"tip.offset_{a}", "parameter", f"{a} of the tip in the frame of body {self.body_label(-1)}", "m", start=o)
                 for a, o in zip(XYZ, self.tip_offset, strict=True)]  # fmt: skip
        rows += self.motor_rows()
        rows += [
            Row(f"tip_f{a}", f"tip.force_{a}", "input", f"{a} component of the force on the tip, world axes", "N")
            for a in XYZ
        ]
        rows += [
            Row(
                f"tip_m{a}",
                f"tip.moment_{a}",
                "input",
                f"{a} component of the moment on the last body, world axes",
                "N.m",
            )
            for a in XYZ
        ]
        if self.moving:
            rows += [
                Row(
                    f"base_a{a}", f"base.acceleration_{a}", "input", f"{a} acceleration of the base, world axes", "m/s2"
                )
                for a in XYZ
            ]
            rows += [
                Row(
                    f"base_eps{a}",
                    f"base.angular_acceleration_{a}",
                    "input",
                    f"{a} angular acceleration of the base, world axes",
                    "rad/s2",
                )
                for a in XYZ
            ]
        rows += self._coordinate_rows() + self._joint_rows(
            "state", "v", {"rad": ("rate", "rad/s"), "m": ("speed", "m/s")}, "{what} of joint {name}"
        )
        if self.moving:
            rows += [Row(f"base_r{a}", f"base.{a}", "state", f"{a} position of the base", "m") for a in XYZ]
            rows += [
                Row(
                    "base_e",
                    "base.quaternion[{k}]",
                    "state",
                    "orientation of the base, element {k} of w, x, y, z",
                    "1",
                    size=4,
                )
            ]
            rows += [Row(f"base_v{a}", f"base.velocity_{a}", "state", f"{a} velocity of the base", "m/s") for a in XYZ]
            rows += [
                Row(f"base_w{a}", f"base.rate_{a}", "state", f"{a} angular velocity of the base, world axes", "rad/s")
                for a in XYZ
            ]
        rows += [
            Row("work", "energy.input", "state", "work done by all inputs since the start", "J"),
            Row("loss", "energy.dissipated", "state", "energy lost in dampers and friction since the start", "J"),
        ]
        rows += self._joint_rows(
            "output",
            "vdot",
            {"rad": ("acceleration", "rad/s2"), "m": ("acceleration", "m/s2")},
            "{what} of joint {name}",
        )
        for j in self._balls:
            rows.append(
                Row(
                    f"angles_{j}",
                    f"{self.joint_label(j)}.angle[{{k}}]",
                    "output",
                    f"Euler angle {{k}} (z, x, z) of joint {self.joint_label(j)}",
                    "rad",
                    3,
                )
            )
        for a in XYZ:
            names = tuple(f"{self.joint_label(j)}.force_{a}" for j in self._moving)
            rows.append(
                Row(
                    f"joint_f{a}",
                    names,
                    "output",
                    f"{a} force of the inboard on the outboard body, world axes",
                    "N",
                    len(names),
                )
            )
        for a in XYZ:
            names = tuple(f"{self.joint_label(j)}.moment_{a}" for j in self._moving)
            rows.append(
                Row(
                    f"joint_m{a}",
                    names,
                    "output",
                    f"{a} moment of the inboard on the outboard body about the joint, world axes",
                    "N.m",
                    len(names),
                )
            )
        rows += [Row(f"tip_{a}", f"tip.{a}", "output", f"{a} position of the tip", "m") for a in XYZ]
        rows += [
            Row(
                "tip_e",
                "tip.quaternion[{k}]",
                "output",
                "orientation of the last body, element {k} of w, x, y, z",
                "1",
                size=4,
            )
        ]
        rows += [Row(f"tip_v{a}", f"tip.velocity_{a}", "output", f"{a} velocity of the tip", "m/s") for a in XYZ]
        rows += [
            Row(f"tip_w{a}", f"tip.rate_{a}", "output", f"{a} angular velocity of the last body, world axes", "rad/s")
            for a in XYZ
        ]
        rows += [
            Row(
                "H", "momentum.vertical", "output", "angular momentum about the vertical through the origin", "kg.m2/s"
            ),
            Row(
                "singularity",
                "singularity",
                "output",
                "smallest |sin phi_2| of the joints with Euler angles; 1 when there are none",
                "1",
            ),
            Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
            Row("potential", "energy.potential", "output", "potential energy of weight and springs", "J"),
            Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
        ]
        return tuple(rows)

    def _body_rows(self) -> list[Row]:
        bodies = [(self.body_label(i), self.tree.bodies[i]) for i in self._massive]

        def row(symbol: str, suffix: str, text: str, unit: str, values: list[float], above: float | None = None) -> Row:
            return Row(
                symbol,
                tuple(f"{name}.{suffix}" for name, _ in bodies),
                "parameter",
                text,
                unit,
                len(bodies),
                tuple(values),
                above=above,
            )

        rows = [row("m", "mass", "mass", "kg", [b.mass for _, b in bodies], above=0.0)]
        rows += [
            row(
                f"J{s}",
                f"inertia_{s}",
                "inertia about the mass centre, body axes",
                "kg.m2",
                [b.inertia[i] for _, b in bodies],
            )
            for i, s in enumerate(INERTIA)
        ]
        return rows + [
            row(f"c{a}", f"com_{a}", f"{a} of the mass centre in the body's frame", "m", [b.com[i] for _, b in bodies])
            for i, a in enumerate(XYZ)
        ]

    def _passive_rows(self) -> list[Row]:
        """Springs, dampers and friction."""
        rows = []
        for j in self._passive:
            joint, name = self.tree.joints[j], self.joint_label(j)
            turning = _units(joint)[0] == "rad"
            stiffness, damping, force, speed = (
                ("N.m/rad", "N.m.s/rad", "N.m", "rad/s") if turning else ("N/m", "N.s/m", "N", "m/s")
            )
            rows += [
                Row(f"k_{j}", f"{name}.stiffness", "parameter", f"stiffness of the spring in joint {name}", stiffness, start=joint.stiffness, min=0.0),
                Row(f"d_{j}", f"{name}.damping", "parameter", f"viscous damping in joint {name}", damping, start=joint.damping, min=0.0),
                Row(f"tc_{j}", f"{name}.friction", "parameter", f"dry friction in joint {name}", force, start=joint.friction, min=0.0),
                Row(f"vs_{j}", f"{name}.friction_speed", "parameter", f"rate at which the dry friction in joint {name} reaches 76 percent", speed,
                    start=joint.friction_speed, above=0.0),
            ]  # fmt: skip
            if joint.kind != "spherical":
                rows.append(Row(f"rest_{j}", f"{name}.rest" if joint.rates > 1 else f"{name}.rest_{'angle' if turning else 'position'}", "parameter",
                                f"where the spring in joint {name} is relaxed", _units(joint)[0], start=joint.rest))  # fmt: skip
        return rows

    def _coordinate_rows(self, role: Role = "state", suffix: str = "", when: str = "") -> list[Row]:
        """Angles, lengths and quaternions of the joints: the states, or something that goes with them (start values)."""
        rows = []
        for j in self._moving:
            joint, name = self.tree.joints[j], self.joint_label(j)
            plain = _units(joint, quaternions=False)
            for unit, word in (("m", "position"), ("rad", "angle")):
                count = plain.count(unit)
                if count == 0:
                    continue
                index, number = ("[{k}]", " {k}") if count > 1 else ("", "")
                text = f"{word}{number} of joint {name}{when}"
                row = Row(
                    f"{word}{suffix}_{j}",
                    f"{name}.{word}{suffix}{index}",
                    role,
                    text,
                    unit,
                    count if count > 1 else None,
                )
                if role == "parameter":
                    row = replace(row, start=self.start_coordinates.get(name, _start_angle(joint)))
                rows.append(
                    replace(row, min=joint.lower, max=joint.upper) if joint.rates == 1 and role != "input" else row
                )
            if j in self._balls:
                unset = "; four zeros count as 1, 0, 0, 0" if role == "input" else ""
                text = f"orientation of joint {name}{when}, element {{k}} of w, x, y, z{unset}"
                upright = {"parameter": self.start_coordinates.get(name, UPRIGHT), "input": UPRIGHT}.get(role, 0.0)
                rows.append(
                    Row(f"e{suffix}_{j}", f"{name}.quaternion{suffix}[{{k}}]", role, text, "1", size=4, start=upright)
                )
        return rows

    def _joint_rows(self, role: Any, symbol: str, words: dict[str, tuple[str, str]], text: str) -> list[Row]:
        """One row per joint and unit for quantities that go with the rates."""
        rows = []
        for j in self._moving:
            joint, name = self.tree.joints[j], self.joint_label(j)
            units = _rate_units(joint)
            for unit in dict.fromkeys(units):
                count = units.count(unit)
                word, own_unit = words[unit]
                index = "[{k}]" if count > 1 else ""
                both = len(set(units)) > 1 and words["rad"][0] == words["m"][0]  # slides and turns under one word
                word = f"{'linear' if unit == 'm' else 'angular'}_{word}" if both else word
                meaning = text.format(what=word.replace("_", " "), name=name) + (", axis {k}" if count > 1 else "")
                row = Row(
                    f"{symbol}_{j}_{unit}",
                    f"{name}.{word}{index}",
                    role,
                    meaning,
                    own_unit,
                    count if count > 1 else None,
                )
                rows.append(
                    replace(row, start=self.start_rates.get(name, 0.0))
                    if role == "parameter" and len(set(units)) == 1
                    else row
                )
        return rows

    def motor_rows(self) -> list[Row]:
        """The motors' inputs, in the order of the rates."""
        return self._joint_rows(
            "input", "tau", {"rad": ("torque", "N.m"), "m": ("force", "N")}, "motor {what} in joint {name}"
        )

    @cached_property
    def _balls(self) -> list[int]:
        return [j for j, joint in enumerate(self.tree.joints) if joint.kind in ("spherical", "free")]

    @cached_property
    def _angled(self) -> list[int]:
        """Joints with Euler or Cardan angles."""
        return [
            j for j, joint in enumerate(self.tree.joints) if joint.kind in ("euler_zxz", "cardan_xyz", "cardan_zyx")
        ]

    # --- the equations ------------------------------------------------------------------------------------------------

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        parts: dict[str, Any] = {"work": 0.0, "loss": 0.0}
        for row in self._coordinate_rows():
            value = getattr(p, _start_symbol(row.symbol))
            parts[row.symbol] = value / np.sqrt(np.sum(value * value)) if row.symbol.startswith("e_") else value
        for row in self._joint_rows("state", "v", {"rad": ("rate", "rad/s"), "m": ("speed", "m/s")}, ""):
            parts[row.symbol] = getattr(p, row.symbol.replace("v_", "v_start_", 1))
        if self.moving:
            parts |= {f"base_{s}{a}": 0.0 for s in "rvw" for a in XYZ} | {"base_e": np.array([1.0, 0.0, 0.0, 0.0])}
        return self.table.x.pack(**parts), np.zeros(0)

    def project(self, x: Array, d: Array, p: Array) -> Array:
        named = vars(self.table.x(x))
        for symbol, value in named.items():
            if symbol.startswith("e_") or symbol == "base_e":
                named[symbol] = value / np.sqrt(np.sum(value * value))
        return self.table.x.pack(**named)

    def requirements(self, p: Array) -> Array:
        """Inertias that a real body can have: tr J / 2 E - J is positive semidefinite (J is then too, and obeys the triangle inequality).

        And a start that is one: quaternions that can be brought to length one, Euler angles that are not at their singularity.
        """
        p = self.table.p(p)
        found = []
        for i in range(len(self._massive)):
            xx, yy, zz, xy, xz, yz = (getattr(p, f"J{s}")[i] for s in INERTIA)
            trace = xx + yy + zz
            a, b, c = trace / 2 - xx, trace / 2 - yy, trace / 2 - zz
            slack = 1e-9 * trace
            determinant = a * b * c - 2 * xy * xz * yz - a * yz**2 - b * xz**2 - c * xy**2
            pairs = [a * b - xy**2, a * c - xz**2, b * c - yz**2]
            minors = [
                a + slack,
                b + slack,
                c + slack,
                *(pair + slack * trace for pair in pairs),
                determinant + slack * trace**2,
            ]
            least = minors[0]
            for minor in minors[1:]:
                least = np.minimum(least, minor)
            found.append(least + 1e-30)
        for j in self._balls if self.has_start else ():
            e = getattr(p, f"e_start_{j}")
            length = np.sqrt(np.sum(e * e))
            found += [length - 1e-6, OFF_LENGTH - np.abs(length - 1.0)]
        for j in self._angled if self.has_start else ():
            found.append(np.abs(_sine(self.tree.joints[j].kind, getattr(p, f"angle_start_{j}")[1])) - STOP_BELOW)
        return np.stack(found) if found else np.zeros(0)

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (
            *(
                f"{self.body_label(i)}: its inertia is not that of a body (positive, triangle inequality)"
                for i in self._massive
            ),
            *(
                text
                for j in (self._balls if self.has_start else ())
                for text in (
                    f"{self.joint_label(j)}: its quaternion_start is zero, which is not an orientation",
                    Caution(
                        f"{self.joint_label(j)}: its quaternion_start is not of length 1; it is divided by its length"
                    ),
                )
            ),
            *(
                f"{self.joint_label(j)}: its angles start at their singularity (|sin phi_2| < {STOP_BELOW:g}): {self.without_singularity}"
                for j in self._angled
                if self.has_start
            ),
        )

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        q, v = x[: self.nq], x[self.nq : self.nq + self.nv]
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        tau, motor, loss, _ = self._joint_forces(q, v, U, P)
        motion, load_power, base_power = self._motion(q, v, tau, X, U, P)
        parts: dict[str, Any] = {"work": motor + load_power + base_power, "loss": loss}
        parts |= self._spread(self._coordinate_rates(q, v), [r.symbol for r in self._coordinate_rows()])
        parts |= self._spread(
            motion.vdot,
            [r.symbol for r in self._joint_rows("state", "v", {"rad": ("rate", "rad/s"), "m": ("speed", "m/s")}, "")],
        )
        if self.moving:
            w = np.stack([X.base_wx, X.base_wy, X.base_wz])
            for a in XYZ:
                parts |= {
                    f"base_r{a}": getattr(X, f"base_v{a}"),
                    f"base_v{a}": getattr(U, f"base_a{a}"),
                    f"base_w{a}": getattr(U, f"base_eps{a}"),
                }
            parts["base_e"] = quaternion_rate(X.base_e, from_quaternion(X.base_e).T @ w) + towards_unit_length(X.base_e)
        return self.table.x.pack(**parts)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        q, v = x[: self.nq], x[self.nq : self.nq + self.nv]
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        frames, at, _ = self._frames
        tau, _, _, spring_energy = self._joint_forces(q, v, U, P)
        motion, _, _ = self._motion(q, v, tau, X, U, P)
        where = poses(frames, q, v, self._base_pose(X))
        bodies = self._bodies(P)

        kinetic, weight, H = 0.0, 0.0, 0.0
        for number, i in enumerate(self._massive):
            pose = where[at[i]]
            r, velocity = pose.point(bodies.c[i])
            w = pose.A.T @ pose.w
            Jw = times_inertia(bodies.J[i], w)
            kinetic = kinetic + 0.5 * (bodies.m[i] * np.sum(velocity * velocity) + np.sum(w * Jw))
            weight = weight + P.gravity * P.m[number] * r[2]
            H = H + bodies.m[i] * (r[0] * velocity[1] - r[1] * velocity[0]) + (pose.A @ Jw)[2]
        tip = where[at[-1]]
        tip_r, tip_v = tip.point(self._tip_arm(P))
        loads = [
            (where[at[j]].A @ motion.reaction[at[j]][0], where[at[j]].A @ motion.reaction[at[j]][1])
            for j in self._moving
        ]
        parts: dict[str, Any] = {
            "tip_e": quaternion_product(tip.e, quaternion_of(self._frames[2][-1].T)),
            "H": H,
            "singularity": self._singularity(q),
            "kinetic": kinetic,
            "potential": weight + spring_energy,
            "total": kinetic + weight + spring_energy,
        }
        for i, a in enumerate(XYZ):
            parts |= {f"tip_{a}": tip_r[i], f"tip_v{a}": tip_v[i], f"tip_w{a}": tip.w[i]}
            parts |= {
                f"joint_f{a}": np.stack([F[i] for F, _ in loads]),
                f"joint_m{a}": np.stack([M[i] for _, M in loads]),
            }
        for j in self._balls:
            frame = frames[at[j]]
            parts[f"angles_{j}"] = zxz_angles(frame.rotation(q))
        accelerations = self._joint_rows(
            "output", "vdot", {"rad": ("acceleration", "rad/s2"), "m": ("acceleration", "m/s2")}, ""
        )
        parts |= self._spread(motion.vdot, [r.symbol for r in accelerations])
        return self.table.y.pack(**parts, **self.extra_outputs(q, v, P))

    def extra_outputs(self, q: Array, v: Array, P: Any) -> dict[str, Array]:
        """Outputs that a mechanism adds to the table."""
        return {}

    # --- Euler angles: a warning when their singularity comes near, a stop before it is reached ------------------------

    @property
    def event_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (NEAR_SINGULARITY, AT_SINGULARITY) if self._angled else ()

    @property
    def event_notes(self) -> dict[str, Note]:  # type: ignore[override]
        if not self._angled:
            return {}
        return {
            NEAR_SINGULARITY: Note(
                f"the Euler angles of a joint come near their singularity (|sin phi_2| < {WARN_BELOW:g}): {self.without_singularity}"
            ),
            AT_SINGULARITY: Note(
                f"the Euler angles of a joint are at their singularity (|sin phi_2| < {STOP_BELOW:g}): {self.without_singularity}",
                stop=True,
            ),
        }

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        """With the sign that sin phi_2 had at the start: a step that passes right through the singularity ends on the wrong side of it."""
        if not self._angled:
            return np.zeros(0)
        P, least = self.table.p(p), 1.0
        for j, now in self._sines(x[: self.nq]).items():
            start = _sine(self.tree.joints[j].kind, getattr(P, f"angle_start_{j}")[1])
            least = np.minimum(least, np.where(start < 0, -now, now))
        found = {NEAR_SINGULARITY: least - WARN_BELOW, AT_SINGULARITY: least - STOP_BELOW}
        return np.stack([found[event] for event in self.event_names])

    def _singularity(self, q: Array) -> Array:
        least = 1.0 + 0.0 * q[0]
        for sine in self._sines(q).values():
            least = np.minimum(least, np.abs(sine))
        return least

    def _sines(self, q: Array) -> dict[int, Array]:
        """sin phi_2 of the joints with angles."""
        frames, at, _ = self._frames
        return {
            j: _sine(self.tree.joints[j].kind, q[frames[at[j] - 1].q]) for j in self._angled
        }  # the frame before the last is that of the middle turn

    # --- the drawing --------------------------------------------------------------------------------------------------

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """Seen along y: the lines of the drawing, that to the tip first."""
        return [(line[:, 0], line[:, 2]) for line in self.drawing(value).lines]

    def drawing(self, value: Any) -> Drawing:
        return tree_drawing(self, value)

    # --- parts of the equations ---------------------------------------------------------------------------------------

    def _bodies(self, P: Any, own_axes: bool = False) -> Bodies:
        """The parameters of all bodies in the axes of their frames, or in their own; bodies without mass have none."""
        turns = [np.eye(3)] * len(self.tree.bodies) if own_axes else self._frames[2]
        m: list[Any] = [0.0] * len(self.tree.bodies)
        c: list[Any] = [np.zeros(3)] * len(m)
        J: list[Any] = [np.zeros(6)] * len(m)
        for number, i in enumerate(self._massive):
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

    def _tip_arm(self, P: Any) -> Array:
        """The tip in the axes of the last frame."""
        return self._frames[2][-1].T @ _vector(P, "tip_offset_")

    def _base_pose(self, X: Any) -> Pose:
        if not self.moving:
            zero = np.zeros(3)
            return Pose(np.eye(3), np.array([1.0, 0.0, 0.0, 0.0]), zero, zero, zero)
        return Pose(
            from_quaternion(X.base_e), X.base_e, _vector(X, "base_r"), _vector(X, "base_v"), _vector(X, "base_w")
        )

    def _joint_forces(self, q: Array, v: Array, U: Any, P: Any) -> tuple[Array, Array, Array, Array]:
        """The whole force in each rate, the motors' power, the power lost, and the energy of the springs."""
        motors = self.motor_rows()
        motor = (
            np.concatenate([np.reshape(getattr(U, row.symbol), (row.count,)) for row in motors])
            if motors
            else np.zeros(0)
        )
        passive, loss, energy = self._passive_forces(q, v, P)
        return motor + passive, np.sum(motor * v), loss, energy

    def _passive_forces(self, q: Array, v: Array, P: Any) -> tuple[Array, Array, Array]:
        """The forces of springs, dampers, friction and stops, the power lost in them, and the energy they hold."""
        forces: list[Array] = []
        loss: Any = 0.0
        energy: Any = 0.0
        at_q = at_v = 0
        for j, joint in enumerate(self.tree.joints):
            mine = slice(at_v, at_v + joint.rates)
            force = 0.0 * v[mine]
            if j in self._passive:
                k, damping, tc, vs = (getattr(P, f"{s}_{j}") for s in ("k", "d", "tc", "vs"))
                resisting = damping * v[mine] + tc * np.tanh(v[mine] / vs)
                mine_q = q[at_q : at_q + joint.coordinates]
                stretch = rotation_vector(mine_q) if joint.kind == "spherical" else mine_q - getattr(P, f"rest_{j}")
                force = -k * stretch - resisting
                loss = loss + np.sum(resisting * v[mine])
                energy = energy + 0.5 * k * np.sum(stretch * stretch)
            if j in self._stopped:
                # Hunt and Crossley: the push grows with depth and with the speed inwards, so that it begins and ends at zero
                depth = _beyond(q[at_q], joint)
                force = force - P.k_stop * (depth + P.c_stop * np.abs(depth) * v[mine])
                loss = loss + P.k_stop * P.c_stop * np.abs(depth) * np.sum(v[mine] ** 2)
                energy = energy + 0.5 * P.k_stop * depth**2
            forces.append(force)
            at_q, at_v = at_q + joint.coordinates, at_v + joint.rates
        return np.concatenate(forces), loss, energy

    def _motion(self, q: Array, v: Array, tau: Array, X: Any, U: Any, P: Any) -> tuple[TreeMotion, Array, Array]:
        """The accelerations, and the power of the tip's load and of the base."""
        frames, at, _ = self._frames
        base = self._base_pose(X)
        where = poses(frames, q, v, base)
        force, moment, arm = _vector(U, "tip_f"), _vector(U, "tip_m"), self._tip_arm(P)
        last = where[at[-1]]
        F, M = last.A.T @ force, last.A.T @ moment
        loads = {at[-1]: (F, M + cross(arm, F))}
        up = np.stack([0.0 * P.gravity, 0.0 * P.gravity, P.gravity])
        acceleration = _vector(U, "base_a") + up if self.moving else up
        epsilon = _vector(U, "base_eps") if self.moving else np.zeros(3)
        motion = forward_dynamics(
            frames, self._bodies(P), q, v, tau, loads, base.A.T @ acceleration, base.A.T @ epsilon, base.A.T @ base.w
        )
        _, tip_v = last.point(arm)
        load_power = np.sum(force * tip_v) + np.sum(moment * last.w)
        base_power: Any = 0.0
        if self.moving:
            for k, frame in enumerate(frames):
                if frame.parent == -1:
                    F_k, M_k = where[k].A @ motion.reaction[k][0], where[k].A @ motion.reaction[k][1]
                    arm_k = where[k].r - base.r
                    base_power = base_power + np.sum(F_k * base.v) + np.sum((M_k + cross(arm_k, F_k)) * base.w)
        return motion, load_power, base_power

    def _coordinate_rates(self, q: Array, v: Array) -> Array:
        """dq/dt: the rates themselves, but for quaternions."""
        parts = []
        for frame in self._frames[0]:
            if frame.motion == "ball":
                e = q[frame.q : frame.q + 4]
                parts.append(quaternion_rate(e, v[frame.v : frame.v + 3]) + towards_unit_length(e))
            elif frame.rates:
                parts.append(np.reshape(v[frame.v], (1,)))
        return np.concatenate(parts)

    def _spread(self, flat: Array, symbols: list[str]) -> dict[str, Array]:
        """A flat vector cut into the parts of the table that lie one after the other."""
        rows = {row.symbol: row for row in self.table.rows}
        found, at = {}, 0
        for symbol in symbols:
            found[symbol] = flat[at : at + rows[symbol].count]
            at += rows[symbol].count
        return found


def _beyond(q: Array, joint: Joint) -> Array:
    """How far a coordinate is beyond its limits: positive above the upper, negative below the lower."""
    above = np.maximum(q - joint.upper, 0.0) if joint.upper is not None else 0.0
    below = np.minimum(q - joint.lower, 0.0) if joint.lower is not None else 0.0
    return above + below


def _sine(kind: str, angle: Array) -> Array:
    """sin phi_2: 0 where the angles are singular. Of z, x, z that is at 0 of the middle angle; of x, y, z and z, y, x at a right angle."""
    return np.sin(angle) if kind == "euler_zxz" else np.cos(angle)


def _units(joint: Joint, quaternions: bool = True) -> list[str]:
    """The units of a joint's coordinates, the four of a quaternion left out on request."""
    units = []
    for motion, _ in MOTIONS[joint.kind]:
        units += {"turn": ["rad"], "slide": ["m"], "ball": ["1"] * 4 if quaternions else []}.get(motion, [])
    return ["rad"] if joint.kind == "spherical" and quaternions else units


def _rate_units(joint: Joint) -> list[str]:
    """rad or m for each rate: what it is the rate of."""
    return [
        unit
        for motion, _ in MOTIONS[joint.kind]
        for unit in {"turn": ["rad"], "slide": ["m"], "ball": ["rad"] * 3}.get(motion, [])
    ]


def _start_symbol(symbol: str) -> str:
    word, _, number = symbol.rpartition("_")
    return f"{word}_start_{number}"


def _start_angle(joint: Joint) -> float | tuple[float, ...]:
    """Zero, or the nearest value within the limits; z-x-z angles start where they are furthest from their singularity."""
    if joint.kind == "euler_zxz":
        return (0.0, np.pi / 2, 0.0)
    return (
        float(
            np.clip(
                0.0, -np.inf if joint.lower is None else joint.lower, np.inf if joint.upper is None else joint.upper
            )
        )
        if joint.rates == 1
        else 0.0
    )


def _vector(named: Any, prefix: str) -> Array:
    return np.stack([getattr(named, f"{prefix}{a}") for a in XYZ])
