"""A part of a mesh in one colour, and the limits of what is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_BYTES = 50_000_000  # of a file; the largest of example-robot-data has 29 MB
MAX_TRIANGLES = 1_000_000  # of a file


class MeshError(Exception):
    """Why a mesh cannot be drawn."""


@dataclass(frozen=True)
class Piece:
    """Triangles of one colour."""

    vertices: np.ndarray  # m
    triangles: np.ndarray
    colour: str = ""  # "#rrggbb"; empty: not given


def piece_of(vertices: np.ndarray, triangles: np.ndarray, colour: str = "") -> Piece:
    """Return a checked piece, with the vertices that it uses."""
    if len(triangles) > MAX_TRIANGLES:
        raise MeshError(f"has more than {MAX_TRIANGLES:,} triangles")
    if len(triangles) and not (triangles.min() >= 0 and triangles.max() < len(vertices)):
        raise MeshError("a triangle has a vertex that does not exist")
    used, triangles = np.unique(triangles, return_inverse=True)
    vertices = np.asarray(vertices, dtype=float)[used]
    if not np.all(np.abs(vertices) < 1e9):  # also excludes nan
        raise MeshError("a vertex is not finite or far away")
    return Piece(vertices, np.reshape(triangles, (-1, 3)), colour)


def fans(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the triangles of polygons: corners one polygon after the other, and how many each has."""
    counts = np.asarray(counts, dtype=np.int64)
    if np.any(counts < 0) or counts.sum() > len(corners):
        raise MeshError("a polygon is cut off")
    starts, fan = np.cumsum(counts) - counts, np.maximum(counts - 2, 0)
    if fan.sum() > MAX_TRIANGLES:
        raise MeshError(f"has more than {MAX_TRIANGLES:,} triangles")
    first = np.repeat(starts, fan)
    second = first + 1 + np.arange(int(fan.sum())) - np.repeat(np.cumsum(fan) - fan, fan)
    return np.stack([corners[first], corners[second], corners[second + 1]], axis=1)


def hex_colour(rgb: np.ndarray | tuple[float, ...] | list[float]) -> str:
    """Return "#rrggbb" of red, green and blue from 0 to 1; empty if they are not three numbers."""
    given = np.asarray(rgb, dtype=float)[:3]
    if len(given) < 3 or not np.all(np.isfinite(given)):
        return ""
    values = np.round(255 * np.clip(given, 0.0, 1.0)).astype(int)
    return "#" + "".join(f"{v:02x}" for v in values)
