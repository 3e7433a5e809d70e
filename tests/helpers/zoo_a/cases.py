"""The zoo of test FMUs: a heated room with a thermostat, with one defect each."""

from __future__ import annotations

import re

from . import cases_clean, cases_life, cases_model, cases_package, cases_resources, cases_values
from .case import HERE, Case, build

__all__ = ["CASES", "Case", "build", "known_defects", "words"]

CASES: list[Case] = [
    *cases_package.CASES,
    *cases_life.CASES,
    *cases_values.CASES,
    *cases_model.CASES,
    *cases_resources.CASES,
    *cases_clean.CASES,
]


def known_defects() -> set[str]:
    """The defects and variants that the sources know."""
    found: set[str] = set()
    for source in HERE.glob("unit*.c"):
        found.update(re.findall(r'IS\("(\w+)"\)', source.read_text()))
    return found


def words(case: Case) -> set[str]:
    """The defects and variants that a case chooses."""
    return {case.defect} - {"none"}
