"""Output of the commands: tables, plain columns, counts, and progress."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from ..console import Console, text_width
from .progress import Reporter

MAX_TABLE_ROWS = 2000  # longer tables are printed as plain columns

OUT = Console()
REPORTER = Reporter()


def print_error(text: str) -> None:
    """Print one line on standard error."""
    Console(sys.stderr).print(text)


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows as plain columns, never wrapped."""
    widths = [max(map(text_width, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        cells = (cell + " " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=False))
        OUT.print("  ".join(cells))


def shorten(value: object) -> str:
    """Return the value of an option as text; "..." for long ones, such as a tree as JSON."""
    return str(value) if len(str(value)) <= 40 else "..."


def count(n: int, noun: str) -> str:
    """Return "1 step" or "2 steps"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def report_file_size(file: Path) -> None:
    REPORTER.info(f"wrote {file} ({file.stat().st_size / 1000:.0f} kB)")
