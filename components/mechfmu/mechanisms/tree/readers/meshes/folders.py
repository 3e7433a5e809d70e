"""Where meshes may be: the folder of the robot file, the package around it, and the folders of --package-path.

Nothing else is opened: a path is resolved, with its links and "..", and must then be in one of these folders.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from .....model.mechanism import UserError
from .piece import MAX_BYTES, MeshError

PACKAGE_FILES = ("package.xml", "model.config")  # in the root folder of a package of ROS, of a model of Gazebo
SCHEMES = ("package://", "model://")
NOT_FOUND, OUTSIDE = "was not found", "is outside the folders of the robot"  # which --package-path changes


class MeshFolders:
    """The folders of one robot file."""

    def __init__(self, file: Path, package_paths: Sequence[str | Path] = ()):
        self.file = file
        self.given = [Path(p).resolve() for p in package_paths]
        for path, given in zip(self.given, package_paths, strict=True):
            if not path.is_dir():
                raise UserError(f"--package-path {given}: there is no such folder")

    @cached_property
    def folder(self) -> Path:
        """That of the file, which exists when its meshes are asked for."""
        return self.file.resolve().parent

    @cached_property
    def root(self) -> Path:
        """The package around it."""
        return _package_root(self.folder)

    def find(self, name: str) -> Path:
        """Return the file that a robot file names; MeshError if there is none, or not here."""
        outside = False
        for path in self._candidates(name):
            try:
                found = path.resolve(strict=True)
                if not stat.S_ISREG(found.stat().st_mode):
                    continue
            except (OSError, ValueError, RuntimeError):
                continue
            if any(found.is_relative_to(folder) for folder in (self.folder, self.root, *self.given)):
                return found
            outside = True
        raise MeshError(OUTSIDE if outside else NOT_FOUND)

    def _candidates(self, name: str) -> Iterator[Path]:
        scheme = next((s for s in SCHEMES if name.startswith(s)), None)
        if scheme:
            package, _, rest = name.removeprefix(scheme).lstrip("/").partition("/")
            rest = rest.lstrip("/\\")
            yield from (folder / package / rest for folder in self.given)
            yield from (folder / rest for folder in self.given if package in package_names(folder))
            around = [self.folder, *self.folder.parents]
            around = around[: around.index(self.root) + 1]
            yield from (folder / rest for folder in around if package in package_names(folder))
            return
        if name.startswith("file://"):
            name = unquote(name.removeprefix("file://"))
        elif re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", name):
            raise MeshError("is not the name of a file")
        if re.match(r"[/\\]{2}", name):  # Windows would ask the network for it
            raise MeshError("is on another machine")
        yield from (folder / name for folder in (self.folder, self.root, *self.given))


def contents(path: Path) -> bytes:
    """Return the bytes of a file of limited size."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise MeshError(error.strerror or "cannot be read") from None
    if len(data) > MAX_BYTES:
        raise MeshError(f"is larger than {MAX_BYTES / 1e6:g} MB")
    return data


def _package_root(folder: Path) -> Path:
    """The nearest folder around it that is a package; the folder itself if there is none."""
    around = (folder, *folder.parents)
    return next((f for f in around if any((f / name).is_file() for name in PACKAGE_FILES)), folder)


def package_names(folder: Path) -> set[str]:
    """Return the name of a folder, and that of the package whose root it is."""
    names = {folder.name}
    try:
        with (folder / PACKAGE_FILES[0]).open("rb") as file:
            found = re.search(rb"<name>\s*([\w.-]+)\s*</name>", file.read(100_000))
    except OSError:
        return names
    return names | {found[1].decode()} if found else names
