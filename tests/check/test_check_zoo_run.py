"""Rules D5-D12 (steps, FMU states, equations, results): each catches its defects and no others; clean FMUs pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.check_helpers import caught, check_defect, findings_text
from helpers.check_zoo import CLEAN, DEFECTS, Defect

LATE = [d for d in DEFECTS if d.rule in {f"D{i}" for i in range(5, 13)}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("zoo")


@pytest.mark.parametrize("defect", LATE, ids=lambda d: f"{d.rule}-{d.name}")
def test_a_defect_is_caught_by_its_rule_alone(defect: Defect, folder: Path) -> None:
    report = check_defect(folder, defect)
    assert caught(report) == {defect.rule}, findings_text(report)


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_fmu_gives_no_findings(name: str, folder: Path) -> None:
    report = check_defect(folder, CLEAN[name])
    assert caught(report) == set(), findings_text(report)
    skipped = {r.rule.id for r in report.results if r.skipped}
    expected = {"D12"} if name != "reference" else set()
    expected |= {"model-exchange": {"D5", "D11"}, "no-abilities": {"D6", "D10"}}.get(name, set())
    assert skipped == expected


def test_failing_signals_have_a_plot(folder: Path) -> None:
    lost = next(d for d in LATE if d.name == "lost")
    plots = [f.plot for f in check_defect(folder, lost, only=("D6",)).counted if f.plot]
    assert plots and len(plots[0].lines) == 2 and all(len(line) == len(plots[0].t) for line in plots[0].lines.values())
