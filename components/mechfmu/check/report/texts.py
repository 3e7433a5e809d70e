"""Wordings that all reports share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..findings import Finding
from ..results import FindingGroup, Report

KIND_NAMES = {"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}
ROBUSTNESS_HINT = "robustness: the host is at fault, the FMU is legal; not in the exit status"


def kinds_text(kinds: Sequence[str]) -> str:
    return " and ".join(KIND_NAMES[k] for k in kinds)


def statement(finding: Finding) -> str:
    """Place, problem and what was expected, without the kind of FMU."""
    return replace(finding, kind="").text


def _place(finding: Finding) -> str:
    return f"{finding.where} (line {finding.line})" if finding.line else finding.where


def headline(group: FindingGroup) -> str:
    """The first finding of a group, with the kinds of FMU in which it was found."""
    return statement(group.first) + (f" [{kinds_text(group.kinds)}]" if group.kinds else "")


def count_text(group: FindingGroup) -> str:
    return f"{group.count} times" if group.count > 1 else ""


def citation(group: FindingGroup) -> str:
    """Section and sentence of the standard that an error breaks."""
    return f"FMI 2.0, {group.quote.section}: “{group.quote.text}”" if group.quote else ""


def details(group: FindingGroup) -> list[str]:
    """The lines below the headline: further examples, the sentence of the standard, the suggestion."""
    lines = [f"also {_example(f, group.first)}" for f in group.examples[1:]]
    rest = group.count - len(group.examples)
    lines += [f"and {rest} more"] if rest > 0 else []
    rules = list(dict.fromkeys(f.rule for f in group.findings))
    lines += [f"found by {', '.join(rules)}"] if len(rules) > 1 else []
    lines += [citation(group)] if group.quote else []
    return lines + ([f"suggestion: {group.suggestion}"] if group.suggestion else [])


def _example(finding: Finding, first: Finding) -> str:
    """A further finding of a group: only its place if the rest is the same as for the first."""
    same = (finding.problem, finding.expected) == (first.problem, first.expected)
    return _place(finding) if same else statement(finding)


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def verdict(report: Report) -> str:
    """The result in a few words."""
    if report.bugs:
        return "could not be checked completely"
    groups = report.groups
    counts = [(s, sum(g.severity == s for g in groups)) for s in ("error", "warning")]
    text = ", ".join(plural(n, s) for s, n in counts if n)
    weak = sum(g.severity == "robustness" for g in groups)
    more = [f"{weak} about robustness"] if weak else []
    more += [f"{len(report.accepted)} accepted by the baseline"] if report.accepted else []
    text = text or ("no error or warning in the file" if report.static_only else "no error or warning")
    return text + (f" ({', '.join(more)})" if more else "")
