"""The rules as tests of your own FMU, one test for each rule:

    def test_compliance(fmi_rule):
        fmi_rule.check("out/MyModel.fmu")

pytest loads this module whenever mechfmu is installed, so it imports nothing of the checker before a test asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

IDS = (*(f"S{i}" for i in range(1, 14)), *(f"D{i}" for i in range(1, 13)))


@dataclass(frozen=True)
class FmiRule:
    """One rule, to be checked with an FMU."""

    id: str

    def check(self, fmu: str | Path, level: str = "warning", strict: bool = False, timeout: float = 60.0) -> None:
        """Fail with the findings of this rule; skip, with the reason, where the rule does not apply to this FMU, or
        its binary cannot be run here; strict: the latter fails, too."""
        __tracebackhide__ = True
        from .checker import CannotCheck, Options, check_fmu
        from .isolation import Limits

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
        metafunc.parametrize("fmi_rule", [pytest.param(FmiRule(id), id=id) for id in IDS])
