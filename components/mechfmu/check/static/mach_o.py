"""Reads shared libraries of macOS: Mach-O, one or several machines in a file."""

from __future__ import annotations

from collections.abc import Iterator

from .binary import SYMBOL_LIMIT, Binary, Bytes, UnreadableBinary, check_count, of_fmi

MAGIC = {0xFEEDFACE: False, 0xFEEDFACF: True}  # 32 and 64 bits
FAT = {0xCAFEBABE: (">IIIII", 20), 0xCAFEBABF: (">IIQQII", 32)}
MACHINES = {7: "x86", 0x01000007: "x86_64", 12: "aarch32", 0x0100000C: "aarch64", 18: "ppc", 0x01000012: "ppc64"}
LIBRARIES = (6, 8)  # dynamic library, bundle
MOST_MACHINES = 32  # in one file
SYMBOL_TABLE, RPATH = 0x2, 0x8000001C  # load commands
LOAD_LIBRARY = (0xC, 0x8000001F, 0x80000023)  # load, re-export, upward; a weak one may be missing
EXPORT_TRIE, TRIES = 0x80000033, (0x22, 0x80000022)
STAB, PRIVATE, KIND, EXTERNAL = 0xE0, 0x10, 0x0E, 0x01  # bits of a symbol's type


def read_mach_o(data: Bytes) -> list[Binary]:
    """The libraries in the file, one for each machine. Raises UnreadableBinary."""
    (magic,) = data.unpack(">I", 0)
    if magic not in FAT:
        return [_read(data)]
    (count,) = data.unpack(">I", 4)
    if not 0 < count <= MOST_MACHINES:
        raise UnreadableBinary(f"it has {count} machines")
    format, size = FAT[magic]
    parts = [data.unpack(format, 8 + size * i)[2:4] for i in range(count)]
    return [_read(data.part(offset, length)) for offset, length in parts]


def _read(data: Bytes) -> Binary:
    end = next((e for e in "<>" if data.unpack(f"{e}I", 0)[0] in MAGIC), None)
    if end is None:
        raise UnreadableBinary("its Mach-O header is not valid")
    wide = MAGIC[data.unpack(f"{end}I", 0)[0]]
    machine, _, kind, count = data.unpack(f"{end}IIII", 4)
    exports: set[str] = set()
    needed, paths = [], []
    for command, at in _commands(data, 32 if wide else 28, count, end):
        if command in LOAD_LIBRARY:
            needed.append(data.path(at + data.unpack(f"{end}I", at + 8)[0]))
        elif command == RPATH:
            paths.append(data.path(at + data.unpack(f"{end}I", at + 8)[0]))
        elif command == SYMBOL_TABLE:
            exports |= of_fmi(_symbols(data, at, end, wide))
        elif command in TRIES:
            exports |= of_fmi(_trie(data.part(*data.unpack(f"{end}II", at + 40))))
        elif command == EXPORT_TRIE:
            exports |= of_fmi(_trie(data.part(*data.unpack(f"{end}II", at + 8))))
    names = frozenset(n[1:] for n in exports if n.startswith("_"))  # C's names begin with _ here
    machine_name = MACHINES.get(machine, f"machine {machine:#x}")
    return Binary("Mach-O", machine_name, kind in LIBRARIES, names, tuple(needed), tuple(paths))


def _commands(data: Bytes, at: int, count: int, end: str) -> Iterator[tuple[int, int]]:
    for _ in range(check_count(count, "load commands")):
        command, size = data.unpack(f"{end}II", at)
        if size < 8:
            raise UnreadableBinary("a load command has no size")
        yield command, at
        at += size


def _symbols(data: Bytes, command: int, end: str, wide: bool) -> Iterator[str]:
    table, count, strings, _ = data.unpack(f"{end}IIII", command + 8)
    size = 16 if wide else 12
    for i in range(check_count(count, "symbols", SYMBOL_LIMIT)):
        name, type = data.unpack(f"{end}IB", table + i * size)
        if type & EXTERNAL and not type & (STAB | PRIVATE) and type & KIND:
            yield data.symbol(strings + name)


def _trie(data: Bytes) -> Iterator[str]:
    """The names in the tree of exported symbols: a node has the bytes that tell about a symbol that ends here, then its
    children, each a piece of a name and the place of the next node."""
    if data.size == 0:
        return
    nodes, seen = [(0, b"")], set[int]()
    while nodes:
        at, name = nodes.pop()
        if at in seen or len(seen) + len(nodes) > SYMBOL_LIMIT or len(name) > 4096:
            raise UnreadableBinary("its exported symbols are not a tree")
        seen.add(at)
        size, at = _number(data, at)
        if size:
            yield name.decode("utf-8", "replace")
        at += size
        (children,) = data.unpack("B", at)
        at += 1
        for _ in range(children):
            piece = data.get(at, 4096).partition(b"\0")[0]
            place, at = _number(data, at + len(piece) + 1)
            nodes.append((place, name + piece))


def _number(data: Bytes, at: int) -> tuple[int, int]:
    """An unsigned number of seven bits for each byte (ULEB128), and where it ends."""
    value = shift = 0
    while shift < 64:
        (byte,) = data.unpack("B", at)
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7
    raise UnreadableBinary("a number is too long")
