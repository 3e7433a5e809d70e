"""JSON report for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..baseline import fingerprint
from ..findings import CLASSES, Finding
from ..model_data import host_platform
from ..results import FindingGroup, NotChecked, Report, RuleResult
from .texts import headline


def to_json(reports: Sequence[Report | NotChecked], version: str) -> str:
    fmus = [report_dict(r) for r in reports if isinstance(r, Report)]
    not_checked = [dict(file=str(r.file), reason=r.reason) for r in reports if isinstance(r, NotChecked)]
    data = dict(tool="mechfmu check", version=version, platform=host_platform(), fmus=fmus, not_checked=not_checked)
    return json.dumps(_plain(data), indent=1, allow_nan=False)


def report_dict(report: Report) -> dict[str, Any]:
    groups = report.groups
    return dict(
        file=str(report.file),
        sha256=report.digest,
        kinds=list(report.kinds),
        static_only=report.static_only or None,
        exit_status=report.exit_status,
        counts={severity: sum(g.severity == severity for g in groups) for severity in CLASSES},
        internal_errors=report.bugs,
        rules=[_rule(report, r) for r in report.results],
        findings=[_group(g, accepted=False) for g in groups] + [_group(g, accepted=True) for g in report.accepted],
        reference=[row for r in report.results for row in r.tables],
    )


def _rule(report: Report, result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    return dict(
        id=rule.id,
        title=rule.title,
        section=rule.section,
        outcome=report.outcome(result),
        reason=result.skipped or None,
        not_judged=result.not_judged,
        seconds=round(result.seconds, 3),
        findings=len(result.findings),
    )


def _group(group: FindingGroup, accepted: bool) -> dict[str, Any]:
    """One cause: how often it was found, up to three examples in full, and all places."""
    quote = group.quote
    return dict(
        rule=group.first.rule,
        severity=group.severity,
        text=headline(group),
        count=group.count,
        kinds=list(group.kinds),
        crash=any(f.crash for f in group.findings),
        section=quote.section if quote else None,
        sentence=quote.text if quote else None,
        suggestion=group.suggestion or None,
        accepted=accepted,
        examples=[_finding(f) for f in group.examples],
        places=[f.where for f in group.places],
    )


def _finding(f: Finding) -> dict[str, Any]:
    data = f.to_dict()
    keys = ("where", "line", "problem", "expected", "kind", "plot")
    return {key: data[key] for key in keys} | {"fingerprint": fingerprint(f)}


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
