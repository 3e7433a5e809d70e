"""The project's own FMUs, native and Python, pass every rule."""

from __future__ import annotations

import pytest

from helpers.build import Build
from helpers.check_helpers import findings_text
from mechfmu import mechanisms
from mechfmu.check.checker import Options, Report, check_fmu
from mechfmu.check.isolation import Limits
from mechfmu.check.processes import RuleProcesses

pytest_plugins = ("helpers.check_fixtures",)

LIMITS = Limits(60.0, 120.0, random=1000, seed=1)
PYTHON_LIMITS = Limits(60.0, 20.0, random=300, seed=1)  # a call takes ten times as long: shorter runs
ROBUSTNESS = {"native": {("R1", "fmi2SetContinuousStates")}, "python": set()}
"""What the rules R find: native FMUs accept this call in event mode, because OpenModelica makes it (docs/hosts.md)."""
NOT_PYTHON = {"D10", "D14", "D15"}  # a Python FMU is one for Co-Simulation, without derivatives


def passes(report: Report, kind: str) -> None:
    counted = [f for f in report.findings if f.severity != "robustness"]
    assert report.bugs == [] and counted == [], findings_text(report)
    skipped = {r.rule.id for r in report.results if r.skipped}
    assert skipped <= (set() if kind == "native" else NOT_PYTHON)


def test_the_link_chain(fmu: Build, kind: str, processes: RuleProcesses) -> None:
    limits = LIMITS if kind == "native" else PYTHON_LIMITS
    report = check_fmu(fmu(links=10), Options(robustness=True, limits=limits), processes=processes)
    passes(report, kind)
    assert {(f.rule, f.where) for f in report.findings} == ROBUSTNESS[kind], findings_text(report)


OF_THE_LIBRARY = ("S", "D1", "D2", "D3", "D4", "D5", "R1")


@pytest.mark.parametrize("kind", ("python",))
def test_the_link_chain_as_a_python_fmu(fmu: Build, kind: str, processes: RuleProcesses) -> None:
    """Rules about the library that all Python FMUs share; the complete lane applies all rules."""
    options = Options(only=OF_THE_LIBRARY, robustness=True, limits=PYTHON_LIMITS)
    passes(check_fmu(fmu(links=10), options, processes=processes), kind)


@pytest.mark.parametrize("links", (1, 20, 100, 200))
@pytest.mark.parametrize("kind", ("native",))
def test_short_and_long_chains(links: int, fmu: Build, kind: str, processes: RuleProcesses) -> None:
    rules = () if links == 1 else ("S", "D13")
    passes(check_fmu(fmu(links=links), Options(only=rules, limits=LIMITS), processes=processes), kind)


OF_THE_MODEL = {"native": ("S", "D8", "D9", "D10", "D12", "D13"), "python": ("S", "D8", "D12")}
OF_STATES = ("D4", "D6", "D11", "D14")
"""Rules whose outcome depends on the mechanism: the file, values, dependencies, the experiment; and, for those with
dynamics, saved states, step sizes and events. The others test the library, which all FMUs of a kind share;
test_the_link_chain applies them."""
WITH_DYNAMICS = ("exoskeleton", "spherical_arm", "wheeled_cart")


@pytest.mark.parametrize("key", [name for name in mechanisms.names() if name != "link_chain"])
def test_every_other_mechanism(key: str, fmu: Build, kind: str, processes: RuleProcesses) -> None:
    more = OF_STATES if kind == "native" and key in WITH_DYNAMICS else ()
    options = Options(only=(*OF_THE_MODEL[kind], *more), limits=LIMITS)
    passes(check_fmu(fmu(key), options, processes=processes), kind)
