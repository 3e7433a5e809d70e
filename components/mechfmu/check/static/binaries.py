"""S14: the libraries in binaries/, of all platforms, read without loading them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..findings import MISSING_FUNCTION, Finding, rule
from .binary import Binary, UnreadableBinary, opened
from .elf import read_elf
from .mach_o import FAT, MAGIC, read_mach_o
from .pe import read_pe
from .platforms import PLATFORMS, FmiPlatform, in_base_system, platform_named
from .unpacked import UnpackedFmu
from .wasm import WASM_MAGIC, read_wasm

COMMON = (
    "GetTypesPlatform", "GetVersion", "SetDebugLogging", "Instantiate", "FreeInstance", "SetupExperiment",
    "EnterInitializationMode", "ExitInitializationMode", "Terminate", "Reset", "GetReal", "GetInteger", "GetBoolean",
    "GetString", "SetReal", "SetInteger", "SetBoolean", "SetString", "GetFMUstate", "SetFMUstate", "FreeFMUstate",
    "SerializedFMUstateSize", "SerializeFMUstate", "DeSerializeFMUstate", "GetDirectionalDerivative",
)  # fmt: skip
FUNCTIONS = {
    "ModelExchange": (
        "EnterEventMode", "NewDiscreteStates", "EnterContinuousTimeMode", "CompletedIntegratorStep", "SetTime",
        "SetContinuousStates", "GetDerivatives", "GetEventIndicators", "GetContinuousStates",
        "GetNominalsOfContinuousStates",
    ),
    "CoSimulation": (
        "SetRealInputDerivatives", "GetRealOutputDerivatives", "DoStep", "CancelStep", "GetStatus", "GetRealStatus",
        "GetIntegerStatus", "GetBooleanStatus", "GetStringStatus",
    ),
}  # fmt: skip
# The newest versions that a library can need and still be loaded by the usual distributions of Linux: those of Red
# Hat Enterprise Linux 9 (2022, until 2032), which are also those of Python's platform manylinux_2_34.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29)}
MAX_NAMES = 3  # missing functions that a message lists
SYSTEM_FOLDERS = ("/usr/lib", "/usr/local/lib", "/lib", "/lib64", "/usr/lib64", "/opt", "/System")
MAGIC_BYTES = {m.to_bytes(4, order) for m in (*FAT, *MAGIC) for order in ("big", "little")}  # type: ignore[arg-type]


@rule("S14", "binaries of every platform", "2.3")
def binaries(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Each library has the format and the machine of its folder and exports all functions of its interface types. It
    needs no library that neither the FMU nor the platform's base system has, no glibc newer than 2.34, and looks for
    libraries in no folder of the machine that built it. A WebAssembly module in binaries/wasm32 imports nothing."""
    for folder in sorted({n.split("/")[0] for n in fmu.archive.under("binaries/") if "/" in n}):
        platform = platform_named(folder)
        if platform is None:
            continue  # vendors may introduce further names
        libraries: dict[str, list[str]] = {}
        for kind, element in fmu.description.interfaces.items():
            name = f"binaries/{folder}/{element.get('modelIdentifier')}{platform.suffix}"
            if name in fmu.archive.names:
                libraries.setdefault(name, []).append(kind)
        for name, kinds in libraries.items():
            yield from _library(fmu, name, platform, kinds)


def read_binaries(file: Path) -> list[Binary]:
    """The libraries in a file: one, or one for each machine. Raises UnreadableBinary."""
    with opened(file) as data:
        head = data.get(0, 4)
        if head == b"\x7fELF":
            return [read_elf(data)]
        if head[:2] == b"MZ":
            return [read_pe(data)]
        if head in MAGIC_BYTES:
            return read_mach_o(data)
        if head == WASM_MAGIC:
            return [read_wasm(data)]
    raise UnreadableBinary("it is not a library of any platform")


def _library(fmu: UnpackedFmu, name: str, platform: FmiPlatform, kinds: list[str]) -> Iterator[Finding]:
    expected = f"a {platform.format} library for {platform.machine}"
    sentence = "platforms" if platform.name in PLATFORMS else ""
    try:
        found = read_binaries(fmu.archive.path(name))
    except UnreadableBinary as error:
        yield Finding(name, str(error), expected, sentence)
        return
    matching = [b for b in found if b.format == platform.format and b.machine == platform.machine]
    if not matching:
        what = " and ".join(f"{b.format} for {b.machine}" for b in found)
        yield Finding(name, f"it is {what}", expected, sentence)
        return
    binary = matching[0]
    if not binary.is_library:
        yield Finding(name, "it is not a shared library", expected, "library-named")
        return
    loaded = _Loaded(fmu, PurePosixPath(name).parent.as_posix() + "/", platform)
    loaded.add(name, binary)
    yield from _functions(name, loaded.exports, fmu, kinds)
    yield from loaded.missing()
    yield from _versions(name, binary)
    yield from _search_paths(name, binary)


def _functions(name: str, exports: set[str], fmu: UnpackedFmu, kinds: list[str]) -> Iterator[Finding]:
    needed = [f"fmi2{n}" for n in (*COMMON, *(f for kind in kinds for f in FUNCTIONS[kind]))]
    missing = [f for f in needed if f not in exports]
    prefix = f"{fmu.description.interfaces[kinds[0]].get('modelIdentifier')}_"
    expected = f"all functions of {' and '.join(kinds)}"
    if missing and all(prefix + f in exports for f in missing):
        problem = f"it exports its functions with the prefix {prefix}"
        cure = "compile it without FMI2_FUNCTION_PREFIX: the prefix is for source code and static libraries"
        yield Finding(name, problem, "fmi2Instantiate and so on", "all-functions", suggestion=cure)
    elif len(missing) == len(needed):
        yield Finding(name, "it exports no function of FMI 2.0", expected, "all-functions")
    elif missing:
        more = f" and {len(missing) - MAX_NAMES} more functions" if len(missing) > MAX_NAMES else ""
        problem = f"it does not export {', '.join(missing[:MAX_NAMES])}{more}"
        yield Finding(name, problem, expected, "all-functions", cause=MISSING_FUNCTION)


@dataclass
class _Loaded:
    """A library and those that are loaded with it from its folder."""

    fmu: UnpackedFmu
    folder: str
    platform: FmiPlatform

    def __post_init__(self) -> None:
        self.exports: set[str] = set()
        self.binaries: dict[str, Binary] = {}
        self.absent: dict[str, str] = {}  # library -> the one that needs it
        self.unreachable: dict[str, str] = {}
        files = {PurePosixPath(n).name.lower(): n for n in self.fmu.archive.names if not n.endswith(".lib")}
        near = {PurePosixPath(n).name.lower(): n for n in self.fmu.archive.names if n.startswith(self.folder)}
        self.files = files | near

    def add(self, name: str, binary: Binary) -> None:
        first = not self.binaries
        self.binaries[name] = binary
        if first or self.platform.format != "PE":  # dlsym also finds the functions of needed libraries
            self.exports |= binary.exports
        for library in binary.needed:
            base = PurePosixPath(library.replace("\\", "/")).name
            file = self.files.get(base.lower())
            if in_base_system(self.platform, library):
                continue
            if file is None:
                self.absent.setdefault(base, name)
                continue
            if self.platform.format == "ELF" and not any("ORIGIN" in path for path in binary.search_paths):
                self.unreachable.setdefault(base, name)
            if file not in self.binaries:
                self._follow(file)

    def _follow(self, file: str) -> None:
        try:
            found = read_binaries(self.fmu.archive.path(file))
        except UnreadableBinary:
            return
        for binary in found:
            if binary.machine == self.platform.machine and file not in self.binaries:
                self.add(file, binary)

    def missing(self) -> Iterator[Finding]:
        """Dependencies that will not be found, unless the FMU documents them or needs a tool anyway."""
        documents = set(self.fmu.archive.under("documentation/"))
        tool = any(self.fmu.description.flag(kind, "needsExecutionTool") for kind in self.fmu.description.interfaces)
        if tool or documents & {"externalDependencies.txt", "externalDependencies.html"}:
            return
        for library, name in self.absent.items():
            problem = f"it needs {library}, which neither the FMU nor {self.platform.system} has"
            expected = "static linking, the library in the same folder, or documentation/externalDependencies.txt"
            yield Finding(name, problem, expected, cause="missing library")
        main = next(iter(self.binaries))
        for library, name in self.unreachable.items():
            if name == main:
                problem = f"it needs {library} of its folder, but has no RPATH by which the loader looks there"
                yield Finding(name, problem, 'RPATH="$ORIGIN", as section 2.3 recommends')


def _versions(name: str, binary: Binary) -> Iterator[Finding]:
    for library, newest in NEWEST.items():
        found = [re.fullmatch(rf"{library}_(\d{{1,4}}(?:\.\d{{1,4}})*)", v) for v in binary.versions]
        versions = [tuple(map(int, m[1].split("."))) for m in found if m]
        if versions and max(versions) > newest:
            needed, limit = (".".join(map(str, v)) for v in (max(versions), newest))
            problem = f"it needs {library} {needed}, so it cannot be loaded on distributions with an older one"
            yield Finding(name, problem, f"at most {limit}, which every supported distribution has")


def _search_paths(name: str, binary: Binary) -> Iterator[Finding]:
    for path in binary.search_paths:
        if path.startswith("/") and not path.startswith(SYSTEM_FOLDERS):
            problem = f"its RPATH is {path}, a folder of the machine that built it"
            yield Finding(name, problem, "$ORIGIN or @loader_path, or no RPATH")
