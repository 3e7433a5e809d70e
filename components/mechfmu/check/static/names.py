"""S4 and S5: names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..description import Description, ScalarVariable, integer
from ..findings import Finding, rule
from .unpacked import UnpackedFmu

# The grammar of structured names (section 2.2.9). Its prose allows any characters between apostrophes, its syntax some;
# the wider of both counts, and so do both apostrophes that editions of the standard have printed.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)+'|’(?:[^’\\]|\\.)+’)"""
_INDICES = r"\[[0-9]+(?:,[0-9]+)*\]"
_PART = rf"(?:[A-Za-z_][A-Za-z0-9_]*|{_QUOTED})(?:{_INDICES})?"
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*"
DERIVATIVE = re.compile(rf"der\(({_IDENTIFIER})(?:,([0-9]+))?\)")
STRUCTURED = re.compile(rf"{_IDENTIFIER}|{DERIVATIVE.pattern}")
ELEMENT = re.compile(rf"(.*)({_INDICES})")


def _repeated(
    elements: Iterable[Any], what: str, where: str, sentence: str = "", attribute: str = "name"
) -> Iterator[Finding]:
    first: dict[str | int, int] = {}
    for element in elements:
        text = element.get(attribute)
        if text is None:
            continue
        number = integer(text) if attribute == "value" else None
        key = text if number is None else number
        if key in first:
            problem = f"it has the same {attribute} as the one in line {first[key]}"
            expected = f"a {attribute} unique {where}"
            yield Finding(f'{what} "{text}"', problem, expected, sentence, line=element.sourceline)
        first.setdefault(key, element.sourceline)


@rule("S4", "unique names", "2.2")
def unique_names(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Names are unique: variables, types, units, display units of a unit, items of an enumeration, log categories,
    vendor tools, source files; no type has the name of a variable."""
    d = fmu.description
    yield from _repeated(d.all("ModelVariables/ScalarVariable"), "variable", "among the variables", "variable-unique")
    yield from _repeated(d.all("TypeDefinitions/SimpleType"), "type", "among the types", "type-unique")
    yield from _repeated(d.all("UnitDefinitions/Unit"), "unit", "among the units", "unit-unique")
    for unit in d.all("UnitDefinitions/Unit"):
        within = f'within the unit "{unit.get("name")}"'
        yield from _repeated(unit.findall("DisplayUnit"), "display unit", within, "display-unit-unique")
    for enumeration in d.all("TypeDefinitions/SimpleType/Enumeration"):
        for attribute in ("name", "value"):
            items = enumeration.findall("Item")
            yield from _repeated(items, "item", "within its enumeration", "item-unique", attribute)
    categories = d.all("LogCategories/Category")
    yield from _repeated(categories, "log category", "among the log categories", "category-unique")
    yield from _repeated(d.all("VendorAnnotations/Tool"), "tool", "within VendorAnnotations", "tool-unique")
    for kind in d.interfaces:
        yield from _repeated(d.all(f"{kind}/SourceFiles/File"), "source file", "within SourceFiles")
    variables = {v.name: v.line for v in d.variables}
    for simple in d.all("TypeDefinitions/SimpleType"):
        if (name := simple.get("name")) in variables:
            problem, expected = (
                f"it has the name of the variable in line {variables[name]}",
                "a name that no variable has",
            )
            yield Finding(f'type "{name}"', problem, expected, "type-not-variable", line=simple.sourceline)


@rule("S5", "grammar of names", "2.2.9")
def name_grammar(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Names are not empty; structured names follow the grammar, with der(...) of Real variables only, and the elements
    of an array follow each other; flat names contain no carriage return, line feed or tab."""
    d = fmu.description
    structured = d.attribute("variableNamingConvention") == "structured"
    by_name = {v.name: v for v in d.variables}
    for v in d.variables:
        if not v.name:
            if "name" in v.own:
                yield v.finding("its name is empty", "a name", "names")
        elif structured and not STRUCTURED.fullmatch(v.name):
            problem = "its name does not follow the grammar of structured names"
            yield v.finding(problem, "a name such as a.b[1].c or der(a.b)", "structured-names")
        elif structured and (inner := DERIVATIVE.fullmatch(v.name)):
            yield from _derivative_types(v, by_name.get(inner[1]))
        elif not structured and any(c in v.name for c in "\r\n\t"):
            yield v.finding("its name has a carriage return, line feed or tab", "a name on one line", "flat-names")
    if structured:
        yield from _array_order(d)


def _derivative_types(v: ScalarVariable, base: ScalarVariable | None) -> Iterator[Finding]:
    for other in (v, base):
        if other is not None and other.type not in ("Real", ""):
            problem = f"it is named as a derivative, but {other.name} is of type {other.type}"
            yield v.finding(problem, "der() of Real variables only")


def _array_order(d: Description) -> Iterator[Finding]:
    """Elements of an array in ascending order of their indices, the last index fastest."""
    last: dict[str, tuple[tuple[int, ...], int]] = {}
    for v in d.variables:
        if not v.name.endswith("]") or not (found := ELEMENT.fullmatch(v.name)):
            continue
        array, indices = found[1], tuple(int(i[:20]) for i in found[2][1:-1].split(","))
        before, position = last.get(array, (indices, v.index - 1))
        last[array] = indices, v.index
        if before > indices:
            problem = f"it follows the element {list(before)} of its array"
            yield v.finding(problem, "ascending indices, the last one fastest", "array-order")
        elif position != v.index - 1:
            problem = "other variables are between it and the element before it of its array"
            yield v.finding(problem, "the elements of an array one after another", "array-order")
