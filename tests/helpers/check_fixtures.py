"""Fixtures of the tests of the checker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.check_helpers import LIMITS, CheckDefect
from helpers.check_zoo import Defect, write_fmu
from mechfmu.check.checker import Options, Report, check_fmu
from mechfmu.check.processes import RuleProcesses


@pytest.fixture(scope="session")
def processes() -> Iterator[RuleProcesses]:
    """Where rules run: started once, since this takes longer than a check."""
    with RuleProcesses() as shared:
        yield shared


@pytest.fixture(scope="session")
def zoo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Takes the FMUs of the zoo and their library, which is compiled once."""
    return tmp_path_factory.mktemp("zoo")


@pytest.fixture
def check_defect(zoo_folder: Path, processes: RuleProcesses) -> CheckDefect:
    """Checks an FMU of the zoo, by rules `only`, with further options."""

    def check(defect: Defect, *only: str, **options: object) -> Report:
        settings = Options(**dict(only=only, limits=LIMITS) | options)
        return check_fmu(write_fmu(zoo_folder, defect), settings, processes=processes)

    return check
