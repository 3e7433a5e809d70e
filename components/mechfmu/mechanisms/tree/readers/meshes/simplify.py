"""Fewer triangles: the vertices in each cell of a grid become one.

The one vertex x of a cell has the least sum of squared distances from the planes of its triangles, n . x = n . c with
normal n, a point c and area a, so that edges stay sharp (Lindstrom 2000):

    (sum a n n^T + e I) (x - m) = sum a n n^T (c - m)                                                    (1)

m is the mean of the cell's vertices; e makes (1) solvable on planes and along edges, and x stays in the cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

REGULAR = 1e-3  # e of (1), relative to the trace of the matrix
FINEST = 256  # cells along the longest side
TRIES = 6  # of the size of the cells
FULL_ENOUGH = 0.75  # of the allowed triangles

Mesh = tuple[np.ndarray, np.ndarray]


def simplified(vertices: np.ndarray, triangles: np.ndarray, allowed: int) -> Mesh:
    """Return a surface of at most `allowed` triangles that looks alike; possibly empty."""
    mesh = _welded(vertices, triangles)
    if len(mesh[1]) <= allowed:
        return mesh
    if len(mesh[1]) > 20 * allowed:
        mesh = _clustered(*mesh, FINEST)
    best: Mesh = (np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    cells, low, high = max(1, int(np.sqrt(allowed / 4))), 0, FINEST + 1
    for _ in range(TRIES):
        if not low < cells < high:
            break
        found = _clustered(*mesh, cells)
        count = len(found[1])
        if count <= allowed:
            best, low = (found if count >= len(best[1]) else best), cells
            if count >= FULL_ENOUGH * allowed:
                break
        else:
            high = cells
        cells = int(np.clip(round(cells * np.sqrt(0.9 * allowed / max(count, 1))), low + 1, high - 1))
    return best


def shares(counts: Sequence[int], total: int, largest: int) -> list[int]:
    """Return how many triangles each may keep: the small ones all, the others the same number."""
    wanted = [min(count, largest) for count in counts]
    if sum(wanted) <= total:
        return wanted
    left, level = total, 0
    for done, count in enumerate(sorted(wanted)):
        level = left // (len(wanted) - done)
        if count > level:
            break
        left -= count
    return [min(count, level) for count in wanted]


def _welded(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    """Equal vertices become one."""
    low = vertices.min(axis=0)
    step = max(float(np.max(vertices.max(axis=0) - low)), 1e-12) / 2**20
    first, number = _unique_cells(np.round((vertices - low) / step).astype(np.int64), 2**20 + 1)
    return vertices[first], _proper(number[triangles])


def _clustered(vertices: np.ndarray, triangles: np.ndarray, cells: int) -> Mesh:
    low = vertices.min(axis=0)
    side = max(float(np.max(vertices.max(axis=0) - low)), 1e-12) / cells
    place = np.minimum(((vertices - low) / side).astype(np.int64), cells - 1)
    first, number = _unique_cells(place, cells)
    count = len(first)

    def summed(values: np.ndarray, at: np.ndarray) -> np.ndarray:
        columns = np.reshape(values, (len(at), -1)).T
        return np.stack([np.bincount(at, column, count) for column in columns], axis=1)

    mean = summed(vertices, number) / np.bincount(number, minlength=count)[:, None]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)  # of twice the area
    area = np.linalg.norm(normal, axis=1)
    planes = np.einsum("ti,tj,t->tij", normal, normal, 1 / np.maximum(area, 1e-300))
    matrix, right = np.zeros((count, 9)), np.zeros((count, 3))
    for k in range(3):
        at = number[triangles[:, k]]
        matrix += summed(planes, at)
        right += summed(np.einsum("tij,tj->ti", planes, vertices[triangles[:, k]] - mean[at]), at)
    trace = matrix[:, 0] + matrix[:, 4] + matrix[:, 8]
    regular = np.maximum(REGULAR * trace, 1e-30)[:, None, None] * np.eye(3)
    scale = np.maximum(trace, 1e-30)
    system = (np.reshape(matrix, (-1, 3, 3)) + regular) / scale[:, None, None]
    moved = mean + np.linalg.solve(system, (right / scale[:, None])[:, :, None])[:, :, 0]  # (1)
    corner = low + side * place[first]
    return np.clip(moved, corner, corner + side), _proper(number[triangles])


def _unique_cells(place: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first vertex in each cell, and for each vertex the number of its cell."""
    key = place[:, 0] + cells * (place[:, 1] + cells * place[:, 2])
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, np.ravel(number)


def _proper(triangles: np.ndarray) -> np.ndarray:
    """Without those that have become lines, points, or the same as another."""
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    low, middle, high = np.sort(triangles, axis=1).T
    count = int(triangles.max(initial=0)) + 1
    pairs = low * count + middle
    order = np.lexsort((high, pairs))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(pairs[order]) != 0) | (np.diff(high[order]) != 0)
    return triangles[np.sort(order[new])]
