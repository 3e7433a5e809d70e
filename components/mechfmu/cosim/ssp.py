"""Systems as files of the standard System Structure and Parameterization (SSP) 1.0.

An SSP file is a zip file with SystemStructure.ssd and the FMUs. SSP 1.0 has no element for the communication step: it
is written in the annotation of the Open Simulation Platform, where libcosim also finds it.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lxml import etree  # type: ignore[import-untyped]

from .. import RELEASED, __version__
from ..fmu.archive import make_folder, write_archive
from ..model import UserError
from ..model.units import BASE_UNITS
from ..simulation.description import unit_name
from .connections import Port, SignalUnit, conversion

if TYPE_CHECKING:
    from .system import System

SSD, SSC, SSV, OSP = (
    "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
    "http://opensimulationplatform.com/SSP/OSPAnnotations",
)
NAMESPACES = {"ssd": SSD, "ssc": SSC, "ssv": SSV, "osp": OSP}
STRUCTURE = "SystemStructure.ssd"
FMU_TYPE = "application/x-fmu-sharedlibrary"
LARGEST = 1 << 30  # bytes of an unpacked file, more than any FMU has
LARGEST_XML = 1 << 26


# --- writing ----------------------------------------------------------------------------------------------------------


def write_ssp(system: System, file: Path) -> Path:
    if file.suffix != ".ssp":
        raise UserError(f"cannot write {file}: the name of a system's file must end in .ssp")
    make_folder(file.parent)
    names = {component: f"resources/{component}.fmu" for component in system.fmus}
    contents = {name: Path(system.fmus[component]).read_bytes() for component, name in names.items()}
    structure = etree.tostring(structure_of(system, names), xml_declaration=True, encoding="UTF-8", pretty_print=True)
    write_archive(file, {STRUCTURE: structure, **contents})
    return file


def add(parent: Any, tag: str, **attributes: str) -> Any:
    prefix, name = tag.split(":")
    return etree.SubElement(parent, f"{{{NAMESPACES[prefix]}}}{name}", attributes)


def structure_of(system: System, sources: Mapping[str, str], numbered: bool = False) -> Any:
    """The XML tree of SystemStructure.ssd.

    sources    where each FMU is in the package
    numbered   write items of enumerations as numbers
    """
    root = etree.Element(f"{{{SSD}}}SystemStructureDescription", nsmap=NAMESPACES, version="1.0", name=system.name)
    root.set("generationTool", f"mechfmu {__version__}")
    root.set("generationDateAndTime", RELEASED)
    top = add(root, "ssd:System", name=system.name)
    elements = add(top, "ssd:Elements")
    units: dict[str, SignalUnit] = {}
    for component, source in sources.items():
        attributes = {"type": FMU_TYPE, "source": source, "implementation": "CoSimulation"}
        element = add(elements, "ssd:Component", name=component, **attributes)
        values = {port.variable: value for port, value in system.values.items() if port.component == component}
        _add_connectors(element, component, values, system, units)
        if values:
            _add_parameters(element, component, values, system, numbered)
    if system.connections:
        _add_connections(top, system)
    if units:
        _add_units(root, units)
    experiment = add(root, "ssd:DefaultExperiment", startTime="0.0", stopTime=repr(float(system.stop_time)))
    annotation = add(add(experiment, "ssd:Annotations"), "ssc:Annotation", type="com.opensimulationplatform")
    add(add(annotation, "osp:Algorithm"), "osp:FixedStepAlgorithm", baseStepSize=repr(float(system.step_size)))
    return root


def _add_connectors(
    element: Any, component: str, values: Mapping[str, Any], system: System, units: dict[str, SignalUnit]
) -> None:
    """Inputs, outputs and what is set; their units are added to `units`."""
    connectors = add(element, "ssd:Connectors")
    for variable in system.variables[component].values():
        shown = variable.causality in ("input", "output") or variable.name in values
        if not shown or variable.type not in ("Real", "Integer", "Boolean"):
            continue
        connector = add(connectors, "ssd:Connector", name=variable.name, kind=variable.causality)
        unit = system.unit(Port(component, variable.name)) if variable.type == "Real" else None
        add(connector, f"ssc:{variable.type}", **({"unit": unit.name} if unit else {}))
        if unit:
            units[unit.name] = unit


def _add_connections(top: Any, system: System) -> None:
    connections = add(top, "ssd:Connections")
    for c in system.connections:
        start = {"startElement": c.source.component, "startConnector": c.source.variable}
        end = {"endElement": c.target.component, "endConnector": c.target.variable}
        connection = add(connections, "ssd:Connection", **start, **end)
        factor, offset = system.transforms.get(str(c.target), (1.0, 0.0))
        if (factor, offset) != (1.0, 0.0):
            add(connection, "ssc:LinearTransformation", factor=repr(factor), offset=repr(offset))


def _add_parameters(element: Any, component: str, values: Mapping[str, Any], system: System, numbered: bool) -> None:
    binding = add(add(element, "ssd:ParameterBindings"), "ssd:ParameterBinding")
    bound = add(binding, "ssd:ParameterValues")
    parameter_set = add(bound, "ssv:ParameterSet", version="1.0", name=f"values of {component}")
    parameters = add(parameter_set, "ssv:Parameters")
    for name, value in values.items():
        variable = system.variables[component][name]
        kind = "Integer" if variable.type == "Enumeration" and numbered else variable.type
        if kind == "Enumeration":
            text = next((i.name for i in variable.declaredType.items or () if int(i.value) == value), str(value))
        else:
            text = str(value).lower() if kind == "Boolean" else repr(value) if kind == "Real" else str(value)
        unit = unit_name(variable) if kind == "Real" else ""
        add(add(parameters, "ssv:Parameter", name=name), f"ssv:{kind}", value=text, **({"unit": unit} if unit else {}))


def _add_units(root: Any, units: Mapping[str, SignalUnit]) -> None:
    element = add(root, "ssd:Units")
    for unit in units.values():
        powers = {b: str(e) for b, e in zip(BASE_UNITS, unit.exponents, strict=False) if e}
        scale = {"factor": repr(unit.factor)} if unit.factor != 1.0 else {}
        shift = {"offset": repr(unit.offset)} if unit.offset != 0.0 else {}
        add(add(element, "ssc:Unit", name=unit.name), "ssc:BaseUnit", **powers, **scale, **shift)


# --- reading ----------------------------------------------------------------------------------------------------------


def read_ssp(file: Path, system_class: type[System]) -> System:
    """The system in a file; its FMUs are unpacked into a folder that exists as long as the system."""
    if not file.exists():
        raise UserError(f"there is no file {file}")
    if file.is_dir() or not zipfile.is_zipfile(file):
        raise UserError(f"{file} is not a system: it is not a zip file")
    try:
        with zipfile.ZipFile(file) as archive:
            return SspArchive(file, archive, system_class).system(UnpackedFmus())
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise UserError(f"{file} cannot be unpacked: {error}") from None


class UnpackedFmus:
    """A folder for unpacked FMUs that is removed together with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="mechfmu-ssp-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class SspArchive:
    """An open SSP file. Errors name the line of SystemStructure.ssd."""

    def __init__(self, file: Path, archive: zipfile.ZipFile, system_class: type[System]):
        self.file, self.archive, self.system_class = file, archive, system_class

    def error(self, text: str, element: Any = None) -> UserError:
        return UserError(f"{self.file}: {STRUCTURE}{f':{element.sourceline}' if element is not None else ''}: {text}")

    def read(self, name: str, most: int) -> bytes:
        try:
            info = self.archive.getinfo(str(PurePosixPath(name)))
        except KeyError:
            raise UserError(f"{self.file} has no file {name} inside") from None
        if info.file_size > most:
            raise UserError(f"{self.file}: {name} is too large ({info.file_size} bytes)")
        return self.archive.read(info)

    def xml(self, name: str) -> Any:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            return etree.fromstring(self.read(name, LARGEST_XML), parser)
        except etree.XMLSyntaxError as error:
            raise UserError(f"{self.file}: {name} is not valid XML: {error}") from None

    def system(self, folder: UnpackedFmus) -> System:
        root = self.xml(STRUCTURE)
        top = root.find("ssd:System", NAMESPACES)
        if root.tag != f"{{{SSD}}}SystemStructureDescription" or top is None:
            raise self.error("is not the description of a system", root)
        fmus: dict[str, Path] = {}
        given = dict(self.bindings(top, ""))
        for element in top.findall("ssd:Elements/*", NAMESPACES):
            name = element.get("name", "")
            self.check_component(element, name)
            if name in fmus:
                raise self.error(f"{name}: there are two of this name", element)
            fmus[name] = folder.path / f"{len(fmus)}.fmu"
            fmus[name].write_bytes(self.read(element.get("source", ""), LARGEST))
            given.update(self.bindings(element, f"{name}."))
        connect, transforms = self.connections(top)
        experiment = root.find("ssd:DefaultExperiment", NAMESPACES)
        stop = self.number(experiment, "stopTime") if experiment is not None else None
        base_step = next(root.iter(f"{{{OSP}}}FixedStepAlgorithm"), None)
        step = self.number(base_step, "baseStepSize") if base_step is not None else None
        name = root.get("name", self.file.stem)
        bare = self.system_class(name, fmus, connect, {}, stop, step, transforms, folder)
        return replace(bare, set={name: self.in_own_unit(bare, name, *value) for name, value in given.items()})

    def check_component(self, element: Any, name: str) -> None:
        if element.tag != f"{{{SSD}}}Component" or element.get("type", FMU_TYPE) != FMU_TYPE:
            raise self.error(f"{name}: systems inside systems are not supported, only FMUs", element)
        if element.get("implementation") == "ModelExchange":
            raise self.error(f"{name}: only Co-Simulation is supported", element)

    def number(self, element: Any, name: str) -> float | None:
        text = element.get(name)
        try:
            return None if text is None else float(text)
        except ValueError:
            raise self.error(f"{name} {text}: must be a number", element) from None

    def connections(self, top: Any) -> tuple[dict[str, list[str]], dict[str, tuple[float, float]]]:
        connect: dict[str, list[str]] = {}
        transforms = {}
        for c in top.findall("ssd:Connections/ssd:Connection", NAMESPACES):
            if c.get("startElement") is None or c.get("endElement") is None:
                continue  # a connector of the system itself, which nothing feeds
            source, target = (f"{c.get(f'{end}Element')}.{c.get(f'{end}Connector')}" for end in ("start", "end"))
            connect.setdefault(source, []).append(target)
            if c.get("suppressUnitConversion") in ("true", "1"):
                raise self.error(f"{source} to {target}: units are always converted", c)
            for transformation in c:
                if transformation.tag != f"{{{SSC}}}LinearTransformation":
                    raise self.error(f"{source} to {target}: only linear transformations are supported", c)
                factor, offset = self.number(transformation, "factor"), self.number(transformation, "offset")
                transforms[target] = (1.0 if factor is None else factor, 0.0 if offset is None else offset)
        return connect, transforms

    def bindings(self, element: Any, prefix: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """Name -> value and unit, for all parameters bound to an element, here or in another file of the archive."""
        for binding in element.findall("ssd:ParameterBindings/ssd:ParameterBinding", NAMESPACES):
            if binding.find("ssd:ParameterMapping", NAMESPACES) is not None:
                raise self.error("parameter mappings are not supported", binding)
            source = binding.get("source")
            found = self.xml(source) if source else binding.find("ssd:ParameterValues/ssv:ParameterSet", NAMESPACES)
            for parameter in found.iterfind("ssv:Parameters/ssv:Parameter", NAMESPACES) if found is not None else ():
                name = prefix + binding.get("prefix", "") + parameter.get("name", "")
                for value in parameter:
                    if value.get("value") is not None:
                        yield name, (value.get("value"), value.get("unit", ""))

    def in_own_unit(self, system: System, name: str, value: str, unit: str) -> Any:
        """A value of a parameter file, in the unit of its variable."""
        port = Port.of(name)
        own = system.unit(port) if system.variable(port).type == "Real" else None
        if own is None or not unit or unit == own.name:
            return value
        units = {u.name: u for u in system.descriptions[port.component].unitDefinitions}
        display_units = {d.name: d for d in units[own.name].displayUnits}
        try:
            if unit in display_units:  # displayed value = factor value + offset
                shown = display_units[unit]
                return (float(value) - float(shown.offset or 0.0)) / float(shown.factor or 1.0)
            factor, offset = conversion(SignalUnit.of(units[unit]), own)
            return factor * float(value) + offset
        except (KeyError, ValueError):
            raise UserError(f"{self.file}: {name} = {value} {unit}: its unit is {own.name}") from None
