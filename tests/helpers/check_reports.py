"""Reports made of given findings, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mechfmu.check.checker import Options, Report
from mechfmu.check.findings import Finding, Rule
from mechfmu.check.results import RuleResult


def rule(id: str) -> Rule:
    def check(_: Any) -> Iterator[Finding]:
        """Text of the rule."""
        yield from ()

    return Rule(id, f"title of {id}", "2.1", check)


def report(*findings: Finding, file: Path = Path("Model.fmu"), **settings: Any) -> Report:
    """A report with these findings; each rule that has one was run, and S1 without any."""
    results = [RuleResult(rule(id)) for id in dict.fromkeys(("S1", *(f.rule for f in findings)))]
    for result in results:
        result.findings = [f for f in findings if f.rule == result.rule.id]
    return Report(file, "0" * 64, ("CoSimulation", "ModelExchange"), "", results, Options(**settings))


def variable(name: str, value: float = 1.0, line: int = 7, **settings: Any) -> Finding:
    """A finding about a variable; those of different names and values have one cause."""
    settings = dict(rule="D8", sentence="library-name") | settings
    return Finding(f'variable "{name}"', f"it is {value:g}", "its start value", line=line, **settings)
