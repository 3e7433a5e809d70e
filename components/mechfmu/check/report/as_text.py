"""The report on the terminal: findings first, then the rules that passed, failed or were not run."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..checker import RULES, Report
from ..findings import SEVERITIES

STYLE = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def print_report(report: Report, out: Console) -> None:
    options = report.options
    kinds = " and ".join({"CoSimulation": "Co-Simulation", "ModelExchange": "Model Exchange"}[k] for k in report.kinds)
    out.print(f"[bold]{escape(report.file.name)}[/]{f'  {kinds}' if kinds else ''}", highlight=False)
    level = SEVERITIES.index(options.level)
    for result in report.results:
        for f in result.findings:
            if SEVERITIES.index(f.severity) <= level:
                label = f"[{STYLE[f.severity]}]{result.rule.id:<3} {f.severity}[/]"
                section = f"[dim]FMI 2.0 §{escape(result.rule.section)}[/]"
                out.print(f"  {label}  {escape(f.text)}  {section}", highlight=False, soft_wrap=True)
    for bug in report.bugs:
        out.print(f"  [bold red]the checker itself failed:[/] {escape(bug)}", highlight=False, soft_wrap=True)
    passed = [r.rule.id for r in report.results if not report.failed(r) and not r.skipped]
    failed = [r.rule.id for r in report.results if report.failed(r)]
    if passed:
        out.print(f"  [green]passed[/]   {' '.join(passed)}", highlight=False, soft_wrap=True)
    if failed:
        out.print(f"  [red]failed[/]   {' '.join(failed)}", highlight=False, soft_wrap=True)
    for reason in dict.fromkeys(r.skipped for r in report.results if r.skipped and not report.failed(r)):
        ids = " ".join(r.rule.id for r in report.results if r.skipped == reason)
        out.print(f"  [dim]not run  {ids}: {escape(reason)}[/]", highlight=False, soft_wrap=True)
    out.print(f"  {_verdict(report)}", highlight=False, soft_wrap=True)


def _verdict(report: Report) -> str:
    if report.bugs:
        return "[bold red]could not be checked completely[/]"
    not_run = f"[bold yellow]the binary was not run: {escape(report.static_only)}[/]" if report.static_only else ""
    counts = [(s, sum(f.severity == s for f in report.counted)) for s in SEVERITIES]
    found = ", ".join(f"[{STYLE[s]}]{n} {s}{'s' if n > 1 else ''}[/]" for s, n in counts if n)
    notes = sum(f.severity == "note" for f in report.findings)
    hidden = notes if report.options.level != "note" else 0
    more = f"  [dim]({hidden} note{'s' if hidden > 1 else ''}: --level note)[/]" if hidden else ""
    if not_run and not found:
        return f"[bold yellow]clean as a file, but[/] {not_run}{more}"
    return (found or "[bold green]clean[/]") + (f"; {not_run}" if not_run else "") + more


def print_rules(out: Console) -> None:
    """Print all rules and what they check."""
    table = Table("id", "FMI 2.0", "severity", "rule", show_lines=False)
    for r in RULES:
        severity = f"[{STYLE[r.severity]}]{r.severity}[/]"
        table.add_row(r.id, f"§{r.section}", severity, f"[bold]{escape(r.title)}[/]\n{escape(r.text)}")
    out.print(table)
