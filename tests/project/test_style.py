"""The project's own rules of style and types hold everywhere in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.paths import ROOT

TOOLS = {"lint": ["ruff", "check"], "format": ["ruff", "format", "--check"], "types": ["mypy"]}

CLANG_FORMAT = "from clang_format import clang_format; clang_format()"  # the package has no __main__
C_FOLDERS = ("fmu_src", "tests/c", "benchmarks/c")


@pytest.mark.parametrize("arguments", TOOLS.values(), ids=TOOLS.keys())
def test_no_findings(arguments: list[str]) -> None:
    found = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr


def test_c_code_is_formatted() -> None:
    """According to .clang-format; to format, run clang-format -i on the files."""
    suffixes = (".c", ".h", ".cpp", ".inc")
    files = [f for folder in C_FOLDERS for f in sorted((ROOT / folder).rglob("*")) if f.suffix in suffixes]
    command = [sys.executable, "-c", CLANG_FORMAT, "--dry-run", "-Werror", *map(str, files)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert len(files) > 30
    assert found.returncode == 0, found.stderr
