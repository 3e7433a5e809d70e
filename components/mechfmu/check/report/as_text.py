"""The report on the terminal: findings first, then the rules that passed, failed, were not run or not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...console import Console, Part, Styled, TextTable
from ..checker import RULES
from ..results import FindingGroup, NotChecked, Report, RuleResult
from .texts import ROBUSTNESS_HINT, count_text, details, headline, kinds_text, verdict

STYLE = {"error": "bold red", "warning": "yellow", "robustness": "cyan"}
OUTCOMES = {"passed": "green", "failed": "red", "accepted": "dim", "reported": "cyan"}
INDENT = 4
PIPE_WIDTH = 80  # columns of the table of rules, which are sentences


def print_report(report: Report | NotChecked, out: Console) -> None:
    if isinstance(report, NotChecked):
        out.print(Styled(str(report.file), "bold"), "  ", Styled("not checked", "bold red"), f": {report.reason}")
        return
    kinds = kinds_text(report.kinds)
    out.print(Styled(report.file.name, "bold"), f"  {kinds}" if kinds else "")
    for group in report.groups:
        _print_group(group, out)
    if any(g.severity == "robustness" for g in report.groups):
        out.print("  ", Styled(ROBUSTNESS_HINT, "dim"))
    for bug in report.bugs:
        out.print("  ", Styled("the checker itself failed:", "bold red"), f" {bug}")
    for result in report.results:
        _print_tables(result, out)
    for outcome, style in OUTCOMES.items():
        ids = [r.rule.id for r in report.results if report.outcome(r) == outcome]
        if ids:
            out.print("  ", Styled(f"{outcome:<10}", style), f" {' '.join(ids)}")
    skipped = [(r.rule.id, r.skipped) for r in report.results if report.outcome(r) == "not run"]
    for label, pairs in (("not run", skipped), ("not judged", report.not_judged)):
        for reason, rules in _by_reason(list(pairs)).items():
            out.print("  ", Styled(f"{label:<10} {rules}: {reason}", "dim"))
    out.print("  ", *_verdict(report))


def _by_reason(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Each reason and the rules that give it. "part: reason" is a part of a rule, if the reason is given repeatedly."""
    often = Counter(text.partition(": ")[2] for _, text in pairs)
    found: dict[str, dict[str, list[str]]] = {}
    for id, text in pairs:
        part, _, tail = text.partition(": ")
        reason = tail if tail and often[tail] > 1 else text
        parts = found.setdefault(reason, {}).setdefault(id, [])
        parts += [part] if reason != text else []
    return {
        reason: " ".join(f"{id} ({', '.join(parts)})" if parts else id for id, parts in rules.items())
        for reason, rules in found.items()
    }


def _print_group(group: FindingGroup, out: Console) -> None:
    label = Styled(f"{group.severity} {group.first.rule}", STYLE[group.severity])
    times = Styled(f" ({count_text(group)})" if group.count > 1 else "", "bold")
    out.print("  ", label, times, f"  {headline(group)}")
    for text in details(group):
        out.print(" " * INDENT, Styled(text, "dim"))


def _print_tables(result: RuleResult, out: Console) -> None:
    """The deviation of every signal from the reference result."""
    if not result.tables:
        return
    table = TextTable("signal", "", "largest", "mean", "allowed", "")
    for row in result.tables:
        numbers = [f"{row[key]:.2%}" for key in ("largest", "mean", "tolerance")]
        passed = Styled("passed", "green") if row["passed"] else Styled("failed", "red")
        table.add_row(str(row["signal"]), kinds_text([row["kind"]]), *numbers, passed)
    out.print(f"  {result.rule.id}  deviation from the reference result, relative to the range of each signal")
    out.print_table(table, INDENT)


def _verdict(report: Report) -> list[Part]:
    not_run = f"the binary was not run: {report.static_only}" if report.static_only else ""
    colour = "bold red" if report.bugs or report.counted else "bold yellow" if not_run else "bold green"
    found = Styled(verdict(report), colour)
    return [found, "; ", Styled(not_run, "bold yellow")] if not_run else [found]


def print_rules(out: Console) -> None:
    """Print all rules and what they check."""
    table = TextTable("id", "FMI 2.0", "rule")
    for r in RULES:
        table.add_row(r.id, f"§{r.section}", (Styled(r.title, "bold"), f"\n{r.text}"))
    out.print_table(table, pipe_width=PIPE_WIDTH)
