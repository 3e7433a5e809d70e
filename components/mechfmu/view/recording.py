"""Recordings: a simulated mechanism as one page with the 3-D view, which works offline.

The page (view/web/recording.js) has a scene, the frames of the drawing and the signals that can be plotted beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model.drawing import Drawing
from ..simulation.result import Result
from ..simulation.scene import Scene
from .bundle import PAGE_STYLES, page_of
from .packed import packed
from .scene_data import encoded, frame_of, limits_with_room, points_of, scene_of

PAGE_BYTES = 1_500_000  # of a page without its data
MAX_FRAMES = 1500  # more than a screen shows in half a minute
MAX_NUMBERS = 3_000_000  # of all frames together, before they are compressed
MAX_SIGNALS = 300  # that can be selected; a mechanism with 1,000 joints has more
DEFAULT_CURVES = 3  # shown beside the energies when no signals are selected
ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
LIMIT_FRAMES = 100  # from which the first view is found
MARGIN = {2: 0.06, 3: 0.12}  # around the motion, relative to its extent
TRAVELS = 2.0  # sizes: when the whole motion takes more room than these, the camera follows
USUAL = 0.98  # of the forces are smaller than the one whose arrow has full length: the others belong to impacts

Drawings = list[dict[str, Drawing]]  # of each frame, by the names of the members


def recording_page(
    result: Result,
    signals: Sequence[str] | None = None,
    speed: float = 1.0,
    max_frames: int = MAX_FRAMES,
    max_numbers: int = MAX_NUMBERS,
) -> str:
    """Return the page; signals: those plotted at first (default: the energies and the first few signals)."""
    assert result.mechanism is not None
    count = min(len(result.t), max_frames, max(2, max_numbers // max(len(_frame(drawn(result, 0))), 1)))
    frames = np.unique(np.linspace(0, len(result.t) - 1, count).round().astype(int))
    data = {
        "title": result.title,
        "subtitle": result.mechanism.title,
        "speed": speed,
        **motion(result, frames),
        **_signals(result, frames, signals),
    }
    return page_of(result.title, "view/web/recording.js", (*PAGE_STYLES, "view/web/recording.css"), data)


def motion(result: Result, frames: np.ndarray) -> dict[str, Any]:
    """Return what moves in these samples of a result: scene, times, frames, the scale of arrows."""
    drawings = [drawn(result, int(i)) for i in frames]
    low, high, size, travels = _limits(drawings)
    return {
        "scene": scene_of(drawings[0], low, high, size),
        "times": encoded(result.t[frames], np.float64),
        "frames": packed(np.array([_frame(members) for members in drawings])),
        "largest": _usual_sizes(drawings),
        "travels": travels,
    }


def drawn(result: Result, i: int) -> dict[str, Drawing]:
    """Return the drawings of sample i by the names of the members; if one is in space, planar ones are omitted."""
    mechanism, value = result.mechanism, result.at(i)
    assert mechanism is not None
    drawings = mechanism.drawings(value) if isinstance(mechanism, Scene) else {"": mechanism.drawing(value)}
    seen = {name: d for name, d in drawings.items() if d}
    dimension = max((d.dimension for d in seen.values()), default=2)
    return {name: d for name, d in seen.items() if d.dimension == dimension}


def _frame(members: Mapping[str, Drawing]) -> np.ndarray:
    return np.concatenate([frame_of(d) for d in members.values()])


def _limits(drawings: Drawings) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Return low and high of the first view, the size of the mechanism, and whether it travels far."""
    _, _, size = limits_with_room(list(drawings[0].values()))
    some = np.linspace(0, len(drawings) - 1, min(len(drawings), LIMIT_FRAMES)).round().astype(int)
    points = [np.concatenate([points_of(d) for d in drawings[i].values()]) for i in some]
    everything = np.concatenate(points)
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    travels = bool(np.max(high - low) > TRAVELS * max(np.max(np.ptp(p, axis=0)) for p in points))
    if travels:  # as much as the pose that takes the most room, around the first one
        half = np.max([np.ptp(p, axis=0) for p in points], axis=0) / 2
        middle = (np.nanmin(points[0], axis=0) + np.nanmax(points[0], axis=0)) / 2
        low, high = middle - half, middle + half
    margin = np.full(len(low), MARGIN[len(low)] * np.max(high - low))
    return low - margin * (np.arange(len(low)) < 2), high + margin, size, travels  # the ground is at the lowest point


def _usual_sizes(drawings: Drawings) -> dict[str, float]:
    """Return the force and the moment whose arrows have full length; 0: there are none."""
    members = [d for frame in drawings for d in frame.values()]
    forces = np.array([np.linalg.norm(arrow.force) for d in members for arrow in d.arrows])
    moments = np.array([np.linalg.norm(m.moment) for d in members for m in d.moments])
    sizes = {"force": forces[forces > 0], "moment": moments[moments > 0]}
    return {kind: float(np.quantile(found, USUAL)) if len(found) else 0.0 for kind, found in sizes.items()}


def _signals(result: Result, frames: np.ndarray, chosen: Sequence[str] | None) -> dict[str, Any]:
    """Return the signals that are plotted at first, and those that can be selected, in their display units."""
    for name in chosen or ():
        result[name]  # raises a UserError for an unknown name
    energies = [n for n in result.names if n.endswith(ENERGIES)]
    others = [n for n in result.names if "energy." not in n]
    others.sort(key=lambda n: not result.shown[n].unit)  # quaternions, which have no unit, come last
    shown = list(chosen) if chosen else [*energies, *others[:DEFAULT_CURVES]]
    kept = list(dict.fromkeys([*shown, *energies, *result.names]))[: max(MAX_SIGNALS, len(shown))]
    values = np.array([result.shown[n].factor * result[n][frames] + result.shown[n].offset for n in kept])
    values = values.reshape(len(kept), len(frames))
    middles = [_middle(row) for row in values]
    found = [[n, result.shown[n].unit, middle] for n, middle in zip(kept, middles, strict=True)]
    return {"signals": found, "values": packed((values - np.reshape(middles, (-1, 1))).T), "chosen": shown}


def _middle(values: np.ndarray) -> float:
    """Return what to subtract before values become 32-bit floats, so that small changes of a large number remain."""
    finite = values[np.isfinite(values)]
    if not len(finite) or np.ptp(finite) > 0.1 * np.max(np.abs(finite)):
        return 0.0
    return float(finite[0])
