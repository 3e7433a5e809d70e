"""modelDescription.xml (FMI 2.0), made from the table of variables and the dependencies alone."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from .. import RELEASED, __version__
from ..model import Mechanism
from ..model.units import unit as unit_of
from ..model.variables import Row, Scalar
from .dependencies import Dependencies, Rows
from .licenses import is_ours

CAUSALITY = {
    "parameter": dict(causality="parameter", variability="fixed", initial="exact"),
    "input": dict(causality="input", variability="continuous"),
    "state": dict(
        causality="output", variability="continuous", initial="approx"
    ),  # computed from the parameters; the start is for importers that read it here
    "discrete": dict(causality="output", variability="discrete", initial="calculated"),
    "output": dict(causality="output", variability="continuous", initial="calculated"),
    "derivative": dict(causality="local", variability="continuous", initial="calculated"),
}


@dataclass(frozen=True)
class Interface:
    """One of the FMU's interface types: its abilities, and its C files when they are delivered."""

    attributes: Mapping[str, str]
    sources: Sequence[str] = ()


def model_description(
    mechanism: Mechanism, interfaces: Mapping[str, Interface], categories: Mapping[str, str], starts: Mapping[str, float],
    dependencies: Dependencies, content: str, tolerance: float = 1e-6,
) -> bytes:  # fmt: skip
    """The XML file.

    interfaces  ModelExchange and CoSimulation, in this order
    starts      start values that differ from the table's
    content     a digest of everything else in the FMU; with the XML itself it makes the GUID
    """
    table = mechanism.table
    root = Element("fmiModelDescription", dict(
        fmiVersion="2.0", modelName=mechanism.name, guid="", description=mechanism.title, version=__version__,
        author="mechfmu", generationTool=f"mechfmu {__version__}", generationDateAndTime=RELEASED,
        **({"license": "BSD-3-Clause"} if is_ours(mechanism) else {}),
        variableNamingConvention="structured", numberOfEventIndicators=str(len(mechanism.event_names)),
    ))  # fmt: skip
    for element, interface in interfaces.items():
        node = SubElement(root, element, dict(interface.attributes))
        if interface.sources:
            files = SubElement(node, "SourceFiles")
            for name in interface.sources:
                SubElement(files, "File", name=name)
    used = sorted({s.unit for s in table.scalars if s.unit != "1"})
    _units(SubElement(root, "UnitDefinitions"), used)
    _types(SubElement(root, "TypeDefinitions"), used)
    log = SubElement(root, "LogCategories")
    for name, text in categories.items():
        SubElement(log, "Category", dict(name=name, description=text))
    SubElement(root, "DefaultExperiment", dict(
        startTime="0", stopTime=f"{mechanism.stop_time:g}", tolerance=f"{tolerance:g}", stepSize=f"{mechanism.step_size:g}",
    ))  # fmt: skip
    position = {s.name: i + 1 for i, s in enumerate(table.scalars)}
    variables = SubElement(root, "ModelVariables")
    _, x, *_ = mechanism.start(starts)
    values = {s.name: float(x[s.index]) for s in table.of("state")} | {
        s.name: starts.get(s.name, s.start) for s in table.of("parameter", "input")
    }
    for reference, scalar in enumerate(table.scalars):
        reinit = "ModelExchange" in interfaces and bool(mechanism.event_names)
        _variable(variables, reference, scalar, values.get(scalar.name), position, reinit)
    structure = SubElement(root, "ModelStructure")
    _unknowns(structure, "Outputs", table.of("state", "discrete", "output"), position, dependencies.running)
    _unknowns(structure, "Derivatives", table.of("derivative"), position, dependencies.running)
    _unknowns(
        structure,
        "InitialUnknowns",
        table.of("state", "discrete", "output", "derivative"),
        position,
        dependencies.initial,
    )
    digest = hashlib.sha256(ElementTree.tostring(root) + content.encode()).digest()
    root.set("guid", f"{{{uuid.UUID(bytes=digest[:16])}}}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"


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


def _variable(
    parent: Element, reference: int, scalar: Scalar, start: float | None, position: Mapping[str, int], reinit: bool
) -> None:
    row = scalar.row
    node = SubElement(parent, "ScalarVariable", dict(
        name=scalar.name, valueReference=str(reference), description=_described(row, scalar.description), **CAUSALITY[scalar.role],
    ))  # fmt: skip
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
    if scalar.role == "state" and reinit:
        attributes["reinit"] = "true"  # an event may change it
    if scalar.role == "derivative":
        attributes["derivative"] = str(position[scalar.name.removeprefix("der(").removesuffix(")")])
    SubElement(node, row.kind, attributes)


def _described(row: Row, text: str) -> str:
    """XML limits are inclusive, so an exclusive one is said in words; so are the values of a choice."""
    if row.items:
        return f"{text} ({', '.join(f'{number} = {item}' for number, item in enumerate(row.items, start=1))})"
    return text if row.above is None else f"{text} (greater than {row.above:g})"


def _unknowns(parent: Element, element: str, unknowns: list[Scalar], position: Mapping[str, int], rows: Rows) -> None:
    if not unknowns:
        return
    node = SubElement(parent, element)
    for scalar in sorted(unknowns, key=lambda s: position[s.name]):
        attributes = {"index": str(position[scalar.name])}
        references = rows[scalar.name]
        if references is not None:
            attributes["dependencies"] = " ".join(
                str(r + 1) for r in references
            )  # a value reference is a position from 0
        SubElement(node, "Unknown", attributes)
