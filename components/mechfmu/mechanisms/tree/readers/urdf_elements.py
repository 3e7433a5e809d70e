"""Origins and sizes in a URDF file, with messages that name the line."""

from __future__ import annotations

import numpy as np

from .common import Placed, from_rpy, number, numbers
from .xml_tree import Element, attribute, one, tag


def origin_of(element: Element, what: str) -> Placed:
    origin = one(element, "origin", what)
    if origin is None:
        return np.eye(3), np.zeros(3)
    xyz, rpy = (
        numbers(origin.get(key, "0 0 0"), 3, f"{what}: origin {key}", origin.sourceline) for key in ("xyz", "rpy")
    )
    return from_rpy(rpy), np.array(xyz)


def size_of(solid: Element) -> tuple[float, ...]:
    """The size as in BodyShape; empty for anything but the three kinds."""
    if tag(solid) == "box":
        return numbers(attribute(solid, "size", ""), 3, "", solid.sourceline)
    keys = {"cylinder": ("radius", "length"), "sphere": ("radius",)}.get(tag(solid), ())
    return tuple(number(attribute(solid, key, ""), "", solid.sourceline) for key in keys)
