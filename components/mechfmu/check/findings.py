"""Rules and findings, shared by all parts of the checker. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

SEVERITIES = ("error", "warning", "note")  # violates the standard; will cause problems somewhere; for information
KINDS = ("CoSimulation", "ModelExchange")


@dataclass(frozen=True)
class Plot:
    """Signals that show a failure: one time axis, labelled lines."""

    title: str
    t: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Finding:
    """One violation of a rule: where it is, what is wrong, and what was expected instead."""

    where: str
    problem: str
    expected: str
    line: int | None = None  # of modelDescription.xml
    severity: str = ""  # default: the severity of the rule
    plot: Plot | None = None
    rule: str = ""  # rule and kind are filled in by Rule.complete
    kind: str = ""

    @property
    def text(self) -> str:
        place = f"{self.where} (line {self.line})" if self.line else self.where
        return f"{place}: {self.problem}; expected {self.expected}" + (f" [{self.kind}]" if self.kind else "")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Finding:
        known = {f.name: data[f.name] for f in fields(Finding) if f.name in data}
        if plot := data.get("plot"):
            known["plot"] = Plot(plot["title"], tuple(plot["t"]), {k: tuple(v) for k, v in plot["lines"].items()})
        return Finding(**known)


Check = Callable[[Any], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A rule of FMI 2.0 and the function that checks it."""

    id: str
    title: str
    section: str  # of the FMI 2.0 standard
    severity: str
    check: Check
    kinds: tuple[str, ...] = KINDS  # a dynamic rule runs once for each of them

    @property
    def text(self) -> str:
        """What the rule checks: the docstring of its function."""
        return " ".join((self.check.__doc__ or "").split())

    def complete(self, finding: Finding, kind: str = "") -> Finding:
        return replace(finding, rule=self.id, severity=finding.severity or self.severity, kind=finding.kind or kind)


def rule(
    id: str, title: str, section: str, severity: str = "error", kinds: tuple[str, ...] = KINDS
) -> Callable[[Check], Rule]:
    """Turn a function that yields findings into a rule."""
    return lambda check: Rule(id, title, section, severity, check, kinds)
