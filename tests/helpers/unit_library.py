"""The libraries of FMUs that are written for tests (tests/c/*_unit.c)."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from helpers.paths import ROOT, TESTS
from mechfmu.codegen.compiler import compile_sources, host_platform


@cache
def library(source: str, folder: Path) -> bytes:
    """The library of a file in tests/c, compiled once per process; `folder` takes it."""
    files = (TESTS / "c" / source, ROOT / "fmu_src" / "fmi" / "fmi2.h")
    target = folder / Path(source).with_suffix(".so").name
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    compile_sources((texts,), target, host_platform(), "cc" if shutil.which("cc") else "zig")
    return target.read_bytes()
