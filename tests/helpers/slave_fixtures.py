"""Fixtures with FMUs of the slaves in tests/slaves; tests name this module in `pytest_plugins`."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.native_build import once
from helpers.slave_cases import Portable, in_process_fmu
from mechfmu.fmu.portable import make_portable


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
        made = once(fmu_store, f"portable-{name}", lambda folder: make_portable(in_process(name), folder))
        (file,) = made.glob("*.fmu")
        return file

    return get
