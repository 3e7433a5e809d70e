"""The results of a check: findings by rule, grouped by cause and ordered by damage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .baseline import fingerprint
from .findings import CLASSES, KINDS, Finding, Rule
from .options import Options
from .standard import Sentence

EXAMPLES = 3  # findings of a group that reports show
COUNTED = ("error", "warning")
WRONG_RESULTS = frozenset(f"D{n}" for n in range(4, 16))
"""Rules whose findings mean that a simulation may give wrong numbers; the other dynamic rules are about loading, calls
and leaks."""


@dataclass
class RuleResult:
    """The findings of one rule, or why it was not run."""

    rule: Rule
    findings: list[Finding] = field(default_factory=list)
    skipped: str = ""  # the reason
    not_judged: list[str] = field(default_factory=list)  # parts that the checker could not decide, with the reasons
    tables: list[dict[str, Any]] = field(default_factory=list)  # D12: the deviation of each signal
    seconds: float = 0.0


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one cause; those of the same place in Co-Simulation and Model Exchange count once."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def places(self) -> list[Finding]:
        """One finding for each place."""
        found: dict[tuple[str, int | None], Finding] = {}
        for f in self.findings:
            found.setdefault((f.where, f.line), f)
        return list(found.values())

    @property
    def count(self) -> int:
        """The number of places."""
        return len(self.places)

    @property
    def examples(self) -> list[Finding]:
        return self.places[:EXAMPLES]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(k for k in KINDS if any(f.kind == k for f in self.findings))

    @property
    def quote(self) -> Sentence | None:
        """The sentence that an error breaks; other classes break none."""
        return self.first.quote if self.severity == "error" else None

    @property
    def suggestion(self) -> str:
        return next((f.suggestion for f in self.findings if f.suggestion), "")

    @property
    def severity(self) -> str:
        return self.first.severity

    @property
    def damage(self) -> tuple[int, int, int]:
        """Sorts the worst first: errors, crashes, wrong results, other dynamic rules, rules about the file."""
        rule = self.first.rule
        wrong = 0 if rule in WRONG_RESULTS else 1 if not rule.startswith("S") else 2
        return CLASSES.index(self.severity), not any(f.crash for f in self.findings), wrong


def group_findings(findings: Iterable[Finding]) -> list[FindingGroup]:
    """One group for each cause, the greatest damage first."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    for f in sorted(findings, key=lambda f: CLASSES.index(f.severity)):  # a crash may be of two classes
        found.setdefault(f.group, []).append(f)
    return sorted((FindingGroup(tuple(fs)) for fs in found.values()), key=lambda g: g.damage)


@dataclass
class Report:
    """The results of all rules for one FMU."""

    file: Path
    digest: str
    kinds: tuple[str, ...]
    static_only: str  # why the binary was not run although dynamic rules were requested
    results: list[RuleResult]
    options: Options
    bugs: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All findings, those of the baseline included."""
        return [f for r in self.results for f in r.findings]

    @cached_property
    def _baseline(self) -> frozenset[str]:
        return self.options.baseline.accepted(self.file) if self.options.baseline else frozenset()

    def is_accepted(self, finding: Finding) -> bool:
        """Whether the baseline has this finding."""
        return bool(self._baseline) and fingerprint(finding) in self._baseline

    def counts(self, finding: Finding) -> bool:
        return finding.severity in COUNTED and not self.is_accepted(finding)

    @property
    def counted(self) -> list[Finding]:
        """Errors and warnings that the baseline does not accept."""
        return [f for f in self.findings if self.counts(f)]

    @property
    def groups(self) -> list[FindingGroup]:
        """All findings that the baseline does not accept, robustness included."""
        return group_findings(f for f in self.findings if not self.is_accepted(f))

    @property
    def accepted(self) -> list[FindingGroup]:
        """The findings that the baseline accepts."""
        return group_findings(f for f in self.findings if self.is_accepted(f))

    def outcome(self, result: RuleResult) -> str:
        """Return failed, reported (robustness), accepted (all by the baseline), not run, not judged, or passed."""
        if any(self.counts(f) for f in result.findings):
            return "failed"
        if result.findings:
            return "accepted" if all(self.is_accepted(f) for f in result.findings) else "reported"
        return "not run" if result.skipped else "not judged" if result.not_judged else "passed"

    @property
    def not_judged(self) -> list[tuple[str, str]]:
        """(rule, reason) of whatever the checker could not decide."""
        return [(r.rule.id, reason) for r in self.results for reason in r.not_judged]

    @property
    def exit_status(self) -> int:
        """0: no error or warning, 1: errors or warnings, 2: something could not be run."""
        return 2 if self.bugs else 1 if self.counted else 2 if self.options.strict and self.static_only else 0

    def __repr__(self) -> str:
        return f"<Report of {self.file.name}: {len(self.counted)} findings, exit status {self.exit_status}>"


@dataclass(frozen=True)
class NotChecked:
    """An FMU that could not be checked, and why."""

    file: Path
    reason: str
    exit_status: int = 2
