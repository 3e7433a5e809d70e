"""S6, S7, S9 and S12: what is said about each variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..description import INITIAL, Variable, integer, number, truth
from ..findings import Finding, rule
from .package import Package


@rule("S6", "causality, variability, initial", "2.2.7")
def initial_table(fmu: Package) -> Iterator[Finding]:
    """causality, variability and initial stand in the standard's table; continuous variables are Real; at most one variable is independent,
    and it is Real."""
    independent: Variable | None = None
    for v in fmu.description.variables:
        allowed = INITIAL.get((v.causality, v.variability))
        if v.variability == "continuous" and v.type not in ("Real", ""):
            yield Finding(
                v.where,
                f"it is of type {v.type} and continuous",
                "another variability: only Real variables are continuous",
                line=v.line,
            )
        elif allowed is None:
            fitting = sorted(b for a, b in INITIAL if a == v.causality)
            if fitting:
                yield Finding(
                    v.where,
                    f"causality {v.causality} with variability {v.variability}",
                    f"variability {' or '.join(fitting)}",
                    line=v.line,
                )
        elif v.given_initial and v.given_initial not in allowed:
            expected = " or ".join(sorted(allowed)) or "no attribute initial"
            yield Finding(
                v.where, f"initial is {v.given_initial} for a {v.variability} {v.causality}", expected, line=v.line
            )
        if v.causality == "independent":
            if independent is not None:
                yield Finding(
                    v.where,
                    f'it is independent, and so is "{independent.name}" in line {independent.line}',
                    "one independent variable",
                    line=v.line,
                )
            independent = independent or v


@rule("S7", "start values and limits", "2.2.7")
def start_values(fmu: Package) -> Iterator[Finding]:
    """A start value is there when it is required (initial exact or approx, input, parameter, constant) and not when it is forbidden (initial calculated,
    independent); min <= start <= max, with the limits of the declared type where the variable has none."""
    for name, simple in fmu.description.types.items():
        low, high = number(simple.get("min")), number(simple.get("max"))
        if low is not None and high is not None and low > high:
            yield Finding(f'type "{name}"', f"min is {low:g} and max is {high:g}", "min <= max", line=simple.sourceline)
    for v in fmu.description.variables:
        if not v.type:
            continue
        needed = (
            v.initial in ("exact", "approx") or v.causality in ("input", "parameter") or v.variability == "constant"
        )
        if needed and v.start is None:
            why = (
                f"initial is {v.initial}"
                if v.initial in ("exact", "approx")
                else f"it is {v.variability if v.variability == 'constant' else v.causality}"
            )
            yield Finding(v.where, "it has no start value", f"one, because {why}", line=v.line)
        if v.start is not None and (v.causality == "independent" or v.initial == "calculated"):
            why = "it is independent" if v.causality == "independent" else "initial is calculated"
            yield Finding(v.where, "it has a start value", f"none, because {why}", line=v.line)
        yield from _limits(v)
        yield from _item(fmu, v)


def _limits(v: Variable) -> Iterator[Finding]:
    if v.type not in ("Real", "Integer", "Enumeration"):
        return
    low, high, start = v.limit("min"), v.limit("max"), number(v.start)
    if low is not None and high is not None and low > high:
        if "min" in v.attributes or "max" in v.attributes:
            yield Finding(v.where, f"min is {low:g} and max is {high:g}", "min <= max", line=v.line)
    elif start is not None and low is not None and start < low:
        yield Finding(v.where, f"start is {start:g}", f"at least its min, {low:g}", line=v.line)
    elif start is not None and high is not None and start > high:
        yield Finding(v.where, f"start is {start:g}", f"at most its max, {high:g}", line=v.line)
    nominal = v.limit("nominal")
    if nominal is not None and not nominal > 0:
        yield Finding(v.where, f"nominal is {nominal:g}", "greater than 0", line=v.line)


def _item(fmu: Package, v: Variable) -> Iterator[Finding]:
    """The start of an enumeration is one of its items."""
    if v.type != "Enumeration" or (start := integer(v.start)) is None:
        return
    declared = fmu.description.types.get(v.attributes.get("declaredType", ""))
    items = [integer(i.get("value")) for i in declared.findall("Item")] if declared is not None else []
    if items and start not in items:
        yield Finding(
            v.where, f"start is {start}", f"an item of its type: {', '.join(map(str, items[:10]))}", line=v.line
        )


@rule("S9", "aliases", "2.2.7")
def aliases(fmu: Package) -> Iterator[Finding]:
    """Of the variables with one value reference at most one can be set and at most one has a start value; constants among them are all constant and
    equal; they have the same unit; the independent variable has no alias."""
    sets: dict[tuple[str, int], list[Variable]] = defaultdict(list)
    for v in fmu.description.variables:
        if v.reference is not None and v.type:
            sets["Integer" if v.type == "Enumeration" else v.type, v.reference].append(v)
    for alias in sets.values():
        if len(alias) > 1:
            yield from _alias_set(alias)


def _alias_set(alias: list[Variable]) -> Iterator[Finding]:
    first = alias[0]
    constants = [v for v in alias if v.variability == "constant"]
    for v in alias:
        if v.causality == "independent":
            other = next(w for w in alias if w is not v)
            yield Finding(
                v.where,
                f'it has the value reference of "{other.name}"',
                "no alias of the independent variable",
                line=v.line,
            )
    if constants:
        for v in alias:
            if v not in constants:
                yield Finding(
                    v.where,
                    f'it is an alias of the constant "{constants[0].name}" but not constant',
                    "all constant or none",
                    line=v.line,
                )
            elif v.start != constants[0].start and number(v.start) != number(constants[0].start):
                yield Finding(
                    v.where,
                    f'its start is {v.start}, that of its alias "{constants[0].name}" is {constants[0].start}',
                    "equal constants",
                    line=v.line,
                )
    else:
        settable = [v for v in alias if v.causality in ("input", "parameter")]
        for v in settable[1:]:
            yield Finding(
                v.where,
                f'it can be set, and so can its alias "{settable[0].name}"',
                "at most one of an alias set",
                line=v.line,
            )
        started = [v for v in alias if v.start is not None and v not in settable[1:]]
        for v in started[1:]:
            yield Finding(
                v.where,
                f'it has a start value, and so has its alias "{started[0].name}"',
                "at most one of an alias set",
                line=v.line,
            )
    for v in alias[1:]:
        if v.unit != first.unit:
            yield Finding(
                v.where,
                f'its unit is {v.unit}, that of its alias "{first.name}" is {first.unit}',
                "the same unit",
                line=v.line,
            )


@rule("S12", "attributes for Model Exchange only", "2.2.7")
def model_exchange_attributes(fmu: Package) -> Iterator[Finding]:
    """reinit stands only at continuous states of a Model Exchange FMU, canHandleMultipleSetPerTimeInstant only at inputs of one."""
    d = fmu.description
    exchange = "ModelExchange" in d.interfaces
    for v in d.variables:
        if truth(v.attributes.get("reinit")):
            if not exchange:
                yield Finding(v.where, "it has reinit, but the FMU has no Model Exchange", "no reinit", line=v.line)
            elif v.index not in d.state_indices:
                yield Finding(
                    v.where, "it has reinit, but is no continuous state", "reinit only at states", line=v.line
                )
        if "canHandleMultipleSetPerTimeInstant" in v.own:
            if not exchange:
                yield Finding(
                    v.where,
                    "it has canHandleMultipleSetPerTimeInstant, but the FMU has no Model Exchange",
                    "no such attribute",
                    line=v.line,
                )
            elif v.causality != "input":
                yield Finding(
                    v.where,
                    "it has canHandleMultipleSetPerTimeInstant, but is not an input",
                    "the attribute only at inputs",
                    line=v.line,
                )
