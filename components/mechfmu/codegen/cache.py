"""Compiled libraries, kept in the user's cache folder.

A file's name holds a hash of its sources and a hash of its content. A file whose content does not match its name
(truncated by a full disk, damaged) is never loaded, which would kill the process: it is made again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

DIGITS = 24  # of a hash in a file name
KEPT_FOR = 7 * 24 * 3600.0  # s, from the last use of a source folder


def cache_folder() -> Path:
    """$MECHFMU_CACHE, or the folder mechfmu in the user's cache folder; OSError when there is no home folder either."""
    if own := os.environ.get("MECHFMU_CACHE"):
        return Path(own)
    try:
        home = Path.home()
    except RuntimeError as error:
        raise OSError(str(error)) from None
    of_system = {"win32": os.environ.get("LOCALAPPDATA"), "darwin": str(home / "Library" / "Caches")}
    base = of_system.get(sys.platform) or os.environ.get("XDG_CACHE_HOME")
    return Path(base or home / ".cache") / "mechfmu"


@contextmanager
def cached_library(name: str, suffix: str, make: Callable[[Path], None]) -> Iterator[Path]:
    """Return a library from the cache, or one that `make` writes to the path it is given.

    Where the cache folder cannot be used there is a warning, and the file is a temporary one, to be loaded or read at
    once.
    """
    try:
        folder = cache_folder()
        library = _intact(folder, name, suffix)
        if library is None:
            _check_writable(folder)
    except OSError as error:
        where = os.environ.get("MECHFMU_CACHE") or error.filename or "the user's cache folder"
        warnings.warn(
            f"compiled libraries cannot be kept in {where} ({error.strerror or error}), so each run compiles them "
            "again: set MECHFMU_CACHE to a writable folder",
            RuntimeWarning,
            stacklevel=4,
        )
        # ignore_cleanup_errors: Windows does not delete a loaded library
        with tempfile.TemporaryDirectory(prefix="mechfmu_cache_", ignore_cleanup_errors=True) as temporary:
            library = Path(temporary) / f"{name}{suffix}"
            make(library)
            yield library
        return
    if library is None:
        with _alone(folder / f".{name}.lock"):  # other processes wait, and then have it
            library = _intact(folder, name, suffix) or _made(folder, name, suffix, make)
    yield library


def _made(folder: Path, name: str, suffix: str, make: Callable[[Path], None]) -> Path:
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder) as temporary:
        made = Path(temporary) / f"{name}{suffix}"
        make(made)
        library = folder / f"{name}.{_digest(made)}{suffix}"
        made.replace(library)
    return library


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Wait until nobody else on this computer is here; where files cannot be locked, do not wait."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # Windows; some network file systems
            import fcntl

            fcntl.flock(stack.enter_context(file.open("wb")), fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):
                file.unlink()


def _intact(folder: Path, name: str, suffix: str) -> Path | None:
    """The intact file of this name, or None; damaged ones are removed."""
    for file in sorted(folder.glob(f"{name}.*{suffix}")):
        if file.name == f"{name}.{_digest(file)}{suffix}":
            return file
        with suppress(OSError):
            file.unlink()
    return None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:DIGITS]


@contextmanager
def source_folder(files: Mapping[str, str]) -> Iterator[Path]:
    """A folder with these files (name -> text), always the same one for the same files.

    zig caches its objects by path and content, so it compiles each file once. Folders not used for a while are removed.
    """
    digest = hashlib.sha256("\0".join(f"{name}\0{files[name]}" for name in sorted(files)).encode()).hexdigest()[:DIGITS]
    try:
        kept = cache_folder() / "sources"
        _check_writable(kept)
        _remove_old(kept)
        folder = kept / digest
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix=f".{digest}.", dir=kept) as temporary:
                _write(files, Path(temporary) / digest)
                with suppress(OSError):  # another process was faster
                    (Path(temporary) / digest).rename(folder)
        folder.touch()
    except OSError:
        with tempfile.TemporaryDirectory(prefix="mechfmu_sources_") as temporary:
            yield _write(files, Path(temporary) / digest)
        return
    yield folder


def _write(files: Mapping[str, str], folder: Path) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _remove_old(folder: Path) -> None:
    for place in folder.iterdir():
        with suppress(OSError):  # another process removes it, too
            if time.time() - place.stat().st_mtime > KEPT_FOR:
                shutil.rmtree(place)


def zig_environment(fallback: Path) -> dict[str, str]:
    """The environment for zig, which keeps its libraries in the user's cache folder.

    Where that is not writable they go into the cache folder of mechfmu, or else into the folder `fallback`.
    """
    environment = dict(os.environ)
    if "ZIG_GLOBAL_CACHE_DIR" in environment:
        return environment
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    with suppress(OSError, RuntimeError):
        _check_writable(Path(base or Path.home() / ".cache") / "zig")
        return environment
    with suppress(OSError):
        _check_writable(own := cache_folder() / "zig")
        return environment | {"ZIG_GLOBAL_CACHE_DIR": str(own)}
    return environment | {"ZIG_GLOBAL_CACHE_DIR": str(fallback)}


def _check_writable(folder: Path) -> None:
    """Create the folder if necessary; OSError when it is not writable."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
