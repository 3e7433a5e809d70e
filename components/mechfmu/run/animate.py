"""The mechanism moving, drawn to scale: a film (gif, mp4), or a page to play with (html, see player.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

from ..mechanisms import UserError
from .result import Result

FILMS = (".gif", ".mp4", ".html")
TRAIL = 1.0  # s of the path behind the end of the first stroke


def refuse_film(file: str | Path) -> None:
    """UserError when no film can be made of this kind, or not on this machine."""
    if not str(file).endswith(FILMS):
        raise UserError(f"cannot animate into {file}: the file must end in {' or '.join(FILMS)}")
    if str(file).endswith(".mp4") and not FFMpegWriter.isAvailable():
        raise UserError(f"cannot animate into {file}: mp4 needs the program ffmpeg, which was not found; .html and .gif need nothing")


def animate(result: Result, file: str | Path | None = None, fps: float = 25.0, speed: float = 1.0, signals: Sequence[str] | None = None) -> Any:
    """The animation of a result, `speed` times real time, saved to `file` or shown: the film, or the path of a page."""
    if file is not None:
        refuse_film(file)
    if not (0 < speed < np.inf and 0 < fps < np.inf):
        raise UserError(f"speed {speed:g}, fps {fps:g}: both must be numbers greater than 0")
    if result.mechanism is None or not result.mechanism.drawing(result.at(0)):
        raise UserError(f"{result.title} cannot be animated: it is no mechanism that knows how to draw itself")
    try:
        if file is not None and str(file).endswith(".html"):
            from .player import player_page

            Path(file).write_text(player_page(result, signals, speed), encoding="utf-8")
            return Path(file)
        return _film(result, file, fps, speed)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror or error}") from None


def _film(result: Result, file: str | Path | None, fps: float, speed: float) -> Any:
    """What matplotlib draws of the strokes."""
    assert result.mechanism is not None
    times = np.arange(result.t[0], result.t[-1] + 1e-9, speed / fps)
    frames = np.searchsorted(result.t, times - 1e-9).clip(0, len(result.t) - 1)
    drawings = [result.mechanism.strokes(result.at(i)) for i in frames]
    ends = np.array([(strokes[0][0][-1], strokes[0][1][-1]) for strokes in drawings])

    xs, ys = (np.concatenate([s[axis] for strokes in drawings for s in strokes]) for axis in (0, 1))
    margin = 0.08 * max(np.ptp(xs), np.ptp(ys), 1e-3)
    width, height = np.ptp(xs) + 2 * margin, np.ptp(ys) + 2 * margin
    figure, axes = plt.subplots(figsize=(6, float(np.clip(6 * height / width, 3, 8))), layout="constrained")
    axes.set(xlim=(xs.min() - margin, xs.max() + margin), ylim=(ys.min() - margin, ys.max() + margin), xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.grid(alpha=0.25)
    (trail,) = axes.plot([], [], color="#d9480f", linewidth=1, alpha=0.7)
    most = max(len(strokes) for strokes in drawings)
    lines = [axes.plot([], [], "-o", color="#1769aa", linewidth=4, markersize=5, markerfacecolor="white", solid_capstyle="round")[0] for _ in range(most)]
    clock = axes.text(0.02, 0.97, "", transform=axes.transAxes, va="top", family="monospace")

    def draw(i: int) -> list[Any]:
        nothing = [((), ())] * (most - len(drawings[i]))  # strokes may come and go
        for line, (x, y) in zip(lines, [*drawings[i], *nothing], strict=True):
            line.set_data(x, y)
        behind = max(0, i - round(TRAIL * fps / speed))
        trail.set_data(ends[behind : i + 1, 0], ends[behind : i + 1, 1])
        clock.set_text(f"t = {result.t[frames[i]]:5.2f} s")
        return [trail, *lines, clock]

    figure.canvas.draw()
    figure.set_layout_engine("none")  # laid out once, not again for every frame
    film = FuncAnimation(figure, draw, frames=len(frames), interval=1000 / fps, blit=False)
    if file is None:
        plt.show()
        return film
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # the usual encoding of colours works on blocks of 2 x 2 pixels
    writer = PillowWriter(fps=round(fps)) if str(file).endswith(".gif") else FFMpegWriter(fps=round(fps), extra_args=["-vf", even, "-pix_fmt", "yuv420p"])
    try:
        film.save(file, writer=writer, dpi=72 if str(file).endswith(".gif") else 120)
    finally:
        plt.close(figure)
    return film
