"""One case of the zoo and how its FMU is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..paths import TESTS
from ..zoo_library import compiled_library
from . import archive as zip_archive
from .describe import BASES, IDENTIFIER, Description

HERE = TESTS / "c" / "zoo_b"
LIBRARY = f"binaries/linux64/{IDENTIFIER}.so"
PLACEHOLDER = re.compile(rb"@defect:none {20,}")


@dataclass(frozen=True)
class Case:
    """An FMU and the one rule that it breaks; cls is error, warning, robustness or clean (then rule is empty).

    xml holds replacements in the text of modelDescription.xml, table a change of the tables it is written from,
    defect the names (separated by commas) of what is chosen in the library, archive the changes of the ZIP file,
    patch replacements in the bytes of the library, also the rules that cannot but fire as well,
    reference the text of a file of reference results that is written beside the FMU.
    """

    name: str
    cls: str
    rule: str
    point: str
    what: str
    xml: tuple[tuple[str, str], ...] = ()
    defect: str = ""
    archive: tuple[tuple, ...] = ()
    base: str = "tank"
    table: Callable[[Description], Description] | None = None
    variant: str = ""
    patch: tuple[tuple[bytes, bytes], ...] = ()
    also: tuple[str, ...] = ()
    reference: str = ""


def chosen(case: Case) -> list[str]:
    names = [name for name in case.defect.split(",") if name]
    return names + ([f"model_{case.base}"] if case.base != "tank" else [])


def description(case: Case) -> str:
    table = BASES[case.base]
    text = (case.table(table) if case.table else table).xml()
    for old, new in case.xml:
        if old not in text:
            raise ValueError(f"{case.name}: {old!r} is not in the description")
        text = text.replace(old, new)
    return text


def compiled(variant: str, cache: Path) -> bytes:
    options = ["-O2", "-ffp-contract=off", *(["-DUNRESOLVED"] if variant == "unresolved" else [])]
    return compiled_library(IDENTIFIER, sorted(HERE.glob("*.c")), options, cache).read_bytes()


def library_bytes(case: Case, cache: Path) -> bytes:
    data = compiled(case.variant, cache)
    names = chosen(case)
    known = set(re.findall(r"X\((\w+)\)", (HERE / "defects.h").read_text()))
    if unknown := set(names) - known:
        raise ValueError(f"{case.name}: unknown defects {sorted(unknown)}")
    if names:
        found = PLACEHOLDER.findall(data)
        if len(found) != 1:
            raise ValueError("the place of the defect is not in the library exactly once")
        text = b"@defect:" + ",".join(names).encode()
        if len(text) > len(found[0]):
            raise ValueError(f"{case.name}: the names of the defects are too long")
        data = data.replace(found[0], text.ljust(len(found[0])))
    for old, new in case.patch:
        if old not in data or len(old) != len(new):
            raise ValueError(f"{case.name}: the library cannot be patched")
        data = data.replace(old, new)
    return data


def build(case: Case, folder: Path, cache: Path | None = None) -> Path:
    """Writes the FMU of a case and returns its path."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    executable = {"attributes": 0o100755 << 16}
    entries = [
        zip_archive.Entry("modelDescription.xml", description(case).encode()),
        zip_archive.Entry(LIBRARY, library_bytes(case, cache or folder / ".library"), **executable),
        zip_archive.Entry("documentation/index.html", b"<!DOCTYPE html><title>Two tanks</title><p>Two tanks.</p>\n"),
        zip_archive.Entry("resources/fluids.txt", b"water 1.0\noil 0.8\nglycol 0.9\n"),
    ]
    path = folder / f"{case.name}.fmu"
    path.write_bytes(zip_archive.zip_bytes(zip_archive.edited(entries, case.archive)))
    if case.reference:
        (folder / f"{case.name}_ref.csv").write_text(case.reference)
    return path
