"""Make the FMU of any pythonfmu slave portable: give it the library that runs the slave in a separate Python process.

`make_portable` takes an FMU built with pythonfmu, or the file of a slave, which it builds with pythonfmu first.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from .. import RELEASED
from ..codegen.compiler import default_compiler
from ..codegen.guarded import run_guarded
from ..model import UserError
from .archive import make_folder, write_archive
from .licenses import license_contents
from .portable_library import SCRIPTS, SETTINGS, Progress, all_platforms, portable_contents
from .python_registry import register_python

RESERVED = (*SCRIPTS, SETTINGS)  # file names in resources/ that portable FMUs use
LICENSE_PAGE = b'<!DOCTYPE html>\n<title>Licences</title>\n<p><a href="licenses/license.txt">Licences</a></p>\n'


def make_portable(
    source: str | Path,
    folder: str | Path = ".",
    files: Sequence[str | Path] = (),
    call_timeout: float | None = None,
    progress: Progress = lambda text: None,
) -> Path:
    """Write a portable copy of an FMU built with pythonfmu, or the portable FMU of a slave, and return the file.

    source        the FMU, or the .py file of the slave
    files         for a slave: what else it needs: modules, folders and data
    call_timeout  seconds after which a call of the host is aborted; None: never
    """
    source, folder = Path(source), Path(folder)
    if not source.is_file():
        raise UserError(f"there is no file {source}")
    make_folder(folder)
    if source.suffix.lower() == ".py":
        _check_names([source.name, *(Path(f).name for f in files)])
        with tempfile.TemporaryDirectory(prefix="mechfmu_slave_") as temporary:
            progress(f"{source.name}: building with pythonfmu")
            built = _build_slave(source, files, Path(temporary))
            return _make_portable_copy(built, folder, call_timeout, progress, new_guid=True)
    if files:
        raise UserError("further files go with a slave's file (.py), not with an FMU")
    return _make_portable_copy(source, folder, call_timeout, progress)


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name in RESERVED:
            raise UserError(f"{name} cannot go into a portable FMU: the name is reserved, rename the file")


def _build_slave(slave: Path, files: Sequence[str | Path], folder: Path) -> Path:
    """Build the FMU of a slave with pythonfmu, in a separate process because the slave may be any program."""
    for file in files:
        if not Path(file).exists():
            raise UserError(f"there is no file or folder {file}")
    paths = [str(Path(f).resolve()) for f in files]
    command = [sys.executable, "-B", "-m", "pythonfmu", "build", "-f", str(slave.resolve()), "-d", str(folder), *paths]
    status, output = run_guarded(command, slave.resolve().parent)
    built = list(folder.glob("*.fmu"))
    if status or len(built) != 1:
        lines = [line for line in output.splitlines() if line.strip()] or [f"it ended with exit status {status}"]
        errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Exit|Interrupt)\b", line)]
        raise UserError(f"pythonfmu cannot build {slave}: {(errors or lines)[-1].strip()}")
    return built[0]


def _make_portable_copy(
    fmu: Path, folder: Path, call_timeout: float | None, progress: Progress, new_guid: bool = False
) -> Path:
    """Write the portable copy of an FMU; new_guid: with a GUID and a date that depend on its contents only."""
    target = folder / fmu.name
    if target.resolve() == fmu.resolve():
        target = folder / f"{fmu.stem}.portable.fmu"
    contents = _read_archive(fmu)
    if f"resources/{SETTINGS}" not in contents:  # otherwise it is portable already
        resources = [PurePosixPath(name) for name in contents if name.startswith("resources/")]
        _check_names([path.name for path in resources if len(path.parts) == 2])
    if new_guid:
        contents["modelDescription.xml"] = _with_content_guid(contents)
    description = _description(fmu, contents)
    co_simulation = description.find("CoSimulation")
    assert co_simulation is not None
    compiler = default_compiler()
    platforms = all_platforms(compiler)
    kept = {n: c for n, c in contents.items() if not n.startswith("binaries/") and "/__pycache__/" not in n}
    progress(f"{target.name}: packing")
    identifier, guid = co_simulation.get("modelIdentifier", ""), description.get("guid", "")
    kept |= portable_contents(identifier, guid, platforms, compiler, progress, call_timeout=call_timeout)
    kept["modelDescription.xml"] = _without_execution_tool(contents["modelDescription.xml"])
    kept = license_contents(platforms, compiler, slave=True) | kept  # the FMU's own licence texts take precedence
    kept.setdefault("documentation/index.html", LICENSE_PAGE)
    write_archive(target, kept)
    register_python()
    return target


def _read_archive(fmu: Path) -> dict[str, bytes]:
    """Return archive name -> content of all files in an FMU."""
    try:
        with zipfile.ZipFile(fmu) as archive:
            files = [i for i in archive.infolist() if not i.is_dir()]
            return {str(PurePosixPath(i.filename.replace("\\", "/"))): archive.read(i) for i in files}
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(f"{fmu} cannot be read as an FMU: {error}") from None


def _description(fmu: Path, contents: Mapping[str, bytes]) -> ElementTree.Element:
    """Return the model description of an FMU that can be made portable, or raise a UserError."""
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


def _with_content_guid(contents: Mapping[str, bytes]) -> bytes:
    """Return the model description with a GUID computed from the contents, and a fixed date."""
    text = contents["modelDescription.xml"]
    for attribute, value in (("guid", ""), ("generationDateAndTime", RELEASED)):
        text = re.sub(rf'\b{attribute}="[^"]*"'.encode(), f'{attribute}="{value}"'.encode(), text, count=1)
    hashed = [
        name.encode() + b"\0" + content
        for name, content in sorted(contents.items())
        if name.startswith("resources/") and "/__pycache__/" not in name
    ]
    digest = hashlib.sha256(text + b"\0".join(hashed)).digest()
    return text.replace(b'guid=""', f'guid="{uuid.UUID(bytes=digest[:16])}"'.encode(), 1)


def _without_execution_tool(description: bytes) -> bytes:
    """Return the model description with needsExecutionTool="false": some hosts reject FMUs that need a tool."""
    return re.sub(rb'needsExecutionTool\s*=\s*(["\'])(?:true|1)\1', b'needsExecutionTool="false"', description)
