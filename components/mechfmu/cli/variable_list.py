"""Variables as lines of text: no word is cut, whatever the width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

LONGEST_NAME = 36  # columns; a longer name has a line of its own
LEAST_MEANING = 20  # columns; with less, a meaning begins on a line of its own
INDENT, GAP = "  ", "  "


class Variable(NamedTuple):
    name: str
    causality: str
    unit: str
    start: str
    meaning: str


def variable_lines(variables: Sequence[Variable], width: int | None) -> list[str]:
    """Under the name of each causality its variables, within `width` columns; None: a line each, of any length."""
    names, units, starts = (
        max((len(v[k]) for v in variables if k or len(v.name) <= LONGEST_NAME), default=0) for k in (0, 2, 3)
    )
    before = len(INDENT) + names + units + starts + 3 * len(GAP)
    lines = []
    for causality in dict.fromkeys(v.causality for v in variables):
        lines.append(causality)
        for v in (v for v in variables if v.causality == causality):
            cells = f"{v.unit:{units}}{GAP}{v.start:{starts}}{GAP}"
            if width is None:
                lines.append(f"{INDENT}{v.name:{names}}{GAP}{cells}{v.meaning}".rstrip())
                continue
            start = f"{INDENT}{v.name:{names}}{GAP}{cells}"
            if len(v.name) > names:
                lines.append(f"{INDENT}{v.name}")
                start = f"{INDENT}{'':{names}}{GAP}{cells}"
            column = before if width - before >= LEAST_MEANING else 3 * len(INDENT)
            words = textwrap.wrap(v.meaning, max(width - column, 1), break_long_words=False, break_on_hyphens=False)
            if column != before:
                lines.append(start.rstrip())
                start = " " * column
            lines += (
                [(start if k == 0 else " " * column) + text for k, text in enumerate(words)]
                if words
                else ([start.rstrip()] if column == before else [])
            )
    return lines
