"""What the pages with the 3-D view (view/web) need to know about a drawing, and the numbers of a frame.

A scene says which parts there are: numbers of points, shapes, colours, names. A frame is one vector with all numbers
that change with time, in the order of model/drawing.py: drawn_numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model.drawing import Drawing, drawn_numbers
from .solids import colour_of

MIN_SIZE = 1e-3  # m
ROOM = 0.5  # around a drawing that will move, relative to its extent


def scene_of(drawings: Mapping[str, Drawing], low: np.ndarray, high: np.ndarray, size: float) -> dict[str, Any]:
    """Return the scene of a mechanism, or of the members of a system by their names.

    drawings: at any time; low, high: the limits of the first view; size: the typical size of the mechanism [m]
    """
    seen = {name: d for name, d in drawings.items() if d}
    dimension = max(d.dimension for d in seen.values())
    members = [{"name": name, **_parts(d)} for name, d in seen.items() if d.dimension == dimension]
    return {"dimension": dimension, "members": members, "low": low.tolist(), "high": high.tolist(), "size": size}


def frame_of(drawing: Drawing) -> np.ndarray:
    """Return the numbers of a drawing."""
    return np.concatenate([np.zeros(0), *(np.ravel(part) for part in drawn_numbers(drawing))])


def limits_with_room(drawings: Sequence[Drawing]) -> tuple[np.ndarray, np.ndarray, float]:
    """Return low, high and size for drawings at the start, with room for the motion."""
    points = np.concatenate([points_of(d) for d in drawings if d])
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    size = max(float(np.max(high - low)), MIN_SIZE)
    middle, half = (low + high) / 2, ROOM * size + (high - low) / 2
    return middle - half, middle + half, size


def points_of(drawing: Drawing) -> np.ndarray:
    """Return the points of a drawing that should be visible; of a solid, the corners of a box around it."""
    dimension = drawing.dimension
    lines = [np.reshape(line, (-1, dimension)) for line in (*drawing.lines, *drawing.outlines, *drawing.ground)]
    return np.concatenate([np.zeros((0, dimension)), *lines, *(_corners(solid) for solid in drawing.solids)])


def _corners(solid: Any) -> np.ndarray:
    sides = {"box": solid.size, "mesh": solid.size, "sphere": (2 * solid.size[0],) * 3}
    size = sides.get(solid.kind) or (2 * solid.size[0], 2 * solid.size[0], solid.size[-1])
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    return np.asarray(solid.position) + corners @ np.asarray(solid.rotation).T


def _parts(drawing: Drawing) -> dict[str, Any]:
    return {
        "lines": [len(line) for line in drawing.lines],
        "outlines": [len(line) for line in drawing.outlines],
        "ground": [len(line) for line in drawing.ground],
        "floors": len(drawing.floors),
        "solids": [_solid(solid) for solid in drawing.solids],
        "arrows": [{"name": a.name, "kind": a.kind, "inner": a.inner} for a in drawing.arrows],
        "moments": [{"name": m.name} for m in drawing.moments],
        "traced": len(drawing.trail_points),
    }


def _solid(solid: Any) -> dict[str, Any]:
    found = {"kind": solid.kind, "size": list(solid.size), "colour": colour_of(solid), "real": solid.real}
    found["group"] = solid.group
    if solid.surface is not None:
        vertices, triangles = solid.surface
        found["mesh"] = {"vertices": encoded(vertices, np.float32), "triangles": encoded(triangles, np.uint32)}
    return found


def encoded(numbers: Any, kind: type = np.float32) -> str:
    """Return numbers as base64, little-endian."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()
