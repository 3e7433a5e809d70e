"""Numbers over time as compressed text for a page: what does not change, or equals another number, is kept once."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np

from .scene_data import encoded


def packed(rows: np.ndarray) -> dict[str, Any]:
    """Return a table of numbers, one row for each instant, for view/web/recorded.js: packed as 32-bit floats.

    Each column is its first number and the differences of the bit patterns from row to row, which are small integers
    where a number changes smoothly. Bytes of equal weight stand together, then gzip finds the zeros among them.
    """
    bits = np.ascontiguousarray(rows.T, dtype="<f4").view("<i4")
    places: dict[bytes, int] = {}
    place = [places.setdefault(column.tobytes(), len(places)) for column in bits]
    kept = np.array([np.frombuffer(column, dtype="<i4") for column in places], dtype="<i4").reshape(-1, len(rows))
    changes = np.diff(kept, axis=1, prepend=np.zeros((len(kept), 1), dtype="<i4"))  # wraps around, as it does there
    moving = np.any(changes[:, 1:], axis=1)
    order = np.argsort(moving, kind="stable")
    where = np.argsort(order)[np.array(place, dtype=int)]
    numbers = np.concatenate([changes[order][:, 0], np.ravel(changes[moving][:, 1:])])
    weights = np.ascontiguousarray(numbers, dtype="<i4").view(np.uint8).reshape(-1, 4).T
    return {
        "rows": len(rows),
        "columns": encoded(where, np.uint32),
        "kept": len(kept),
        "moving": int(moving.sum()),
        "numbers": base64.b64encode(gzip.compress(weights.tobytes(), mtime=0)).decode(),
    }
