"""FMUs with thousands of variables, which the rules examine by samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.check_helpers import LIMITS, caught, findings_text
from helpers.large_fmu import LargeFmu
from mechfmu.check.checker import Options, Report, check_fmu


def check(unit: LargeFmu, folder: Path, *only: str) -> Report:
    file = folder / "Large.fmu"
    unit.write(file, folder)
    return check_fmu(file, Options(only=only, limits=LIMITS, jobs=2))


@pytest.mark.parametrize("inputs", (True, False), ids=("inputs", "parameters"))
def test_a_large_fmu_without_a_defect_passes(inputs: bool, tmp_path: Path) -> None:
    report = check(LargeFmu(1500, inputs, states=3), tmp_path)
    assert not caught(report), findings_text(report)


@pytest.mark.parametrize("inputs", (True, False), ids=("inputs", "parameters"))
def test_one_undeclared_dependency_among_millions_is_found(inputs: bool, tmp_path: Path) -> None:
    report = check(LargeFmu(1500, inputs, coupled=True), tmp_path, "D9")
    assert {f.where.partition(" in ")[0] for f in report.counted} == {'variable "y[1500]"'}, findings_text(report)
    assert all('"k[1]"' in f.problem for f in report.counted)
