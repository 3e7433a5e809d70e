"""Static rules: each catches its defects, and no other rule does."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from helpers.check_helpers import caught, check_defect, findings_text
from helpers.check_zoo import CLEAN, DEFECTS, Defect
from mechfmu.check.checker import RULES

STATIC = [d for d in DEFECTS if d.rule.startswith("S")]
BY_LINE = {"S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12"}  # rules about elements of the XML


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("zoo")


def test_every_rule_has_a_defect() -> None:
    assert {d.rule for d in DEFECTS} == {r.id for r in RULES}


@pytest.mark.parametrize("defect", STATIC, ids=lambda d: f"{d.rule}-{d.name}")
def test_a_defect_is_caught_by_its_rule_alone(defect: Defect, folder: Path) -> None:
    report = check_defect(folder, defect, only=("S",))
    assert caught(report) == {defect.rule}, findings_text(report)
    for finding in report.counted:
        assert finding.where and finding.problem and finding.expected
        assert finding.line or defect.rule not in BY_LINE, finding.text


@pytest.mark.slow
@pytest.mark.parametrize("defect", {d.rule: d for d in STATIC}.values(), ids=lambda d: f"{d.rule}-{d.name}")
def test_a_static_defect_is_not_caught_by_dynamic_rules(defect: Defect, folder: Path) -> None:
    report = check_defect(folder, defect)
    assert caught(report) == {defect.rule}, findings_text(report)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_file_gives_no_findings(name: str, folder: Path) -> None:
    report = check_defect(folder, CLEAN[name], only=("S",))
    assert caught(report) == set(), findings_text(report)


def test_the_line_is_that_of_the_element(folder: Path) -> None:
    defect = next(d for d in STATIC if d.name == "grammar")
    (finding,) = check_defect(folder, defect, only=("S5",)).counted
    with zipfile.ZipFile(folder / "S5_grammar.fmu") as archive:
        lines = archive.read("modelDescription.xml").decode().splitlines()
    assert finding.line is not None and '"2d"' in lines[finding.line - 1]
