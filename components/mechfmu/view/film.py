"""Films of the 3-D view: a browser draws the frames, which become a GIF or an MP4."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable, Iterator
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
COLOURS = 128  # of a GIF
SAMPLES = 8  # frames from which its colours are chosen

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


def film(result: Result, samples: np.ndarray, file: Path, fps: float, look: Look, progress: Progress) -> str:
    """Write a film of these samples of a result; return the name of the browser, or raise a BrowserError."""
    browser = find_browser()
    data = motion(result, samples)
    kind = file.suffix
    size = look.size or _size(data["scene"], WIDTHS[kind])
    options = {"follow": data["travels"], **look.options}
    data["look"] = {"size": size, "theme": look.theme, "camera": look.camera, "clock": look.clock, "options": options}
    page = page_of(result.title, "view/web/film.js", ("view/web/page.css",), data, server="'self'")
    frames = _counted(pictures(page, len(samples), browser, look.ratio), len(samples), progress)
    if kind == ".gif":
        write_gif(list(frames), file, fps, look.colours)
    else:
        _write_mp4(frames, file, fps)
    return browser.stem


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


def write_gif(frames: list[bytes], file: Path, fps: float, colours: int) -> None:
    """Write PNG files as a GIF with the same colours in all frames: then it holds of each only what changes."""
    opened = (Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames)
    chosen = np.linspace(0, len(frames) - 1, min(len(frames), SAMPLES)).round().astype(int)
    some = [np.asarray(Image.open(io.BytesIO(frames[i])).convert("RGB")) for i in chosen]
    palette = Image.fromarray(np.concatenate(some)).quantize(colours)
    first, *rest = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in opened)
    first.save(file, save_all=True, append_images=rest, duration=round(1000 / fps), loop=0, optimize=False)


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
        raise UserError(f"cannot write {file}: ffmpeg: {problem.splitlines()[-1] if problem else process.returncode}")
