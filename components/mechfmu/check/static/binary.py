"""What the readers of ELF, PE and Mach-O files have in common: the result, and bounded access to any bytes."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH_BYTES = 4096  # that are read of a path
SYMBOL_BYTES = 256  # that are read of a symbol; the functions of FMI have shorter names
SYMBOL_LIMIT = 1_000_000
ENTRY_LIMIT = 10_000  # of all other tables


class UnreadableBinary(Exception):
    """The file is not what its format demands; the message tells where."""


@dataclass(frozen=True)
class Binary:
    """A shared library for one machine."""

    format: str  # ELF, PE or Mach-O
    machine: str  # x86, x86_64, aarch64, ... as in FMI 3.0's platform tuples; "machine 99" if unknown
    is_library: bool
    exports: frozenset[str]  # those with fmi2 in their name
    needed: tuple[str, ...]  # libraries that are loaded with it
    search_paths: tuple[str, ...] = ()  # RPATH and RUNPATH
    versions: tuple[str, ...] = ()  # symbol versions that it needs, such as GLIBC_2.28


@dataclass(frozen=True)
class Part:
    """A part of the file, and the address at which the loader maps it."""

    address: int
    offset: int
    size: int


def file_offset(parts: Iterable[Part], address: int) -> int:
    """Where the byte that the loader maps at this address is in the file."""
    for part in parts:
        if part.address <= address < part.address + part.size:
            return address - part.address + part.offset
    raise UnreadableBinary(f"address {address:#x} is not in the file")


class Bytes:
    """A file as bytes; reading outside of it raises UnreadableBinary."""

    def __init__(self, data: bytes | mmap.mmap, start: int = 0, size: int | None = None) -> None:
        end = len(data) if size is None else start + size
        if not 0 <= start <= end <= len(data):
            raise UnreadableBinary(f"it ends before byte {end}")
        self.data, self.start, self.size = data, start, end - start

    def unpack(self, format: str, offset: int) -> tuple[Any, ...]:
        if not 0 <= offset <= self.size - struct.calcsize(format):
            raise UnreadableBinary(f"it ends before byte {offset}")
        return struct.unpack_from(format, self.data, self.start + offset)

    def get(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset` on."""
        if not 0 <= offset <= self.size:
            raise UnreadableBinary(f"it ends before byte {offset}")
        return self.data[self.start + offset : self.start + min(offset + size, self.size)]

    def path(self, offset: int) -> str:
        return self._string(offset, PATH_BYTES)

    def symbol(self, offset: int) -> str:
        return self._string(offset, SYMBOL_BYTES)

    def _string(self, offset: int, limit: int) -> str:
        """The string of C at `offset`."""
        return self.get(offset, limit).partition(b"\0")[0].decode("utf-8", "replace")

    def part(self, offset: int, size: int) -> Bytes:
        return Bytes(self.data, self.start + offset, size)


def check_count(count: int, what: str, limit: int = ENTRY_LIMIT) -> int:
    """`count`, if it is plausible."""
    if count > limit:
        raise UnreadableBinary(f"it has {count} {what}")
    return count


def of_fmi(names: Iterable[str]) -> frozenset[str]:
    return frozenset(n for n in names if "fmi2" in n)


@contextmanager
def opened(file: Path) -> Iterator[Bytes]:
    with file.open("rb") as stream:
        if file.stat().st_size == 0:
            yield Bytes(b"")
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield Bytes(data)
