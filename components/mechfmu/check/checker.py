"""Checks an FMU: all rules, one report."""

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
from .dynamic.loading import LIFECYCLE
from .findings import KINDS, SEVERITIES, Finding, Rule
from .isolation import Limits, Outcome, run_rule
from .model_data import host_platform, model_data
from .static import RULES as STATIC
from .static.unpacked import UnpackedFmu

RULES: tuple[Rule, ...] = (*STATIC, *DYNAMIC)
Progress = Callable[[str], None]


class CannotCheck(Exception):
    """The file cannot be checked at all; the message gives the reason."""


@dataclass(frozen=True)
class Options:
    """Which rules to check, and how severe a finding must be to count."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    level: str = "warning"
    strict: bool = False  # exit status 2 if the binary was not run
    limits: Limits = field(default_factory=Limits)
    jobs: int = 0  # parallel processes; 0: one per processor

    def wants(self, rule: Rule) -> bool:
        named = not self.only or any(_covers(o, rule.id) for o in self.only)
        return named and not any(_covers(o, rule.id) for o in self.skip)

    def counts(self, finding: Finding) -> bool:
        return SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.level)


def _covers(pattern: str, id: str) -> bool:
    """D3 covers rule D3; D covers all dynamic rules."""
    return id == pattern.upper() or (pattern.upper() in ("S", "D") and id.startswith(pattern.upper()))


@dataclass
class RuleResult:
    """The findings of one rule, or why it was not run."""

    rule: Rule
    findings: list[Finding] = field(default_factory=list)
    skipped: str = ""  # the reason
    seconds: float = 0.0


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
        return [f for r in self.results for f in r.findings]

    @property
    def counted(self) -> list[Finding]:
        return [f for f in self.findings if self.options.counts(f)]

    def failed(self, result: RuleResult) -> bool:
        return any(self.options.counts(f) for f in result.findings)

    @property
    def exit_status(self) -> int:
        """0: clean, 1: findings, 2: something could not be run."""
        return 2 if self.bugs else 1 if self.counted else 2 if self.options.strict and self.static_only else 0

    def __repr__(self) -> str:
        return f"<Report of {self.file.name}: {len(self.counted)} findings, exit status {self.exit_status}>"


def check_fmu(file: str | Path, options: Options | None = None, progress: Progress | None = None) -> Report:
    """Check one FMU. Raises CannotCheck if the file does not exist or cannot be read."""
    file, options = Path(file), options or Options()
    show: Progress = (lambda text: progress(f"{file.name}: {text}")) if progress else (lambda text: None)
    if not file.is_file():
        raise CannotCheck(f"{file} is a folder, not an FMU file" if file.is_dir() else f"there is no file {file}")
    try:
        digest = _digest(file)
    except OSError as error:
        raise CannotCheck(f"{file} cannot be read: {error.strerror}") from None
    with _private_folder() as folder:
        show("unpacking")
        fmu, scratch = folder / "fmu", folder / "scratch"
        fmu.mkdir()
        scratch.mkdir()
        archive = unpack(file, fmu)
        description = read_description(archive.path("modelDescription.xml"))
        kinds = tuple(k for k in KINDS if k in description.interfaces)
        report = Report(file, digest, kinds, "", [RuleResult(r) for r in RULES if options.wants(r)], options)
        unpacked = UnpackedFmu(file, archive, description, scratch)
        _run_static([r for r in report.results if r.rule in STATIC], unpacked, show)
        dynamic = [r for r in report.results if r.rule in DYNAMIC]
        if dynamic:
            _run_dynamic(report, dynamic, unpacked, show)
        for result in report.results:
            result.findings = _unique(result.findings)
    return report


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder that only this user can read, removed afterwards whatever the FMU did to it."""
    folder = Path(tempfile.mkdtemp(prefix="mechfmu_check_"))
    try:
        yield folder
    finally:
        for path, names, _ in os.walk(folder):
            for name in names:
                if not (Path(path) / name).is_symlink():
                    (Path(path) / name).chmod(0o700)  # an FMU may have removed the permissions
        shutil.rmtree(folder, ignore_errors=True)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        sha = hashlib.sha256()
        while chunk := stream.read(1 << 20):
            sha.update(chunk)
    return sha.hexdigest()


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return list({(f.kind, f.text, f.severity): f for f in findings}.values())


def reason_not_examined(rule: Rule | None, archive: Archive, description: Description) -> str:
    """Why a rule has nothing to examine, or "". S1 needs the file, S2 the XML text, S3 its elements, all others (also
    None) a model description of FMI 2."""
    needs = ("S1", "S2", "S3").index(rule.id) if rule is not None and rule.id in ("S1", "S2", "S3") else 3
    if needs > 0 and not archive.opened:
        return "the archive cannot be opened"
    if needs > 0 and "modelDescription.xml" not in archive.names:
        return "the archive has no readable modelDescription.xml"
    if needs > 1 and description.root is None:
        return "modelDescription.xml cannot be read"
    if needs > 2 and description.root.tag != "fmiModelDescription":
        return "modelDescription.xml is not a model description"
    version = str(description.attribute("fmiVersion"))
    if needs > 2 and version.partition(".")[0] != "2":
        return f"this is an FMU of FMI {version}; the rules are those of 2.0"
    return ""


def _run_static(results: Sequence[RuleResult], unpacked: UnpackedFmu, show: Progress) -> None:
    for result in results:
        result.skipped = reason_not_examined(result.rule, unpacked.archive, unpacked.description)
        if result.skipped:
            continue
        show(result.rule.id)
        began = time.monotonic()
        result.findings = [result.rule.complete(f) for f in result.rule.check(unpacked)]
        result.seconds = time.monotonic() - began


# --- dynamic rules ----------------------------------------------------------------------------------------------------


def reason_binary_not_run(archive: Archive, description: Description, model: dict[str, Any] | None) -> str:
    """Why the binary cannot be run, or ""."""
    if reason := reason_not_examined(None, archive, description):
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


def reason_not_applicable(rule: Rule, model: dict[str, Any], kind: str) -> str:
    """Why a rule does not apply to this FMU, or ""."""
    interface = model["interfaces"][kind]
    flags = {"D6": "canGetAndSetFMUstate", "D10": "providesDirectionalDerivative"}
    if kind not in rule.kinds:
        return f"it is about {' and '.join(rule.kinds)}"
    if rule.id in flags and interface.get(flags[rule.id], "").strip() not in ("true", "1"):
        return f"the FMU does not claim {flags[rule.id]}"
    if rule.id == "D12" and model["reference"] is None:
        return "the FMU carries no reference result"
    return ""


def _run_dynamic(report: Report, results: list[RuleResult], unpacked: UnpackedFmu, show: Progress) -> None:
    archive, description = unpacked.archive, unpacked.description
    reason = reason_binary_not_run(archive, description, None)
    model = None if reason else model_data(description, archive)
    report.static_only = reason or reason_binary_not_run(archive, description, model)
    if report.static_only or model is None:
        for result in results:
            result.skipped = f"the binary was not run: {report.static_only}"
        return
    limits, by_id = report.options.limits, {r.rule.id: r for r in results}

    def run(rule: str, kind: str) -> Outcome:
        show(rule)
        return run_rule(rule, kind, model, archive.folder, unpacked.scratch, limits)

    def record(rule: str, outcome: Outcome) -> None:
        if rule in by_id:
            by_id[rule].seconds += outcome.seconds
        report.bugs += [outcome.bug] if outcome.bug else []
        for finding in outcome.findings:
            result = by_id.get(finding.rule)
            if result is None:  # found before the requested rules could run
                result = next(iter(by_id.values()))
            result.findings.append(finding)

    jobs = _jobs(results, model, run, record)
    pool = ThreadPoolExecutor(report.options.jobs or os.cpu_count() or 1)
    try:
        outcomes = list(pool.map(lambda job: run(job[0].rule.id, job[1]), jobs))
    finally:
        pool.shutdown(cancel_futures=True)  # when interrupted, wait only for the rules that are running
    for (result, _), outcome in zip(jobs, outcomes, strict=True):
        record(result.rule.id, outcome)


Run = Callable[[str, str], Outcome]
Record = Callable[[str, Outcome], None]


def _jobs(results: list[RuleResult], model: dict[str, Any], run: Run, record: Record) -> list[tuple[RuleResult, str]]:
    """The rules to be run, each with its kind of FMU; the others are marked as skipped."""
    kinds = list(model["interfaces"])
    jobs: list[tuple[RuleResult, str]] = []
    for kind in kinds:
        failure = _prerequisites(run, record, kind, with_lifecycle=any(r.rule.id != "D1" for r in results))
        for result in results:
            not_applicable = reason_not_applicable(result.rule, model, kind)
            result.skipped = result.skipped or not_applicable if len(kinds) == 1 else ""
            if result.rule.id == "D1" or not_applicable:
                continue
            if failure:
                result.skipped = "" if result.findings else f"{kind} does not get that far: {failure}"
            else:
                jobs.append((result, kind))
    if len(kinds) > 1:
        for result in results:
            reasons = [reason_not_applicable(result.rule, model, kind) for kind in kinds]
            result.skipped = result.skipped or (reasons[0] if all(reasons) else "")
    return jobs


def _prerequisites(run: Run, record: Record, kind: str, with_lifecycle: bool) -> str:
    """Load the library and run the nominal lifecycle, on which all other rules rely. Returns why they failed, or ""."""
    for rule in ("D1", LIFECYCLE) if with_lifecycle else ("D1",):
        outcome = run(rule, kind)
        record(rule, outcome)
        errors = [f for f in outcome.findings if f.severity == "error" and f.where != "when the process ended"]
        unusable = any("cannot be loaded" in f.problem or "not export" in f.problem for f in errors)
        if outcome.fatal or outcome.bug or unusable or (errors and rule == LIFECYCLE):
            return f"see {errors[0].rule}, {errors[0].where}" if errors else "an error of the checker"
    return ""
