"""FMUs, their sources and C programs for the tests: each is built once in a test run and shared by its workers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers.needs import tool
from helpers.paths import TESTS
from mechfmu import mechanisms
from mechfmu.codegen.compiler import LINUX, PLATFORMS, host_platform, windows_start, zig_folder
from mechfmu.codegen.sources import fmu_source
from mechfmu.fmu.build import build
from mechfmu.model import Mechanism

C = TESTS / "c"
RUNTIME = fmu_source("native")
FMI = fmu_source("fmi")
LOCK_TIMEOUT = 900  # s: another worker may be compiling for Windows with an empty cache


def once(store: Path, label: str, make: Callable[[Path], None]) -> Path:
    """Return the folder `label` of the store, filled by `make` on the first call, in one worker only."""
    place, lock = store / label, store / f"{label}.lock"
    deadline = time.monotonic() + LOCK_TIMEOUT
    while not place.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            assert time.monotonic() < deadline, f"{label} was not built in time"
            time.sleep(0.05)
            continue
        try:
            if not place.exists():
                fresh = store / f"{label}.fresh"
                shutil.rmtree(fresh, ignore_errors=True)
                fresh.mkdir()
                make(fresh)
                fresh.rename(place)
        finally:
            lock.rmdir()
    return place


def run(command: Sequence[str | Path], timeout: float = 300, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run a program that must exit with status 0."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, **how)
    text = " ".join(map(str, command))[:500]
    output = f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    assert done.returncode == 0, f"{text}\nexit status {done.returncode}\n{output}"
    return done


def extra(key: str, **options: object) -> Mechanism:
    """Return a mechanism of tests/extra_mechanisms, without adding that folder for other tests."""
    before = mechanisms.__path__
    mechanisms.__path__ = [*before, str(TESTS / "extra_mechanisms")]
    try:
        return mechanisms.make(key, **options)
    finally:
        mechanisms.__path__ = before


class Native:
    """Builds on demand. Do not change the files that it returns."""

    def __init__(self, store: Path):
        self.store = store

    def fmu(
        self,
        mechanism: Mechanism,
        platforms: Sequence[str] | None = None,
        compiler: str | None = None,
        start: Mapping[str, float] | None = None,
    ) -> Path:
        """The FMU file."""
        options = [*(platforms or ()), *([compiler] if compiler else ())]
        parts = [repr(mechanism), *options, *(f"{k}={v}" for k, v in (start or {}).items())]

        def make(folder: Path) -> None:
            build(mechanism, folder, kind="native", platforms=platforms, compiler=compiler, start=start)

        return once(self.store, _label("fmu", parts), make) / f"{mechanism.name}.fmu"

    def everywhere(self, mechanism: Mechanism) -> Path:
        """The FMU file with binaries for all platforms."""
        return self.fmu(mechanism, platforms=["all"])

    def wasm(self, mechanism: Mechanism) -> Path:
        """The FMU file with a WebAssembly library and no other."""
        return self.fmu(mechanism, platforms=["wasm"])

    def folder(self, file: Path) -> Path:
        """The FMU, extracted."""

        def make(folder: Path) -> None:
            with zipfile.ZipFile(file) as archive:
                archive.extractall(folder)

        return once(self.store, f"{file.parent.name}-extracted", make)

    def binary(self, mechanism: Mechanism, platform: str | None = None, **how: Any) -> Path:
        """The library inside the FMU, for this machine or for another."""
        platform = platform or host_platform()
        file = self.everywhere(mechanism) if platform != host_platform() else self.fmu(mechanism, **how)
        return self.folder(file) / "binaries" / platform / (mechanism.name + PLATFORMS[platform].suffix)

    def sources(self, mechanism: Mechanism) -> Path:
        return self.folder(self.fmu(mechanism)) / "sources"

    def program(
        self,
        name: str,
        sources: Sequence[Path],
        flags: Sequence[str] = (),
        compiler: Sequence[str] | None = None,
        libraries: Sequence[str] = ("-lm",),
    ) -> Path:
        """An executable or library of C files, built with gcc by default."""

        def make(folder: Path) -> None:
            run([*(compiler or [tool("gcc")]), *flags, *sources, "-o", folder / name, *libraries])

        return once(self.store, f"c-{name}", make) / name

    def host(self) -> Path:
        """The program of tests/c/host.c."""
        flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{FMI}", f"-I{RUNTIME}"]
        return self.program("host", [C / "host.c"], flags, zig_for_this_platform())

    def for_windows(self, name: str, *flags: str) -> Path:
        """The program of a file in tests/c for Windows, without MinGW's C library."""
        parts = ("stdio", "heap", "string", "convert", "private", "math", "runtime")
        libraries = ["-lkernel32", *(f"-lapi-ms-win-crt-{part}-l1-1-0" for part in parts)]
        headers = zig_folder() / "lib" / "libc" / "include" / "any-windows-any"
        start = ["-Wl,--subsystem,console", "-Wl,--entry,mainCRTStartup"]
        common = ["-O2", "-fno-math-errno", "-nostdlib", *start, "-isystem", str(headers), f"-I{FMI}", f"-I{RUNTIME}"]
        sources = [C / f"{name}.c", C / "windows_main.c", windows_start()]
        compiler = zig("-target", "x86_64-windows-gnu")
        return self.program(f"{name}.exe", sources, [*common, *flags], compiler, libraries)

    def c_files(self, mechanism: Mechanism) -> list[Path]:
        """Runtime and generated model, as they are delivered in the FMU."""
        return sorted(self.sources(mechanism).glob("*.c"))


def zig(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "ziglang", "cc", *arguments]


def zig_for_this_platform() -> list[str]:
    """Return zig with the target of the FMUs' libraries, for which it has already compiled what belongs to it."""
    return zig(*(("-target", LINUX) if sys.platform == "linux" else ()), "-O2", "-s")


def _label(prefix: str, parts: Sequence[str]) -> str:
    return "-".join([prefix, *("".join(c if c.isalnum() or c in ".=_" else "_" for c in part) for part in parts)])
