"""JUnit XML for CI systems: each FMU is a test suite, each rule a test case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from ..results import FindingGroup, NotChecked, Report, RuleResult, group_findings
from .texts import count_text, details, headline

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(reports: Sequence[Report | NotChecked]) -> bytes:
    root = etree.Element("testsuites", name="mechfmu check")
    for report in reports:
        if isinstance(report, Report):
            _add_suite(root, report)
        else:
            numbers = dict(tests="1", failures="0", errors="1", skipped="0")
            suite = etree.SubElement(root, "testsuite", name=_text(report.file.name), **numbers)
            case = etree.SubElement(suite, "testcase", classname=_text(report.file.name), name="the FMU")
            etree.SubElement(case, "error", message=_text(report.reason))
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _add_suite(root: Any, report: Report) -> None:
    outcomes = [report.outcome(r) for r in report.results]
    file = _text(report.file.name)
    numbers = {
        "tests": len(outcomes) + len(report.bugs),
        "failures": outcomes.count("failed"),
        "errors": len(report.bugs),
        "skipped": outcomes.count("not run"),
    }
    seconds = sum(r.seconds for r in report.results)
    counts = {name: str(number) for name, number in numbers.items()}
    suite = etree.SubElement(root, "testsuite", name=file, **counts, time=f"{seconds:.3f}")
    for result, outcome in zip(report.results, outcomes, strict=True):
        title = f"{result.rule.id} {result.rule.title}"
        case = etree.SubElement(suite, "testcase", classname=file, name=title, time=f"{result.seconds:.3f}")
        _fill(case, report, result, outcome)
    for bug in report.bugs:
        case = etree.SubElement(suite, "testcase", classname=file, name="the checker itself")
        etree.SubElement(case, "error", message="internal error").text = _text(bug)


def _fill(case: Any, report: Report, result: RuleResult, outcome: str) -> None:
    """What makes the case fail, or why it was skipped; as output whatever does not count."""
    counted = group_findings(f for f in result.findings if report.counts(f))
    others = group_findings(f for f in result.findings if not report.counts(f))
    if counted:
        failure = etree.SubElement(case, "failure", type=counted[0].severity, message=_text(headline(counted[0])))
        failure.text = _text("\n".join(_lines(counted)))
    elif outcome == "not run":
        etree.SubElement(case, "skipped", message=_text(result.skipped))
    output = [*_lines(others), *(f"not judged: {reason}" for reason in result.not_judged)]
    if output:
        etree.SubElement(case, "system-out").text = _text("\n".join(output))


def _lines(groups: Sequence[FindingGroup]) -> list[str]:
    lines = []
    for g in groups:
        times = f" ({count_text(g)})" if g.count > 1 else ""
        lines += [f"{g.severity}{times}: {headline(g)}", *(f"  {text}" for text in details(g))]
    return lines


def _text(text: str) -> str:
    """Replace the characters that XML does not allow."""
    return FORBIDDEN.sub("?", text)
