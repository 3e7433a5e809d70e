"""Checks an FMU: all rules, one report."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import dynamic
from .applicability import reason_binary_not_run, reason_not_examined
from .archive import unpack
from .cannot_check import CannotCheck
from .description import Description, read_description
from .dynamic_run import Progress, run_dynamic
from .findings import KINDS, Finding, Rule
from .model_data import model_data
from .options import Options
from .processes import RuleProcesses
from .results import Report, RuleResult
from .static import RULES as STATIC
from .static.unpacked import UnpackedFmu

__all__ = ["RULES", "CannotCheck", "Options", "Report", "check_fmu", "reason_binary_not_run"]

DYNAMIC: tuple[Rule, ...] = dynamic.RULES
ROBUSTNESS: tuple[Rule, ...] = getattr(dynamic, "ROBUSTNESS_RULES", ())
RULES: tuple[Rule, ...] = (*STATIC, *DYNAMIC, *ROBUSTNESS)


def check_fmu(
    file: str | Path,
    options: Options | None = None,
    progress: Progress | None = None,
    processes: RuleProcesses | None = None,
) -> Report:
    """Check one FMU and return the report. CannotCheck if the file cannot be read or is not of FMI 2.

    options     which rules are checked, and what counts
    progress    called with a text for each rule
    processes   in which rules run; many FMUs can share them
    """
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
        _check_version(file, description)
        kinds = tuple(k for k in KINDS if k in description.interfaces)
        report = Report(file, digest, kinds, "", [RuleResult(r) for r in RULES if options.wants(r)], options)
        unpacked = UnpackedFmu(file, archive, description, scratch)
        running = [r for r in report.results if r.rule not in STATIC]
        reason = reason_binary_not_run(archive, description, None) if running else ""
        model = model_data(description, archive) if running and not reason else None
        if options.reference and model is not None:
            model["reference"] = options.reference.model_data(model["variables"])
        _run_static([r for r in report.results if r.rule in STATIC], unpacked, show)
        if running:
            run_dynamic(report, running, unpacked, model, show, processes)
        _without_private_paths(report, folder)
    return report


def _check_version(file: Path, description: Description) -> None:
    """Raise CannotCheck for an FMU of another version of FMI. A version that is missing or not a number is left to the
    rules."""
    version = (description.attribute("fmiVersion") or "").strip()
    major = re.match(r"(\d{1,3})(\.|$)", version)
    if major and major[1] != "2":
        raise CannotCheck(f"{file} is an FMU of FMI {version}; mechfmu check knows FMI 2.0 only")


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


def _run_static(results: Sequence[RuleResult], unpacked: UnpackedFmu, show: Progress) -> None:
    for result in results:
        result.skipped = reason_not_examined(result.rule, unpacked.archive, unpacked.description)
        if result.skipped:
            continue
        show(result.rule.id)
        began, before = time.monotonic(), len(unpacked.not_judged)
        result.findings = [result.rule.complete(f) for f in result.rule.check(unpacked)]
        result.not_judged = unpacked.not_judged[before:]
        result.seconds = time.monotonic() - began


# --- texts without temporary paths ------------------------------------------------------------------------------------


def _without_private_paths(report: Report, folder: Path) -> None:
    """Replace the private folder by the name of the FMU in all texts, and drop findings that are there twice."""
    clean = path_cleaner(folder, report.file.name)
    for result in report.results:
        findings = [_clean_finding(f, clean) for f in result.findings]
        result.findings = list({(f.kind, f.text, f.severity): f for f in findings}.values())
        result.skipped = clean(result.skipped)
        result.not_judged = list(dict.fromkeys(clean(text) for text in result.not_judged))
    report.bugs = [clean(bug) for bug in report.bugs]
    report.static_only = clean(report.static_only)


def path_cleaner(folder: Path, name: str) -> Callable[[str], str]:
    """A function that replaces the private folder, its part with the unpacked FMU, and the folder of a rule's process
    by `name`. Links on the way to the folder are found as well (macOS: /var and /private/var)."""
    below = r"(?:[\\/]+fmu(?![\w.])|[\\/]+scratch(?:[\\/]+job_\w+)?)?"
    places = sorted({str(folder), folder.as_posix(), str(folder.resolve())}, key=len, reverse=True)
    known = "|".join(re.escape(place) for place in places)
    elsewhere = rf"(?:(?<![A-Za-z])[A-Za-z]:)?[\\/](?![\\/])[^\s'\"<>]*[\\/]{re.escape(folder.name)}"
    pattern = re.compile(rf"(?:{known}|{elsewhere}){below}")
    return lambda text: pattern.sub(lambda _: name, text) if folder.name in text else text


def _clean_finding(finding: Finding, clean: Callable[[str], str]) -> Finding:
    names = ("where", "problem", "expected", "suggestion", "cause")
    changed: dict[str, Any] = {n: text for n in names if (text := clean(getattr(finding, n))) != getattr(finding, n)}
    return replace(finding, **changed) if changed else finding
