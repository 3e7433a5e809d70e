"""The platforms of FMI: names of folders, formats of libraries, and what a bare system provides."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class FmiPlatform:
    """A platform as FMI names it."""

    name: str
    system: str
    format: str
    machine: str
    suffix: str


SYSTEMS = {
    "windows": ("Windows", "PE", ".dll"),
    "linux": ("Linux", "ELF", ".so"),
    "darwin": ("macOS", "Mach-O", ".dylib"),
}
PLATFORMS = {
    f"{short}{bits}": FmiPlatform(f"{short}{bits}", *SYSTEMS[system][:2], machine, SYSTEMS[system][2])
    for short, system in (("win", "windows"), ("linux", "linux"), ("darwin", "darwin"))
    for bits, machine in (("32", "x86"), ("64", "x86_64"))
}
WASM = FmiPlatform("wasm32", "WebAssembly", "WebAssembly", "wasm32", ".wasm")  # of mechfmu; FMI has no name for it
TUPLE = re.compile(r"(x86|x86_64|aarch32|aarch64|ppc32|ppc64|riscv32|riscv64)-(windows|linux|darwin)[^/]*")

# Libraries that the base system provides: glibc, the compiler's runtime and what else Python's manylinux platforms
# (PEP 513 and its successors) count on.
LINUX = re.compile(
    r"""(?: lib(?:c|m|dl|rt|pthread|util|resolv|nsl|crypt|anl|mvec|thread_db|BrokenLocale)\.so[.\d]* | ld-linux.*
    | linux-(?:vdso|gate)\.so[.\d]* | lib(?:gcc_s|stdc\+\+|atomic)\.so[.\d]* | libz\.so\.1 | libexpat\.so\.1
    | lib(?:X11|Xext|Xrender|ICE|SM|GL)\.so[.\d]* | lib(?:gobject|gthread|glib)-2\.0\.so\.0 )""",
    re.VERBOSE,
)
# Windows' own: its C runtimes are msvcrt.dll and ucrtbase.dll; those of Visual Studio (msvcr90.dll, vcruntime140.dll)
# have to be installed.
WINDOWS = frozenset({
    "advapi32.dll", "avrt.dll", "bcrypt.dll", "bcryptprimitives.dll", "cabinet.dll", "cfgmgr32.dll", "comctl32.dll",
    "comdlg32.dll", "credui.dll", "crypt32.dll", "cryptbase.dll", "d3d11.dll", "d3d9.dll", "d3dcompiler_47.dll",
    "dbgeng.dll", "dbghelp.dll", "dnsapi.dll", "dsound.dll", "dwmapi.dll", "dxgi.dll", "dxva2.dll", "fwpuclnt.dll",
    "gdi32.dll", "gdiplus.dll", "glu32.dll", "hid.dll", "httpapi.dll", "imagehlp.dll", "imm32.dll", "iphlpapi.dll",
    "kernel32.dll", "kernelbase.dll", "ktmw32.dll", "mfplat.dll", "mpr.dll", "msimg32.dll", "msvcrt.dll",
    "mswsock.dll", "ncrypt.dll", "netapi32.dll", "normaliz.dll", "ntdll.dll", "ntdsapi.dll", "ole32.dll",
    "oleacc.dll", "oleaut32.dll", "opengl32.dll", "pdh.dll", "powrprof.dll", "propsys.dll", "psapi.dll",
    "rasapi32.dll", "riched20.dll", "rpcrt4.dll", "rstrtmgr.dll", "secur32.dll", "setupapi.dll", "sfc.dll",
    "shell32.dll", "shfolder.dll", "shlwapi.dll", "srvcli.dll", "sspicli.dll", "tdh.dll", "ucrtbase.dll",
    "urlmon.dll", "user32.dll", "userenv.dll", "usp10.dll", "uxtheme.dll", "version.dll", "wer.dll", "wevtapi.dll",
    "winhttp.dll", "wininet.dll", "winmm.dll", "wintrust.dll", "wldap32.dll", "ws2_32.dll", "wsock32.dll",
    "wtsapi32.dll", "xmllite.dll", "winspool.drv",
})  # fmt: skip


def platform_named(folder: str) -> FmiPlatform | None:
    """The platform of a folder in binaries/, or None if only its vendor knows."""
    if folder in PLATFORMS:
        return PLATFORMS[folder]
    if folder == WASM.name:
        return WASM
    if found := TUPLE.fullmatch(folder):
        system, format, suffix = SYSTEMS[found[2]]
        return FmiPlatform(folder, system, format, found[1], suffix)
    return None


def in_base_system(platform: FmiPlatform, library: str) -> bool:
    """Whether a bare system of this platform provides the library."""
    if platform.format == "ELF":
        return LINUX.fullmatch(library) is not None
    if platform.format == "PE":
        return library.lower() in WINDOWS or library.lower().startswith(("api-ms-win-", "ext-ms-win-"))
    return platform.format == "Mach-O" and library.startswith(("/usr/lib/", "/System/Library/"))
