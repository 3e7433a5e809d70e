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

from .checker import RULES, CannotCheck, Options, check_fmu
from .isolation import Limits


@dataclass(frozen=True)
class FmiRule:
    """One rule, to be checked with an FMU."""

    id: str

    def check(self, fmu: str | Path, level: str = "warning", strict: bool = False, timeout: float = 60.0) -> None:
        """Fail with the findings of this rule. Skip, with the reason, if the rule does not apply to this FMU or its
        binary cannot be run here; with strict, the latter fails."""
        __tracebackhide__ = True
        try:
            report = check_fmu(fmu, Options(only=(self.id,), level=level, strict=strict, limits=Limits(timeout)))
        except CannotCheck as error:
            pytest.fail(str(error), pytrace=False)
        (result,) = report.results
        problems = [f"{f.rule} {f.severity}: {f.text} (FMI 2.0, section {result.rule.section})" for f in report.counted]
        if report.exit_status:
            pytest.fail("\n".join([*problems, *report.bugs]) or f"{self.id}: {result.skipped}", pytrace=False)
        if result.skipped:
            pytest.skip(f"{self.id}: {result.skipped}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fmi_rule" in metafunc.fixturenames:
        metafunc.parametrize("fmi_rule", [pytest.param(FmiRule(r.id), id=r.id) for r in RULES])
