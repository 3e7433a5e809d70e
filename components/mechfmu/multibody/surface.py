"""Surfaces made of triangles for the drawing of bodies, and their compact text.

The text is base64 of little-endian 16-bit numbers: the number of vertices; their coordinates x, y, z, from 0 to 65535
across the bounding box; the triangles, three vertices each.
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache

import numpy as np

Surface = tuple[np.ndarray, np.ndarray]  # vertices around the middle of the bounding box in m; triangles
FULL = 65535


def surface_text(vertices: np.ndarray, triangles: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the text, the lengths of the bounding box and its middle."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    coordinates = np.round((vertices - low) / span * FULL)
    numbers = np.concatenate([[len(vertices)], coordinates.ravel(), triangles.ravel()]).astype("<u2")
    return base64.b64encode(numbers.tobytes()).decode(), high - low, (low + high) / 2


@lru_cache(maxsize=1000)
def surface_of(text: str, size: tuple[float, ...]) -> Surface:
    """Return the surface of a text in a bounding box; ValueError if it is not one."""
    try:
        numbers = np.frombuffer(base64.b64decode(text, validate=True), dtype="<u2").astype(int)
    except (binascii.Error, ValueError):
        raise ValueError("is not base64 of 16-bit numbers") from None
    count = int(numbers[0]) if len(numbers) else 0
    if not count or len(numbers) % 3 != 1 or len(numbers) < 1 + 3 * count:
        raise ValueError("is cut off")
    vertices, triangles = np.reshape(numbers[1:], (-1, 3))[:count], np.reshape(numbers[1:], (-1, 3))[count:]
    if np.any(triangles >= count):
        raise ValueError(f"a triangle has a vertex that does not exist (there are {count})")
    return (vertices / FULL - 0.5) * np.array(size), triangles
