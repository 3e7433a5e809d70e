"""Two independent sets of test FMUs (helpers/zoo_a, helpers/zoo_b): each defect is found by its rule, with its class,
nothing is found in the clean ones, and other rules do not find a defect.

`python -m helpers.zoo`, in the folder tests, applies all rules to all FMUs; with `--own` each defect meets the rule
that must find it. That takes too long for the test suite: here a part of the FMUs meets some of the rules, and each
rule some of the FMUs. The weekly workflow runs everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.zoo import SETS, SLOW_START, Verdict, check_case
from mechfmu.check.checker import RULES
from mechfmu.check.processes import RuleProcesses

DEFECTS = {
    (name, rule.id): [c for c in cases.CASES if c.rule == rule.id] for name, cases in SETS.items() for rule in RULES
}
OWN = {"S": 3, "D": 20, "R": 10}  # defects of which one is checked by its rule, by the letter of the rule
EVERY = 120  # defects of which one is checked by other rules
SHARE = 16  # rules about the binary of which one is checked on a clean FMU, and on a defect of another rule
CLEAN = 3  # clean FMUs of which one is checked
PARTS = 4  # tests among which long lists are divided
DYNAMIC = [rule.id for rule in RULES if rule.id.startswith("D")]


@pytest.fixture(scope="module")
def processes() -> Iterator[RuleProcesses]:
    with RuleProcesses() as shared:
        yield shared


@pytest.fixture(scope="session")
def folder(fmu_store: Path) -> Path:
    """Where the compiled libraries are, shared by the workers."""
    place = fmu_store.parent / f"{fmu_store.name}_zoo"
    place.mkdir(exist_ok=True)
    return place


def failures(verdicts: list[Verdict]) -> str:
    return "\n".join(v.text for v in verdicts if v.problem)


@pytest.mark.parametrize("name", SETS)
def test_the_lists_and_the_sources_agree(name: str) -> None:
    """Every defect of a case exists in the sources, and every one of the sources has a case."""
    cases = SETS[name].CASES
    used = {word for case in cases for word in SETS[name].words(case)}
    assert used == SETS[name].known_defects()
    assert [n for n, count in Counter(c.name for c in cases).items() if count > 1] == []
    assert {c.cls for c in cases} == {"error", "warning", "robustness", "clean"}
    assert all((c.cls == "clean") == (c.rule == "") for c in cases)
    assert all((c.cls == "robustness") == c.rule.startswith("R") for c in cases)


@pytest.mark.parametrize(("name", "rule"), [key for key, cases in DEFECTS.items() if cases])
def test_a_defect_is_found_by_its_rule(name: str, rule: str, folder: Path, processes: RuleProcesses) -> None:
    cases = DEFECTS[name, rule][:: OWN[rule[0]]]
    assert not failures([check_case(case, folder, processes, (rule,)) for case in cases])


def some_rules(number: int) -> tuple[str, ...]:
    """The rules about the file and some of those about the binary, other ones for each number."""
    return ("S", *DYNAMIC[number % SHARE :: SHARE])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SETS)
def test_nothing_is_found_in_a_clean_unit(name: str, part: int, folder: Path, processes: RuleProcesses) -> None:
    clean = [c for c in SETS[name].CASES if c.cls == "clean"]
    assert len(clean) > 40
    verdicts = [
        check_case(case, folder, processes, some_rules(number))
        for number, case in enumerate(clean)
        if number % (CLEAN * PARTS) == part and case.name not in SLOW_START
    ]
    assert not failures(verdicts)


@pytest.mark.parametrize("name", SETS)
def test_a_unit_that_starts_slowly_is_clean(name: str, folder: Path, processes: RuleProcesses) -> None:
    (case,) = [c for c in SETS[name].CASES if c.name in SLOW_START]
    assert not failures([check_case(case, folder, processes, ("S", "D13"))])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", SETS)
def test_no_unrelated_rule_finds_a_defect(name: str, part: int, folder: Path, processes: RuleProcesses) -> None:
    sample = [c for c in SETS[name].CASES if c.cls != "clean"][::EVERY]
    verdicts = [
        check_case(case, folder, processes, (case.rule, *some_rules(number)))
        for number, case in enumerate(sample)
        if number % PARTS == part
    ]
    assert not failures(verdicts)
