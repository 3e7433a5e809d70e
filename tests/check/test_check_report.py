"""`mechfmu check`: its options, its reports, its exit status."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from helpers.check_reports import report, variable
from helpers.check_zoo import CLEAN, DEFECTS, MISBEHAVING, Defect, write_fmu
from mechfmu.check.checker import RULES, Report
from mechfmu.check.report.as_html import to_html
from mechfmu.check.report.as_json import to_json
from mechfmu.check.report.as_junit import to_junit
from mechfmu.check.report.as_text import print_report
from mechfmu.check.results import NotChecked
from mechfmu.cli import main
from mechfmu.console import Console


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fmu(tmp_path_factory.mktemp("zoo"), CLEAN["both"])


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU that does not restore its velocity: D6 fails, with plots."""
    return write_fmu(tmp_path_factory.mktemp("zoo"), MISBEHAVING["lost"])


def test_exit_status(clean: Path, lost: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(clean), "--only", "S,D6"]) == 0
    assert main(["check", str(clean), str(lost), "--only", "D6"]) == 1
    assert main(["check", str(lost), "--skip", "D"]) == 0
    assert main(["check", str(tmp_path / "missing.fmu")]) == 2
    assert main(["check", str(tmp_path)]) == 2
    assert main(["check"]) == 2
    assert main(["check", str(clean), "--only", "D66"]) == 2
    assert main(["check", str(clean), "--only", "R1"]) == 2
    assert main(["check", str(clean), "--time-budget", "0"]) == 2
    error = capsys.readouterr().err
    for text in ("there is no file", "there is no *.fmu file below", "there is no rule D66", "R1", "--time-budget 0:"):
        assert text in error
    assert "Traceback" not in error


def test_all_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--rules"]) == 0
    text = capsys.readouterr().out
    for rule in RULES:
        assert re.search(rf"│ {rule.id} ", text), rule.id
        assert rule.text and rule.section, rule.id


def printed(found: Report) -> str:
    output = io.StringIO()
    print_report(found, Console(output))
    return output.getvalue()


def test_the_terminal_shows_causes_with_count_examples_sentence_and_suggestion() -> None:
    findings = [variable(f"x[{i}]", i, i, kind="CoSimulation", suggestion="write it") for i in range(1, 6)]
    found = report(*findings, variable("y", rule="R2"), robustness=True)
    found.results[0].not_judged = ["the time budget was used up"]
    text = printed(found)
    assert """error D8 (5 times)  variable "x[1]" (line 1): it is 1; expected its start value [Co-Simulation]""" in text
    assert """also variable "x[2]" (line 2): it is 2""" in text and "and 2 more" in text and "x[4]" not in text
    assert "FMI 2.0, 2.1.1: “the modelIdentifier attribute is used as library name.”" in text
    assert "suggestion: write it" in text
    assert text.index("error D8") < text.index("robustness R2") < text.index("the host is at fault")
    assert re.search(r"failed +D8", text) and re.search(r"reported +R2", text)
    assert "not judged S1: the time budget was used up" in text
    assert "1 error (1 about robustness)" in text


def test_the_terminal_shows_the_deviation_of_signals() -> None:
    found = report()
    row = dict(signal="x", largest=0.031, mean=0.004, tolerance=0.01, passed=False, kind="CoSimulation")
    found.results[0].tables = [row, row | dict(signal="y", largest=0.0, mean=0.0, passed=True)]
    text = printed(found)
    assert re.search(r"x .*3.10% .*0.40% .*1.00% .*failed", text) and re.search(r"y .*passed", text)
    html = to_html([found], "1")
    assert "<td>3.10%</td>" in html and "<td class='passed'>passed</td>" in html


def test_the_terminal_lists_findings_and_rules(lost: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(lost), "--only", "S,D6,D12"])
    text = capsys.readouterr().out
    assert re.search(r'error D6.*  variable "v" \(line \d+\): .*not the saved one.*; expected the same value', text)
    assert re.search(r"passed +S1 S2", text) and re.search(r"failed +D6", text)
    assert "not run    D12: the FMU carries no reference result" in text


def test_json(lost: Path, clean: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert main(["check", str(lost), str(clean), "--only", "S3,D6", "--json", str(file)]) == 1
    data = json.loads(file.read_text())
    first, second = data["fmus"]
    assert [r["outcome"] for r in first["rules"]] == ["passed", "failed"]
    assert [r["outcome"] for r in second["rules"]] == ["passed", "passed"]
    assert (first["exit_status"], second["exit_status"]) == (1, 0)
    assert first["kinds"] == ["CoSimulation", "ModelExchange"]
    cause = next(c for c in first["findings"] if 'variable "v"' in c["places"])
    assert (cause["rule"], cause["severity"], cause["section"]) == ("D6", "error", "2.1.8")
    assert {kind for c in first["findings"] for kind in c["kinds"]} == set(first["kinds"])
    example = cause["examples"][0]
    assert example["line"] and example["expected"] and example["fingerprint"]
    assert example["kind"] in first["kinds"]
    assert any(e["plot"] and e["plot"]["lines"] for c in first["findings"] for e in c["examples"])


def test_json_of_a_cause() -> None:
    found = report(*(variable(f"x[{i}]", i, i) for i in range(1, 6)), variable("y", rule="D4", sentence=""))
    fmu = json.loads(to_json([found, NotChecked(Path("Old.fmu"), "the reason")], "1"))
    (data,) = fmu["fmus"]
    assert data["counts"] == {"error": 1, "warning": 1, "robustness": 0}
    error, warning = data["findings"]
    assert (error["severity"], error["count"], error["section"]) == ("error", 5, "2.1.1")
    assert error["sentence"].startswith("the modelIdentifier") and warning["sentence"] is None
    assert len(error["examples"]) == 3 and len(error["places"]) == 5
    assert fmu["not_checked"] == [{"file": "Old.fmu", "reason": "the reason"}]


def test_reports_have_no_temporary_paths(tmp_path: Path) -> None:
    """The schema names the file it has read, which is one in a temporary folder."""
    broken = write_fmu(tmp_path, next(d for d in DEFECTS if d.what == "a model description that ends in the middle"))
    files = [str(tmp_path / f"r.{ending}") for ending in ("json", "xml", "html", "sarif")]
    options = [x for pair in zip(("--json", "--junit", "--html", "--sarif"), files, strict=True) for x in pair]
    assert main(["check", str(broken), *options]) == 1
    for file in files:
        text = Path(file).read_text(encoding="utf-8")
        assert "mechfmu_check_" not in text and "well-formed" in text, file


def test_junit(lost: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    assert main(["check", str(lost), "--only", "S3,D6,D12", "--junit", str(file)]) == 1
    suite = ElementTree.parse(file).getroot().find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    cases = {case.get("name", "").split()[0]: case for case in suite}
    assert "expected the same value" in (cases["D6"].find("failure").text or "")
    assert len(cases["S3"]) == 0 and cases["D12"].find("skipped") is not None


def test_junit_shows_what_does_not_count_as_output() -> None:
    found = report(variable("x"), variable("y", rule="R1"), robustness=True)
    found.results[0].not_judged = ["the time budget was used up"]
    root = ElementTree.fromstring(to_junit([found, NotChecked(Path("Old.fmu"), "the reason")]))
    suites = root.findall("testsuite")
    assert [(s.get("failures"), s.get("errors")) for s in suites] == [("1", "0"), ("0", "1")]
    s1, d8, r1 = suites[0]
    assert s1.findtext("system-out") == "not judged: the time budget was used up"
    assert "used as library name" in (d8.findtext("failure") or "")
    assert r1.find("failure") is None and "robustness: variable" in (r1.findtext("system-out") or "")
    assert suites[1][0].find("error").get("message") == "the reason"


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


def test_html_has_separate_parts_for_robustness_and_what_was_not_judged() -> None:
    found = report(variable("x"), variable("y", rule="R1"), robustness=True)
    found.results[0].not_judged = ["the time budget was used up"]
    html = to_html([found, NotChecked(Path("Old.fmu"), "the reason")], "1")
    assert html.index("used as library name") < html.index("<h3>Robustness") < html.index("<h3>Not judged")
    assert "the time budget was used up" in html and "not checked" in html and "the reason" in html


def test_names_in_an_fmu_cannot_break_the_page(tmp_path: Path) -> None:
    name = 'name="&lt;script&gt;alert(1)&lt;/script&gt; [bold]"'
    evil = Defect("S5", "evil", "", xml=(('name="d"', name),))
    file = write_fmu(tmp_path, evil)
    html, junit = tmp_path / "r.html", tmp_path / "r.xml"
    assert main(["check", str(file), "--only", "S5", "--html", str(html), "--junit", str(junit)]) == 1
    assert "script" not in Page(html.read_text()).tags and ElementTree.parse(junit)


def test_a_report_that_cannot_be_written_is_an_error_before_the_check(clean: Path, tmp_path: Path) -> None:
    assert main(["check", str(clean), "--json", str(tmp_path)]) == 2
    same = str(tmp_path / "r")
    assert main(["check", str(clean), "--json", same, "--html", same]) == 2 and not Path(same).exists()


def test_the_command_itself(clean: Path) -> None:
    command = [sys.executable, "-m", "mechfmu", "check", str(clean), "--only", "S3"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "no error or warning" in result.stdout, result.stderr


def listen_to_ctrl_c() -> None:
    """A shell's job in the background ignores it, and so do the tests that run in one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_check_at_once_and_leaves_nothing(clean: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mechfmu", "check", str(clean)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process = subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=listen_to_ctrl_c, **streams)
    while not any(tmp_path.glob("mechfmu_check_*/scratch/job_*/trace")):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert (process.returncode, error) == (130, "mechfmu check: interrupted\n")
    assert list(tmp_path.iterdir()) == []
