"""FMUs of other tools: the findings are right, also where FMPy's validation finds nothing."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from fmpy import read_model_description
from fmpy.container_fmu.cli import create_container_fmu
from fmpy.container_fmu.config import Component, Configuration
from fmpy.model_description import CoSimulation, DefaultExperiment, ModelDescription, ModelVariable, Unknown
from fmpy.validation import validate_fmu
from pythonfmu.builder import FmuBuilder
from pythonfmu.tests import slaves

from helpers.check_helpers import CheckDefect, caught, findings_text
from helpers.check_zoo import CLEAN, DEFECTS, Defect, write_fmu
from mechfmu.check.checker import Options, check_fmu

pytest_plugins = ("helpers.check_fixtures",)

SLAVES = Path(slaves.__path__[0])


def pythonfmu(slave: str, folder: Path) -> Path:
    """One of the FMUs of pythonfmu's own tests."""
    path, modules = list(sys.path), set(sys.modules)
    try:
        extra = [SLAVES / "localmodule.py"] if slave == "slavewithdep" else [SLAVES.parent / "data" / "hello.txt"]
        return Path(FmuBuilder.build_FMU(SLAVES / f"{slave}.py", folder, project_files=extra))
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("slave", "rules"),
    [
        ("pythonslave", {"S6", "S10", "S14"}),
        ("pythonslave_default_ex", {"S14"}),
        ("pythonslave_read_file", {"S14"}),
        ("slavewithdep", {"S10", "S14"}),
    ],
)
def test_static_findings_in_pythonfmu_s_own_examples(slave: str, rules: set[str], tmp_path: Path) -> None:
    """Integers and Strings are continuous, initial unknowns are missing; S14: a new version of libstdc++ is needed."""
    file = pythonfmu(slave, tmp_path)
    report = check_fmu(file, Options(only=("S",)))
    found = {r: [f for f in report.counted if f.rule == r] for r in caught(report)}
    assert rules - {"S14"} <= caught(report) <= rules, findings_text(report)
    assert all("continuous" in f.problem for f in found.get("S6", []))
    assert all("InitialUnknowns" in f.problem for f in found.get("S10", []))


def test_where_fmpy_and_we_disagree_about_pythonfmu(tmp_path: Path) -> None:
    """FMPy also finds the continuous Integers and the missing initial unknowns, but nothing that needs the binary."""
    file = pythonfmu("pythonslave", tmp_path)
    theirs = "\n".join(validate_fmu(str(file)))
    assert "continuous" in theirs and "InitialUnknowns" in theirs
    report = check_fmu(file, Options(only=("S6", "S10", "D5")))
    assert caught(report) == {"S6", "S10", "D5"}, findings_text(report)
    assert any("past the stop time" in f.problem for f in report.counted)


def test_a_slave_that_raises_is_found_by_the_rule_about_steps(tmp_path: Path) -> None:
    report = check_fmu(pythonfmu("PythonSlaveWithException", tmp_path))
    dynamic = [f for f in report.counted if f.rule.startswith("D")]
    assert {f.rule for f in dynamic} == {"D5"} and "RuntimeError" in dynamic[0].problem
    assert all(r.skipped for r in report.results if r.rule.id in ("D4", "D7", "D9"))


def outer_variable(v: ModelVariable) -> ModelVariable:
    """The variable of a container that stands for an inner one."""
    initial = None if v.causality == "input" else v.initial
    attributes = dict(type=v.type, name=v.name, causality=v.causality, variability=v.variability, start=v.start)
    return ModelVariable(valueReference=0, initial=initial, **attributes)


def test_fmpy_s_own_container(tmp_path: Path) -> None:
    """FMPy writes canHandleMultipleSetPerTimeInstant to every variable of a Co-Simulation FMU, and validates it."""
    inner = write_fmu(tmp_path, CLEAN["both"])
    description = read_model_description(str(inner))
    chosen = {v.name: v for v in description.modelVariables if v.name in ("u", "x", "k")}
    outer = [outer_variable(v) for v in chosen.values()]
    outputs = [v for v in outer if v.causality == "output"]
    container = ModelDescription(
        fmiVersion="2.0",
        modelName="Container",
        instantiationToken="{container}",
        modelVariables=outer,
        outputs=[Unknown(variable=v) for v in outputs],
        initialUnknowns=[Unknown(variable=v) for v in outputs],
        defaultExperiment=DefaultExperiment(startTime="0", stopTime="2", stepSize="0.01"),
    )
    container.coSimulation = CoSimulation(modelIdentifier="container_fmu", fixedInternalStepSize=0.01)
    component = Component(name="inner", filename=inner, modelDescription=description)
    mappings = {v: [(component, chosen[v.name])] for v in outer}
    configuration = Configuration(
        parallelDoStep=False,
        modelDescription=container,
        components=[component],
        connections=[],
        variableMappings=mappings,
    )
    file = tmp_path / "Container.fmu"
    create_container_fmu(configuration, Path(tempfile.mkdtemp(dir=tmp_path)), file)
    assert validate_fmu(str(file)) == []
    report = check_fmu(file, Options(only=("S", "D1")))
    assert caught(report) == {"S12"}, findings_text(report)
    assert {f.where for f in report.counted} == {'variable "u"', 'variable "x"', 'variable "k"'}


FMPY_FINDS_NOTHING = {
    ("S1", "no-binary"), ("S3", "identifier"), ("S4", "unit"), ("S4", "category"),
    ("S7", "limit"), ("S8", "factor"), ("S9", "settable"), ("S11", "stop"), ("S11", "step"), ("S12", "reinit"),
    ("S13", "missing"),
}  # fmt: skip


@pytest.mark.parametrize(
    "defect", [d for d in DEFECTS if (d.rule, d.name) in FMPY_FINDS_NOTHING], ids=lambda d: f"{d.rule}-{d.name}"
)
def test_what_fmpy_misses(defect: Defect, check_defect: CheckDefect, zoo_folder: Path) -> None:
    """docs/check.md lists these as not found by FMPy's validation; if FMPy finds one, the page must change."""
    assert caught(check_defect(defect, "S")) == {defect.rule}
    assert validate_fmu(str(write_fmu(zoo_folder, defect))) == []
