"""The part of the zoo (check_zoo.py) that is about files: defects of the archive, its contents and the libraries of all
platforms, and archives that use the freedoms of the standard."""

from __future__ import annotations

import struct
import warnings
import zipfile
from collections.abc import Callable

from helpers.binary_files import ALL, MACH_O_AARCH64, MACH_O_X86_64, PE_X86_64, elf, fat, mach_o, pe, wasm
from helpers.check_defect import Defect, put
from helpers.check_zoo_xml import XML_CLEAN, XML_DEFECTS

Change = Callable[[dict[str, bytes]], None]
Pack = Callable[[zipfile.ZipFile], None]
PLATFORM_TUPLES = {"linux64": "x86_64-linux", "win64": "x86_64-windows", "darwin64": "x86_64-darwin"}
MARK = b"a text that can be found in the archive, because it is stored as it is"
FAR = "binaries/aarch64-linux/Zoo.so"  # a platform on which no test runs


def _remove(*beginnings: str) -> Change:
    def change(files: dict[str, bytes]) -> None:
        for name in [n for n in files if n.startswith(beginnings)]:
            del files[name]

    return change


def _rename_platform(files: dict[str, bytes]) -> None:
    """Names that FMI 3.0 has for platforms that FMI 2.0 names in another way; without sources."""
    for name in [n for n in files if n.startswith("binaries/")]:
        _, platform, library = name.split("/")
        files[f"binaries/{PLATFORM_TUPLES[platform]}/{library}"] = files.pop(name)


def _wrong_name(files: dict[str, bytes]) -> None:
    files["binaries/win64/Other.dll"] = pe(PE_X86_64)


def _without_export(function: bytes) -> Change:
    def change(files: dict[str, bytes]) -> None:
        library = next(n for n in files if n.startswith("binaries/"))
        assert b"\0" + function + b"\0" in files[library]
        files[library] = files[library].replace(b"\0" + function + b"\0", b"\0" + function[:-1] + b"_\0")

    return change


def _cut(files: dict[str, bytes]) -> None:
    library = next(n for n in files if n.startswith("binaries/"))
    files[library] = files[library][: len(files[library]) // 2]


def _bomb(archive: zipfile.ZipFile) -> None:
    with archive.open("resources/zeros.bin", "w") as stream:
        for _ in range(110):
            stream.write(bytes(1_000_000))


def _link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("resources/link")
    info.external_attr = 0o120777 << 16
    archive.writestr(info, "/etc/passwd")


def _entries(*names: str) -> Pack:
    def add(archive: zipfile.ZipFile) -> None:
        for name in names:
            info = zipfile.ZipInfo("x")
            info.filename = name
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that occur twice
                archive.writestr(info, b"" if name.endswith("/") else b"hello")

    return add


def _method(method: int) -> Pack:
    return lambda archive: archive.writestr("resources/a.txt", b"hello" * 100, method)


def _field(name: str, value: int) -> Pack:
    """Another value in the directory of the archive, for an entry that is stored."""

    def add(archive: zipfile.ZipFile) -> None:
        archive.writestr("resources/a.txt", MARK, zipfile.ZIP_STORED)
        setattr(archive.filelist[-1], name, value)

    return add


def _damage(data: bytes) -> bytes:
    assert data.count(MARK) == 1
    return data.replace(MARK, MARK.upper())


def _volume(data: bytes) -> bytes:
    """The last entry begins on the second volume."""
    at = data.rfind(b"PK\x01\x02")
    return data[: at + 34] + struct.pack("<H", 1) + data[at + 36 :]


FILE_DEFECTS = (
    Defect("S1", "not-a-zip", "a file that is not a zip archive", patch=lambda data: b"hello"),
    Defect("S1", "backslash", "an entry whose path has a backslash", pack=_entries("resources\\a.txt")),
    Defect("S1", "parent", "an entry ../../outside.txt", pack=_entries("../../outside.txt")),
    Defect("S1", "parent-backslash", "an entry ..\\outside.txt", pack=_entries("..\\outside.txt")),
    Defect("S1", "absolute", "an entry /tmp/outside.txt", pack=_entries("/tmp/mechfmu_zoo_outside.txt")),
    Defect("S1", "link", "a symbolic link to /etc/passwd", pack=_link),
    Defect("S1", "bomb", "a file that unpacks to 1,000 times its size", pack=_bomb),
    Defect("S1", "bzip2", "an entry packed with bzip2", pack=_method(zipfile.ZIP_BZIP2)),
    Defect("S1", "lzma", "an entry packed with lzma", pack=_method(zipfile.ZIP_LZMA)),
    Defect("S1", "encrypted", "an encrypted entry", pack=_field("flag_bits", 1)),
    Defect("S1", "bit-3", "a stored entry with general purpose bit 3", pack=_field("flag_bits", 8)),
    Defect("S1", "zip-version", "an entry that needs version 4.5 to extract", pack=_field("extract_version", 45)),
    Defect("S1", "split", "an entry on a second volume", patch=_volume),
    Defect("S1", "damaged", "an entry with a wrong checksum", pack=_field("comment", b""), patch=_damage),
    Defect("S1", "case-file", "two files whose names differ by case",
        pack=_entries("resources/a.txt", "resources/A.txt")),
    Defect("S1", "case-folder", "two folders whose names differ by case",
        pack=_entries("resources/tables/a.txt", "resources/Tables/b.txt")),
    Defect("S1", "case-top", "a second folder Resources", pack=_entries("resources/a.txt", "Resources/b.txt")),
    Defect("S1", "twice", "two entries of one name", pack=_entries("resources/a.txt", "resources/a.txt")),
    Defect("S1", "file-and-folder", "a name that is a file and a folder",
        pack=_entries("resources/a", "resources/a/b.txt")),
    Defect("S1", "not-ascii", "a folder whose name is not ASCII", pack=_entries("resources/größe/a.txt")),
    Defect("S1", "no-binary", "win64 is claimed, but its library has another name", change=_wrong_name),
    Defect("S1", "tuple", "a platform under its name in FMI 3.0", change=_rename_platform),
    Defect("S1", "nothing", "neither binaries nor sources", change=_remove("binaries/", "sources/")),
    Defect("S1", "no-description", "no modelDescription.xml", change=_remove("modelDescription.xml")),
    *XML_DEFECTS,
    Defect("S13", "missing", "a source file that does not exist",
        xml=(('<File name="check_unit.c"/></SourceFiles>\n  </CoSim',
              '<File name="more.c"/></SourceFiles>\n  </CoSim'),)),
    Defect("S13", "not-listed", "source code that SourceFiles does not list",
        xml=(('<SourceFiles><File name="check_unit.c"/></SourceFiles>', ""),)),
    Defect("S13", "header", "a header that is included but not in the archive", change=_remove("sources/fmi2.h")),
    Defect("S13", "compile", "a source file that does not compile", change=put("sources/check_unit.c", b"int f( {")),
    Defect("S14", "format", "the library for win64 is not one of Windows",
        change=put("binaries/win64/Zoo.dll", elf())),
    Defect("S14", "nonsense", "the library for win32 is a text", change=put("binaries/win32/Zoo.dll", b"hello")),
    Defect("S14", "machine", "the library for darwin64 is for another machine only",
        change=put("binaries/darwin64/Zoo.dylib", mach_o(MACH_O_AARCH64))),
    Defect("S14", "program", "the library for win64 is a program",
        change=put("binaries/win64/Zoo.dll", pe(PE_X86_64, dll=False))),
    Defect("S14", "cut", "a library of which the second half is missing", change=_cut),
    Defect("S14", "function", "fmi2CancelStep is not exported",
        change=_without_export(b"fmi2CancelStep"), kinds="CoSimulation"),
    Defect("S14", "no-functions", "a Windows library that exports nothing",
        change=put("binaries/win32/Zoo.dll", pe(exports=()))),
    Defect("S14", "prefix", "functions with the prefix for source code",
        change=put("binaries/win32/Zoo.dll", pe(exports=[f"Zoo_{f}" for f in ALL]))),
    Defect("S14", "second-machine", "one machine of a library for macOS lacks a function",
        change=put("binaries/darwin64/Zoo.dylib",
                   fat((MACH_O_AARCH64, mach_o(MACH_O_AARCH64)), (MACH_O_X86_64, mach_o(exports=ALL[1:]))))),
    Defect("S14", "runtime", "a Windows library that needs a run-time library of Visual Studio",
        change=put("binaries/win64/Zoo.dll", pe(PE_X86_64, needed=("KERNEL32.dll", "VCRUNTIME140.dll")))),
    Defect("S14", "dependency", "a Linux library that needs one which is not there",
        change=put(FAR, elf(needed=("libc.so.6", "libsolver.so.3")))),
    Defect("S14", "mac-dependency", "a macOS library that needs one of a package manager",
        change=put("binaries/darwin64/Zoo.dylib", mach_o(needed=("/opt/homebrew/lib/libsolver.dylib",)))),
    Defect("S14", "no-origin", "a library of the FMU that the loader does not find",
        change=lambda files: files.update({FAR: elf(needed=("libsolver.so",)),
                                           "binaries/aarch64-linux/libsolver.so": elf(exports=())})),
    Defect("S14", "glibc", "a library that needs glibc 2.38",
        change=put(FAR, elf(versions=("GLIBC_2.17", "GLIBC_2.38")))),
    Defect("S14", "rpath", "an RPATH to a folder of the machine that built the library",
        change=put(FAR, elf(path="$ORIGIN:/home/builder/lib"))),
    Defect("S14", "wasm-import", "a WebAssembly module that needs functions of its host",
        change=put("binaries/wasm32/Zoo.wasm", wasm(imports=("wasi_snapshot_preview1",)))),
    Defect("S14", "wasm-function", "a WebAssembly module that lacks a function",
        change=put("binaries/wasm32/Zoo.wasm", wasm(exports=ALL[1:]))),
    Defect("S14", "wasm-program", "a WebAssembly module that is a program",
        change=put("binaries/wasm32/Zoo.wasm", wasm(exports=(*ALL, "_start")))),
    Defect("S14", "wasm-cut", "a WebAssembly module that is cut off",
        change=put("binaries/wasm32/Zoo.wasm", wasm()[:-3])),
)  # fmt: skip

FILE_CLEAN = {
    **XML_CLEAN,
    "documentation": Defect("", "documentation", "documentation without index.html",
        change=put("documentation/readme.txt", b"hello")),
    "dot": Defect("", "dot", "an entry for the top folder", pack=_entries("./")),
    "zeros": Defect("", "zeros", "a file of zeros", change=put("resources/table.bin", bytes(5_000_000))),
    "vendor-platform": Defect("", "vendor-platform", "a platform that only its vendor knows",
        change=put("binaries/hil-box/Zoo.o", b"hello")),
    "empty-platform": Defect("", "empty-platform", "an empty folder for a platform", pack=_entries("binaries/win64/")),
    "static-library": Defect("", "static-library", "a platform with an object library only",
        change=put("binaries/win32/VisualStudio8/Zoo.lib", b"!<arch>\n")),
    "sources-only": Defect("", "sources-only", "source code only", change=_remove("binaries/")),
    "binaries-only": Defect("", "binaries-only", "SourceFiles, but no source code", change=_remove("sources/")),
    "all-platforms": Defect("", "all-platforms", "libraries for many platforms",
        change=lambda files: files.update({
            "binaries/win32/Zoo.dll": pe(needed=("KERNEL32.dll", "msvcrt.dll", "api-ms-win-crt-math-l1-1-0.dll")),
            "binaries/win64/Zoo.dll": pe(PE_X86_64),
            "binaries/darwin64/Zoo.dylib": fat((MACH_O_X86_64, mach_o()), (MACH_O_AARCH64, mach_o(MACH_O_AARCH64))),
            FAR: elf(needed=("libc.so.6", "libm.so.6", "libsolver.so"), path="$ORIGIN"),
            "binaries/aarch64-linux/libsolver.so": elf(exports=()),
            "binaries/wasm32/Zoo.wasm": wasm(),
            "binaries/wasm32/fmu.js": b"",
        })),
    "wrapper": Defect("", "wrapper", "a library whose functions are in another one of its folder",
        change=lambda files: files.update({FAR: elf(exports=(), needed=("libsolver.so",), path="$ORIGIN"),
                                           "binaries/aarch64-linux/libsolver.so": elf()})),
    "documented": Defect("", "documented", "a dependency that is documented",
        change=lambda files: files.update({FAR: elf(needed=("libsolver.so",)),
                                           "documentation/externalDependencies.txt": b"libsolver"})),
}  # fmt: skip
