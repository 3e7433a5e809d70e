"""The project's own FMUs, native and Python, pass every rule."""

from __future__ import annotations

import pytest

from helpers.build import Build
from mechfmu import mechanisms
from mechfmu.check.checker import Options, Report, check_fmu
from mechfmu.check.isolation import Limits


def passes(report: Report, kind: str) -> None:
    problems = [*report.bugs, *(f"{f.rule} {f.text}" for f in report.counted)]
    assert problems == []
    skipped = {r.rule.id for r in report.results if r.skipped}
    assert skipped == (set() if kind == "native" else {"D10"})  # a Python FMU has no directional derivatives


def test_the_link_chain(fmu: Build, kind: str) -> None:
    passes(check_fmu(fmu(links=10)), kind)


OF_THE_MODEL = ("S", "D6", "D8", "D9", "D12")
"""Rules whose outcome depends on the mechanism: the file, saved states, start values, dependencies, reference result.
The others test the library, which all Python FMUs share; test_the_link_chain applies them."""


@pytest.mark.slow
@pytest.mark.parametrize("key", [name for name in mechanisms.names() if name != "link_chain"])
def test_every_other_mechanism(key: str, fmu: Build, kind: str) -> None:
    limits = Limits(120.0)
    if kind == "native":
        passes(check_fmu(fmu(key), Options(limits=limits)), kind)
    else:
        report = check_fmu(fmu(key), Options(only=OF_THE_MODEL, limits=limits))
        assert [*report.bugs, *(f"{f.rule} {f.text}" for f in report.counted)] == []


def test_random_calls_do_no_harm(fmu: Build) -> None:
    report = check_fmu(fmu(links=2), Options(only=("D3",), limits=Limits(30.0, random=4000, seed=1)))
    assert report.counted == [], report.counted[0].text
