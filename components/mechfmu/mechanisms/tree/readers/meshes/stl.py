"""Reader of STL, binary and text: triangles with three vertices each."""

from __future__ import annotations

import numpy as np

from .piece import MAX_TRIANGLES, MeshError, Piece, piece_of

HEADER = 80
RECORD = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(data: bytes) -> list[Piece]:
    """Return the one piece of a file. A binary file is recognised by its length, as many begin with "solid"."""
    start = HEADER + 4
    count = int.from_bytes(data[HEADER:start], "little") if len(data) >= start else -1
    if len(data) == start + count * RECORD.itemsize or (count >= 0 and not data.lstrip().startswith(b"solid")):
        if count > MAX_TRIANGLES:
            raise MeshError(f"has more than {MAX_TRIANGLES:,} triangles")
        if len(data) < start + count * RECORD.itemsize:
            raise MeshError("is cut off")
        points = np.frombuffer(data, RECORD, count, start)["vertices"].reshape(-1, 3)
    else:
        points = _text_points(data)
    return [piece_of(points, np.arange(len(points)))]


def _text_points(data: bytes) -> np.ndarray:
    if not data.lstrip().startswith(b"solid"):
        raise MeshError("is not an STL file")
    lines = (line.split() for line in data.splitlines())
    rows = [line[1:4] for line in lines if line and line[0] == b"vertex"]
    try:
        points = np.array(rows, dtype=float).reshape(-1, 3)
    except ValueError:
        raise MeshError("a vertex does not have three numbers") from None
    if len(points) % 3:
        raise MeshError("is cut off")
    return points
