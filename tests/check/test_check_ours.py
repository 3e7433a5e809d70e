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
ON_PURPOSE = {"fmi2SetContinuousStates"}
"""Functions that our native FMUs accept in a state in which they are not allowed (R1), for the sake of hosts that make
the call: OpenModelica sets the states in event mode. See docs/hosts.md."""
NOT_PYTHON = {"D10", "D14", "D15"}  # a Python FMU is one for Co-Simulation, without derivatives


def passes(report: Report, kind: str) -> None:
    assert report.bugs == [] and report.findings == [], findings_text(report)
    skipped = {r.rule.id for r in report.results if r.skipped}
    assert skipped <= (set() if kind == "native" else NOT_PYTHON)


def test_the_link_chain(fmu: Build, kind: str, processes: RuleProcesses) -> None:
    report = check_fmu(fmu(links=10), Options(robustness=True, limits=LIMITS), processes=processes)
    for result in report.results:
        if result.rule.id == "R1":
            result.findings = [f for f in result.findings if f.where not in ON_PURPOSE]
    passes(report, kind)


@pytest.mark.parametrize("links", (1, 20, 100, 200))
@pytest.mark.parametrize("kind", ("native",))
def test_short_and_long_chains(links: int, fmu: Build, kind: str, processes: RuleProcesses) -> None:
    rules = () if links == 1 else ("S", "D13")
    passes(check_fmu(fmu(links=links), Options(only=rules, limits=LIMITS), processes=processes), kind)


OF_THE_MODEL = {
    "native": ("S", "D4", "D6", "D8", "D9", "D10", "D11", "D12", "D13", "D14"),
    "python": ("S", "D8", "D12"),
}
"""Rules whose outcome depends on the mechanism: the file, values, saved states, dependencies, the experiment, events.
The others test the library, which all FMUs of a kind share; test_the_link_chain applies them."""


@pytest.mark.parametrize("key", [name for name in mechanisms.names() if name != "link_chain"])
def test_every_other_mechanism(key: str, fmu: Build, kind: str, processes: RuleProcesses) -> None:
    passes(check_fmu(fmu(key), Options(only=OF_THE_MODEL[kind], limits=LIMITS), processes=processes), kind)
