"""The library of portable FMUs: exports and imports, compiler warnings, valgrind, and Windows without Python."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers.native_build import FMI, C, Native, run, zig
from helpers.native_fmi import ALL_FUNCTIONS
from helpers.native_formats import read_elf, read_mach_o, read_pe
from helpers.needs import tool
from helpers.slave_cases import Portable
from mechfmu.codegen.compiler import STANDARD_PLATFORMS
from mechfmu.codegen.sources import c_sources, fmu_source
from mechfmu.fmu.portable_library import SOURCES, library

pytest_plugins = ["helpers.slave_fixtures", "helpers.native_fixtures"]
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="the tools of Linux")


def content(platform: str) -> bytes:
    return library(platform, "zig", lambda text: None)


def test_linux_library() -> None:
    """Runs with any glibc since 2.17 (2012) and needs nothing else, in particular no Python."""
    found = read_elf(content("linux64"))
    assert found.exports == set(ALL_FUNCTIONS) and found.needs <= {"libc.so.6", "libm.so.6", "libdl.so.2"}
    assert all(tuple(map(int, v.removeprefix("GLIBC_").split("."))) <= (2, 17) for v in found.versions), found.versions


def test_windows_library() -> None:
    found = read_pe(content("win64"))
    assert found.exports == set(ALL_FUNCTIONS)
    assert all(re.fullmatch(r"kernel32\.dll|api-ms-win-crt-[a-z0-9-]+\.dll", n.lower()) for n in found.needs), (
        found.needs
    )


def test_macos_library() -> None:
    found = read_mach_o(content("darwin64"))
    assert [part.processor for part in found] == ["x86_64", "arm64"] and found[1].signed
    for part in found:
        assert part.exports - {"_mh_dylib_header", "__dso_handle"} == set(ALL_FUNCTIONS)
        assert part.needs == {"/usr/lib/libSystem.B.dylib"}


@pytest.mark.parametrize("platform", STANDARD_PLATFORMS)
def test_no_path_of_the_builder_is_inside(platform: str) -> None:
    traces = (b"/tmp/", b"mechfmu_portable_", b"/usr/lib/gcc", b".zig-cache", b"site-packages")
    assert not [trace for trace in traces if trace in content(platform)]


@only_linux
def test_no_warnings(tmp_path: Path) -> None:
    for name, text in c_sources(*SOURCES).items():
        (tmp_path / name).write_text(text)
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Wvla", "-Wwrite-strings"]
    strict = ["-std=c99", *warnings, "-Werror"]
    for compiler in ([tool("gcc")], zig(), zig("-target", "x86_64-windows-gnu"), zig("-target", "aarch64-macos")):
        for file in sorted(tmp_path.glob("*.c")):
            run([*compiler, *strict, "-c", file, "-o", tmp_path / "object.o"])


@only_linux
def test_no_leak_and_no_wrong_access(native: Native, portable: Portable, tmp_path: Path) -> None:
    sources = [f for folder in SOURCES for f in sorted(fmu_source(folder).glob("*.c"))]
    flags = ["-std=gnu99", "-g", "-shared", "-fPIC", *(f"-I{fmu_source(folder)}" for folder in SOURCES)]
    debug = native.program("portable_debug.so", sources, [*flags, "-ldl"])
    host = native.program("host_debug", [C / "host.c"], ["-std=gnu99", "-g", f"-I{FMI}", "-ldl"])
    with zipfile.ZipFile(portable("spring")) as archive:
        archive.extractall(tmp_path / "fmu")
    place = tmp_path / "fmu" / "binaries" / "linux64" / "Spring.so"
    place.write_bytes(debug.read_bytes())
    guid = (tmp_path / "fmu" / "modelDescription.xml").read_text().split('guid="')[1].split('"')[0]
    kinds = [f"--{option}-leak-kinds=definite,indirect" for option in ("show", "errors-for")]
    check = [tool("valgrind"), "--leak-check=full", *kinds, "--error-exitcode=9"]
    for given, status in {guid: 0, "wrong": 1}.items():
        command = [*check, host, place, given, "0.01", "30", "1e-6", "0", "2"]
        done = subprocess.run(
            command, env={"MECHFMU_PYTHON": sys.executable}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == status, done.stderr[-3000:]


@only_linux
def test_the_windows_library_says_that_there_is_no_python(
    native: Native, portable: Portable, wine, tmp_path: Path
) -> None:
    host = native.for_windows("host")
    with zipfile.ZipFile(portable("divider")) as archive:
        archive.extractall(tmp_path / "fmu")
    guid = (tmp_path / "fmu" / "modelDescription.xml").read_text().split('guid="')[1].split('"')[0]
    with pytest.raises(AssertionError, match=r"there is no Python that can run this FMU\. Tried: .*MECHFMU_PYTHON"):
        wine(host, str(tmp_path / "fmu" / "binaries" / "win64" / "Divider.dll"), guid, "0.01", "1", "1e-6", "0")
