"""S4 and S5: names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..findings import Finding, rule
from .unpacked import UnpackedFmu

# the grammar of structured names (section 2.2.9)
_QUOTED = r"""'(?:[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+'"""
_PART = rf"(?:[A-Za-z_][A-Za-z0-9_]*|{_QUOTED})(?:\[[0-9]+(?:,[0-9]+)*\])?"
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*"
DERIVATIVE = re.compile(rf"der\(({_IDENTIFIER})(?:,([1-9][0-9]*))?\)")
STRUCTURED = re.compile(rf"{_IDENTIFIER}|{DERIVATIVE.pattern}")


def _repeated(elements: Iterable[Any], what: str, where: str, attribute: str = "name") -> Iterator[Finding]:
    first: dict[str, int] = {}
    for element in elements:
        name = element.get(attribute)
        if name is None:
            continue
        if name in first:
            problem = f"it has the same {attribute} as the one in line {first[name]}"
            yield Finding(f'{what} "{name}"', problem, f"a {attribute} unique {where}", line=element.sourceline)
        first.setdefault(name, element.sourceline)


@rule("S4", "unique names", "2.2")
def unique_names(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Names are unique: variables, types, units, display units of a unit, items of an enumeration, log categories,
    vendor tools, source files; no type has the name of a variable."""
    d = fmu.description
    yield from _repeated(d.all("ModelVariables/ScalarVariable"), "variable", "among the variables")
    yield from _repeated(d.all("TypeDefinitions/SimpleType"), "type", "among the types")
    yield from _repeated(d.all("UnitDefinitions/Unit"), "unit", "among the units")
    for unit in d.all("UnitDefinitions/Unit"):
        yield from _repeated(unit.findall("DisplayUnit"), "display unit", f'within the unit "{unit.get("name")}"')
    for enumeration in d.all("TypeDefinitions/SimpleType/Enumeration"):
        for attribute in ("name", "value"):
            yield from _repeated(enumeration.findall("Item"), "item", "within its enumeration", attribute)
    yield from _repeated(d.all("LogCategories/Category"), "log category", "among the log categories")
    for element in (d.root, *d.all("ModelVariables/ScalarVariable")) if d.root is not None else ():
        tools = (*element.findall("VendorAnnotations/Tool"), *element.findall("Annotations/Tool"))
        yield from _repeated(tools, "tool", "within its annotations")
    for kind in d.interfaces:
        yield from _repeated(d.all(f"{kind}/SourceFiles/File"), "source file", "within SourceFiles")
    variables = {v.name: v.line for v in d.variables}
    for simple in d.all("TypeDefinitions/SimpleType"):
        if (name := simple.get("name")) in variables:
            problem = f"it has the name of the variable in line {variables[name]}"
            yield Finding(f'type "{name}"', problem, "a name that no variable has", line=simple.sourceline)


@rule("S5", "grammar of names", "2.2.9")
def name_grammar(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Structured names follow the grammar, with der(...) of Real variables only; flat names contain no carriage return,
    line feed or tab."""
    d = fmu.description
    structured = d.attribute("variableNamingConvention") == "structured"
    by_name = {v.name: v for v in d.variables}
    for v in d.variables:
        if not v.name:
            yield v.finding("its name is empty", "a name")
        elif structured and not STRUCTURED.fullmatch(v.name):
            problem = "its name does not follow the grammar of structured names"
            yield v.finding(problem, "a name such as a.b[1].c or der(a.b)")
        elif structured and (inner := DERIVATIVE.fullmatch(v.name)):
            base = by_name.get(inner[1])
            for other in (v, base):
                if other is not None and other.type != "Real":
                    problem = f"it is named as a derivative, but {other.name} is of type {other.type}"
                    yield v.finding(problem, "der() of Real variables only")
        elif not structured and any(c in v.name for c in "\r\n\t"):
            yield v.finding("its name has a carriage return, line feed or tab", "a name on one line")
