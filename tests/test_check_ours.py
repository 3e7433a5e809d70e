"""Our own FMUs pass every rule, but for what pythonfmu's library cannot do, which is named."""

from __future__ import annotations

import pytest
from conftest import Build

from mechfmu import mechanisms
from mechfmu.check.checker import Options, Report, check_fmu
from mechfmu.check.isolation import Limits
from mechfmu.check.known import EXCEPTIONS

NAMES = {k.name for k in EXCEPTIONS}


SAME_LIBRARY = ("D4", "D7")  # minutes for a Python FMU, and about pythonfmu's library, which the link chain's FMU has inside, too


def passes(report: Report, kind: str, left_out: tuple[str, ...] = ()) -> None:
    assert report.bugs == [] and report.counted == [], "\n".join([*report.bugs, *(f"{f.rule} {f.text}" for f in report.counted)])
    known = {f.known.split(":")[0] for f in report.findings if f.known}
    assert known == set() if kind == "native" else known <= NAMES and "pythonfmu-guid" in known
    skipped = {r.rule.id for r in report.results if r.skipped} - set(left_out)
    assert skipped == (set() if kind == "native" else {"D10"})  # a Python FMU has no directional derivatives


def test_the_link_chain(fmu: Build, kind: str) -> None:
    passes(check_fmu(fmu(links=10)), kind)


@pytest.mark.slow
@pytest.mark.parametrize("key", [name for name in mechanisms.names() if name != "link_chain"])
def test_every_other_mechanism(key: str, fmu: Build, kind: str) -> None:
    left_out = SAME_LIBRARY if kind == "python" else ()
    passes(check_fmu(fmu(key), Options(skip=left_out, limits=Limits(120.0))), kind, left_out)


@pytest.mark.parametrize("kind", ["native"])  # pythonfmu's library reads arrays without looking for NULL: pythonfmu-null
def test_random_calls_do_no_harm(fmu: Build) -> None:
    report = check_fmu(fmu(links=2), Options(only=("D3",), limits=Limits(30.0, random=4000, seed=1)))
    assert report.counted == [], report.counted[0].text


def test_strict_counts_the_exceptions(fmu: Build, kind: str) -> None:
    report = check_fmu(fmu(links=2), Options(only=("D2",), strict=True))
    assert {f.rule for f in report.counted} == (set() if kind == "native" else {"D2"})
