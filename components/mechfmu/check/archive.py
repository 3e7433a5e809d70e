"""Unpacks an untrusted FMU into a private folder.

Entries whose path leaves the folder, links, and entries that unpack to more than the limits below are not written,
whatever sizes the archive declares. What is wrong with the archive is a finding of S1; what was left out because of a
limit of the checker is not.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import unicodedata
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from .findings import Finding

ENTRY_LIMIT = 50_000
BYTE_LIMIT = 2_000_000_000  # of all files together, unpacked
RATIO_LIMIT = 250  # unpacked over packed; deflate of real files stays far below
RATIO_FREE_BYTES = 100_000_000  # a file up to this size may have any ratio
CHUNK = 1 << 20
STORE, DEFLATE = 0, 8
END_RECORD = b"PK\x05\x06"  # at the end of every archive, before a comment of up to 64 kB
END_RECORD_LIMIT = 22 + 0xFFFF
ZIP_VERSION = 20  # "version needed to extract" 2.0


@dataclass(frozen=True)
class Archive:
    """The unpacked files, and what was wrong with the others."""

    folder: Path
    names: tuple[str, ...]  # of the files that were unpacked
    folders: tuple[str, ...]
    problems: tuple[Finding, ...]
    opened: bool = True
    not_judged: tuple[str, ...] = ()  # what a limit of the checker left out

    def path(self, name: str) -> Path:
        return self.folder / name

    def under(self, prefix: str) -> list[str]:
        """The files below a folder, relative to it."""
        return [n[len(prefix) :] for n in self.names if n.startswith(prefix)]


def unpack(file: Path, folder: Path) -> Archive:
    """Unpack `file` into the empty folder `folder`."""
    try:
        archive = zipfile.ZipFile(file)
    except Exception as error:  # any bytes: whatever the decoder raises
        problem = Finding("the file", f"cannot be read as a zip archive ({error})", "a zip archive", "zip")
        return Archive(folder, (), (), (problem,), opened=False)
    with archive:
        return _Unpacking(archive, folder).run()


@dataclass
class _Unpacking:
    """One pass over the entries of an archive."""

    archive: zipfile.ZipFile
    folder: Path
    problems: list[Finding] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    spellings: dict[str, str] = field(default_factory=dict)  # name without regard to case -> as first spelled
    written: int = 0

    def run(self) -> Archive:
        entries = self.archive.infolist()
        self.problems += _volume_problems(self.archive)
        if len(entries) > ENTRY_LIMIT:
            self.not_judged.append(f"the archive has {len(entries)} entries; only {ENTRY_LIMIT} were unpacked")
        for info in entries[:ENTRY_LIMIT]:
            self._entry(info)
        names, folders = tuple(self.names), tuple(sorted(self.folders - {"."}))
        return Archive(self.folder, names, folders, tuple(self.problems), not_judged=tuple(self.not_judged))

    def _entry(self, info: zipfile.ZipInfo) -> None:
        where = f"entry {info.orig_filename!r}"
        self.problems += _format_problems(info, where)
        if unsafe := _unsafe(info, where):
            self.problems.append(unsafe)
            return
        path = PurePosixPath(info.orig_filename.replace("\\", "/"))
        is_folder = info.orig_filename.endswith(("/", "\\"))
        if path.as_posix() == "." or (info.flag_bits & 1) or not self._new_name(path, is_folder, where):
            return
        if is_folder:
            self._make_folder(path, where)
            return
        try:
            self.written += _extract(self.archive, info, self.folder / path, BYTE_LIMIT - self.written)
        except _Bomb as bomb:
            expected = "contents of a reasonable size; it was not unpacked"
            self.problems.append(Finding(where, str(bomb), expected))
        except _TooLarge:
            self.not_judged.append(f"{where} was not unpacked: all files together have more than {BYTE_LIMIT} bytes")
        except _CannotWrite as error:
            self.not_judged.append(f"{where} cannot be written here ({error})")
        except Exception as error:  # of any decoder
            if info.compress_type in (STORE, DEFLATE):  # other methods are a finding already
                self.problems.append(Finding(where, f"cannot be unpacked ({error})", "an intact entry", "zip"))
        else:
            self.names[path.as_posix()] = None
            self.folders.update(p.as_posix() for p in path.parents)

    def _make_folder(self, path: PurePosixPath, where: str) -> None:
        try:
            (self.folder / path).mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            self.not_judged.append(f"{where} cannot be made here ({getattr(error, 'strerror', None) or error})")
            return
        self.folders.update((path.as_posix(), *(p.as_posix() for p in path.parents)))

    def _new_name(self, path: PurePosixPath, is_folder: bool, where: str) -> bool:
        """Whether the entry can be unpacked besides the earlier ones; collisions of names are findings."""
        name = path.as_posix()
        for part in (*reversed(path.parents), path):
            text = part.as_posix()
            if text == ".":
                continue
            first = self.spellings.setdefault(_caseless(text), text)
            if first != text:
                expected = "names that differ by more than case: Windows and macOS have one file or folder for both"
                problem = f"{text!r} and {first!r} differ by case only"
                self.problems.append(Finding(where, problem, expected, cause=f"case {first}"))
                if part == path and not is_folder:
                    return False
        if not is_folder and name in self.names:
            self.problems.append(Finding(where, "a second entry has the same name", "one entry for each file"))
            return False
        file_and_folder = name in (self.names if is_folder else self.folders)
        if file_and_folder or any(p.as_posix() in self.names for p in path.parents):
            self.problems.append(Finding(where, "its path, or a part of it, is a file and a folder", "one of the two"))
            return False
        return True


def _caseless(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _volume_problems(archive: zipfile.ZipFile) -> list[Finding]:
    """What the end of the archive says about the number of its volumes."""
    stream = archive.fp
    assert stream is not None
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - END_RECORD_LIMIT))
    tail = stream.read()
    start = tail.rfind(END_RECORD)
    if start < 0 or len(tail) < start + 8:
        return []
    volume, first = struct.unpack_from("<HH", tail, start + len(END_RECORD))
    if (volume or first) and 0xFFFF not in (volume, first):  # 0xFFFF: in the record for archives above 4 GB
        problem = f"it says that it is volume {volume + 1}, with its directory on volume {first + 1}"
        return [Finding("the archive", problem, "an archive of one file", "zip-split")]
    return []


def _format_problems(info: zipfile.ZipInfo, where: str) -> list[Finding]:
    """What the standard says about every entry of the archive."""
    found = []
    if info.compress_type not in (STORE, DEFLATE):
        problem = f"its compression method is {info.compress_type}"
        found.append(Finding(where, problem, "0 (store) or 8 (deflate)", "compression"))
    elif info.flag_bits & 8 and info.compress_type != DEFLATE and not info.is_dir():
        found.append(
            Finding(where, "it is stored with general purpose bit 3 set", "deflate, or bit 3 not set", "bit-3")
        )
    if info.extract_version > ZIP_VERSION and info.compress_type in (STORE, DEFLATE):
        problem = f"its version needed to extract is {info.extract_version / 10:g}"
        found.append(Finding(where, problem, "at most 2.0", "zip-version"))
    if info.flag_bits & 1:
        found.append(Finding(where, "it is encrypted", "a file without a password", "zip-version"))
    if 0 < info.volume < 0xFFFF:
        problem = f"it begins on volume {info.volume + 1} of a split archive"
        found.append(Finding(where, problem, "an archive of one file", "zip-split"))
    if "\\" in info.orig_filename:
        found.append(Finding(where, "its path has a backslash", "forward slashes", "zip-paths"))
    folders = info.orig_filename.rpartition("/")[0]
    if not folders.isascii():
        problem = "the name of its folder is not ASCII, which some operating systems unpack to another name"
        found.append(Finding(where, problem, "ASCII characters", cause=f"folder {folders}"))
    return found


def _unsafe(info: zipfile.ZipInfo, where: str) -> Finding | None:
    """A finding if the entry must not be unpacked."""
    name = info.orig_filename.replace("\\", "/")
    parts = name.split("/")
    control_characters = any(ord(c) < 32 for c in name)
    too_long = len(name) > 1000 or any(len(part.encode(errors="replace")) > 255 for part in parts)
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return Finding(where, "its path is absolute", "a path relative to the archive", "zip-format")
    if ".." in parts:
        return Finding(where, "its path leads out of the archive", "a path without ..")
    if not name or control_characters or too_long:
        expected = "a name of printable characters, at most 255 bytes for each part"
        return Finding(where, "its path is not a file name", expected)
    if stat.S_ISLNK(info.external_attr >> 16):
        return Finding(where, "it is a symbolic link", "a file", "zip-links")
    return None


class _Bomb(Exception):
    pass


class _TooLarge(Exception):
    pass


class _CannotWrite(Exception):
    pass


def _extract(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, room: int) -> int:
    """Copy one entry and return its size, counted while unpacking."""
    written = 0
    packed = max(info.compress_size, 1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stream = target.open("xb")
    except (OSError, ValueError) as error:
        raise _CannotWrite(getattr(error, "strerror", None) or error) from None
    try:
        with stream, archive.open(info) as source:
            while chunk := source.read(CHUNK):
                written += len(chunk)
                if written > RATIO_FREE_BYTES and written > RATIO_LIMIT * packed:
                    raise _Bomb(f"it unpacks to more than {RATIO_LIMIT} times its packed size of {packed} bytes")
                if written > room:
                    raise _TooLarge
                _write(stream, chunk)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return written


def _write(stream: BinaryIO, chunk: bytes) -> None:
    try:
        stream.write(chunk)
    except OSError as error:
        raise _CannotWrite(error.strerror) from None
