"""The Python FMU: a pythonfmu slave, the part of mechfmu that computes, bundled under a name of its own, and the library that runs them in a Python process."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pythonfmu
from pythonfmu.fmi2slave import Fmi2Slave

from ..codegen.sources import fmu_source
from ..model import Mechanism
from .archive import write_archive
from .bundle import bundled_files
from .contents import common_contents
from .dependencies import dependencies
from .licenses import license_contents
from .model_description import Interface, model_description
from .portable import portable_contents, register_python

SLAVE_MODULES = (
    "_version",
    "default_experiment",
    "enums",
    "fmi2slave",
    "logmsg",
    "variables",
)  # of pythonfmu; the rest of it builds FMUs
REQUIRES = ("numpy", "scipy", "casadi")
PYTHON = (3, 10)
ABILITIES = dict(
    needsExecutionTool="false",
    canHandleVariableCommunicationStepSize="true",
    canNotUseMemoryManagementFunctions="true",
    canGetAndSetFMUstate="true",
    canSerializeFMUstate="true",
)


def write_python_fmu(
    mechanism: Mechanism,
    target: Path,
    starts: Mapping[str, float],
    platforms: Sequence[str],
    compiler: str,
    progress: Callable[[str], None],
) -> None:
    """Write the FMU of a mechanism, with some start values changed, to the file `target`."""
    progress(f"{target.name}: recording the equations, packing")
    core = bundled_files(mechanism)
    digest = _digest(core)
    package = f"mechfmu_{digest}"  # hashed: in-process, FMUs of different versions do not share their modules
    model = dict(
        name=mechanism.name, mechanism=mechanism.key, options=mechanism.options, start=dict(starts), core=package
    )
    slave = fmu_source("python/mechanism_slave.py").read_bytes()
    own = _digest({Path("model.json"): json.dumps(model).encode(), Path("slave.py"): slave})
    module = f"{mechanism.name}_{own}"  # unique: pythonfmu imports slaves by file name
    contents = {f"resources/{package}/{path.as_posix()}": content for path, content in core.items()}
    contents |= {
        f"resources/pythonfmu/{name}.py": (Path(pythonfmu.__file__).parent / f"{name}.py").read_bytes()
        for name in SLAVE_MODULES
    }
    contents["resources/pythonfmu/__init__.py"] = b"from .fmi2slave import Fmi2Slave\n"
    contents |= {
        f"resources/{module}.py": slave,
        "resources/slavemodule.txt": module.encode(),
        "resources/model.json": json.dumps(model, indent=1).encode(),
    }
    contents |= common_contents(mechanism, starts) | license_contents(
        platforms, compiler, slave=True, mechanism=mechanism
    )
    interface = {"CoSimulation": Interface(dict(modelIdentifier=mechanism.name, **ABILITIES))}
    description = model_description(
        mechanism, interface, Fmi2Slave.log_categories, starts, dependencies(mechanism), content=own + digest
    )
    guid = re.search(rb'guid="([^"]+)"', description)
    assert guid is not None
    contents["modelDescription.xml"] = description
    contents |= portable_contents(mechanism.name, guid[1].decode(), platforms, compiler, progress, REQUIRES, PYTHON)
    write_archive(target, contents)
    register_python()


def _digest(files: Mapping[Path, bytes]) -> str:
    sha = hashlib.sha256()
    for path, content in sorted(files.items()):
        sha.update(path.as_posix().encode() + b"\0" + content + b"\0")
    return sha.hexdigest()[:12]
