"""JUnit XML: every FMU is a test suite, every rule a test, for the test pages of CI systems."""

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
        suite = etree.SubElement(
            root, "testsuite", name=_text(report.file.name), tests=str(len(outcomes)), failures=str(outcomes.count("failed")), errors=str(len(report.bugs)),
            skipped=str(outcomes.count("not run")), time=f"{sum(r.seconds for r in report.results):.3f}",
        )  # fmt: skip
        for result, what in zip(report.results, outcomes, strict=True):
            case = etree.SubElement(
                suite,
                "testcase",
                classname=_text(report.file.name),
                name=f"{result.rule.id} {result.rule.title}",
                time=f"{result.seconds:.3f}",
            )
            counted = [f for f in result.findings if report.options.counts(f)]
            if counted:
                failure = etree.SubElement(case, "failure", type=counted[0].severity, message=_text(counted[0].text))
                failure.text = _text(
                    "\n".join(f"{f.severity}: {f.text}" for f in counted) + f"\nFMI 2.0, section {result.rule.section}"
                )
            elif what == "not run":
                etree.SubElement(case, "skipped", message=_text(result.skipped))
        for bug in report.bugs:
            case = etree.SubElement(suite, "testcase", classname=_text(report.file.name), name="the checker itself")
            etree.SubElement(case, "error", message="internal error").text = _text(bug)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _text(text: str) -> str:
    """XML cannot say every character that an FMU can."""
    return FORBIDDEN.sub("?", text)
