"""Variables as lines of text that wrap between words, never inside one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_NAME_WIDTH = 36  # columns; a longer name has its own line
MIN_MEANING_WIDTH = 20  # columns; with less, the meaning starts on its own line
INDENT, GAP = "  ", "  "


class VariableLine(NamedTuple):
    name: str
    causality: str
    unit: str
    start: str
    meaning: str


def variable_lines(variables: Sequence[VariableLine], width: int | None) -> list[str]:
    """Return the variables grouped by causality, wrapped to `width` columns; None: one line each, of any length."""
    names = max((len(v.name) for v in variables if len(v.name) <= MAX_NAME_WIDTH), default=0)
    units = max((len(v.unit) for v in variables), default=0)
    starts = max((len(v.start) for v in variables), default=0)
    lines = []
    for causality in dict.fromkeys(v.causality for v in variables):
        lines.append(causality)
        for v in (v for v in variables if v.causality == causality):
            cells = f"{GAP}{v.unit:{units}}{GAP}{v.start:{starts}}{GAP}"
            if len(v.name) > names and width is not None:
                lines += [f"{INDENT}{v.name}", *wrap_behind(f"{INDENT}{'':{names}}{cells}", v.meaning, width)]
            else:
                lines += wrap_behind(f"{INDENT}{v.name:{names}}{cells}", v.meaning, width)
    return lines


def wrap_behind(start: str, meaning: str, width: int | None) -> Iterator[str]:
    """Wrap the meaning behind `start`, or below it where there is little room; None: one line of any length."""
    if width is None:
        yield f"{start}{meaning}".rstrip()
        return
    beside = width - len(start) >= MIN_MEANING_WIDTH
    column = len(start) if beside else 3 * len(INDENT)
    words = textwrap.wrap(meaning, max(width - column, 1), break_long_words=False, break_on_hyphens=False)
    if not beside or not words:
        yield start.rstrip()
    for k, text in enumerate(words):
        yield (start if beside and k == 0 else " " * column) + text
