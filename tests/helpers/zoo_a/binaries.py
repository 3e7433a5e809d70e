"""Tiny binaries of other platforms, byte by byte: ELF, PE and Mach-O libraries without code."""

from __future__ import annotations

import struct

COMMON = (
    "GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode "
    "ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean "
    "SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate "
    "GetDirectionalDerivative EnterEventMode NewDiscreteStates EnterContinuousTimeMode CompletedIntegratorStep SetTime "
    "SetContinuousStates GetDerivatives GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates "
    "SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus GetRealStatus GetIntegerStatus "
    "GetBooleanStatus GetStringStatus"
)
FUNCTIONS: tuple[str, ...] = tuple("fmi2" + name for name in COMMON.split())

I386, X86_64, AARCH64, ARM = 3, 62, 183, 40  # machines of ELF
PE_I386, PE_AMD64, PE_ARM64 = 0x14C, 0x8664, 0xAA64
MACH_X86_64, MACH_ARM64 = 0x01000007, 0x0100000C
SHARED, OBJECT = 3, 1  # types of ELF


def without(*names: str) -> tuple[str, ...]:
    return tuple(f for f in FUNCTIONS if f not in names)


class Strings:
    """A table of strings that end with a zero byte."""

    def __init__(self, first: bytes = b"\0") -> None:
        self.data = bytearray(first)

    def add(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at


def elf_hash(name: str) -> int:
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        high = h & 0xF0000000
        h = (h ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return h


class Blob:
    """Parts of a file one after the other, each at a multiple of 8."""

    def __init__(self, base: int) -> None:
        self.base, self.data = base, bytearray()

    @property
    def end(self) -> int:
        return self.base + len(self.data)

    def add(self, part: bytes) -> int:
        """Append a part and return its place in the file."""
        self.data += bytes(-self.end % 8)
        at = self.end
        self.data += part
        return at


def elf(
    machine: int,
    bits: int,
    exports: tuple[str, ...] = FUNCTIONS,
    needed: tuple[str, ...] = ("libc.so.6",),
    glibc: str = "GLIBC_2.4",
    runpath: str = "",
    kind: int = SHARED,
) -> bytes:
    """A shared object with a symbol table, needed libraries and one version of the C library."""
    wide = bits == 64
    header, segment = (64, 56) if wide else (52, 32)
    blob = Blob(header + 2 * segment)
    names = Strings()
    symbols = [names.add(name) for name in exports]
    imported = names.add("malloc")
    wanted = [names.add(name) for name in needed]
    version, path = names.add(glibc), names.add(runpath) if runpath else 0
    libc = next((at for at, name in zip(wanted, needed, strict=True) if name == "libc.so.6"), 0)
    count = len(exports) + 2
    # one bucket that holds all symbols: 1, 2, ... count - 1
    order = [0] + [k + 1 if k + 1 < count else 0 for k in range(1, count)]
    need = struct.pack("<HHIII", 1, 1, libc, 16, 0) + struct.pack("<IHHII", elf_hash(glibc), 0, 2, version, 0)
    parts = {
        "symbols": symbol_table(wide, symbols, imported, blob.base),
        "names": bytes(names.data),
        "hash": struct.pack(f"<III{count}I", 1, count, 1, *order),
        "versym": struct.pack(f"<{count}H", 0, *([1] * len(exports)), 2),
        "need": need,
    }
    at = {key: blob.add(part) for key, part in parts.items()}
    tags = [(1, n) for n in wanted] + ([(29, path)] if path else [])
    tags += [(4, at["hash"]), (5, at["names"]), (6, at["symbols"]), (10, len(names.data)), (11, 24 if wide else 16)]
    tags += [(0x6FFFFFF0, at["versym"]), (0x6FFFFFFE, at["need"]), (0x6FFFFFFF, 1), (0, 0)]
    parts["dynamic"] = b"".join(struct.pack("<QQ" if wide else "<II", *tag) for tag in tags)
    at["dynamic"] = blob.add(parts["dynamic"])
    place, count = section_table(wide, blob, at, parts)
    shape = (header, segment, 2, 64 if wide else 40, count, count - 1)
    ident = b"\x7fELF" + bytes([2 if wide else 1, 1, 1, 0]) + bytes(8)
    head = ident + struct.pack(
        "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", kind, machine, 1, 0, header, place, 0, *shape
    )
    return head + program_headers(wide, blob.end, at["dynamic"], len(parts["dynamic"])) + bytes(blob.data)


def symbol_table(wide: bool, symbols: list[int], imported: int, value: int) -> bytes:
    def symbol(name: int, section: int, value: int) -> bytes:
        if wide:
            return struct.pack("<IBBHQQ", name, 0x12, 0, section, value, 16)
        return struct.pack("<IIIBBH", name, value, 16, 0x12, 0, section)

    return bytes(24 if wide else 16) + b"".join(symbol(n, 1, value) for n in symbols) + symbol(imported, 0, 0)


def section_table(wide: bool, blob: Blob, at: dict[str, int], parts: dict[str, bytes]) -> tuple[int, int]:
    """Append the section headers and return their place and number."""
    titles = Strings()
    sections = [(0, 0, 0, 0, 0, 0, 0)]
    entry = 24 if wide else 16
    for title, what, key, link, each in (
        (".dynsym", 11, "symbols", 2, entry),
        (".dynstr", 3, "names", 0, 0),
        (".hash", 5, "hash", 1, 4),
        (".gnu.version", 0x6FFFFFFF, "versym", 1, 2),
        (".gnu.version_r", 0x6FFFFFFE, "need", 2, 0),
        (".dynamic", 6, "dynamic", 2, 16 if wide else entry // 3 * 2),
    ):
        info = 1 if key in ("symbols", "need") else 0
        sections.append((titles.add(title), what, at[key], len(parts[key]), link, info, each))
    own = titles.add(".shstrtab")
    sections.append((own, 3, blob.add(bytes(titles.data)), len(titles.data), 0, 0, 0))
    layout = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    headers = b"".join(
        struct.pack(layout, name, what, 2 if start and name != own else 0, start, start, size, link, info, 8, each)
        for name, what, start, size, link, info, each in sections
    )
    return blob.add(headers), len(sections)


def program_headers(wide: bool, total: int, place: int, length: int) -> bytes:
    """The whole file in memory, and its dynamic section."""
    if wide:
        load = struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, total, total, 4096)
        return load + struct.pack("<IIQQQQQQ", 2, 6, place, place, place, length, length, 8)
    load = struct.pack("<IIIIIIII", 1, 0, 0, 0, total, total, 7, 4096)
    return load + struct.pack("<IIIIIIII", 2, place, place, place, length, length, 6, 4)


def pe(machine: int, exports: tuple[str, ...] = FUNCTIONS, imports: tuple[str, ...] = ("KERNEL32.dll",)) -> bytes:
    """A DLL with one section that holds its export and import directories."""
    wide = machine in (PE_AMD64, PE_ARM64)
    rva = 0x1000
    body = bytearray(16)  # the code of all functions
    names = sorted(exports)

    def put(data: bytes) -> int:
        body.extend(bytes(-len(body) % 8))
        at = rva + len(body)
        body.extend(data)
        return at

    pointers = [put(name.encode() + b"\0") for name in names]
    title = put(b"Thermostat.dll\0")
    functions = put(struct.pack(f"<{len(names)}I", *[rva] * len(names)))
    name_table = put(struct.pack(f"<{len(names)}I", *pointers))
    ordinals = put(struct.pack(f"<{len(names)}H", *range(len(names))))
    exported = put(
        struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, title, 1, len(names), len(names), functions, name_table, ordinals)
    )
    export_size = 40
    rows = b""
    for library in imports:
        hint = put(b"\0\0GetTickCount\0")
        thunk = struct.pack("<QQ", hint, 0) if wide else struct.pack("<II", hint, 0)
        lookup, address = put(thunk), put(thunk)
        rows += struct.pack("<IIIII", lookup, 0, 0, put(library.encode() + b"\0"), address)
    imported = put(rows + bytes(20)) if imports else 0
    size = len(body)
    raw = -(-size // 512) * 512
    directories = [(0, 0)] * 16
    directories[0] = (exported, export_size)
    if imports:
        directories[1] = (imported, len(rows) + 20)
    packed = b"".join(struct.pack("<II", *d) for d in directories)
    image = rva + -(-size // 4096) * 4096
    optional = optional_header(wide, raw, rva, image)
    optional += packed
    dos = b"MZ" + bytes(58) + struct.pack("<I", 64)
    flags = 0x2022 if wide else 0x2102
    head = dos + b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0x65E10000, 0, 0, len(optional), flags) + optional
    head += b".rdata\0\0" + struct.pack("<IIIIIIHHI", size, rva, raw, 512, 0, 0, 0, 0, 0x60000020)
    return head.ljust(512, b"\0") + bytes(body).ljust(raw, b"\0")


def optional_header(wide: bool, raw: int, rva: int, image: int) -> bytes:
    """The optional header of a DLL up to its directories."""
    versions = (4096, 512, 6, 0, 0, 0, 6, 0, 0, image, 512, 0, 3)  # from the alignment of sections to the subsystem
    memory = (1 << 20, 4096, 1 << 20, 4096, 0, 16)  # stack and heap; 16 directories
    if wide:
        head = struct.pack("<HBBIIIII", 0x20B, 14, 0, raw, 0, 0, 0, rva)
        return head + struct.pack("<QIIHHHHHHIIIIHHQQQQII", 0x180000000, *versions, 0x160, *memory)
    head = struct.pack("<HBBIIIIII", 0x10B, 14, 0, raw, 0, 0, 0, rva, rva)
    return head + struct.pack("<IIIHHHHHHIIIIHHIIIIII", 0x10000000, *versions, 0x140, *memory)


def uleb(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def export_trie(names: list[str], address: int) -> bytes:
    """The exported symbols of a Mach-O library: a root with one edge per symbol."""
    leaf = uleb(0) + uleb(address)
    leaf = uleb(len(leaf)) + leaf + b"\0"
    size = 2 + sum(len(name) + 1 + 2 for name in names)  # offsets with two bytes each
    root = bytes([0, len(names)])
    for k, name in enumerate(names):
        at = size + k * len(leaf)
        root += name.encode() + b"\0" + bytes([at & 0x7F | 0x80, at >> 7])
    trie = root + leaf * len(names)
    return trie + bytes(-len(trie) % 8)


def macho(
    machine: int, exports: tuple[str, ...] = FUNCTIONS, needed: tuple[str, ...] = ("/usr/lib/libSystem.B.dylib",)
) -> bytes:
    """A dynamic library for macOS with a symbol table and an export trie."""
    names = Strings(b" \0")
    symbols = b"".join(struct.pack("<IBBHQ", names.add("_" + name), 0x0F, 1, 0, 0x1000) for name in exports)
    trie = export_trie(["_" + name for name in exports], 0x1000)

    def library(command: int, path: str) -> bytes:
        text = path.encode() + b"\0"
        text += bytes(-len(text) % 8)
        return struct.pack("<IIIIII", command, 24 + len(text), 24, 2, 0x10000, 0x10000) + text

    def segment(name: bytes, start: int, size: int, offset: int, sections: bytes = b"") -> bytes:
        count = len(sections) // 80
        numbers = (0x19, 72 + len(sections), name, start, max(size, 4096), offset, size, 5, 5, count, 0)
        return struct.pack("<II16sQQQQIIII", *numbers) + sections

    def commands(at: int) -> list[bytes]:
        text = struct.pack("<16s16sQQIIIIIIII", b"__text", b"__TEXT", 0x1000, 16, 4096, 4, 0, 0, 0x80000400, 0, 0, 0)
        table_at = at + len(trie)
        linked = segment(b"__LINKEDIT", 0x2000, len(trie) + len(symbols) + len(names.data), at)
        info = struct.pack("<12I", 0x80000022, 48, 0, 0, 0, 0, 0, 0, 0, 0, at, len(trie))
        table = struct.pack("<IIIIII", 2, 24, table_at, len(exports), table_at + len(symbols), len(names.data))
        dynamic = struct.pack("<20I", 0xB, 80, 0, 0, 0, len(exports), len(exports), 0, *[0] * 12)
        own = library(0xD, "@rpath/Thermostat.dylib")
        head = segment(b"__TEXT", 0, 8192, 0, text)
        return [head, linked, own, info, table, dynamic, *(library(0xC, name) for name in needed)]

    at = 8192
    listed = commands(at)
    size = sum(map(len, listed))
    subtype = 3 if machine == MACH_X86_64 else 0
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, machine, subtype, 6, len(listed), size, 0x85, 0)
    return (head + b"".join(listed)).ljust(at, b"\0") + trie + symbols + bytes(names.data)
