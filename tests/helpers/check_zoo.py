"""The zoo: FMUs for the tests of the checker, some correct, the others each with a defect that violates one rule.

All have the same small library (tests/c/check_unit.c, compiled once), in which the name of a defect is written over a
placeholder, and the same model description with one passage replaced. docs/check.md lists the defects.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from pathlib import Path

from helpers.check_defect import EXCHANGE, SIMULATION, XML, Defect
from helpers.check_zoo_file import FILE_DEFECTS
from helpers.paths import ROOT, TESTS
from helpers.unit_library import library

PLACE = b"@defect:none" + b" " * 20


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


DEFECTS = FILE_DEFECTS

MISBEHAVING = {
    d.name: d
    for d in (
        Defect("D5", "hang", "an endless loop in fmi2DoStep", "step-hang", kinds="CoSimulation"),
        Defect("D5", "exit", "exit(0) in fmi2DoStep", "step-exit", kinds="CoSimulation"),
        Defect("D5", "memory", "all memory is allocated in fmi2DoStep", "step-memory", kinds="CoSimulation"),
        Defect("D6", "lost", "a velocity is not restored", "state-lost"),
        Defect("R1", "step-early", "a crash in fmi2DoStep before initialization", "step-state-crash",
            kinds="CoSimulation"),
        Defect("R2", "null", "a crash when an array is NULL", "null"),
    )
}  # fmt: skip
"""FMUs that run but misbehave, by their names: for tests of what the checker does with them."""

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
    "bare": Defect("", "bare", "no default experiment, no log categories", "no-categories",
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
    if defect.patch:
        target.write_bytes(defect.patch(target.read_bytes()))
    return target
