"""The report on the terminal: findings first, then the rules that passed, failed, were not run or not judged."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from ..checker import RULES
from ..results import FindingGroup, NotChecked, Report, RuleResult
from .texts import ROBUSTNESS_HINT, count_text, details, headline, kinds_text, verdict

STYLE = {"error": "bold red", "warning": "yellow", "robustness": "cyan"}
OUTCOMES = {"passed": "green", "failed": "red", "accepted": "dim", "reported": "cyan"}
INDENT = 4


def print_report(report: Report | NotChecked, out: Console) -> None:
    if isinstance(report, NotChecked):
        _line(out, f"[bold]{escape(str(report.file))}[/]  [bold red]not checked[/]: {escape(report.reason)}")
        return
    kinds = kinds_text(report.kinds)
    _line(out, f"[bold]{escape(report.file.name)}[/]{f'  {kinds}' if kinds else ''}")
    for group in report.groups:
        _print_group(group, out)
    if any(g.severity == "robustness" for g in report.groups):
        _line(out, f"  [dim]{ROBUSTNESS_HINT}[/]")
    for bug in report.bugs:
        _line(out, f"  [bold red]the checker itself failed:[/] {escape(bug)}")
    for result in report.results:
        _print_tables(result, out)
    for outcome, style in OUTCOMES.items():
        ids = [r.rule.id for r in report.results if report.outcome(r) == outcome]
        if ids:
            _line(out, f"  [{style}]{outcome:<10}[/] {' '.join(ids)}")
    skipped = [(r.rule.id, r.skipped) for r in report.results if report.outcome(r) == "not run"]
    for label, pairs in (("not run", skipped), ("not judged", report.not_judged)):
        for reason, ids in _by_reason(pairs).items():
            _line(out, f"  [dim]{label:<10} {' '.join(ids)}: {escape(reason)}[/]")
    _line(out, f"  {_verdict(report)}")


def _line(out: Console, text: str) -> None:
    out.print(text, highlight=False, soft_wrap=True)


def _by_reason(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for id, reason in pairs:
        found.setdefault(reason, []).append(id)
    return found


def _print_group(group: FindingGroup, out: Console) -> None:
    times = f" [bold]({count_text(group)})[/]" if group.count > 1 else ""
    label = f"[{STYLE[group.severity]}]{group.severity} {group.first.rule}[/]{times}"
    _line(out, f"  {label}  {escape(headline(group))}")
    for text in details(group):
        _line(out, f"{' ' * INDENT}[dim]{escape(text)}[/]")


def _print_tables(result: RuleResult, out: Console) -> None:
    """The deviation of every signal from the reference result."""
    if not result.tables:
        return
    table = Table("signal", "", "largest", "mean", "allowed", "")
    for row in result.tables:
        numbers = [f"{row[key]:.2%}" for key in ("largest", "mean", "tolerance")]
        passed = "[green]passed[/]" if row["passed"] else "[red]failed[/]"
        table.add_row(escape(str(row["signal"])), kinds_text([row["kind"]]), *numbers, passed)
    _line(out, f"  {result.rule.id}  deviation from the reference result, relative to the range of each signal")
    out.print(Padding(table, (0, 0, 0, INDENT)))


def _verdict(report: Report) -> str:
    not_run = f"[bold yellow]the binary was not run: {escape(report.static_only)}[/]" if report.static_only else ""
    colour = "bold red" if report.bugs or report.counted else "bold yellow" if not_run else "bold green"
    return f"[{colour}]{verdict(report)}[/]" + (f"; {not_run}" if not_run else "")


def print_rules(out: Console) -> None:
    """Print all rules and what they check."""
    table = Table("id", "FMI 2.0", "rule", show_lines=False)
    for r in RULES:
        table.add_row(r.id, f"§{r.section}", f"[bold]{escape(r.title)}[/]\n{escape(r.text)}")
    out.print(table)
