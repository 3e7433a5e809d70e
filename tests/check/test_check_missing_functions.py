"""Functions that a library does not export."""

from __future__ import annotations

from pathlib import Path

from helpers.zoo_a import cases
from mechfmu.check.checker import Options, Report, check_fmu

CASES = {case.name: case for case in cases.CASES}


def report_of(name: str, folder: Path, *rules: str) -> Report:
    return check_fmu(cases.build(CASES[name], folder, folder / "libraries"), Options(only=rules, jobs=1))


def test_one_that_no_importer_calls_is_one_error_and_the_other_rules_run(tmp_path: Path) -> None:
    report = report_of("d1_no_cancel_step", tmp_path, "S14", "D1", "D5")
    (group,) = report.groups
    assert {f.rule for f in group.findings} == {"S14", "D1"}
    outcomes = {r.rule.id: report.outcome(r) for r in report.results}
    assert outcomes == {"S14": "failed", "D1": "failed", "D5": "passed"}


def test_one_that_every_importer_calls_ends_the_check_of_this_kind(tmp_path: Path) -> None:
    report = report_of("d1_no_nominals", tmp_path, "D1", "D14")
    assert "see D1, fmi2GetNominalsOfContinuousStates" in report.results[-1].skipped
