"""S2 and S3: the XML document as a whole; version, interface types and identifiers of the FMU."""

from __future__ import annotations

import copy
import importlib.util
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from ..description import MOST_EVENT_INDICATORS, Description, integer, number, unsigned
from ..findings import Finding, rule
from .unpacked import UnpackedFmu

C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LOCATED_ERRORS = 300  # of the schema that get a line number, which takes time in proportion to the size of the file
LIST_LENGTH = 2000  # elements of each list that are validated when there are more errors than that
SPECIAL = ("INF", "-INF", "NaN")  # the spellings that the schema allows
VALUES = ("start", "min", "max", "nominal")
# numbers that no FMU needs but importers allocate memory for
HIGHEST_OUTPUT_DERIVATIVE = 100


@cache
def _schema() -> etree.XMLSchema:
    spec = importlib.util.find_spec("fmpy")
    assert spec is not None and spec.origin is not None
    return etree.XMLSchema(etree.parse(str(Path(spec.origin).parent / "schema" / "fmi2" / "fmi2ModelDescription.xsd")))


@rule("S2", "XML schema", "2.2")
def schema(fmu: UnpackedFmu) -> Iterator[Finding]:
    """modelDescription.xml is well-formed UTF-8 and says so, has no document type and is valid against the schema of
    FMI 2.0; its numbers are finite and of a reasonable size."""
    d = fmu.description
    fmu.not_judged.extend(d.not_judged)
    yield from d.problems
    if d.root is None:
        return
    for message, element, line in _schema_errors(d.root):
        if "attribute 'fmiVersion'" not in message:  # checked by S3
            problem = re.sub(r"\{[^}]*\}", "", message).rstrip(".")
            yield Finding(f"element {element}", problem, "what the schema of FMI 2.0 allows", "schema", line=line)
    yield from _numbers(d)
    yield from _counts(d)


def _schema_errors(root: Any) -> Iterator[tuple[str, str, int | None]]:
    """(message, element, line) of each violation of the schema."""
    parser = etree.XMLParser(schema=_schema(), resolve_entities=False, no_network=True, huge_tree=True)
    try:
        etree.fromstring(etree.tostring(root), parser)
        return
    except etree.XMLSyntaxError:
        messages = [e.message for e in parser.error_log]
    if len(messages) > LOCATED_ERRORS:
        root = _shortened(root)
    located = 0
    if not _schema().validate(root):
        for error in list(_schema().error_log)[:LOCATED_ERRORS]:
            located += 1
            yield error.message, (error.path or "fmiModelDescription").rsplit("/", 1)[-1], error.line or None
    for message in messages[located:]:
        name = re.match(r"Element '([^']*)'", message)
        yield message, name[1] if name else "fmiModelDescription", None


def _shortened(root: Any) -> Any:
    """A copy with the beginning of each list."""
    short = copy.copy(root)
    for child in short:
        for elements in (child, *child):
            for element in elements[LIST_LENGTH:]:
                elements.remove(element)
    return short


def _numbers(d: Description) -> Iterator[Finding]:
    """Numbers that are not finite."""
    for v in d.variables:
        if v.type == "Real":
            yield from _finite(v.attributes, VALUES, v.where, v.line)
    for name, simple in d.types.items():
        if simple.tag == "Real":
            yield from _finite(dict(simple.attrib), VALUES, f'type "{name}"', simple.sourceline)
    for unit in d.all("UnitDefinitions/Unit"):
        for element in (*unit.findall("BaseUnit"), *unit.findall("DisplayUnit")):
            where = f'{element.tag} of unit "{unit.get("name")}"'
            yield from _finite(dict(element.attrib), ("factor", "offset"), where, element.sourceline)


def _finite(attributes: dict[str, str], names: tuple[str, ...], where: str, line: int) -> Iterator[Finding]:
    for name in names:
        text = attributes.get(name)
        value = number(text)
        if text is None or value is None or math.isfinite(value):
            continue
        if text.strip() in SPECIAL:
            yield Finding(where, f"its {name} is {text.strip()}", "a finite number", "special-values", line=line)
        else:
            problem = f"its {name} {text.strip()[:30]} is too large for a double"
            yield Finding(where, problem, "a number up to 1.8e308", "double", line=line)


def _counts(d: Description) -> Iterator[Finding]:
    """Counts that are valid numbers but absurd."""
    indicators = unsigned(d.attribute("numberOfEventIndicators")) or 0
    if "ModelExchange" in d.interfaces and indicators > MOST_EVENT_INDICATORS:
        problem = f"numberOfEventIndicators is {indicators}"
        expected = "a number that importers can allocate memory for"
        yield Finding("fmiModelDescription", problem, expected, line=d.root.sourceline)
    for element in d.all("CoSimulation")[:1]:
        order = integer(element.get("maxOutputDerivativeOrder")) or 0
        if order > HIGHEST_OUTPUT_DERIVATIVE:
            problem = f"maxOutputDerivativeOrder is {order}"
            yield Finding("CoSimulation", problem, "the order that the FMU can provide", line=element.sourceline)


@rule("S3", "version, interface types, identifiers", "2.1.1, 2.2.1, 3.3.1, 4.3.1")
def identity(fmu: UnpackedFmu) -> Iterator[Finding]:
    """fmiVersion is 2.0; there is ModelExchange or CoSimulation; modelIdentifier is a C identifier; the guid is not
    empty."""
    root = fmu.description.root
    if root is None:
        return
    top, line = "fmiModelDescription", root.sourceline
    if root.tag != top:
        yield Finding(f"element {root.tag}", "it is the top element", top, "schema", line=line)
        return
    version = root.get("fmiVersion")
    if version != "2.0":
        yield Finding(top, f"fmiVersion is {version!r}", "2.0", "fmi-version", line=line)
    if not fmu.description.interfaces:
        problem = "there is neither ModelExchange nor CoSimulation"
        yield Finding(top, problem, "at least one of them", "interface-types", line=line)
    for kind, element in fmu.description.interfaces.items():
        identifier = element.get("modelIdentifier") or ""
        if not C_IDENTIFIER.fullmatch(identifier):
            problem = f'modelIdentifier is "{identifier}"'
            expected = "a C identifier: letters, digits and _, not a digit first"
            yield Finding(kind, problem, expected, "c-identifier", line=element.sourceline)
    if root.get("guid") is not None and not root.get("guid").strip():
        expected = "a string by which importers tell whether the model description belongs to the binary"
        yield Finding(top, "the guid is empty", expected, line=line)
