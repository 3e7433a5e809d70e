"""docs/check_report.md and the judgements by hand agree; build_scripts/check_report.py writes the page."""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatchcase

import pytest

from helpers.paths import BUILD_SCRIPTS

sys.path.append(str(BUILD_SCRIPTS))
from check_report import PAGE, VERDICTS, Adjudication, Result, adjudicated, adjudications, judgement_text

TEXT = PAGE.read_text(encoding="utf-8")
SECTION = re.compile(r"### (error|warning) ([SD]\d+): .*\n\n((?:.+\n)+)\n```text\n(.*)\n```\n")


def test_every_judgement_is_on_the_page_once() -> None:
    for judgement in adjudications():
        assert TEXT.count(f"\n{judgement_text(judgement)}\n") >= 1, judgement
    assert len(re.findall(rf"^\*\*({'|'.join(VERDICTS)})\.\*\*", TEXT, re.M | re.I)) == len(adjudications())


def test_every_finding_on_the_page_has_its_judgement() -> None:
    sections = SECTION.findall(TEXT)
    assert len(sections) == len(adjudications()) == len(re.findall(r"^### (?:error|warning) ", TEXT, re.M))
    for (_, rule, names, example), judgement in zip(sections, adjudications(), strict=True):
        assert judgement.rule == rule and judgement.text in example
        assert all(fnmatchcase(name, judgement.fmus) for name in re.findall(r"[^\s,]+\.fmu\b", names))


def test_the_page_has_no_paths_of_a_machine() -> None:
    assert not re.search(r"/tmp|/home|/root|job_|mechfmu_check_", TEXT)


def finding(rule: str, text: str) -> dict[str, str]:
    return dict(rule=rule, text=text, severity="error")


def test_what_has_no_judgement_or_no_finding_is_named() -> None:
    result = Result("a/b.fmu", "tool", "tool 1", {"findings": [finding("S1", "bad path"), finding("D2", "odd")]})
    known = Adjudication("S1", "path", "a/*", "right", "It is.")
    unused = Adjudication("S1", "path", "c/*", "right", "It is.")
    with pytest.raises(SystemExit) as problem:
        adjudicated([result], [known, unused])
    assert "a/b.fmu: error D2 odd" in str(problem.value) and "c/*" in str(problem.value)
    assert "bad path" not in str(problem.value)
