"""`--sarif`: a log of SARIF 2.1.0 that code hosts accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.check_reports import report, variable
from helpers.check_zoo import DEFECTS, write_fmu
from mechfmu.check.baseline import read_baseline, write_baseline
from mechfmu.check.checker import RULES, Report
from mechfmu.check.report.as_sarif import to_sarif
from mechfmu.check.results import NotChecked
from mechfmu.cli import main


def the_run(*reports: Report | NotChecked) -> dict[str, Any]:
    log = json.loads(to_sarif(reports, "1.0"))
    assert log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"]
    (run,) = log["runs"]
    return run


def test_every_rule_has_a_help_text() -> None:
    driver = the_run(report())["tool"]["driver"]
    assert driver["name"] and [r["id"] for r in driver["rules"]] == [r.id for r in RULES]
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["text"] and "FMI 2.0" in rule["help"]["markdown"]


def test_a_cause_is_one_result_at_the_line_of_the_model_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    findings = [variable("x", 1, 12), variable("y", 2, 13), variable("z", 3, 14), variable("w", 4, 15)]
    run = the_run(report(*findings, file=tmp_path / "my fmus" / "Model.fmu"))
    (result,) = run["results"]
    assert (result["ruleId"], result["level"], result["occurrenceCount"]) == ("D8", "error", 4)
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "D8"
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "my%20fmus/Model.fmu", "index": 0}
    assert location["physicalLocation"]["region"] == {"startLine": 12}
    assert [r["physicalLocation"]["region"]["startLine"] for r in result["relatedLocations"]] == [13, 14]
    assert "modelIdentifier attribute is used as library name" in result["message"]["text"]
    assert run["artifacts"][0]["location"]["uri"] == "my%20fmus/Model.fmu"


def test_fingerprints_survive_other_values_and_tell_causes_apart() -> None:
    def prints(*findings: Any) -> list[str]:
        return [r["partialFingerprints"]["mechfmuCheck/v1"] for r in the_run(report(*findings))["results"]]

    first = prints(variable("x", 1, 12), variable("x", 1, 12, rule="D4"))
    assert first == prints(variable("x", 2, 99), variable("x", 2, 99, rule="D4"))
    assert len(set(first)) == 2


def test_classes_are_levels() -> None:
    robust = next((r.id for r in RULES if r.robustness), None)
    run = the_run(report(variable("x", rule="D4"), variable("x", rule="D8", sentence="")))
    assert [r["level"] for r in run["results"]] == ["error", "warning"]
    if robust:
        assert [r["level"] for r in the_run(report(variable("x", rule=robust)))["results"]] == ["note"]


def test_what_could_not_be_judged_or_checked_is_a_notification() -> None:
    partly = report()
    partly.results[0].not_judged.append("the time budget was used up")
    invocation = the_run(partly, NotChecked(Path("Old.fmu"), "Old.fmu is an FMU of FMI 1.0"))["invocations"][0]
    assert invocation["executionSuccessful"] is False
    texts = [(n["level"], n["message"]["text"]) for n in invocation["toolExecutionNotifications"]]
    assert texts == [("note", "S1 not judged: the time budget was used up"), ("error", "Old.fmu is an FMU of FMI 1.0")]


def test_accepted_findings_are_suppressed(tmp_path: Path) -> None:
    fmu = tmp_path / "Model.fmu"
    (tmp_path / "base.json").write_text(write_baseline([(fmu, [variable("x")])], tmp_path), encoding="utf-8")
    baseline = read_baseline(tmp_path / "base.json")
    new, old = the_run(report(variable("x"), variable("y"), file=fmu, baseline=baseline))["results"]
    assert (new["baselineState"], "suppressions" in new) == ("new", False)
    assert (old["baselineState"], old["suppressions"][0]["kind"]) == ("unchanged", "external")


def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fmu = write_fmu(tmp_path, next(d for d in DEFECTS if (d.rule, d.name) == ("S11", "stop")))
    assert main(["check", str(fmu), "--only", "S", "--sarif", "r.sarif"]) == 1
    (result,) = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == "S11" and location["artifactLocation"]["uri"] == fmu.name
    assert location["region"]["startLine"] > 1
