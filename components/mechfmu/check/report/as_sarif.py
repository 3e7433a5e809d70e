"""SARIF 2.1.0, the format in which GitHub and other code hosts take findings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..checker import RULES
from ..findings import Finding, Rule
from ..results import FindingGroup, NotChecked, Report
from .texts import count_text, details, headline

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "robustness": "note"}
FINGERPRINT = "mechfmuCheck/v1"


def to_sarif(reports: Sequence[Report | NotChecked], version: str) -> str:
    files = list(dict.fromkeys(_uri(r.file) for r in reports))
    driver = dict(
        name="mechfmu check",
        version=version,
        informationUri="https://fmi-standard.org/",
        rules=[_rule(r) for r in RULES],
    )
    notifications = [n for r in reports for n in _notifications(r, files)]
    run = dict(
        tool=dict(driver=driver),
        invocations=[
            dict(
                executionSuccessful=all(isinstance(r, Report) and not r.bugs for r in reports),
                toolExecutionNotifications=notifications,
            )
        ],
        artifacts=[dict(location=dict(uri=uri), roles=["analysisTarget"]) for uri in files],
        results=[result for r in reports if isinstance(r, Report) for result in _results(r, files)],
        columnKind="unicodeCodePoints",
    )
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=False)


def _uri(file: Path) -> str:
    """Relative to the working directory if the file is below it, as code hosts expect it."""
    path = file.resolve()
    here = Path.cwd().resolve()
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()


def _rule(rule: Rule) -> dict[str, Any]:
    section = f"FMI 2.0, section {rule.section}"
    return dict(
        id=rule.id,
        name="".join(word.capitalize() for word in _words(rule.title)),
        shortDescription=dict(text=rule.title),
        fullDescription=dict(text=rule.text),
        help=dict(text=f"{rule.text} ({section})", markdown=f"**{rule.title}.** {rule.text}\n\n{section}"),
        defaultConfiguration=dict(level="note" if rule.robustness else "error"),
    )


def _words(title: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in title).split()


def _results(report: Report, files: Sequence[str]) -> list[dict[str, Any]]:
    accepted = [(g, True) for g in report.accepted]
    return [_result(report, g, files, known) for g, known in [*((g, False) for g in report.groups), *accepted]]


def _result(report: Report, group: FindingGroup, files: Sequence[str], accepted: bool) -> dict[str, Any]:
    times = f" ({count_text(group)})" if group.count > 1 else ""
    text = "\n".join([f"{headline(group)}{times}", *details(group)])
    # of the cause, not of its places: the alert stays the same when some of them are fixed
    cause = "\n".join((_uri(report.file), *group.first.group))
    result: dict[str, Any] = dict(
        ruleId=group.first.rule,
        ruleIndex=next(i for i, r in enumerate(RULES) if r.id == group.first.rule),
        level=LEVELS[group.severity],
        message=dict(text=text),
        locations=[_location(report, group.first, files)],
        partialFingerprints={FINGERPRINT: hashlib.sha256(cause.encode()).hexdigest()[:32]},
        occurrenceCount=group.count,
    )
    if others := group.examples[1:]:
        result["relatedLocations"] = [{"id": i, **_location(report, f, files)} for i, f in enumerate(others, start=1)]
    if report.options.baseline:
        result["baselineState"] = "unchanged" if accepted else "new"
    if accepted:
        result["suppressions"] = [dict(kind="external", justification="accepted by the baseline")]
    return result


def _location(report: Report, finding: Finding, files: Sequence[str]) -> dict[str, Any]:
    """The FMU, with the line in its modelDescription.xml; 1 for what is elsewhere, since code hosts want a line."""
    uri = _uri(report.file)
    place = "modelDescription.xml" if finding.line else "FMU"
    return dict(
        physicalLocation=dict(
            artifactLocation=dict(uri=uri, index=files.index(uri)), region=dict(startLine=finding.line or 1)
        ),
        logicalLocations=[dict(name=finding.where, fullyQualifiedName=f"{place}: {finding.where}", kind="element")],
    )


def _notifications(report: Report | NotChecked, files: Sequence[str]) -> list[dict[str, Any]]:
    """What could not be run or judged."""
    if isinstance(report, NotChecked):
        texts = [("error", report.reason)]
    else:
        texts = [("error", f"internal error: {bug}") for bug in report.bugs]
        texts += [("warning", f"the binary was not run: {report.static_only}")] if report.static_only else []
        texts += [("note", f"{id} not judged: {reason}") for id, reason in report.not_judged]
    uri = _uri(report.file)
    location = dict(physicalLocation=dict(artifactLocation=dict(uri=uri, index=files.index(uri))))
    return [dict(level=level, message=dict(text=text), locations=[location]) for level, text in texts]
