"""Elements of a URDF file: children, attributes, origins and sizes, with messages that name the line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from lxml import etree  # type: ignore[import-untyped]

from .common import Fault, Placed, from_rpy, number, numbers

Element = Any  # lxml comes without types


def origin_of(element: Element, what: str) -> Placed:
    origin = only_child(element, "origin", what)
    if origin is None:
        return np.eye(3), np.zeros(3)
    xyz, rpy = (
        numbers(origin.get(key, "0 0 0"), 3, f"{what}: origin {key}", origin.sourceline) for key in ("xyz", "rpy")
    )
    return from_rpy(rpy), np.array(xyz)


def tag_of(element: Element) -> str:
    """The name of an element; one with a prefix keeps its namespace, so that <sensor:joint> is not a <joint>."""
    return str(etree.QName(element).localname if element.prefix is None else element.tag)


def children(element: Element, tag: str) -> Iterator[Element]:
    return (child for child in element.iterchildren(f"{{*}}{tag}") if child.prefix is None)


def only_child(element: Element, tag: str, what: str, needed: bool = False) -> Element:
    found = list(children(element, tag))
    if len(found) > 1:
        raise Fault(f"{what}: there is a second <{tag}>", found[1].sourceline)
    if needed and not found:
        raise Fault(f"{what}: <{tag_of(element)}> has no <{tag}>", element.sourceline)
    return found[0] if found else None


def attribute_of(element: Element, name: str, what: str) -> str:
    value = element.get(name)
    if value is None:
        raise Fault(f"{what}: <{tag_of(element)}> has no {name}", element.sourceline)
    return str(value)


def size_of(solid: Element) -> tuple[float, ...]:
    """The size as in BodyShape; empty for anything but the three kinds."""
    if tag_of(solid) == "box":
        return numbers(attribute_of(solid, "size", ""), 3, "", solid.sourceline)
    keys = {"cylinder": ("radius", "length"), "sphere": ("radius",)}.get(tag_of(solid), ())
    return tuple(number(attribute_of(solid, key, ""), "", solid.sourceline) for key in keys)
