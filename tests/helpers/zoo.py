"""Checks the test FMUs of zoo_a and zoo_b: two independent sets, each with its own model, code and list of cases.

`python -m helpers.zoo` (in the folder tests) runs all rules on all cases, or on those whose set, name, rule or class is
given, and prints a table of what differs from the lists. With `--own`, only the rule of each case runs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers.zoo_a import cases as zoo_a
from helpers.zoo_b import cases as zoo_b
from mechfmu.check.checker import CannotCheck, Options, check_fmu
from mechfmu.check.isolation import Limits
from mechfmu.check.processes import RuleProcesses
from mechfmu.check.reference import read_reference
from mechfmu.check.results import FindingGroup

SETS = {"a": zoo_a, "b": zoo_b}
Case = zoo_a.Case | zoo_b.Case
LIMITS = Limits(call_seconds=4.0, rule_seconds=20.0)
SLOW_START = ("clean_slow_start", "clean_slow_instantiate")  # units that need 5 s to start
OWN_LIMITS = {
    **dict.fromkeys(SLOW_START, replace(LIMITS, call_seconds=10.0)),
    **dict.fromkeys(("slow_steps", "d13_slow_always", "d13_slow_late"), replace(LIMITS, rule_seconds=8.0)),
    **dict.fromkeys(("hang_late", "spin_late", "d13_hang_late", "d13_hang_late_me"), replace(LIMITS, call_seconds=2.0)),
    **dict.fromkeys(("d1_hang_at_exit", "d2_visible_waits"), replace(LIMITS, call_seconds=2.0)),
}


@dataclass(frozen=True)
class Verdict:
    """What the checker found in a case."""

    case: Case
    found: frozenset[tuple[str, str]]  # (class, rule)
    texts: tuple[str, ...] = ()
    bugs: tuple[str, ...] = field(default=())
    seconds: float = 0.0

    @property
    def counted(self) -> set[tuple[str, str]]:
        return {(cls, rule) for cls, rule in self.found if cls != "robustness"}

    @property
    def problem(self) -> str:
        """What is wrong with the verdict, or "". Other rules may only find what the case says."""
        case = self.case
        if self.bugs:
            return "an error of the checker"
        if case.cls != "clean" and (case.cls, case.rule) not in self.found:
            return "not found"
        wrong = self.counted - {(case.cls, case.rule)}
        if unrelated := sorted(rule for _, rule in wrong if rule not in (case.rule, *case.also)):
            return "unrelated: " + " ".join(unrelated)
        return ""

    @property
    def text(self) -> str:
        case = self.case
        got = ", ".join(f"{cls} {rule}" for cls, rule in sorted(self.found)) or "nothing"
        lines = [f"{case.name}: {case.cls} {case.rule} ({case.what}) {self.problem}; got {got}"]
        return "\n    ".join([*lines, *self.texts[:4], *self.bugs[:1]])


def check_case(case: Case, folder: Path, processes: RuleProcesses, only: tuple[str, ...] = ()) -> Verdict:
    """Build the FMU of a case in this folder, where the compiled library stays, and check it by all rules, or some."""
    began = time.monotonic()
    build = zoo_a.build if isinstance(case, zoo_a.Case) else zoo_b.build
    with tempfile.TemporaryDirectory(dir=folder) as place:
        file = build(case, Path(place), folder / "libraries")
        reference = file.with_name(f"{case.name}_ref.csv")
        options = Options(
            only=only,
            limits=OWN_LIMITS.get(case.name, LIMITS),
            jobs=1,
            robustness=case.cls == "robustness",
            reference=read_reference(reference, None) if reference.exists() else None,
        )
        try:
            report = check_fmu(file, options, processes=processes)
        except CannotCheck as error:
            return Verdict(case, frozenset(), (f"cannot be checked: {error}",))
    texts = [f"{f.severity} {f.rule} {f.text}" for f in report.findings]
    texts += [f"not judged {r.rule.id}: {text}" for r in report.results for text in r.not_judged]
    texts += [f"skipped {r.rule.id}: {r.skipped}" for r in report.results if r.skipped and r.rule.id == case.rule]
    found = frozenset(pair for group in report.groups for pair in _classes_and_rules(group, case))
    return Verdict(case, found, tuple(texts), tuple(report.bugs), time.monotonic() - began)


def _classes_and_rules(group: FindingGroup, case: Case) -> set[tuple[str, str]]:
    """(class, rule) of the findings of one cause; where the rule of the case is among them, the others repeat it."""
    own = [f for f in group.findings if f.rule == case.rule]
    return {(f.severity, f.rule) for f in own or group.findings}


def chosen(words: set[str]) -> Iterator[Case]:
    """The cases of which the set, the name, the rule or the class is among the words; without words, all."""
    for name, cases in SETS.items():
        yield from (c for c in cases.CASES if not words or words & {name, c.name, c.rule, c.cls})


def main(words: list[str]) -> int:
    own, failed, count = "--own" in words, 0, 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, RuleProcesses() as processes:
        for case in chosen(set(words) - {"--own"}):
            only = (case.rule,) if own and case.rule else ()
            verdict = check_case(case, Path(folder), processes, only)
            count += 1
            if verdict.problem:
                failed += 1
                print(verdict.text, flush=True)
    print(f"{failed} of {count} cases differ; {time.monotonic() - began:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
