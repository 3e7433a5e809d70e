"""What to check and how: the options of a check, and the error for what cannot be checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from .baseline import Baseline
from .findings import Rule
from .isolation import Limits
from .reference import ReferenceResult

LETTERS = ("S", "D", "R")  # each stands for all rules whose id begins with it


@dataclass(frozen=True)
class Options:
    """Which rules to check, and what counts."""

    only: tuple[str, ...] = ()  # ids of rules, or letters for all of S, D or R; empty: all
    skip: tuple[str, ...] = ()  # likewise
    robustness: bool = False  # also the rules R, in which the host is at fault
    strict: bool = False  # exit status 2 if the binary was not run
    limits: Limits = field(default_factory=Limits)  # of time
    jobs: int = 0  # parallel processes; 0: one per processor
    baseline: Baseline | None = None  # findings that are accepted
    reference: ReferenceResult | None = None  # for D12, instead of the one in the FMU

    def wants(self, rule: Rule) -> bool:
        named = not self.only or any(_covers(o, rule.id) for o in self.only)
        skipped = any(_covers(o, rule.id) for o in self.skip)
        return named and not skipped and (self.robustness or not rule.robustness)


def _covers(pattern: str, id: str) -> bool:
    """D3 covers rule D3; D covers all dynamic rules."""
    pattern = pattern.upper()
    return id == pattern or (pattern in LETTERS and id.startswith(pattern))
