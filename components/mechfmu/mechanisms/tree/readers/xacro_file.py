"""Reader of xacro files, the macro language of ROS, by the package xacro.

The package expands the file and what it includes; the result is read as URDF (or SDF, by its root element). Lines in
messages about the result are those of the expanded text. Packages in $(find NAME) are those of a ROS installation;
without one, they are looked for in the folders of --package-path, beside and above the file and in ROS_PACKAGE_PATH.

A xacro file is a program: it evaluates expressions and reads files and environment variables. Only files that are
trusted should be expanded.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....model.extras import require
from ....model.mechanism import UserError, did_you_mean
from ....multibody.tree import BodyTree
from .common import Fault, Report, as_user_error, contents, no_report, printable
from .meshes.folders import package_names
from .meshes.shapes import Meshes
from .root_element import root_element
from .sdf import read_sdf
from .urdf import read_urdf
from .xml_tree import check_doctype

MAX_BYTES = 10_000_000  # of the file and of the expanded text


class _AskedFor(dict[str, str]):
    """Arguments that remember which of them the file declares or uses."""

    def __init__(self, given: Mapping[str, str]):
        super().__init__({name: str(value) for name, value in given.items()})
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


def read_xacro(
    path: Path,
    base: str | None = None,
    inertia: str = "refuse",
    ignore: Iterable[str] = (),
    report: Report = no_report,
    arguments: Mapping[str, str] | None = None,
    meshes: Meshes | None = None,
    package_paths: Sequence[str | Path] = (),
) -> BodyTree:
    """The tree of a xacro file.

    arguments: values of its <xacro:arg> elements. package_paths: folders with packages, or of packages, for
    $(find NAME). The others: as in read_sdf.
    """
    require("xacro")
    where, data = contents(path, False, MAX_BYTES)
    with as_user_error(where):
        check_doctype(data)
        given = _AskedFor(arguments or {})
        text = _expanded(path, given, package_paths)
        for name in sorted(given.keys() - given.names):
            known = sorted(map(printable, given.names))
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise Fault(f"has no argument {name}{did_you_mean(name, known)} ({has})")

    def expanded(note: str, line: int) -> None:
        report(f"{note} (line {line} of the expanded text)" if line else note, 0)

    try:
        if root_element(text.encode()) == "sdf":
            return read_sdf(text, base, inertia, ignore, expanded, meshes)
        return read_urdf(text, base or "fixed", inertia, ignore, expanded, meshes)
    except UserError as error:
        message = str(error)
        if not message.startswith("description"):
            raise
        raise UserError(f"{where}, expanded{message.removeprefix('description')}") from None


def xacro_arguments(path: Path, given: Mapping[str, str], package_paths: Sequence[str | Path] = ()) -> set[str]:
    """Return the names of the arguments that a xacro file and what it includes declare or use, up to a fault."""
    require("xacro")
    where, data = contents(path, False, MAX_BYTES)
    arguments = _AskedFor(given)
    with as_user_error(where):
        check_doctype(data)
    with contextlib.suppress(Fault), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _expanded(path, arguments, package_paths)
    return arguments.names


def _expanded(path: Path, arguments: _AskedFor, package_paths: Sequence[str | Path]) -> str:
    import xacro

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), _packages_of(path, package_paths):
            text = str(xacro.process_file(str(path), mappings=arguments, verbosity=0).toprettyxml(indent="  "))
    except RecursionError:
        raise Fault("its macros call themselves without end") from None
    except Exception as error:  # expressions in the file may fail in any way
        raise _as_fault(error) from None
    if len(text) > MAX_BYTES:
        raise Fault(f"is larger than {MAX_BYTES / 1e6:g} MB when expanded; a robot description is not")
    if said.getvalue().strip():
        warnings.warn(f"{path}: xacro: {_one_line(said.getvalue())}", RuntimeWarning, stacklevel=4)
    return text


def _as_fault(error: Exception) -> Fault:
    text = _without_class(_one_line(str(error) or type(error).__name__))
    missing = re.search(r"Undefined substitution argument (\S+)", text)
    if missing:
        return Fault(f"its argument {missing[1]} has no value: --option {missing[1]}=VALUE")
    if isinstance(getattr(error, "exc", None), LookupError):  # of _packages_of
        return Fault(_one_line(str(getattr(error, "exc", ""))))
    line = re.search(r": line (\d+), column \d+", text)
    if type(error).__name__ == "ExpatError" and line:
        return Fault(f"is not valid XML: {text.replace(line[0], '')}", int(line[1]))
    return Fault(f"xacro: {text}")


def _without_class(text: str) -> str:
    """The text without the class of an exception in front, and once if it was there twice."""
    text = re.sub(r"<class '[^']*'>: ", "", text)
    half, odd = divmod(len(text), 2)
    return text[:half] if odd and text[half] == " " and text[:half] == text[half + 1 :] else text


def _one_line(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 300 else f"{text[:297]}..."


@contextlib.contextmanager
def _packages_of(path: Path, package_paths: Sequence[str | Path]) -> Iterator[None]:
    """Let $(find NAME) work without ROS: xacro asks the module ament_index_python, which stands in for it here."""
    if importlib.util.find_spec("ament_index_python") is not None:
        yield
        return

    def folder_of(name: str) -> str:
        given = [Path(p).resolve() for p in package_paths]
        above = path.resolve().parents
        listed = [Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
        inside = (folder / name for folder in (*given, *above, *listed))
        for place in (*given, *above, *inside):
            if name in package_names(place) and place.is_dir():
                return str(place)
        places = "beside or above the file, nor in ROS_PACKAGE_PATH"
        raise LookupError(f"there is no package {name} {places}; --package-path DIR names the folder of a package")

    outer, inner = types.ModuleType("ament_index_python"), types.ModuleType("ament_index_python.packages")
    names: dict[str, Any] = {"ament_index_python": outer, "ament_index_python.packages": inner}
    inner.get_package_share_directory = folder_of  # type: ignore[attr-defined]
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
