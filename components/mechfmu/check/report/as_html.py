"""A self-contained HTML page: findings, rules, and plots (SVG) of the signals that failed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..findings import Plot, Rule
from ..results import FindingGroup, NotChecked, Report, RuleResult
from .texts import ROBUSTNESS_HINT, count_text, details, headline, kinds_text, verdict

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em }
body { color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2em } code { font-size: .95em }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ddd }
.error, .failed { color: #b00020 } .warning { color: #9a6700 } .robustness { color: #0969da }
.passed { color: #1a7f37 } .not-run, .not-judged, .accepted { color: #57606a } .reported { color: #0969da }
.finding { border-left: 4px solid #ccc; padding: .2em .8em; margin: .8em 0 }
.finding.error { border-color: #b00020; color: inherit } .finding.warning { border-color: #d4a72c; color: inherit }
.finding.robustness { border-color: #0969da; color: inherit }
.small { color: #57606a; font-size: .88em } svg { max-width: 100%; height: auto }
@media (max-width: 700px) {
  table { display: block; overflow-x: auto } pre { overflow-x: auto } code { overflow-wrap: anywhere }
  td code { overflow-wrap: normal }
}
"""
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#8250df")
W, H, LEFT, RIGHT, TOP, BOTTOM = 680, 220, 70, 12, 30, 34


def to_html(reports: Sequence[Report | NotChecked], version: str) -> str:
    names = ", ".join(r.file.name for r in reports)
    body = "".join(_fmu(r) if isinstance(r, Report) else _not_checked(r) for r in reports)
    return (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>mechfmu check: {escape(names)}</title><style>{STYLE}</style></head>"
        f"<body><h1>FMI 2.0 compliance</h1>{body}<p class='small'>mechfmu {escape(version)}</p></body></html>\n"
    )


def _not_checked(report: NotChecked) -> str:
    title = f"{escape(report.file.name)}: <span class='failed'>not checked</span>"
    return f"<h2>{title}</h2><p>{escape(report.reason)}</p>"


def _fmu(report: Report) -> str:
    style = "failed" if report.exit_status else "warning" if report.static_only else "passed"
    parts = [f"<h2>{escape(report.file.name)}: <span class='{style}'>{escape(verdict(report))}</span></h2>"]
    parts.append(f"<p class='small'>{escape(kinds_text(report.kinds))}; sha256 <code>{report.digest}</code></p>")
    if report.static_only:
        parts.append(f"<p class='warning'>The binary was not run: {escape(report.static_only)}</p>")
    parts += [f"<pre class='error'>{escape(bug)}</pre>" for bug in report.bugs]
    counted = [g for g in report.groups if g.severity != "robustness"]
    weak = [g for g in report.groups if g.severity == "robustness"]
    parts += [_group(g) for g in counted]
    parts += [f"<h3>Robustness</h3><p class='small'>{escape(ROBUSTNESS_HINT)}</p>"] if weak else []
    parts += [_group(g) for g in weak]
    parts += ["<h3>Accepted by the baseline</h3>"] if report.accepted else []
    parts += [_group(g) for g in report.accepted]
    parts += [_tables(r) for r in report.results if r.tables]
    if report.not_judged:
        items = "".join(f"<li><b>{id}</b> {escape(reason)}</li>" for id, reason in report.not_judged)
        parts.append(f"<h3>Not judged</h3><ul>{items}</ul>")
    head = "<tr><th>id</th><th>rule</th><th>FMI 2.0</th><th>outcome</th><th></th></tr>"
    rows = "".join(_row(r.rule, report.outcome(r), r.skipped) for r in report.results)
    parts.append(f"<h3>Rules</h3><table>{head}{rows}</table>")
    return "".join(parts)


def _row(rule: Rule, result: str, skipped: str) -> str:
    return (
        f"<tr><td>{rule.id}</td>"
        f"<td>{escape(rule.title)}<br><span class='small'>{escape(rule.text)}</span></td>"
        f"<td>{escape(rule.section)}</td>"
        f"<td class='{result.replace(' ', '-')}'>{result}</td><td class='small'>{escape(skipped)}</td></tr>"
    )


def _group(group: FindingGroup) -> str:
    times = f" ({count_text(group)})" if group.count > 1 else ""
    label = f"<b>{group.first.rule} <span class='{group.severity}'>{group.severity}</span>{times}</b>"
    lines = "".join(f"<div class='small'>{escape(text)}</div>" for text in details(group))
    plots = "".join(draw(f.plot) for f in group.examples if f.plot)
    return f"<div class='finding {group.severity}'>{label} {escape(headline(group))}{lines}{plots}</div>"


def _tables(result: RuleResult) -> str:
    """The deviation of every signal from the reference result."""
    head = "<tr><th>signal</th><th></th><th>largest</th><th>mean</th><th>allowed</th><th></th></tr>"
    rows = ""
    for row in result.tables:
        numbers = "".join(f"<td>{row[key]:.2%}</td>" for key in ("largest", "mean", "tolerance"))
        outcome = "passed" if row["passed"] else "failed"
        signal = f"<td>{escape(str(row['signal']))}</td><td>{kinds_text([row['kind']])}</td>"
        rows += f"<tr>{signal}{numbers}<td class='{outcome}'>{outcome}</td></tr>"
    title = "Deviation from the reference result, relative to the range of each signal"
    return f"<h3>{title}</h3><table>{head}{rows}</table>"


def draw(plot: Plot) -> str:
    """Lines over time as SVG, with gaps where a number is missing."""
    values = [y for line in plot.lines.values() for y in line if math.isfinite(y)]
    times = [t for t in plot.t if math.isfinite(t)]
    if not values or not times:
        return ""
    low, high, first, last = min(values), max(values), min(times), max(times)
    if high == low:
        low, high = low - max(1.0, abs(low)) * 0.5, high + max(1.0, abs(high)) * 0.5
    last = last if last > first else first + 1.0

    def at(t: float, y: float) -> str:
        x = LEFT + (t - first) / (last - first) * (W - LEFT - RIGHT)
        return f"{x:.1f},{TOP + (high - y) / (high - low) * (H - TOP - BOTTOM):.1f}"

    parts = [f"<text x='{LEFT}' y='16' font-weight='bold'>{escape(plot.title)}</text>"]
    area = f"x='{LEFT}' y='{TOP}' width='{W - LEFT - RIGHT}' height='{H - TOP - BOTTOM}'"
    parts.append(f"<rect {area} fill='none' stroke='#bbb'/>")
    for y, where in ((high, TOP + 4), (low, H - BOTTOM + 4)):
        parts.append(f"<text x='{LEFT - 6}' y='{where}' text-anchor='end'>{y:.4g}</text>")
    for t, x, anchor in ((first, LEFT, "start"), (last, W - RIGHT, "end")):
        parts.append(f"<text x='{x}' y='{H - BOTTOM + 16}' text-anchor='{anchor}'>{t:.4g}</text>")
    for i, (name, line) in enumerate(plot.lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        dash = " stroke-dasharray='6 4'" if i else ""
        for segment in _segments(plot.t, line):
            points = " ".join(at(t, y) for t, y in segment)
            parts.append(f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='2'{dash}/>")
        x = W - RIGHT - 150 * (len(plot.lines) - i) + 10
        parts.append(f"<text x='{x}' y='16' fill='{colour}'>{escape(name)}</text>")
    attributes = f"viewBox='0 0 {W} {H}' width='{W}' font-size='12' font-family='sans-serif' role='img'"
    return f"<div><svg {attributes}>{''.join(parts)}</svg></div>"


def _segments(t: Sequence[float], y: Sequence[float]) -> list[list[tuple[float, float]]]:
    """The parts of a line between missing numbers."""
    segments: list[list[tuple[float, float]]] = [[]]
    for point in zip(t, y, strict=True):
        if all(math.isfinite(v) for v in point):
            segments[-1].append(point)
        elif segments[-1]:
            segments.append([])
    return [s for s in segments if s]
