"""JSON: everything that was found, for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..checker import Report, Result
from ..outline import host_platform


def to_json(reports: Sequence[Report], version: str) -> str:
    data = dict(tool="mechfmu check", version=version, platform=host_platform(), fmus=[report_dict(r) for r in reports])
    return json.dumps(_plain(data), indent=1, allow_nan=False)


def report_dict(report: Report) -> dict[str, Any]:
    counts = {
        severity: sum(f.severity == severity for f in report.findings) for severity in ("error", "warning", "note")
    }
    return dict(
        file=str(report.file), sha256=report.digest, kinds=list(report.kinds), static_only=report.static_only or None, exit_status=report.exit_status,
        level=report.options.level, counts=counts, internal_errors=report.bugs,
        rules=[_rule(report, r) for r in report.results],
        findings=[{**f.to_dict(), "text": f.text, "counts": report.options.counts(f), "section": r.rule.section} for r in report.results for f in r.findings],
    )  # fmt: skip


def outcome(report: Report, result: Result) -> str:
    return "failed" if report.failed(result) else "not run" if result.skipped else "passed"


def _rule(report: Report, result: Result) -> dict[str, Any]:
    return dict(
        id=result.rule.id, title=result.rule.title, section=result.rule.section, severity=result.rule.severity, outcome=outcome(report, result),
        reason=result.skipped or None, seconds=round(result.seconds, 3), findings=len(result.findings),
    )  # fmt: skip


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
