"""The drawing of a tree of bodies: shapes, lines from joint to joint, forces and moments.

A body without shapes is drawn as the box with its inertia.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ...model.drawing import Arrow, Drawing, Floor, Moment, Solid, constant
from ...multibody.ground_contact import normal as ground_normal
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
    where = poses(frames, _vector(value, names), np.zeros(rates), base)
    joints = [where[k].r for k in at]
    index = {body.name: i for i, body in enumerate(tree.bodies)}
    placed = {"": (base.r, base.A)}  # origin of each body, and its own axes
    placed |= {body.name: (where[at[i]].r, where[at[i]].A @ turns[i].T) for i, body in enumerate(tree.bodies)}

    r, A = placed[tree.bodies[-1].name]
    tip = r + A @ _vector(value, "tip.offset_{}")
    lines = [
        np.stack([joints[-1], tip]),
        *(np.stack([placed[j.parent][0], joints[index[j.child]]]) for j in reversed(tree.joints)),
    ]

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
        body = tree.bodies[i]
        if body.name not in shaped and body.mass > 0:
            ends = [np.array(j.position) for j in tree.joints if j.parent == body.name]
            ends += [_constants(value, "tip.offset_{}")] if i == len(at) - 1 else []
            solids += _substitutes(mechanism.body_label(i), value, placed[body.name], ends, i)

    arrows = [Arrow("tip.force", "force", tip, _vector(value, "tip.force_{}"))]
    for j in mechanism.movable:
        label = mechanism.joint_label(j)
        arrows.append(Arrow(f"{label}.force", "reaction", joints[j], _vector(value, f"{label}.force_{{}}"), inner=True))
    for sphere, label in zip(tree.contacts, mechanism.contact_labels, strict=True):
        r, A = placed[sphere.body]
        force = _vector(value, f"{label}.force_{{}}")
        arrows.append(Arrow(f"{label}.force", "reaction", r + A @ np.array(sphere.position), force))
    motors = [name for row in mechanism.motor_rows() for name in row.names()]
    driven = iter(motors)  # in the order of the frames
    following = {at[j] for j in mechanism.followers}
    moments = [Moment("tip.moment", tip, _vector(value, "tip.moment_{}"))]
    for k, frame in enumerate(frames):
        if k in following:
            continue
        names = list(islice(driven, frame.rates))
        if not names:
            along = np.zeros(3)
        elif frame.motion == "ball":
            along = where[k].A @ _vector(value, names)
        else:
            along = where[k].A[:, frame.axis] * value(names[0])
        if frame.motion == "slide":
            arrows.append(Arrow(names[0], "force", where[k].r, along))
        elif frame.rates:
            moments.append(Moment(names[0], where[k].r, along))
    floors = [_floor(value, base.r)] if tree.contacts else []
    return Drawing(lines, floors=floors, solids=solids, arrows=arrows, traced=[tip], moments=moments)


def _vector(value: Any, names: str | list[str]) -> Array:
    """The values of variables as a vector; names: a list, or a pattern for x, y and z."""
    return np.stack([value(name) for name in _names(names)])


def _constants(value: Any, names: str) -> np.ndarray:
    return np.array([constant(value, name) for name in _names(names)])


def _names(names: str | list[str]) -> list[str]:
    return [names.format(a) for a in XYZ] if isinstance(names, str) else names


def _base(mechanism: Any, value: Any) -> Pose:
    states = [
        value(s.name) if mechanism.moving else 0.0 for s in sorted(mechanism.table.of("state"), key=lambda s: s.index)
    ]
    pose: Pose = mechanism.base_pose(mechanism.table.x(np.stack(states) if states else np.zeros(0)))
    return pose


def _floor(value: Any, base: Array) -> Floor:
    """The ground of the contacts, below the base."""
    normal = ground_normal(value("ground.inclination"))
    above = base - np.stack([0.0, 0.0, value("ground.height")])
    return Floor(base - np.sum(normal * above) * normal, normal)


def _substitutes(
    label: str, value: Any, placed: tuple[Array, Array], ends: list[np.ndarray], group: int
) -> list[Solid]:
    """For a body without shapes, the uniform box with its mass, mass centre and inertia.

    Its sides are a^2 = 6 (J_b + J_c - J_a) / m. A box much larger than what the body connects means that its inertia is
    made up; then, rods from its joint to the ends, which are given in the axes of the body.
    """
    r, A = placed
    xx, yy, zz, xy, xz, yz = (constant(value, f"{label}.inertia_{s}") for s in ("xx", "yy", "zz", "xy", "xz", "yz"))
    J, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    axes = axes * np.where(np.linalg.det(axes) < 0, -1.0, 1.0)
    sides = np.sqrt(np.maximum(6 * (np.sum(J) - 2 * J) / constant(value, f"{label}.mass"), 0.0))
    middle = _constants(value, f"{label}.com_{{}}")
    reach = max(np.linalg.norm(end) for end in [middle, *ends])
    if 0 < np.max(sides) <= 3 * reach:
        return [Solid("box", tuple(float(s) for s in sides), r + A @ middle, A @ axes, group, real=False)]
    return [_rod(r, A, end, group) for end in ends or [middle] if np.linalg.norm(end) > 0.1 * reach]


def _rod(r: Array, A: Array, end: np.ndarray, group: int) -> Solid:
    """A rod from the origin r of a body with the axes A to a point of it, in its axes."""
    length = float(np.linalg.norm(end))
    z = end / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    return Solid("cylinder", (0.15 * length, length), r + A @ (end / 2), A @ axes, group, real=False)
