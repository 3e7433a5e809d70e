"""Resources of the process that runs the FMU: memory, file descriptors, threads, child processes, files."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LC_ALL = 6  # of glibc
THREAD_SIGNALS = 0b11 << 31  # signals 32 and 33, for which glibc installs handlers when a thread is started


class _Mallinfo2(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        ("arena", ctypes.c_size_t), ("ordblks", ctypes.c_size_t), ("smblks", ctypes.c_size_t),
        ("hblks", ctypes.c_size_t), ("hblkhd", ctypes.c_size_t), ("usmblks", ctypes.c_size_t),
        ("fsmblks", ctypes.c_size_t), ("uordblks", ctypes.c_size_t), ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    ]  # fmt: skip


class Clock:
    """Measures durations. What this thread waits for a processor on a busy machine does not count where the system
    tells it (Linux)."""

    def __enter__(self) -> Clock:
        self._file, self._waited = -1, 0
        with contextlib.suppress(OSError):
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.close(self._file)

    def seconds(self) -> float:
        with contextlib.suppress(OSError, ValueError):
            os.lseek(self._file, 0, os.SEEK_SET)
            _, waited, _ = os.read(self._file, 80).split()
            self._waited = int(waited)
        return time.perf_counter() - 1e-9 * self._waited


def heap_in_use() -> int | None:
    """Bytes that are allocated and not freed, where the C library has mallinfo2."""
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return None
    function.restype = _Mallinfo2
    info = function()
    return int(info.uordblks + info.hblkhd)


def flush_output() -> None:
    """Write what the C library holds back of the standard output of this process."""
    if (c := _library(None)) is not None and hasattr(c, "fflush"):
        c.fflush(None)


def resident() -> int | None:
    """Resident memory of this process in bytes, on Linux."""
    file = Path("/proc/self/statm")
    return int(file.read_text().split()[1]) * 4096 if sys.platform == "linux" else None


@dataclass(frozen=True)
class Inventory:
    """What a process has open; empty where the operating system does not tell."""

    descriptors: frozenset[str]  # what they refer to
    threads: int
    children: int
    ended: int  # children of which nobody has asked for the exit status
    files: frozenset[str]

    @staticmethod
    def take(*folders: Path) -> Inventory:
        files = frozenset(
            f"{path.relative_to(folder)}" for folder in folders for path in folder.rglob("*") if path.is_file()
        )
        if sys.platform != "linux":
            return Inventory(frozenset(), 0, 0, 0, files)
        tasks = list(Path("/proc/self/task").iterdir())
        children = [child for task in tasks for child in _read(task / "children").split()]
        states = [_read(Path("/proc", child, "stat")).rpartition(")")[2].split()[:1] for child in children]
        return Inventory(_descriptors(), len(tasks), len(children), states.count(["Z"]), files)


def _descriptors() -> frozenset[str]:
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{descriptor.name} {descriptor.readlink()}")
        except OSError:  # the one that listed them
            continue
    return frozenset(found)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


@dataclass(frozen=True)
class Settings:
    """Settings of the process that a call may change only if it restores them."""

    folder: str
    rounding: int | None
    traps: int | None  # floating point exceptions that raise a signal
    signals: tuple[int, ...]  # those that are caught and those that are ignored, as bits
    locale: str
    flush: bool  # the processor takes very small numbers for 0
    mask: int  # of the permissions of new files

    @staticmethod
    def take() -> Settings:
        mathematics, c = _library("libm.so.6"), _library(None)
        rounding, traps = _number(mathematics, "fegetround"), _number(mathematics, "fegetexcept")
        return Settings(str(Path.cwd()), rounding, traps, _signals(), _locale(c), _flush(), _mask())

    def changes(self, now: Settings) -> list[str]:
        """What is different now."""
        names = {
            "folder": "the working directory",
            "rounding": "the rounding of floating point numbers",
            "traps": "the floating point exceptions that raise a signal",
            "signals": "the handling of signals",
            "locale": "the locale",
            "flush": "the treatment of very small numbers (they become 0)",
            "mask": "the mask of the permissions of new files",
        }
        return [text for name, text in names.items() if getattr(self, name) != getattr(now, name)]


def _signals() -> tuple[int, ...]:
    """The signals that are caught and those that are ignored, without those that the C library uses for threads."""
    fields = dict(line.split(":", 1) for line in _read(Path("/proc/self/status")).splitlines() if ":" in line)
    masks = (int(fields[name], 16) for name in ("SigCgt", "SigIgn") if name in fields)
    return tuple(mask & ~THREAD_SIGNALS for mask in masks)


def _flush() -> bool:
    return math.ldexp(1.0, -1030) * 0.5 == 0.0


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _library(name: str | None) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except (OSError, TypeError):
        return None


def _number(library: ctypes.CDLL | None, function: str) -> int | None:
    """The result of a function without arguments, if the library has it."""
    return int(getattr(library, function)()) if hasattr(library, function) else None


def _locale(c: ctypes.CDLL | None) -> str:
    if c is None or not hasattr(c, "setlocale"):
        return ""
    c.setlocale.restype = ctypes.c_char_p
    return (c.setlocale(LC_ALL, None) or b"").decode(errors="replace")
