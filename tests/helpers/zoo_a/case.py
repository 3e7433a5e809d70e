"""One case of the zoo, and the builder of its FMU."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..paths import TESTS
from ..zoo_library import compiled_library
from . import reference
from .archive import Archive, ArchiveEdit
from .description import Edit, edited, thermostat
from .lab import lab

HERE = TESTS / "c" / "zoo_a"
FLAGS = ("-O1", "-s")
SOURCES: dict[str, tuple[str, ...]] = {
    "Thermostat": (
        "unit_tables.c",
        "unit_memory.c",
        "unit_model.c",
        "unit_values.c",
        "unit_state.c",
        "unit_life.c",
        "unit_exchange.c",
        "unit_step.c",
        "unit_cosim.c",
    ),
    "Lab": ("unit_lab.c",),
}
PLACEHOLDER = b"@defect:none" + bytes(52)
PAGE = b"<!DOCTYPE html><html><head><title>Thermostat</title></head><body><p>A heated room.</p></body></html>\n"


@dataclass(frozen=True)
class Case:
    """What is wrong with an FMU. `also` are rules that the same defect may break as a consequence."""

    name: str
    cls: str
    rule: str
    point: str
    what: str
    xml: tuple[Edit, ...] = ()
    defect: str = "none"
    archive: tuple[ArchiveEdit, ...] = ()
    quote: str = ""
    also: tuple[str, ...] = ()
    patch: tuple[tuple[bytes, bytes], ...] = ()
    unit: str = "Thermostat"
    raw: tuple[tuple[bytes, bytes], ...] = ()
    reference: bool = False


def compiled(unit: str, cache: Path) -> Path:
    """The library of a unit."""
    return compiled_library(unit, [HERE / name for name in SOURCES[unit]], FLAGS, cache)


def patched(binary: bytes, old: bytes, new: bytes) -> bytes:
    if len(old) != len(new) or old not in binary:
        raise ValueError(f"cannot patch {old!r}")
    return binary.replace(old, new)


def library_of(case: Case, cache: Path) -> bytes:
    binary = compiled(case.unit, cache).read_bytes()
    if binary.count(PLACEHOLDER) != 1:
        raise ValueError("no single placeholder")
    tag = f"@defect:{case.defect}".encode()
    if len(tag) > 63:
        raise ValueError(f"the name of the defect is too long: {case.defect}")
    binary = binary.replace(PLACEHOLDER, tag.ljust(64, b"\0"))
    for old, new in case.patch:
        binary = patched(binary, old, new)
    return binary


def description_of(case: Case) -> bytes:
    base = lab(case.defect) if case.unit == "Lab" else thermostat(case.defect == "c_huge_references")
    data = edited(base, case.xml).encode()
    for old, new in case.raw:
        if old not in data:
            raise ValueError(f"nothing to replace: {old!r}")
        data = data.replace(old, new, 1)
    return data


def build(case: Case, folder: Path, cache: Path | None = None) -> Path:
    """Writes the FMU of a case into the folder, with a reference result beside it if the case has one."""
    folder.mkdir(parents=True, exist_ok=True)
    cache = cache or folder / ".cache"
    whole = Archive()
    whole.add("modelDescription.xml", description_of(case))
    whole.add("documentation/index.html", PAGE)
    whole.add("resources/schedule.txt", b"0.25 comfort\n0.75 night\n")
    whole.add(f"binaries/linux64/{case.unit}.so", library_of(case, cache), mode=0o100755)
    for edit in case.archive:
        edit(whole)
    path = folder / f"{case.name}.fmu"
    path.write_bytes(whole.bytes())
    if case.reference:
        (folder / f"{case.name}_ref.csv").write_text(reference.result(compiled("Thermostat", cache)))
    return path
