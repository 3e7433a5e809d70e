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

from ..mechanisms.drawing import Drawing, Solid
from .result import Result

HERE = Path(__file__).parent
FRAMES_AT_MOST = 1500  # more than a screen shows in half a minute
NUMBERS_AT_MOST = 3_000_000  # of all frames together: a dozen megabytes
SIGNALS_AT_MOST = 300  # that can be chosen from; a machine of a thousand joints has more
CURVES = 3  # shown beside the energies when nothing is chosen
ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
LONGEST_ARROW = 0.25  # of the span of the motion: nine of ten arrows are shorter
COLOURS = ("#1769aa", "#7aa7cf", "#4c9a97", "#9fb3c8", "#5b7db1", "#2f8fa3")  # of groups of solids, one after the other
BASE_COLOUR = "#8a96a3"


def player_page(result: Result, signals: Sequence[str] | None = None, speed: float = 1.0) -> str:
    """The page. signals: what is plotted beside the drawing at first (default: the energies and the first few signals)."""
    assert result.mechanism is not None
    first = result.mechanism.drawing(result.at(0))
    numbers = sum(np.size(line) for line in first.lines) + 12 * len(first.solids) + 6 * len(first.arrows)
    count = int(min(len(result.t), FRAMES_AT_MOST, max(2, NUMBERS_AT_MOST // max(numbers, 1))))
    frames = np.unique(np.linspace(0, len(result.t) - 1, count).round().astype(int))
    drawings = [result.mechanism.drawing(result.at(int(i))) for i in frames]
    data = {"speed": speed, "times": _packed(result.t[frames], np.float64), **_scenery(drawings), **_signals(result, frames, signals)}
    return Template((HERE / "player.html").read_text(encoding="utf-8")).substitute(
        title=escape(result.title), subtitle=escape(result.mechanism.title), plotly=get_plotlyjs(),
        style=(HERE / "player.css").read_text(encoding="utf-8"), script=(HERE / "player.js").read_text(encoding="utf-8"),
        data=json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),  # no name may end the script element
    )  # fmt: skip


def _packed(numbers: Any, kind: type = np.float32) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype=np.dtype(kind).newbyteorder("<")).tobytes()).decode()


def _scenery(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """All that moves on the stage, and how much room it takes."""
    first = drawings[0]
    dimension = 3 if first.solids or np.shape(first.lines[0])[-1] == 3 else 2
    lines = [_joined(d.lines, dimension) for d in drawings]
    traced = np.array([d.trail_points for d in drawings], dtype=float)
    poses = np.array([[(*np.ravel(s.rotation), *s.position) for s in d.solids] for d in drawings], dtype=float).reshape(len(drawings), len(first.solids), 12)
    meshes = [mesh(solid) for solid in first.solids]
    ground = _joined(first.ground, dimension)
    corners = [np.concatenate(lines), traced.reshape(-1, dimension), ground]
    for s, (vertices, _, _) in enumerate(meshes):
        corners.append(np.reshape(np.einsum("fij,vj->fvi", poses[:, s, :9].reshape(-1, 3, 3), vertices) + poses[:, s, None, 9:], (-1, 3)))
    span = max(float(np.max(np.nanmax(np.concatenate(corners), axis=0) - np.nanmin(np.concatenate(corners), axis=0))), 1e-3)

    forces = np.array([[a.force for a in d.arrows] for d in drawings], dtype=float).reshape(len(drawings), len(first.arrows), dimension)
    places = np.array([[a.at for a in d.arrows] for d in drawings], dtype=float).reshape(forces.shape)
    sizes = np.linalg.norm(forces, axis=2)
    large = float(np.quantile(sizes, 0.9)) if sizes.size else 0.0  # the largest ones may be a few knocks
    scale = LONGEST_ARROW * span / (large or float(np.max(sizes, initial=0.0)) or 1.0)  # m per N
    kinds = [k for k in ("force", "reaction") if any(a.kind == k and np.any(sizes[:, n]) for n, a in enumerate(first.arrows))]
    kept = [n for n, a in enumerate(first.arrows) if a.kind in kinds]
    usual = np.minimum(1.0, LONGEST_ARROW * span / np.maximum(scale * sizes, 1e-300))[:, :, None]
    corners.append(np.reshape(places + usual * scale * forces, (-1, dimension)))

    low, high = np.nanmin(np.concatenate(corners), axis=0), np.nanmax(np.concatenate(corners), axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2 * 1.08, (0.12 if dimension == 2 else 0.3) * span)  # no axis squeezed to nothing
    floor = np.where(np.arange(dimension) == 2, low, middle - half)  # the floor of a scene is where its lowest point is
    measure = _round_number(0.15 * span / scale)
    return {
        "dimension": dimension, "low": floor.tolist(), "high": (middle + half).tolist(), "span": span,
        "ground": [None if np.isnan(p[0]) else p.tolist() for p in ground],
        "lines": {"points": _packed(np.concatenate(lines)), "starts": np.cumsum([0, *(len(p) for p in lines)]).tolist()},
        "solids": [{"vertices": v.round(6).tolist(), "faces": f, "edges": e, "colour": _colour(s)} for s, (v, f, e) in zip(first.solids, meshes, strict=True)],
        "poses": _packed(poses), "glass": sum(s.real for s in first.solids) * 2 < len(first.solids),
        "arrows": {
            "kinds": [first.arrows[n].kind for n in kept], "where": _packed(np.concatenate([places, scale * forces], axis=2)[:, kept]),
            "note": f"{_text(measure * scale)} m ≙ {_text(measure)} N" if kept else "",
        },
        "traced": {"count": traced.shape[1], "where": _packed(traced)},
    }  # fmt: skip


def _joined(lines: Sequence[Any], dimension: int) -> np.ndarray:
    """Polylines one after the other, a row of NaN after each."""
    gap = np.full((1, dimension), np.nan)
    return np.concatenate([np.zeros((0, dimension)), *(part for line in lines for part in (np.asarray(line, dtype=float), gap))])


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
        rings = [np.array(solid.size) / 2 * [[x, y, z] for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))] for z in (-1, 1)]
    elif solid.kind == "cylinder":
        rings = [solid.size[0] * around + z * solid.size[1] / 2 * up for z in (-1, 1)]
    else:
        rings = [solid.size[0] * (np.cos(b) * around + np.sin(b) * up) for b in np.linspace(-np.pi / 2 + 0.1, np.pi / 2 - 0.1, 11)]
    n, last = len(rings[0]), (len(rings) - 1) * len(rings[0])
    vertices = np.concatenate([*rings, [rings[0].mean(axis=0), rings[-1].mean(axis=0)]])  # the last two close it below and above
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
    energies = [n for n in ENERGIES if n in result.signals]
    others = sorted((n for n in result.names if not n.startswith("energy.")), key=lambda n: not result.shown[n].unit)  # quaternions say little to the eye
    shown = list(chosen) if chosen else [*energies, *others[:CURVES]]
    kept = list(dict.fromkeys([*shown, *energies, *result.names]))[: max(SIGNALS_AT_MOST, len(shown))]
    found = []
    for name in kept:
        how = result.shown[name]
        values = how.factor * result[name][frames] + how.offset
        found.append({"name": name, "unit": how.unit, "values": _packed(values, np.float64)})
    return {"signals": found, "chosen": shown}
