"""The project's own rules of style and types hold everywhere in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.paths import ROOT

TOOLS = {"lint": ["ruff", "check"], "format": ["ruff", "format", "--check"], "types": ["mypy"]}


@pytest.mark.parametrize("arguments", TOOLS.values(), ids=TOOLS.keys())
def test_no_findings(arguments: list[str]) -> None:
    found = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stdout + found.stderr
