"""FMUs of the slaves in tests/slaves: as pythonfmu builds them, and portable."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from native_build import once

from mechfmu.packaging.portable import make_portable

SLAVES = Path(__file__).parent / "slaves"
FILES = {"divider": (), "every_kind": (), "spring": ("spring_law.py", "spring.txt"), "troublesome": ()}

Portable = Callable[[str], Path]


def in_process_fmu(name: str, folder: Path) -> Path:
    """What pythonfmu makes of a slave, with a state that can be saved."""
    files = [str(SLAVES / file) for file in FILES[name]]
    command = [sys.executable, "-m", "pythonfmu", "build", "--handle-state", "--serialize-state", "-f", str(SLAVES / f"{name}.py"), "-d", str(folder), *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.fmu")
    return file


@pytest.fixture
def in_process(fmu_store: Path) -> Portable:
    """in_process("divider"): the FMU as pythonfmu builds it."""

    def get(name: str) -> Path:
        (file,) = once(fmu_store, f"in-process-{name}", lambda folder: in_process_fmu(name, folder)).glob("*.fmu")
        return file

    return get


@pytest.fixture
def portable(fmu_store: Path, in_process: Portable) -> Portable:
    """portable("divider"): the same FMU, made portable."""

    def get(name: str) -> Path:
        (file,) = once(fmu_store, f"portable-{name}", lambda folder: make_portable(in_process(name), folder)).glob("*.fmu")
        return file

    return get
