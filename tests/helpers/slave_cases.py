"""The slaves in tests/slaves, and the FMUs that pythonfmu makes of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from helpers.paths import TESTS

SLAVES = TESTS / "slaves"
FILES = {"divider": (), "every_kind": (), "oven": (), "spring": ("spring_law.py", "spring.txt"), "troublesome": ()}

Portable = Callable[[str], Path]


def in_process_fmu(name: str, folder: Path) -> Path:
    """Build the FMU of a slave with pythonfmu, with a state that can be saved."""
    files = [str(SLAVES / file) for file in FILES[name]]
    options = ["--handle-state", "--serialize-state", "-f", str(SLAVES / f"{name}.py"), "-d", str(folder)]
    command = [sys.executable, "-m", "pythonfmu", "build", *options, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.fmu")
    return file
