"""S8: units and declared types."""

from __future__ import annotations

from collections.abc import Iterator

from ..description import number
from ..findings import Finding, rule
from .unpacked import UnpackedFmu


@rule("S8", "units and types", "2.2.2, 2.2.3, 2.2.7")
def units_and_types(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Every unit in use is declared; a displayUnit needs a unit; factors are not 0; every declaredType exists and has
    the variable's type."""
    d = fmu.description
    for unit in d.all("UnitDefinitions/Unit"):
        for element in (*unit.findall("BaseUnit"), *unit.findall("DisplayUnit")):
            if number(element.get("factor")) == 0:
                where = f'{element.tag} of unit "{unit.get("name")}"'
                yield Finding(where, "its factor is 0", "a factor other than 0", line=element.sourceline)
    for name, simple in d.types.items():
        yield from _units(d.units, f'type "{name}"', simple.get("unit"), simple.get("displayUnit"), simple.sourceline)
    for v in d.variables:
        if {"unit", "displayUnit"} & set(v.attributes):  # those of the type are checked above
            yield from _units(d.units, v.where, v.unit, v.attributes.get("displayUnit"), v.line)
        declared = v.attributes.get("declaredType")
        if declared is None:
            continue
        if declared not in d.types:
            problem = f'its type "{declared}" is not declared'
            yield v.finding(problem, "a SimpleType in TypeDefinitions", "declared-type")
        elif d.types[declared].tag != v.type:
            problem = f'it is {v.type}, but its type "{declared}" is {d.types[declared].tag}'
            yield v.finding(problem, f"a type of kind {v.type}", "enumeration-type" if v.type == "Enumeration" else "")


def _units(
    units: dict[str, set[str]], where: str, unit: str | None, display: str | None, line: int
) -> Iterator[Finding]:
    if unit is not None and unit not in units:
        problem = f'its unit "{unit}" is not declared'
        yield Finding(where, problem, "a Unit in UnitDefinitions", "unit-declared", line=line)
    elif display is not None and unit is None:
        problem = f'it has the displayUnit "{display}" but no unit'
        yield Finding(where, problem, "a unit as well", "display-unit", line=line)
