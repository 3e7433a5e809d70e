"""Progress of a command: a spinner or a bar in a terminal, otherwise plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..console import Console
from .live_line import LiveLine, bar, spinner

LINE_INTERVAL = 2.0  # s between two lines at least, so that short runs print none
LINE_COUNT = 10  # lines of a long run


@dataclass
class Reporter:
    """Messages besides the results: none (quiet), what was done, or every step with its duration (verbose)."""

    quiet: bool = False
    verbose: bool = False

    def info(self, text: str) -> None:
        """Print one line, never wrapped, and flush it."""
        if not self.quiet:
            out = Console()
            out.print(text)
            out.flush()

    @property
    def interactive(self) -> bool:
        """Whether spinners and bars are shown."""
        return sys.stdout.isatty() and Console(sys.stderr).has_escapes and not self.quiet and not self.verbose

    @contextmanager
    def status(self, title: str) -> Iterator[Callable[[str], None]]:
        """Show a spinner; yield a function that takes the name of the current step."""
        if self.interactive:
            with LiveLine(title, spinner) as line:
                yield line.update
            return
        steps: list[tuple[str, float]] = []

        def finish() -> None:
            if steps and self.verbose:
                text, started = steps.pop()
                self.info(f"{text}: {time.monotonic() - started:.1f} s")

        def update(text: str) -> None:
            finish()
            steps.append((text, time.monotonic()))

        yield update
        finish()

    @contextmanager
    def bar(self, title: str, total: float, unit: str) -> Iterator[Callable[[float], None]]:
        """Show a progress bar; yield a function that takes how much of `total` is done."""
        if not self.interactive:
            yield ProgressLines(self.info, title, total, unit, 0.0 if self.verbose else LINE_INTERVAL)
            return
        began = time.monotonic()
        with LiveLine(0.0, lambda done, out: bar(title, done, total, unit, time.monotonic() - began, out)) as line:
            yield line.update


class ProgressLines:
    """Prints a line for every tenth of the work, at most one in `interval` seconds, and none at the end."""

    def __init__(
        self,
        write: Callable[[str], None],
        title: str,
        total: float,
        unit: str,
        interval: float,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.write, self.title, self.total, self.unit = write, title, total, unit
        self.interval, self.clock = interval, clock
        self.last, self.part = clock(), 0

    def __call__(self, done: float) -> None:
        part = int(LINE_COUNT * done / self.total + 1e-9) if self.total > 0 else 0
        if self.part < part < LINE_COUNT and self.clock() - self.last >= self.interval:
            self.last, self.part = self.clock(), part
            self.write(f"{self.title}: {done:.4g} of {self.total:g} {self.unit}")
