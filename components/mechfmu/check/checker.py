"""Checking an FMU: all rules, one report."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .archive import Archive, unpack
from .description import Description, read_description
from .dynamic import RULES as DYNAMIC
from .findings import KINDS, SEVERITIES, Finding, Rule
from .isolation import Limits, Outcome, run_rule
from .outline import host_platform, outline
from .static import RULES as STATIC
from .static.package import Package

RULES: tuple[Rule, ...] = (*STATIC, *DYNAMIC)
Progress = Callable[[str], None]


class CannotCheck(Exception):
    """The file cannot be checked at all; the text says why."""


@dataclass(frozen=True)
class Options:
    """What to check, and how severe a finding must be to count."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    level: str = "warning"
    strict: bool = False  # an FMU whose binary was not run is not clean
    limits: Limits = field(default_factory=Limits)
    jobs: int = 0  # processes at a time; 0: as many as there are processors

    def wants(self, rule: Rule) -> bool:
        named = not self.only or any(_covers(o, rule.id) for o in self.only)
        return named and not any(_covers(o, rule.id) for o in self.skip)

    def counts(self, finding: Finding) -> bool:
        return SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.level)


def _covers(pattern: str, id: str) -> bool:
    """D3 is covered by D3, and all dynamic rules by D."""
    return id == pattern.upper() or (pattern.upper() in ("S", "D") and id.startswith(pattern.upper()))


@dataclass
class Result:
    """What came of one rule."""

    rule: Rule
    findings: list[Finding] = field(default_factory=list)
    skipped: str = ""  # why it was not run
    seconds: float = 0.0


@dataclass
class Report:
    """What came of one FMU."""

    file: Path
    digest: str
    kinds: tuple[str, ...]
    static_only: str  # why the binary was not run, if that was asked for and not done
    results: list[Result]
    options: Options
    bugs: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        return [f for r in self.results for f in r.findings]

    @property
    def counted(self) -> list[Finding]:
        return [f for f in self.findings if self.options.counts(f)]

    def failed(self, result: Result) -> bool:
        return any(self.options.counts(f) for f in result.findings)

    @property
    def exit_status(self) -> int:
        """0 clean, 1 findings, 2 something could not be run."""
        return 2 if self.bugs else 1 if self.counted else 2 if self.options.strict and self.static_only else 0

    def __repr__(self) -> str:
        return f"<Report of {self.file.name}: {len(self.counted)} findings, exit status {self.exit_status}>"


def check_fmu(file: str | Path, options: Options | None = None, progress: Progress | None = None) -> Report:
    """Check one FMU. CannotCheck when there is no such file."""
    file, options = Path(file), options or Options()
    tell: Progress = (lambda text: progress(f"{file.name}: {text}")) if progress else (lambda text: None)
    if not file.is_file():
        raise CannotCheck(f"{file} is a folder, not an FMU file" if file.is_dir() else f"there is no file {file}")
    try:
        digest = _digest(file)
    except OSError as error:
        raise CannotCheck(f"{file} cannot be read: {error.strerror}") from None
    with _private_folder() as folder:
        tell("unpacking")
        fmu, scratch = folder / "fmu", folder / "scratch"
        fmu.mkdir()
        scratch.mkdir()
        archive = unpack(file, fmu)
        description = read_description(archive.path("modelDescription.xml"))
        report = Report(
            file,
            digest,
            tuple(k for k in KINDS if k in description.interfaces),
            "",
            [Result(r) for r in RULES if options.wants(r)],
            options,
        )
        package = Package(file, archive, description, scratch)
        for result in report.results:
            if result.rule in STATIC:
                result.skipped = not_examined(result.rule, archive, description)
                if result.skipped:
                    continue
                tell(result.rule.id)
                began = time.monotonic()
                result.findings = [result.rule.complete(f) for f in result.rule.check(package)]
                result.seconds = time.monotonic() - began
        dynamic = [r for r in report.results if r.rule in DYNAMIC]
        if dynamic:
            _run_dynamic(report, dynamic, archive, description, scratch, tell)
        for result in report.results:
            result.findings = _unique(result.findings)
    return report


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder that only this user can look into, gone afterwards whatever an FMU has made of it."""
    folder = Path(tempfile.mkdtemp(prefix="mechfmu_check_"))
    try:
        yield folder
    finally:
        for path, names, _ in os.walk(folder):
            for name in names:
                if not (Path(path) / name).is_symlink():
                    (Path(path) / name).chmod(0o700)  # an FMU may have locked a folder
        shutil.rmtree(folder, ignore_errors=True)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        sha = hashlib.sha256()
        while chunk := stream.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return list({(f.kind, f.text, f.severity): f for f in findings}.values())


def not_examined(rule: Rule | None, archive: Archive, description: Description) -> str:
    """Why there is nothing that a static rule (None: any other rule) could look at, or nothing: S1 needs the file, S2 its text, S3 its XML."""
    first = ("S1", "S2", "S3").index(rule.id) if rule is not None and rule.id in ("S1", "S2", "S3") else 3
    if first > 0 and not archive.opened:
        return "the archive cannot be opened"
    if first > 0 and "modelDescription.xml" not in archive.names:
        return "no modelDescription.xml came out of the archive"
    if first > 1 and description.root is None:
        return "modelDescription.xml cannot be read"
    if first > 2 and description.root.tag != "fmiModelDescription":
        return "modelDescription.xml is no model description"
    version = str(description.attribute("fmiVersion"))
    if first > 2 and version.partition(".")[0] != "2":
        return f"this is an FMU of FMI {version}; the rules are those of 2.0"
    return ""


# --- the dynamic part -----------------------------------------------------------------------------------------------------------


def why_static_only(archive: Archive, description: Description, model: dict[str, Any] | None) -> str:
    """Why the binary cannot be run, or nothing."""
    if reason := not_examined(None, archive, description):
        return reason
    if not description.interfaces:
        return "the FMU has no interface type"
    if description.attribute("fmiVersion") != "2.0":
        return f"this is an FMU of FMI {description.attribute('fmiVersion')}; the rules are those of 2.0"
    if model is not None and not model["interfaces"]:
        platforms = sorted({n.split("/")[0] for n in archive.under("binaries/") if "/" in n})
        here = host_platform() or "this platform, which FMI has no name for"
        return f"there is none for {here}" + (f", only for {', '.join(platforms)}" if platforms else "")
    return ""


def not_applicable(rule: Rule, model: dict[str, Any], kind: str) -> str:
    """Why a rule says nothing about this FMU, or nothing."""
    interface = model["interfaces"][kind]
    flags = {"D6": "canGetAndSetFMUstate", "D10": "providesDirectionalDerivative"}
    if kind not in rule.kinds:
        return f"it is about {' and '.join(rule.kinds)}"
    if rule.id in flags and interface.get(flags[rule.id], "").strip() not in ("true", "1"):
        return f"the FMU does not claim {flags[rule.id]}"
    if rule.id == "D12" and model["reference"] is None:
        return "the FMU carries no reference result"
    return ""


def _run_dynamic(
    report: Report, results: list[Result], archive: Archive, description: Description, scratch: Path, tell: Progress
) -> None:
    reason = why_static_only(archive, description, None)
    model = None if reason else outline(description, archive)
    report.static_only = reason or why_static_only(archive, description, model)
    if report.static_only or model is None:
        for result in results:
            result.skipped = f"the binary was not run: {report.static_only}"
        return
    limits, by_id = report.options.limits, {r.rule.id: r for r in results}

    def run(rule: str, kind: str) -> Outcome:
        tell(rule if rule != "life" else "a plain life")
        return run_rule(rule, kind, model, archive.folder, scratch, limits)

    def take(rule: str, outcome: Outcome) -> None:
        if rule in by_id:
            by_id[rule].seconds += outcome.seconds
        report.bugs += [outcome.bug] if outcome.bug else []
        for finding in outcome.findings:
            result = by_id.get(finding.rule)
            if result is None:  # found on the way to the rules that were asked for
                result = next(iter(by_id.values()))
            result.findings.append(finding)

    jobs: list[tuple[Result, str]] = []
    for kind in model["interfaces"]:
        broken = _foundation(run, take, kind, plain_life=any(r.rule.id != "D1" for r in results))
        for result in results:
            result.skipped = (
                result.skipped or not_applicable(result.rule, model, kind) if len(model["interfaces"]) == 1 else ""
            )
            if result.rule.id == "D1" or not_applicable(result.rule, model, kind):
                continue
            if broken:
                result.skipped = "" if result.findings else f"{kind} does not get that far: {broken}"
            else:
                jobs.append((result, kind))
    if len(model["interfaces"]) > 1:
        for result in results:
            reasons = [not_applicable(result.rule, model, kind) for kind in model["interfaces"]]
            result.skipped = result.skipped or (reasons[0] if all(reasons) else "")
    pool = ThreadPoolExecutor(report.options.jobs or os.cpu_count() or 1)
    try:
        outcomes = list(pool.map(lambda job: run(job[0].rule.id, job[1]), jobs))
    finally:
        pool.shutdown(cancel_futures=True)  # when interrupted, only what runs is waited for
    for (result, _), outcome in zip(jobs, outcomes, strict=True):
        take(result.rule.id, outcome)


def _foundation(
    run: Callable[[str, str], Outcome], take: Callable[[str, Outcome], None], kind: str, plain_life: bool
) -> str:
    """Load the library and live a plain life: without these no other rule has anything to stand on. Why they failed, or nothing."""
    for rule in ("D1", "life") if plain_life else ("D1",):
        outcome = run(rule, kind)
        take(rule, outcome)
        errors = [f for f in outcome.findings if f.severity == "error" and f.where != "when the process ended"]
        if (
            outcome.fatal
            or outcome.bug
            or (
                errors
                and (
                    rule == "life" or any("cannot be loaded" in f.problem or "not export" in f.problem for f in errors)
                )
            )
        ):
            return f"see {errors[0].rule}, {errors[0].where}" if errors else "an error of the checker"
    return ""
