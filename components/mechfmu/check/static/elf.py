"""Reads shared libraries of Linux: ELF, 32 or 64 bits, from what the loader uses (program headers, not sections)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .binary import SYMBOL_LIMIT, Binary, Bytes, Part, UnreadableBinary, check_count, file_offset, of_fmi

MACHINES = {3: "x86", 62: "x86_64", 40: "aarch32", 183: "aarch64", 21: "ppc64", 243: "riscv"}
SHARED_OBJECT = 3
LOAD, DYNAMIC = 1, 2  # program headers
NEEDED, HASH, STRINGS, SYMBOLS, RPATH, RUNPATH = 1, 4, 5, 6, 15, 29  # dynamic entries
GNU_HASH, VERSIONS_NEEDED, VERSIONS_COUNT = 0x6FFFFEF5, 0x6FFFFFFE, 0x6FFFFFFF
EXPORTED_BINDINGS = (1, 2, 10)  # global, weak, unique
EXPORTED_VISIBILITIES = (0, 3)  # default, protected


@dataclass(frozen=True)
class _Elf:
    """The tables of one file."""

    data: Bytes
    end: str  # < little endian, > big endian
    wide: bool
    segments: tuple[Part, ...]
    dynamic: tuple[tuple[int, int], ...]

    def offset(self, address: int) -> int:
        return file_offset(self.segments, address)

    def entry(self, tag: int) -> int | None:
        return next((value for t, value in self.dynamic if t == tag), None)

    def strings(self) -> int:
        """Where the table of names is in the file."""
        strings = self.entry(STRINGS)
        if strings is None:
            raise UnreadableBinary("it has no table of names")
        return self.offset(strings)

    def string(self, index: int) -> str:
        return self.data.path(self.strings() + index)


def read_elf(data: Bytes) -> Binary:
    """The library. Raises UnreadableBinary."""
    bits, order = data.unpack("BB", 4)
    if bits not in (1, 2) or order not in (1, 2):
        raise UnreadableBinary("its ELF header is not valid")
    end, wide = ("<", ">")[order - 1], bits == 2
    kind, machine = data.unpack(f"{end}HH", 16)
    (table,) = data.unpack(f"{end}Q", 32) if wide else data.unpack(f"{end}I", 28)
    size, count = data.unpack(f"{end}HH", 54 if wide else 42)
    segments, dynamic = [], None
    for i in range(count):
        type, segment = _program_header(data, table + i * size, end, wide)
        if type == LOAD:
            if segment.offset + segment.size > data.size:
                raise UnreadableBinary(f"it is cut off: it should have {segment.offset + segment.size} bytes")
            segments.append(segment)
        elif type == DYNAMIC:
            dynamic = segment
    entries = tuple(_dynamic(data, dynamic, end, wide)) if dynamic else ()
    elf = _Elf(data, end, wide, tuple(segments), entries)
    names = [elf.string(index) for tag in (RPATH, RUNPATH) if (index := elf.entry(tag)) is not None]
    paths = [path for name in names for path in name.split(":") if path]
    return Binary(
        "ELF",
        MACHINES.get(machine, f"machine {machine}"),
        kind == SHARED_OBJECT and dynamic is not None,
        of_fmi(_exports(elf)),
        tuple(elf.string(value) for tag, value in entries if tag == NEEDED),
        tuple(paths),
        tuple(_versions(elf)),
    )


def _program_header(data: Bytes, at: int, end: str, wide: bool) -> tuple[int, Part]:
    if wide:
        type, _, offset, address, _, size = data.unpack(f"{end}IIQQQQ", at)
    else:
        type, offset, address, _, size = data.unpack(f"{end}IIIII", at)
    return type, Part(address, offset, size)


def _dynamic(data: Bytes, segment: Part, end: str, wide: bool) -> Iterator[tuple[int, int]]:
    format, size = (f"{end}QQ", 16) if wide else (f"{end}II", 8)
    for i in range(check_count(segment.size // size, "dynamic entries")):
        tag, value = data.unpack(format, segment.offset + i * size)
        if tag == 0:
            return
        yield tag, value


def _exports(elf: _Elf) -> Iterator[str]:
    table = elf.entry(SYMBOLS)
    if table is None:
        return
    at, strings, size = elf.offset(table), elf.strings(), 24 if elf.wide else 16
    for i in range(check_count(_symbol_count(elf), "symbols", SYMBOL_LIMIT)):
        if elf.wide:
            name, info, other, section = elf.data.unpack(f"{elf.end}IBBH", at + i * size)
        else:
            name, _, _, info, other, section = elf.data.unpack(f"{elf.end}IIIBBH", at + i * size)
        if section and info >> 4 in EXPORTED_BINDINGS and other & 3 in EXPORTED_VISIBILITIES:
            yield elf.data.symbol(strings + name)


def _symbol_count(elf: _Elf) -> int:
    """The dynamic symbols, of which ELF has no number but in its hash tables."""
    if (hashes := elf.entry(HASH)) is not None:
        return int(elf.data.unpack(f"{elf.end}II", elf.offset(hashes))[1])
    if (table := elf.entry(GNU_HASH)) is None:
        return 0
    at = elf.offset(table)
    buckets, first, words, _ = elf.data.unpack(f"{elf.end}IIII", at)
    at += 16 + words * (8 if elf.wide else 4)
    check_count(buckets, "hash buckets", SYMBOL_LIMIT)
    last = max(elf.data.unpack(f"{elf.end}{buckets}I", at), default=0)
    if last < first:
        return int(first)
    chain = at + buckets * 4
    for i in range(last, SYMBOL_LIMIT):
        (value,) = elf.data.unpack(f"{elf.end}I", chain + (i - first) * 4)
        if value & 1:
            return i + 1
    raise UnreadableBinary("its hash table has no end")


def _versions(elf: _Elf) -> Iterator[str]:
    """The symbol versions that the library needs: GLIBC_2.17 and the like."""
    table = elf.entry(VERSIONS_NEEDED)
    if table is None:
        return
    at, total = elf.offset(table), 0
    for _ in range(check_count(elf.entry(VERSIONS_COUNT) or 0, "needed versions")):
        _, count, _, auxiliary, following = elf.data.unpack(f"{elf.end}HHIII", at)
        entry, total = at + auxiliary, check_count(total + count, "needed versions")
        for _ in range(count):
            _, _, _, name, step = elf.data.unpack(f"{elf.end}IHHII", entry)
            yield elf.string(name)
            if step == 0:
                break
            entry += step
        if following == 0:
            return
        at += following
