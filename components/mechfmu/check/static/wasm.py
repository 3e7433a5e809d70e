"""Reads WebAssembly modules: what they import and export."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .binary import SYMBOL_BYTES, SYMBOL_LIMIT, Binary, Bytes, UnreadableBinary, check_count, of_fmi

WASM_MAGIC = b"\0asm"
VERSION = 1
IMPORTS, EXPORTS = 2, 7  # sections
FUNCTION, TABLE, MEMORY, GLOBAL, TAG = range(5)  # what is imported or exported
PROGRAM_START = "_start"  # which programs export, and libraries do not


def read_wasm(data: Bytes) -> Binary:
    """The library. Raises UnreadableBinary."""
    (version,) = data.unpack("<I", 4)
    if version != VERSION:
        raise UnreadableBinary(f"it has version {version} of WebAssembly modules")
    imports: list[str] = []
    exports: list[str] = []
    for section, content in _sections(data):
        if section == IMPORTS:
            imports += _entries(content, _WasmReader.imported)
        elif section == EXPORTS:
            exports += _entries(content, _WasmReader.exported)
    is_library = PROGRAM_START not in exports
    return Binary("WebAssembly", "wasm32", is_library, of_fmi(exports), tuple(dict.fromkeys(imports)))


class _WasmReader:
    """Reads numbers and names one after the other."""

    def __init__(self, data: Bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        (value,) = self.data.unpack("B", self.at)
        self.at += 1
        return int(value)

    def number(self) -> int:
        """A number of up to 64 bits in LEB128, unsigned."""
        value = 0
        for shift in range(0, 64, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise UnreadableBinary(f"the number before byte {self.data.start + self.at} has no end")

    def name(self) -> str:
        length = self.number()
        text = self.data.get(self.at, min(length, SYMBOL_BYTES)).decode("utf-8", "replace")
        self.at += length
        return text

    def limits(self) -> None:
        """The size of a table or a memory: at least, and perhaps at most."""
        flags = self.number()
        self.number()
        if flags & 1:
            self.number()

    def imported(self) -> str:
        """The module of an imported thing."""
        module, _, kind = self.name(), self.name(), self.byte()
        if kind == FUNCTION:
            self.number()  # its type
        elif kind == TABLE:
            self.byte()  # the type of its elements
            self.limits()
        elif kind == MEMORY:
            self.limits()
        elif kind in (GLOBAL, TAG):
            self.byte()
            self.number()
        else:
            raise UnreadableBinary(f"it imports something of kind {kind}")
        return module

    def exported(self) -> str:
        """The name of an exported thing."""
        name = self.name()
        self.byte()  # kind and number of the thing
        self.number()
        return name


def _sections(data: Bytes) -> Iterator[tuple[int, Bytes]]:
    reader = _WasmReader(data, 8)
    while reader.at < data.size:
        section, size = reader.byte(), reader.number()
        if reader.at + size > data.size:
            raise UnreadableBinary(f"it is cut off: it should have {reader.at + size} bytes")
        yield section, data.part(reader.at, size)
        reader.at += size


def _entries(content: Bytes, read: Callable[[_WasmReader], str]) -> list[str]:
    reader = _WasmReader(content)
    return [read(reader) for _ in range(check_count(reader.number(), "imports or exports", SYMBOL_LIMIT))]
