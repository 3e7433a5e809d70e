"""Writing files atomically: a file is complete or absent."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .model import UserError

MAX_STEM = 100  # characters of a file's name that the unfinished file beside it repeats


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Give a file beside `target` that replaces it when the block ends without an error.

    When writing fails, because the disk is full for instance, there is a UserError and an older file stays unchanged.
    """
    place = Path(os.path.realpath(target))  # a link stays a link
    unfinished = place.with_name(f".{place.stem[:MAX_STEM]}.{secrets.token_hex(4)}{place.suffix}")
    try:
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if place.exists() and not place.is_file():  # a pipe, for instance
            yield place
            return
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield unfinished
        if place.exists():
            shutil.copymode(place, unfinished)
        unfinished.replace(place)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
