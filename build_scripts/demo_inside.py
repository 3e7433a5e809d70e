"""The demonstration itself; build_scripts/demo.py runs it in the project's environment, from the root of the checkout."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from fmpy.validation import validate_fmu
from gallery import write_site
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from mechfmu import __version__
from mechfmu.check.checker import Options, check_fmu
from mechfmu.check.report.as_html import to_html
from mechfmu.mechanisms import Mechanism, UserError, make, names
from mechfmu.packaging.build import KINDS, build
from mechfmu.run.ready import build_ready
from mechfmu.run.result import Result
from mechfmu.run.simulate import read_description, simulate_fmu

OUT = Path("out")
LOOPS = {  # ready systems with something to control
    "cart_controller": "figure2", "computed_torque": "arm_computed_torque", "pid_controller": "exoskeleton_pd", "walking_controller": "walk",
}  # fmt: skip

# What a run at the FMU's own tolerance must keep to; a wrong model misses these by orders of magnitude.
ENERGY_LIMIT = 1e-4  # of the energy that moved
AGREEMENT_LIMIT = 1e-3  # of a signal's largest value

LEGEND = """\
  valid      FMPy's validation finds nothing wrong with the file
  checked    rules of FMI 2.0 that hold in the file and in the running binary (mechfmu check), of those that apply
  speed      simulated over elapsed time, all outputs recorded at every step
  energy     largest error of the energy balance, relative to the energy moved
  agreement  largest difference to the mechanism's first FMU, relative"""

console = Console(highlight=False)


@dataclass
class Report:
    """What was found out about one FMU, or why a mechanism has none."""

    name: str
    size: int | None = None
    invalid: list[str] = field(default_factory=list)
    passed: int = 0  # rules of the compliance check
    applied: int = 0
    problems: list[str] = field(default_factory=list)
    result: Result | None = None
    speed: float | None = None
    energy: float | None = None
    agreement: float | None = None


def main() -> int:
    reports: list[Report] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for key in names():
            try:
                reports += demonstrate(make(key), progress)
            except Exception as error:  # one broken mechanism must not hide the others
                kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
                reports.append(Report(key, problems=[f"{kind}{error}"]))
    console.print(summary(reports))
    console.print(LEGEND)
    with console.status("running the notebooks and writing the site"):
        site, failed = write_site(OUT, {report.name: facts(report) for report in reports if report.size}, LEGEND)
    console.print(f"  FMUs, plots and animations are in {OUT.resolve()}; with the documentation in {site.resolve()}", markup=False, soft_wrap=True)
    found = [f"{report.name}: {problem}" for report in reports for problem in (*report.invalid, *report.problems)] + failed
    for problem in found:
        console.print(f"FAILED  {problem}", style="red", markup=False, soft_wrap=True)
    return 1 if found else 0


def demonstrate(mechanism: Mechanism, progress: Progress) -> list[Report]:
    """Build a mechanism's FMUs of all kinds, examine each, and draw the run of the first if that has changed."""
    before = {file: file.read_bytes() for file in OUT.glob("*.fmu")}
    with working(progress, f"{mechanism.name}: build"):
        files = dict.fromkeys(file for kind in KINDS for file in build(mechanism, OUT, kind=kind))
    reports = [examine(file, progress) for file in files]
    for report in reports[1:]:
        compare(report, reports[0])
    first, plot = next(iter(files)), OUT / f"{mechanism.name}.png"
    changed = before.get(first) != first.read_bytes()  # builds are reproducible: the same bytes give the same pictures
    if reports[0].result and (changed or not plot.exists()):
        with working(progress, f"{mechanism.name}: draw"):
            draw(reports[0].result, mechanism, plot)
    return reports


def examine(file: Path, progress: Progress) -> Report:
    """Validate and simulate an FMU, and check its energy balance."""
    report = Report(file.name, file.stat().st_size, invalid=validate_fmu(str(file)))
    with working(progress, f"{file.name}: check"):
        findings, report.applied, report.passed = checked(file)
    report.invalid += findings
    try:
        with working(progress, f"{file.name}: simulate", float(read_description(file).defaultExperiment.stopTime)) as task:
            clock = Clock(progress, task)
            result = report.result = simulate_fmu(file, progress=clock)
    except UserError as error:
        report.problems.append(str(error))
        return report
    report.speed = clock.speed
    report.energy = energy_error(result)
    if report.energy is not None and not report.energy < ENERGY_LIMIT:
        report.problems.append(f"energy balance: error {report.energy:.1e}, allowed {ENERGY_LIMIT:g}")
    return report


def checked(file: Path) -> tuple[list[str], int, int]:
    """Findings of the compliance check, rules that apply, rules that hold; from the last run when the FMU is still the same. The report is kept as a page."""
    kept, digest = file.with_suffix(".check.json"), hashlib.sha256(file.read_bytes()).hexdigest()
    with suppress(OSError, ValueError, KeyError):
        last = json.loads(kept.read_text())
        if last["fmu"] == digest:
            return last["findings"], last["applied"], last["passed"]
    report = check_fmu(file, Options())
    findings = [*report.bugs, *(f"{f.rule} {f.text}" for f in report.counted)]
    applied = sum(not r.skipped for r in report.results)
    passed = sum(not r.skipped and not report.failed(r) for r in report.results)
    kept.with_suffix(".html").write_text(to_html([report], __version__), encoding="utf-8")
    kept.write_text(json.dumps({"fmu": digest, "findings": findings, "applied": applied, "passed": passed}, indent=1))
    return findings, applied, passed


@contextmanager
def working(progress: Progress, title: str, total: float | None = None) -> Iterator[TaskID]:
    """One line of the display: a bar up to `total`, or one that only shows that there is work."""
    task = progress.add_task(title, total=total)
    try:
        yield task
        progress.update(task, total=total or 1.0, completed=total or 1.0)
    finally:
        progress.stop_task(task)


class Clock:
    """Moves the bar of a simulation, and measures from the end of its first step, so that loading the FMU does not count."""

    def __init__(self, progress: Progress, task: TaskID):
        self.progress, self.task = progress, task
        self.steps = 0
        self.first = self.last = (0.0, 0.0)  # simulated, elapsed

    def __call__(self, t: float) -> None:
        self.last = (t, time.perf_counter())
        if self.steps == 0:
            self.first = self.last
        if self.steps % 20 == 0:
            self.progress.update(self.task, completed=t)
        self.steps += 1

    @property
    def speed(self) -> float:
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])


def energy_error(result: Result) -> float | None:
    """total - input + dissipated must stay what it was at the start."""
    if not {"energy.total", "energy.kinetic", "energy.input", "energy.dissipated"} <= set(result.names):
        return None
    balance = result["energy.total"] - result["energy.input"] + result["energy.dissipated"]
    moved = max(np.ptp(result["energy.kinetic"]), np.ptp(result["energy.total"]), 1e-9)
    return float(np.max(np.abs(balance - balance[0])) / moved)


def compare(report: Report, first: Report) -> None:
    a, b = report.result, first.result
    if a is None or b is None:
        return
    if set(a.names) != set(b.names) or a.t.shape != b.t.shape:
        report.problems.append(f"its outputs or times are not those of {first.name}")
        return
    report.agreement = max(float(np.max(np.abs(a[n] - b[n])) / max(1.0, np.max(np.abs(b[n])))) for n in a.names)
    if not report.agreement < AGREEMENT_LIMIT:
        report.problems.append(f"differs from {first.name} by {report.agreement:.1e}, allowed {AGREEMENT_LIMIT:g}")


def draw(result: Result, mechanism: Mechanism, plot: Path) -> None:
    """The moving mechanism and its signals; of a controller, which alone has nothing to do, the system that it is part of."""
    signals = beside = None
    if mechanism.key in LOOPS:
        with tempfile.TemporaryDirectory() as folder:
            system = build_ready(LOOPS[mechanism.key], Path(folder))
            result = system.simulate()
        signals = [name for name in system.connect if np.ptp(result[name])]
        beside = [name for name in signals if name.startswith("control.")]
    if result.mechanism and result.mechanism.drawing(result.at(0)):
        result.animate(plot.with_suffix(".html"), signals=beside)
    result.plot(signals, plot)  # last: where there is a plot, the drawing was finished


def facts(r: Report) -> dict[str, str]:
    """What was found out, by title."""
    return {
        "size": "-" if r.size is None else f"{r.size / 1000:.0f} kB",
        "valid": "-" if r.size is None else "no" if r.invalid else "yes",
        "checked": f"{r.passed}/{r.applied}" if r.applied else "-",
        "simulated": f"{r.result.t[-1]:g} s" if r.result else "failed",
        "speed": "-" if r.speed is None else f"{r.speed:.0f} x",
        "energy": "-" if r.energy is None else f"{r.energy:.0e}",
        "agreement": "-" if r.agreement is None else f"{r.agreement:.0e}",
    }


def summary(reports: list[Report]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0, collapse_padding=True)
    for title in ("FMU", *facts(Report(""))):
        table.add_column(title, no_wrap=True)
    for r in reports:
        good = {"valid": not r.invalid, "checked": r.passed == r.applied, "simulated": r.result is not None}
        cells = {title: f"[{'green' if good[title] else 'red'}]{text}[/]" if title in good and text != "-" else text for title, text in facts(r).items()}
        table.add_row(r.name, *cells.values())
    return table


if __name__ == "__main__":
    sys.exit(main())
