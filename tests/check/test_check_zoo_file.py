"""Static rules: each catches its defects, and no other rule does."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from helpers.check_defect import Defect
from helpers.check_helpers import CheckDefect, caught, findings_text
from helpers.check_zoo import CLEAN, write_fmu
from helpers.check_zoo_file import FILE_CLEAN, FILE_DEFECTS
from mechfmu.check.checker import RULES, Options, check_fmu
from mechfmu.check.standard import SENTENCES

pytest_plugins = ("helpers.check_fixtures",)

BY_LINE = {f"S{i}" for i in range(3, 13)} | {"S15"}  # rules about elements of the XML
LEGAL = {  # defects that no sentence of the standard forbids
    "S1": {"parent", "bomb", "case-file", "case-folder", "case-top", "twice", "file-and-folder", "not-ascii", "tuple"},
    "S2": {"entities", "many-indicators", "derivative-order"},
    "S3": {"guid"},
    "S4": {"source"},
    "S5": {"derivative"},
    "S7": {"item"},
    "S8": {"factor", "kind"},
    "S10": {"not-known"},
    "S11": {"stop", "tolerance", "step", "infinite", "tiny-step"},
    "S13": {"compile"},
    "S14": {"runtime", "dependency", "mac-dependency", "no-origin", "glibc", "rpath", "wasm-import", "wasm-cut"},
}


def test_every_static_rule_has_a_defect() -> None:
    assert {d.rule for d in FILE_DEFECTS} == {r.id for r in RULES if r.id.startswith("S")}


@pytest.mark.parametrize("defect", FILE_DEFECTS, ids=lambda d: f"{d.rule}-{d.name}")
def test_a_defect_is_caught_by_its_rule_alone(defect: Defect, check_defect: CheckDefect) -> None:
    report = check_defect(defect, "S")
    assert caught(report) == {defect.rule}, findings_text(report)
    for finding in report.counted:
        assert finding.where and finding.problem and finding.expected
        assert finding.line or defect.rule not in BY_LINE, finding.text
    legal = defect.name in LEGAL.get(defect.rule, ())
    assert any(f.severity == "error" for f in report.counted) is not legal, findings_text(report)


@pytest.mark.slow
@pytest.mark.parametrize(
    "defect", {d.rule: d for d in reversed(FILE_DEFECTS)}.values(), ids=lambda d: f"{d.rule}-{d.name}"
)
def test_a_static_defect_is_not_caught_by_dynamic_rules(defect: Defect, check_defect: CheckDefect) -> None:
    report = check_defect(defect)
    assert caught(report) == {defect.rule}, findings_text(report)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_file_gives_no_findings(name: str, check_defect: CheckDefect) -> None:
    report = check_defect(CLEAN[name], "S")
    assert caught(report) == set(), findings_text(report)


@pytest.mark.parametrize("name", FILE_CLEAN)
def test_what_the_standard_allows_gives_no_findings(name: str, check_defect: CheckDefect) -> None:
    report = check_defect(FILE_CLEAN[name], "S")
    assert caught(report) == set(), findings_text(report)


def test_the_line_is_that_of_the_element(check_defect: CheckDefect, zoo_folder: Path) -> None:
    defect = next(d for d in FILE_DEFECTS if d.name == "grammar")
    (finding,) = check_defect(defect, "S5").counted
    with zipfile.ZipFile(zoo_folder / "S5_grammar.fmu") as archive:
        lines = archive.read("modelDescription.xml").decode().splitlines()
    assert finding.line is not None and '"2d"' in lines[finding.line - 1]


def test_the_name_of_the_file_ends_in_fmu(zoo_folder: Path) -> None:
    file = shutil.copy(write_fmu(zoo_folder, CLEAN["both"]), zoo_folder / "model.zip")
    (finding,) = check_fmu(file, Options(only=("S",))).counted
    assert (finding.rule, finding.sentence) == ("S1", "extension")


def test_an_empty_folder_is_unpacked(zoo_folder: Path) -> None:
    """Some FMUs do not instantiate without their empty folder resources."""
    from mechfmu.check.archive import unpack

    file = write_fmu(
        zoo_folder, Defect("", "empty-folder", "", pack=lambda archive: archive.writestr("resources/none/", ""))
    )
    target = zoo_folder / "unpacked"
    target.mkdir()
    assert "resources/none" in unpack(file, target).folders and (target / "resources" / "none").is_dir()


def test_sentences_are_quoted_without_markup() -> None:
    for key, sentence in SENTENCES.items():
        assert sentence.section[0].isdigit() and sentence.text.strip() == sentence.text, key
        assert not set("`*") & set(sentence.text.replace("N*m", "")), key
