"""Reads shared libraries of Windows: PE, 32 or 64 bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .binary import ENTRY_LIMIT, SYMBOL_LIMIT, Binary, Bytes, Part, UnreadableBinary, check_count, file_offset, of_fmi

MACHINES = {0x14C: "x86", 0x8664: "x86_64", 0x1C4: "aarch32", 0xAA64: "aarch64"}
DLL = 0x2000  # of the characteristics
EXPORTS, IMPORTS = 0, 1  # data directories
DIRECTORIES = {0x10B: 92, 0x20B: 108}  # where their number is in the optional header of 32 and 64 bits


@dataclass(frozen=True)
class _Pe:
    data: Bytes
    sections: tuple[Part, ...]
    directories: tuple[tuple[int, int], ...]  # address and size

    def offset(self, address: int) -> int:
        return file_offset(self.sections, address)

    def directory(self, index: int) -> int | None:
        """Where a data directory is in the file."""
        address, size = self.directories[index] if index < len(self.directories) else (0, 0)
        return self.offset(address) if address and size else None


def read_pe(data: Bytes) -> Binary:
    """The library. Raises UnreadableBinary."""
    (header,) = data.unpack("<I", 0x3C)
    if data.get(header, 4) != b"PE\0\0":
        raise UnreadableBinary("it has no PE header")
    machine, count, _, _, _, optional, characteristics = data.unpack("<HHIIIHH", header + 4)
    at = header + 24
    (magic,) = data.unpack("<H", at)
    if magic not in DIRECTORIES:
        raise UnreadableBinary("its optional header is not valid")
    (number,) = data.unpack("<I", at + DIRECTORIES[magic])
    first = at + DIRECTORIES[magic] + 4
    directories = tuple(data.unpack("<II", first + 8 * i) for i in range(min(number, 16)))
    pe = _Pe(data, tuple(_sections(data, at + optional, count)), directories)
    name = MACHINES.get(machine, f"machine {machine:#x}")
    return Binary("PE", name, bool(characteristics & DLL), of_fmi(_exports(pe)), tuple(_imports(pe)))


def _sections(data: Bytes, table: int, count: int) -> Iterator[Part]:
    for i in range(count):
        _, address, size, offset = data.unpack("<IIII", table + 40 * i + 8)
        if size and offset + size > data.size:
            raise UnreadableBinary(f"it is cut off: it should have {offset + size} bytes")
        yield Part(address, offset, size)


def _exports(pe: _Pe) -> Iterator[str]:
    at = pe.directory(EXPORTS)
    if at is None:
        return
    count, _, names = pe.data.unpack("<III", at + 24)
    for i in range(check_count(count, "exported names", SYMBOL_LIMIT)):
        (address,) = pe.data.unpack("<I", pe.offset(names + 4 * i))
        yield pe.data.symbol(pe.offset(address))


def _imports(pe: _Pe) -> Iterator[str]:
    at = pe.directory(IMPORTS)
    if at is None:
        return
    for i in range(ENTRY_LIMIT):
        lookup, _, _, name, first = pe.data.unpack("<IIIII", at + 20 * i)
        if not (lookup or name or first):
            return
        yield pe.data.path(pe.offset(name))
