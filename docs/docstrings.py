"""Extension of mkdocstrings: docstrings as Markdown, and the options of mechanisms.

In docstrings of this project arguments stand in aligned columns, which become tables:

    stop, step   in s; default: those of the mechanism's own experiment
    start        parameters and constant inputs by name
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import griffe

import mechfmu
from mechfmu.model.mechanism import Option

COLUMNS = re.compile(r"^(?:\S(?:.*?\S)? {2,}\S.*(?:\n {4,}\S.*)*\n?)+", re.MULTILINE)
ROW = re.compile(r"^(\S(?:.*?\S)?) {2,}(\S.*(?:\n {4,}\S.*)*)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """What mkdocstrings shows of an object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if not obj.docstring:
            return
        obj.docstring.value = with_tables(obj.docstring.value)
        if obj.is_class and obj.parent and obj.parent.path == "mechfmu":
            obj.docstring.value += options(getattr(mechfmu, obj.name).option_list)


def with_tables(docstring: str) -> str:
    """Return a docstring with aligned columns as tables."""

    def table_of(columns: re.Match[str]) -> str:
        found = ROW.findall(columns[0])
        return table(("", ""), ([code(name), re.sub(r"\s*\n\s*", " ", text)] for name, text in found))

    return COLUMNS.sub(table_of, docstring)


def options(offered: Iterable[Option]) -> str:
    """Return a table of what is chosen when a mechanism is made."""
    shown = [[code(o.name), o.description, value(o.default), ", ".join(map(code, o.choices))] for o in offered]
    return table(("option", "meaning", "default", "choices"), shown) if shown else ""


def value(default: Any) -> str:
    return "an example" if len(str(default)) > 40 else code(str(default)) if str(default) else ""


def code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"
