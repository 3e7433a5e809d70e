"""The drawing of a tree of bodies: shapes, lines from joint to joint, forces and moments.

A body without shapes is drawn as the box with its inertia.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ...model.drawing import Arrow, Drawing, Moment, Solid
from ...multibody.kinematics import Pose, poses
from ...multibody.surface import surface_of

XYZ = "xyz"
Array = Any


def tree_drawing(mechanism: Any, value: Any) -> Drawing:
    """The drawing of a TreeMechanism from `value(name) -> number`."""
    tree, (frames, at, turns) = mechanism.tree, mechanism.frames
    rows = mechanism.coordinate_rows(joints=mechanism.movable)
    names = [name for row in rows for name in row.names()]
    base = _base(mechanism, value)
    rates = sum(joint.rates for joint in tree.joints)
    where = poses(frames, np.array([value(name) for name in names]), np.zeros(rates), base)
    joints = [where[k].r for k in at]
    index = {body.name: i for i, body in enumerate(tree.bodies)}
    placed = {"": (base.r, base.A)}  # origin of each body, and its own axes
    placed |= {body.name: (where[at[i]].r, where[at[i]].A @ turns[i].T) for i, body in enumerate(tree.bodies)}

    r, A = placed[tree.bodies[-1].name]
    tip = r + A @ np.array([value(f"tip.offset_{a}") for a in XYZ])
    lines = [
        np.array([joints[-1], tip]),
        *(np.array([placed[j.parent][0], joints[index[j.child]]]) for j in reversed(tree.joints)),
    ]
    lines = [line for line in lines if np.linalg.norm(line[1] - line[0]) > 1e-9]

    solids = []
    for shape in tree.shapes:
        r, A = placed[shape.body]
        place, turn = np.array(shape.position), np.reshape(shape.rotation, (3, 3))
        surface = surface_of(shape.mesh, shape.size) if shape.kind == "mesh" else None
        group = index.get(shape.body, -1)
        look: Any = dict(colour=shape.colour, surface=surface)
        solids.append(Solid(shape.kind, shape.size, r + A @ place, A @ turn, group, **look))
    shaped = {shape.body for shape in tree.shapes}
    for i in mechanism.massive:
        if tree.bodies[i].name not in shaped and tree.bodies[i].mass > 0:
            ends = [joints[k] for k, j in enumerate(tree.joints) if j.parent == tree.bodies[i].name] + (
                [tip] if i == len(at) - 1 else []
            )
            solids += _substitutes(mechanism.body_label(i), value, placed[tree.bodies[i].name], ends, i)

    arrows = [Arrow("tip.force", "force", tip, np.array([value(f"tip.force_{a}") for a in XYZ]))]
    for j in mechanism.movable:
        label = mechanism.joint_label(j)
        arrows.append(
            Arrow(f"{label}.force", "reaction", joints[j], np.array([value(f"{label}.force_{a}") for a in XYZ]))
        )
    for sphere, label in zip(tree.contacts, mechanism.contact_labels, strict=True):
        r, A = placed[sphere.body]
        force = np.array([value(f"{label}.force_{a}") for a in XYZ])
        arrows.append(Arrow(f"{label}.force", "reaction", r + A @ np.array(sphere.position), force))
    motors = [name for row in mechanism.motor_rows() for name in row.names()]
    driven = iter(motors)  # in the order of the frames
    following = {at[j] for j in mechanism.followers}
    moments = [Moment("tip.moment", tip, np.array([value(f"tip.moment_{a}") for a in XYZ]))]
    for k, frame in enumerate(frames):
        if k in following:
            continue
        names = list(islice(driven, frame.rates))
        axes = where[k].A if frame.motion == "ball" else where[k].A[:, [frame.axis]]
        along = axes @ np.array([value(name) for name in names]) if names else np.zeros(3)
        if frame.motion == "slide":
            arrows.append(Arrow(names[0], "force", where[k].r, along))
        elif frame.rates:
            moments.append(Moment(names[0], where[k].r, along))
    return Drawing(lines, solids=solids, arrows=arrows, traced=[tip], moments=moments)


def _base(mechanism: Any, value: Any) -> Pose:
    states = [
        value(s.name) if mechanism.moving else 0.0 for s in sorted(mechanism.table.of("state"), key=lambda s: s.index)
    ]
    pose: Pose = mechanism.base_pose(mechanism.table.x(np.array(states)))
    return pose


def _substitutes(label: str, value: Any, placed: tuple[Array, Array], ends: list[Array], group: int) -> list[Solid]:
    """For a body without shapes, the uniform box with its mass, mass centre and inertia.

    Its sides are a^2 = 6 (J_b + J_c - J_a) / m. A box much larger than what the body connects means that its inertia is
    made up; then, rods from its joint to the ends.
    """
    r, A = placed
    xx, yy, zz, xy, xz, yz = (value(f"{label}.inertia_{s}") for s in ("xx", "yy", "zz", "xy", "xz", "yz"))
    J, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    axes = axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)
    sides = np.sqrt(np.maximum(6 * (np.sum(J) - 2 * J) / value(f"{label}.mass"), 0.0))
    middle = r + A @ np.array([value(f"{label}.com_{a}") for a in XYZ])
    reach = max(np.linalg.norm(end - r) for end in [middle, *ends])
    if 0 < np.max(sides) <= 3 * reach:
        return [Solid("box", tuple(float(s) for s in sides), middle, A @ axes, group, real=False)]
    return [_rod(r, end, group) for end in ends or [middle] if np.linalg.norm(end - r) > 0.1 * reach]


def _rod(start: Array, end: Array, group: int) -> Solid:
    length = float(np.linalg.norm(end - start))
    z = (end - start) / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return Solid(
        "cylinder",
        (0.15 * length, length),
        (start + end) / 2,
        np.stack([x, np.cross(z, x), z], axis=1),
        group,
        real=False,
    )
