"""The library of portable FMUs, which runs a pythonfmu slave in a separate Python process (fmu_src/portable).

The library is the same for every FMU. It is compiled once for each platform and kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from ..codegen.cache import cached_library
from ..codegen.compiler import (
    PLATFORMS,
    STANDARD_PLATFORMS,
    check_compiler,
    compile_sources,
    host_platform,
    windows_start,
)
from ..codegen.sources import c_sources, fmu_source
from ..model import UserError

SOURCES = ("fmi", "portable")  # folders of fmu_src
SCRIPTS = ("mechfmu_start.py", "mechfmu_child.py")  # of fmu_src/python: they run in the Python process
SETTINGS = "mechfmu.json"
OLDEST_PYTHON = (3, 7)  # that runs SCRIPTS; for slaves that do not require a newer one
Progress = Callable[[str], None]


def portable_contents(
    identifier: str,
    guid: str,
    platforms: Sequence[str],
    compiler: str,
    progress: Progress,
    requires: Sequence[str] = (),
    python: tuple[int, int] = OLDEST_PYTHON,
    call_timeout: float | None = None,
) -> dict[str, bytes]:
    """Return archive name -> content of what makes an FMU with a slave portable.

    identifier    modelIdentifier, the name of the library
    requires      packages that the Python process must have
    python        the oldest Python that runs the slave
    call_timeout  seconds after which a call is aborted; None: never
    """
    if call_timeout is not None and not 0 < call_timeout < float("inf"):
        raise UserError(f"call timeout {call_timeout:g} s: must be a finite number greater than 0")
    settings = dict(guid=guid, python=python, requires=list(requires), call_timeout=call_timeout)
    contents = {f"resources/{name}": fmu_source(f"python/{name}").read_bytes() for name in SCRIPTS}
    contents[f"resources/{SETTINGS}"] = json.dumps(settings, indent=1).encode()
    for platform in platforms:
        name = f"{identifier}{PLATFORMS[platform].suffix}"
        contents[f"binaries/{platform}/{name}"] = library(platform, compiler, progress)
    return contents


def all_platforms(compiler: str) -> list[str]:
    """Return the platforms that this compiler builds for."""
    return list(STANDARD_PLATFORMS) if compiler == "zig" else [host_platform()]


def library(platform: str, compiler: str, progress: Progress) -> bytes:
    """Return the library for a platform, compiled or from the cache."""
    check_compiler(compiler, platform)
    if platform == "win64" and compiler != "zig":
        install = "install it with  pip install ziglang  (or mechfmu[native])"
        raise UserError(f"the library for win64 is compiled by zig only: {install}")
    files = c_sources(*SOURCES)
    start = windows_start().read_text(encoding="utf-8") if platform == "win64" else ""
    version = importlib.metadata.version("ziglang") if compiler == "zig" else ""
    parts = [compiler, version, start, *(f"{k}\0{v}" for k, v in sorted(files.items()))]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def make(target: Path) -> None:
        progress(f"compiling the library for {platform}, once")
        compile_sources((files,), target, platform, compiler, ["-ldl"] if platform == "linux64" else [])

    with cached_library(f"portable_{digest}", PLATFORMS[platform].suffix, make) as file:
        return file.read_bytes()
