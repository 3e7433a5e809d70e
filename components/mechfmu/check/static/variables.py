"""S6, S7, S9 and S12: the attributes of each variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..description import INITIAL, ScalarVariable, integer, number, truth
from ..findings import Finding, rule
from .unpacked import UnpackedFmu


@rule("S6", "causality, variability, initial", "2.2.7")
def initial_table(fmu: UnpackedFmu) -> Iterator[Finding]:
    """causality, variability and initial are a combination that the standard's table allows; continuous variables are
    Real; at most one variable is independent, and it is Real."""
    independent: ScalarVariable | None = None
    for v in fmu.description.variables:
        allowed = INITIAL.get((v.causality, v.variability))
        if v.variability == "continuous" and v.type not in ("Real", ""):
            expected = "another variability: only Real variables are continuous"
            yield v.finding(f"it is of type {v.type} and continuous", expected)
        elif allowed is None:
            fitting = sorted(b for a, b in INITIAL if a == v.causality)
            if fitting:
                problem = f"causality {v.causality} with variability {v.variability}"
                yield v.finding(problem, f"variability {' or '.join(fitting)}")
        elif v.given_initial and v.given_initial not in allowed:
            expected = " or ".join(sorted(allowed)) or "no attribute initial"
            yield v.finding(f"initial is {v.given_initial} for a {v.variability} {v.causality}", expected)
        if v.causality == "independent":
            if independent is not None:
                problem = f'it is independent, and so is "{independent.name}" in line {independent.line}'
                yield v.finding(problem, "one independent variable")
            independent = independent or v


@rule("S7", "start values and limits", "2.2.7")
def start_values(fmu: UnpackedFmu) -> Iterator[Finding]:
    """A start value is given where it is required (initial exact or approx, input, parameter, constant)
    and not where it is forbidden (initial calculated, independent); min <= start <= max, with the limits
    of the declared type where the variable has none."""
    for name, simple in fmu.description.types.items():
        low, high = number(simple.get("min")), number(simple.get("max"))
        if low is not None and high is not None and low > high:
            yield Finding(f'type "{name}"', f"min is {low:g} and max is {high:g}", "min <= max", line=simple.sourceline)
    for v in fmu.description.variables:
        if not v.type:
            continue
        reason = _reason_for_start(v)
        if reason and v.start is None:
            yield v.finding("it has no start value", f"one, because {reason}")
        if v.start is not None and (v.causality == "independent" or v.initial == "calculated"):
            reason = "it is independent" if v.causality == "independent" else "initial is calculated"
            yield v.finding("it has a start value", f"none, because {reason}")
        yield from _limits(v)
        yield from _item(fmu, v)


def _reason_for_start(v: ScalarVariable) -> str:
    """Why the variable needs a start value, or ""."""
    if v.initial in ("exact", "approx"):
        return f"initial is {v.initial}"
    if v.variability == "constant":
        return "it is constant"
    return f"it is {v.causality}" if v.causality in ("input", "parameter") else ""


def _limits(v: ScalarVariable) -> Iterator[Finding]:
    if v.type not in ("Real", "Integer", "Enumeration"):
        return
    low, high, start = v.limit("min"), v.limit("max"), number(v.start)
    if low is not None and high is not None and low > high:
        if "min" in v.attributes or "max" in v.attributes:
            yield v.finding(f"min is {low:g} and max is {high:g}", "min <= max")
    elif start is not None and low is not None and start < low:
        yield v.finding(f"start is {start:g}", f"at least its min, {low:g}")
    elif start is not None and high is not None and start > high:
        yield v.finding(f"start is {start:g}", f"at most its max, {high:g}")
    nominal = v.limit("nominal")
    if nominal is not None and not nominal > 0:
        yield v.finding(f"nominal is {nominal:g}", "greater than 0")


def _item(fmu: UnpackedFmu, v: ScalarVariable) -> Iterator[Finding]:
    """The start of an enumeration is one of its items."""
    if v.type != "Enumeration" or (start := integer(v.start)) is None:
        return
    declared = fmu.description.types.get(v.attributes.get("declaredType", ""))
    items = [integer(i.get("value")) for i in declared.findall("Item")] if declared is not None else []
    if items and start not in items:
        yield v.finding(f"start is {start}", f"an item of its type: {', '.join(map(str, items[:10]))}")


@rule("S9", "aliases", "2.2.7")
def aliases(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Of the variables with the same value reference, at most one can be set and at most one has
    a start value; either all or none are constant, and constants are equal; they have the same
    unit; the independent variable has no alias."""
    sets: dict[tuple[str, int], list[ScalarVariable]] = defaultdict(list)
    for v in fmu.description.variables:
        if v.reference is not None and v.type:
            sets["Integer" if v.type == "Enumeration" else v.type, v.reference].append(v)
    for alias in sets.values():
        if len(alias) > 1:
            yield from _alias_set(alias)


def _alias_set(alias: list[ScalarVariable]) -> Iterator[Finding]:
    first = alias[0]
    for v in alias:
        if v.causality == "independent":
            other = next(w for w in alias if w is not v)
            yield v.finding(f'it has the value reference of "{other.name}"', "no alias of the independent variable")
    if any(v.variability == "constant" for v in alias):
        yield from _constant_aliases(alias)
    else:
        expected = "at most one of an alias set"
        settable = [v for v in alias if v.causality in ("input", "parameter")]
        for v in settable[1:]:
            yield v.finding(f'it can be set, and so can its alias "{settable[0].name}"', expected)
        started = [v for v in alias if v.start is not None and v not in settable[1:]]
        for v in started[1:]:
            yield v.finding(f'it has a start value, and so has its alias "{started[0].name}"', expected)
    for v in alias[1:]:
        if v.unit != first.unit:
            problem = f'its unit is {v.unit}, that of its alias "{first.name}" is {first.unit}'
            yield v.finding(problem, "the same unit")


def _constant_aliases(alias: list[ScalarVariable]) -> Iterator[Finding]:
    constant = next(v for v in alias if v.variability == "constant")
    for v in alias:
        if v.variability != "constant":
            problem = f'it is an alias of the constant "{constant.name}" but not constant'
            yield v.finding(problem, "all constant or none")
        elif v.start != constant.start and number(v.start) != number(constant.start):
            problem = f'its start is {v.start}, that of its alias "{constant.name}" is {constant.start}'
            yield v.finding(problem, "equal constants")


@rule("S12", "attributes for Model Exchange only", "2.2.7")
def model_exchange_attributes(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Only continuous states of a Model Exchange FMU have reinit, only its inputs
    canHandleMultipleSetPerTimeInstant."""
    d = fmu.description
    exchange = "ModelExchange" in d.interfaces
    for v in d.variables:
        if truth(v.attributes.get("reinit")):
            if not exchange:
                yield v.finding("it has reinit, but the FMU has no Model Exchange", "no reinit")
            elif v.index not in d.state_indices:
                yield v.finding("it has reinit, but is not a continuous state", "reinit only at states")
        if (attribute := "canHandleMultipleSetPerTimeInstant") in v.own:
            if not exchange:
                yield v.finding(f"it has {attribute}, but the FMU has no Model Exchange", "no such attribute")
            elif v.causality != "input":
                yield v.finding(f"it has {attribute}, but is not an input", "the attribute only at inputs")
