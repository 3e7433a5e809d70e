"""`mechfmu check`: its options, its reports, its exit status."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from helpers.check_zoo import CLEAN, DEFECTS, Defect, write_fmu
from mechfmu.check.checker import RULES
from mechfmu.cli import main


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fmu(tmp_path_factory.mktemp("zoo"), CLEAN["both"])


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU that does not restore its velocity: D6 fails, with plots."""
    return write_fmu(tmp_path_factory.mktemp("zoo"), next(d for d in DEFECTS if (d.rule, d.name) == ("D6", "lost")))


def test_exit_status(clean: Path, lost: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(clean), "--only", "S,D6"]) == 0
    assert main(["check", str(clean), str(lost), "--only", "D6"]) == 1
    assert main(["check", str(lost), "--skip", "D"]) == 0
    assert main(["check", str(tmp_path / "missing.fmu")]) == 2
    assert main(["check", str(tmp_path)]) == 2
    assert main(["check"]) == 2
    assert main(["check", str(clean), "--only", "D66"]) == 2
    assert main(["check", str(clean), "--timeout", "0"]) == 2
    error = capsys.readouterr().err
    for text in ("there is no file", "is a folder", "there is no rule D66"):
        assert text in error
    assert "Traceback" not in error


def test_all_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--rules"]) == 0
    text = capsys.readouterr().out
    for rule in RULES:
        assert re.search(rf"│ {rule.id} ", text), rule.id
        assert rule.text and rule.section and rule.severity in ("error", "warning"), rule.id


def test_the_terminal_lists_findings_and_rules(lost: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(lost), "--only", "S,D6,D12"])
    text = capsys.readouterr().out
    assert re.search(r'D6  error  variable "v" \(line \d+\): a replay', text)
    assert "expected the same bits" in text and "FMI 2.0 §2.1.8" in text
    assert re.search(r"passed +S1 S2", text) and re.search(r"failed +D6", text)
    assert "not run  D12: the FMU carries no reference result" in text
    assert re.search(r"\d+ errors", text)


def test_level(clean: Path, tmp_path: Path) -> None:
    """The clean FMU logs errors although logging is off, which is a note."""
    assert main(["check", str(clean), "--only", "D2", "--level", "note"]) == 1
    assert main(["check", str(clean), "--only", "D2"]) == 0
    defect = next(d for d in DEFECTS if d.name == "guid-silent")  # a warning
    silent = write_fmu(tmp_path, defect)
    assert main(["check", str(silent), "--only", "D2"]) == 1
    assert main(["check", str(silent), "--only", "D2", "--level", "error"]) == 0


def test_json(lost: Path, clean: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert main(["check", str(lost), str(clean), "--only", "S3,D6", "--json", str(file)]) == 1
    data = json.loads(file.read_text())
    first, second = data["fmus"]
    assert [r["outcome"] for r in first["rules"]] == ["passed", "failed"]
    assert [r["outcome"] for r in second["rules"]] == ["passed", "passed"]
    assert (first["exit_status"], second["exit_status"]) == (1, 0)
    assert first["kinds"] == ["CoSimulation", "ModelExchange"]
    finding = first["findings"][0]
    assert (finding["rule"], finding["severity"], finding["section"]) == ("D6", "error", "2.1.8")
    assert finding["line"] and finding["expected"]
    assert finding["kind"] in first["kinds"] and finding["plot"]["lines"]


def test_junit(lost: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    assert main(["check", str(lost), "--only", "S3,D6,D12", "--junit", str(file)]) == 1
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    cases = {case.get("name", "").split()[0]: case for case in suite}
    assert "expected the same bits" in (cases["D6"].find("failure").text or "")
    assert len(cases["S3"]) == 0 and cases["D12"].find("skipped") is not None


class Page(HTMLParser):
    """The tags of a page and its links to anything outside."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data", "xlink:href")]


def test_html_is_one_page_with_plots(lost: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert main(["check", str(lost), "--only", "S3,D6", "--html", str(file)]) == 1
    text = file.read_text(encoding="utf-8")
    page = Page(text)
    assert page.links == [] and "url(" not in text and "script" not in page.tags
    assert page.tags.count("svg") >= 1 and page.tags.count("polyline") >= 2
    assert "nan" not in "".join(re.findall(r"points='([^']*)'", text))


def test_names_in_an_fmu_cannot_break_the_page(tmp_path: Path) -> None:
    name = 'name="&lt;script&gt;alert(1)&lt;/script&gt; [bold]"'
    evil = Defect("S5", "evil", "", xml=(('name="d"', name),))
    file = write_fmu(tmp_path, evil)
    html, junit = tmp_path / "r.html", tmp_path / "r.xml"
    assert main(["check", str(file), "--only", "S5", "--html", str(html), "--junit", str(junit)]) == 1
    assert "script" not in Page(html.read_text()).tags and ElementTree.parse(junit)


def test_a_report_that_cannot_be_written_is_an_error_before_the_check(clean: Path, tmp_path: Path) -> None:
    assert main(["check", str(clean), "--json", str(tmp_path)]) == 2


def test_the_command_itself(clean: Path) -> None:
    command = [sys.executable, "-m", "mechfmu", "check", str(clean), "--only", "S3"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "clean" in result.stdout, result.stderr
