"""A writer of zip archives that can also write what must not be in one."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

STORE, DEFLATE, DEFLATE64, BZIP2, LZMA, ZSTD = 0, 8, 9, 12, 14, 93


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


@dataclass
class Entry:
    """One file of the archive; what is None follows from the data."""

    name: str
    data: bytes
    method: int = DEFLATE
    flags: int = 0
    version: int = 20
    mode: int = 0o100644
    payload: bytes | None = None
    crc: int | None = None
    size: int | None = None
    local_name: str | None = None
    descriptor: bool = False

    def packed(self) -> bytes:
        if self.payload is not None:
            return self.payload
        return deflated(self.data) if self.method == DEFLATE else self.data


@dataclass
class Archive:
    """The entries of an FMU, in order."""

    entries: list[Entry] = field(default_factory=list)
    disk: int = 0
    cut: int = 0

    def add(self, name: str, data: bytes, **options: object) -> Entry:
        entry = Entry(name, data, **options)  # type: ignore[arg-type]
        self.entries.append(entry)
        return entry

    def find(self, name: str) -> Entry:
        return next(e for e in self.entries if e.name == name)

    def drop(self, name: str) -> None:
        self.entries.remove(self.find(name))

    def bytes(self) -> bytes:
        out, directory = bytearray(), bytearray()
        stamp = (0, 0x5861)  # 2024-03-01 00:00
        for e in self.entries:
            packed, at = e.packed(), len(out)
            crc = zlib.crc32(e.data) if e.crc is None else e.crc
            size = len(e.data) if e.size is None else e.size
            flags = e.flags | (0x800 if not e.name.isascii() else 0) | (8 if e.descriptor else 0)
            local = (e.local_name or e.name).encode()
            known = (0, 0, 0) if e.descriptor else (crc, len(packed), size)
            out += struct.pack("<IHHHHHIIIHH", 0x04034B50, e.version, flags, e.method, *stamp, *known, len(local), 0)
            out += local + packed
            if e.descriptor:
                out += struct.pack("<IIII", 0x08074B50, crc, len(packed), size)
            name = e.name.encode()
            directory += struct.pack(
                "<IHHHHHHIIIHHHHHII",
                0x02014B50,
                0x0300 | e.version,
                e.version,
                flags,
                e.method,
                *stamp,
                crc,
                len(packed),
                size,
                len(name),
                0,
                0,
                0,
                0,
                e.mode << 16,
                at,
            )
            directory += name
        count = len(self.entries)
        end = struct.pack("<IHHHHIIH", 0x06054B50, self.disk, self.disk, count, count, len(directory), len(out), 0)
        whole = bytes(out + directory + end)
        return whole[: len(whole) - self.cut] if self.cut else whole


ArchiveEdit = Callable[[Archive], None]


def zeros(length: int) -> tuple[bytes, int]:
    """A deflate stream of that many zero bytes (a multiple of 16 MiB), and its checksum."""
    block = bytes(1 << 24)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    chunk = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    crc = 0
    for _ in range(length // len(block)):
        crc = zlib.crc32(block, crc)
    return chunk * (length // len(block)) + deflated(b""), crc
