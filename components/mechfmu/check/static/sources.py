"""S13: source code."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped]

from ..findings import Finding, rule
from .contents import has_sources
from .unpacked import UnpackedFmu

COMPILE_SECONDS = 60  # for all files together
BUILD_DESCRIPTION = "buildDescription.xml"
MISSING_HEADER = re.compile(r"error: '?([^':]+)'?(?:: No such file or directory| file not found)")


@dataclass(frozen=True)
class _SourceFile:
    """A file to be compiled."""

    name: str
    options: tuple[str, ...] = ()
    line: int | None = None


@rule("S13", "source files", "2.3, 3.3.1, 4.3.1")
def source_files(fmu: UnpackedFmu) -> Iterator[Finding]:
    """If the FMU has source code, the files to be compiled are listed, exist in sources/, and compile, if there is a C
    compiler."""
    if not has_sources(fmu) or not fmu.description.interfaces:
        return  # SourceFiles are only meaningful for source code FMUs
    present = set(fmu.archive.under("sources/"))
    files = _described(fmu) if BUILD_DESCRIPTION in present else _listed(fmu)
    if not files and any(name.endswith(".c") for name in present):
        problem, expected = "no file is listed in SourceFiles", "the files that have to be compiled"
        yield Finding("sources/", problem, expected, "sources-listed")
    for file in files:
        if file.name not in present:
            expected = f"sources/{file.name} in the archive"
            yield Finding(f'source file "{file.name}"', "it does not exist", expected, "source-files", line=file.line)
    yield from _compile_all(fmu, [f for f in files if f.name in present and f.name.endswith(".c")])


def _listed(fmu: UnpackedFmu) -> list[_SourceFile]:
    d = fmu.description
    elements = [e for kind in d.interfaces for e in d.all(f"{kind}/SourceFiles/File") if e.get("name")]
    return list({e.get("name"): _SourceFile(e.get("name"), line=e.sourceline) for e in elements}.values())


def _described(fmu: UnpackedFmu) -> list[_SourceFile]:
    """The files of the build description, which takes precedence, with the options it gives for them."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.parse(str(fmu.archive.path(f"sources/{BUILD_DESCRIPTION}")), parser).getroot()
    except (etree.XMLSyntaxError, OSError, ValueError):
        return _listed(fmu)
    found: dict[str, _SourceFile] = {}
    for group in root.findall("BuildConfiguration/SourceFileSet"):
        defined = [(e.get("name"), e.get("value")) for e in group.findall("PreprocessorDefinition")]
        macros = tuple(f"-D{name}={value}" if value is not None else f"-D{name}" for name, value in defined if name)
        folders = tuple(f"-I{e.get('name')}" for e in group.findall("IncludeDirectory") if e.get("name"))
        for name in filter(None, (e.get("name") for e in group.findall("SourceFile"))):
            found[name] = _SourceFile(name, macros + folders)
    return list(found.values())


def _compile_all(fmu: UnpackedFmu, files: list[_SourceFile]) -> Iterator[Finding]:
    compiler, headers = _compiler(), _standard_headers()
    if files and not (compiler and headers):
        fmu.not_judged.append("the source files were not compiled, because no C compiler or no header of FMI was found")
        return
    expected = "C code that compiles with the standard's headers"
    deadline = time.monotonic() + COMPILE_SECONDS
    for file in files:
        remaining = deadline - time.monotonic()
        error = _compile([*compiler, *headers, *file.options], fmu, file.name, remaining) if remaining > 0 else None
        if error is None:
            fmu.not_judged.append(f"source file {file.name} was not compiled within {COMPILE_SECONDS} s")
            continue
        where, sources = f'source file "{file.name}"', fmu.archive.under("sources/")
        header = MISSING_HEADER.search(error)
        if header and _included_with_quotes(fmu, header[1], sources):
            problem = f"{header[1]}, which is included, is not in the archive"
            yield Finding(where, problem, "all headers that are needed", "sources", line=file.line)
        elif header:
            fmu.not_judged.append(f"source file {file.name} includes <{header[1]}>, which is not found here")
        elif error:
            yield Finding(where, f"it does not compile here with default options ({error})", expected, line=file.line)


def _included_with_quotes(fmu: UnpackedFmu, header: str, sources: list[str]) -> bool:
    """Whether a header is meant to be part of the FMU."""
    pattern = re.compile(rb'#\s*include\s*"' + re.escape(header.encode()) + rb'"')
    return any(pattern.search(fmu.archive.path(f"sources/{n}").read_bytes()) for n in sources)


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


def _compile(command: list[str], fmu: UnpackedFmu, name: str, seconds: float) -> str | None:
    """The compiler's first error message, "" if there is none, None if it took too long."""
    folder = fmu.archive.path("sources")
    command = [*command, "-fsyntax-only", "-w", "-I.", str(folder / name)]
    environment = {**os.environ, "TMPDIR": str(fmu.scratch), "ZIG_LOCAL_CACHE_DIR": str(fmu.scratch)}
    try:
        result = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return None
    if result.returncode == 0:
        return ""
    lines = result.stderr.decode(errors="replace").replace(f"{folder}/", "").splitlines()
    first = lines[0] if lines else f"exit status {result.returncode}"
    return next((line for line in lines if "error" in line), first)[:300]
