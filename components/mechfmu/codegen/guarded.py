"""Running programs that end with this process, however it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


def run_guarded(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the exit status of a program (above 128: 128 + the signal that ended it) and its standard error."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(GUARD), *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as guard:
        assert guard.stderr is not None
        output = guard.stderr.read()
        return guard.wait(), output
