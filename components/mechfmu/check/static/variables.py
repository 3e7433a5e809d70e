"""S6, S7, S9 and S12: the attributes of each variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..description import INITIAL, ScalarVariable, finite, integer, number, truth
from ..findings import Finding, rule
from .unpacked import UnpackedFmu


@rule("S6", "causality, variability, initial", "2.2.7")
def initial_table(fmu: UnpackedFmu) -> Iterator[Finding]:
    """causality, variability and initial are a combination that the standard's table allows; continuous variables are
    Real; at most one variable is independent."""
    independent: ScalarVariable | None = None
    for v in fmu.description.variables:
        allowed = INITIAL.get((v.causality, v.variability))
        if v.variability == "continuous" and v.type not in ("Real", ""):
            expected = "another variability: only Real variables are continuous"
            implied = "" if "variability" in v.own else ", which is the default"
            problem = f"it is of type {v.type} and continuous{implied}"
            yield v.finding(problem, expected, "continuous-real", cause="continuous")
        elif allowed is None:
            fitting = sorted(b for a, b in INITIAL if a == v.causality)
            if fitting:
                problem = f"causality {v.causality} with variability {v.variability}"
                yield v.finding(problem, f"variability {' or '.join(fitting)}", "combinations")
        elif v.given_initial and v.given_initial not in allowed:
            expected = " or ".join(sorted(allowed)) or "no attribute initial"
            problem = f"initial is {v.given_initial} for a {v.variability} {v.causality}"
            yield v.finding(problem, expected, _initial_sentence(v))
        if v.causality == "independent":
            if independent is not None:
                problem = f'it is independent, and so is "{independent.name}" in line {independent.line}'
                yield v.finding(problem, "one independent variable", "one-independent")
            elif v.type not in ("Real", "") and v.variability != "continuous":
                yield v.finding(f"it is independent and of type {v.type}", "a Real", "independent-real")
            independent = independent or v


def _initial_sentence(v: ScalarVariable) -> str:
    if v.causality in ("input", "independent"):
        return "no-initial"
    special = {"parameter": "parameter-initial", "calculatedParameter": "calculated-initial"}
    return special.get(v.causality, "initial-table")


@rule("S7", "start values and limits", "2.2.7")
def start_values(fmu: UnpackedFmu) -> Iterator[Finding]:
    """A start value is given where it is required (initial exact or approx, input, parameter, constant)
    and not where it is forbidden (initial calculated, independent); min <= start <= max and nominal > 0, with the
    values of the declared type where the variable has none."""
    for name, simple in fmu.description.types.items():
        yield from _type_limits(name, simple)
    for v in fmu.description.variables:
        if not v.type:
            continue
        reason = _reason_for_start(v)
        if reason and v.start is None:
            yield v.finding("it has no start value", f"one, because {reason}", "start-required")
        if v.start is not None and v.causality == "independent":
            yield v.finding("it has a start value", "none, because it is independent", "start-forbidden")
        elif v.start is not None and v.initial == "calculated":
            default = "" if v.given_initial else f", the default of a {v.variability} {v.causality}"
            yield v.finding("it has a start value", f"none, because initial is calculated{default}", "start-forbidden")
        yield from _limits(v)
        yield from _item(fmu, v)


def _type_limits(name: str, simple: Any) -> Iterator[Finding]:
    where, line = f'type "{name}"', simple.sourceline
    low, high, nominal = (finite(simple.get(a)) for a in ("min", "max", "nominal"))
    if low is not None and high is not None and low > high:
        yield Finding(where, f"min is {low:g} and max is {high:g}", "min <= max", "max-min", line=line)
    if nominal is not None and not nominal > 0:
        yield Finding(where, f"nominal is {nominal:g}", "greater than 0", "nominal", line=line)


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
    low, high, start = v.limit("min"), v.limit("max"), finite(v.start)
    if low is not None and high is not None and low > high:
        if "min" in v.attributes or "max" in v.attributes:
            yield v.finding(f"min is {low:g} and max is {high:g}", "min <= max", "max-min")
    elif start is not None and low is not None and start < low:
        yield v.finding(f"start is {start:g}", f"at least its min, {low:g}", "start-limits")
    elif start is not None and high is not None and start > high:
        yield v.finding(f"start is {start:g}", f"at most its max, {high:g}", "start-limits")
    nominal = finite(v.attributes.get("nominal"))
    if nominal is not None and not nominal > 0:
        yield v.finding(f"nominal is {nominal:g}", "greater than 0", "nominal")


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
    """Of the variables with the same value reference, at most one can be set and at most one has a start value, unless
    they are constant; the independent variable is no alias of one that can be set; either all or none are constant, and
    constants are equal; they have the same unit."""
    for alias in fmu.description.alias_sets:
        if any(v.variability == "constant" for v in alias):
            yield from _constant_aliases(alias)
        else:
            yield from _settable_aliases(alias)
        first = alias[0]
        for v in alias[1:]:
            if v.unit != first.unit:
                problem = f'its unit is {_unit(v)}, that of its alias "{first.name}" is {_unit(first)}'
                yield v.finding(problem, "the same unit", "alias-unit", cause="unit")


def _unit(v: ScalarVariable) -> str:
    return "none" if v.unit is None else f'"{v.unit}"'


def _settable_aliases(alias: list[ScalarVariable]) -> Iterator[Finding]:
    expected = "at most one of an alias set"
    settable = [v for v in alias if v.settable]
    independent = [v for v in alias if v.causality == "independent"]
    for v in independent[:1] if settable else ():
        problem = f'it is independent and an alias of "{settable[0].name}", which can be set'
        yield v.finding(problem, "no alias that can be set", "alias-set")
    for v in settable[1:]:
        yield v.finding(f'it can be set, and so can its alias "{settable[0].name}"', expected, "alias-set")
    named = {v.index for v in settable[1:]}
    started = [v for v in alias if v.start is not None and v.index not in named]
    for v in started[1:]:
        if v.initial != "calculated":  # found by S7
            problem = f'it has a start value, and so has its alias "{started[0].name}"'
            yield v.finding(problem, expected, "alias-start")


def _constant_aliases(alias: list[ScalarVariable]) -> Iterator[Finding]:
    constant = next(v for v in alias if v.variability == "constant")
    for v in alias:
        if v.variability != "constant":
            problem = f'it is an alias of the constant "{constant.name}" but not constant'
            yield v.finding(problem, "all constant or none", "alias-constant")
        elif _value(v) != _value(constant):
            problem = f'its start is {v.start}, that of its alias "{constant.name}" is {constant.start}'
            yield v.finding(problem, "equal constants", "alias-constant")


def _value(v: ScalarVariable) -> str | float | bool | None:
    """The start value as its type has it: true and 1 are the same, and so are 1 and 1.0."""
    if v.type == "Boolean":
        return truth(v.start)
    value = None if v.type == "String" else number(v.start)
    return v.start if value is None else value


@rule("S12", "attributes for Model Exchange only", "2.2.7")
def model_exchange_attributes(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Only continuous states of a Model Exchange FMU have reinit, only its inputs
    canHandleMultipleSetPerTimeInstant."""
    d = fmu.description
    exchange = "ModelExchange" in d.interfaces
    for v in d.variables:
        if "reinit" in v.attributes:
            if not exchange:
                problem = "it has reinit, but the FMU has no Model Exchange"
                yield v.finding(problem, "no such attribute", "reinit-exchange")
            elif v.index not in d.state_indices:
                problem = "it has reinit, but is not a continuous state"
                yield v.finding(problem, "reinit only at states", "reinit-state")
        if (attribute := "canHandleMultipleSetPerTimeInstant") in v.own:
            if not exchange:
                problem = f"it has {attribute}, but the FMU has no Model Exchange"
                yield v.finding(problem, "no such attribute", "several-sets-exchange")
            elif v.causality != "input":
                problem = f"it has {attribute}, but is not an input"
                yield v.finding(problem, "the attribute only at inputs", "several-sets-input")
