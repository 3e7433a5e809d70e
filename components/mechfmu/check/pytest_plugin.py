"""The rules as tests of your own FMU, one test for each rule:

    def test_compliance(fmi_rule):
        fmi_rule.check("out/MyModel.fmu")

To load this plugin, run `pytest -p mechfmu.check.pytest_plugin`, or put this
line into the conftest.py of the root folder:

    pytest_plugins = ["mechfmu.check.pytest_plugin"]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from .baseline import read_baseline
from .checker import RULES, CannotCheck, Options, check_fmu
from .isolation import Limits
from .report.texts import details, headline


@dataclass(frozen=True)
class FmiRule:
    """One rule, to be checked with an FMU."""

    id: str

    def check(
        self,
        fmu: str | Path,
        strict: bool = False,
        baseline: str | Path | None = None,
        call_timeout: float = 30.0,
        time_budget: float = 60.0,
    ) -> None:
        """Fail with the errors and warnings of this rule that the baseline does not have. Skip, with the reason, if the
        rule does not apply to this FMU or its binary cannot be run here; with strict, the latter fails."""
        __tracebackhide__ = True
        limits = Limits(call_timeout, time_budget)
        try:
            accepted = read_baseline(Path(baseline)) if baseline else None
            report = check_fmu(fmu, Options(only=(self.id,), strict=strict, limits=limits, baseline=accepted))
        except CannotCheck as error:
            pytest.fail(str(error), pytrace=False)
        (result,) = report.results
        if report.exit_status:
            lines = [t for g in report.groups for t in (f"{g.first.rule} {g.severity}: {headline(g)}", *details(g))]
            pytest.fail("\n".join([*lines, *report.bugs]) or f"{self.id}: {result.skipped}", pytrace=False)
        if result.skipped:
            pytest.skip(f"{self.id}: {result.skipped}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each rule whose findings count; those about robustness do not."""
    if "fmi_rule" in metafunc.fixturenames:
        rules = [r for r in RULES if not r.robustness]
        metafunc.parametrize("fmi_rule", [pytest.param(FmiRule(r.id), id=r.id) for r in rules])
