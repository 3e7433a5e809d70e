"""Writer of the TOML description of a tree: what toml_file.py reads gives the same tree again, to the last bit.

Numbers are written with all their digits, rotations as matrices; what has its default is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ....multibody.attachments import IDENTITY, ContactSphere, FramePoint
from ....multibody.tree import GRAVITY, MOTIONS, Body, BodyShape, BodyTree, Joint

SCALES = range(1, 5000)  # factors of an axis that are tried; most need 1, some a few hundred
PLAIN_KEYS = ("stiffness", "rest", "damping", "friction", "friction_speed", "armature")
LIMIT_KEYS = ("lower", "upper", "effort")


def toml_text(tree: BodyTree, source: str = "") -> str:
    """The text of a TOML file. source: the file it comes from, for the comment at its top."""
    origin = f" Converted from {source} by mechfmu." if source.isprintable() and source else ""
    lines = [f"# Units are kg, m, kg m2, rad.{origin} docs/tree_format.md explains the format.", ""]
    lines.append(f'name = "{tree.name}"')
    if tree.gravity != GRAVITY:
        lines.append(f"gravity = {tree.gravity!r}")
    for body in tree.bodies:
        lines += ["", "[[body]]", *_body(body)]
    for joint in tree.joints:
        lines += ["", "[[joint]]", *_joint(joint)]
    for shape in tree.shapes:
        lines += ["", "[[shape]]", *_shape(shape)]
    for point in tree.points:
        lines += ["", "[[frame]]", *_place(point), *_rotation(point.rotation)]
    for contact in tree.contacts:
        lines += ["", "[[contact]]", *_place(contact), f"radius = {contact.radius!r}"]
    return "\n".join(lines) + "\n"


def _body(body: Body) -> Iterator[str]:
    yield f'name = "{body.name}"'
    yield from _vector("com", body.com)
    if body.mass == 0.0 and not any(body.inertia):
        return
    yield f"mass = {float(body.mass)!r}"
    xx, yy, zz, *products = (float(x) for x in body.inertia)
    if any(products):
        yield f"inertia = {_list(body.inertia)} # xx, yy, zz, xy, xz, yz"
    else:
        yield f"inertia = {{ xx = {xx!r}, yy = {yy!r}, zz = {zz!r} }}"


def _joint(joint: Joint) -> Iterator[str]:
    default: Any = Joint("", "fixed", "")
    yield f'name = "{joint.name}"'
    yield f'kind = "{joint.kind}"'
    if joint.parent:
        yield f'parent = "{joint.parent}"'
    yield f'child = "{joint.child}"'
    yield from _vector("position", joint.position)
    yield from _rotation(joint.rotation)
    if any(axis is None for _, axis in MOTIONS[joint.kind]):
        yield f"axis = {_list(_axis(joint.axis))}"
    for key in (*PLAIN_KEYS, *LIMIT_KEYS):
        value = getattr(joint, key)
        if value is not None and value != getattr(default, key):
            yield f"{key} = {float(value)!r}"
    if joint.mimic:
        yield f'mimic = "{joint.mimic}"'
        yield f"multiplier = {float(joint.multiplier)!r}"
        yield f"offset = {float(joint.offset)!r}"


def _axis(axis: Sequence[float]) -> tuple[float, ...]:
    """The axis with a length whose division gives exactly the same numbers again."""
    wanted = tuple(float(x) for x in axis)
    for scale in SCALES:
        a = scale * np.array(wanted)
        if tuple(a / np.linalg.norm(a)) == wanted:
            return tuple(float(x) for x in a)
    return wanted


def _shape(shape: BodyShape) -> Iterator[str]:
    if shape.body:
        yield f'body = "{shape.body}"'
    yield f'kind = "{shape.kind}"'
    yield f"size = {_list(shape.size)}"
    yield from _vector("position", shape.position)
    yield from _rotation(shape.rotation)
    yield from (f'{key} = "{getattr(shape, key)}"' for key in ("colour", "mesh") if getattr(shape, key))


def _place(place: FramePoint | ContactSphere) -> Iterator[str]:
    yield f'name = "{place.name}"'
    if place.body:
        yield f'body = "{place.body}"'
    yield from _vector("position", place.position)


def _vector(key: str, values: Sequence[float]) -> Iterator[str]:
    if any(values):
        yield f"{key} = {_list(values)}"


def _rotation(rotation: Sequence[float]) -> Iterator[str]:
    if tuple(rotation) != IDENTITY:
        rows = ", ".join(_list(rotation[i : i + 3]) for i in (0, 3, 6))
        yield f"rotation = {{ matrix = [{rows}] }}"


def _list(values: Iterable[float]) -> str:
    return f"[{', '.join(repr(float(x) + 0.0) for x in values)}]"
