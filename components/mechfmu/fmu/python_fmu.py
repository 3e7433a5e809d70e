"""The Python FMU: a pythonfmu slave, the modules of mechfmu that it needs, and the library that runs it.

The modules are bundled as a package with a unique name: FMUs of different versions of mechfmu do not share modules. The
library runs the slave in a separate Python process (see portable_library.py).
"""

from __future__ import annotations

import hashlib
import json
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
from .model_description import Interface, guid_of, model_description
from .portable_library import portable_contents
from .python_registry import register_python

SLAVE_MODULES = ("_version", "default_experiment", "enums", "fmi2slave", "logmsg", "variables")  # those at run time
REQUIRES = ("numpy", "scipy", "casadi")
PYTHON = (3, 10)
CAPABILITIES = dict(
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
    contents, digest = _slave_contents(mechanism, starts)
    contents |= common_contents(mechanism, starts)
    contents |= license_contents(platforms, compiler, slave=True, mechanism=mechanism)
    interface = {"CoSimulation": Interface(dict(modelIdentifier=mechanism.name, **CAPABILITIES))}
    description = model_description(
        mechanism, interface, Fmi2Slave.log_categories, starts, dependencies(mechanism), content=digest
    )
    contents["modelDescription.xml"] = description
    contents |= portable_contents(mechanism.name, guid_of(description), platforms, compiler, progress, REQUIRES, PYTHON)
    write_archive(target, contents)
    register_python()


def _slave_contents(mechanism: Mechanism, starts: Mapping[str, float]) -> tuple[dict[str, bytes], str]:
    """Return archive name -> content of the slave and all modules that it needs, and a digest of them."""
    bundle = bundled_files(mechanism)
    bundle_digest = _digest(bundle)
    package = f"mechfmu_{bundle_digest}"
    options, changed = mechanism.options, dict(starts)
    model = dict(name=mechanism.name, mechanism=mechanism.key, options=options, start=changed, package=package)
    model |= {"constants": dict(mechanism.constants)} if mechanism.constants else {}
    slave = fmu_source("python/mechanism_slave.py").read_bytes()
    slave_digest = _digest({Path("model.json"): json.dumps(model).encode(), Path("slave.py"): slave})
    module = f"{mechanism.name}_{slave_digest}"  # unique: pythonfmu imports slaves by file name
    contents = {f"resources/{package}/{path.as_posix()}": content for path, content in bundle.items()}
    for name in SLAVE_MODULES:
        file = Path(pythonfmu.__file__).parent / f"{name}.py"
        contents[f"resources/pythonfmu/{name}.py"] = file.read_bytes()
    contents |= {
        "resources/pythonfmu/__init__.py": b"from .fmi2slave import Fmi2Slave\n",
        f"resources/{module}.py": slave,
        "resources/slavemodule.txt": module.encode(),
        "resources/model.json": json.dumps(model, indent=1).encode(),
    }
    return contents, slave_digest + bundle_digest


def _digest(files: Mapping[Path, bytes]) -> str:
    sha = hashlib.sha256()
    for path, content in sorted(files.items()):
        sha.update(path.as_posix().encode() + b"\0" + content + b"\0")
    return sha.hexdigest()[:12]
