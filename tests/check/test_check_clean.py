"""A correct FMU passes every rule, in all kinds and with and without optional capabilities; every rule runs."""

from __future__ import annotations

import pytest

from helpers.check_helpers import CheckDefect, findings_text
from helpers.check_zoo import CLEAN, MISBEHAVING

pytest_plugins = ("helpers.check_fixtures",)

NOT_RUN = {
    "co-simulation": {"D12", "D14"},
    "model-exchange": {"D11", "D12", "D15", "R3"},
    "no-abilities": {"D6", "D10", "D12"},
    "reference": set(),
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_fmu_gives_no_findings(name: str, check_defect: CheckDefect) -> None:
    report = check_defect(CLEAN[name], robustness=True)
    assert not report.bugs and report.findings == [], findings_text(report)
    assert report.not_judged == []
    assert {r.rule.id for r in report.results if r.skipped} == NOT_RUN.get(name, {"D12"})


def test_failing_signals_have_a_plot(check_defect: CheckDefect) -> None:
    plots = [f.plot for f in check_defect(MISBEHAVING["lost"], "D6").counted if f.plot]
    assert plots and len(plots[0].lines) == 2 and all(len(line) == len(plots[0].t) for line in plots[0].lines.values())
