"""Runs the command `mechfmu` as a user does, in a process of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from helpers.fork_server import run

TIMEOUT = 90  # s: a hang is a failure like any other


def mechfmu(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return run(["-m", "mechfmu", *arguments], folder, TIMEOUT)


def done(*arguments: object, folder: Path) -> str:
    """Run a command that must succeed and return what it printed."""
    result = mechfmu(*arguments, folder=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


def refused(*arguments: object, folder: Path, words: tuple[str, ...]) -> None:
    """Run a command with invalid input: exit status 2, one line on standard error that names the problem, no files."""
    before = contents(folder)
    result = mechfmu(*arguments, folder=folder)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert result.stderr.startswith("mechfmu"), result.stderr
    assert result.stderr.endswith("\n") and result.stderr.count("\n") == 1, result.stderr
    assert all(word in result.stderr for word in words), (words, result.stderr)
    written = {str(p.relative_to(folder)) for p in contents(folder)} - {str(p.relative_to(folder)) for p in before}
    assert not written, written
    assert contents(folder) == before


def contents(folder: Path) -> dict[Path, bytes | None]:
    return {p: p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}
