"""The native FMU: Co-Simulation and Model Exchange in one file.

It contains the C code generated from the equations and the runtime in fmu_src/fmi and fmu_src/native, compiled for each
platform.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..codegen.c_model import model_c, projects
from ..codegen.compiler import PLATFORMS, WASM, compile_sources
from ..codegen.sources import NATIVE, PACKAGE, WASM_HOST, c_sources
from ..model import Mechanism
from .archive import write_archive
from .contents import common_contents
from .dependencies import dependencies
from .licenses import license_contents
from .model_description import Interface, guid_of, model_description

CATEGORIES = {
    "logStatusWarning": "Warnings.",
    "logStatusDiscard": "Why a step was discarded.",
    "logStatusError": "What was wrong with a call.",
    "logStatusFatal": "What made the FMU unusable.",
    "logAll": "All messages.",
}
COMMON = dict(
    needsExecutionTool="false",
    canNotUseMemoryManagementFunctions="true",
    canGetAndSetFMUstate="true",
    canSerializeFMUstate="true",
    providesDirectionalDerivative="true",
)
GUID_PLACEHOLDER = "{guid of the FMU}"


def write_native_fmu(
    mechanism: Mechanism,
    target: Path,
    starts: Mapping[str, float],
    platforms: Sequence[str],
    compiler: str,
    progress: Callable[[str], None],
) -> None:
    """Write the FMU of a mechanism, with some start values changed, to the file `target`."""
    progress(f"{target.name}: writing C")
    sources = native_sources(mechanism, starts, GUID_PLACEHOLDER)
    progress(f"{target.name}: describing the variables")
    description = _description(mechanism, sources, starts)
    sources["model.c"] = sources["model.c"].replace(GUID_PLACEHOLDER, guid_of(description))

    model = dict(name=mechanism.name, mechanism=mechanism.key, options=mechanism.options, start=dict(starts))
    model |= {"constants": dict(mechanism.constants)} if mechanism.constants else {}
    contents = {f"sources/{name}": text.encode() for name, text in sources.items()}
    contents |= {"modelDescription.xml": description, "resources/model.json": json.dumps(model, indent=1).encode()}
    contents |= license_contents(platforms, compiler, slave=False, mechanism=mechanism)
    with ThreadPoolExecutor(1) as background:  # while the compiler works
        common = background.submit(common_contents, mechanism, starts)
        contents |= _libraries(mechanism.name, target, sources, platforms, compiler, progress)
        contents |= common.result()
    if WASM in platforms:
        contents |= {f"binaries/{WASM}/{name}": text.encode() for name, text in web_modules().items()}
    write_archive(target, contents)


def native_sources(mechanism: Mechanism, starts: Mapping[str, float], guid: str) -> dict[str, str]:
    """File name -> text of the C files of an FMU."""
    return {**c_sources(*NATIVE), "model.c": model_c(mechanism, guid, starts)}


def _libraries(
    name: str,
    target: Path,
    sources: Mapping[str, str],
    platforms: Sequence[str],
    compiler: str,
    progress: Callable[[str], None],
) -> dict[str, bytes]:
    """Compile for each platform; archive name -> content."""
    generated = {"model.c": sources["model.c"]}
    runtime = {file: text for file, text in sources.items() if file not in generated}
    contents = {}
    with tempfile.TemporaryDirectory(prefix="mechfmu_native_") as temporary:
        for platform in platforms:
            progress(f"{target.name}: compiling for {platform}")
            library = Path(temporary) / platform / (name + PLATFORMS[platform].suffix)
            groups = [runtime, c_sources(WASM_HOST)] if platform == WASM else [runtime]
            compile_sources(groups, library, platform, compiler, generated=generated)
            contents[f"binaries/{platform}/{library.name}"] = library.read_bytes()
    return contents


def web_modules() -> dict[str, str]:
    """File name -> text of the JavaScript modules that load the WebAssembly library; fmu.js imports the others."""
    files = sorted((PACKAGE / "view" / "web").glob("fmu*.js"))
    return {f.name: f.read_text(encoding="utf-8") for f in files}


def _c_files(sources: Mapping[str, str]) -> list[str]:
    return sorted(name for name in sources if name.endswith(".c"))


def _description(mechanism: Mechanism, sources: Mapping[str, str], starts: Mapping[str, float]) -> bytes:
    """Return modelDescription.xml of the FMU with these sources."""
    smooth = not projects(mechanism)
    model_exchange = dict(COMMON, completedIntegratorStepNotNeeded=str(smooth).lower())
    co_simulation = dict(
        COMMON, canHandleVariableCommunicationStepSize="true", canInterpolateInputs="true", maxOutputDerivativeOrder="1"
    )
    interfaces = {
        element: Interface(dict(modelIdentifier=mechanism.name, **flags), _c_files(sources))
        for element, flags in (("ModelExchange", model_exchange), ("CoSimulation", co_simulation))
    }
    digest = hashlib.sha256("\0".join(f"{k}\0{v}" for k, v in sorted(sources.items())).encode()).hexdigest()
    return model_description(mechanism, interfaces, CATEGORIES, starts, dependencies(mechanism), content=digest)
