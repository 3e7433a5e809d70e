"""Reader of DAE (COLLADA): triangles and polygons in the nodes of the scene, with the diffuse colours of their effects.

The up axis is not used, as in ROS; the unit is. Skins, splines and textures are not read. Parsed as robot descriptions
are: no DOCTYPE, no entities, no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lxml import etree  # type: ignore[import-untyped]

from ..xml_tree import PARSER_OPTIONS
from .piece import MAX_TRIANGLES, MeshError, Piece, fans, hex_colour, piece_of

MAX_VISITS = 100_000  # of elements: nodes and geometries may be instantiated again and again
MAX_DEPTH = 60
MAX_TRANSFORM = 1000  # characters
Element = Any


def read_dae(data: bytes) -> list[Piece]:
    """Return a piece for every group of polygons of every geometry in the scene."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise MeshError("a DOCTYPE is not allowed in a mesh")
    try:
        root = etree.fromstring(data, etree.XMLParser(**PARSER_OPTIONS | {"huge_tree": True}))
    except etree.XMLSyntaxError:
        raise MeshError("is not valid XML") from None
    if root.getroottree().docinfo.doctype:
        raise MeshError("a DOCTYPE is not allowed in a mesh")
    try:
        return _Document(root).pieces()
    except (ValueError, KeyError, IndexError, OverflowError):
        raise MeshError("is not a valid DAE file") from None


def _children(element: Element, *names: str) -> list[Element]:
    """Those of some names; none of an element that does not exist."""
    found = element.iterchildren(tag=etree.Element) if element is not None else ()
    return [child for child in found if etree.QName(child).localname in names]


def _inner(element: Element, *path: str) -> list[Element]:
    found = [element]
    for name in path:
        found = [child for e in found for child in _children(e, name)]
    return found


def _numbers(element: Element, kind: type = float) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=kind)


class _Document:
    """A file. What may be used several times is read once."""

    def __init__(self, root: Element):
        self.root = root
        self.by_id = {e.get("id"): e for e in root.iter() if isinstance(e.tag, str) and e.get("id")}
        self.visits = self.triangles = 0
        self.geometries: dict[str, list[tuple[Piece, str]]] = {}  # pieces with their materials
        self.arrays: dict[str, np.ndarray] = {}
        self.colours: dict[str, str] = {}  # by effect

    def _visit(self, elements: Sequence[Element] | None) -> None:
        self.visits += 1 if elements is None else 1 + len(elements)
        if self.visits > MAX_VISITS:
            raise MeshError(f"has more than {MAX_VISITS:,} elements in its scene, or nodes in nodes without end")

    def pieces(self) -> list[Piece]:
        units = _inner(self.root, "asset", "unit")
        meter = float(units[0].get("meter", "1")) if units else 1.0
        top = np.diag([meter, meter, meter, 1.0])
        scenes = [self._target(e.get("url")) for e in _inner(self.root, "scene", "instance_visual_scene")]
        scenes = [s for s in scenes if s is not None] or _inner(self.root, "library_visual_scenes", "visual_scene")[:1]
        return [piece for scene in scenes for piece in self._node(scene, top, 0)]

    def _target(self, url: str | None) -> Element:
        return self.by_id.get((url or "").removeprefix("#"))

    def _node(self, node: Element, outer: np.ndarray, depth: int) -> list[Piece]:
        self._visit(node)
        if depth > MAX_DEPTH:
            raise MeshError("has nodes in nodes without end")
        here, found = outer @ _transform(node), []
        for child in node.iterchildren(tag=etree.Element):
            name = etree.QName(child).localname
            if name == "node":
                found += self._node(child, here, depth + 1)
            elif name == "instance_node" and (target := self._target(child.get("url"))) is not None:
                found += self._node(target, here, depth + 1)
            elif name == "instance_geometry":
                found += self._instance(child, here)
        return found

    def _instance(self, instance: Element, place: np.ndarray) -> list[Piece]:
        self._visit(list(instance.iter()))
        bound = {e.get("symbol"): e.get("target") for e in instance.iter("{*}instance_material")}
        url, found = instance.get("url") or "", []
        if url not in self.geometries:
            self.geometries[url] = self._geometry(self._target(url))
        self._visit(self.geometries[url])
        for piece, material in self.geometries[url]:
            self.triangles += len(piece.triangles)
            if self.triangles > MAX_TRIANGLES:
                raise MeshError(f"has more than {MAX_TRIANGLES:,} triangles")
            moved = piece.vertices @ place[:3, :3].T + place[:3, 3]
            flipped = piece.triangles[:, ::-1] if np.linalg.det(place[:3, :3]) < 0 else piece.triangles
            found.append(piece_of(moved, flipped, self._colour(bound.get(material, material))))
        return found

    def _geometry(self, geometry: Element) -> list[tuple[Piece, str]]:
        found = []
        for mesh in _children(geometry, "mesh"):
            for group in _children(mesh, "triangles", "polylist", "polygons"):
                inputs = _children(group, "input")
                offsets = [int(e.get("offset", "0")) for e in inputs]
                vertex = next((e for e in inputs if e.get("semantic") == "VERTEX"), None)
                if vertex is None or not 0 <= max(offsets) < 100:
                    continue
                points = self._positions(self._target(vertex.get("source")))
                corners, counts = _polygons(group, max(offsets) + 1, int(vertex.get("offset", "0")))
                found.append((piece_of(points, fans(corners, counts)), group.get("material", "")))
        return found

    def _positions(self, vertices: Element) -> np.ndarray:
        self._visit(vertices)
        inputs = [e for e in _children(vertices, "input") if e.get("semantic") == "POSITION"]
        url = inputs[0].get("source")
        if url not in self.arrays:
            self.arrays[url] = self._array(self._target(url))
        return self.arrays[url]

    def _array(self, source: Element) -> np.ndarray:
        values = _numbers(_children(source, "float_array")[0])
        accessors = _inner(source, "technique_common", "accessor")
        stride = int(accessors[0].get("stride", "3")) if accessors else 3
        if stride < 3:
            raise MeshError("its positions do not have three coordinates")
        return values[: len(values) // stride * stride].reshape(-1, stride)[:, :3]

    def _colour(self, target: str | None) -> str:
        material = self._target(target)
        self._visit(material)
        for instance in _children(material, "instance_effect"):
            url = instance.get("url")
            if url not in self.colours:
                self.colours[url] = _diffuse(self._target(url))
            return self.colours[url]
        return ""


def _diffuse(effect: Element) -> str:
    for diffuse in effect.iter("{*}diffuse") if effect is not None else ():
        for colour in _children(diffuse, "color"):
            return hex_colour(_numbers(colour)[:3])
    return ""


def _polygons(group: Element, stride: int, offset: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of all polygons, and how many each has."""
    lists = [_numbers(p, np.int64)[offset::stride] for p in _children(group, "p")]
    corners = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    kind = etree.QName(group).localname
    if kind == "triangles":
        return corners, np.full(len(corners) // 3, 3)
    if kind == "polygons":
        return corners, np.array([len(p) for p in lists], dtype=np.int64)
    return corners, np.concatenate(
        [np.zeros(0, dtype=np.int64), *(_numbers(e, np.int64) for e in _children(group, "vcount"))]
    )


def _transform(node: Element) -> np.ndarray:
    """The product of the transformations of a node, in their order."""
    product = np.eye(4)
    for element in _children(node, "matrix", "translate", "rotate", "scale"):
        if len(element.text or "") > MAX_TRANSFORM:
            raise MeshError("is not a valid DAE file")
        values, kind, T = _numbers(element), etree.QName(element).localname, np.eye(4)
        if kind == "matrix":
            T = values.reshape(4, 4)
        elif kind == "translate":
            T[:3, 3] = values
        elif kind == "scale":
            T[:3, :3] = np.diag(values)
        else:
            x, y, z = values[:3] / max(float(np.linalg.norm(values[:3])), 1e-12)
            angle, K = np.radians(values[3]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            T[:3, :3] = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        product = product @ T
    return product
