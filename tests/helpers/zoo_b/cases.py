"""The zoo of test FMUs: two tanks, with one defect each."""

from __future__ import annotations

import re

from . import cases_clean, cases_life, cases_model, cases_static, cases_values
from .case import HERE, Case, build, chosen

__all__ = ["CASES", "Case", "build", "known_defects", "words"]

CASES: list[Case] = [
    *cases_static.CASES,
    *cases_values.CASES,
    *cases_model.CASES,
    *cases_life.CASES,
    *cases_clean.CASES,
]


def known_defects() -> set[str]:
    """The defects, variants and models that the sources know."""
    return set(re.findall(r"X\((\w+)\)", (HERE / "defects.h").read_text())) - {"none"}


def words(case: Case) -> set[str]:
    """The defects, variants and models that a case chooses."""
    return set(chosen(case))
