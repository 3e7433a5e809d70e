"""Libraries of other platforms, byte by byte: no code in them, only what an importer looks at."""

from __future__ import annotations

import re
import struct

NAMES = """GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean
SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
GetDirectionalDerivative EnterEventMode NewDiscreteStates EnterContinuousTimeMode CompletedIntegratorStep
SetTime SetContinuousStates GetDerivatives GetEventIndicators GetContinuousStates
GetNominalsOfContinuousStates SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus
GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus"""
FUNCTIONS = tuple("fmi2" + name for name in re.findall(r"\w+", NAMES))

I386, X86_64, ARM64, ARM = 3, 62, 183, 40
PE_I386, PE_X64, PE_ARM64 = 0x14C, 0x8664, 0xAA64
MACHO_X64, MACHO_ARM64, MACHO_I386 = 0x01000007, 0x0100000C, 7
SECTION_NAMES = b"\0.text\0.dynsym\0.dynstr\0.dynamic\0.gnu.version\0.gnu.version_r\0.shstrtab\0"


def without(*names: str) -> tuple[str, ...]:
    return tuple(name for name in FUNCTIONS if name not in names)


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def elf(
    machine: int = I386,
    exports: tuple[str, ...] = FUNCTIONS,
    needed: tuple[str, ...] = ("libc.so.6",),
    glibc: str = "",
    bits: int = 0,
    kind: int = 3,
) -> bytes:
    """A shared library; with glibc, one imported function of libc.so.6 needs that version."""
    wide = (bits or (64 if machine in (X86_64, ARM64) else 32)) == 64
    strings = bytearray(b"\0")

    def text(word: str) -> int:
        position = len(strings)
        strings.extend(word.encode() + b"\0")
        return position

    libraries = [text(name) for name in needed]
    imported = [("memcpy", text("memcpy"))] if glibc else []
    names = [(name, text(name)) for name in exports]
    version = text(glibc) if glibc else 0
    symbols = _symbols(wide, [position for _, position in imported], [position for _, position in names])
    count = 1 + len(imported) + len(names)
    chain = [0, *range(2, count), 0][:count]  # of the only bucket: all symbols
    table = struct.pack(f"<III{count}I", 1, count, min(1, count - 1), *chain)
    versions = struct.pack(f"<{count}H", 0, *([2] * len(imported)), *([1] * len(names)))
    need = b""
    if glibc:
        need = struct.pack("<HHIII", 1, 1, libraries[0], 16, 0)
        need += struct.pack("<IHHII", _hash(glibc), 0, 2, version, 0)

    header, entry = (64, 56) if wide else (52, 32)
    place = header + 2 * entry
    where: dict[str, int] = {}
    body = bytearray()
    for name, part in (("sym", symbols), ("str", bytes(strings)), ("hash", table), ("ver", versions), ("need", need)):
        body += b"\0" * (-(place + len(body)) % 16)
        where[name] = place + len(body)
        body += part
    body += b"\0" * (-(place + len(body)) % 16)
    tags = [(1, position) for position in libraries]
    tags += [(4, where["hash"]), (5, where["str"]), (6, where["sym"]), (10, len(strings)), (11, 24 if wide else 16)]
    if glibc:
        tags += [(0x6FFFFFF0, where["ver"]), (0x6FFFFFFE, where["need"]), (0x6FFFFFFF, 1)]
    tags.append((0, 0))
    dynamic = place + len(body)
    word = "<QQ" if wide else "<II"
    body += b"".join(struct.pack(word, *tag) for tag in tags)
    dynamic_size = len(tags) * struct.calcsize(word)

    sizes = {"sym": len(symbols), "str": len(strings), "ver": len(versions), "need": len(need), "dyn": dynamic_size}
    where["dyn"] = dynamic
    sections = _sections(wide, where, sizes, bool(glibc), place + len(body))
    body += SECTION_NAMES
    body += b"\0" * (-(place + len(body)) % 8)
    table_at = place + len(body)
    body += b"".join(_section_header(wide, *section) for section in sections)

    size = place + len(body)
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + b"\0" * 9
    shape = (entry, 2, 64 if wide else 40, len(sections), len(sections) - 1)
    layout = "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH"
    head = struct.pack(layout, kind, machine, 1, 0, header, table_at, 0, header, *shape)
    programs = _programs(wide, size, dynamic, dynamic_size)
    return ident + head + programs + bytes(body)


def _symbols(wide: bool, imported: list[int], exported: list[int]) -> bytes:
    """The symbol table, from the places of the names."""
    symbols = bytearray(24 if wide else 16)
    for number, position in enumerate([*imported, *exported]):
        section, value = (0, 0) if number < len(imported) else (1, 0x1000 + 16 * number)
        if wide:
            symbols += struct.pack("<IBBHQQ", position, 0x12, 0, section, value, 16 if section else 0)
        else:
            symbols += struct.pack("<IIIBBH", position, value, 16 if section else 0, 0x12, 0, section)
    return bytes(symbols)


def _sections(
    wide: bool, where: dict[str, int], sizes: dict[str, int], versioned: bool, names_at: int
) -> list[tuple[int, ...]]:
    """The sections: many readers look at these and not at the program headers."""

    def label(word: str) -> int:
        return SECTION_NAMES.index(b"\0" + word.encode() + b"\0") + 1

    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0),
        (label(".text"), 1, 6, 0x1000, 0, 0, 0, 0),
        (label(".dynsym"), 11, 2, where["sym"], sizes["sym"], 3, 1, 24 if wide else 16),
        (label(".dynstr"), 3, 2, where["str"], sizes["str"], 0, 0, 0),
        (label(".dynamic"), 6, 3, where["dyn"], sizes["dyn"], 3, 0, 16 if wide else 8),
    ]
    if versioned:
        sections.append((label(".gnu.version"), 0x6FFFFFFF, 2, where["ver"], sizes["ver"], 2, 0, 2))
        sections.append((label(".gnu.version_r"), 0x6FFFFFFE, 2, where["need"], sizes["need"], 3, 1, 0))
    sections.append((label(".shstrtab"), 3, 0, names_at, len(SECTION_NAMES), 0, 0, 0))
    return sections


def _section_header(
    wide: bool, name_at: int, type_: int, flags: int, offset: int, size: int, link: int, info: int, step: int
) -> bytes:
    address, at = offset if flags & 2 else 0, 0 if type_ == 1 else offset
    layout = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    return struct.pack(layout, name_at, type_, flags, address, at, size, link, info, 1, step)


def _programs(wide: bool, size: int, dynamic: int, dynamic_size: int) -> bytes:
    """The program headers: the whole file in memory, and its dynamic section."""
    if wide:
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 0x1000)
        return load + struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, dynamic_size, dynamic_size, 8)
    load = struct.pack("<IIIIIIII", 1, 0, 0, 0, size, size, 5, 0x1000)
    return load + struct.pack("<IIIIIIII", 2, dynamic, dynamic, dynamic, dynamic_size, dynamic_size, 6, 4)


def pe(
    machine: int = PE_X64,
    exports: tuple[str, ...] = FUNCTIONS,
    imports: tuple[str, ...] = ("KERNEL32.dll",),
    characteristics: int = 0x2022,
) -> bytes:
    """A DLL with one section that holds the export and the import directory."""
    wide = machine != PE_I386
    base, file_at = 0x1000, 0x400
    data = bytearray()

    def put(part: bytes) -> int:
        data.extend(b"\0" * (-len(data) % 8))
        position = base + len(data)
        data.extend(part)
        return position

    code = put(b"\xc3" * 16)
    names = sorted(exports)
    name_at = [put(name.encode() + b"\0") for name in names]
    count = len(names)
    library = put(b"tankpair.dll\0")
    functions = put(struct.pack(f"<{count}I", *([code] * count)))
    pointers = put(struct.pack(f"<{count}I", *name_at))
    numbers = put(struct.pack(f"<{count}H", *range(count)))
    export = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, library, 1, count, count, functions, pointers, numbers)
    export_at = put(export)
    form = "<QQ" if wide else "<II"
    rows = []
    for name in imports:
        hint = put(b"\0\0GetTickCount\0")
        lookup, bound = put(struct.pack(form, hint, 0)), put(struct.pack(form, hint, 0))
        rows.append(struct.pack("<IIIII", lookup, 0, 0, put(name.encode() + b"\0"), bound))
    import_at = put(b"".join(rows) + b"\0" * 20) if rows else 0
    data.extend(b"\0" * (-len(data) % 0x200))
    size = len(data)
    directories = [(0, 0)] * 16
    directories[0] = (export_at, 40)
    directories[1] = (import_at, 20 * (len(rows) + 1)) if rows else (0, 0)
    image = base + (size + 0xFFF) // 0x1000 * 0x1000
    optional = struct.pack("<HBBIIIII", 0x20B if wide else 0x10B, 14, 0, size, 0, 0, code, base)
    optional += b"" if wide else struct.pack("<I", base)
    optional += struct.pack("<Q" if wide else "<I", 0x180000000 if wide else 0x10000000)
    optional += struct.pack("<IIHHHHHHIIIIHH", 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, image, file_at, 0, 2, 0x160)
    optional += struct.pack("<QQQQ" if wide else "<IIII", 0x100000, 0x1000, 0x100000, 0x1000)
    optional += struct.pack("<II", 0, 16) + b"".join(struct.pack("<II", *pair) for pair in directories)
    head = b"MZ" + b"\0" * 58 + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, len(optional), characteristics) + optional
    head += struct.pack("<8sIIIIIIHHI", b".rdata", size, base, size, file_at, 0, 0, 0, 0, 0x60000040)
    return head + b"\0" * (file_at - len(head)) + bytes(data)


def macho(
    cpu: int = MACHO_X64,
    exports: tuple[str, ...] = FUNCTIONS,
    needed: tuple[str, ...] = ("/usr/lib/libSystem.B.dylib",),
    kind: int = 6,
) -> bytes:
    """A dylib with a symbol table."""
    wide = cpu != MACHO_I386
    strings = bytearray(b"\0")
    symbols = bytearray()
    for name in exports:
        position = len(strings)
        strings += b"_" + name.encode() + b"\0"
        symbols += struct.pack("<IBBHQ" if wide else "<IBBHI", position, 0x0F, 1, 0, 0x1000)
    commands = []

    def library(command: int, name: str) -> bytes:
        raw = name.encode() + b"\0"
        raw += b"\0" * (-(24 + len(raw)) % 8)
        return struct.pack("<IIIIII", command, 24 + len(raw), 24, 2, 0x10000, 0x10000) + raw

    commands.append(library(0xD, "@rpath/tankpair.dylib"))
    commands += [library(0xC, name) for name in needed]
    counts = len(commands) + 2
    segment_size = 72 + 80 if wide else 56 + 68
    before = (32 if wide else 28) + segment_size + sum(map(len, commands)) + 24
    symbol_at = (before + 7) // 8 * 8
    string_at = symbol_at + len(symbols)
    size = string_at + len(strings)
    if wide:
        segment = struct.pack("<II16sQQQQiiII", 0x19, segment_size, b"__TEXT", 0, size, 0, size, 5, 5, 1, 0)
        segment += struct.pack("<16s16sQQIIIIIIII", b"__text", b"__TEXT", 0x1000, 0, 0, 0, 0, 0, 0x80000400, 0, 0, 0)
    else:
        segment = struct.pack("<II16sIIIIiiII", 0x1, segment_size, b"__TEXT", 0, size, 0, size, 5, 5, 1, 0)
        segment += struct.pack("<16s16sIIIIIIIII", b"__text", b"__TEXT", 0x1000, 0, 0, 0, 0, 0, 0x80000400, 0, 0)
    symbol_table = struct.pack("<IIIIII", 2, 24, symbol_at, len(exports), string_at, len(strings))
    body = segment + b"".join(commands) + symbol_table
    magic = 0xFEEDFACF if wide else 0xFEEDFACE
    head = struct.pack("<IIIIIII", magic, cpu, 3 if cpu != MACHO_ARM64 else 0, kind, counts, len(body), 0x85)
    head += b"\0\0\0\0" if wide else b""
    result = head + body
    return result + b"\0" * (symbol_at - len(result)) + bytes(symbols) + bytes(strings)
