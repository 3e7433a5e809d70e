"""Compiling C to shared libraries, for this machine or for another.

zig    `zig cc` from the package ziglang: the same compiler everywhere, for all platforms
cc     the C compiler of this system ($CC or cc), for this platform only
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..atomic_file import atomic_write
from ..model import UserError
from .cache import source_folder, zig_environment
from .guarded import run_guarded
from .sources import fmu_source

FLAGS = (
    "-std=c99",
    "-O2",
    "-g0",  # zig adds debug information, which is stripped again
    "-DNDEBUG",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
)

# Generated code is long functions without loops. To look for parallel operations in them takes 40 % of the compiler's
# time, and what it makes of them is slower (measured: link chain, exoskeleton, TALOS), since pairs of numbers are
# shuffled into vector registers and out again. gcc and clang know this name.
GENERATED_FLAGS = ("-fno-tree-slp-vectorize",)

COMPILERS = ("zig", "cc")


@dataclass(frozen=True)
class Platform:
    """A platform: its folder in binaries/, the ending of its libraries, and zig's targets for it."""

    name: str
    suffix: str
    targets: tuple[str, ...]
    flags: tuple[str, ...]  # of the compiler
    link_flags: tuple[str, ...]


LINUX = "x86_64-linux-gnu.2.17"  # a version of glibc that every supported distribution has
MACOS = ("x86_64-macos", "aarch64-macos")
STANDARD_PLATFORMS = ("linux64", "win64", "darwin64")  # those of FMI 2.0
WASM = "wasm32"
STACK = 1 << 20  # bytes, of a WebAssembly module, which cannot grow; the default of zig is 16 MB
PLATFORMS = {
    p.name: p
    for p in (
        Platform("linux64", ".so", (LINUX,), ("-fPIC",), ("-shared", "-s", "-lm")),
        Platform("win64", ".dll", ("x86_64-windows-gnu",), (), ("-shared", "-s")),
        Platform("darwin64", ".dylib", MACOS, ("-fPIC",), ("-shared", "-s", "-lm")),
        Platform(
            WASM,
            ".wasm",
            ("wasm32-wasi",),
            (),
            # a reactor is a library; -rdynamic exports the functions of FMI, which are visible
            ("-mexec-model=reactor", "-rdynamic", "-Wl,--gc-sections", f"-Wl,-z,stack-size={STACK}", "-s"),
        ),
    )
}
WASM_EXPORTS = ("malloc", "free")  # with which the host makes room for arguments

WINDOWS_LIBRARIES = (
    "kernel32",
    *(f"api-ms-win-crt-{part}-l1-1-0" for part in ("stdio", "heap", "string", "convert", "private", "math")),
)


def host_platform() -> str:
    """The platform of this machine, or a UserError when FMI 2.0 has no name for it."""
    system, machine = platform.system(), platform.machine().lower()
    names = {"Linux": "linux64", "Windows": "win64", "Darwin": "darwin64"}
    if system not in names or (system != "Darwin" and machine not in ("x86_64", "amd64")):
        raise UserError(
            f"native FMUs for {system} on {machine} are not supported: name the platforms to build for, e.g. "
            "--platform linux64"
        )
    return names[system]


def has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def default_compiler() -> str:
    """zig if it is installed, otherwise the system's compiler."""
    if has_zig():
        return "zig"
    if _system_compiler():
        return "cc"
    raise UserError("there is no C compiler: install one with  pip install ziglang  (or mechfmu[native])")


def check_compiler(compiler: str, platform_name: str) -> None:
    """UserError when this compiler is not installed or cannot build for this platform."""
    if compiler not in COMPILERS:
        raise UserError(f"compiler {compiler}: must be {' or '.join(COMPILERS)}")
    if compiler == "zig" and not has_zig():
        raise UserError("zig is not installed: pip install ziglang  (or mechfmu[native]), or use --compiler cc")
    if compiler == "cc" and platform_name != host_platform():
        install = "zig builds for all, install it with  pip install ziglang  (or mechfmu[native])"
        other = "use --compiler zig" if has_zig() else install
        raise UserError(f"the system's compiler builds for {host_platform()} only, not for {platform_name}: {other}")
    if compiler == "cc" and _system_compiler() is None:
        raise UserError("there is no system C compiler (neither $CC nor cc)")


def compile_sources(
    groups: Sequence[Mapping[str, str]],
    target: Path,
    platform_name: str,
    compiler: str,
    extra: Sequence[str] = (),
    exports: Sequence[str] = (),
    generated: Mapping[str, str] | None = None,
) -> None:
    """Compile groups of files (name -> text) and generated ones to the shared library `target`.

    The first group has the headers for all. A group that does not change, such as the runtime, is compiled once for
    many libraries. `exports` are further functions that a WebAssembly module exports, whether they are visible or not.
    """
    generated = generated or {}
    with ExitStack() as stack:
        folders = [stack.enter_context(source_folder(files)) for files in groups]
        names = [n for folder, files in zip(folders, groups, strict=True) for n in _c_files(folder, files)]
        generated_names = _c_files(stack.enter_context(source_folder(generated)), generated)
        if platform_name == WASM:
            extra = [*extra, *(f"-Wl,--export={name}" for name in (*WASM_EXPORTS, *exports))]
        compile_library(folders[0], names, target, platform_name, compiler, extra, generated_names)


def _c_files(folder: Path, files: Iterable[str]) -> list[str]:
    return [str(folder / name) for name in sorted(files) if name.endswith(".c")]


def compile_library(
    folder: Path,
    sources: list[str],
    target: Path,
    platform_name: str,
    compiler: str,
    extra: Sequence[str] = (),
    generated: Sequence[str] = (),
) -> None:
    """Compile C files, some of them generated, with headers in `folder` to the shared library `target`.

    extra   more flags for linking
    """
    check_compiler(compiler, platform_name)
    chosen = PLATFORMS[platform_name]
    flags = [*FLAGS, *chosen.flags, f"-I{folder}"]
    link = [*sources, *chosen.link_flags, *extra]
    if platform_name == "darwin64":  # the default is the path on the computer that compiles
        link.append(f"-Wl,-install_name,@rpath/{target.name}")
    if platform_name == "win64" and compiler == "zig":
        flags += _without_mingw()
        link += [str(windows_start()), *(f"-l{name}" for name in WINDOWS_LIBRARIES)]
    with tempfile.TemporaryDirectory(prefix="mechfmu_cc_") as temporary:
        environment = None
        if compiler == "cc":
            commands = {"cc": [str(_system_compiler())]}
        else:
            environment = zig_environment(Path(temporary) / "zig_cache")
            commands = {triple: [str(zig_folder() / "zig"), "cc", "-target", triple] for triple in chosen.targets}
        parts = []
        for name, command in commands.items():
            place = Path(temporary) / name
            place.mkdir()
            objects = [str(place / f"{Path(source).stem}.o") for source in generated]
            for source, made in zip(generated, objects, strict=True):
                _run([*command, *flags, *GENERATED_FLAGS, "-c", source, "-o", made], folder, environment)
            parts.append(place / target.name)
            _run([*command, *flags, *objects, *link, "-o", str(parts[-1])], folder, environment)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = parts[0].read_bytes() if len(parts) == 1 else universal([p.read_bytes() for p in parts])
        with atomic_write(target) as unfinished:  # another process may compile the same
            unfinished.write_bytes(content)
            unfinished.chmod(0o755)


def _without_mingw() -> list[str]:
    """More arguments of zig for Windows: its own C library instead of MinGW's, which takes minutes to compile."""
    return ["-nostdlib", "-isystem", str(zig_folder() / "lib" / "libc" / "include" / "any-windows-any")]


def windows_start() -> Path:
    """Return the C file that zig adds to libraries for Windows."""
    return fmu_source("windows/start.c")


def universal(slices: list[bytes]) -> bytes:
    """A macOS universal file: a header with the offset of the library for each processor, and the libraries."""
    alignment = 14  # 2^14 bytes, the page size of Apple's processors
    header = struct.pack(">II", 0xCAFEBABE, len(slices))
    body, offset = b"", 1 << alignment
    for content in slices:
        cpu, subtype = struct.unpack_from("<ii", content, 4)  # of the Mach-O header
        header += struct.pack(">iiIII", cpu, subtype, offset, len(content), alignment)
        padding = -len(content) % (1 << alignment)
        body += content + bytes(padding)
        offset += len(content) + padding
    return header.ljust(1 << alignment, b"\0") + body


def _system_compiler() -> str | None:
    return shutil.which(os.environ.get("CC", "cc"))


def zig_folder() -> Path:
    """Where the package ziglang is."""
    zig = importlib.util.find_spec("ziglang")
    assert zig is not None and zig.origin is not None
    return Path(zig.origin).parent


def _run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    status, output = run_guarded(command, folder, environment)
    if status:
        lines = [line for line in output.splitlines() if "error" in line.lower()] or output.splitlines()
        reason = f"it was ended by signal {status - 128}" if status > 128 else "no message"
        raise UserError(f"the C compiler failed: {lines[0] if lines else reason}")
