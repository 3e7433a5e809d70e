"""`mechfmu check`: check FMUs against the FMI standard."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...model import UserError, did_you_mean
from ..arguments import complete_with
from ..result_files import check_writable
from ..terminal import OUT, REPORTER
from . import Commands

if TYPE_CHECKING:
    from ...check.checker import Options
    from ...check.configuration import ProjectSettings
    from ...check.reference import ReferenceResult
    from ...check.results import NotChecked, Report

REPORTS = ("json", "junit", "html", "sarif")  # reports that are files, and the options that name them


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "check",
        help="check the compliance of FMUs",
        description="Check any FMI 2.0 FMU against the rules of the standard: its file and its running binary.",
        epilog="exit status: 0 no error or warning, 1 errors or warnings, 2 could not run. "
        "Defaults can be set in pyproject.toml, [tool.mechfmu.check]. "
        "example: mechfmu check out --html report.html --junit report.xml",
    )
    c.add_argument("fmu", nargs="*", metavar="FMU", help="files, folders with FMUs below them, or patterns")
    c.add_argument("--rules", action="store_true", help="list the rules and exit")
    help = "only these rules (S: all about the file, D: all about the binary, R: robustness); may be repeated"
    only = c.add_argument("--only", action="append", default=[], metavar="ID,...", help=help)
    help = "not these rules; may be repeated"
    skip = c.add_argument("--skip", action="append", default=[], metavar="ID,...", help=help)
    for argument in (only, skip):
        complete_with(argument, lambda prefix, _: _rule_words(prefix))
    help = "also check what a good FMU survives when the host is at fault (rules R); not in the exit status"
    c.add_argument("--robustness", action=argparse.BooleanOptionalAction, help=help)
    help = "an FMU whose binary cannot be run here is an error: exit status 2"
    c.add_argument("--strict", action=argparse.BooleanOptionalAction, help=help)
    _add_files(c)
    help = "time limit of one call of the FMU in s (default: 30)"
    c.add_argument("--call-timeout", type=float, metavar="S", help=help)
    help = "time for each rule in s; what does not fit is not judged (default: 60)"
    c.add_argument("--time-budget", type=float, metavar="S", help=help)
    c.add_argument("--random", type=int, default=0, metavar="N", help="let rule R4 make N random calls")
    c.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random calls (default: 0)")
    help = "number of rules that run in parallel (default: number of processors)"
    c.add_argument("--jobs", type=int, metavar="N", help=help)
    c.set_defaults(run=run)


def _add_files(c: argparse.ArgumentParser) -> None:
    c.add_argument("--baseline", metavar="FILE", help="accept the findings in this file: only new ones count")
    c.add_argument(
        "--write-baseline", metavar="FILE", help="write all findings to this file, to be accepted from now on"
    )
    c.add_argument("--ref", metavar="FILE", help="compare with this reference result (CSV: time and signals), one FMU")
    c.add_argument("--in", dest="input", metavar="FILE", help="the inputs for --ref (CSV: time and inputs)")
    help = "allowed deviation from --ref, relative to the range of a signal (default: 0.01)"
    c.add_argument("--ref-tolerance", type=float, metavar="X", help=help)
    c.add_argument("--json", metavar="FILE", help="write all findings to this file")
    c.add_argument("--junit", metavar="FILE", help="write a JUnit report for CI to this file")
    c.add_argument("--sarif", metavar="FILE", help="write a SARIF report for code hosts to this file")
    help = "write one self-contained page, with plots of failing signals, to this file"
    c.add_argument("--html", metavar="FILE", help=help)


def _rule_words(prefix: str) -> list[str]:
    from ...check.checker import RULES

    return [f"{prefix[: prefix.rfind(',') + 1]}{id}" for id in ("S", "D", "R", *(r.id for r in RULES))]


def run(options: argparse.Namespace) -> int:
    from ...check.cannot_check import CannotCheck
    from ...check.report import as_text

    if options.rules:
        as_text.print_rules(OUT)
        return 0
    try:
        reports = _check(options)
    except CannotCheck as error:
        raise UserError(str(error)) from None
    _write_reports(reports, options)
    status = max(r.exit_status for r in reports)
    return status if not options.write_baseline or status == 2 else 0


def _check(options: argparse.Namespace) -> list[Report | NotChecked]:
    """Check all FMUs and print what was found. A mistake that concerns all of them raises CannotCheck."""
    from ...check.cannot_check import CannotCheck
    from ...check.checker import check_fmu
    from ...check.fmu_files import find_fmus
    from ...check.report import as_text
    from ...check.results import NotChecked

    if not options.fmu:
        raise UserError("no FMU given: name files or folders, or use --rules for the list of rules")
    files = find_fmus(options.fmu)
    settings = _settings(options, len(files))
    _check_report_files(options)
    reports: list[Report | NotChecked] = []
    for number, file in enumerate(files, start=1):
        position = f"{number} of {len(files)}: " if len(files) > 1 else ""
        with REPORTER.status(f"{position}{file}") as update:
            try:
                report = check_fmu(file, settings, lambda text, at=position: update(f"{at}{text}"))  # type: ignore[misc]
            except CannotCheck as error:
                if len(files) == 1:
                    raise
                reports.append(NotChecked(file, str(error)))
            else:
                reports.append(report)
        as_text.print_report(reports[-1], OUT)
    return reports


def _check_report_files(options: argparse.Namespace) -> None:
    names = [name for name in (*(getattr(options, r) for r in REPORTS), options.write_baseline) if name]
    for i, name in enumerate(names):
        check_writable(name)
        if Path(name) in map(Path, names[:i]):
            raise UserError(f"two reports cannot have the same file {name}")


def _settings(options: argparse.Namespace, fmus: int) -> Options:
    """The options of the command line, those of pyproject.toml where they are not given, and the files they name."""
    from ...check.baseline import read_baseline
    from ...check.checker import Options
    from ...check.configuration import find_configuration
    from ...check.isolation import Limits

    project = find_configuration(Path.cwd())
    robustness = bool(_first(options.robustness, project.robustness, False))
    only = _rule_ids(options.only or project.only, robustness, "" if options.only else _origin(project))
    skip = _rule_ids(options.skip or project.skip, True, "" if options.skip else _origin(project))
    call = _first(options.call_timeout, project.call_timeout, Limits().call_seconds)
    rule = _first(options.time_budget, project.time_budget, Limits().rule_seconds)
    for name, value in (("--call-timeout", call), ("--time-budget", rule)):
        if not (value > 0 and math.isfinite(value)):
            raise UserError(f"{name} {value:g}: must be greater than 0")
    jobs = _first(options.jobs, project.jobs, 0)
    if options.random < 0 or jobs < 0:
        raise UserError("--random and --jobs must not be negative")
    if options.baseline and options.write_baseline:
        raise UserError("give either --baseline or --write-baseline")
    file = None if options.write_baseline else _first(options.baseline, project.baseline)
    return Options(
        only=only,
        skip=skip,
        robustness=robustness,
        strict=bool(_first(options.strict, project.strict, False)),
        limits=Limits(call, rule, random=options.random, seed=options.seed),
        jobs=jobs,
        baseline=read_baseline(Path(file)) if file else None,
        reference=_reference(options, fmus),
    )


def _first(*values: object) -> Any:
    """The first value that is given."""
    return next((v for v in values if v is not None), None)


def _origin(project: ProjectSettings) -> str:
    return f"{project.file}: " if project.file else ""


def _reference(options: argparse.Namespace, fmus: int) -> ReferenceResult | None:
    from ...check.reference import TOLERANCE, read_reference

    if not options.ref:
        if options.input or options.ref_tolerance is not None:
            raise UserError("--in and --ref-tolerance need --ref")
        return None
    if fmus > 1:
        raise UserError(f"--ref is the result of one FMU, but {fmus} are to be checked")
    tolerance = _first(options.ref_tolerance, TOLERANCE)
    if not (tolerance > 0 and math.isfinite(tolerance)):
        raise UserError(f"--ref-tolerance {tolerance:g}: must be greater than 0")
    return read_reference(Path(options.ref), Path(options.input) if options.input else None, tolerance)


def _rule_ids(texts: Sequence[str], robustness: bool, origin: str) -> tuple[str, ...]:
    """Read ["S1,D2", "D3"] as rule identifiers."""
    from ...check.checker import RULES

    ids = [r.id for r in RULES]
    found = tuple(id.strip().upper() for text in texts for id in text.split(","))
    for id in found:
        if id not in (*ids, "S", "D", "R"):
            hint = did_you_mean(id, ids)
            raise UserError(f"{origin}there is no rule {id}{hint} (mechfmu check --rules lists them)")
        if id.startswith("R") and not robustness:
            raise UserError(f"{origin}{id} is about robustness: add --robustness")
    return found


def _write_reports(reports: Sequence[Report | NotChecked], options: argparse.Namespace) -> None:
    from ...atomic_file import atomic_write
    from ...check.baseline import write_baseline
    from ...check.report import as_html, as_json, as_junit, as_sarif
    from ...check.results import Report

    def baseline() -> str:
        checked = [(r.file, r.counted) for r in reports if isinstance(r, Report)]
        return write_baseline(checked, Path(options.write_baseline).parent)

    contents = {
        options.json: lambda: as_json.to_json(reports, __version__).encode(),
        options.junit: lambda: as_junit.to_junit(reports),
        options.html: lambda: as_html.to_html(reports, __version__).encode(),
        options.sarif: lambda: as_sarif.to_sarif(reports, __version__).encode(),
        options.write_baseline: lambda: baseline().encode(),
    }
    for file in filter(None, contents):
        with atomic_write(Path(file)) as target:
            target.write_bytes(contents[file]())
        OUT.print(f"wrote {file}")
