"""Functions shared by the tests of the checker."""

from __future__ import annotations

from collections.abc import Callable

from mechfmu.check.checker import Report
from mechfmu.check.isolation import Limits

SECONDS = 6.0  # time limit of a call, which each hang uses up; one of a zoo FMU takes a thousandth of it
LIMITS = Limits(SECONDS, 60.0)
CheckDefect = Callable[..., Report]  # the fixture check_defect


def caught(report: Report) -> set[str]:
    """The rules with errors or warnings."""
    assert not report.bugs, report.bugs[0]
    return {f.rule for f in report.counted}


def findings_text(report: Report) -> str:
    return "\n".join(f"{f.rule} {f.severity} {f.text}" for f in report.findings)
