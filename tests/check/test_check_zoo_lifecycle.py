"""Rules D1-D4 (loading, logging, states, values): each catches its defects, and no other rule does."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.check_helpers import caught, check_defect, findings_text
from helpers.check_zoo import DEFECTS, Defect


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("zoo")


@pytest.mark.parametrize(
    "defect", [d for d in DEFECTS if d.rule in ("D1", "D2", "D3", "D4")], ids=lambda d: f"{d.rule}-{d.name}"
)
def test_a_defect_is_caught_by_its_rule_alone(defect: Defect, folder: Path) -> None:
    report = check_defect(folder, defect)
    assert caught(report) == {defect.rule}, findings_text(report)
