"""A ZIP writer of our own: every field of every entry can be made wrong on purpose."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from dataclasses import dataclass, replace

STAMP = (0x38E5, 0x58A6)  # time and date of every entry: the archives are always the same


@dataclass(frozen=True)
class Entry:
    """One file of the archive with the fields that can be changed."""

    name: str
    data: bytes
    method: int = 8
    flags: int = 0
    needed: int = 20
    made_by: int = 0x031E
    attributes: int = 0o100644 << 16
    crc: int | None = None
    cut: int = 0  # bytes cut off at the end of the packed data


def packed(entry: Entry) -> bytes:
    if entry.method == 8:
        engine = zlib.compressobj(6, zlib.DEFLATED, -15)
        return engine.compress(entry.data) + engine.flush()
    if entry.method == 12:
        return bz2.compress(entry.data)
    if entry.method == 14:
        raw = lzma.compress(entry.data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 6}])
        return b"\x09\x04\x05\x00\x5d\x00\x00\x80\x00" + raw
    return entry.data


def edited(entries: list[Entry], edits: tuple[tuple, ...]) -> list[Entry]:
    """Applies edits: ("add", name, data), ("remove", name), ("rename", old, new) or ("change", name, fields)."""
    result = list(entries)
    for action, name, *rest in edits:
        if action == "add":
            result.append(Entry(name, rest[0]))
            continue
        places = [i for i, entry in enumerate(result) if entry.name == name]
        if action == "prefix":
            result = [replace(entry, name=name + entry.name) for entry in result]
            continue
        if not places:
            raise KeyError(name)
        if action == "remove":
            del result[places[0]]
        elif action == "rename":
            result[places[0]] = replace(result[places[0]], name=rest[0])
        elif action == "change":
            result[places[0]] = replace(result[places[0]], **rest[0])
        else:
            raise ValueError(action)
    return result


def zip_bytes(entries: list[Entry]) -> bytes:
    out, directory = bytearray(), bytearray()
    for entry in entries:
        body = packed(entry)
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        name = entry.name.encode()
        flags = entry.flags | (0x800 if len(name) != len(entry.name) else 0)
        sizes = (crc, len(body), len(entry.data))
        deferred = bool(flags & 8)
        fields = (entry.needed, flags, entry.method, *STAMP)
        local = (0, 0, 0) if deferred else sizes
        offset = len(out)
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, *fields, *local, len(name), 0) + name
        out += body[: len(body) - entry.cut]
        if deferred:
            out += struct.pack("<IIII", 0x08074B50, *sizes)
        directory += struct.pack(
            "<IHHHHHHIIIHHHHHII",
            0x02014B50,
            entry.made_by,
            *fields,
            *sizes,
            len(name),
            0,
            0,
            0,
            0,
            entry.attributes,
            offset,
        )
        directory += name
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(directory), len(out), 0)
    return bytes(out + directory + end)
