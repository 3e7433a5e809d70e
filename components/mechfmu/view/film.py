"""Films of the 3-D view: a browser draws the frames, which become a GIF or an MP4."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..model import UserError
from ..simulation.result import Result
from .browser import find_browser, pictures
from .bundle import page_of
from .recording import motion

WIDTHS = {".gif": 600, ".mp4": 960}  # px
HEIGHTS = (0.5, 0.95)  # relative to the width, of planar mechanisms
SPACE_HEIGHT = 0.75
TRAIL_STEPS = 4  # points of a trail for each frame
COLOURS = 128  # of a GIF
WEIGHT = 0.4  # exponent: how much the size of an area counts when its colours are chosen

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Look:
    """How a film looks. size: in pixels, None: that of its kind; camera: as the address of a recording has it."""

    size: tuple[int, int] | None = None
    theme: str = "light"
    camera: tuple[float, ...] | None = None
    clock: bool = True
    options: dict[str, bool] = field(default_factory=dict)  # of the View menu
    colours: int = COLOURS
    ratio: int = 1  # 2: drawn with twice as many pixels, for smoother edges


def film(result: Result, samples: np.ndarray, file: Path, fps: float, look: Look, progress: Progress) -> None:
    """Write a film of these samples of a result; BrowserError: no browser has drawn it."""
    browser = find_browser()
    every = _with_samples_between(samples)
    data = motion(result, every)
    data["pictures"] = np.searchsorted(every, samples).tolist()
    kind = file.suffix
    size = look.size or _size(data["scene"], WIDTHS[kind])
    options = {"follow": data["travels"], **look.options}
    data["look"] = {"size": size, "theme": look.theme, "camera": look.camera, "clock": look.clock, "options": options}
    page = page_of(result.title, "view/web/film.js", ("view/web/page.css",), data, server="'self'")
    with closing(pictures(page, len(samples), browser, look.ratio)) as arriving:
        frames = _counted(arriving, len(samples), progress)
        if kind == ".gif":
            _write_gif(list(frames), file, fps, look.colours)
        else:
            _write_mp4(frames, file, fps)


def _with_samples_between(samples: np.ndarray) -> np.ndarray:
    """Return the samples and some between them, for smooth trails."""
    steps = np.arange(TRAIL_STEPS * (len(samples) - 1) + 1) / TRAIL_STEPS
    between = np.interp(steps, np.arange(len(samples)), samples)
    return np.union1d(between.round().astype(int), samples)


def _size(scene: dict[str, Any], width: int) -> tuple[int, int]:
    """Return even numbers of pixels, which videos need; planar mechanisms get the height that they take."""
    share = SPACE_HEIGHT
    if scene["dimension"] == 2:
        across, up = (h - l for l, h in zip(scene["low"], scene["high"], strict=True))
        share = float(np.clip(up / across, *HEIGHTS))
    return width, 2 * round(share * width / 2)


def _counted(frames: Iterator[bytes], total: int, progress: Progress) -> Iterator[bytes]:
    for done, frame in enumerate(frames, 1):
        yield frame
        progress(done, total)


def _write_gif(frames: list[bytes], file: Path, fps: float, colours: int) -> None:
    """Write pictures with the same colours in all frames: then the file holds of each frame only what changes."""
    palette = _palette(frames, colours)
    images = [Image.fromarray(_pixels(f)).quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    images[0].save(file, save_all=True, append_images=images[1:], duration=round(1000 / fps), loop=0, optimize=True)


def _palette(frames: list[bytes], colours: int) -> Image.Image:
    """Return an image with a palette for all frames; a small part of another colour counts more than its size."""
    counts = np.zeros(64**3, dtype=int)
    for frame in frames:
        red, green, blue = np.moveaxis(_pixels(frame).astype(int) // 4, 2, 0)
        counts += np.bincount(np.ravel((red * 64 + green) * 64 + blue), minlength=len(counts))
    (seen,) = np.nonzero(counts)
    coarse = np.stack([seen // 64**2, seen // 64 % 64, seen % 64], axis=1)
    weighed = np.repeat(4 * coarse + 2, np.ceil(counts[seen] ** WEIGHT).astype(int), axis=0).astype(np.uint8)
    return Image.fromarray(weighed[None]).quantize(colours, kmeans=2)


def _pixels(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def _write_mp4(frames: Iterator[bytes], file: Path, fps: float) -> None:
    first = next(frames)  # a browser that fails does not start ffmpeg
    source = ["-f", "image2pipe", "-framerate", f"{fps:g}", "-i", "-"]
    coded = ["-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    command = ["ffmpeg", "-y", "-loglevel", "error", *source, *coded, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            for frame in chain([first], frames):
                process.stdin.write(frame)
            process.stdin.close()
            problem = process.stderr.read().decode(errors="replace").strip()
        except BrokenPipeError:
            problem = process.stderr.read().decode(errors="replace").strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = problem.splitlines()[-1] if problem else f"exit status {process.returncode}"
        raise UserError(f"ffmpeg cannot write the film: {reason}")
