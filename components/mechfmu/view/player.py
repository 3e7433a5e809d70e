"""The moving mechanism as one page that works offline: player.html, .css and .js, plotly.js, and the data of one result."""

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

from ..model.drawing import Drawing, Solid, joined
from ..simulation.result import Result
from .plot import LEAST_SPAN

HERE = Path(__file__).parent
FRAMES_AT_MOST = 1500  # more than a screen shows in half a minute
NUMBERS_AT_MOST = 3_000_000  # of all frames together: a dozen megabytes
SIGNALS_AT_MOST = 300  # that can be chosen from; a machine of a thousand joints has more
CURVES = 3  # shown beside the energies when nothing is chosen
ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
LONGEST_ARROW = 0.2  # of the size below: nine of ten arrows are shorter
LONGEST_ARC = 4.0  # rad: nine of ten moments have a shorter one
FULL_ARC = 5.5  # rad: no moment has a longer one, or its head would bite its tail
COLOURS = ("#1769aa", "#7aa7cf", "#4c9a97", "#9fb3c8", "#5b7db1", "#2f8fa3")  # of groups of solids, one after the other
BASE_COLOUR = "#8a96a3"


def player_page(
    result: Result,
    signals: Sequence[str] | None = None,
    speed: float = 1.0,
    frames_at_most: int = FRAMES_AT_MOST,
    numbers_at_most: int = NUMBERS_AT_MOST,
) -> str:
    """The page. signals: what is plotted beside the drawing at first (default: the energies and the first few signals)."""
    assert result.mechanism is not None
    first = result.mechanism.drawing(result.at(0))
    numbers = (
        sum(np.size(line) for line in (*first.lines, *first.outlines, *first.ground))
        + 12 * len(first.solids)
        + 6 * (len(first.arrows) + len(first.moments))
    )
    count = int(min(len(result.t), frames_at_most, max(2, numbers_at_most // max(numbers, 1))))
    frames = np.unique(np.linspace(0, len(result.t) - 1, count).round().astype(int))
    drawings = [result.mechanism.drawing(result.at(int(i))) for i in frames]
    data = {"speed": speed, "leastSpan": 100 * LEAST_SPAN, "times": _packed(result.t[frames], np.float64)}
    data |= {**_scenery(drawings), **_signals(result, frames, signals)}
    return Template((HERE / "player.html").read_text(encoding="utf-8")).substitute(
        title=escape(result.title),
        subtitle=escape(result.mechanism.title),
        plotly=get_plotlyjs(),
        style=(HERE / "player.css").read_text(encoding="utf-8"),
        script=(HERE / "player.js").read_text(encoding="utf-8"),
        data=json.dumps(data, allow_nan=False, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),  # no name may end the script element
    )


def _packed(numbers: Any, kind: type = np.float32) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def _scenery(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """All that moves on the stage, and how much room it takes."""
    first, dimension = drawings[0], drawings[0].dimension
    lines, outlines, ground = (
        [joined(getattr(d, part), dimension) for d in drawings] for part in ("lines", "outlines", "ground")
    )
    traced = np.array([d.trail_points for d in drawings], dtype=float).reshape(len(drawings), -1, dimension)
    poses = np.array([[(*np.ravel(s.rotation), *s.position) for s in d.solids] for d in drawings], dtype=float).reshape(
        len(drawings), len(first.solids), 12
    )
    meshes = [mesh(solid) for solid in first.solids]
    corners = [
        np.einsum("fij,vj->fvi", poses[:, s, :9].reshape(-1, 3, 3), v) + poses[:, s, None, 9:]
        for s, (v, _, _) in enumerate(meshes)
    ]
    frames = [
        np.concatenate([*parts, *(c[i] for c in corners)]) for i, parts in enumerate(zip(lines, outlines, strict=True))
    ]
    surroundings = [traced.reshape(-1, dimension), *ground]
    span = max(_extent(np.concatenate([*frames, *surroundings])), 1e-3)
    size = min(
        span, max(2 * max(_extent(frame) for frame in frames), 1e-3)
    )  # arrows fit the mechanism, even when it goes far

    arrows, tips, force_note = _arrows(drawings, size)
    moments, moment_note = _moments(drawings)
    everything = np.concatenate([*frames, *surroundings, tips])
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    middle, half = (
        (low + high) / 2,
        np.maximum((high - low) / 2 * 1.08, (0.12 if dimension == 2 else 0.3) * span),
    )  # no axis squeezed to nothing
    floor = np.where(np.arange(dimension) == 2, low, middle - half)  # the floor of a scene is where its lowest point is
    return {
        "dimension": dimension, "low": floor.tolist(), "high": (middle + half).tolist(), "size": size,
        "lines": _series(lines), "outlines": _series(outlines), "ground": _series(ground),
        "solids": [{"vertices": v.round(6).tolist(), "faces": f, "edges": e, "colour": _colour(s)} for s, (v, f, e) in zip(first.solids, meshes, strict=True)],
        "poses": _packed(poses), "glass": sum(s.real for s in first.solids) * 2 < len(first.solids),
        "arrows": arrows, "moments": moments, "note": "   ".join(filter(None, (force_note, moment_note))),
        "traced": {"count": traced.shape[1], "where": _packed(traced)},
    }  # fmt: skip


def _arrows(drawings: Sequence[Drawing], size: float) -> tuple[dict[str, Any], np.ndarray, str]:
    """The forces that are ever there, the points of their arrows where they are of usual length, and how long one is for its force."""
    kinds, dimension = [a.kind for a in drawings[0].arrows], drawings[0].dimension
    forces = np.array([[a.force for a in d.arrows] for d in drawings], dtype=float).reshape(
        len(drawings), len(kinds), dimension
    )
    places = np.array([[a.at for a in d.arrows] for d in drawings], dtype=float).reshape(forces.shape)
    sizes = np.linalg.norm(forces, axis=2)
    scale = LONGEST_ARROW * size / _usual(sizes)  # m per N
    kept = [n for n in range(len(kinds)) if np.any(sizes[:, n])]
    vectors = scale * forces
    tips = places + vectors * np.minimum(1.0, LONGEST_ARROW * size / np.maximum(scale * sizes, 1e-300))[:, :, None]
    newtons = _round_number(0.15 * size / scale)
    note = f"{_text(newtons * scale)} m ≙ {_text(newtons)} N" if kept else ""
    where = np.concatenate([places, vectors], axis=2)[:, kept]
    return {"kinds": [kinds[n] for n in kept], "where": _packed(where)}, tips[:, kept].reshape(-1, dimension), note


def _moments(drawings: Sequence[Drawing]) -> tuple[dict[str, Any], str]:
    """The moments that are ever there, each as an angle about its axis, and which angle stands for which moment."""
    count, dimension = len(drawings[0].moments), drawings[0].dimension
    moments = np.array([[np.atleast_1d(m.moment) for m in d.moments] for d in drawings], dtype=float).reshape(
        len(drawings), count, 1 if dimension == 2 else 3
    )
    places = np.array([[m.at for m in d.moments] for d in drawings], dtype=float).reshape(
        len(drawings), count, dimension
    )
    sizes = np.linalg.norm(moments, axis=2)
    scale = LONGEST_ARC / _usual(sizes)  # rad per N m
    kept = [n for n in range(count) if np.any(sizes[:, n])]
    angles = scale * moments * np.minimum(1.0, FULL_ARC / np.maximum(scale * sizes, 1e-300))[:, :, None]
    newton_metres = _round_number(np.pi / 2 / scale)
    note = f"{_text(np.degrees(newton_metres * scale))}° ≙ {_text(newton_metres)} N m" if kept else ""
    return {"count": len(kept), "where": _packed(np.concatenate([places, angles], axis=2)[:, kept])}, note


def _extent(points: np.ndarray) -> float:
    """The longest side of the box around some points; 0 without any."""
    return float(np.max(np.nanmax(points, axis=0) - np.nanmin(points, axis=0))) if len(points) else 0.0


def _usual(sizes: np.ndarray) -> float:
    """What nine of ten are not above, the largest ones may be a few knocks. Those that are zero do not count."""
    return float(np.quantile(sizes[sizes > 0], 0.9)) if np.any(sizes > 0) else 1.0


def _series(frames: Sequence[np.ndarray]) -> dict[str, Any]:
    """Points of all frames; frame i has the rows starts[i] to ends[i]. What stands still is there once."""
    kept: list[np.ndarray] = []
    starts, ends, rows = [], [], 0
    for points in frames:
        if not kept or not np.array_equal(points, kept[-1], equal_nan=True):
            kept.append(points)
            rows += len(points)
        starts.append(rows - len(points))
        ends.append(rows)
    return {"points": _packed(np.concatenate(kept)), "starts": starts, "ends": ends}


def _round_number(x: float) -> float:
    """1, 2 or 5 times a power of ten, not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * max(m for m in (1, 2, 5) if m * power <= x * (1 + 1e-9)))


def _text(x: float) -> str:
    return f"{float(f'{x:.2g}'):,.12g}"


def _colour(solid: Solid) -> str:
    return BASE_COLOUR if solid.group < 0 else COLOURS[solid.group % len(COLOURS)]


def mesh(solid: Solid) -> tuple[np.ndarray, list[tuple[int, ...]], list[list[int]]]:
    """Vertices around the solid's middle, triangles of their numbers, and polylines of them along its edges: rings of vertices, one above the other."""
    turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    around, up = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1), np.array([0.0, 0.0, 1.0])
    if solid.kind == "box":
        rings = [
            np.array(solid.size) / 2 * [[x, y, z] for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))] for z in (-1, 1)
        ]
    elif solid.kind == "cylinder":
        rings = [solid.size[0] * around + z * solid.size[1] / 2 * up for z in (-1, 1)]
    else:
        rings = [
            solid.size[0] * (np.cos(b) * around + np.sin(b) * up)
            for b in np.linspace(-np.pi / 2 + 0.1, np.pi / 2 - 0.1, 11)
        ]
    n, last = len(rings[0]), (len(rings) - 1) * len(rings[0])
    vertices = np.concatenate(
        [*rings, [rings[0].mean(axis=0), rings[-1].mean(axis=0)]]
    )  # the last two close it below and above
    faces: list[tuple[int, ...]] = []
    for k in range(n):
        m = (k + 1) % n
        faces += [(len(vertices) - 2, m, k), (len(vertices) - 1, last + k, last + m)]
        for r in range(0, last, n):
            faces += [(r + k, r + m, r + n + m), (r + k, r + n + m, r + n + k)]
    closed = [[*range(r, r + n), r] for r in ((last // 2,) if solid.kind == "sphere" else (0, last))]
    return vertices, faces, closed + ([[k, last + k] for k in range(n)] if solid.kind == "box" else [])


def _signals(result: Result, frames: np.ndarray, chosen: Sequence[str] | None) -> dict[str, Any]:
    """The curves that are shown at first, and those that can be."""
    for name in chosen or ():
        result[name]  # refuses an unknown name
    energies = [n for n in result.names if n.endswith(ENERGIES)]
    others = sorted(
        (n for n in result.names if "energy." not in n), key=lambda n: not result.shown[n].unit
    )  # quaternions say little to the eye
    shown = list(chosen) if chosen else [*energies, *others[:CURVES]]
    kept = list(dict.fromkeys([*shown, *energies, *result.names]))[: max(SIGNALS_AT_MOST, len(shown))]
    found = []
    for name in kept:
        how = result.shown[name]
        values = how.factor * result[name][frames] + how.offset
        found.append({"name": name, "unit": how.unit, "values": _packed(values, np.float64)})
    return {"signals": found, "chosen": shown}
