"""How a command shows that it gets on: a spinner or a bar on a terminal, otherwise a plain line for every finished step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

LINE_EVERY = 2.0  # s: short work gets no lines at all
PARTS = 10  # of a long one, each with a line


@dataclass
class Talk:
    """What is said beside the results: nothing (quiet), what was done, or every step with its time (verbose)."""

    quiet: bool = False
    verbose: bool = False

    def tell(self, text: str) -> None:
        """One line, never broken or cut, written at once."""
        if not self.quiet:
            print(text, flush=True)

    @property
    def on_terminal(self) -> bool:
        """Whether spinners and bars are seen and do not disturb."""
        return sys.stdout.isatty() and sys.stderr.isatty() and not self.quiet and not self.verbose

    @contextmanager
    def working(self, title: str) -> Iterator[Callable[[str], None]]:
        """A function to be told what is being done now."""
        if self.on_terminal:
            with Console(stderr=True).status(title) as status:
                yield status.update
            return
        steps: list[tuple[str, float]] = []

        def finish() -> None:
            if steps and self.verbose:
                text, began = steps.pop()
                self.tell(f"{text}: {time.monotonic() - began:.1f} s")

        def update(text: str) -> None:
            finish()
            steps.append((text, time.monotonic()))

        yield update
        finish()

    @contextmanager
    def bar(self, title: str, total: float, unit: str) -> Iterator[Callable[[float], None]]:
        """A function to be told how much of `total` is done."""
        if not self.on_terminal:
            yield Lines(self.tell, title, total, unit, 0.0 if self.verbose else LINE_EVERY)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(f"{{task.completed:g}} of {{task.total:g}} {unit}"),
            TimeRemainingColumn(),
        )
        console = Console(
            file=sys.stderr
        )  # where it points now: while an FMU runs it is redirected, to catch what the FMU says there
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(title, total=total)
            yield lambda done: progress.update(task, completed=round(done, 2))


class Lines:
    """A line for every tenth of the work, but none sooner than `every` seconds after the last, and none at the end, where the result is told."""

    def __init__(
        self,
        tell: Callable[[str], None],
        title: str,
        total: float,
        unit: str,
        every: float,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.tell, self.title, self.total, self.unit, self.every, self.clock = tell, title, total, unit, every, clock
        self.last, self.part = clock(), 0

    def __call__(self, done: float) -> None:
        part = int(PARTS * done / self.total + 1e-9) if self.total > 0 else 0
        if self.part < part < PARTS and self.clock() - self.last >= self.every:
            self.last, self.part = self.clock(), part
            self.tell(f"{self.title}: {done:.4g} of {self.total:g} {self.unit}")
