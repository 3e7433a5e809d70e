"""Reader of OBJ: vertices and polygons of several materials; normals, textures, curves and groups are not used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .piece import MAX_TRIANGLES, MeshError, Piece, fans, hex_colour, piece_of


def read_obj(data: bytes, library: Callable[[str], bytes]) -> list[Piece]:
    """Return a piece for each material. library: gives the contents of an .mtl file; empty if there is none."""
    vertices: list[list[bytes]] = []
    faces: dict[str, tuple[list[int], list[int]]] = {}  # material -> corners, corners per polygon
    colours: dict[str, str] = {}
    corners, counts = faces.setdefault("", ([], []))
    try:
        for line in data.replace(b"\\\n", b" ").splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == b"v":
                vertices.append(words[1:4])
            elif words[0] == b"f":
                numbers = [int(word.partition(b"/")[0]) for word in words[1:]]
                corners.extend(n - 1 if n > 0 else len(vertices) + n for n in numbers)
                counts.append(len(numbers))
            elif words[0] == b"usemtl":
                corners, counts = faces.setdefault(_name(line), ([], []))
            elif words[0] == b"mtllib":
                colours |= _colours(library(_name(line)))
        points = np.array(vertices, dtype=float).reshape(-1, 3)
    except ValueError:
        raise MeshError("is not a valid OBJ file") from None
    if sum(len(counts) for _, counts in faces.values()) > MAX_TRIANGLES:
        raise MeshError(f"has more than {MAX_TRIANGLES:,} triangles")
    found = [(fans(np.array(c, dtype=np.int64), np.array(n)), colours.get(m, "")) for m, (c, n) in faces.items() if n]
    return [piece_of(points, triangles, colour) for triangles, colour in found]


def _name(line: bytes) -> str:
    return line.split(None, 1)[-1].strip().decode(errors="replace")


def _colours(data: bytes) -> dict[str, str]:
    """Return the diffuse colours (Kd) of an .mtl file."""
    found, name = {}, ""
    for line in data.splitlines():
        words = line.split()
        if words and words[0] == b"newmtl":
            name = _name(line)
        elif words and words[0] == b"Kd" and len(words) >= 4:
            found[name] = hex_colour([float(w) for w in words[1:4]])
    return found
