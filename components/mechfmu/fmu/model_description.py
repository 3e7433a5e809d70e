"""modelDescription.xml (FMI 2.0), from the table of variables and the dependencies."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from .. import RELEASED, __version__
from ..codegen.c_model import projects
from ..model import Mechanism
from ..model.units import unit as unit_of
from ..model.variables import Role, Row, Table
from .dependencies import Dependencies
from .licenses import is_builtin

CAUSALITY = {
    "parameter": dict(causality="parameter", variability="fixed", initial="exact"),
    "constant": dict(causality="local", variability="constant", initial="exact"),
    "input": dict(causality="input", variability="continuous"),
    # computed from the parameters; its start value is for importers that read it from the description
    "state": dict(causality="output", variability="continuous", initial="approx"),
    "discrete": dict(causality="output", variability="discrete", initial="calculated"),
    "output": dict(causality="output", variability="continuous", initial="calculated"),
    "derivative": dict(causality="local", variability="continuous", initial="calculated"),
}
OUTPUT_ROLES: tuple[Role, ...] = ("state", "discrete", "output")


@dataclass(frozen=True)
class Interface:
    """One of the FMU's interface types: its capability flags, and its C files when they are included."""

    attributes: Mapping[str, str]
    sources: Sequence[str] = ()


def model_description(
    mechanism: Mechanism,
    interfaces: Mapping[str, Interface],
    categories: Mapping[str, str],
    starts: Mapping[str, float],
    dependencies: Dependencies,
    content: str,
    tolerance: float = 1e-6,
) -> bytes:
    """Return the XML file.

    interfaces  ModelExchange and CoSimulation, in this order
    categories  log categories and their descriptions
    starts      start values that differ from the table's
    content     a digest of everything else in the FMU; the GUID is computed from it and the XML
    """
    root = _root(mechanism)
    for element, interface in interfaces.items():
        _interface(root, element, interface)
    used = sorted({s.unit for s in mechanism.table.scalars if s.unit != "1"})
    _units(SubElement(root, "UnitDefinitions"), used)
    _types(SubElement(root, "TypeDefinitions"), used)
    log = SubElement(root, "LogCategories")
    for name, text in categories.items():
        SubElement(log, "Category", dict(name=name, description=text))
    experiment = dict(startTime="0", stopTime=f"{mechanism.stop_time:g}", tolerance=f"{tolerance:g}")
    SubElement(root, "DefaultExperiment", dict(**experiment, stepSize=f"{mechanism.step_size:g}"))
    reinit = "ModelExchange" in interfaces and (bool(mechanism.event_names) or projects(mechanism))
    _variables(SubElement(root, "ModelVariables"), mechanism, starts, reinit)
    _structure(SubElement(root, "ModelStructure"), mechanism.table, dependencies)
    digest = hashlib.sha256(ElementTree.tostring(root) + content.encode()).digest()
    root.set("guid", f"{{{uuid.UUID(bytes=digest[:16])}}}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"


def guid_of(description: bytes) -> str:
    """Return the GUID in a file of `model_description`."""
    guid = re.search(rb'guid="([^"]+)"', description)
    assert guid is not None
    return guid[1].decode()


def _root(mechanism: Mechanism) -> Element:
    attributes = dict(
        fmiVersion="2.0",
        modelName=mechanism.name,
        guid="",
        description=mechanism.title,
        version=__version__,
        author="mechfmu",
        generationTool=f"mechfmu {__version__}",
        generationDateAndTime=RELEASED,
        **({"license": "BSD-3-Clause"} if is_builtin(mechanism) else {}),
        variableNamingConvention="structured",
        numberOfEventIndicators=str(len(mechanism.event_names)),
    )
    return Element("fmiModelDescription", attributes)


def _interface(root: Element, element: str, interface: Interface) -> None:
    node = SubElement(root, element, dict(interface.attributes))
    if interface.sources:
        files = SubElement(node, "SourceFiles")
        for name in interface.sources:
            SubElement(files, "File", name=name)


def _units(parent: Element, used: list[str]) -> None:
    for name in used:
        unit = unit_of(name)
        node = SubElement(parent, "Unit", name=name)
        base = {k: str(v) for k, v in unit.exponents.items()}
        SubElement(node, "BaseUnit", base if unit.factor == 1.0 else {**base, "factor": repr(unit.factor)})
        for display, factor in unit.display.items():
            SubElement(node, "DisplayUnit", name=display, factor=repr(factor))


def _types(parent: Element, used: list[str]) -> None:
    for name in used:
        if quantity := unit_of(name).quantity:
            simple = SubElement(parent, "SimpleType", name=quantity)
            SubElement(simple, "Real", dict(quantity=quantity, **_unit_attributes(name)))


def _unit_attributes(name: str) -> dict[str, str]:
    if name == "1":
        return {}
    display = unit_of(name).preferred_display
    return dict(unit=name, **({"displayUnit": display} if display else {}))


def _variables(parent: Element, mechanism: Mechanism, starts: Mapping[str, float], reinit: bool) -> None:
    """Add all variables; their positions are their value references; reinit: events may change states."""
    table = mechanism.table
    _, x, *_ = mechanism.start(starts)
    values = {s.name: float(x[s.index]) for s in table.of("state")}
    values |= {s.name: starts.get(s.name, s.start) for s in table.of("parameter", "constant", "input")}
    positions = _positions(table)
    for reference, scalar in enumerate(table.scalars):
        description = _description(scalar.row, scalar.description)
        attributes = dict(name=scalar.name, valueReference=str(reference), description=description)
        node = SubElement(parent, "ScalarVariable", attributes | CAUSALITY[scalar.role])
        typed = _type_attributes(scalar.row, values.get(scalar.name))
        if scalar.role == "state" and reinit:
            typed["reinit"] = "true"
        if scalar.role == "derivative":
            typed["derivative"] = str(positions[scalar.name.removeprefix("der(").removesuffix(")")])
        SubElement(node, scalar.row.kind, typed)


def _positions(table: Table) -> dict[str, int]:
    """Return name -> position in ModelVariables, from 1."""
    return {s.name: position for position, s in enumerate(table.scalars, start=1)}


def _type_attributes(row: Row, start: float | None) -> dict[str, str]:
    attributes: dict[str, str] = {}
    if row.kind == "Real":
        if row.unit != "1":
            declared = unit_of(row.unit).quantity
            attributes |= dict(**({"declaredType": declared} if declared else {}), **_unit_attributes(row.unit))
        lower = row.min if row.above is None else row.above
        limits = dict(min=lower, max=row.max, nominal=row.nominal)
        attributes |= {k: repr(float(v)) for k, v in limits.items() if v is not None}
    if row.kind == "Integer":
        attributes |= {k: str(int(v)) for k, v in dict(min=row.min, max=row.max).items() if v is not None}
    if start is not None:
        attributes["start"] = {"Real": repr(start), "Boolean": str(bool(start)).lower()}.get(row.kind, str(int(start)))
    return attributes


def _description(row: Row, text: str) -> str:
    """Return the description with what XML cannot express: an exclusive limit, the meanings of a choice."""
    if row.items:
        return f"{text} ({', '.join(f'{number} = {item}' for number, item in enumerate(row.items, start=1))})"
    return text if row.above is None else f"{text} (greater than {row.above:g})"


def _structure(parent: Element, table: Table, dependencies: Dependencies) -> None:
    positions = _positions(table)
    parts = (
        ("Outputs", table.of(*OUTPUT_ROLES), dependencies.running),
        ("Derivatives", table.of("derivative"), dependencies.running),
        ("InitialUnknowns", table.of(*OUTPUT_ROLES, "derivative"), dependencies.initial),
    )
    for element, unknowns, rows in parts:
        if not unknowns:
            continue
        node = SubElement(parent, element)
        for scalar in sorted(unknowns, key=lambda s: positions[s.name]):
            attributes = {"index": str(positions[scalar.name])}
            references = rows[scalar.name]
            if references is not None:  # value references count from 0, positions from 1
                attributes["dependencies"] = " ".join(str(r + 1) for r in references)
            SubElement(node, "Unknown", attributes)
