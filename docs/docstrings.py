"""Extension of mkdocstrings: docstrings as Markdown, the fields of data classes, and the options of mechanisms.

In docstrings of this project arguments stand in aligned columns, which become tables:

    stop, step   in s; default: those of the mechanism's own experiment
    start        parameters and constant inputs by name

Fields of data classes are described by comments in their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import getdoc
from pathlib import Path
from typing import Any

import griffe

import mechfmu
from mechfmu.model.mechanism import Option

ROW = re.compile(r"^(\w+(?:, \w+)*) {2,}(\S.*(?:\n {4,}\S.*)*)\n?", re.MULTILINE)
COLUMNS = re.compile(rf"(?:{ROW.pattern})+", re.MULTILINE)


class Docstrings(griffe.Extension):
    """What mkdocstrings shows of an object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.is_class and obj.parent and obj.parent.path == "mechfmu":
            mechanism = getattr(mechfmu, obj.name)
            obj.docstring = griffe.Docstring(f"{getdoc(mechanism)}{options(mechanism.option_list)}", parent=obj)
        elif obj.docstring:
            obj.docstring.value = with_tables(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        kinds = [str(kind) for kind in (*(d.value for d in cls.decorators), *cls.bases)]
        if cls.docstring and any(kind.startswith(("dataclass", "NamedTuple")) for kind in kinds):
            cls.docstring.value += fields(cls)


def with_tables(docstring: str) -> str:
    """Return a docstring with aligned columns as tables."""

    def table_of(columns: re.Match[str]) -> str:
        found = ROW.findall(columns[0])
        return table(("", ""), ([code(name), re.sub(r"\s*\n\s*", " ", text)] for name, text, *_ in found))

    return COLUMNS.sub(table_of, docstring)


def options(offered: Iterable[Option]) -> str:
    """Return a table of what is chosen when a mechanism is made."""
    shown = [[code(o.name), o.description, value(o.default), ", ".join(map(code, o.choices))] for o in offered]
    return table(("option", "meaning", "default", "choices"), shown) if shown else ""


def fields(cls: griffe.Class) -> str:
    """Return a table of the fields of a data class that have comments."""
    lines = Path(str(cls.filepath)).read_text(encoding="utf-8").splitlines()
    comments = [
        (name, lines[member.lineno - 1].partition("  # ")[2])
        for name, member in cls.members.items()
        if member.is_attribute and member.lineno and not name.startswith("_")
    ]
    rows = [(code(name), text) for name, text in comments if text]
    return table(("field", "meaning"), rows) if rows else ""


def value(default: Any) -> str:
    return "an example" if len(str(default)) > 40 else code(str(default)) if str(default) else ""


def code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *([in_cell(text) for text in row] for row in rows)]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def in_cell(text: str) -> str:
    """Text in which | does not end the cell and {} are not attributes of it."""
    plain = {"{": "&#123;", "}": "&#125;", "|": "&#124;"}
    return re.sub(r"`[^`]*`|[{}|]", lambda found: plain.get(found[0], found[0].replace("|", r"\|")), text)
