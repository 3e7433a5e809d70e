"""The FMUs that arguments of the command line stand for: files, folders and patterns."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from .cannot_check import CannotCheck


def find_fmus(arguments: Sequence[str]) -> list[Path]:
    """The files, all *.fmu below the folders, and whatever the patterns match; each file once. Raises CannotCheck for
    an argument that stands for no file."""
    found: dict[Path, Path] = {}
    for argument in arguments:
        for file in _files(argument):
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _files(argument: str) -> list[Path]:
    path = Path(argument)
    if path.is_file():
        return [path]
    if path.is_dir():
        if files := _below(path):
            return files
        unpacked = (path / "modelDescription.xml").is_file()
        hint = ": it is an unpacked FMU, give the .fmu file" if unpacked else ""
        raise CannotCheck(f"there is no *.fmu file below {argument}{hint}")
    if glob.has_magic(argument):
        matches = [Path(name) for name in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207, also absolute
        files = [f for m in matches for f in (_below(m) if m.is_dir() else [m])]
        if files:
            return files
        raise CannotCheck(f"no FMU matches {argument}")
    raise CannotCheck(f"there is no file {argument}")


def _below(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.suffix.lower() == ".fmu" and f.is_file())
