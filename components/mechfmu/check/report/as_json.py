"""JSON report for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..checker import Report, RuleResult
from ..findings import SEVERITIES, Finding
from ..model_data import host_platform


def to_json(reports: Sequence[Report], version: str) -> str:
    data = dict(tool="mechfmu check", version=version, platform=host_platform(), fmus=[report_dict(r) for r in reports])
    return json.dumps(_plain(data), indent=1, allow_nan=False)


def report_dict(report: Report) -> dict[str, Any]:
    return dict(
        file=str(report.file),
        sha256=report.digest,
        kinds=list(report.kinds),
        static_only=report.static_only or None,
        exit_status=report.exit_status,
        level=report.options.level,
        counts={severity: sum(f.severity == severity for f in report.findings) for severity in SEVERITIES},
        internal_errors=report.bugs,
        rules=[_rule(report, r) for r in report.results],
        findings=[_finding(report, r, f) for r in report.results for f in r.findings],
    )


def outcome(report: Report, result: RuleResult) -> str:
    return "failed" if report.failed(result) else "not run" if result.skipped else "passed"


def _rule(report: Report, result: RuleResult) -> dict[str, Any]:
    rule = result.rule
    return dict(
        id=rule.id,
        title=rule.title,
        section=rule.section,
        severity=rule.severity,
        outcome=outcome(report, result),
        reason=result.skipped or None,
        seconds=round(result.seconds, 3),
        findings=len(result.findings),
    )


def _finding(report: Report, result: RuleResult, f: Finding) -> dict[str, Any]:
    return {**f.to_dict(), "text": f.text, "counts": report.options.counts(f), "section": result.rule.section}


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
