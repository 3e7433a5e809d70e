"""The Python FMU: pythonfmu's wrapper library, our slave, and the part of mechfmu that computes, bundled under a name of its own."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pythonfmu.builder import FmuBuilder
from pythonfmu.fmi2slave import Fmi2Slave

from ..engines.sources import fmu_source
from ..mechanisms import Mechanism
from .archive import write_archive
from .contents import common_contents
from .dependencies import dependencies
from .model_description import Interface, model_description

PACKAGE = Path(__file__).parent.parent
REQUIRES = ("numpy", "scipy", "casadi")
ABILITIES = dict(
    needsExecutionTool="false", canHandleVariableCommunicationStepSize="true", canNotUseMemoryManagementFunctions="true",
    canGetAndSetFMUstate="true", canSerializeFMUstate="true",
)  # fmt: skip


def write_python_fmu(mechanism: Mechanism, target: Path, starts: Mapping[str, float], progress: Callable[[str], None]) -> None:
    """Write the FMU of a mechanism, with some start values changed, to the file `target`."""
    progress(f"{target.name}: recording the equations, packing")
    core = bundled_files(mechanism)
    digest = _digest(core)
    package = f"mechfmu_{digest}"  # hashed: FMUs of different versions live side by side in one process
    model = dict(name=mechanism.name, mechanism=mechanism.key, options=mechanism.options, start=dict(starts), core=package, requires=REQUIRES)
    slave = fmu_source("python/mechanism_slave.py").read_bytes()
    own = _digest({Path("model.json"): json.dumps(model).encode(), Path("slave.py"): slave})
    with tempfile.TemporaryDirectory(prefix="mechfmu_") as temporary:
        folder = Path(temporary)
        script = folder / f"{mechanism.name}_{own}.py"  # unique: pythonfmu imports slaves by file name
        script.write_bytes(slave)
        (folder / "model.json").write_text(json.dumps(model, indent=1))
        for path, content in core.items():
            file = folder / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        with _no_trace_left(script.stem, package):
            packed = FmuBuilder.build_FMU(script, folder / "raw.fmu", [folder / package, folder / "model.json"])
        with zipfile.ZipFile(packed) as raw:
            contents = {i.filename: raw.read(i) for i in raw.infolist() if not i.is_dir()}
    contents |= common_contents(mechanism, starts)
    interface = {"CoSimulation": Interface(dict(modelIdentifier=mechanism.name, **ABILITIES))}
    contents["modelDescription.xml"] = model_description(mechanism, interface, Fmi2Slave.log_categories, starts, dependencies(mechanism), content=own + digest)
    write_archive(target, contents)


def bundled_files(mechanism: Mechanism) -> dict[Path, bytes]:
    """What the slave needs at run time: core, engines, and this one mechanism."""
    folders = [PACKAGE / "core", PACKAGE / "engines", mechanism.folder]
    files = [PACKAGE / "__init__.py", *(PACKAGE / "mechanisms").glob("*.py"), *(f for folder in folders for f in folder.rglob("*.py"))]
    return {_inside(f, mechanism): f.read_bytes() for f in sorted(files)}


def _inside(file: Path, mechanism: Mechanism) -> Path:
    """Where a file lies in the bundle; a mechanism kept outside the package goes where the others are."""
    if file.is_relative_to(mechanism.folder):
        return Path("mechanisms") / mechanism.key / file.relative_to(mechanism.folder)
    return file.relative_to(PACKAGE)


def _digest(files: Mapping[Path, bytes]) -> str:
    sha = hashlib.sha256()
    for path, content in sorted(files.items()):
        sha.update(path.as_posix().encode() + b"\0" + content + b"\0")
    return sha.hexdigest()[:12]


@contextmanager
def _no_trace_left(*modules: str) -> Iterator[None]:
    """pythonfmu's builder imports the slave into this process; afterwards sys.path and sys.modules are as they were."""
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [m for m in sys.modules if m.split(".")[0] in modules]:
            del sys.modules[name]
