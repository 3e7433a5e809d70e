"""Origins and sizes in a URDF file, with messages that name the line."""

from __future__ import annotations

import numpy as np

from .common import Fault, Placed, from_rpy, from_xyzw, number, numbers
from .xml_tree import Element, attribute, one, tag


def origin_of(element: Element, what: str) -> Placed:
    origin = one(element, "origin", what)
    if origin is None:
        return np.eye(3), np.zeros(3)

    def given(key: str, default: str) -> tuple[float, ...]:
        return numbers(origin.get(key, default), len(default.split()), f"{what}: origin {key}", origin.sourceline)

    xyz = np.array(given("xyz", "0 0 0"))
    if origin.get("quat_xyzw") is None:
        return from_rpy(given("rpy", "0 0 0")), xyz
    if origin.get("rpy") is not None:
        raise Fault(f"{what}: its origin has rpy and quat_xyzw; one is allowed", origin.sourceline)
    return from_xyzw(given("quat_xyzw", "0 0 0 1"), f"{what}: origin quat_xyzw", origin.sourceline), xyz


def size_of(solid: Element) -> tuple[float, ...]:
    """The size as in BodyShape; empty for anything but the three kinds."""
    if tag(solid) == "box":
        return numbers(attribute(solid, "size", ""), 3, "", solid.sourceline)
    keys = {"cylinder": ("radius", "length"), "sphere": ("radius",)}.get(tag(solid), ())
    return tuple(number(attribute(solid, key, ""), "", solid.sourceline) for key in keys)
