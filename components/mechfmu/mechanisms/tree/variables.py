"""The variables of a mechanism that is a tree of bodies.

The states are the coordinates of all joints, then their rates, then the energies' integrals; a moving base has 13 more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...model.energy import ENERGY_OUTPUTS, ENERGY_STATES
from ...model.mechanism import Mechanism
from ...model.variables import Role, Row
from ...multibody.following import follow
from ...multibody.frames import Frame
from ...multibody.tree import MOTIONS, BodyTree, Joint
from .contacts import GROUND_ROWS, contact_rows
from .sensors import frame_rows

XYZ = "xyz"
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
UPRIGHT = (1.0, 0.0, 0.0, 0.0)  # the quaternion of no rotation

# Names and units of quantities that go with the rates of a joint, for turns (rad) and slides (m)
Words = Mapping[str, tuple[str, str]]
RATES: Words = {"rad": ("rate", "rad/s"), "m": ("speed", "m/s")}
START_RATES: Words = {"rad": ("rate_start", "rad/s"), "m": ("speed_start", "m/s")}
ACCELERATIONS: Words = {"rad": ("acceleration", "rad/s2"), "m": ("acceleration", "m/s2")}
FORCES: Words = {"rad": ("torque", "N.m"), "m": ("force", "N")}


class TreeVariables(Mechanism):
    """A tree with its table; TreeMechanism adds the equations."""

    moving = False  # the base follows acceleration inputs
    elastic_stops = False  # joints with limits are held back there
    limited_effort = False  # motors with an effort do no more than that
    has_start = True  # the start of the joints is a set of parameters
    start_coordinates: Mapping[str, float | tuple[float, ...]] = {}  # start values other than zero, by joint
    start_rates: Mapping[str, float | tuple[float, ...]] = {}
    tip_offset: tuple[float, ...] = (0.0, 0.0, 0.0)  # of the tip in the frame of the last body

    @property
    @abstractmethod
    def tree(self) -> BodyTree:
        """The tree, checked."""

    def body_label(self, i: int) -> str:
        return self.tree.bodies[i].name

    def joint_label(self, j: int) -> str:
        return self.tree.joints[j].name

    @property
    def nq(self) -> int:
        """Coordinates that are states: those of joints that follow no other."""
        return sum(j.coordinates for j in self.tree.joints if not j.mimic)

    @property
    def counts_energy(self) -> bool:
        return bool(self.options.get("energy", "on") == "on")

    @property
    def nv(self) -> int:
        return sum(j.rates for j in self.tree.joints if not j.mimic)

    @property
    def frame_labels(self) -> list[str]:
        """Names of the frames of sensors; one that a joint, the tip or the base has already gets the suffix _frame."""
        return self._free_labels([point.name for point in self.tree.points], "_frame")

    @property
    def contact_labels(self) -> list[str]:
        """Names of the spheres that touch the ground; likewise, with the suffix _contact."""
        return self._free_labels([sphere.name for sphere in self.tree.contacts], "_contact")

    def _free_labels(self, names: list[str], suffix: str) -> list[str]:
        taken = {"tip", "base", *(self.joint_label(j) for j in self.movable)}
        return [f"{name}{suffix}" if name in taken else name for name in names]

    # --- bodies and joints of a kind, by number -----------------------------------------------------------------------

    @cached_property
    def frames(self) -> tuple[list[Frame], list[int], list[np.ndarray]]:
        """As `BodyTree.frames`."""
        return self.tree.frames()

    @cached_property
    def massive(self) -> list[int]:
        """Bodies with mass or inertia: the others are only frames, and have no parameters."""
        return [i for i, b in enumerate(self.tree.bodies) if b.mass > 0 or any(b.inertia)]

    @cached_property
    def movable(self) -> list[int]:
        """Joints that are not fixed."""
        return [j for j, joint in enumerate(self.tree.joints) if joint.rates]

    @cached_property
    def followers(self) -> dict[int, tuple[int, float, float]]:
        """Joints that follow another: the joint that they follow, multiplier and offset."""
        return follow(self.tree.joints)

    @cached_property
    def independent(self) -> list[int]:
        """Joints that move and follow no other: their coordinates and rates are states, their motors inputs."""
        return [j for j in self.movable if j not in self.followers]

    @cached_property
    def limited(self) -> list[int]:
        """Joints whose motor cannot do more than the effort of the description."""
        if not self.limited_effort:
            return []
        return [j for j in self.independent if self.tree.joints[j].rates == 1 and self.tree.joints[j].effort]

    @cached_property
    def passive(self) -> list[int]:
        """Joints with spring, damper and friction: all movable joints except free ones."""
        return [j for j in self.movable if self.tree.joints[j].kind != "free"]

    @cached_property
    def stopped(self) -> list[int]:
        """Joints with an elastic stop."""
        if not self.elastic_stops:
            return []
        joints = self.tree.joints
        return [j for j in self.passive if joints[j].rates == 1 and (joints[j].lower, joints[j].upper) != (None, None)]

    @cached_property
    def balls(self) -> list[int]:
        """Joints with a quaternion."""
        return [j for j, joint in enumerate(self.tree.joints) if joint.kind in ("spherical", "free")]

    @cached_property
    def angled(self) -> list[int]:
        """Joints with Euler or Cardan angles."""
        kinds = ("euler_zxz", "cardan_xyz", "cardan_zyx")
        return [j for j, joint in enumerate(self.tree.joints) if joint.kind in kinds]

    @cached_property
    def touching(self) -> tuple[list[int], list[np.ndarray]]:
        """For each sphere that touches the ground, the frame of its body and the rotation to the body's own axes."""
        _, at, turns = self.frames
        number = {body.name: i for i, body in enumerate(self.tree.bodies)}
        bodies = [number[sphere.body] for sphere in self.tree.contacts]
        return [at[i] for i in bodies], [turns[i] for i in bodies]

    # --- the table ----------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Row, ...]:
        return (*self._parameter_rows(), *self._input_rows(), *self._state_rows(), *self._output_rows())

    def _parameter_rows(self) -> list[Row]:
        tip = f"of the tip in the frame of body {self.body_label(-1)}"
        return [
            Row(
                "gravity", "gravity", "parameter", "acceleration of gravity, along -z", "m/s2", start=self.tree.gravity
            ),
            *self.body_rows(),
            *self.passive_rows(),
            *self.armature_rows(),
            *self.coordinate_rows("parameter", "_start", " at the start"),
            *self.joint_rows("parameter", "v_start", START_RATES, "{what} of joint {name}"),
            *(STOP_ROWS if self.stopped else ()),
            *_vector_rows("tip_offset_", "tip.offset_", "parameter", tip, "m", self.tip_offset),
            *(GROUND_ROWS if self.tree.contacts else ()),
        ]

    def _input_rows(self) -> list[Row]:
        force, moment = "force on the tip", "moment on the last body"
        rows = [
            *self.motor_rows(),
            *_vector_rows("tip_f", "tip.force_", "input", f"component of the {force}, world axes", "N"),
            *_vector_rows("tip_m", "tip.moment_", "input", f"component of the {moment}, world axes", "N.m"),
        ]
        if self.moving:
            of_base = "acceleration of the base, world axes"
            rows += _vector_rows("base_a", "base.acceleration_", "input", of_base, "m/s2")
            rows += _vector_rows("base_eps", "base.angular_acceleration_", "input", f"angular {of_base}", "rad/s2")
        return rows

    def _state_rows(self) -> list[Row]:
        rows = [*self.coordinate_rows(), *self.joint_rows("state", "v", RATES, "{what} of joint {name}")]
        if self.moving:
            orientation = "orientation of the base, element {k} of w, x, y, z"
            rows += _vector_rows("base_r", "base.", "state", "position of the base", "m")
            rows.append(Row("base_e", "base.quaternion[{k}]", "state", orientation, "1", size=4))
            rows += _vector_rows("base_v", "base.velocity_", "state", "velocity of the base", "m/s")
            rows += _vector_rows("base_w", "base.rate_", "state", "angular velocity of the base, world axes", "rad/s")
        return [*rows, *(ENERGY_STATES if self.counts_energy else ())]

    def _output_rows(self) -> list[Row]:
        followers = list(self.followers)
        rows = [
            *self.coordinate_rows("output", joints=followers),
            *self.joint_rows("output", "v", RATES, "{what} of joint {name}", followers),
            *self.joint_rows("output", "vdot", ACCELERATIONS, "{what} of joint {name}", self.movable),
        ]
        for j in self.balls:
            name = self.joint_label(j)
            text = f"Euler angle {{k}} (z, x, z) of joint {name}"
            rows.append(Row(f"angles_{j}", f"{name}.angle[{{k}}]", "output", text, "rad", 3))
        between = "of the inboard on the outboard body"
        for symbol, word, text, unit in (
            ("f", "force", f"force {between}, world axes", "N"),
            ("m", "moment", f"moment {between} about the joint, world axes", "N.m"),
        ):
            for a in XYZ:
                names = tuple(f"{self.joint_label(j)}.{word}_{a}" for j in self.movable)
                rows.append(Row(f"joint_{symbol}{a}", names, "output", f"{a} {text}", unit, len(names)))
        orientation = "orientation of the last body, element {k} of w, x, y, z"
        singularity = "smallest |sin phi_2| of the joints with Euler angles; 1 when there are none"
        momentum = "angular momentum about the vertical through the origin"
        return [
            *rows,
            *_vector_rows("tip_", "tip.", "output", "position of the tip", "m"),
            Row("tip_e", "tip.quaternion[{k}]", "output", orientation, "1", size=4),
            *_vector_rows("tip_v", "tip.velocity_", "output", "velocity of the tip", "m/s"),
            *_vector_rows("tip_w", "tip.rate_", "output", "angular velocity of the last body, world axes", "rad/s"),
            Row("H", "momentum.vertical", "output", momentum, "kg.m2/s"),
            Row("singularity", "singularity", "output", singularity, "1"),
            *(ENERGY_OUTPUTS if self.counts_energy else ()),
            *frame_rows(self.tree.points, self.frame_labels),
            *contact_rows(self.contact_labels),
        ]

    # --- rows by body and joint ---------------------------------------------------------------------------------------

    def body_rows(self) -> list[Row]:
        """Masses, inertias and mass centres."""
        bodies = [self.tree.bodies[i] for i in self.massive]
        labels = [self.body_label(i) for i in self.massive]

        def row(symbol: str, suffix: str, text: str, unit: str, values: list[float], above: float | None = None) -> Row:
            names = tuple(f"{name}.{suffix}" for name in labels)
            return Row(symbol, names, "parameter", text, unit, len(bodies), tuple(values), above=above)

        about = "inertia about the mass centre, body axes"
        masses = row("m", "mass", "mass", "kg", [b.mass for b in bodies], above=0.0)
        if not all(b.mass > 0 for b in bodies):
            masses = replace(masses, above=None, min=0.0)
        return [
            masses,
            *(
                row(f"J{s}", f"inertia_{s}", about, "kg.m2", [b.inertia[i] for b in bodies])
                for i, s in enumerate(INERTIA)
            ),
            *(
                row(f"c{a}", f"com_{a}", f"{a} of the mass centre in the body's frame", "m", [b.com[i] for b in bodies])
                for i, a in enumerate(XYZ)
            ),
        ]

    def passive_rows(self) -> list[Row]:
        """Springs, dampers and friction."""
        rows = []
        for j in self.passive:
            joint, name = self.tree.joints[j], self.joint_label(j)
            turning = _units(joint)[0] == "rad"
            stiffness, damping, force, speed = (
                ("N.m/rad", "N.m.s/rad", "N.m", "rad/s") if turning else ("N/m", "N.s/m", "N", "m/s")
            )
            for symbol, word, text, unit, start in (
                ("k", "stiffness", f"stiffness of the spring in joint {name}", stiffness, joint.stiffness),
                ("d", "damping", f"viscous damping in joint {name}", damping, joint.damping),
                ("tc", "friction", f"dry friction in joint {name}", force, joint.friction),
            ):
                rows.append(Row(f"{symbol}_{j}", f"{name}.{word}", "parameter", text, unit, start=start, min=0.0))
            text = f"rate at which the dry friction in joint {name} reaches 76 percent"
            symbol, word, start = f"vs_{j}", f"{name}.friction_speed", joint.friction_speed
            rows.append(Row(symbol, word, "parameter", text, speed, start=start, above=0.0))
            if joint.kind != "spherical":
                word = "rest" if joint.rates > 1 else f"rest_{'angle' if turning else 'position'}"
                text = f"where the spring in joint {name} is relaxed"
                rows.append(Row(f"rest_{j}", f"{name}.{word}", "parameter", text, _units(joint)[0], start=joint.rest))
        return rows

    def armature_rows(self) -> list[Row]:
        """Inertias of rotors, of joints that have one."""
        rows = []
        for j in self.movable:
            joint, name = self.tree.joints[j], self.joint_label(j)
            if joint.armature:
                unit = "kg" if _units(joint)[0] == "m" else "kg.m2"
                text = f"inertia of the motor's rotor seen from joint {name}"
                rows.append(Row(f"I_{j}", f"{name}.armature", "parameter", text, unit, start=joint.armature, min=0.0))
        return rows

    def coordinate_rows(
        self, role: Role = "state", suffix: str = "", when: str = "", joints: Sequence[int] | None = None
    ) -> list[Row]:
        """Angles, lengths and quaternions of the joints: the states, or what goes with them, such as start values.

        joints: those that follow no other, unless given.
        """
        rows = []
        for j in self.independent if joints is None else joints:
            joint, name = self.tree.joints[j], self.joint_label(j)
            plain = _units(joint, quaternions=False)
            for unit, word in (("m", "position"), ("rad", "angle")):
                count = plain.count(unit)
                if count == 0:
                    continue
                index, number = ("[{k}]", " {k}") if count > 1 else ("", "")
                symbol, text = f"{word}{suffix}_{j}", f"{word}{number} of joint {name}{when}"
                row = Row(symbol, f"{name}.{word}{suffix}{index}", role, text, unit, count if count > 1 else None)
                if role == "parameter":
                    row = replace(row, start=self.start_coordinates.get(name, _start_coordinate(joint)))
                if joint.rates == 1 and role != "input":
                    row = replace(row, min=joint.lower, max=joint.upper)
                rows.append(row)
            if j in self.balls:
                unset = "; four zeros count as 1, 0, 0, 0" if role == "input" else ""
                text = f"orientation of joint {name}{when}, element {{k}} of w, x, y, z{unset}"
                start = {"parameter": self.start_coordinates.get(name, UPRIGHT), "input": UPRIGHT}.get(role, 0.0)
                name = f"{name}.quaternion{suffix}[{{k}}]"
                rows.append(Row(f"e{suffix}_{j}", name, role, text, "1", size=4, start=start))
        return rows

    def joint_rows(
        self, role: Role, symbol: str, words: Words, text: str = "", joints: Sequence[int] | None = None
    ) -> list[Row]:
        """One row per joint and unit for quantities that go with the rates.

        joints: those that follow no other, unless given.
        """
        rows = []
        for j in self.independent if joints is None else joints:
            joint, name = self.tree.joints[j], self.joint_label(j)
            units = _rate_units(joint)
            for unit in dict.fromkeys(units):
                count = units.count(unit)
                word, own_unit = words[unit]
                index = "[{k}]" if count > 1 else ""
                both = len(set(units)) > 1 and words["rad"][0] == words["m"][0]  # slides and turns under one word
                word = f"{'linear' if unit == 'm' else 'angular'}_{word}" if both else word
                meaning = text.format(what=word.replace("_", " "), name=name) + (", axis {k}" if count > 1 else "")
                size = count if count > 1 else None
                row = Row(f"{symbol}_{j}_{unit}", f"{name}.{word}{index}", role, meaning, own_unit, size)
                if role == "parameter" and len(set(units)) == 1:
                    row = replace(row, start=self.start_rates.get(name, 0.0))
                rows.append(row)
        return rows

    def motor_rows(self) -> list[Row]:
        """The motors' inputs, in the order of the rates of joints that follow no other."""
        rows = self.joint_rows("input", "tau", FORCES, "motor {what} in joint {name}")
        limits = [self.input_limits.get(str(row.name)) for row in rows]
        return [
            replace(row, description=f"{row.description}; more than {limit:g} {row.unit} has no effect")
            if limit
            else row
            for row, limit in zip(rows, limits, strict=True)
        ]

    @property
    def input_limits(self) -> Mapping[str, float]:
        joints = [self.tree.joints[j] for j in self.limited]
        return {f"{joint.name}.{FORCES[_rate_units(joint)[0]][0]}": float(joint.effort or 0.0) for joint in joints}


STOP_ROWS = (
    Row("k_stop", "stops.stiffness", "parameter", "stiffness of the stops at the joints' limits, per rad or m",
        "N.m/rad", start=1e4, above=0.0),
    Row("c_stop", "stops.dissipation", "parameter",
        "how much harder a stop pushes against motion into it than out of it", "s", start=0.1, min=0.0),
)  # fmt: skip


def _vector_rows(
    symbol: str, name: str, role: Role, text: str, unit: str, starts: Sequence[float] = (0.0, 0.0, 0.0)
) -> list[Row]:
    """x, y and z of a vector."""
    return [
        Row(f"{symbol}{a}", f"{name}{a}", role, f"{a} {text}", unit, start=start)
        for a, start in zip(XYZ, starts, strict=True)
    ]


def start_symbol(symbol: str) -> str:
    """The symbol of a coordinate's start value."""
    word, _, number = symbol.rpartition("_")
    return f"{word}_start_{number}"


def _start_coordinate(joint: Joint) -> float | tuple[float, ...]:
    """Zero, or the nearest value within the limits; z-x-z angles start furthest from their singularity."""
    if joint.kind == "euler_zxz":
        return (0.0, np.pi / 2, 0.0)
    if joint.rates > 1:
        return 0.0
    lower = -np.inf if joint.lower is None else joint.lower
    upper = np.inf if joint.upper is None else joint.upper
    return float(np.clip(0.0, lower, upper))


def _units(joint: Joint, quaternions: bool = True) -> list[str]:
    """The units of a joint's coordinates; the four of a quaternion are optional."""
    units = []
    for motion, _ in MOTIONS[joint.kind]:
        units += {"turn": ["rad"], "slide": ["m"], "ball": ["1"] * 4 if quaternions else []}.get(motion, [])
    return ["rad"] if joint.kind == "spherical" and quaternions else units


def _rate_units(joint: Joint) -> list[str]:
    """rad or m for each rate: the unit of its integral."""
    units = {"turn": ["rad"], "slide": ["m"], "ball": ["rad"] * 3}
    return [unit for motion, _ in MOTIONS[joint.kind] for unit in units.get(motion, [])]
