"""The tree that the bodies and joints of a file make: connected, depth first, checked, its inertias judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....model.mechanism import UserError, did_you_mean
from ....multibody.attachments import ContactSphere, FramePoint
from ....multibody.following import follow
from ....multibody.massless_joints import held
from ....multibody.rigid_groups import impossible_inertias, repaired
from ....multibody.tree import Body, BodyShape, BodyTree, Joint, TreeError
from .common import Fault, Placed, Report, flat, legal_name, legal_names, no_report, printable, tidy, turned_inertia

INERTIAS = ("refuse", "warn", "repair")
Bodies = Sequence[tuple[Body, int]]  # each with its line
Joints = Sequence[tuple[Joint, int]]


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
