"""Programs that end with this process, however that ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")


def run_guarded(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """The exit status of a program (above 128: the number of the signal that ended it), and what it said on standard error."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(GUARD), *command], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
    ) as guard:  # fmt: skip
        assert guard.stderr is not None
        said = guard.stderr.read()
        return guard.wait(), said
