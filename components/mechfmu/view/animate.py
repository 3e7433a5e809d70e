"""Animations of a mechanism: a page (html, see recording.py), or a film (gif, mp4).

A film shows the 3-D view where there is a browser that can draw it (film.py), otherwise lines drawn by matplotlib.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
from matplotlib.collections import PolyCollection

from ..atomic_file import atomic_write
from ..model import UserError
from ..model.drawing import joined
from ..simulation.result import Result
from .browser import BrowserError
from .film import Look, Progress, film
from .plot import check_display
from .solids import filled_triangles, has_surfaces

ANIMATION_FILES = (".gif", ".mp4", ".html")
FPS = 25.0  # of films
TRAIL_DURATION = 1.0  # s
LINE_STYLES: dict[str, dict[str, Any]] = {  # of the parts of a drawing
    "surroundings": dict(color="#7b8794", linewidth=1),
    "outlines": dict(color="#1769aa", linewidth=1.5),
    "lines": dict(color="#1769aa", linewidth=4, marker="o", markersize=5, markerfacecolor="white"),
}
EVEN_SIZE = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # ffmpeg filter: yuv420p encodes blocks of 2 x 2 pixels


def check_animation_file(file: str | Path) -> None:
    """Raise a UserError when animations of this kind cannot be written, or not on this machine."""
    if not str(file).endswith(ANIMATION_FILES):
        raise UserError(f"cannot animate into {file}: the file must end in {' or '.join(ANIMATION_FILES)}")
    if str(file).endswith(".mp4") and not FFMpegWriter.isAvailable():
        missing = "mp4 needs the program ffmpeg, which was not found; .html and .gif do not need it"
        raise UserError(f"cannot animate into {file}: {missing}")


def animate(
    result: Result,
    file: str | Path | None = None,
    fps: float = FPS,
    speed: float = 1.0,
    signals: Sequence[str] | None = None,
    progress: Progress = lambda done, total: None,
) -> Any:
    """Animate a result at `speed` times real time, into a file or on the screen.

    Returns the path of the file, or matplotlib's animation object. progress(done, total): frames of a film
    """
    if file is None:
        check_display()
    else:
        check_animation_file(file)
    if not (0 < speed < np.inf and 0 < fps < np.inf):
        raise UserError(f"speed {speed:g}, fps {fps:g}: both must be numbers greater than 0")
    if result.mechanism is None or not result.mechanism.drawing(result.at(0)):
        raise UserError(f"{result.title} cannot be animated: it is not a mechanism with a drawing")
    if file is None:
        animation, _ = _lines(result, samples_of(result, fps, speed), fps, speed)
        plt.show()
        return animation
    try:
        with atomic_write(Path(file)) as target:
            if str(file).endswith(".html"):
                from .recording import recording_page

                target.write_text(recording_page(result, signals, speed), encoding="utf-8")
            else:
                _film(result, target, Path(file).name, fps, speed, progress)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror or error}") from None
    return Path(file)


def samples_of(result: Result, fps: float, speed: float) -> np.ndarray:
    """Return the samples of a result that are the frames of a film."""
    times = np.arange(result.t[0], result.t[-1] + 1e-9, speed / fps)
    return np.searchsorted(result.t, times - 1e-9).clip(0, len(result.t) - 1)


def _film(result: Result, target: Path, name: str, fps: float, speed: float, progress: Progress) -> None:
    """Write a film of the 3-D view, or of lines where no browser draws it; a warning tells the reason."""
    samples = samples_of(result, fps, speed)
    try:
        film(result, samples, target, fps, Look(), progress)
    except BrowserError as reason:
        text = f"{name} shows lines drawn by matplotlib instead of the 3-D view, which needs a browser: {reason}"
        warnings.warn(text, RuntimeWarning, stacklevel=4)
        animation, figure = _lines(result, samples, fps, speed)
        _save(animation, figure, target, round(fps), progress)


def _lines(result: Result, samples: np.ndarray, fps: float, speed: float) -> tuple[FuncAnimation, Any]:
    """Animate the lines of the drawings with matplotlib, and meshes filled; mechanisms in space are seen along y.

    Returns the animation and its figure.
    """
    assert result.mechanism is not None
    drawings = [result.mechanism.drawing(result.at(i)) for i in samples]
    plane = [0, drawings[0].dimension - 1]
    frames = [{part: joined(getattr(d, part), d.dimension)[:, plane] for part in LINE_STYLES} for d in drawings]
    traced = np.array([d.trail_points for d in drawings])[:, :, plane]
    shown = np.concatenate([np.reshape(traced, (-1, 2)), *(points for frame in frames for points in frame.values())])
    filled = has_surfaces(drawings[0])
    if filled:
        shown = np.concatenate([shown, *(filled_triangles(d)[0].reshape(-1, 2) for d in drawings)])
    figure, axes = _axes(shown, "xyz"[plane[1]])
    faces = axes.add_collection(PolyCollection([], zorder=3, linewidth=0.3)) if filled else None
    trails = [axes.plot([], [], color="#d9480f", linewidth=1, alpha=0.7)[0] for _ in traced[0]]
    lines = {part: axes.plot([], [], solid_capstyle="round", **style)[0] for part, style in LINE_STYLES.items()}
    clock = axes.text(0.02, 0.97, "", transform=axes.transAxes, va="top", family="monospace")

    def draw(i: int) -> list[Any]:
        for part, line in lines.items():
            line.set_data(*frames[i][part].T)
        if faces is not None:
            triangles, colours = filled_triangles(drawings[i])
            faces.set(verts=triangles, facecolor=colours, edgecolor=colours)
        first = max(0, i - round(TRAIL_DURATION * fps / speed))
        for k, trail in enumerate(trails):
            trail.set_data(*traced[first : i + 1, k].T)
        clock.set_text(f"t = {result.t[samples[i]]:5.2f} s")
        return [*trails, *lines.values(), clock, *([faces] if faces is not None else [])]

    figure.canvas.draw()
    figure.set_layout_engine("none")  # laid out once, not again for every frame
    return FuncAnimation(figure, draw, frames=len(samples), interval=1000 / fps, blit=False), figure


def _axes(points: np.ndarray, vertical: str) -> tuple[Any, Any]:
    """Return a figure and its axes, with equal scales and room for all points."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    margin = 0.08 * max(*(high - low), 1e-3)
    width, height = high - low + 2 * margin
    figure, axes = plt.subplots(figsize=(6, float(np.clip(6 * height / width, 3, 8))), layout="constrained")
    x_limits, y_limits = zip(low - margin, high + margin, strict=True)
    axes.set(xlim=x_limits, ylim=y_limits, xlabel="x [m]", ylabel=f"{vertical} [m]", aspect="equal")
    axes.grid(alpha=0.25)
    return figure, axes


def _save(animation: FuncAnimation, figure: Any, file: Path, fps: int, progress: Progress) -> None:
    gif = file.name.endswith(".gif")
    mp4_arguments = ["-vf", EVEN_SIZE, "-pix_fmt", "yuv420p"]
    writer = PillowWriter(fps=fps) if gif else FFMpegWriter(fps=fps, extra_args=mp4_arguments)
    try:
        animation.save(file, writer, dpi=72 if gif else 120, progress_callback=lambda i, n: progress(i + 1, n))
    finally:
        plt.close(figure)
