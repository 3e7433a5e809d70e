"""Tells whether an FMU has opened anything in its folder resources (Linux)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

MAX_FOLDERS = 1000
IN_ACCESS, IN_OPEN = 0x1, 0x20  # of <sys/inotify.h>


class ResourceReads:
    """Watches a folder and the folders in it."""

    def __init__(self, folder: Path):
        self._descriptor: int | None = None
        self._seen = False
        self._watched = folder.is_dir()
        if self._watched and sys.platform == "linux":
            self._watch([folder, *(path for path in folder.rglob("*") if path.is_dir())])

    def _watch(self, folders: list[Path]) -> None:
        c = ctypes.CDLL(None)
        if len(folders) > MAX_FOLDERS or not hasattr(c, "inotify_init1"):
            return
        descriptor = c.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            return
        if any(c.inotify_add_watch(descriptor, os.fsencode(f), IN_ACCESS | IN_OPEN) < 0 for f in folders):
            os.close(descriptor)
            return
        self._descriptor = descriptor

    def possible(self) -> bool:
        """Whether something may have been read so far: also True where this cannot be watched."""
        if not self._watched:
            return False
        if self._descriptor is None:
            return True
        with contextlib.suppress(BlockingIOError):  # raised if nothing has happened
            self._seen = self._seen or bool(os.read(self._descriptor, 4096))
        return self._seen
