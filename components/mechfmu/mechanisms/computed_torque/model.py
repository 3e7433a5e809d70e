"""Controller of a tree: the torques that make its joints follow a reference, by inverse dynamics of the same model.

    measured q, v ----->+-----------------------------------------------+
                        | a = a_ref + 2 zeta omega (v_ref - v)          |
    reference q, v, a ->|     + omega^2 (q_ref - q)                     |-----> joint torques
                        | tau = inverse dynamics (q, v, a) - passive    |
                        +-----------------------------------------------+

`passive` are the forces of springs, dampers and friction in the joints, which the motors then need not overcome twice.
With the plant's own parameters every joint coordinate follows its reference like a damped oscillator of frequency omega
and damping ratio zeta. The error of a spherical joint is the rotation vector from its orientation to the reference.
With law=gravity the torques carry the weight only. A joint that follows another has no motor: that of the joint it
follows does its work as well, tau_leader + multiplier tau_follower. Rotors add armature * a to the inverse dynamics.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ...model.drawing import Drawing
from ...model.mechanism import Array, Option, UserError
from ...model.variables import Row
from ...multibody.inverse_dynamics import inverse_dynamics
from ...multibody.rotations import quaternion_product, rotation_vector, unit_quaternion
from ...multibody.tree import Body, BodyTree, Joint
from ..tree.base import TreeMechanism
from ..tree.followers import collected, expanded
from ..tree.motors import armature
from ..tree.names import identifier, tree_of
from ..tree.passive_forces import passive_forces
from ..tree.variables import FORCES, RATES

ARM = BodyTree(
    "Arm",
    (
        Body("upper_arm", 3.0, (0.0, 0.0, -0.15), (0.03, 0.03, 0.004, 0.0, 0.0, 0.0)),
        Body("forearm", 2.0, (0.0, 0.0, -0.12), (0.015, 0.015, 0.002, 0.0, 0.0, 0.0)),
    ),
    (
        Joint("shoulder", "revolute", "upper_arm", axis=(0.0, 1.0, 0.0)),
        Joint("elbow", "revolute", "forearm", "upper_arm", (0.0, 0.0, -0.3), axis=(0.0, 1.0, 0.0)),
    ),
)
RATE_REFERENCES = {"rad": ("rate_reference", "rad/s"), "m": ("speed_reference", "m/s")}
ACCELERATION_REFERENCES = {"rad": ("acceleration_reference", "rad/s2"), "m": ("acceleration_reference", "m/s2")}

LAWS = ("computed_torque", "gravity")
INERTIAS = ("refuse", "warn")


class ComputedTorque(TreeMechanism):
    """A controller: no states, torques from the inverse dynamics of a tree."""

    key = "computed_torque"
    title = "Computed-torque or gravity-compensation controller of a tree"
    option_list = (
        Option("model", ARM.to_json(), "the tree as JSON; made from a file by `mechfmu build FILE --controller`"),
        Option("law", "computed_torque", "follow a reference, or only carry the weight", choices=LAWS),
        Option("inertia", "refuse", "warn: inertias that no body can have are taken as they are", choices=INERTIAS),
    )

    @cached_property
    def tree(self) -> BodyTree:
        tree = tree_of(self.options["model"], self.options["inertia"])
        for joint in tree.joints:
            if joint.kind == "free":
                raise UserError(f"joint {joint.name} is free: it has no motor that a controller could drive")
        return tree

    @property
    def name(self) -> str:
        """The name of the tree with `controller` after it: robots of one folder do not overwrite each other's."""
        name = identifier(self.tree)
        return f"{name}_controller" if name == name.lower() else f"{name}Controller"

    @property
    def follows(self) -> bool:
        return bool(self.options["law"] == "computed_torque")

    def rows(self) -> tuple[Row, ...]:
        rows = [
            Row(
                "gravity", "gravity", "parameter", "acceleration of gravity, along -z", "m/s2", start=self.tree.gravity
            ),
            *self.body_rows(),
            *self.coordinate_rows("input", "", ", measured"),
            *self.joint_rows("input", "v", RATES, "{what} of joint {name}, measured"),
        ]
        if self.follows:
            rows += [
                Row("omega", "control.frequency", "parameter", "frequency with which errors decay", "rad/s",
                    start=10.0, above=0.0),
                Row("zeta", "control.damping_ratio", "parameter", "damping ratio of this decay", "1",
                    start=1.0, min=0.0),
                *self.passive_rows(),
                *self.armature_rows(),
                *self.coordinate_rows("input", "_reference", ", reference"),
                *self.joint_rows("input", "v_ref", RATE_REFERENCES, "{what} of joint {name}"),
                *self.joint_rows("input", "a_ref", ACCELERATION_REFERENCES, "{what} of joint {name}"),
            ]  # fmt: skip
        return (*rows, *self.joint_rows("output", "tau", FORCES, "{what} that joint {name} is to exert"))

    def initial(self, p: Array) -> tuple[Array, Array]:
        return np.zeros(0), np.zeros(0)

    def project(self, x: Array, d: Array, p: Array) -> Array:
        return x

    has_start = False
    event_names = ()  # type: ignore[assignment]
    event_notes = {}  # type: ignore[assignment]

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def drawing(self, value: Any) -> Drawing:
        return Drawing()

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        U, P = self.table.u(u), self.table.p(p)
        measured = (
            self.gathered(U, self.coordinate_rows("input")),
            self.gathered(U, self.joint_rows("input", "v", RATES)),
        )
        q, v = expanded(self.tree, self.followers, *measured)
        q = self._normalised(q)
        zero = 0.0 * v
        v_used, a, passive = zero, zero, zero
        if self.follows:
            q_ref = self.gathered(U, self.coordinate_rows("input", "_reference"))
            v_ref = self.gathered(U, self.joint_rows("input", "v_ref", RATE_REFERENCES))
            a_ref = self.gathered(U, self.joint_rows("input", "a_ref", ACCELERATION_REFERENCES))
            _, a_ref = expanded(self.tree, self.followers, q_ref, a_ref)
            q_ref, v_ref = expanded(self.tree, self.followers, q_ref, v_ref)
            q_ref = self._normalised(q_ref)
            v_used, a = v, a_ref + 2 * P.zeta * P.omega * (v_ref - v) + P.omega**2 * self._error(q, q_ref)
            passive, _, _ = passive_forces(self.tree, self.passive, self.stopped, q, v, P)
        frames = self.frames[0]
        up = np.stack([0.0 * P.gravity, 0.0 * P.gravity, P.gravity])
        tau = inverse_dynamics(frames, self.bodies(P), q, v_used, a, {}, up, np.zeros(3), np.zeros(3))
        rotors = armature(self.tree, P) if self.follows else {}
        if rotors:
            tau = tau + np.stack([rotors.get(rate, 0.0) * a[rate] for rate in range(len(a))])
        motors = collected(self.tree, self.followers, tau - passive)
        return self.table.y.pack(**self.spread(motors, self.joint_rows("output", "tau", FORCES)))

    def _normalised(self, q: Array) -> Array:
        """Coordinates whose quaternions have length one, whatever the inputs are."""
        parts = []
        for frame in self.frames[0]:
            if frame.motion == "ball":
                parts.append(unit_quaternion(q[frame.q : frame.q + 4]))
            elif frame.rates:
                parts.append(np.reshape(q[frame.q], (1,)))
        return np.concatenate(parts)

    def _error(self, q: Array, q_ref: Array) -> Array:
        """Error against the reference, one number for each rate."""
        parts = []
        for frame in self.frames[0]:
            if frame.motion == "ball":
                e, e_ref = q[frame.q : frame.q + 4], q_ref[frame.q : frame.q + 4]
                inverse = np.concatenate([np.reshape(e[0], (1,)), -e[1:4]])
                parts.append(rotation_vector(quaternion_product(inverse, e_ref)))
            elif frame.rates:
                parts.append(np.reshape(q_ref[frame.q] - q[frame.q], (1,)))
        return np.concatenate(parts)
