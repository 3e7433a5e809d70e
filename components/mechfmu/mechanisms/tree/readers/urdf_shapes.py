"""What can be drawn of the links of a URDF file, with its colours. A shape with a mistake is left out.

A mesh with colours of its own keeps them; other shapes have the colour of the <material> of their <visual>, which may
be defined once for the robot and used by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....multibody.tree import BodyShape
from .common import Fault, Placed, flat, numbers
from .meshes.piece import hex_colour
from .meshes.shapes import Meshes
from .urdf_elements import origin_of, size_of
from .xml_tree import Element, all_of, attribute, tag


def urdf_shapes(robot: Element, links: Iterable[Element], meshes: Meshes | None) -> list[BodyShape]:
    """Return the shapes of all links; meshes: None if they are not to be drawn."""
    if meshes is None:
        return [shape for link in links for shape in _shapes(link, None, {})]
    colours = {str(e.get("name")): colour for e in all_of(robot, "material") if (colour := _own_colour(e))}
    return meshes.finished([shape for link in links for shape in _shapes(link, meshes, colours)])


def _shapes(link: Element, meshes: Meshes | None, colours: Mapping[str, str]) -> list[BodyShape]:
    found: list[BodyShape] = []
    for element in (e for word in ("visual", "collision") for e in all_of(link, word)):
        if found and tag(element) == "collision":
            break
        try:
            pose, colour = origin_of(element, ""), _colour(element, colours) if meshes else ""
            children = [e for geometry in all_of(element, "geometry") for e in geometry.iterchildren()]
            for solid in (e for e in children if e.prefix is None):
                if tag(solid) != "mesh":
                    found += _solid(str(link.get("name")), solid, pose, colour)
                elif meshes and tag(element) == "visual":
                    scale = numbers(solid.get("scale", "1 1 1"), 3, "", solid.sourceline)
                    name = attribute(solid, "filename", "")
                    found += meshes.shapes(str(link.get("name")), name, scale, pose, colour)
        except Fault:
            continue
    return found


def _solid(link: str, solid: Element, pose: Placed, colour: str) -> Sequence[BodyShape]:
    size = size_of(solid)
    kind: Any = tag(solid)
    return [BodyShape(link, kind, size, flat(pose[1]), flat(pose[0]), colour)] if size and min(size) > 0 else []


def _colour(visual: Element, colours: Mapping[str, str]) -> str:
    for material in all_of(visual, "material"):
        return _own_colour(material) or colours.get(str(material.get("name")), "")
    return ""


def _own_colour(material: Element) -> str:
    for colour in all_of(material, "color"):
        try:
            return hex_colour(numbers(colour.get("rgba", ""), 4, "", colour.sourceline))
        except Fault:
            return ""
    return ""
