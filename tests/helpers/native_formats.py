"""Exports and imports of shared libraries, read from their bytes: ELF (Linux), PE (Windows), Mach-O (macOS)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field


@dataclass
class Library:
    """One library for one processor."""

    processor: str
    exports: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)  # of symbols, where the format has them
    signed: bool = False


def text_at(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


# --- ELF --------------------------------------------------------------------------------------------------------------


def read_elf(data: bytes) -> Library:
    assert data[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF file"
    machine = struct.unpack_from("<H", data, 18)[0]
    (table,) = struct.unpack_from("<Q", data, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(count)]
    names = sections[names_index][4]
    by_name = {text_at(data, names + s[0]): s for s in sections}
    found = Library({62: "x86_64", 183: "arm64"}.get(machine, str(machine)))
    strings = by_name[".dynstr"][4]
    _, _, _, _, offset, size, *_ = by_name[".dynsym"]
    for at in range(offset, offset + size, 24):
        name, info, _, section = struct.unpack_from("<IBBH", data, at)
        if section != 0 and info >> 4 in (1, 2):  # defined here, global or weak
            found.exports.add(text_at(data, strings + name))
    _, _, _, _, offset, size, *_ = by_name[".dynamic"]
    for at in range(offset, offset + size, 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == 1:
            found.needs.add(text_at(data, strings + value))
    if ".gnu.version_r" in by_name:
        at = by_name[".gnu.version_r"][4]
        while True:
            _, versions, _, first, following = struct.unpack_from("<HHIII", data, at)
            inner = at + first
            for _ in range(versions):
                _, _, _, name, step = struct.unpack_from("<IHHII", data, inner)
                found.versions.add(text_at(data, strings + name))
                inner += step
            if not following:
                break
            at += following
    return found


# --- PE ---------------------------------------------------------------------------------------------------------------


def read_pe(data: bytes) -> Library:
    header = struct.unpack_from("<I", data, 0x3C)[0]
    assert data[:2] == b"MZ" and data[header : header + 4] == b"PE\0\0", "not a PE file"
    machine, n_sections = struct.unpack_from("<HH", data, header + 4)
    optional_size = struct.unpack_from("<H", data, header + 20)[0]
    optional = header + 24
    assert struct.unpack_from("<H", data, optional)[0] == 0x20B, "not 64-bit"
    directories = [struct.unpack_from("<II", data, optional + 112 + 8 * i) for i in range(16)]
    sections = [struct.unpack_from("<8sIIII", data, optional + optional_size + 40 * i) for i in range(n_sections)]

    def place(address: int) -> int:
        for _, size, start, raw_size, raw in sections:
            if start <= address < start + max(size, raw_size):
                return raw + address - start
        raise ValueError(f"address {address:#x} is in no section")

    found = Library({0x8664: "x86_64", 0xAA64: "arm64"}.get(machine, hex(machine)))
    if directories[0][0]:
        count, _, names = struct.unpack_from("<III", data, place(directories[0][0]) + 24)
        for i in range(count):
            found.exports.add(text_at(data, place(struct.unpack_from("<I", data, place(names) + 4 * i)[0])))
    at = place(directories[1][0])
    while (name := struct.unpack_from("<I", data, at + 12)[0]) != 0:
        found.needs.add(text_at(data, place(name)))
        at += 20
    assert directories[13][0] == 0, "delay-loaded libraries, which this reader does not list"
    return found


# --- Mach-O -----------------------------------------------------------------------------------------------------------


def read_mach_o(data: bytes) -> list[Library]:
    """Return the libraries of a universal file."""
    magic, count = struct.unpack_from(">II", data, 0)
    assert magic == 0xCAFEBABE, "not a universal file"
    slices = [struct.unpack_from(">iiIII", data, 8 + 20 * i) for i in range(count)]
    for _, _, offset, size, alignment in slices:
        assert offset % (1 << alignment) == 0 and offset + size <= len(data)
    return [_one(data[offset : offset + size]) for _, _, offset, size, _ in slices]


def _one(data: bytes) -> Library:
    magic, cpu, _, kind, commands, *_ = struct.unpack_from("<IiiIII", data, 0)
    assert magic == 0xFEEDFACF and kind == 6, "not a 64-bit dynamic library"
    found = Library({0x01000007: "x86_64", 0x0100000C: "arm64"}.get(cpu, hex(cpu)))
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0xC:  # LC_LOAD_DYLIB
            found.needs.add(text_at(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif command in (0x22, 0x80000022):  # LC_DYLD_INFO
            offset, length = struct.unpack_from("<II", data, at + 40)
            found.exports |= _trie(data[offset : offset + length])
        elif command == 0x80000033:  # LC_DYLD_EXPORTS_TRIE
            offset, length = struct.unpack_from("<II", data, at + 8)
            found.exports |= _trie(data[offset : offset + length])
        elif command == 0x1D:  # LC_CODE_SIGNATURE
            found.signed = True
        at += size
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a ULEB128 number and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _trie(data: bytes, at: int = 0, prefix: str = "") -> set[str]:
    """Return the names in an export trie, without the underscore that precedes every C name."""
    if not data:
        return set()
    size, after = _number(data, at)
    names = {prefix.removeprefix("_")} if size else set()
    at = after + size
    children, at = data[at], at + 1
    for _ in range(children):
        label = text_at(data, at)
        node, at = _number(data, at + len(label) + 1)
        names |= _trie(data, node, prefix + label)
    return names
