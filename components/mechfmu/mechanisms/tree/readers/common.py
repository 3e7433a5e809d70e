"""Common parts of the readers of robot descriptions: files of limited size, numbers, names, frames, order of the tree.

A description comes from somebody else, so nothing in it is trusted. Whatever is wrong with it becomes a Fault with the
line of the element, and leaves a reader as a UserError "file:line: message". The readers are imported when they are
needed, because an FMU that was made from a description needs neither them nor their libraries.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....model.mechanism import UserError, did_you_mean
from ....multibody.attachments import ContactSphere, FramePoint
from ....multibody.following import follow
from ....multibody.massless_joints import held
from ....multibody.rigid_groups import impossible_inertias, repaired
from ....multibody.rotations import from_quaternion
from ....multibody.tree import Body, BodyShape, BodyTree, Joint, TreeError

Source = str | bytes | Path  # a file, or the description itself: bytes, or a str that cannot be a path
Placed = tuple[np.ndarray, np.ndarray]  # rotation and origin of a frame in another one

Report = Callable[[str, int], None]  # what was done about an inertia, and the line of the body
INERTIAS = ("refuse", "warn", "repair")

MAX_BODIES = 5000  # far above any robot; keeps a hostile file from costing minutes
MAX_ATTACHED = 8 * MAX_BODIES  # shapes, frames, spheres and corners of boxes that touch the ground
MAX_NAME = 200
MAX_NUMBER = 1e30  # lengths, masses: their products and squares stay finite

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Fault(TreeError):
    """What is wrong with a description, and the line of the element (0: unknown)."""

    def __init__(self, message: str, line: int = 0):
        super().__init__(message)
        self.line = line


# --- files and messages -----------------------------------------------------------------------------------------------


@contextmanager
def as_user_error(where: str) -> Iterator[None]:
    """Raise a TreeError as a UserError with file, line and message, without a traceback behind it."""
    try:
        yield
    except TreeError as error:
        line = getattr(error, "line", 0)
        raise UserError(f"{where}:{line}: {error}" if line else f"{where}: {error}") from None


def contents(source: Source, is_text: bool, limit: int) -> tuple[str, bytes]:
    """Return the name of the source for messages, and its bytes.

    Only plain files are opened: a pipe or a device could be endless.
    """
    if isinstance(source, bytes) or is_text:
        where, data = "description", source if isinstance(source, bytes) else str(source).encode(errors="replace")
    else:
        where = str(source) if str(source).isprintable() else ascii(str(source))
        try:
            if not stat.S_ISREG(Path(source).stat().st_mode):
                raise UserError(f"{where}: is not a file")
            with Path(source).open("rb") as file:
                data = file.read(limit + 1)
        except OSError as error:
            raise UserError(f"{where}: {error.strerror or 'cannot be read'}") from None
        except ValueError:  # a path with a NUL
            raise UserError(f"{where}: is not a file name") from None
    if len(data) > limit:
        raise UserError(f"{where}: is larger than {limit / 1e6:g} MB; a robot description is not")
    return where, data


def printable(thing: object) -> str:
    """Text from the file for a message: one line, short, printable."""
    if isinstance(thing, int) and thing.bit_length() > 100:
        return "a very large number"
    text = str(thing)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= 60 else f"{text[:57]}..."


def no_report(text: str, line: int) -> None:
    """Ignore a report."""


# --- numbers ----------------------------------------------------------------------------------------------------------


def number(text: str, what: str, line: int, largest: float = MAX_NUMBER) -> float:
    """A decimal number and nothing else: float() would also take nan, inf, 1_000 and foreign digits."""
    if len(text) > 100 or not _NUMBER.fullmatch(text):
        raise Fault(f"{what}: {printable(text) or 'nothing'} is not a number", line)
    return in_range(float(text), what, line, largest)


def numbers(text: str, count: int, what: str, line: int) -> tuple[float, ...]:
    words = text.split()
    if len(words) != count:
        raise Fault(f"{what}: needs {count} numbers, has {len(words)}", line)
    return tuple(number(word, what, line) for word in words)


def in_range(value: float, what: str, line: int, largest: float = MAX_NUMBER) -> float:
    if not abs(value) <= largest:  # also excludes nan
        raise Fault(f"{what}: {value:g} is {'not finite' if not np.isfinite(value) else 'too large'}", line)
    return value


# --- frames -----------------------------------------------------------------------------------------------------------


def from_rpy(rpy: Sequence[float]) -> np.ndarray:
    """Roll, pitch, yaw: turns about the fixed axes x, y, z in this order, so Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return tidy(
        np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )
    )


def from_xyzw(xyzw: Sequence[float], what: str, line: int) -> np.ndarray:
    """The rotation of a quaternion, w last. Its length may be rounded."""
    e = np.array([xyzw[3], *xyzw[:3]])
    length = float(np.linalg.norm(e))
    if not abs(length - 1) < 1e-3:
        raise Fault(f"{what}: the quaternion's length is {length:g}, not 1", line)
    return tidy(np.asarray(from_quaternion(e / length)))


def tidy(R: np.ndarray) -> np.ndarray:
    """Make right angles exact.

    cos(pi/2) is 6e-17 in floating point, and such entries would cost operations in every evaluation.
    """
    rounded = np.round(R)
    return np.where(np.abs(R - rounded) < 1e-15, rounded, R) + 0.0


def flat(a: np.ndarray) -> tuple[float, ...]:
    return tuple(float(x) for x in np.ravel(a))


def turned_inertia(R: np.ndarray, inertia: tuple[float, ...]) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz in the axes to which R leads; the very same numbers when R is the identity."""
    if np.array_equal(R, np.eye(3)):
        return inertia
    xx, yy, zz, xy, xz, yz = inertia
    J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return flat(np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]))


def body_in_joint_frame(body: Body, pose: Placed) -> Body:
    """The body in the moving frame of its joint; `pose`: of the body frame in the joint frame."""
    C, p = pose
    return replace(body, com=flat(p + C @ np.array(body.com)), inertia=turned_inertia(C, body.inertia))


def joint_in_joint_frame(joint: Joint, pose: Placed) -> Joint:
    """A joint on that body, likewise."""
    C, p = pose
    return replace(
        joint,
        position=flat(p + C @ np.array(joint.position)),
        rotation=flat(tidy(C @ np.reshape(joint.rotation, (3, 3)))),
    )


def placed_in_joint_frame(thing: Any, pose: Placed) -> Any:
    """A shape, point or contact of that body, likewise."""
    C, p = pose
    moved = replace(thing, position=flat(p + C @ np.array(thing.position)))
    if not hasattr(thing, "rotation"):
        return moved
    return replace(moved, rotation=flat(tidy(C @ np.reshape(thing.rotation, (3, 3)))))


# --- the tree ---------------------------------------------------------------------------------------------------------

Bodies = Sequence[tuple[Body, int]]  # each with its line
Joints = Sequence[tuple[Joint, int]]


def check_name(name: str, what: str, line: int) -> str:
    if not name:
        raise Fault(f"{what}: needs a name", line)
    if len(name) > MAX_NAME:
        raise Fault(f"{what} {printable(name)}: its name is longer than {MAX_NAME} characters", line)
    return name


def check_count(count: int, word: str, largest: int = MAX_BODIES) -> None:
    if count > largest:
        raise Fault(f"there are {count} {word} elements; at most {largest} are allowed")


def check_connections(bodies: Bodies, joints: Joints, word: str) -> None:
    """Check that names are unique, bodies exist and no body has two joints. `word`: what the file calls a body."""
    named: dict[str, list[tuple[str, int]]] = {word: [(b.name, line) for b, line in bodies]}
    named["joint"] = [(j.name, line) for j, line in joints]
    for what, found in named.items():
        lines: dict[str, int] = {}
        for name, line in found:
            if name in lines:
                raise Fault(f"{what} {printable(name)}: there is another one of this name in line {lines[name]}", line)
            lines[name] = line
    known, joint_names = {b.name for b, _ in bodies}, {j.name for j, _ in joints}
    carriers: dict[str, Joint] = {}
    for joint, line in joints:
        what = f"joint {printable(joint.name)}"
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known and (name or role == "child"):
                hint = did_you_mean(name, map(printable, known))
                raise Fault(f"{what}: its {role} {printable(name)} does not exist{hint}", line)
        if joint.parent == joint.child:
            raise Fault(f"{what}: its parent and its child are the same {word} {printable(joint.child)}", line)
        if joint.mimic and joint.mimic not in joint_names:
            hint = did_you_mean(joint.mimic, map(printable, joint_names))
            text = f"mimic: joint {printable(joint.mimic)} does not exist{hint}"
            remedy = "; --ignore mimic lets every joint move on its own" if word == "link" else ""
            raise Fault(f"{what}: {text}{remedy}", line)
        if joint.child in carriers:
            other, child = printable(carriers[joint.child].name), printable(joint.child)
            raise Fault(f"{what}: {word} {child} has two parents, joint {other} carries it already", line)
        carriers[joint.child] = joint


def arranged(
    name: str,
    bodies: Bodies,
    joints: Joints,
    poses: Mapping[str, Placed],
    word: str,
    shapes: Sequence[BodyShape] = (),
    inertia: str = "refuse",
    report: Report = no_report,
    attached: Sequence[tuple[FramePoint | ContactSphere, int]] = (),
) -> BodyTree:
    """The checked tree, depth first, children in the order of the file.

    poses: for a body that is given in a frame of its own, the pose of the body frame in the joint frame. Shapes without
    a body belong to the base. inertia, report: as in `judged`. attached: frames and contact spheres, with their lines.
    """
    body_of, on = {b.name: b for b, _ in bodies}, {b.name: list[Joint]() for b, _ in bodies} | {"": list[Joint]()}
    for joint, _ in joints:
        on[joint.parent].append(joint)
    ordered_joints: list[Joint] = []
    waiting = on[""][::-1]
    while waiting:
        joint = waiting.pop()
        ordered_joints.append(joint)
        waiting.extend(reversed(on[joint.child]))
    _check_loops(bodies, joints, {j.child for j in ordered_joints}, word)

    body_names = legal_names(b.name for b, _ in bodies)
    joint_names = legal_names(j.name for j, _ in joints)
    final_bodies, final_joints = [], []
    for joint in ordered_joints:
        body = body_of[joint.child]
        placed = body_in_joint_frame(body, poses[body.name]) if body.name in poses else body
        final_bodies.append(replace(placed, name=body_names[body.name]))
        joint = joint_in_joint_frame(joint, poses[joint.parent]) if joint.parent in poses else joint
        final_joints.append(
            replace(
                joint,
                name=joint_names[joint.name],
                parent=body_names.get(joint.parent, ""),
                child=body_names[joint.child],
                mimic=joint_names.get(joint.mimic, ""),
            )
        )

    def on_bodies(things: Iterable[Any]) -> list[Any]:
        moved = (placed_in_joint_frame(t, poses[t.body]) if t.body in poses else t for t in things)
        return [replace(t, body=body_names.get(t.body, t.body)) for t in moved]

    moved = on_bodies(thing for thing, _ in attached)
    points = tuple(a for a in moved if isinstance(a, FramePoint))
    contacts = tuple(a for a in moved if isinstance(a, ContactSphere))
    final_shapes = tuple(on_bodies(s if s.body in body_names else replace(s, body="") for s in shapes))
    tree = BodyTree(legal_name(name), tuple(final_bodies), tuple(final_joints), final_shapes, points, contacts)

    lines = {("body", body_names[b.name]): line for b, line in bodies} | {
        ("joint", joint_names[j.name]): line for j, line in joints
    }
    lines |= {("frame" if isinstance(a, FramePoint) else "contact", a.name): line for a, line in attached}
    return judged(tree, lines, inertia, report)


def judged(tree: BodyTree, lines: Mapping[tuple[str, str], int], inertia: str, report: Report) -> BodyTree:
    """The tree, checked, with its inertias refused, taken or repaired.

    lines: of bodies, joints, frames and contacts, by word and name. inertia: what becomes of an inertia that no body
    can have: refuse; warn, it is taken as it is; repair, the nearest possible one is taken; `report` then gets a line
    about it. Joints that move no mass are refused or held still.
    """
    if inertia not in INERTIAS:
        raise UserError(f"inertia={printable(inertia)}: must be one of {', '.join(INERTIAS)}")

    def place(text: str) -> int:
        named = re.match(r"(body|joint|frame|contact) (\w+)", text)
        return lines.get((named[1], named[2]), 0) if named else 0

    notes: list[str] = []
    try:
        if inertia == "repair":
            tree, notes = repaired(tree)
        if inertia != "refuse":
            tree, more = held(tree, follow(tree.joints))
            notes += more
        tree.check("warn" if inertia == "warn" else "refuse")
    except TreeError as error:
        raise Fault(str(error), place(str(error))) from None
    if inertia == "warn":
        them = impossible_inertias(tree)
        notes = [f"body {tree.bodies[i.body].name}: {i.text}; it is taken as it is" for i in them] + notes
    for note in notes:
        report(note, place(note))
    return tree


def _check_loops(bodies: Bodies, joints: Joints, reached: set[str], word: str) -> None:
    """Check that all bodies are reached from the base. Each has one joint, so a body that is not is part of a loop."""
    carriers = {j.child: (j, line) for j, line in joints}
    for body, _ in bodies:
        if body.name not in reached:
            path: list[str] = []
            name = body.name
            while name not in path and len(path) < 50:  # upwards until a body comes again
                path.append(name)
                name = carriers[name][0].parent
            joint, line = carriers[body.name]
            loop = [*path[path.index(name) if name in path else 0 :], name]
            text = " -> ".join(printable(n) for n in loop[:6]) + (" -> ..." if len(loop) > 6 else "")
            raise Fault(f"joint {printable(joint.name)}: {word} {printable(body.name)} hangs on a loop: {text}", line)


def legal_name(name: str) -> str:
    """A name that variables of an FMU may have.

    Characters other than letters, digits and _ become _; a leading digit gets one before it.
    """
    if _NAME.fullmatch(name):
        return name
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return name if _NAME.fullmatch(name) else f"_{name}"


def legal_names(names: Iterable[str]) -> dict[str, str]:
    """Old name to legal name. Legal names stay; one that had to change gets a number if it would equal another."""
    names = list(names)
    found = {n: n for n in names if _NAME.fullmatch(n)}
    taken = set(found)
    for name in names:
        if name not in found:
            made, count = legal_name(name), 1
            while made in taken:
                count += 1
                made = f"{legal_name(name)}_{count}"
            found[name] = made
            taken.add(made)
    return found
