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
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from .elementary_motions import KINDS
from .frames import BASE, Frame, MotionKind
from .mobility import inertia_matrix, singular_frame

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
NAME_RULE = "a name is made of letters, digits, underscores, spaces and [], and begins with a letter or underscore"
SIZES = {"box": 3, "cylinder": 2, "sphere": 1}  # kinds of shapes, and the numbers that size them
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class TreeError(ValueError):
    """An impossible tree; the message names the element."""


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
    mimic: str = ""  # name of the joint it follows: coordinate = multiplier * that of the other + offset
    multiplier: float = 1.0
    offset: float = 0.0
    armature: float = 0.0  # reflected rotor inertia, kg m2 or kg

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
    kind: Literal["box", "cylinder", "sphere"]
    size: tuple[float, ...]
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = IDENTITY


@dataclass(frozen=True)
class FramePoint:
    """A frame on a body that can be asked for."""

    name: str
    body: str  # empty: the base
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = IDENTITY


@dataclass(frozen=True)
class ContactSphere:
    """A sphere on a body that can touch the ground."""

    name: str
    body: str
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    radius: float = 0.0


@dataclass(frozen=True)
class BodyTree:
    """bodies[i] hangs by joints[i]; parents come before their children."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    shapes: tuple[BodyShape, ...] = ()
    points: tuple[FramePoint, ...] = ()
    contacts: tuple[ContactSphere, ...] = ()

    def __repr__(self) -> str:
        counts = f"{len(self.bodies)} bodies, {sum(j.rates for j in self.joints)} degrees of freedom"
        return f"<Tree {self.name}: {counts}, {len(self.shapes)} shapes>"

    def to_json(self) -> str:
        """Fields that came later are left out where they have their default, so that older trees keep their text."""
        fields = asdict(self)
        for key in ("shapes", "points", "contacts"):
            if not fields[key]:
                del fields[key]
        for joint in fields["joints"]:
            for key in ("mimic", "multiplier", "offset", "armature"):
                if joint[key] == getattr(Joint, key):
                    del joint[key]
        return json.dumps(fields, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> BodyTree:
        data = json.loads(text)

        def made(cls: Any, things: list[dict[str, Any]]) -> Any:
            return tuple(cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in x.items()}) for x in things)

        kinds = {"shapes": BodyShape, "points": FramePoint, "contacts": ContactSphere}
        parts = (made(cls, data.get(key, [])) for key, cls in kinds.items())
        return BodyTree(data["name"], made(Body, data["bodies"]), made(Joint, data["joints"]), *parts)

    def check(self) -> None:
        """TreeError unless the bodies and joints form a tree and are physically possible."""
        if not self.bodies:
            raise TreeError("there is no body")
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
        self._check_mimics()
        if not any(joint.rates for joint in self.joints):
            raise TreeError("no joint of the tree can move: every joint is fixed")
        self._check_moved_mass()
        self._check_mobility()
        for shape in self.shapes:
            _check_shape(shape, known)
        _check_places(self.points, self.contacts, known)

    def _check_mimics(self) -> None:
        """A joint that follows another one has one coordinate, like that one, and they do not follow in a circle."""
        by_name = {joint.name: joint for joint in self.joints}
        for joint in self.joints:
            seen, at = [joint.name], joint
            while at.mimic:
                if at.mimic not in by_name:
                    raise TreeError(f"joint {at.name}: it follows joint {at.mimic}, which does not exist")
                if at.rates != 1 or by_name[at.mimic].rates != 1:
                    raise TreeError(f"joint {at.name}: it follows joint {at.mimic}; both must have one coordinate")
                if at.mimic in seen:
                    raise TreeError(f"joint {joint.name}: it follows itself: {' -> '.join([*seen, at.mimic])}")
                at = by_name[at.mimic]
                seen.append(at.name)

    def _check_moved_mass(self) -> None:
        """Every joint that can move must carry mass."""
        carried = {b.name: b.mass for b in self.bodies}
        for joint in reversed(self.joints):
            if joint.rates and not carried[joint.child] > 0:
                raise TreeError(
                    f"joint {joint.name} moves, but neither its body {joint.child} nor anything behind it has mass"
                )
            if joint.parent:
                carried[joint.parent] += carried[joint.child]

    def _check_mobility(self) -> None:
        """Every joint that can move must have inertia against its motion, somewhere at least."""
        frames, at, turns = self.frames()
        inertias = []
        for body, W in zip(self.bodies, turns, strict=True):
            xx, yy, zz, xy, xz, yz = body.inertia
            J = W.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ W
            inertias.append(inertia_matrix(body.mass, W.T @ np.array(body.com), J))
        frame = singular_frame(frames, inertias)
        if frame is not None:
            joint = next(joint for joint, last in zip(self.joints, at, strict=True) if frame <= last)
            raise TreeError(
                f"joint {joint.name}: nothing resists its motion wherever the tree is: what it carries has its mass on "
                "the joint's axis and no inertia about it, or another joint does the same with no inertia between them"
            )

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
                frames.append(Frame(parent, _clean(R0), _clean(r), motion, along, q, v, body, joint.armature))
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
    optional = (joint.friction, joint.friction_speed, joint.lower, joint.upper, joint.effort)
    numbers += [x for x in optional if x is not None] + [joint.multiplier, joint.offset, joint.armature]
    if not np.all(np.isfinite(numbers)):
        raise TreeError(f"joint {joint.name}: a number is not finite")
    R = np.reshape(joint.rotation, (3, 3))
    if not np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-9) or np.linalg.det(R) < 0:
        raise TreeError(f"joint {joint.name}: its rotation is not a rotation matrix")
    if joint.kind in ("revolute", "prismatic", "cylindrical") and not np.linalg.norm(joint.axis) > 1e-9:
        raise TreeError(f"joint {joint.name}: its axis is zero")
    for name in ("stiffness", "damping", "friction", "armature"):
        if getattr(joint, name) < 0:
            raise TreeError(f"joint {joint.name}: {name} {getattr(joint, name):g} is negative")
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
    xx, yy, zz, xy, xz, yz = body.inertia
    if body.mass == 0:
        if any(body.inertia):
            raise TreeError(f"body {body.name}: inertia without mass")
        return
    principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    slack = 1e-9 * max(abs(principal).max(), 1e-6 * body.mass)  # rounding of a point mass is not an error
    moments = f"(principal moments {', '.join(f'{p:g}' for p in principal)})"
    if principal[0] < -slack:
        raise TreeError(f"body {body.name}: its inertia is not positive {moments}")
    if principal[0] + principal[1] < principal[2] * (1 - 1e-6) - slack:
        raise TreeError(f"body {body.name}: its inertia breaks the triangle inequality {moments}")


def _check_shape(shape: BodyShape, bodies: set[str]) -> None:
    if shape.body not in bodies or shape.kind not in SIZES:
        kinds = ", ".join(SIZES)
        raise TreeError(f"a shape of body {shape.body}: there is no such body, or its kind is none of {kinds}")
    what = f"body {shape.body}: a {shape.kind}"
    lengths = {
        "size": (shape.size, SIZES[shape.kind]),
        "position": (shape.position, 3),
        "rotation": (shape.rotation, 9),
    }
    _check_lengths(what, **lengths)
    if not np.all(np.isfinite([*shape.size, *shape.position, *shape.rotation])) or not min(shape.size) >= 0:
        raise TreeError(f"{what}: its numbers must be finite, its size not negative")


def _check_places(points: Iterable[FramePoint], contacts: Iterable[ContactSphere], bodies: set[str]) -> None:
    for word, places in (("frame", tuple(points)), ("contact", tuple(contacts))):
        names = Counter(place.name for place in places)
        for place in places:
            what = f"{word} {place.name}"
            if names[place.name] > 1:
                raise TreeError(f"{what}: there are two of this name")
            if place.body not in bodies:
                raise TreeError(f"{what}: there is no body {place.body}")
            _check_lengths(what, position=(place.position, 3))
            own = place.rotation if isinstance(place, FramePoint) else (place.radius,)
            if not np.all(np.isfinite([*place.position, *own])):
                raise TreeError(f"{what}: a number is not finite")


def _check_lengths(what: str, **lists: tuple[tuple[float, ...], int]) -> None:
    for name, (numbers, count) in lists.items():
        if len(numbers) != count:
            raise TreeError(f"{what}: {name} must be {count} numbers")
