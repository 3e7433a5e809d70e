"""Films: the 3-D view frame by frame, drawn by a browser, or lines where there is none or it fails."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from helpers import needs
from helpers.look_cases import chain
from mechfmu.model import UserError
from mechfmu.view import animate, browser
from mechfmu.view.browser import BrowserError, find_browser, pictures

POSTS = "<script>fetch('{name}', {{ method: 'POST', body: '{body}' }})</script>"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which must be empty afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def left_over(folder: Path) -> list[str]:
    """Return files below a folder, and processes that were started with it, after a moment to end."""
    deadline = time.monotonic() + 5
    while True:
        found = [str(file) for file in folder.iterdir()]
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found += [command] if str(folder) in command else []
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def fake(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Choose a script as the browser."""
    program = folder / "fake-browser"
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv(browser.CHOICE, str(program))
    return program


def colours(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB"), dtype=int)


def test_a_film_shows_the_frames_of_the_result(tmp_path: Path, temporary: Path) -> None:
    """Of every instant, once: the film backwards is that of the frames backwards, whatever the browser's clock does."""
    needs.tool("chromium")
    seen: list[tuple[int, int]] = []
    result = chain().until(0.4)
    file = animate.animate(
        result, tmp_path / "film.gif", fps=10, progress=lambda done, total: seen.append((done, total))
    )
    assert file == tmp_path / "film.gif" and seen == [(k, 5) for k in range(1, 6)]
    with Image.open(file) as film:
        frames = [colours(frame) for frame in ImageSequence.Iterator(film)]
        assert len(frames) == 5 and film.info["duration"] == 100 and film.width == 600
    moved = [int(np.sum(np.abs(frame - frames[0]).max(axis=2) > 60)) for frame in frames]
    assert moved == sorted(moved) and moved[1] > 100  # pixels; the chain begins to swing
    blue = (frames[0][:, :, 2] > 150) & (frames[0][:, :, 0] < 100)
    assert np.sum(blue) > 1000  # rods
    assert left_over(temporary) == []


def test_slow_motion_has_more_frames() -> None:
    assert len(animate.samples_of(chain(), 25, 1.0)) == 51
    assert len(animate.samples_of(chain(), 25, 0.5)) == 101
    assert len(animate.samples_of(chain(), 10, 2.0)) == 11


def test_mp4(tmp_path: Path, temporary: Path) -> None:
    needs.tool("ffmpeg")
    file = animate.animate(chain().until(0.3), tmp_path / "film.mp4", fps=10)
    wanted = "-v error -count_frames -select_streams v -show_entries stream=nb_read_frames,width,height -of csv=p=0"
    command = [needs.tool("ffprobe"), *wanted.split(), str(file)]
    width, height, count = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(",")
    assert (width, int(count)) == ("960", 4) and int(height) % 2 == 0
    assert left_over(temporary) == []


@pytest.mark.skipif(os.name == "nt", reason="scripts stand for browsers")
@pytest.mark.parametrize(
    "script, reason", [("exit 3", "ended .exit status 3"), ("sleep 60 & sleep 60", "did not come within 0.5 s")]
)
def test_a_browser_that_fails_is_replaced_by_lines(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    fake(tmp_path, script, monkeypatch)
    monkeypatch.setattr(browser, "PATIENCE", 0.5)
    with pytest.warns(RuntimeWarning, match=f"film.gif shows lines drawn by matplotlib .* fake-browser: .* {reason}"):
        file = animate.animate(chain().until(0.3), tmp_path / "film.gif", fps=10)
    with Image.open(file) as film:
        assert film.n_frames == 4
    assert left_over(temporary) == []


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_without_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    needs.tool("ffmpeg")
    monkeypatch.setenv(browser.CHOICE, "none")
    with pytest.warns(RuntimeWarning, match=f"film.{kind} shows lines .* needs a browser: MECHFMU_BROWSER is none"):
        file = animate.animate(chain().until(0.3), tmp_path / f"film.{kind}", fps=10)
    assert file.stat().st_size > 2000
    monkeypatch.delenv(browser.CHOICE)
    monkeypatch.setattr(browser, "PROGRAMS", ())
    monkeypatch.setattr(browser, "PLACES", {})
    with pytest.raises(BrowserError, match="no Chromium, Chrome or Edge was found"):
        find_browser()


def test_what_a_page_cannot_do_is_told(temporary: Path) -> None:
    found = find_browser()
    assert list(pictures(POSTS.format(name="picture", body="one"), 1, found)) == [b"one"]
    with pytest.raises(BrowserError, match="it has no WebGL"):
        list(pictures(POSTS.format(name="problem", body="it has no WebGL"), 1, found))
    assert left_over(temporary) == []


def test_ffmpeg_that_fails_is_told(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho first >&2\necho no encoder >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv(browser.CHOICE, str(find_browser()))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UserError, match=r"^ffmpeg cannot write the film: no encoder$"):
        animate.animate(chain().until(0.3), tmp_path / "film.mp4", fps=10)
    assert not (tmp_path / "film.mp4").exists()
    assert left_over(temporary) == []
