"""The mechanism moving, drawn to scale: a film (gif, mp4), or a page to play with (html, see player.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

from ..atomic_file import atomic_write
from ..model import UserError
from ..model.drawing import joined
from ..simulation.result import Result
from .plot import refuse_without_screen

FILMS = (".gif", ".mp4", ".html")
TRAIL = 1.0  # s of the paths behind what leaves some
LOOKS: dict[str, dict[str, Any]] = {  # of the lines of a drawing
    "ground": dict(color="#7b8794", linewidth=1),
    "outlines": dict(color="#1769aa", linewidth=1.5),
    "lines": dict(color="#1769aa", linewidth=4, marker="o", markersize=5, markerfacecolor="white"),
}


def check_animation_file(file: str | Path) -> None:
    """UserError when no film can be made of this kind, or not on this machine."""
    if not str(file).endswith(FILMS):
        raise UserError(f"cannot animate into {file}: the file must end in {' or '.join(FILMS)}")
    if str(file).endswith(".mp4") and not FFMpegWriter.isAvailable():
        raise UserError(
            f"cannot animate into {file}: mp4 needs the program ffmpeg, which was not found; .html and .gif need nothing"
        )


def animate(
    result: Result,
    file: str | Path | None = None,
    fps: float = 25.0,
    speed: float = 1.0,
    signals: Sequence[str] | None = None,
) -> Any:
    """The animation of a result, `speed` times real time, saved to `file` or shown: the film, or the path of a page."""
    if file is None:
        refuse_without_screen()
    else:
        check_animation_file(file)
    if not (0 < speed < np.inf and 0 < fps < np.inf):
        raise UserError(f"speed {speed:g}, fps {fps:g}: both must be numbers greater than 0")
    if result.mechanism is None or not result.mechanism.drawing(result.at(0)):
        raise UserError(f"{result.title} cannot be animated: it is no mechanism that knows how to draw itself")
    try:
        if file is not None and str(file).endswith(".html"):
            from .player import player_page

            page = player_page(result, signals, speed)
            with atomic_write(Path(file)) as target:
                target.write_text(page, encoding="utf-8")
            return Path(file)
        return _film(result, file, fps, speed)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror or error}") from None


def _film(result: Result, file: str | Path | None, fps: float, speed: float) -> Any:
    """What matplotlib draws of the lines, in space seen along y."""
    assert result.mechanism is not None
    times = np.arange(result.t[0], result.t[-1] + 1e-9, speed / fps)
    frames = np.searchsorted(result.t, times - 1e-9).clip(0, len(result.t) - 1)
    drawings = [result.mechanism.drawing(result.at(i)) for i in frames]
    flat = [0, drawings[0].dimension - 1]
    pictures = [{part: joined(getattr(d, part), d.dimension)[:, flat] for part in LOOKS} for d in drawings]
    traced = np.array([d.trail_points for d in drawings])[:, :, flat]

    everything = np.concatenate(
        [np.reshape(traced, (-1, 2)), *(points for picture in pictures for points in picture.values())]
    )
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    margin = 0.08 * max(*(high - low), 1e-3)
    width, height = high - low + 2 * margin
    figure, axes = plt.subplots(figsize=(6, float(np.clip(6 * height / width, 3, 8))), layout="constrained")
    limits = dict(zip(("xlim", "ylim"), zip(low - margin, high + margin, strict=True), strict=True))
    axes.set(**limits, xlabel="x [m]", ylabel=f"{'xyz'[flat[1]]} [m]", aspect="equal")
    axes.grid(alpha=0.25)
    trails = [axes.plot([], [], color="#d9480f", linewidth=1, alpha=0.7)[0] for _ in traced[0]]
    lines = {part: axes.plot([], [], solid_capstyle="round", **look)[0] for part, look in LOOKS.items()}
    clock = axes.text(0.02, 0.97, "", transform=axes.transAxes, va="top", family="monospace")

    def draw(i: int) -> list[Any]:
        for part, line in lines.items():
            line.set_data(*pictures[i][part].T)
        behind = max(0, i - round(TRAIL * fps / speed))
        for k, trail in enumerate(trails):
            trail.set_data(*traced[behind : i + 1, k].T)
        clock.set_text(f"t = {result.t[frames[i]]:5.2f} s")
        return [*trails, *lines.values(), clock]

    figure.canvas.draw()
    figure.set_layout_engine("none")  # laid out once, not again for every frame
    film = FuncAnimation(figure, draw, frames=len(frames), interval=1000 / fps, blit=False)
    if file is None:
        plt.show()
        return film
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # the usual encoding of colours works on blocks of 2 x 2 pixels
    writer = (
        PillowWriter(fps=round(fps))
        if str(file).endswith(".gif")
        else FFMpegWriter(fps=round(fps), extra_args=["-vf", even, "-pix_fmt", "yuv420p"])
    )
    try:
        with atomic_write(Path(file)) as target:
            film.save(target, writer=writer, dpi=72 if str(file).endswith(".gif") else 120)
    finally:
        plt.close(figure)
    return film
