"""FMUs that mechfmu did not build, for the tests of sweeps: tests/c/sweep_unit.c in several kinds."""

from __future__ import annotations

import zipfile
from pathlib import Path

import psutil

from helpers.unit_library import library
from mechfmu.codegen.compiler import PLATFORMS, host_platform

XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Unit" guid="{kind}">
  <CoSimulation modelIdentifier="Unit" canHandleVariableCommunicationStepSize="{variable}"
    canGetAndSetFMUstate="{state}" canBeInstantiatedOnlyOncePerProcess="{once}"/>
  {experiment}
  <ModelVariables>
    <ScalarVariable name="k" valueReference="1" causality="parameter" variability="fixed">
      <Real start="1"/></ScalarVariable>
    <ScalarVariable name="x_start" valueReference="2" causality="parameter" variability="fixed">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="u" valueReference="3" causality="input" variability="continuous">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="4" causality="output" variability="continuous"><Real/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="5" causality="parameter" variability="fixed"
      description="gain (1 = slow, 2 = fast)">
      <Integer start="1"/></ScalarVariable>
    <ScalarVariable name="on" valueReference="6" causality="input" variability="discrete">
      <Boolean start="true"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="4"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def write_unit(folder: Path, kind: str, state: bool = True, declared_once: bool = True) -> Path:
    """The FMU of this kind: words of tests/c/sweep_unit.c."""
    place = PLATFORMS[host_platform()]
    target = folder / f"{kind.replace(' ', '_')}_{state}_{declared_once}.fmu"
    text = XML.format(
        kind=kind,
        variable=str("fixed" not in kind).lower(),
        state=str(state).lower(),
        once=str("once" in kind and declared_once).lower(),
        experiment='<DefaultExperiment startTime="0.5" stopTime="2" tolerance="1e-4"/>' if "experiment" in kind else "",
    )
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.writestr(f"binaries/{place.name}/Unit{place.suffix}", library("sweep_unit.c", folder))
    return target


class NewProcesses:
    """The processes that this one has started since this object was made."""

    def __init__(self) -> None:
        self._before = set(psutil.Process().children())

    def now(self) -> list[psutil.Process]:
        return [process for process in psutil.Process().children() if process not in self._before]
