"""S1 and S13: the files of the FMU."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..findings import Finding, rule
from .unpacked import UnpackedFmu

SUFFIXES = {
    "win32": ".dll",
    "win64": ".dll",
    "linux32": ".so",
    "linux64": ".so",
    "darwin32": ".dylib",
    "darwin64": ".dylib",
}
MAGIC = {
    ".dll": (b"MZ",),
    ".so": (b"\x7fELF",),
    ".dylib": (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"),
}
BITS = {b"\x01": "32", b"\x02": "64"}  # of an ELF file, its fifth byte
COMPILE_SECONDS = 120


@rule("S1", "archive and its contents", "2.3")
def archive_contents(fmu: UnpackedFmu) -> Iterator[Finding]:
    """The zip file is intact and safe to unpack: no backslashes, absolute or parent paths, links, zip bombs.
    It contains modelDescription.xml and, for every platform in binaries/, a library named modelIdentifier, or
    else sources; documentation/ contains index.html."""
    archive = fmu.archive
    yield from archive.problems
    if "modelDescription.xml" not in archive.names:
        if archive.opened:
            yield Finding("the archive", "it has no modelDescription.xml", "modelDescription.xml at its top level")
        return
    in_files = {n.split("/")[0] for n in archive.under("binaries/") if "/" in n}
    in_folders = {f.split("/")[1] for f in archive.folders if f.startswith("binaries/")}
    platforms = sorted(in_files | in_folders)
    for platform in platforms:
        yield from _libraries(fmu, platform)
    if not platforms and not any(n.endswith((".c", ".cpp", ".cc")) for n in archive.under("sources/")):
        expected = "a library in binaries/<platform>/ or C code in sources/"
        yield Finding("the archive", "it has neither binaries nor sources", expected)
    if "documentation" in archive.folders and "documentation/index.html" not in archive.names:
        yield Finding("documentation/", "there is no index.html", "documentation/index.html as entry point")


def _libraries(fmu: UnpackedFmu, platform: str) -> Iterator[Finding]:
    """The libraries for one platform: one for each modelIdentifier."""
    folder, suffix = f"binaries/{platform}/", SUFFIXES.get(platform)
    if suffix is None:
        expected = "one of " + ", ".join(SUFFIXES)
        yield Finding(folder, "the standard has no platform of this name", expected, severity="note")
        return
    elements = [e for e in fmu.description.interfaces.values() if e.get("modelIdentifier")]
    for identifier, line in {e.get("modelIdentifier"): e.sourceline for e in elements}.items():
        name = f"{folder}{identifier}{suffix}"
        if name not in fmu.archive.names:
            missing = f"there is no {identifier}{suffix}"
            yield Finding(folder, missing, "the library named modelIdentifier", line=line)
        elif problem := _wrong_format(fmu.archive.path(name), platform, suffix):
            yield Finding(name, problem, f"a library for {platform}")


def _wrong_format(file: Path, platform: str, suffix: str) -> str | None:
    with file.open("rb") as stream:
        head = stream.read(5)
    if not head.startswith(MAGIC[suffix]):
        return f"it does not begin like a {suffix} file"
    if suffix == ".so" and not platform.endswith(BITS.get(head[4:5], "")):
        return f"it is a {BITS[head[4:5]]}-bit library"
    return None


@rule("S13", "source files", "2.3, 3.3.1, 4.3.1")
def source_files(fmu: UnpackedFmu) -> Iterator[Finding]:
    """The files listed in SourceFiles exist in sources/ and compile, if a C compiler is available."""
    d = fmu.description
    elements = [e for kind in d.interfaces for e in d.all(f"{kind}/SourceFiles/File")]
    listed = {e.get("name"): e.sourceline for e in elements if e.get("name")}
    present = set(fmu.archive.under("sources/"))
    for name, line in listed.items():
        if name not in present:
            yield Finding(f'source file "{name}"', "it does not exist", f"sources/{name} in the archive", line=line)
    compiler = _compiler()
    sources = [n for n in listed if n in present and n.endswith(".c")]
    if sources and not compiler:
        expected = "cc, $CC or the Python package ziglang"
        yield Finding("SourceFiles", "not compiled, because no C compiler was found", expected, severity="note")
        return
    expected = "C code that compiles with the standard's headers"
    for name in sources:
        if error := _compile(compiler, fmu, name):
            yield Finding(f'source file "{name}"', f"it does not compile ({error})", expected, line=listed[name])


def _compiler() -> list[str]:
    found = shutil.which(os.environ.get("CC", "cc"))
    if found:
        return [found]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else []


def _standard_headers() -> list[str]:
    """The option for FMI's header files, which an FMU need not contain; FMPy has them."""
    spec = importlib.util.find_spec("fmpy")
    folder = Path(spec.origin).parent / "c-code" if spec and spec.origin else None
    return [f"-I{folder}"] if folder and folder.is_dir() else []


def _compile(compiler: list[str], fmu: UnpackedFmu, name: str) -> str | None:
    """The compiler's first error message, or None."""
    folder = fmu.archive.path("sources")
    command = [*compiler, "-fsyntax-only", "-w", "-I.", *_standard_headers(), str(folder / name)]
    environment = {**os.environ, "TMPDIR": str(fmu.scratch), "ZIG_LOCAL_CACHE_DIR": str(fmu.scratch)}
    try:
        result = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=COMPILE_SECONDS, stdin=subprocess.DEVNULL
        )
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        return type(error).__name__
    if result.returncode == 0:
        return None
    lines = result.stderr.decode(errors="replace").replace(f"{folder}/", "").splitlines()
    first = lines[0] if lines else f"exit status {result.returncode}"
    return next((line for line in lines if "error" in line), first)[:300]
