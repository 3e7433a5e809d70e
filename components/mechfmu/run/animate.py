"""The mechanism moving, drawn to scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from ..mechanisms import UserError
from .result import Result

TRAIL = 1.0  # s of the path behind the end of the first stroke


def animate(result: Result, file: str | Path | None = None, fps: float = 25.0, speed: float = 1.0) -> Any:
    """The animation of a result, `speed` times real time, saved to `file` (gif or html) or shown."""
    mechanism = result.mechanism
    if mechanism is None or not mechanism.strokes(result.at(0)):
        raise UserError(f"{result.title} cannot be animated: it is no mechanism that knows how to draw itself")
    times = np.arange(result.t[0], result.t[-1] + 1e-9, speed / fps)
    frames = np.searchsorted(result.t, times - 1e-9).clip(0, len(result.t) - 1)
    drawings = [mechanism.strokes(result.at(i)) for i in frames]
    ends = np.array([(strokes[0][0][-1], strokes[0][1][-1]) for strokes in drawings])

    xs, ys = (np.concatenate([s[axis] for strokes in drawings for s in strokes]) for axis in (0, 1))
    margin = 0.08 * max(np.ptp(xs), np.ptp(ys), 1e-3)
    width, height = np.ptp(xs) + 2 * margin, np.ptp(ys) + 2 * margin
    figure, axes = plt.subplots(figsize=(6, float(np.clip(6 * height / width, 3, 8))), layout="constrained")
    axes.set(xlim=(xs.min() - margin, xs.max() + margin), ylim=(ys.min() - margin, ys.max() + margin), xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.grid(alpha=0.25)
    (trail,) = axes.plot([], [], color="#d9480f", linewidth=1, alpha=0.7)
    lines = [axes.plot([], [], "-o", color="#1769aa", linewidth=4, markersize=5, markerfacecolor="white", solid_capstyle="round")[0] for _ in drawings[0]]
    clock = axes.text(0.02, 0.97, "", transform=axes.transAxes, va="top", family="monospace")

    def draw(i: int) -> list[Any]:
        for line, (x, y) in zip(lines, drawings[i], strict=True):
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
    path = Path(file)
    try:
        if path.suffix == ".gif":
            film.save(path, writer=PillowWriter(fps=round(fps)), dpi=72)
        elif path.suffix == ".html":
            path.write_text(film.to_jshtml(fps=round(fps)), encoding="utf-8")
        else:
            raise UserError(f"cannot animate into {path}: the file must end in .gif or .html")
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        plt.close(figure)
    return film
