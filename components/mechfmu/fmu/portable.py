"""Portable FMUs: what pythonfmu made, with our library, which runs the slave in a Python process of its own (fmu_src/portable).

The library is the same for every FMU. It is compiled once for each platform and kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from .. import RELEASED
from ..codegen.cache import cached_library
from ..codegen.compiler import PLATFORMS, check_compiler, compile_sources, default_compiler, host_platform, zig_folder
from ..codegen.guarded import run_guarded
from ..codegen.sources import c_sources, fmu_source
from ..model import UserError
from .archive import make_folder, write_archive
from .licenses import license_contents

SOURCES = ("fmi", "portable")
SCRIPTS = ("mechfmu_start.py", "mechfmu_child.py")
RESERVED = (*SCRIPTS, "mechfmu.json")
OLDEST_PYTHON = (3, 7)  # for a slave that says nothing; what SCRIPTS are written for
WINDOWS_LIBRARIES = (
    "kernel32",
    *(f"api-ms-win-crt-{part}-l1-1-0" for part in ("stdio", "heap", "string", "convert", "private", "math")),
)

Progress = Callable[[str], None]


def all_platforms(compiler: str) -> list[str]:
    """The platforms that this compiler builds for."""
    return list(PLATFORMS) if compiler == "zig" else [host_platform()]


def _flags(platform: str) -> list[str]:
    if platform == "linux64":
        return ["-ldl"]
    if platform == "win64":  # Windows' own C library, without the MinGW start-up code, which takes a minute to compile
        headers = zig_folder() / "lib" / "libc" / "include" / "any-windows-any"
        return ["-nostdlib", "-isystem", str(headers), *(f"-l{name}" for name in WINDOWS_LIBRARIES)]
    return []


def library(platform: str, compiler: str, progress: Progress) -> bytes:
    """The library of portable FMUs for a platform."""
    check_compiler(compiler, platform)
    if platform == "win64" and compiler != "zig":
        raise UserError(
            "the library for win64 is compiled by zig only: install it with  pip install ziglang  (or mechfmu[native])"
        )
    files = c_sources(*SOURCES)
    version = importlib.metadata.version("ziglang") if compiler == "zig" else ""
    digest = hashlib.sha256(
        "\0".join([compiler, version, *(f"{k}\0{v}" for k, v in sorted(files.items()))]).encode()
    ).hexdigest()[:16]

    def make(target: Path) -> None:
        progress(f"compiling the library for {platform}, once")
        compile_sources((files,), target, platform, compiler, _flags(platform))

    with cached_library(f"portable_{digest}", PLATFORMS[platform].suffix, make) as file:
        return file.read_bytes()


def portable_contents(
    identifier: str, guid: str, platforms: Sequence[str], compiler: str, progress: Progress, requires: Sequence[str] = (),
    python: tuple[int, int] = OLDEST_PYTHON, call_timeout: float | None = None,
) -> dict[str, bytes]:  # fmt: skip
    """What makes an FMU with a slave portable: archive name -> content."""
    if call_timeout is not None and not 0 < call_timeout < float("inf"):
        raise UserError(f"call timeout {call_timeout:g} s: must be a finite number greater than 0")
    settings = dict(guid=guid, python=python, requires=list(requires), call_timeout=call_timeout)
    contents = {f"resources/{name}": fmu_source(f"python/{name}").read_bytes() for name in SCRIPTS}
    contents["resources/mechfmu.json"] = json.dumps(settings, indent=1).encode()
    for platform in platforms:
        contents[f"binaries/{platform}/{identifier}{PLATFORMS[platform].suffix}"] = library(
            platform, compiler, progress
        )
    return contents


# --- any FMU made with pythonfmu -----------------------------------------------------------------------------------------------------


def make_portable(
    source: str | Path,
    folder: str | Path = ".",
    files: Sequence[str | Path] = (),
    call_timeout: float | None = None,
    progress: Progress = lambda text: None,
) -> Path:
    """Write a portable copy of an FMU made with pythonfmu, or of the FMU of a slave's file, into `folder`; the file written.

    files         for a slave's file: what else it needs, modules, folders and data
    call_timeout  seconds after which a call of the host is given up; None: never
    """
    source, folder = Path(source), Path(folder)
    if not source.is_file():
        raise UserError(f"there is no file {source}")
    make_folder(folder)
    if source.suffix.lower() == ".py":
        _check_names([source.name, *(Path(f).name for f in files)])
        with tempfile.TemporaryDirectory(prefix="mechfmu_slave_") as temporary:
            progress(f"{source.name}: building with pythonfmu")
            return _converted(_built(source, files, Path(temporary)), folder, call_timeout, progress, fresh=True)
    if files:
        raise UserError("further files go with a slave's file (.py), not with an FMU")
    return _converted(source, folder, call_timeout, progress)


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name in RESERVED:
            raise UserError(f"a file {name} cannot go into a portable FMU, which has one of its own: rename it")


def _built(slave: Path, files: Sequence[str | Path], folder: Path) -> Path:
    """The FMU that pythonfmu builds of a slave, in a process of its own: the slave is somebody's program."""
    for file in files:
        if not Path(file).exists():
            raise UserError(f"there is no file or folder {file}")
    command = [
        sys.executable,
        "-m",
        "pythonfmu",
        "build",
        "-f",
        str(slave.resolve()),
        "-d",
        str(folder),
        *(str(Path(f).resolve()) for f in files),
    ]
    status, said = run_guarded(command, slave.resolve().parent)
    built = list(folder.glob("*.fmu"))
    if status or len(built) != 1:
        lines = [line for line in said.splitlines() if line.strip()] or [f"it ended with exit status {status}"]
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)\b", line)]
        raise UserError(f"pythonfmu cannot build {slave}: {(errors or lines)[-1].strip()}")
    return built[0]


def _converted(fmu: Path, folder: Path, call_timeout: float | None, progress: Progress, fresh: bool = False) -> Path:
    """The portable copy of an FMU; a `fresh` one, which nobody has used yet, gets a GUID and a date that do not tell who built it and when."""
    target = folder / fmu.name
    if target.resolve() == fmu.resolve():
        target = folder / f"{fmu.stem}.portable.fmu"
    try:
        with zipfile.ZipFile(fmu) as archive:
            contents = {
                str(PurePosixPath(i.filename.replace("\\", "/"))): archive.read(i)
                for i in archive.infolist()
                if not i.is_dir()
            }
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{fmu} cannot be read as an FMU: {error}") from None
    if "resources/mechfmu.json" not in contents:
        _check_names(
            [PurePosixPath(name).name for name in contents if name.count("/") == 1 and name.startswith("resources/")]
        )
    if fresh:
        contents["modelDescription.xml"] = _anonymous(contents)
    description = _description(fmu, contents)
    co_simulation = description.find("CoSimulation")
    assert co_simulation is not None
    compiler = default_compiler()
    old = sorted(name for name in contents if name.startswith("binaries/"))
    kept = {name: content for name, content in contents.items() if name not in old and "/__pycache__/" not in name}
    progress(f"{target.name}: packing")
    kept |= portable_contents(
        co_simulation.get("modelIdentifier", ""),
        description.get("guid", ""),
        all_platforms(compiler),
        compiler,
        progress,
        call_timeout=call_timeout,
    )
    kept["modelDescription.xml"] = _without_tool(contents["modelDescription.xml"])
    kept = license_contents(all_platforms(compiler), compiler, slave=True) | kept  # its own texts stay
    kept.setdefault(
        "documentation/index.html",
        b'<!DOCTYPE html>\n<title>Licences</title>\n<p><a href="licenses/license.txt">Licences</a></p>\n',
    )
    write_archive(target, kept)
    register_python()
    return target


def _description(fmu: Path, contents: Mapping[str, bytes]) -> ElementTree.Element:
    """The model description of an FMU that can be made portable, or UserError."""
    if "modelDescription.xml" not in contents:
        raise UserError(f"{fmu} is not an FMU: modelDescription.xml is missing")
    try:
        root = ElementTree.fromstring(contents["modelDescription.xml"])
    except ElementTree.ParseError as error:
        raise UserError(f"{fmu}: modelDescription.xml cannot be read: {error}") from None
    if root.get("fmiVersion") != "2.0":
        raise UserError(f"{fmu} is of FMI {root.get('fmiVersion', '?')}: only FMI 2.0 can be made portable")
    slave = contents.get("resources/slavemodule.txt", b"").decode("utf-8", "replace").strip()
    if not slave or root.find("CoSimulation") is None:
        raise UserError(f"{fmu} was not made with pythonfmu: resources/slavemodule.txt is missing")
    for name in (f"resources/{slave}.py", "resources/pythonfmu/fmi2slave.py"):
        if name not in contents:
            raise UserError(f"{fmu} is incomplete: {name} is missing")
    return root


def _anonymous(contents: Mapping[str, bytes]) -> bytes:
    """The model description with a GUID made of the contents, and a fixed date."""
    text = contents["modelDescription.xml"]
    for attribute, value in (("guid", ""), ("generationDateAndTime", RELEASED)):
        text = re.sub(rf'\b{attribute}="[^"]*"'.encode(), f'{attribute}="{value}"'.encode(), text, count=1)
    own = {
        name: content
        for name, content in contents.items()
        if name.startswith("resources/") and "/__pycache__/" not in name
    }
    digest = hashlib.sha256(
        text + b"\0".join(name.encode() + b"\0" + content for name, content in sorted(own.items()))
    ).digest()
    return text.replace(b'guid=""', f'guid="{uuid.UUID(bytes=digest[:16])}"'.encode(), 1)


def _without_tool(description: bytes) -> bytes:
    """Portable FMUs run without a tool of their own being started by the user, and some hosts refuse those that say they need one."""
    return re.sub(rb'needsExecutionTool\s*=\s*(["\'])(?:true|1)\1', b'needsExecutionTool="false"', description)


# --- the registered Python ---------------------------------------------------------------------------------------------------------------


def registration() -> Path:
    """The file that tells hosts which are not Python programs the user's Python: the library reads it, too (process.h, registered_python)."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        base = Path(
            os.environ.get("XDG_CONFIG_HOME")
            or home / ("Library/Application Support" if sys.platform == "darwin" else ".config")
        )
    return base / "mechfmu" / "python"


def register_python() -> None:
    """Register this Python; where that is not possible, hosts look for another."""
    try:
        file = registration()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sys.executable + "\n", encoding="utf-8")
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        pass
