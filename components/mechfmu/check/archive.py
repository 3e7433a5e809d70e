"""Unpacks an untrusted FMU into a private folder.

Entries whose path leaves the folder, links, and entries that unpack to more than the limits below are not written,
whatever sizes the archive declares. Each of them is a finding of S1.
"""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .findings import Finding

ENTRY_LIMIT = 50_000
BYTE_LIMIT = 2_000_000_000  # of all files together, unpacked
RATIO_LIMIT = 250  # unpacked over packed; deflate of real files stays far below
RATIO_FREE_BYTES = 10_000_000  # a file up to this size may have any ratio
CHUNK = 1 << 20
UNPACK_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    IndexError,
)


@dataclass(frozen=True)
class Archive:
    """The unpacked files, and what was wrong with the others."""

    folder: Path
    names: tuple[str, ...]  # of the files that were unpacked
    folders: tuple[str, ...]
    problems: tuple[Finding, ...]
    opened: bool = True

    def path(self, name: str) -> Path:
        return self.folder / name

    def under(self, prefix: str) -> list[str]:
        """The files below a folder, relative to it."""
        return [n[len(prefix) :] for n in self.names if n.startswith(prefix)]


def unpack(file: Path, folder: Path) -> Archive:
    """Unpack `file` into the empty folder `folder`."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        problem = Finding("the file", f"cannot be read as a zip archive ({error})", "a zip archive")
        return Archive(folder, (), (), (problem,), opened=False)
    with archive:
        return _unpack(archive, folder)


def _unpack(archive: zipfile.ZipFile, folder: Path) -> Archive:
    problems: list[Finding] = []
    names: list[str] = []
    folders: set[str] = set()
    seen: dict[str, str] = {}
    entries = archive.infolist()
    if len(entries) > ENTRY_LIMIT:
        expected = f"at most {ENTRY_LIMIT}; the rest was not unpacked"
        problems.append(Finding("the archive", f"it has {len(entries)} entries", expected))
    total = 0
    for info in entries[:ENTRY_LIMIT]:
        name = info.orig_filename
        if unsafe := _unsafe(info):
            problem, expected = unsafe
            problems.append(Finding(f"entry {name!r}", problem, expected))
            continue
        clean = PurePosixPath(name).as_posix()
        if clean.lower() in seen:
            same = "the same name" if seen[clean.lower()] == clean else "the same name except for case"
            problems.append(Finding(f"entry {name!r}", f"a second entry has {same}", "one entry for each file"))
            continue
        seen[clean.lower()] = clean
        if info.is_dir():
            folders.add(clean)
            continue
        try:
            written = _extract(archive, info, folder / clean, BYTE_LIMIT - total)
        except _Bomb as bomb:
            problems.append(Finding(f"entry {name!r}", str(bomb), "contents of a reasonable size; it was not unpacked"))
            continue
        except UNPACK_ERRORS as error:
            problems.append(Finding(f"entry {name!r}", f"cannot be unpacked ({error})", "an intact entry"))
            continue
        total += written
        names.append(clean)
        folders.update(p.as_posix() for p in PurePosixPath(clean).parents)
    return Archive(folder, tuple(names), tuple(sorted(folders - {"."})), tuple(problems))


def _unsafe(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    """(problem, expected) if the entry must not be unpacked."""
    name = info.orig_filename
    parts = name.split("/")
    control_characters = any(ord(c) < 32 for c in name)
    too_long = len(name) > 1000 or any(len(part.encode()) > 255 for part in parts)
    if "\\" in name:
        return "its path has a backslash", "forward slashes"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "its path is absolute", "a path relative to the archive"
    if ".." in parts:
        return "its path leads out of the archive", "a path without .."
    if not name.strip("/.") or control_characters or too_long:
        return "its path is not a file name", "a name of printable characters, at most 255 bytes for each part"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a symbolic link", "a file"
    if info.flag_bits & 1:
        return "it is encrypted", "a file without a password"
    return None


class _Bomb(Exception):
    pass


def _extract(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, room: int) -> int:
    """Copy one entry and return its size, counted while unpacking."""
    written = 0
    packed = max(info.compress_size, 1)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open(info) as source, target.open("xb") as stream:
            while chunk := source.read(CHUNK):
                written += len(chunk)
                if written > room:
                    raise _Bomb(f"it unpacks to more than the {BYTE_LIMIT} bytes that all files may have together")
                if written > RATIO_FREE_BYTES and written > RATIO_LIMIT * packed:
                    raise _Bomb(f"it unpacks to more than {RATIO_LIMIT} times its packed size of {packed} bytes")
                stream.write(chunk)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return written
