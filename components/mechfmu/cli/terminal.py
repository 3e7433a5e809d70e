"""Output of the commands: tables, plain columns, counts, and progress."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from .progress import Reporter

MAX_TABLE_ROWS = 2000  # longer tables are printed as plain columns
UNLIMITED_WIDTH = 10_000  # columns: wider than any name

OUT = Console()
REPORTER = Reporter()


def print_line(text: str) -> None:
    """Print one line as it is, without markup and never wrapped."""
    OUT.print(text, soft_wrap=True, highlight=False, markup=False)


def folding_table(*headings: str) -> Table:
    """Return an empty table that breaks words in a narrow terminal instead of cutting them off."""
    return Table(*(Column(heading, overflow="fold") for heading in headings))


def print_table(table: Table) -> None:
    """Print a table: as wide as the terminal, or in a pipe as wide as its contents."""
    (OUT if OUT.is_terminal else Console(width=UNLIMITED_WIDTH)).print(table)


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows as plain columns; rich takes minutes to lay out a table of 100,000 rows."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        OUT.file.write("  ".join(cells).rstrip() + "\n")


def escape_markup(text: str) -> str:
    """Escape the brackets that rich would read as markup."""
    return text.replace("[", "\\[")


def shorten(value: object) -> str:
    """Return the value of an option as text; "..." for long ones, such as a tree as JSON."""
    return str(value) if len(str(value)) <= 40 else "..."


def count(n: int, noun: str) -> str:
    """Return "1 step" or "2 steps"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def report_file_size(file: Path) -> None:
    REPORTER.info(f"wrote {file} ({file.stat().st_size / 1000:.0f} kB)")
