"""A plugin of pytest for the tests of trees; they name it in `pytest_plugins`."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers.tree_cases import BuildTree
from mechfmu.fmu.build import build
from mechfmu.model import Mechanism


@pytest.fixture
def tree_fmu(kind: str, fmu_store: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildTree:
    """tree_fmu(mechanism): its FMU of this kind, built when first asked for, by one worker while the others wait.

    Not to be changed.
    """

    def get(mechanism: Mechanism, start: Mapping[str, float] | None = None) -> Path:
        place = (
            fmu_store / f"{kind}-{mechanism.name}-{hashlib.sha256(f'{mechanism!r} {start}'.encode()).hexdigest()[:12]}"
        )
        building = place.with_suffix(".building")
        while not place.exists():
            try:
                building.mkdir()
            except FileExistsError:  # another worker is at it
                time.sleep(0.1)
                continue
            try:
                if not place.exists():
                    fresh = tmp_path_factory.mktemp("fmu")
                    build(mechanism, fresh, kind=kind, start=start)
                    fresh.rename(place)
            finally:
                building.rmdir()
        (file,) = place.iterdir()
        return file

    return get
