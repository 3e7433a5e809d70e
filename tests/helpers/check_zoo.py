"""The zoo: FMUs for the tests of the checker, some correct, the others each with a defect that violates one rule.

All have the same small library (tests/c/check_unit.c, compiled once), in which the name of a defect is written over a
placeholder, and the same model description with one passage replaced. docs/check.md lists the defects.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from helpers.paths import ROOT, TESTS
from helpers.unit_library import library

PLACE = b"@defect:none" + b" " * 20

XML = (TESTS / "helpers" / "check_zoo.xml").read_text(encoding="utf-8")
EXCHANGE = XML[XML.index("  <ModelExchange") : XML.index("  <CoSimulation")]
SIMULATION = XML[XML.index("  <CoSimulation") : XML.index("  <UnitDefinitions")]


def variable(name: str, attributes: str, inner: str) -> tuple[str, str]:
    """A replacement that appends a variable."""
    return (
        "  </ModelVariables>",
        f'    <ScalarVariable name="{name}" {attributes}>{inner}</ScalarVariable>\n  </ModelVariables>',
    )


@dataclass(frozen=True)
class Defect:
    rule: str
    name: str
    what: str
    binary: str = ""
    xml: tuple[tuple[str, str], ...] = ()
    change: Callable[[dict[str, bytes]], None] | None = None  # of the files
    pack: Callable[[zipfile.ZipFile], None] | None = None  # of the archive
    kinds: str = "both"  # or CoSimulation, ModelExchange: one kind makes the test faster, where it shows the defect


def _remove(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__delitem__(name)


def _put(name: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__setitem__(name, content)


def _bomb(archive: zipfile.ZipFile) -> None:
    archive.writestr("resources/zeros.bin", bytes(30_000_000), zipfile.ZIP_DEFLATED)


def _link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("resources/link")
    info.external_attr = 0o120777 << 16
    archive.writestr(info, "/etc/passwd")


def _entry(name: str) -> Callable[[zipfile.ZipFile], None]:
    def add(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("x")
        info.filename = name
        archive.writestr(info, b"hello")

    return add


def _without_export(function: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        library = next(n for n in files if n.startswith("binaries/"))
        assert b"\0" + function + b"\0" in files[library]
        files[library] = files[library].replace(b"\0" + function + b"\0", b"\0" + function[:-1] + b"_\0")

    return change


def _second_library(files: dict[str, bytes]) -> None:
    libraries = {name: content for name, content in files.items() if "/Zoo." in name}
    files.update({name.replace("/Zoo.", "/Zoo 1."): content for name, content in libraries.items()})


def _empty_library(files: dict[str, bytes]) -> None:
    files.update({name: b"\x7fELF\x02" + bytes(100) for name in files if name.endswith(".so")})


def _reference(scale: float) -> Callable[[dict[str, bytes]], None]:
    """Adds the exact solution, multiplied by `scale`, as reference result."""

    def change(files: dict[str, bytes]) -> None:
        files["documentation/index.html"] = b"<html/>"
        files["documentation/reference_result.csv"] = reference_csv(scale).encode()

    return change


def reference_csv(scale: float) -> str:
    """The exact solution x(t): a damped oscillation from x = 1 at rest."""
    k, d = 4.0, 0.3
    w = math.sqrt(k - d * d / 4)
    rows = [
        (t, math.exp(-d / 2 * t) * (math.cos(w * t) + d / 2 / w * math.sin(w * t)))
        for t in (0.01 * i for i in range(101))
    ]
    return "time,x\n" + "".join(f"{t:.10g},{scale * x:.10g}\n" for t, x in rows)


DEFECTS = (
    # --- the file ---
    Defect("S1", "backslash", "an entry whose path has a backslash", pack=_entry("resources\\a.txt")),
    Defect("S1", "parent", "an entry ../../outside.txt", pack=_entry("../../outside.txt")),
    Defect("S1", "absolute", "an entry /tmp/outside.txt", pack=_entry("/tmp/mechfmu_zoo_outside.txt")),
    Defect("S1", "link", "a symbolic link to /etc/passwd", pack=_link),
    Defect("S1", "bomb", "a file that unpacks to 1,000 times its size", pack=_bomb),
    Defect("S1", "no-binary", "win64 is claimed, but its library has another name",
        change=_put("binaries/win64/Other.dll", b"MZ")),
    Defect("S1", "wrong-format", "the library for win64 is not a Windows library",
        change=_put("binaries/win64/Zoo.dll", b"\x7fELF")),
    Defect("S1", "no-index", "documentation without index.html", change=_put("documentation/readme.txt", b"hello")),
    Defect("S1", "no-description", "no modelDescription.xml", change=_remove("modelDescription.xml")),
    Defect("S2", "element", "an element that is not in the schema",
        xml=(('<Unit name="N">', '<Unit name="N"><Colour/>'),)),
    Defect("S2", "attribute", "a maximum that is not a number", xml=(('min="0" max="10"', 'min="0" max="ten"'),)),
    Defect("S2", "entities", "a document type with nested entities",
        xml=(('<fmiModelDescription',
              '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<fmiModelDescription'),)),
    Defect("S2", "not-xml", "a model description that ends in the middle", xml=(("</ModelVariables>", ""),)),
    Defect("S2", "latin", "a model description in ISO-8859-1", xml=(('encoding="UTF-8"', 'encoding="ISO-8859-1"'),)),
    Defect("S3", "version", "fmiVersion 2.0.1", xml=(('fmiVersion="2.0"', 'fmiVersion="2.0.1"'),)),
    Defect("S3", "identifier", 'modelIdentifier "Zoo 1"',
        xml=(('<ModelExchange modelIdentifier="Zoo"', '<ModelExchange modelIdentifier="Zoo 1"'),),
        change=_second_library),
    Defect("S3", "date", "a date that ends in +00:00", xml=(("00:00:00Z", "00:00:00+00:00"),)),
    Defect("S4", "variable", "two variables of one name",
        xml=(('name="v" valueReference="6"', 'name="k" valueReference="6"'),)),
    Defect("S4", "unit", "two units of one name", xml=(('<Unit name="N">', '<Unit name="N"/><Unit name="N">'),)),
    Defect("S4", "display-unit", "two display units of one name",
        xml=(('<DisplayUnit name="mm" factor="1000"/>',
              '<DisplayUnit name="mm" factor="1000"/><DisplayUnit name="mm"/>'),)),
    Defect("S4", "type", "a type with the name of a variable",
        xml=(('<SimpleType name="Mode">', '<SimpleType name="mode"><Real/></SimpleType><SimpleType name="Mode">'),)),
    Defect("S4", "category", "two log categories of one name",
        xml=(('<Category name="logEvents"/>', '<Category name="logEvents"/><Category name="logEvents"/>'),)),
    Defect("S4", "tool", "two vendor tools of one name",
        xml=(('<Tool name="keeper"/>', '<Tool name="keeper"/><Tool name="keeper"/>'),)),
    Defect("S4", "source", "one source file twice",
        xml=(('<File name="check_unit.c"/></SourceFiles>\n  </CoSim',
              '<File name="check_unit.c"/><File name="check_unit.c"/></SourceFiles>\n  </CoSim'),)),
    Defect("S5", "grammar", "a structured name that begins with a digit", xml=(('name="d"', 'name="2d"'),)),
    Defect("S5", "derivative", "der() of an Integer", xml=(('name="flag"', 'name="der(n)"'),)),
    Defect("S5", "flat", "a flat name with a tab",
        xml=(('variableNamingConvention="structured" ', ""), ('name="d"', 'name="d&#9;e"'))),
    Defect("S6", "causality", "a continuous parameter",
        xml=(('name="d" valueReference="2" causality="parameter" variability="fixed"',
              'name="d" valueReference="2" causality="parameter" variability="continuous"'),)),
    Defect("S6", "integer", "a continuous Integer",
        xml=(('causality="output" variability="discrete"', 'causality="output" variability="continuous"'),)),
    Defect("S6", "initial", "an input with the attribute initial",
        xml=(('causality="input" variability="continuous"',
              'causality="input" variability="continuous" initial="exact"'),)),
    Defect("S6", "independent", "two independent variables",
        xml=(('name="d" valueReference="2" causality="parameter" variability="fixed"><Real start="0.3" min="0"/>',
              'name="d" valueReference="2" causality="independent" variability="continuous"><Real min="0"/>'),)),
    Defect("S7", "missing", "a parameter without start value",
        xml=(('<Real start="0.3" min="0"/>', '<Real min="0"/>'),)),
    Defect("S7", "forbidden", "a calculated variable with a start value",
        xml=(('initial="calculated"><Real unit="m/s"/>', 'initial="calculated"><Real unit="m/s" start="0"/>'),)),
    Defect("S7", "limit", "a start value above the maximum",
        xml=(('<Integer start="3" min="0" max="10"/>', '<Integer start="3" min="0" max="2"/>'),)),
    Defect("S7", "type-limit", "a start value above the maximum of the declared type",
        xml=(('min="-1000" max="1000"', 'min="-1000" max="0.5"'),)),
    Defect("S7", "min-max", "a minimum above the maximum", xml=(('min="0.1" max="1000"', 'min="2000" max="1000"'),)),
    Defect("S8", "unit", "a unit that is not declared",
        xml=(('<Real unit="N" start="0"/>', '<Real unit="kN" start="0"/>'),)),
    Defect("S8", "display-unit", "a display unit of another unit",
        xml=(('<Real unit="N" start="0"/>', '<Real unit="N" displayUnit="mm" start="0"/>'),)),
    Defect("S8", "no-unit", "a display unit without unit",
        xml=(('<Real start="0.3" min="0"/>', '<Real displayUnit="mm" start="0.3" min="0"/>'),)),
    Defect("S8", "factor", "a display unit with the factor 0", xml=(('factor="1000"', 'factor="0"'),)),
    Defect("S8", "type", "a declared type that does not exist",
        xml=(('declaredType="Length" start="1"', 'declaredType="Width" start="1"'),)),
    Defect("S8", "kind", "an Integer of a Real type",
        xml=(('<Integer start="3" min="0" max="10"/>',
              '<Integer declaredType="Length" start="3" min="0" max="10"/>'),)),
    Defect("S9", "settable", "two inputs with one value reference",
        xml=(variable("w", 'valueReference="4" causality="input" variability="continuous"',
        '<Real unit="N" start="0"/>'), ('"5 6"', '"5 6 17"'), ('"5 6 7"', '"5 6 7 17"'), ('"2 4 5"', '"2 4 5 17"'),
        ('"4 5"', '"4 5 17"'))),
    Defect("S9", "unit", "aliases with different units",
        xml=(variable("w", 'valueReference="6" causality="local" variability="continuous"', '<Real unit="m"/>'),)),
    Defect("S9", "constant", "an alias of a constant that is not constant",
        xml=(variable("other", 'valueReference="10" causality="local" variability="continuous"', "<Real/>"),)),
    Defect("S9", "start", "two start values of one value reference",
        xml=(variable("w", 'valueReference="1" causality="local" variability="continuous" initial="exact"',
        '<Real start="4"/>'), ('"2 4 5"', '"2 4 5 17"'))),
    Defect("S10", "output", "an output that is not listed",
        xml=(('      <Unknown index="10" dependencies="5 6"/>\n', ""),)),
    Defect("S10", "derivative", "a derivative without the attribute",
        xml=((EXCHANGE, ""), ('<Real derivative="7"/>', "<Real/>"), ('      <Unknown index="7" dependencies=""/>\n',
              ""), ("5 6 7", "5 6"))),
    Defect("S10", "initial", "an initial unknown that is not listed",
        xml=(('      <Unknown index="10" dependencies="4 5"/>\n', ""),)),
    Defect("S10", "order", "initial unknowns that are not ascending",
        xml=(('      <Unknown index="7" dependencies=""/>\n      <Unknown index="8" dependencies=""/>\n',
              '      <Unknown index="8" dependencies=""/>\n      <Unknown index="7" dependencies=""/>\n'),)),
    Defect("S10", "range", "a dependency on variable 99", xml=(('dependencies="5 6"/>', 'dependencies="5 6 99"/>'),)),
    Defect("S10", "kinds", "fewer kinds than dependencies",
        xml=(('dependencies="5 6"/>', 'dependencies="5 6" dependenciesKind="constant"/>'),)),
    Defect("S10", "kind", "a kind of dependency that initial unknowns cannot have",
        xml=(('<Unknown index="10" dependencies="4 5"/>',
              '<Unknown index="10" dependencies="4 5" dependenciesKind="fixed dependent"/>'),)),
    Defect("S11", "stop", "a stop time before the start time",
        xml=(('startTime="0" stopTime="2"', 'startTime="3" stopTime="2"'),)),
    Defect("S11", "tolerance", "a tolerance of 0", xml=(('tolerance="1e-6"', 'tolerance="0"'),)),
    Defect("S11", "step", "a negative step size", xml=(('stepSize="0.01"', 'stepSize="-0.01"'),)),
    Defect("S11", "long-step", "a step size longer than the experiment", xml=(('stepSize="0.01"', 'stepSize="5"'),)),
    Defect("S12", "reinit", "reinit at a variable that is not a state",
        xml=(('<Real start="0.3" min="0"/>', '<Real start="0.3" min="0" reinit="true"/>'),)),
    Defect("S12", "several-sets", "canHandleMultipleSetPerTimeInstant at an output",
        xml=(('name="sensor.y[1]"', 'canHandleMultipleSetPerTimeInstant="true" name="sensor.y[1]"'),)),
    Defect("S13", "missing", "a source file that does not exist",
        xml=(('<File name="check_unit.c"/></SourceFiles>\n  </CoSim',
              '<File name="more.c"/></SourceFiles>\n  </CoSim'),)),
    Defect("S13", "compile", "a source file that does not compile",
        change=_put("sources/check_unit.c", b"int f( {")),
    # --- the binary ---
    Defect("D1", "version", "fmi2GetVersion returns 2.1", "version"),
    Defect("D1", "platform", "fmi2GetTypesPlatform returns standard32", "platform", kinds="CoSimulation"),
    Defect("D1", "function", "fmi2CancelStep is not exported",
        change=_without_export(b"fmi2CancelStep"), kinds="CoSimulation"),
    Defect("D1", "load-crash", "a crash when the library is loaded", "load-crash", kinds="CoSimulation"),
    Defect("D1", "not-a-library", "the library is only an ELF header",
        change=_empty_library, kinds="CoSimulation"),
    Defect("D1", "exit-abort", "an abort when the process ends", "exit-abort", kinds="CoSimulation"),
    Defect("D2", "instantiate", "the FMU's own GUID is rejected", "instantiate", kinds="CoSimulation"),
    Defect("D2", "guid", "a wrong GUID is accepted", "guid", kinds="CoSimulation"),
    Defect("D2", "guid-silent", "a wrong GUID is rejected without a message", "guid-silent", kinds="CoSimulation"),
    Defect("D2", "name", "the instance name is not copied", "name", kinds="CoSimulation"),
    Defect("D2", "environment", "the logger does not get the environment", "environment", kinds="CoSimulation"),
    Defect("D2", "category", "messages of a category that is not declared", "category", kinds="CoSimulation"),
    Defect("D2", "chatty", "messages although logging is off", "chatty", kinds="CoSimulation"),
    Defect("D2", "categories", "messages of categories that are switched off", "categories", kinds="CoSimulation"),
    Defect("D3", "step-early", "fmi2DoStep before initialization", "step-early", kinds="CoSimulation"),
    Defect("D3", "get-early", "fmi2GetReal before initialization", "get-early", kinds="CoSimulation"),
    Defect("D3", "step-state-crash", "a crash in fmi2DoStep before initialization", "step-state-crash",
        kinds="CoSimulation"),
    Defect("D3", "rates-state-crash", "a crash in fmi2GetDerivatives before initialization", "rates-state-crash",
        kinds="ModelExchange"),
    Defect("D3", "reset-refused", "fmi2Reset fails after fmi2Terminate", "reset-refused", kinds="CoSimulation"),
    Defect("D3", "free-null", "a crash in fmi2FreeInstance(NULL)", "free-null-instance", kinds="CoSimulation"),
    Defect("D3", "init-crash", "a crash in fmi2ExitInitializationMode", "init-crash", kinds="CoSimulation"),
    Defect("D4", "null", "a crash when an array is NULL", "null", kinds="CoSimulation"),
    Defect("D4", "null-accepted", "fmi2OK when an array is NULL", "null-accepted", kinds="CoSimulation"),
    Defect("D4", "unknown", "an unknown value reference is accepted", "unknown", kinds="CoSimulation"),
    Defect("D4", "reference-crash", "a crash for the largest value reference", "reference-crash", kinds="CoSimulation"),
    Defect("D4", "fixed", "a fixed parameter can be set while running", "fixed", kinds="CoSimulation"),
    Defect("D4", "set-output", "an output can be set", "set-output", kinds="CoSimulation"),
    Defect("D4", "forget", "a Boolean keeps its old value when it is set", "forget", kinds="CoSimulation"),
    Defect("D4", "nan-hang", "an endless loop when NaN is set", "nan-hang", kinds="CoSimulation"),
    Defect("D5", "negative", "a step of negative size is accepted", "h-negative", kinds="CoSimulation"),
    Defect("D5", "gap", "a step that begins after a gap in time is accepted", "gap", kinds="CoSimulation"),
    Defect("D5", "freeze", "a step has no effect when the time is off by 3e-12 s", "freeze", kinds="CoSimulation"),
    Defect("D5", "discard", "no last successful time after fmi2Discard", "discard", kinds="CoSimulation"),
    Defect("D5", "time", "the independent variable lags behind", "time", kinds="CoSimulation"),
    Defect("D5", "hang", "an endless loop in fmi2DoStep", "step-hang", kinds="CoSimulation"),
    Defect("D5", "exit", "exit(0) in fmi2DoStep", "step-exit", kinds="CoSimulation"),
    Defect("D5", "error", "fmi2DoStep returns fmi2Error in a plain simulation", "step-error", kinds="CoSimulation"),
    Defect("D6", "lost", "a velocity is not restored", "state-lost"),
    Defect("D6", "serialize", "a serialized state differs from the saved one", "serialize", kinds="CoSimulation"),
    Defect("D6", "free-null", "freeing a NULL state is an error", "free-null", kinds="CoSimulation"),
    Defect("D6", "refused", "fmi2GetFMUstate fails", "state-refused", kinds="CoSimulation"),
    Defect("D6", "crash", "a crash in fmi2GetFMUstate", "state-crash", kinds="CoSimulation"),
    Defect("D7", "reset", "a parameter survives fmi2Reset", "reset", kinds="CoSimulation"),
    Defect("D7", "shared", "instances share a velocity", "shared", kinds="CoSimulation"),
    Defect("D7", "leak", "64 bytes of an instance are not freed", "leak", kinds="CoSimulation"),
    Defect("D8", "start", "a parameter is 0.31 in the binary, 0.3 in the XML", "start", kinds="CoSimulation"),
    Defect("D9", "undeclared", "an output depends on an input that it does not list",
        xml=(('dependencies="5 6"/>', 'dependencies="6"/>'),), kinds="CoSimulation"),
    Defect("D9", "undeclared-initial", "an initial unknown depends on a parameter that it does not list",
        xml=(('<Unknown index="9" dependencies="2 4 5"/>', '<Unknown index="9" dependencies="4 5"/>'),),
        kinds="CoSimulation"),
    Defect("D9", "absent", "an output lists an input that it does not depend on",
        xml=(('<Unknown index="6" dependencies="6" dependenciesKind="constant"/>',
              '<Unknown index="6" dependencies="5 6"/>'),), kinds="CoSimulation"),
    Defect("D10", "derivative", "a directional derivative has the wrong sign", "derivative", kinds="CoSimulation"),
    Defect("D11", "coarse", "every step adds to the velocity, whatever its size", "coarse", kinds="CoSimulation"),
    Defect("D11", "exchange", "Model Exchange has another stiffness than Co-Simulation", "exchange"),
    Defect("D12", "reference", "the reference result is 5 percent larger",
        change=_reference(1.05), kinds="CoSimulation"),
)  # fmt: skip

CLEAN = {
    "both": Defect("", "both", "both kinds, everything"),
    "reference": Defect("", "reference", "with a reference result", change=_reference(1.0)),
    "co-simulation": Defect("", "co-simulation", "Co-Simulation alone", xml=((EXCHANGE, ""),)),
    "model-exchange": Defect("", "model-exchange", "Model Exchange alone", xml=((SIMULATION, ""),)),
    "no-abilities": Defect("", "no-abilities", "without FMU state, directional derivatives, variable steps",
        xml=tuple((f' {flag}="true"', "") for flag in ("canGetAndSetFMUstate", "canSerializeFMUstate",
        "providesDirectionalDerivative", "canHandleVariableCommunicationStepSize"))),
    "once": Defect("", "once", "one instance per process",
        xml=(('modelIdentifier="Zoo"', 'modelIdentifier="Zoo" canBeInstantiatedOnlyOncePerProcess="true"'),)),
    "bare": Defect("", "bare", "no default experiment, no log categories, no independent variable's name in use",
        xml=((XML[XML.index("  <LogCategories") : XML.index("  <VendorAnnotations")], ""),)),
}  # fmt: skip


def write_fmu(folder: Path, defect: Defect) -> Path:
    """The FMU with this defect."""
    from mechfmu.codegen.compiler import PLATFORMS, host_platform

    omitted = {"both": "", "CoSimulation": EXCHANGE, "ModelExchange": SIMULATION}[defect.kinds]
    text = XML.replace(omitted, "") if omitted else XML
    for old, new in defect.xml:
        assert old in text, f"{defect.name}: {old} is not in the model description"
        text = text.replace(old, new)
    binary = library("check_unit.c", folder)
    assert binary.count(PLACE) == 1
    if defect.binary:
        binary = binary.replace(PLACE, f"@defect:{defect.binary}".encode().ljust(len(PLACE)))
    place = PLATFORMS[host_platform()]
    files = {
        "modelDescription.xml": text.encode(),
        f"binaries/{place.name}/Zoo{place.suffix}": binary,
        "sources/check_unit.c": (TESTS / "c" / "check_unit.c").read_bytes(),
        "sources/fmi2.h": (ROOT / "fmu_src" / "fmi" / "fmi2.h").read_bytes(),
    }
    if defect.change:
        defect.change(files)
    target = folder / f"{defect.rule or 'clean'}_{defect.name}.fmu"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        if defect.pack:
            defect.pack(archive)
    return target
