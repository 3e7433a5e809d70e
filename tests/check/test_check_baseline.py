"""`--baseline` accepts what is there and fails on what is new."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.check_reports import report, variable
from helpers.check_zoo import CLEAN, DEFECTS, Defect, write_fmu
from mechfmu.check.baseline import Baseline, fingerprint, read_baseline, write_baseline
from mechfmu.cli import main


def test_a_fingerprint_does_not_depend_on_values_lines_and_kinds() -> None:
    found = variable("x[3]", 1.25, 12, kind="CoSimulation")
    assert fingerprint(found) == fingerprint(variable("x[3]", -7e-3, 40, kind="ModelExchange"))
    step = replace(found, where="fmi2DoStep(0.1, 0.1)")
    assert fingerprint(step) == fingerprint(replace(found, where="fmi2DoStep(0.25, 0.1)"))


def test_a_fingerprint_depends_on_rule_cause_and_place() -> None:
    found = variable("x[3]")
    others = [
        variable("x[4]"),
        variable("x[3]", rule="D4"),
        variable("x[3]", sentence=""),
        replace(found, problem="it cannot be read"),
    ]
    assert len({fingerprint(f) for f in (found, *others)}) == 5


def test_only_new_findings_count(tmp_path: Path) -> None:
    fmu = tmp_path / "Model.fmu"
    old, new = variable("old"), variable("new")
    (tmp_path / "base.json").write_text(write_baseline([(fmu, [old])], tmp_path), encoding="utf-8")
    baseline = read_baseline(tmp_path / "base.json")
    assert report(old, file=fmu, baseline=baseline).exit_status == 0
    both = report(old, new, file=fmu, baseline=baseline)
    assert both.exit_status == 1 and both.counted == [new]
    assert [g.count for g in both.groups] == [1] and [g.count for g in both.accepted] == [1]
    other = tmp_path / "sub" / "Model.fmu"  # an FMU of the same name in another folder
    assert report(old, file=other, baseline=baseline).exit_status == 1
    assert report(old, file=Path("/elsewhere/Model.fmu"), baseline=baseline).exit_status == 0


def stop_time(folder: Path, *more: str) -> Path:
    """An FMU whose stop time is before its start time, and with other defects of the file."""
    xml = tuple(x for name in ("stop", *more) for d in DEFECTS if d.name == name and d.rule == "S11" for x in d.xml)
    return write_fmu(folder, Defect("S11", "stop", "", xml=xml))


def test_the_command_writes_a_baseline_and_accepts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fmu = stop_time(tmp_path)
    assert main(["check", str(fmu), "--only", "S"]) == 1
    assert main(["check", str(fmu), "--only", "S", "--write-baseline", "base.json"]) == 0
    found = json.loads(Path("base.json").read_text(encoding="utf-8"))["fmus"][fmu.name]
    assert [(f["rule"], f["where"]) for f in found] == [("S11", "DefaultExperiment")]
    assert main(["check", str(fmu), "--only", "S", "--baseline", "base.json", "--json", "r.json"]) == 0
    (cause,) = json.loads(Path("r.json").read_text(encoding="utf-8"))["fmus"][0]["findings"]
    assert cause["accepted"] is True
    stop_time(tmp_path, "tolerance")  # the same file with one more defect
    assert main(["check", str(fmu), "--only", "S", "--baseline", "base.json"]) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "mechfmu check baseline", "version": 1, "fmus": [1]}'])
def test_a_file_that_is_no_baseline_is_told(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fmu = write_fmu(tmp_path, CLEAN["both"])
    Path("base.json").write_text(text)
    assert main(["check", str(fmu), "--only", "S3", "--baseline", "base.json"]) == 2
    assert main(["check", str(fmu), "--only", "S3", "--baseline", "missing.json"]) == 2
    assert main(["check", str(fmu), "--only", "S3", "--baseline", "a", "--write-baseline", "b"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "base.json" in lines[0]
    assert "--write-baseline missing.json creates it" in lines[1] and "either" in lines[2]


def test_an_empty_baseline_accepts_nothing(tmp_path: Path) -> None:
    fmu = tmp_path / "Model.fmu"
    assert report(variable("x"), file=fmu, baseline=Baseline(tmp_path, {})).exit_status == 1
