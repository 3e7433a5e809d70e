"""Functions shared by the tests of the checker."""

from __future__ import annotations

from helpers.check_zoo import Defect, write_fmu
from mechfmu.check.checker import Options, Report, check_fmu
from mechfmu.check.isolation import Limits

SECONDS = 6.0  # time limit, which each hang uses up; the lifecycle of a zoo FMU takes a hundredth of it


def check_defect(folder, defect: Defect, only: tuple[str, ...] = ()) -> Report:
    return check_fmu(write_fmu(folder, defect), Options(only=only, limits=Limits(SECONDS)))


def caught(report: Report) -> set[str]:
    assert not report.bugs, report.bugs[0]
    return {f.rule for f in report.counted}


def findings_text(report: Report) -> str:
    return "\n".join(f"{f.rule} {f.severity} {f.text}" for f in report.counted)
