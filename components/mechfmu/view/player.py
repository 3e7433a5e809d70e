"""The player: the moving mechanism as one page that works offline.

The page consists of player.html, player.css, player.js, plotly.js, and the data of one result: the drawings of all its
frames and the signals that can be plotted beside them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from plotly.offline import get_plotlyjs

from ..model.drawing import Drawing, joined
from ..simulation.result import Result
from .plot import MIN_SPAN
from .solids import Mesh, colour_of, mesh

HERE = Path(__file__).parent
MAX_FRAMES = 1500  # more than a screen shows in half a minute
MAX_NUMBERS = 3_000_000  # of all frames together: about 12 MB
MAX_SIGNALS = 300  # that can be selected; a mechanism with 1,000 joints has more
DEFAULT_CURVES = 3  # shown beside the energies when no signals are selected
ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
MAX_ARROW = 0.2  # relative to the size of the mechanism: 90 % of the arrows are shorter
MAX_ARC = 4.0  # rad: 90 % of the moments have a shorter arc
FULL_ARC = 5.5  # rad: no arc is longer, so that its head does not cover its start


def player_page(
    result: Result,
    signals: Sequence[str] | None = None,
    speed: float = 1.0,
    max_frames: int = MAX_FRAMES,
    max_numbers: int = MAX_NUMBERS,
) -> str:
    """Return the page; signals: those plotted at first (default: the energies and the first few signals)."""
    assert result.mechanism is not None
    first = result.mechanism.drawing(result.at(0))
    numbers = sum(np.size(line) for line in (*first.lines, *first.outlines, *first.ground))
    numbers += 12 * len(first.solids) + 6 * (len(first.arrows) + len(first.moments))
    count = int(min(len(result.t), max_frames, max(2, max_numbers // max(numbers, 1))))
    frames = np.unique(np.linspace(0, len(result.t) - 1, count).round().astype(int))
    drawings = [result.mechanism.drawing(result.at(int(i))) for i in frames]
    data = {"speed": speed, "minSpan": 100 * MIN_SPAN, "times": _encoded(result.t[frames], np.float64)}
    data |= {**_scene(drawings), **_signals(result, frames, signals)}
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return Template((HERE / "player.html").read_text(encoding="utf-8")).substitute(
        title=escape(result.title),
        subtitle=escape(result.mechanism.title),
        plotly=get_plotlyjs(),
        style=(HERE / "player.css").read_text(encoding="utf-8"),
        script=(HERE / "player.js").read_text(encoding="utf-8"),
        data=text.replace("<", "\\u003c"),  # no name can end the script element
    )


def _encoded(numbers: Any, kind: type = np.float32) -> str:
    """Return numbers as base64, little-endian."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def _scene(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """Return everything that moves in the drawing, and its limits."""
    first, count, dimension = drawings[0], len(drawings), drawings[0].dimension
    lines, outlines, ground = (
        [joined(getattr(d, part), dimension) for d in drawings] for part in ("lines", "outlines", "surroundings")
    )
    traced = np.array([d.trail_points for d in drawings], dtype=float).reshape(count, -1, dimension)
    poses = _poses(drawings)
    meshes = [mesh(solid) for solid in first.solids]
    corners = [
        np.einsum("fij,vj->fvi", poses[:, s, :9].reshape(-1, 3, 3), vertices) + poses[:, s, None, 9:]
        for s, vertices in enumerate(_outer_vertices(first, meshes))
    ]
    frames = [
        np.concatenate([*parts, *(c[i] for c in corners)]) for i, parts in enumerate(zip(lines, outlines, strict=True))
    ]
    surroundings = [traced.reshape(-1, dimension), *ground]
    span = max(_extent(np.concatenate([*frames, *surroundings])), 1e-3)
    size = min(span, max(2 * max(_extent(frame) for frame in frames), 1e-3))  # also fits a mechanism that travels far

    arrows, tips, force_note = _arrows(drawings, size)
    moments, moment_note = _moments(drawings)
    low, high = _limits(np.concatenate([*frames, *surroundings, tips]), span)
    solids = [
        {"vertices": vertices.round(6).tolist(), "faces": faces, "edges": edges, "colour": colour_of(solid)}
        for solid, (vertices, faces, edges) in zip(first.solids, meshes, strict=True)
    ]
    return {
        "dimension": dimension,
        "low": low.tolist(),
        "high": high.tolist(),
        "size": size,
        "lines": _series(lines),
        "outlines": _series(outlines),
        "ground": _series(ground),
        "solids": solids,
        "poses": _encoded(poses),
        "glass": sum(s.real for s in first.solids) * 2 < len(first.solids),
        "arrows": arrows,
        "moments": moments,
        "note": "   ".join(filter(None, (force_note, moment_note))),
        "traced": {"count": traced.shape[1], "where": _encoded(traced)},
    }


def _outer_vertices(drawing: Drawing, meshes: Sequence[Mesh]) -> list[np.ndarray]:
    """Return the points that decide the limits: of a surface, the corners of its bounding box."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    pairs = zip(drawing.solids, meshes, strict=True)
    return [corners * solid.size if solid.kind == "mesh" else vertices for solid, (vertices, _, _) in pairs]


def _poses(drawings: Sequence[Drawing]) -> np.ndarray:
    """Return frame x solid x (rotation by rows, position)."""
    poses = [[(*np.ravel(s.rotation), *s.position) for s in d.solids] for d in drawings]
    return np.array(poses, dtype=float).reshape(len(drawings), len(drawings[0].solids), 12)


def _limits(points: np.ndarray, span: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the axes: room for all points, and no axis much shorter than the others."""
    dimension = points.shape[1]
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    middle = (low + high) / 2
    half = np.maximum((high - low) / 2 * 1.08, (0.12 if dimension == 2 else 0.3) * span)
    floor = np.where(np.arange(dimension) == 2, low, middle - half)  # the floor is at the lowest point
    return floor, middle + half


def _arrows(drawings: Sequence[Drawing], size: float) -> tuple[dict[str, Any], np.ndarray, str]:
    """Return the forces that are not always zero, the tips of arrows of typical length, and a note on their scale."""
    frames, kinds, dimension = len(drawings), [a.kind for a in drawings[0].arrows], drawings[0].dimension
    forces = np.array([[a.force for a in d.arrows] for d in drawings], dtype=float)
    forces = forces.reshape(frames, len(kinds), dimension)
    places = np.array([[a.at for a in d.arrows] for d in drawings], dtype=float).reshape(forces.shape)
    sizes = np.linalg.norm(forces, axis=2)
    scale = MAX_ARROW * size / _typical(sizes)  # m per N
    kept = [n for n in range(len(kinds)) if np.any(sizes[:, n])]
    vectors = scale * forces
    tips = places + vectors * np.minimum(1.0, MAX_ARROW * size / np.maximum(scale * sizes, 1e-300))[:, :, None]
    newtons = _round_number(0.15 * size / scale)
    note = f"{_text(newtons * scale)} m ≙ {_text(newtons)} N" if kept else ""
    where = np.concatenate([places, vectors], axis=2)[:, kept]
    return {"kinds": [kinds[n] for n in kept], "where": _encoded(where)}, tips[:, kept].reshape(-1, dimension), note


def _moments(drawings: Sequence[Drawing]) -> tuple[dict[str, Any], str]:
    """Return the moments that are not always zero, each as an angle about its axis, and a note on their scale."""
    frames, count, dimension = len(drawings), len(drawings[0].moments), drawings[0].dimension
    components = 1 if dimension == 2 else 3
    moments = np.array([[np.atleast_1d(m.moment) for m in d.moments] for d in drawings], dtype=float)
    moments = moments.reshape(frames, count, components)
    places = np.array([[m.at for m in d.moments] for d in drawings], dtype=float).reshape(frames, count, dimension)
    sizes = np.linalg.norm(moments, axis=2)
    scale = MAX_ARC / _typical(sizes)  # rad per N m
    kept = [n for n in range(count) if np.any(sizes[:, n])]
    angles = scale * moments * np.minimum(1.0, FULL_ARC / np.maximum(scale * sizes, 1e-300))[:, :, None]
    newton_metres = _round_number(np.pi / 2 / scale)
    note = f"{_text(np.degrees(newton_metres * scale))}° ≙ {_text(newton_metres)} N m" if kept else ""
    return {"count": len(kept), "where": _encoded(np.concatenate([places, angles], axis=2)[:, kept])}, note


def _extent(points: np.ndarray) -> float:
    """Return the longest side of the bounding box; 0 without points."""
    return float(np.max(np.nanmax(points, axis=0) - np.nanmin(points, axis=0))) if len(points) else 0.0


def _typical(sizes: np.ndarray) -> float:
    """Return the 90 % quantile of the nonzero sizes: the largest may belong to a few impacts."""
    return float(np.quantile(sizes[sizes > 0], 0.9)) if np.any(sizes > 0) else 1.0


def _series(frames: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return the points of all frames; frame i has the rows starts[i] to ends[i]. Equal frames are stored once."""
    kept: list[np.ndarray] = []
    starts, ends, rows = [], [], 0
    for points in frames:
        if not kept or not np.array_equal(points, kept[-1], equal_nan=True):
            kept.append(points)
            rows += len(points)
        starts.append(rows - len(points))
        ends.append(rows)
    return {"points": _encoded(np.concatenate(kept)), "starts": starts, "ends": ends}


def _round_number(x: float) -> float:
    """Return the largest number up to x that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(m for m in (1, 2, 5) if m * power <= x * (1 + 1e-9)))


def _text(x: float) -> str:
    return f"{float(f'{x:.2g}'):,.12g}"


def _signals(result: Result, frames: np.ndarray, chosen: Sequence[str] | None) -> dict[str, Any]:
    """Return the signals that are plotted at first, and those that can be selected."""
    for name in chosen or ():
        result[name]  # raises a UserError for an unknown name
    energies = [n for n in result.names if n.endswith(ENERGIES)]
    others = [n for n in result.names if "energy." not in n]
    others.sort(key=lambda n: not result.shown[n].unit)  # quaternions, which have no unit, come last
    shown = list(chosen) if chosen else [*energies, *others[:DEFAULT_CURVES]]
    kept = list(dict.fromkeys([*shown, *energies, *result.names]))[: max(MAX_SIGNALS, len(shown))]
    found = []
    for name in kept:
        how = result.shown[name]
        values = how.factor * result[name][frames] + how.offset
        found.append({"name": name, "unit": how.unit, "values": _encoded(values, np.float64)})
    return {"signals": found, "chosen": shown}
