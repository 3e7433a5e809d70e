"""A line at the bottom of the terminal that shows progress and vanishes at the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TextIO, TypeVar, cast

from ..console import Console, Part, Styled

INTERVAL = 0.1  # s between two drawings
FRAME_INTERVAL = 0.08  # s for one picture of the spinner
BAR_WIDTH = 40  # columns
SPINNER, ASCII_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
BAR, ASCII_BAR = "━╸╺", "-- "  # whole, done half, open half
ERASE = "\r\x1b[K"
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"

T = TypeVar("T")


class LiveLine(Generic[T]):
    """Draws a line on standard error again and again. What is printed meanwhile appears above it."""

    def __init__(self, value: T, render: Callable[[T, Console], Sequence[Part]]):
        self.value, self.render = value, render
        self.out = Console(sys.stderr)  # the stream of this moment: it is redirected while an FMU runs
        self.lock, self.ended = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self._draw_until_the_end, daemon=True)

    def __enter__(self) -> LiveLine[T]:
        self.streams = (sys.stdout, sys.stderr)
        self.above = [PrintAbove(stream, self) for stream in self.streams]
        sys.stdout, sys.stderr = (cast(TextIO, stream) for stream in self.above)
        self._write(HIDE_CURSOR)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()
        sys.stdout, sys.stderr = self.streams
        self._write(ERASE + SHOW_CURSOR)
        for stream in self.above:
            stream.finish()

    def update(self, value: T) -> None:
        """Set what the line shows when it is drawn next."""
        self.value = value

    def draw(self) -> None:
        with self.lock:
            width = self.out.width or 80
            self._write("\r" + self.out.line(self.render(self.value, self.out), width - 1) + "\x1b[K")

    def erase(self) -> None:
        self._write(ERASE)

    def _draw_until_the_end(self) -> None:
        self.draw()
        while not self.ended.wait(INTERVAL):
            self.draw()

    def _write(self, text: str) -> None:
        with self.lock:
            self.out.write(text)
            self.out.flush()


class PrintAbove:
    """Stands for standard output or standard error while there is a live line: writes whole lines above it."""

    def __init__(self, stream: TextIO, live: LiveLine[Any]):
        self.stream, self.live, self.pending = stream, live, ""

    def write(self, text: str) -> int:
        with self.live.lock:
            lines, newline, rest = (self.pending + text).rpartition("\n")
            self.pending = rest
            if newline:
                self.live.erase()
                self.stream.write(lines + newline)
                self.stream.flush()
                self.live.draw()
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        self.write("".join(lines))

    def finish(self) -> None:
        self.stream.write(self.pending)
        self.pending = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def spinner(text: str, out: Console) -> list[Part]:
    frames = SPINNER if out.can_print(SPINNER) else ASCII_SPINNER
    return [Styled(frames[int(time.monotonic() / FRAME_INTERVAL) % len(frames)], "green"), " ", text]


def bar(title: str, done: float, total: float, unit: str, elapsed: float, out: Console) -> list[Part]:
    """Return title, bar, numbers and the time that remains at the speed so far."""
    whole, done_half, open_half = tuple(BAR if out.can_print(BAR) else ASCII_BAR)
    share = min(max(done / total, 0.0), 1.0) if total > 0 else 0.0
    full, half = divmod(int(2 * BAR_WIDTH * share), 2)
    rest = BAR_WIDTH - full - half
    open_part = open_half * (full > 0 and not half and rest > 0)
    open_part += whole * (rest - len(open_part))
    return [
        f"{title} ",
        Styled(whole * full + done_half * half, "pink"),
        Styled(open_part, "grey") if out.has_styles else " " * rest,
        f" {round(done, 2):g} of {total:g} {unit} ",
        Styled(_time_text(elapsed * (1.0 - share) / share) if share > 0 else "-:--:--", "cyan"),
    ]


def _time_text(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
