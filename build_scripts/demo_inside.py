"""The demonstration; build_scripts/demo.py runs it in the project's environment, from the root of the checkout."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from fmpy.validation import validate_fmu
from gallery import write_site

from mechfmu import __version__
from mechfmu.check.checker import Options, check_fmu
from mechfmu.check.report.as_html import to_html
from mechfmu.check.report.texts import headline
from mechfmu.cli.progress import Reporter
from mechfmu.console import Console, Styled
from mechfmu.cosim.builtin import build_builtin
from mechfmu.fmu.build import KINDS, build
from mechfmu.mechanisms import make, names
from mechfmu.model import Mechanism, UserError
from mechfmu.simulation.description import read_description
from mechfmu.simulation.result import Result
from mechfmu.simulation.simulate import simulate_fmu

OUT = Path("out")
ROOT = Path(__file__).resolve().parent.parent
KEPT = OUT / "demo.json"  # what the last run found
SITE = OUT / "site" / "index.html"
FIRST = "link_chain"  # the first picture
LOOPS = {  # ready systems with something to control
    "cart_controller": "figure2",
    "computed_torque": "arm_computed_torque",
    "pid_controller": "exoskeleton_pd",
    "walking_controller": "walk",
}

# What a run at the FMU's own tolerance must keep to; a wrong model misses these by orders of magnitude.
ENERGY_LIMIT = 1e-4  # of the energy that moved
AGREEMENT_LIMIT = 1e-3  # of a signal's largest value

LEGEND = """\
  valid      FMPy's validation finds nothing wrong with the file
  checked    rules of FMI 2.0 that hold in the file and in the running binary (mechfmu check), of those that apply
  speed      simulated over elapsed time, all outputs recorded at every step
  energy     largest error of the energy balance, relative to the energy moved
  agreement  largest difference to the mechanism's first FMU, relative"""

console, reporter = Console(), Reporter()


@dataclass
class Report:
    """What was found out about one FMU, or why a mechanism has none."""

    name: str
    size: int | None = None
    invalid: list[str] = field(default_factory=list)
    passed: int = 0  # rules of the compliance check
    applied: int = 0
    problems: list[str] = field(default_factory=list)
    simulated: float | None = None  # s
    speed: float | None = None
    energy: float | None = None
    agreement: float | None = None


def main() -> int:
    state, fresh = sources(), "--fresh" in sys.argv[1:]
    reports = [] if fresh else last_reports(state)
    if reports:
        console.print(
            f"  nothing has changed since the last run, whose findings follow (--fresh does everything again): {KEPT}"
        )
    else:
        reports = demonstrate_all()
        KEPT.write_text(
            json.dumps(
                {"fmus": state["fmus"], "files": fingerprints(), "reports": [asdict(r) for r in reports]}, indent=1
            )
        )
    print_summary(reports)
    console.print(LEGEND)
    failed = [] if reports_clean(reports) and site_is_new(state) and not fresh else make_site(reports, state)
    console.print(f"  FMUs, plots and animations are in {OUT.resolve()}; with the documentation in {SITE.resolve()}")
    found = [
        f"{report.name}: {problem}" for report in reports for problem in (*report.invalid, *report.problems)
    ] + failed
    for problem in found:
        console.print(Styled(f"FAILED  {problem}", "red"))
    return 1 if found else 0


def sources() -> dict[str, str]:
    """Digests of what the FMUs and what the site is made from, the environment included."""
    found, digest = {}, hashlib.sha256(sys.version.encode())
    for package in sorted(f"{d.metadata['Name']} {d.version}" for d in distributions()):
        digest.update(package.encode())
    for part, places in (
        ("fmus", ("components", "fmu_src", "build_scripts")),
        ("site", ("docs", "examples", "README.md", "mkdocs.yml")),
    ):
        for file in sorted(
            f for place in places for f in ((ROOT / place).rglob("*") if (ROOT / place).is_dir() else (ROOT / place,))
        ):
            if (
                file.is_file()
                and not {"__pycache__", "out"} & set(file.relative_to(ROOT).parts)
                and file.suffix != ".pyc"
            ):
                digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
        found[part] = digest.hexdigest()
    return found


def fingerprints() -> dict[str, str]:
    """Digests of the FMUs that were written, and of the pictures."""
    return {
        f.name: hashlib.sha256(f.read_bytes()).hexdigest()
        for f in sorted(OUT.iterdir())
        if f.suffix in (".fmu", ".png", ".html")
    }


def last_reports(state: dict[str, str]) -> list[Report]:
    """The reports of the last run, if it found nothing wrong and neither sources nor files have changed since."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        last = json.loads(KEPT.read_text())
        reports = [Report(**r) for r in last["reports"]]
        if last["fmus"] == state["fmus"] and last["files"] == fingerprints() and reports_clean(reports):
            return reports
    return []


def reports_clean(reports: list[Report]) -> bool:
    return not any(r.invalid or r.problems for r in reports)


def site_is_new(state: dict[str, str]) -> bool:
    stamp = OUT / "site.sha256"
    return SITE.exists() and stamp.exists() and stamp.read_text() == state["site"]


def make_site(reports: list[Report], state: dict[str, str]) -> list[str]:
    """What is wrong with the site, which is written."""
    with reporter.status("writing the site") as progress:
        _, failed = write_site(OUT, {report.name: facts(report) for report in reports if report.size}, LEGEND, progress)
    if not failed:
        (OUT / "site.sha256").write_text(state["site"])
    return failed


def demonstrate_all() -> list[Report]:
    """Every mechanism, the quickest to draw first: a picture is there at once."""
    reports: list[Report] = []
    for key in sorted(names(), key=lambda key: (key != FIRST, key in LOOPS)):
        try:
            reports += demonstrate(make(key))
        except Exception as error:  # one broken mechanism must not hide the others
            kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
            reports.append(Report(key, problems=[f"{kind}{error}"]))
    return reports


def demonstrate(mechanism: Mechanism) -> list[Report]:
    """Build a mechanism's FMUs of all kinds, run them, draw the run of the first if it has changed, check each."""
    before = {file: file.read_bytes() for file in OUT.glob("*.fmu")}
    runs: dict[Path, Result | None] = {}
    reports = []
    plot = OUT / f"{mechanism.name}.png"
    for kind in KINDS:
        with working(f"{mechanism.name}: build, {kind}"):
            files = build(mechanism, OUT, kind=kind)
        for file in files:
            report = Report(file.name, file.stat().st_size)
            reports.append(report)
            result = runs[file] = run(file, report)
            changed = (
                before.get(file) != file.read_bytes()
            )  # builds are reproducible: the same bytes give the same pictures
            if len(runs) == 1 and result and (changed or not plot.exists()):
                with working(f"{mechanism.name}: draw {plot}"):
                    draw(result, mechanism, plot)
    first, *others = runs.values()
    for report, other in zip(reports[1:], others, strict=True):
        compare(report, reports[0], other, first)
    for file, report in zip(runs, reports, strict=True):
        with working(f"{file.name}: check"):
            findings, report.applied, report.passed = checked(file)
        report.invalid += [*validate_fmu(str(file)), *findings]
    return reports


def run(file: Path, report: Report) -> Result | None:
    """Simulate an FMU, and check its energy balance."""
    try:
        stop = float(read_description(file).defaultExperiment.stopTime)
        with working(f"{file.name}: simulate", stop) as advance:
            clock = Clock(advance)
            result = simulate_fmu(file, progress=clock)
    except UserError as error:
        report.problems.append(str(error))
        return None
    report.simulated, report.speed = float(result.t[-1]), clock.speed
    report.energy = energy_error(result)
    if report.energy is not None and not report.energy < ENERGY_LIMIT:
        report.problems.append(f"energy balance: error {report.energy:.1e}, allowed {ENERGY_LIMIT:g}")
    return result


@cache
def checker() -> bytes:
    """The source files of the compliance checker."""
    return b"".join(file.read_bytes() for file in sorted((ROOT / "components/mechfmu/check").rglob("*.py")))


def checked(file: Path) -> tuple[list[str], int, int]:
    """Findings of the compliance check, rules that apply, rules that hold; of the last run if nothing has changed.

    The report is kept as a page.
    """
    kept, digest = file.with_suffix(".check.json"), hashlib.sha256(file.read_bytes() + checker()).hexdigest()
    with suppress(OSError, ValueError, KeyError):
        last = json.loads(kept.read_text())
        if last["fmu"] == digest and "--fresh" not in sys.argv[1:]:
            return last["findings"], last["applied"], last["passed"]
    report = check_fmu(file, Options())
    counted = (g for g in report.groups if g.severity != "robustness")
    findings = [*report.bugs, *(f"{g.first.rule} {headline(g)}" for g in counted)]
    outcomes = [report.outcome(r) for r in report.results]
    applied, passed = len(outcomes) - outcomes.count("not run"), outcomes.count("passed")
    kept.with_suffix(".html").write_text(to_html([report], __version__), encoding="utf-8")
    kept.write_text(json.dumps({"fmu": digest, "findings": findings, "applied": applied, "passed": passed}, indent=1))
    return findings, applied, passed


@contextmanager
def working(title: str, stop: float | None = None) -> Iterator[Callable[[float], None]]:
    """Show a bar up to the time `stop`, or a spinner, and then a line with the seconds it took."""
    began = time.monotonic()
    if stop is None:
        with reporter.status(title):
            yield lambda t: None
    else:
        with reporter.bar(title, stop, "s") as advance:
            yield advance
    reporter.info(f"{title}: {time.monotonic() - began:.1f} s")


class Clock:
    """Moves the progress bar of a simulation, and measures from the end of its first step: loading does not count."""

    def __init__(self, advance: Callable[[float], None]):
        self.advance, self.steps = advance, 0
        self.first = self.last = (0.0, 0.0)  # simulated, elapsed

    def __call__(self, t: float) -> None:
        self.last = (t, time.perf_counter())
        if self.steps == 0:
            self.first = self.last
        if self.steps % 20 == 0:
            self.advance(t)
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


def compare(report: Report, first: Report, a: Result | None, b: Result | None) -> None:
    """How far an FMU's run is from that of the mechanism's first FMU."""
    if a is None or b is None:
        return
    if set(a.names) != set(b.names) or a.t.shape != b.t.shape:
        report.problems.append(f"its outputs or times are not those of {first.name}")
        return
    report.agreement = max(float(np.max(np.abs(a[n] - b[n])) / max(1.0, np.max(np.abs(b[n])))) for n in a.names)
    if not report.agreement < AGREEMENT_LIMIT:
        report.problems.append(f"differs from {first.name} by {report.agreement:.1e}, allowed {AGREEMENT_LIMIT:g}")


def draw(result: Result, mechanism: Mechanism, plot: Path) -> None:
    """Draw the moving mechanism and its signals; for a controller, the system that it is part of."""
    signals = beside = None
    if mechanism.key in LOOPS:
        with tempfile.TemporaryDirectory() as folder:
            system = build_builtin(LOOPS[mechanism.key], Path(folder))
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
        "simulated": "failed" if r.simulated is None else f"{r.simulated:g} s",
        "speed": "-" if r.speed is None else f"{r.speed:.0f} x",
        "energy": "-" if r.energy is None else f"{r.energy:.0e}",
        "agreement": "-" if r.agreement is None else f"{r.agreement:.0e}",
    }


def print_summary(reports: list[Report]) -> None:
    """Plain columns, narrower than a table with frames."""
    rows = [{"FMU": r.name, **facts(r)} for r in reports]
    widths = {title: max(len(title), *(len(row[title]) for row in rows)) for title in rows[0]}
    console.print(" ", *(Styled(f"{title:{width + 1}}", "bold") for title, width in widths.items()))
    console.print(" ", "─" * (sum(widths.values()) + len(widths)))
    for r, row in zip(reports, rows, strict=True):
        good = {"valid": not r.invalid, "checked": r.passed == r.applied, "simulated": r.simulated is not None}
        styles = {title: "green" if holds else "red" for title, holds in good.items() if row[title] != "-"}
        console.print(" ", *(Styled(f"{text:{widths[t] + 1}}", styles.get(t, "")) for t, text in row.items()))


if __name__ == "__main__":
    sys.exit(main())
