"""A self-contained HTML page: findings, rules, and plots (SVG) of the signals that failed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..checker import Report
from ..findings import Finding, Plot, Rule
from .as_json import outcome

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em }
body { color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2em } code { font-size: .95em }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ddd }
.error, .failed { color: #b00020 } .warning { color: #9a6700 } .note { color: #57606a } .passed { color: #1a7f37 }
.finding { border-left: 4px solid #ccc; padding: .2em .8em; margin: .8em 0 }
.finding.error { border-color: #b00020; color: inherit } .finding.warning { border-color: #d4a72c; color: inherit }
.small { color: #57606a; font-size: .88em } svg { max-width: 100%; height: auto }
"""
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#8250df")
W, H, LEFT, RIGHT, TOP, BOTTOM = 680, 220, 70, 12, 30, 34


def to_html(reports: Sequence[Report], version: str) -> str:
    names = ", ".join(r.file.name for r in reports)
    body = "".join(_fmu(r) for r in reports)
    return (
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>"
        f"<title>mechfmu check: {escape(names)}</title><style>{STYLE}</style></head>"
        f"<body><h1>FMI 2.0 compliance</h1>{body}<p class='small'>mechfmu {escape(version)}</p></body></html>\n"
    )


def _fmu(report: Report) -> str:
    counted = report.counted
    clean, colour = ("clean as a file", "warning") if report.static_only else ("clean", "passed")
    found = f"{len(counted)} finding{'s' if len(counted) > 1 else ''}" if counted else clean
    verdict = "could not be checked completely" if report.bugs else found
    style = "failed" if report.exit_status else colour
    parts = [f"<h2>{escape(report.file.name)}: <span class='{style}'>{verdict}</span></h2>"]
    parts.append(f"<p class='small'>{escape(' and '.join(report.kinds))}; sha256 <code>{report.digest}</code></p>")
    if report.static_only:
        parts.append(f"<p class='warning'>The binary was not run: {escape(report.static_only)}</p>")
    parts += [f"<pre class='error'>{escape(bug)}</pre>" for bug in report.bugs]
    sections = {r.rule.id: r.rule.section for r in report.results}
    parts += [_finding(f, sections.get(f.rule, "")) for f in counted]
    notes = [f for f in report.findings if f not in counted]
    if notes:
        parts.append("<h3>Notes</h3>" + "".join(f"<p class='note'><b>{f.rule}</b> {escape(f.text)}</p>" for f in notes))
    head = "<tr><th>id</th><th>rule</th><th>FMI 2.0</th><th>outcome</th><th></th></tr>"
    rows = "".join(_row(r.rule, outcome(report, r), r.skipped) for r in report.results)
    parts.append(f"<h3>Rules</h3><table>{head}{rows}</table>")
    return "".join(parts)


def _row(rule: Rule, result: str, skipped: str) -> str:
    return (
        f"<tr><td>{rule.id}</td>"
        f"<td>{escape(rule.title)}<br><span class='small'>{escape(rule.text)}</span></td>"
        f"<td>{escape(rule.section)}</td>"
        f"<td class='{result}'>{result}</td><td class='small'>{escape(skipped)}</td></tr>"
    )


def _finding(f: Finding, section: str) -> str:
    label = f"<b>{f.rule} <span class='{f.severity}'>{f.severity}</span></b>"
    text = f"{label} {escape(f.text)} <span class='small'>FMI 2.0 §{escape(section)}</span>"
    return f"<div class='finding {f.severity}'>{text}{draw(f.plot) if f.plot else ''}</div>"


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
