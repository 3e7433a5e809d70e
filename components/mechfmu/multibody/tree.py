"""A tree of bodies and joints: plain data, checked, and its translation into frames and elementary motions.

A body's frame is where its joint puts it: origin in the joint point, axes turned with the body. A joint is placed in
the frame of its parent body (or of the base) at `position` with the axes `rotation`; revolute, prismatic and
cylindrical joints move about or along `axis`, the other kinds about and along the coordinate axes of the joint.

    kind            motions                                coordinates                  rates
    fixed           -                                      -                            -
    revolute        turn about the axis                    angle                        its derivative
    prismatic       slide along the axis                   length                       its derivative
    cylindrical     slide along the axis, turn about it    length, angle                derivatives
    universal       turns about x, y                       two angles                   derivatives
    planar          slides along x, y, turn about z        two lengths, angle           derivatives
    euler_zxz, cardan_xyz, cardan_zyx                      three angles                 derivatives
    spherical       ball                                   quaternion (w, x, y, z)      angular velocity, child axes
    free            slides along x, y, z, ball             three lengths, quaternion    derivatives, angular velocity
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from .attachments import IDENTITY, ContactSphere, FramePoint, attachment_fault
from .coupled_bodies import Member, coupling_cost
from .elementary_motions import KINDS
from .following import follow
from .frames import BASE, Frame, MotionKind
from .massless_joints import massless_joints
from .mobility import inertia_matrix, singular_frame
from .rigid_groups import impossible_inertias
from .surface import surface_of
from .tree_error import TreeError as TreeError  # others take it from here

MOTIONS: dict[str, tuple[tuple[MotionKind, int | None], ...]] = {  # (motion, axis); None: the joint's own axis
    "fixed": (("fixed", 2),),
    "revolute": (("turn", None),),
    "prismatic": (("slide", None),),
    "cylindrical": (("slide", None), ("turn", None)),
    "universal": (("turn", 0), ("turn", 1)),
    "planar": (("slide", 0), ("slide", 1), ("turn", 2)),
    "euler_zxz": (("turn", 2), ("turn", 0), ("turn", 2)),
    "cardan_xyz": (("turn", 0), ("turn", 1), ("turn", 2)),
    "cardan_zyx": (("turn", 2), ("turn", 1), ("turn", 0)),
    "spherical": (("ball", 2),),
    "free": (("slide", 0), ("slide", 1), ("slide", 2), ("ball", 2)),
}

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ \[\]]*")
COLOUR = re.compile(r"#[0-9a-f]{6}")
NAME_RULE = "a name is made of letters, digits, underscores, spaces and [], and begins with a letter or underscore"
SIZES = {"box": 3, "cylinder": 2, "sphere": 1, "mesh": 3}  # kinds of shapes, and the numbers that size them
MAX_COUPLING = 100_000  # of coupling_cost; hands and grippers have some hundred
GRAVITY = 9.81  # m/s2
ADDED_LATER = {"mimic": "", "multiplier": 1.0, "offset": 0.0, "armature": 0.0}  # not in the JSON unless they are used


@dataclass(frozen=True)
class Body:
    """A rigid body. Its frame is the moving frame of its joint."""

    name: str
    mass: float = 0.0  # kg
    com: tuple[float, ...] = (0.0, 0.0, 0.0)  # m, mass centre in the body's frame
    inertia: tuple[float, ...] = (0.0,) * 6  # kg m2, about the mass centre in the body's axes: xx, yy, zz, xy, xz, yz


@dataclass(frozen=True)
class Joint:
    """Carries the body `child`.

    Stiffness, damping and friction act on every rate of the joint alike; limits on its one coordinate.
    """

    name: str
    kind: str
    child: str
    parent: str = ""  # a body; empty: the base
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = IDENTITY  # rows one after the other: joint components to parent components
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    friction_speed: float = 0.1
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    mimic: str = ""  # the joint that it follows: q = multiplier * q of that joint + offset
    multiplier: float = 1.0
    offset: float = 0.0
    armature: float = 0.0  # inertia of the rotor seen from the joint, kg m2 or kg

    @property
    def coordinates(self) -> int:
        return sum(KINDS[motion].coordinates for motion, _ in MOTIONS[self.kind])

    @property
    def rates(self) -> int:
        return sum(KINDS[motion].rates for motion, _ in MOTIONS[self.kind])


@dataclass(frozen=True)
class BodyShape:
    """A shape for the drawing of a body; it has no effect on the dynamics.

    kind and size as in model/drawing.py; position and rotation in the body's frame.
    """

    body: str  # empty: the base
    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: tuple[float, ...]
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = IDENTITY
    colour: str = ""  # "#rrggbb"; empty: that of the body
    mesh: str = ""  # the triangles of a mesh, see surface.py


@dataclass(frozen=True)
class BodyTree:
    """bodies[i] hangs by joints[i]; parents come before their children."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    shapes: tuple[BodyShape, ...] = ()
    points: tuple[FramePoint, ...] = ()
    contacts: tuple[ContactSphere, ...] = ()
    gravity: float = GRAVITY  # m/s2, the start value of the parameter

    def __repr__(self) -> str:
        free = sum(j.rates for j in self.joints if not j.mimic)
        counts = f"{len(self.bodies)} bodies, {free} degrees of freedom"
        return f"<Tree {self.name}: {counts}, {len(self.shapes)} shapes>"

    def to_json(self) -> str:
        fields = asdict(self)
        for key in ("shapes", "points", "contacts"):
            if not fields[key]:
                del fields[key]
        if self.gravity == GRAVITY:
            del fields["gravity"]
        for joint in fields["joints"]:
            for key, default in ADDED_LATER.items():
                if joint[key] == default:
                    del joint[key]
        for shape in fields.get("shapes", ()):
            for key in ("colour", "mesh"):
                if not shape[key]:
                    del shape[key]
        return json.dumps(fields, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> BodyTree:
        data = {"shapes": [], "points": [], "contacts": []} | json.loads(text)

        def made(cls: Any, fields: dict[str, Any]) -> Any:
            return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})

        kinds = {"bodies": Body, "joints": Joint, "shapes": BodyShape, "points": FramePoint, "contacts": ContactSphere}
        parts: dict[str, Any] = {key: tuple(made(cls, x) for x in data[key]) for key, cls in kinds.items()}
        return BodyTree(data["name"], **parts, gravity=float(data.get("gravity", GRAVITY)))

    def check(self, inertia: str = "refuse") -> None:
        """TreeError unless the bodies and joints form a tree and are physically possible.

        inertia: refuse impossible inertias, or, with warn, take them as they are.
        """
        if not self.bodies:
            raise TreeError("there is no body")
        if not 0.0 <= self.gravity < np.inf:
            raise TreeError(f"gravity {self.gravity:g} m/s2: must be finite and not negative")
        for what, names in (("body", [b.name for b in self.bodies]), ("joint", [j.name for j in self.joints])):
            name, count = Counter(names).most_common(1)[0] if names else ("", 0)
            if count > 1:
                raise TreeError(f"{what} {name}: there are two of this name")
            for name in names:
                if not NAME.fullmatch(name):
                    raise TreeError(f"{what} {name!r}: {NAME_RULE}")
        if [j.child for j in self.joints] != [b.name for b in self.bodies]:
            raise TreeError("every body must hang by one joint, in the same order")
        known = {""}
        for joint, body in zip(self.joints, self.bodies, strict=True):
            if joint.kind not in MOTIONS:
                raise TreeError(f"joint {joint.name}: unknown kind {joint.kind} (known: {', '.join(MOTIONS)})")
            if joint.parent not in known:
                raise TreeError(f"joint {joint.name}: its parent {joint.parent} does not come before it")
            known.add(body.name)
            _check_joint(joint)
            _check_body(body)
        if not any(joint.rates for joint in self.joints):
            raise TreeError("no joint of the tree can move: every joint is fixed")
        self._check_coupling()
        for impossible in impossible_inertias(self) if inertia == "refuse" else ():
            ways = "--inertia warn takes it as it is, --inertia repair takes the nearest possible one"
            raise TreeError(f"body {self.bodies[impossible.body].name}: {impossible.text}; {ways}")
        self._check_moved_mass()
        self._check_mobility()
        for shape in self.shapes:
            _check_shape(shape, known)
        self._check_attachments(known)

    def _check_attachments(self, bodies: set[str]) -> None:
        """Frames and contact spheres are on bodies that exist."""
        for what, names in (("frame", [p.name for p in self.points]), ("contact", [c.name for c in self.contacts])):
            for name in names:
                if not NAME.fullmatch(name):
                    raise TreeError(f"{what} {name!r}: {NAME_RULE}")
        if fault := attachment_fault(self.points, self.contacts, bodies):
            raise TreeError(fault)

    def _check_coupling(self) -> None:
        """Limit how many joints follow others across the tree: the equations would become too long."""
        if follow(self.joints):
            frames, at, _ = self.frames()
            if coupling_cost(frames, self.members(at)) > MAX_COUPLING:
                raise TreeError("too many joints follow others across too much of the tree")

    def _check_moved_mass(self) -> None:
        """Every joint that can move must move mass, or a rotor; joints that are coupled, together."""
        for leader, *others in massless_joints(self, follow(self.joints)):
            joint = self.joints[leader]
            following = f" and so do the {len(others)} joints that follow it" if others else ""
            raise TreeError(
                f"joint {joint.name} moves{following}, but neither its body {joint.child} nor anything outboard of it "
                "has mass; --inertia warn holds it still"
            )

    def _check_mobility(self) -> None:
        """Every joint that can move must have inertia against its motion, somewhere at least."""
        frames, at, turns = self.frames()
        inertias = []
        for body, W in zip(self.bodies, turns, strict=True):
            xx, yy, zz, xy, xz, yz = body.inertia
            J = W.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ W
            inertias.append(inertia_matrix(body.mass, W.T @ np.array(body.com), J))
        frame = singular_frame(frames, inertias, self.armature(frames, at), self.members(at))
        if frame is not None:
            joint = next(joint for joint, last in zip(self.joints, at, strict=True) if frame <= last)
            raise TreeError(
                f"joint {joint.name}: nothing resists its motion wherever the tree is: what it carries has its mass on "
                "the joint's axis and no inertia about it, or another joint does the same with no inertia between them"
            )

    def members(self, at: list[int]) -> dict[int, Member]:
        """The motions of joints that follow others and of those that lead them, by frame; `at`: of `frames`."""
        found: dict[int, Member] = {}
        for j, (leader, multiplier, _) in follow(self.joints).items():
            found[at[leader]] = Member(at[leader], 1.0)
            found[at[j]] = Member(at[leader], multiplier)
        return found

    def armature(self, frames: list[Frame], at: list[int]) -> dict[int, float]:
        """The inertias of the rotors, by rate."""
        first = [0, *(k + 1 for k in at)]
        return {
            rate: joint.armature
            for j, joint in enumerate(self.joints)
            if joint.armature
            for frame in frames[first[j] : at[j] + 1]
            for rate in range(frame.v, frame.v + frame.rates)
        }

    def frames(self) -> tuple[list[Frame], list[int], list[np.ndarray]]:
        """Frames and motions; the frame of each body; the rotation W from that frame's axes to the body's own axes.

        A joint about a skew axis turns about z of a frame of its own, so that all motions are about coordinate axes.
        """
        frames: list[Frame] = []
        at: dict[str, int] = {"": BASE}
        turn: dict[str, np.ndarray] = {"": np.eye(3)}
        q = v = 0
        for i, joint in enumerate(self.joints):
            motions = MOTIONS[joint.kind]
            has_axis = any(axis is None for _, axis in motions)
            W, own_axis = _aligned(np.array(joint.axis)) if has_axis else (np.eye(3), 2)
            outer = turn[joint.parent]
            placement = outer.T @ np.reshape(joint.rotation, (3, 3)) @ W, outer.T @ np.array(joint.position)
            parent = at[joint.parent]
            for number, (motion, axis) in enumerate(motions):
                R0, r = placement if number == 0 else (np.eye(3), np.zeros(3))
                along = own_axis if axis is None else axis
                body = i if number == len(motions) - 1 else None
                frames.append(Frame(parent, _clean(R0), _clean(r), motion, along, q, v, body))
                parent = len(frames) - 1
                q += KINDS[motion].coordinates
                v += frames[-1].rates
            at[joint.child], turn[joint.child] = parent, W
        return frames, [at[b.name] for b in self.bodies], [turn[b.name] for b in self.bodies]


def _aligned(axis: np.ndarray) -> tuple[np.ndarray, int]:
    """A rotation W and a coordinate axis k with W e_k = axis; for coordinate axes W has only zeros and ones."""
    axis = axis / np.linalg.norm(axis)
    k = int(np.argmax(np.abs(axis)))
    if np.isclose(axis[k], 1.0, rtol=0, atol=1e-12):
        return np.eye(3), k
    if np.isclose(axis[k], -1.0, rtol=0, atol=1e-12):
        return np.diag([-1.0 if i in (k, (k + 1) % 3) else 1.0 for i in range(3)]), k
    x = np.cross(np.eye(3)[(k + 1) % 3], axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1), 2


def _clean(a: np.ndarray) -> np.ndarray:
    """Rounding noise of products of rotations would cost operations: -1e-17 becomes 0, 0.9999999999999999 becomes 1."""
    rounded = np.round(a)
    return np.where(np.abs(a - rounded) < 1e-14, rounded, a) + 0.0


def _check_joint(joint: Joint) -> None:
    _check_lengths(
        f"joint {joint.name}", position=(joint.position, 3), rotation=(joint.rotation, 9), axis=(joint.axis, 3)
    )
    numbers = [*joint.position, *joint.rotation, *joint.axis, joint.stiffness, joint.rest, joint.damping]
    numbers += [joint.multiplier, joint.offset, joint.armature]
    optional = (joint.friction, joint.friction_speed, joint.lower, joint.upper, joint.effort)
    numbers += [x for x in optional if x is not None]
    if not np.all(np.isfinite(numbers)):
        raise TreeError(f"joint {joint.name}: a number is not finite")
    R = np.reshape(joint.rotation, (3, 3))
    if not np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-9) or np.linalg.det(R) < 0:
        raise TreeError(f"joint {joint.name}: its rotation is not a rotation matrix")
    if joint.kind in ("revolute", "prismatic", "cylindrical") and not np.linalg.norm(joint.axis) > 1e-9:
        raise TreeError(f"joint {joint.name}: its axis is zero")
    for name in ("stiffness", "damping", "friction", "armature", "effort"):
        if (getattr(joint, name) or 0.0) < 0:
            raise TreeError(f"joint {joint.name}: {name} {getattr(joint, name):g} is negative")
    for name in ("stiffness", "damping", "friction"):
        if joint.kind == "free" and getattr(joint, name):
            raise TreeError(f"joint {joint.name}: a free joint has no {name}")
    if not joint.friction_speed > 0:
        raise TreeError(f"joint {joint.name}: friction_speed {joint.friction_speed:g} must be greater than 0")
    if joint.lower is not None and joint.upper is not None and joint.lower > joint.upper:
        raise TreeError(f"joint {joint.name}: its lower limit {joint.lower:g} is above its upper limit {joint.upper:g}")


def _check_body(body: Body) -> None:
    _check_lengths(f"body {body.name}", com=(body.com, 3), inertia=(body.inertia, 6))
    if not np.all(np.isfinite([body.mass, *body.com, *body.inertia])):
        raise TreeError(f"body {body.name}: a number is not finite")
    if body.mass < 0:
        raise TreeError(f"body {body.name}: mass {body.mass:g} is negative")


def _check_shape(shape: BodyShape, bodies: set[str]) -> None:
    if shape.body not in bodies or shape.kind not in SIZES:
        kinds = ", ".join(SIZES)
        raise TreeError(f"a shape of body {shape.body}: there is no such body, or its kind is none of {kinds}")
    what = f"body {shape.body}: a {shape.kind}"
    if shape.colour and not COLOUR.fullmatch(shape.colour):
        raise TreeError(f"{what}: its colour must be #rrggbb")
    lengths = {
        "size": (shape.size, SIZES[shape.kind]),
        "position": (shape.position, 3),
        "rotation": (shape.rotation, 9),
    }
    _check_lengths(what, **lengths)
    if not np.all(np.isfinite([*shape.size, *shape.position, *shape.rotation])) or not min(shape.size) >= 0:
        raise TreeError(f"{what}: its numbers must be finite, its size not negative")
    if shape.kind == "mesh":
        try:
            surface_of(shape.mesh, shape.size)
        except ValueError as error:
            raise TreeError(f"{what}: its triangles: the text {error}") from None
    elif shape.mesh:
        raise TreeError(f"{what}: only a shape of kind mesh has triangles")


def _check_lengths(what: str, **lists: tuple[tuple[float, ...], int]) -> None:
    for name, (numbers, count) in lists.items():
        if len(numbers) != count:
            raise TreeError(f"{what}: {name} must be {count} numbers")
