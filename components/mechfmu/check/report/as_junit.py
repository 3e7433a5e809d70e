"""JUnit XML for CI systems: each FMU is a test suite, each rule a test case."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lxml import etree  # type: ignore[import-untyped]

from ..checker import Report
from .as_json import outcome

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(reports: Sequence[Report]) -> bytes:
    root = etree.Element("testsuites", name="mechfmu check")
    for report in reports:
        outcomes = [outcome(report, r) for r in report.results]
        file = _text(report.file.name)
        numbers = {
            "tests": len(outcomes),
            "failures": outcomes.count("failed"),
            "errors": len(report.bugs),
            "skipped": outcomes.count("not run"),
        }
        seconds = sum(r.seconds for r in report.results)
        counts = {name: str(number) for name, number in numbers.items()}
        suite = etree.SubElement(root, "testsuite", name=file, **counts, time=f"{seconds:.3f}")
        for result, what in zip(report.results, outcomes, strict=True):
            title = f"{result.rule.id} {result.rule.title}"
            case = etree.SubElement(suite, "testcase", classname=file, name=title, time=f"{result.seconds:.3f}")
            counted = [f for f in result.findings if report.options.counts(f)]
            if counted:
                lines = [*(f"{f.severity}: {f.text}" for f in counted), f"FMI 2.0, section {result.rule.section}"]
                failure = etree.SubElement(case, "failure", type=counted[0].severity, message=_text(counted[0].text))
                failure.text = _text("\n".join(lines))
            elif what == "not run":
                etree.SubElement(case, "skipped", message=_text(result.skipped))
        for bug in report.bugs:
            case = etree.SubElement(suite, "testcase", classname=file, name="the checker itself")
            etree.SubElement(case, "error", message="internal error").text = _text(bug)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _text(text: str) -> str:
    """Replace the characters that XML does not allow."""
    return FORBIDDEN.sub("?", text)
