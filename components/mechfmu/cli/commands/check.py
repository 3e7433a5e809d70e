"""`mechfmu check`: check FMUs against the FMI standard."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import __version__
from ...model import UserError, did_you_mean
from ..arguments import complete_with
from ..result_files import check_writable
from ..terminal import OUT, REPORTER, print_line
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "check",
        help="check the compliance of FMUs",
        description="Check any FMI 2.0 FMU against the rules of the standard: its file and its running binary.",
        epilog="exit status: 0 clean, 1 findings, 2 could not run. "
        "example: mechfmu check out/LinkChain.fmu --html report.html --junit report.xml",
    )
    c.add_argument("fmu", nargs="*", metavar="FMU", help="the FMU files")
    c.add_argument("--rules", action="store_true", help="list the rules and exit")
    help = "only these rules (S: all static, D: all dynamic ones); may be repeated"
    only = c.add_argument("--only", action="append", default=[], metavar="ID,...", help=help)
    help = "not these rules; may be repeated"
    skip = c.add_argument("--skip", action="append", default=[], metavar="ID,...", help=help)
    for argument in (only, skip):
        complete_with(argument, lambda prefix, _: _rule_words(prefix))
    help = "the least severe findings that count (default: warning)"
    c.add_argument("--level", default="warning", choices=("error", "warning", "note"), help=help)
    c.add_argument("--strict", action="store_true", help="an FMU whose binary cannot be run here is not clean")
    c.add_argument("--json", metavar="FILE", help="write all findings to this file")
    c.add_argument("--junit", metavar="FILE", help="write a JUnit report for CI to this file")
    help = "write one self-contained page, with plots of failing signals, to this file"
    c.add_argument("--html", metavar="FILE", help=help)
    help = "time limit of each rule in s (default: 60)"
    c.add_argument("--timeout", type=float, default=60.0, metavar="S", help=help)
    c.add_argument("--random", type=int, default=0, metavar="N", help="let rule D3 also make N random calls")
    c.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random calls (default: 0)")
    help = "number of rules that run in parallel (default: number of processors)"
    c.add_argument("--jobs", type=int, default=0, metavar="N", help=help)
    c.set_defaults(run=run)


def _rule_words(prefix: str) -> list[str]:
    from ...check.checker import RULES

    return [f"{prefix[: prefix.rfind(',') + 1]}{id}" for id in ("S", "D", *(r.id for r in RULES))]


def run(options: argparse.Namespace) -> int:
    from ...check.checker import CannotCheck, Options, check_fmu
    from ...check.isolation import Limits
    from ...check.report import as_text

    if options.rules:
        as_text.print_rules(OUT)
        return 0
    only, skip = _rule_ids(options.only), _rule_ids(options.skip)
    _check_arguments(options)
    limits = Limits(options.timeout, random=options.random, seed=options.seed)
    settings = Options(only, skip, options.level, options.strict, limits, options.jobs)
    reports = []
    for file in options.fmu:
        with REPORTER.status(file) as update:
            try:
                reports.append(check_fmu(file, settings, update))
            except CannotCheck as error:
                raise UserError(str(error)) from None
        as_text.print_report(reports[-1], OUT)
    _write_reports(reports, options)
    return max(r.exit_status for r in reports)


def _rule_ids(texts: Sequence[str]) -> tuple[str, ...]:
    """Read ["S1,D2", "D3"] as rule identifiers."""
    from ...check.checker import RULES

    ids = [r.id for r in RULES]
    found = tuple(id.strip() for text in texts for id in text.split(","))
    for id in found:
        if id.upper() not in (*ids, "S", "D"):
            raise UserError(f"there is no rule {id}{did_you_mean(id.upper(), ids)} (mechfmu check --rules lists them)")
    return found


def _check_arguments(options: argparse.Namespace) -> None:
    if not options.fmu:
        raise UserError("no FMU given: name one or more files, or use --rules for the list of rules")
    if options.timeout <= 0 or options.random < 0 or options.jobs < 0:
        raise UserError("--timeout must be greater than 0, --random and --jobs not negative")
    for file in options.fmu:
        if Path(file).is_dir():
            raise UserError(f"{file} is a folder, not an FMU file")
        if not Path(file).is_file():
            raise UserError(f"there is no file {file}")
    for file in (options.json, options.junit, options.html):
        check_writable(file)


def _write_reports(reports: Sequence[Any], options: argparse.Namespace) -> None:
    from ...atomic_file import atomic_write
    from ...check.report import as_html, as_json, as_junit

    contents = {
        options.json: lambda: as_json.to_json(reports, __version__).encode(),
        options.junit: lambda: as_junit.to_junit(reports),
        options.html: lambda: as_html.to_html(reports, __version__).encode(),
    }
    for file in filter(None, contents):
        with atomic_write(Path(file)) as target:
            target.write_bytes(contents[file]())
        print_line(f"wrote {file}")
