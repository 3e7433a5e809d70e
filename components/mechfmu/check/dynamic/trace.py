"""What the process that runs the FMU is doing, in a file that is still there after a crash. Standard library only.

The process writes each call before it makes it; the checker reads the file to notice a call that does not return, and
to name the last two calls of a process that died.
"""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass
from pathlib import Path

HEAD = struct.Struct("<d?")  # when the current call began (time.monotonic), and whether it is still running
TEXT = 500  # bytes of a description
CURRENT, PREVIOUS = slice(16, 16 + TEXT), slice(16 + TEXT, 16 + 2 * TEXT)
SIZE = 16 + 2 * TEXT
BUSY = HEAD.size - 1


class Trace:
    """Writes the current and the previous action of this process into a memory-mapped file."""

    def __init__(self, file: Path):
        file.write_bytes(bytes(SIZE))
        with file.open("r+b") as stream:
            self._memory = mmap.mmap(stream.fileno(), SIZE)
        self._encoded: dict[str, bytes] = {}

    def begin(self, text: str) -> None:
        """A call begins."""
        memory = self._memory
        data = self._encoded.get(text)
        if data is None:
            data = self._encoded[text] = text.encode(errors="replace")[:TEXT].ljust(TEXT, b"\0")
        memory[PREVIOUS] = memory[CURRENT]
        memory[CURRENT] = data
        memory[: HEAD.size] = HEAD.pack(time.monotonic(), True)

    def end(self) -> None:
        """The call has returned."""
        self._memory[BUSY] = 0


@dataclass(frozen=True)
class LastCalls:
    """What a process did last."""

    current: str = ""
    previous: str = ""
    busy: bool = False  # the current call has not returned
    seconds: float = 0.0  # since it began

    @staticmethod
    def read(file: Path) -> LastCalls:
        try:
            data = file.read_bytes()
        except OSError:
            return LastCalls()
        if len(data) < SIZE:
            return LastCalls()
        began, busy = HEAD.unpack_from(data)
        current, previous = (data[part].rstrip(b"\0").decode(errors="replace") for part in (CURRENT, PREVIOUS))
        return LastCalls(current, previous, busy, time.monotonic() - began)
