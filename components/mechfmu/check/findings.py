"""Rules and findings, shared by all parts of the checker. Standard library only.

A finding belongs to one of three classes, which follows from how it was made and is never chosen:

error       it cites a sentence of the standard that the FMU breaks (`sentence`, a key of standard.SENTENCES)
warning     the FMU is legal, but harmful to those who use it
robustness  the host is at fault (rules R1, R2, ...): what a good FMU survives all the same
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any

from .standard import SENTENCES, Sentence

CLASSES = ("error", "warning", "robustness")
KINDS = ("CoSimulation", "ModelExchange")
LEGAL_CALL = "a legal call"  # `where` of a call that every rule may make and that failed
MISSING_FUNCTION = "missing function"  # `cause`: S14 finds it in the file, D1 when the library is loaded
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|[-+]?\b\d[\w.+-]*|\bfmi2\w+")  # what differs between findings of one cause


@dataclass(frozen=True)
class Plot:
    """Signals that show a failure: one time axis, labelled lines."""

    title: str
    t: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Finding:
    """One violation: where it is, what is wrong, and what was expected instead."""

    where: str
    problem: str
    expected: str
    sentence: str = ""  # key of the sentence of the standard that is broken; without one it is not an error
    line: int | None = None  # of modelDescription.xml
    suggestion: str = ""  # how to fix it, where that is known
    plot: Plot | None = None
    crash: bool = False  # the process died or a call did not return
    cause: str = ""  # findings of one rule with the same cause are reported as one; default: derived from the texts
    rule: str = ""  # rule and kind are filled in by Rule.complete
    kind: str = ""

    @property
    def severity(self) -> str:
        """The class: error, warning or robustness."""
        if self.rule.startswith("R"):
            return "robustness"
        return "error" if self.sentence else "warning"

    @property
    def quote(self) -> Sentence | None:
        """The sentence of the standard that is broken."""
        return SENTENCES[self.sentence] if self.sentence else None

    @cached_property
    def group(self) -> tuple[str, str, str]:
        """What findings of one cause have in common: rule, sentence, and the texts without names and numbers. A crash
        in one function is one cause, and so is a legal call that fails, or a function that is missing."""
        if self.crash and self.severity != "robustness":  # whichever rule provoked it
            return "crash", "", self.cause
        if self.where == LEGAL_CALL and self.severity != "robustness":
            return LEGAL_CALL, "", self.problem.partition(" (")[0]
        if self.cause == MISSING_FUNCTION:
            return MISSING_FUNCTION, "", ""
        return self.rule, self.sentence, self.cause or _VARYING.sub("…", f"{self.problem}|{self.expected}")

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
    check: Check
    kinds: tuple[str, ...] = KINDS  # a dynamic rule runs once for each of them

    @property
    def text(self) -> str:
        """What the rule checks: the docstring of its function."""
        return " ".join((self.check.__doc__ or "").split())

    @property
    def robustness(self) -> bool:
        """Whether the rule makes calls that the standard does not allow."""
        return self.id.startswith("R")

    def complete(self, finding: Finding, kind: str = "") -> Finding:
        return replace(finding, rule=finding.rule or self.id, kind=finding.kind or kind)


def rule(id: str, title: str, section: str, kinds: tuple[str, ...] = KINDS) -> Callable[[Check], Rule]:
    """Turn a function that yields findings into a rule."""
    return lambda check: Rule(id, title, section, check, kinds)
