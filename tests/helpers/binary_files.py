"""Small libraries of all formats, for tests: only headers and tables, no code."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from mechfmu.check.static.binaries import COMMON, FUNCTIONS

ALL = tuple(f"fmi2{n}" for n in (*COMMON, *FUNCTIONS["ModelExchange"], *FUNCTIONS["CoSimulation"]))
ELF_AARCH64, ELF_X86_64 = 183, 62
PE_X86, PE_X86_64 = 0x14C, 0x8664
MACH_O_X86_64, MACH_O_AARCH64 = 0x01000007, 0x0100000C


class _Strings:
    """A table of C strings."""

    def __init__(self) -> None:
        self.data = b"\0"

    def add(self, text: str) -> int:
        self.data += text.encode() + b"\0"
        return len(self.data) - len(text.encode()) - 1


def elf(
    machine: int = ELF_AARCH64,
    exports: Sequence[str] = ALL,
    needed: Sequence[str] = ("libc.so.6",),
    path: str | None = None,
    versions: Sequence[str] = ("GLIBC_2.17",),
    kind: int = 3,
) -> bytes:
    """A shared library of Linux of 64 bits; addresses equal offsets."""
    strings = _Strings()
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", strings.add(n), 0x12, 0, 1, 64, 8) for n in exports)
    libraries = [strings.add(n) for n in needed]
    rpath = None if path is None else strings.add(path)
    library = strings.add("libc.so.6")
    needs = struct.pack("<HHIII", 1, len(versions), library, 16, 0)
    for i, version in enumerate(versions):
        needs += struct.pack("<IHHII", 0, 0, i + 2, strings.add(version), 16 if i + 1 < len(versions) else 0)
    hashes = struct.pack("<IIII", 1, len(exports) + 1, 0, 0)
    start = 64 + 2 * 56
    places, at = [], start
    for part in (symbols, strings.data, hashes, needs):
        places.append(at)
        at += -(-len(part) // 8) * 8
    entries = [(1, n) for n in libraries] + ([(15, rpath)] if rpath is not None else [])
    entries += [(6, places[0]), (5, places[1]), (10, len(strings.data)), (4, places[2])]
    entries += [(0x6FFFFFFE, places[3]), (0x6FFFFFFF, 1), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *e) for e in entries)
    body = b"".join(part.ljust(-(-len(part) // 8) * 8, b"\0") for part in (symbols, strings.data, hashes, needs))
    size = start + len(body) + len(dynamic)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 8)
    table = struct.pack("<IIQQQQQQ", 2, 6, at, at, at, len(dynamic), len(dynamic), 8)
    return header + load + table + body + dynamic


def pe(
    machine: int = PE_X86, exports: Sequence[str] = ALL, needed: Sequence[str] = ("KERNEL32.dll",), dll: bool = True
) -> bytes:
    """A shared library of Windows with one section, which begins at 0x400 of the file and 0x1000 of the memory."""
    wide = machine != PE_X86
    strings, base = _Strings(), 0x1000
    names = [strings.add(n) for n in exports]
    libraries = [strings.add(n) for n in needed]
    text = base + 40 + 4 * len(names) + 20 * (len(libraries) + 1)
    table = base + 40
    imports = table + 4 * len(names)
    section = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, text, 1, len(names), len(names), 0, table, 0)
    section += b"".join(struct.pack("<I", text + n) for n in names)
    section += b"".join(struct.pack("<IIIII", text, 0, 0, text + n, text) for n in libraries) + bytes(20)
    section += strings.data
    optional = struct.pack("<H", 0x20B if wide else 0x10B).ljust(108 if wide else 92, b"\0")
    optional += struct.pack("<IIIII", 16, base, 40, imports, 20 * len(libraries) + 20) + bytes(8 * 14)
    header = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40) + b"PE\0\0"
    header += struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, len(optional), 0x2002 if dll else 2) + optional
    header += b".text\0\0\0" + struct.pack("<IIII", len(section), base, len(section), 0x400) + bytes(16)
    return header.ljust(0x400, b"\0") + section


def mach_o(
    machine: int = MACH_O_X86_64, exports: Sequence[str] = ALL, needed: Sequence[str] = ("/usr/lib/libSystem.B.dylib",)
) -> bytes:
    """A shared library of macOS of 64 bits."""
    strings = _Strings()
    symbols = b"".join(struct.pack("<IBBHQ", strings.add("_" + n), 0x0F, 1, 0, 0) for n in exports)
    commands = []
    for name in needed:
        text = name.encode().ljust((len(name) // 8 + 1) * 8, b"\0")
        commands.append(struct.pack("<IIIIII", 0xC, 24 + len(text), 24, 0, 0, 0) + text)
    place = 32 + sum(map(len, commands)) + 24
    table = (2, 24, place, len(exports), place + len(symbols), len(strings.data))
    commands.append(struct.pack("<IIIIII", *table))
    load = b"".join(commands)
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, machine, 0, 6, len(commands), len(load), 0, 0)
    return header + load + symbols + strings.data


def fat(*parts: tuple[int, bytes]) -> bytes:
    """Libraries of macOS for several machines in one file."""
    at, data = 4096, b""
    header = struct.pack(">II", 0xCAFEBABE, len(parts))
    for machine, part in parts:
        header += struct.pack(">IIIII", machine, 0, at + len(data), len(part), 0)
        data += part
    return header.ljust(at, b"\0") + data


def wasm(exports: Sequence[str] = ALL, imports: Sequence[str] = ()) -> bytes:
    """A WebAssembly module whose exports are one function and whose imports are functions of these modules."""

    def number(value: int) -> bytes:
        return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + number(value >> 7)

    def vector(items: Sequence[bytes]) -> bytes:
        return number(len(items)) + b"".join(items)

    def name(text: str) -> bytes:
        return number(len(text.encode())) + text.encode()

    def section(kind: int, content: bytes) -> bytes:
        return bytes([kind]) + number(len(content)) + content

    own = number(len(imports))  # imported functions are counted first
    sections = (
        (1, vector([b"\x60\0\0"])),  # the type of a function without arguments
        (2, vector([name(module) + name("f") + b"\0\0" for module in imports])),
        (3, vector([b"\0"])),
        (7, vector([name(export) + b"\0" + own for export in exports])),
        (10, vector([b"\2\0\x0b"])),
    )
    return b"\0asm\1\0\0\0" + b"".join(section(kind, content) for kind, content in sections)
