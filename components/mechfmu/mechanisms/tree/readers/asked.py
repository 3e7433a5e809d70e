"""The frames and contacts that a user asks for, among those of a tree as it was read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count

from ....model.mechanism import UserError, did_you_mean
from ....multibody.attachments import ContactSphere, FramePoint
from ....multibody.tree import BodyTree
from .common import MAX_NUMBER, legal_name, printable

ALL = "all"
_RADIUS = re.compile(r"(.*[^:]):([^:]*)")  # the :: of a link in a nested model is not followed by a radius


def with_asked(tree: BodyTree, frames: Sequence[str], contacts: Sequence[str], keep: bool) -> BodyTree:
    """Return the tree with the frames and contacts asked for, and with no others unless `keep`."""
    points = list(tree.points) if keep else []
    for name in frames:
        point = _frame(tree, name)
        if point.name not in {p.name for p in points}:
            points.append(point)
    spheres = [(f"the [[contact]] {c.name} of the file", c) for c in tree.contacts] if keep else []
    spheres += [(f"--contact {printable(text)}", sphere) for text in contacts for sphere in _contacts(tree, text)]
    return replace(tree, points=tuple(points), contacts=_named_once(spheres))


def _frame(tree: BodyTree, name: str) -> FramePoint:
    """A frame of the file, a body's own frame, or that of the body behind a joint."""
    known = {j.name: FramePoint(j.name, j.child) for j in tree.joints}
    known |= {b.name: FramePoint(b.name, b.name) for b in tree.bodies}
    known |= {p.name: p for p in tree.points}
    point = known.get(name) or known.get(legal_name(name))
    if point is None:
        hint = did_you_mean(name, known)
        raise UserError(f"--frame {printable(name)}: there is no link, joint or sensor of this name{hint}")
    return point


def _contacts(tree: BodyTree, text: str) -> list[ContactSphere]:
    """all; LINK: its spheres and corners in the file, or else a point in its origin; LINK:RADIUS: a sphere there."""
    option = f"--contact {printable(text)}"
    if text == ALL:
        if not tree.contacts:
            raise UserError(f"{option}: no link has a sphere or a box to touch the ground; name links: LINK[:RADIUS]")
        return list(tree.contacts)
    split = _RADIUS.fullmatch(text)
    name, radius = (split[1], _radius(split[2], option)) if split else (text, None)
    known = {b.name for b in tree.bodies}
    body = name if name in known else legal_name(name)
    if body not in known:
        hint = did_you_mean(name, known)
        raise UserError(
            f"{option}: there is no link {printable(name)} that moves{hint}; write LINK, LINK:RADIUS or all"
        )
    found = [s for s in tree.contacts if s.body == body]
    return found if found and radius is None else [ContactSphere(body, body, radius=radius or 0.0)]


def _named_once(spheres: Sequence[tuple[str, ContactSphere]]) -> tuple[ContactSphere, ...]:
    """Each sphere once, with what asks for it; one whose name another body's has gets a number.

    Two spheres of one name on one body must be the same: one of them would be lost.
    """
    asked: dict[tuple[str, str], tuple[str, ContactSphere]] = {}
    for origin, sphere in spheres:
        first, other = asked.setdefault((sphere.name, sphere.body), (origin, sphere))
        if other != sphere:
            raise UserError(f"{first} and {origin}: different contacts of link {sphere.body}; omit one of them")
    found: dict[str, ContactSphere] = {}
    for _, sphere in asked.values():
        numbered = (f"{sphere.name}_{i}" for i in count(2))
        name = next(n for n in chain((sphere.name,), numbered) if n not in found)
        found[name] = replace(sphere, name=name)
    return tuple(found.values())


def _radius(text: str, option: str) -> float:
    try:
        radius = float(text)
    except ValueError:
        radius = -1.0
    if not 0 <= radius <= MAX_NUMBER:
        raise UserError(f"{option}: the radius must be a number of metres, 0 or more")
    return radius
