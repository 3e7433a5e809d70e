"""Findings of one cause are reported once, the greatest damage first, without temporary paths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from helpers.check_reports import report, variable
from mechfmu.check.checker import path_cleaner
from mechfmu.check.findings import LEGAL_CALL, Finding
from mechfmu.check.results import group_findings


def test_findings_of_one_cause_are_one_group_with_a_count_and_three_examples() -> None:
    (group,) = group_findings(variable(f"x[{i}]", i, i) for i in range(1, 44))
    assert group.count == 43
    assert [f.where for f in group.examples] == ['variable "x[1]"', 'variable "x[2]"', 'variable "x[3]"']


def test_the_kinds_of_an_fmu_are_merged() -> None:
    found = variable("x", kind="ModelExchange")
    (group,) = group_findings([found, replace(found, kind="CoSimulation", problem="it is 1.001")])
    assert group.count == 1 and group.kinds == ("CoSimulation", "ModelExchange")


def test_other_causes_and_rules_are_other_groups() -> None:
    other = replace(variable("x"), problem="it is not a number")
    assert len(group_findings([variable("x"), other, variable("x", rule="D4"), variable("x", sentence="")])) == 4


def test_a_legal_call_that_fails_is_one_cause_in_all_rules() -> None:
    calls = (("fmi2Instantiate", "D5"), ("fmi2Instantiate", "D7"), ("fmi2Reset", "D7"))
    refused = [
        Finding(LEGAL_CALL, f"{name} returned NULL ({count} instances)", "fmi2OK", sentence="new-instance", rule=rule)
        for count, (name, rule) in enumerate(calls)
    ]
    assert [len(group.findings) for group in group_findings(refused)] == [2, 1]


def test_the_greatest_damage_comes_first() -> None:
    weak_crash = Finding("fmi2GetReal", "the process was killed", "fmi2Error", rule="R2", crash=True)
    file_error = variable("a", rule="S11")
    loading = variable("b", rule="D1")
    wrong = variable("c", rule="D11")
    crash = Finding("fmi2DoStep", "the process was killed", "fmi2OK", sentence="library-name", rule="D16", crash=True)
    slow = variable("d", rule="D13", sentence="")
    groups = group_findings([weak_crash, slow, file_error, loading, wrong, crash])
    assert [g.first.rule for g in groups] == ["D16", "D11", "D1", "S11", "D13", "R2"]
    assert [g.severity for g in groups] == ["error"] * 4 + ["warning", "robustness"]


def test_only_errors_cite_a_sentence() -> None:
    groups = group_findings([variable("x"), variable("x", rule="R1"), variable("x", sentence="")])
    assert [(g.severity, g.quote is not None) for g in groups] == [
        ("error", True),
        ("warning", False),
        ("robustness", False),
    ]


def test_errors_and_warnings_count_and_robustness_does_not() -> None:
    assert report().exit_status == 0
    assert report(variable("x")).exit_status == 1
    assert report(variable("x", sentence="")).exit_status == 1
    assert report(variable("x", rule="R1"), robustness=True).exit_status == 0
    broken = report(variable("x"))
    broken.bugs.append("an internal error")
    assert broken.exit_status == 2
    file_only = report(strict=True)
    file_only.static_only = "there is none for linux64"
    assert file_only.exit_status == 2


def test_what_was_not_judged_is_no_finding() -> None:
    found = report()
    found.results[0].not_judged.append("the time budget was used up")
    assert found.exit_status == 0 and found.not_judged == [("S1", "the time budget was used up")]
    assert found.outcome(found.results[0]) == "not judged"


def test_texts_have_no_temporary_paths() -> None:
    folder = Path("/tmp/mechfmu_check_a8_x2")
    clean = path_cleaner(folder, "Model.fmu")
    assert clean(f"{folder}/fmu/binaries/linux64/a.so: cannot open") == "Model.fmu/binaries/linux64/a.so: cannot open"
    assert clean(f"wrote {folder}/scratch/job_1x/work/a.txt") == "wrote Model.fmu/work/a.txt"
    assert clean(f'"file://{folder}/fmu/resources"') == '"file://Model.fmu/resources"'
    assert clean(f"/private{folder}/fmu/a") == "Model.fmu/a"
    assert clean("/tmp/other/fmu/a") == "/tmp/other/fmu/a"
