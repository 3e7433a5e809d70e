"""Solids of a drawing as triangles, with their colours."""

from __future__ import annotations

import numpy as np

from ..model.drawing import Drawing, Solid

COLOURS = ("#1769aa", "#7aa7cf", "#4c9a97", "#9fb3c8", "#5b7db1", "#2f8fa3")  # of groups of solids
BASE_COLOUR = "#8a96a3"
LIGHT = np.array([-0.35, -0.7, 0.62])  # the direction to it; the viewer looks along y
SHADOW = 0.45  # brightness of a face turned away from the light

Mesh = tuple[np.ndarray, list[tuple[int, ...]]]  # vertices, triangles


def colour_of(solid: Solid) -> str:
    """Return the colour of a solid, or of its group."""
    return solid.colour or (BASE_COLOUR if solid.group < 0 else COLOURS[solid.group % len(COLOURS)])


def has_surfaces(drawing: Drawing) -> bool:
    """Whether a drawing has meshes, and is drawn filled."""
    return any(solid.surface is not None for solid in drawing.solids)


def filled_triangles(drawing: Drawing) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of all solids (n x 3 x 2: x, z) as seen along y, from back to front, and their colours."""
    corners, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
    for solid in drawing.solids:
        if solid.real:
            vertices, faces = mesh(solid)
            world = np.asarray(solid.position) + vertices @ np.asarray(solid.rotation).T
            corners.append(world[np.array(faces)])
            text = colour_of(solid)
            rgb = np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255
            colours.append(np.tile(rgb, (len(faces), 1)))
    points, rgb = np.concatenate(corners), np.concatenate(colours)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    normals *= np.where(normals[:, 1] > 0, -1.0, 1.0)[:, None]  # towards the viewer: files differ in their orientation
    bright = SHADOW + (1 - SHADOW) * np.clip(normals @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
    order = np.argsort(-points[:, :, 1].mean(axis=1), kind="stable")
    return points[order][:, :, [0, 2]], np.clip(rgb * bright[:, None], 0.0, 1.0)[order]


def mesh(solid: Solid) -> Mesh:
    """Return the mesh of a solid around its middle: its surface, or rings of vertices, one above the other."""
    if solid.surface is not None:
        vertices, triangles = solid.surface
        return vertices, triangles.tolist()
    rings = _rings(solid)
    n, last = len(rings[0]), (len(rings) - 1) * len(rings[0])
    ends = [rings[0].mean(axis=0), rings[-1].mean(axis=0)]  # close the mesh below and above
    vertices = np.concatenate([*rings, ends])
    faces: list[tuple[int, ...]] = []
    for k in range(n):
        m = (k + 1) % n
        faces += [(len(vertices) - 2, m, k), (len(vertices) - 1, last + k, last + m)]
        for r in range(0, last, n):
            faces += [(r + k, r + m, r + n + m), (r + k, r + n + m, r + n + k)]
    return vertices, faces


def _rings(solid: Solid) -> list[np.ndarray]:
    if solid.kind == "box":
        corners = ((1, 1), (-1, 1), (-1, -1), (1, -1))
        return [np.array(solid.size) / 2 * [[x, y, z] for x, y in corners] for z in (-1, 1)]
    turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    around, up = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1), np.array([0.0, 0.0, 1.0])
    radius = solid.size[0]
    if solid.kind == "cylinder":
        return [radius * around + z * solid.size[1] / 2 * up for z in (-1, 1)]
    latitudes = np.linspace(-np.pi / 2 + 0.1, np.pi / 2 - 0.1, 11)
    return [radius * (np.cos(b) * around + np.sin(b) * up) for b in latitudes]
