"""Defects of the archive, the description and the binaries of other platforms: S1, S2, S14, S15."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib

from . import binaries as b
from .archive import BZIP2, DEFLATE64, LZMA, STORE, ZSTD, Archive, ArchiveEdit, zeros
from .case import Case
from .description import CS, ME

TABLE = b"0 17\n5 21\n15 17\n"
METHODS = (
    'FMI 2.3: "The compression method for all files stored in the ZIP archive must be either 8 '
    '(deflate), or 0 (store)."'
)
PRESENT = 'FMI 2.3: "it is required that all functions specified for Model Exchange and/or Co-Simulation are present"'
PLATFORMS = 'FMI 2.3: "where 32 stands for 32-bit x86 and 64 for 64-bit x86 respectively"'
STATIC = 'FMI 2.3: "Shared libraries should be statically linked against their dependencies"'


def adds(name: str, data: bytes = TABLE, **options: object) -> ArchiveEdit:
    return lambda a: (a.add(name, data, **options), None)[1]


def changes(path: str, **options: object) -> ArchiveEdit:
    def edit(a: Archive) -> None:
        found = a.find(path)
        for key, value in options.items():
            setattr(found, key, value)

    return edit


def drops(name: str) -> ArchiveEdit:
    return lambda a: a.drop(name)


def compressed(name: str, method: int) -> ArchiveEdit:
    if method == BZIP2:
        payload = bz2.compress(TABLE)
    elif method == LZMA:
        filters = [{"id": lzma.FILTER_LZMA1, "dict_size": 65536, "lc": 3, "lp": 0, "pb": 2}]
        raw = lzma.compress(TABLE, lzma.FORMAT_RAW, filters=filters)
        payload = struct.pack("<BBHBI", 9, 20, 5, 93, 65536) + raw
    elif method == ZSTD:  # one raw block in one frame
        payload = b"\x28\xb5\x2f\xfd\x20" + bytes([len(TABLE)]) + (len(TABLE) << 3 | 1).to_bytes(3, "little") + TABLE
    else:  # short inputs are the same as with method 8
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        payload = packer.compress(TABLE) + packer.flush()
    return adds(name, method=method, payload=payload)


def bomb(a: Archive) -> None:
    payload, crc = zeros(3 << 30)
    a.add("resources/table.bin", b"", payload=payload, crc=crc, size=3 << 30)


def in_subfolder(a: Archive) -> None:
    for entry in a.entries:
        entry.name = "Thermostat/" + entry.name


def archive_case(
    name: str, what: str, *edits: ArchiveEdit, cls: str = "error", quote: str = "", point: str = "archives"
) -> Case:
    return Case("s1_" + name, cls, "S1", point, what, archive=edits, quote=quote)


def spoil(a: Archive) -> None:
    a.disk = 1


def truncate(a: Archive) -> None:
    a.cut = 40


S1: list[Case] = [
    archive_case(
        "method_bzip2", "A resource is compressed with bzip2.", compressed("resources/t.csv", BZIP2), quote=METHODS
    ),
    archive_case(
        "method_lzma", "A resource is compressed with LZMA.", compressed("resources/t.csv", LZMA), quote=METHODS
    ),
    archive_case(
        "method_zstd", "A resource is compressed with Zstandard.", compressed("resources/t.csv", ZSTD), quote=METHODS
    ),
    archive_case(
        "method_deflate64",
        "A resource is compressed with Deflate64, as Windows does for large files.",
        compressed("resources/t.csv", DEFLATE64),
        quote=METHODS,
    ),
    archive_case(
        "folders_by_case",
        "Two folders differ by case only: resources and Resources.",
        adds("Resources/table.csv"),
        cls="warning",
        point="case collisions of folders",
    ),
    archive_case(
        "nested_folders_by_case",
        "Two folders inside resources differ by case only.",
        adds("resources/maps/a.csv"),
        adds("resources/Maps/b.csv"),
        cls="warning",
        point="case collisions of folders",
    ),
    archive_case(
        "files_by_case",
        "Two resources differ by case only.",
        adds("resources/Table.csv"),
        adds("resources/table.csv"),
        cls="warning",
        point="case collisions of folders",
    ),
    archive_case(
        "twice",
        "A resource is in the archive twice, with different content.",
        adds("resources/table.csv"),
        adds("resources/table.csv", b"other\n"),
        cls="warning",
    ),
    archive_case(
        "backslash",
        "A resource has backslashes in its path.",
        adds("resources\\table.csv"),
        quote='FMI 2.3: "backslashes are forbidden as path separator only forward slashes are allowed"',
    ),
    archive_case(
        "absolute",
        "An entry has an absolute path.",
        adds("/resources/table.csv"),
        quote="FMI 2.3 refers to the zip specification: APPNOTE 4.4.17, names of entries",
    ),
    archive_case(
        "drive",
        "An entry has a path with a drive letter.",
        adds("C:/resources/table.csv"),
        quote="FMI 2.3 refers to the zip specification: APPNOTE 4.4.17, names of entries",
    ),
    archive_case(
        "parent", "An entry leaves the folder of the FMU with dots.", adds("resources/../../table.csv"), cls="warning"
    ),
    archive_case(
        "link",
        "A resource is a symbolic link.",
        adds("resources/link.csv", b"schedule.txt", mode=0o120777),
        quote='FMI 2.3: "Links must not be used inside the ZIP archive."',
    ),
    archive_case(
        "encrypted",
        "A resource is marked as encrypted.",
        adds("resources/table.csv", flags=1),
        quote='FMI 2.3: "encryption must not be employed"',
    ),
    archive_case(
        "version_needed",
        "An entry needs version 4.5 of the zip format.",
        adds("resources/table.csv", version=45),
        quote='FMI 2.3: "The field version needed to extract of the archive must not be higher than 2.0"',
    ),
    archive_case(
        "descriptor_stored",
        "A stored resource has general purpose bit 3 set.",
        adds("resources/table.csv", method=STORE, descriptor=True),
        quote=(
            'FMI 2.3: "Only files stored using compression method 8 (deflate) may be stored with general '
            'purpose bit 3 set."'
        ),
    ),
    archive_case("checksum", "The checksum of a resource is wrong.", changes("resources/schedule.txt", crc=0x1234567)),
    archive_case(
        "names_differ",
        "The local header of a resource has another name than the directory.",
        changes("resources/schedule.txt", local_name="resources/timetable.t"),
    ),
    archive_case("truncated", "The end of the archive is missing.", truncate),
    archive_case(
        "spanned",
        "The archive says that it is the second of two volumes.",
        spoil,
        quote='FMI 2.3: "The archive must not be a split or spanned ZIP archive."',
    ),
    archive_case("bomb", "A resource of 3 MB expands to 3 GB of zeros.", bomb, cls="warning"),
    archive_case(
        "subfolder",
        "All files are in a folder of the name of the model.",
        in_subfolder,
        quote='FMI 2.3: "modelDescription.xml // Description of FMU (required file)"',
    ),
    archive_case(
        "other_name",
        "The library has another name than the modelIdentifier.",
        changes("binaries/linux64/Thermostat.so", name="binaries/linux64/thermostat.so"),
        quote='FMI 2.1.1: "the modelIdentifier attribute is used as library name"',
    ),
    archive_case(
        "platform_without_library",
        "The folder of a platform has only a debug file.",
        adds("binaries/win64/Thermostat.pdb", b"Microsoft C/C++ MSF 7.00\r\n"),
        quote='FMI 2.3: "win32 ... <modelIdentifier>.dll // DLL of the FMI implementation"',
    ),
    archive_case(
        "no_implementation",
        "There are neither binaries nor sources.",
        drops("binaries/linux64/Thermostat.so"),
        quote='FMI 2.3: "The FMU must be distributed with at least one implementation"',
    ),
]


SCHEMA = 'FMI 2.2: "The normative definition are the above mentioned schema files"'


def number(name: str, what: str, old: str, new: str, cls: str = "error", also: tuple[str, ...] = ()) -> Case:
    special = name.startswith("start_") and "comma" not in name
    quote = 'FMI 2.2: "The special values NAN, INF, +INF, and -INF ... are not allowed in the FMI XML files."'
    xml = ((old, new),)
    point = "a negative or absurd number"
    return Case("s2_" + name, cls, "S2", point, what, xml=xml, also=also, quote=quote if special else SCHEMA)


S2: list[Case] = [
    number(
        "indicators_negative",
        "The number of event indicators is negative.",
        'numberOfEventIndicators="2"',
        'numberOfEventIndicators="-1"',
    ),
    number(
        "indicators_absurd",
        "The number of event indicators is four billion.",
        'numberOfEventIndicators="2"',
        'numberOfEventIndicators="4000000000"',
        "warning",
        ("D14", "S12"),
    ),
    number(
        "indicators_empty",
        "The number of event indicators is an empty text.",
        'numberOfEventIndicators="2"',
        'numberOfEventIndicators=""',
    ),
    number(
        "reference_negative",
        "A value reference is negative.",
        'name="Q_out" valueReference="26"',
        'name="Q_out" valueReference="-26"',
    ),
    number(
        "reference_too_large",
        "A value reference does not fit into 32 bits.",
        'name="Q_out" valueReference="26"',
        'name="Q_out" valueReference="4294967322"',
    ),
    number(
        "order_negative",
        "The order of output derivatives is negative.",
        'maxOutputDerivativeOrder="1"',
        'maxOutputDerivativeOrder="-1"',
    ),
    number(
        "order_absurd",
        "The order of output derivatives is the largest 32-bit number.",
        'maxOutputDerivativeOrder="1"',
        'maxOutputDerivativeOrder="4294967295"',
        "warning",
        ("D15", "S15"),
    ),
    number(
        "index_negative",
        "An output has a negative index.",
        '<Outputs>\n      <Unknown index="42"',
        '<Outputs>\n      <Unknown index="-42"',
    ),
    number(
        "dependency_negative",
        "A dependency is a negative index.",
        'index="42" dependencies="36"',
        'index="42" dependencies="-36"',
    ),
    number("derivative_negative", "The attribute derivative is negative.", 'derivative="36"', 'derivative="-36"'),
    number(
        "start_overflow", "A start value is too large for a double.", 'start="22.25"', 'start="1e400"', also=("S7",)
    ),
    number("start_nan", "A start value is NaN.", 'start="22.25"', 'start="NaN"', also=("S7",)),
    number("start_infinite", "A maximum is INF.", 'min="-60" max="60"', 'min="-60" max="INF"', also=("S7",)),
    number("start_comma", "A start value has a decimal comma.", 'start="22.25"', 'start="22,25"'),
    number(
        "integer_overflow",
        "The start value of an Integer does not fit into 32 bits.",
        'start="70001"',
        'start="2147483648"',
    ),
    number(
        "integer_fraction",
        "The start value of an Integer is a floating point number.",
        'start="70001"',
        'start="70001.0"',
    ),
    number("boolean_python", "The start value of a Boolean is True.", 'start="true"', 'start="True"'),
    number("tolerance_text", "The tolerance is a text.", 'tolerance="1e-6"', 'tolerance="auto"'),
    Case(
        "s2_latin1",
        "error",
        "S2",
        "encoding",
        "The description has a Latin-1 byte although it says UTF-8.",
        raw=((b"A room with a heater", b"R\xe4ume with a heater"),),
    ),
    Case(
        "s2_encoding",
        "error",
        "S2",
        "encoding",
        "The description declares the encoding ISO-8859-1.",
        xml=(('encoding="UTF-8"', 'encoding="ISO-8859-1"'),),
        quote='FMI 2.2: "It is required that the encoding scheme is always UTF-8"',
    ),
]


def foreign(name: str, what: str, path: str, data: bytes, cls: str = "error", quote: str = "") -> Case:
    return Case(
        "s14_" + name, cls, "S14", "binaries of other platforms", what, archive=(adds(path, data),), quote=quote
    )


LINUX32, WIN32, WIN64 = (
    "binaries/linux32/Thermostat.so",
    "binaries/win32/Thermostat.dll",
    "binaries/win64/Thermostat.dll",
)
MAC, ARM_LINUX = "binaries/darwin64/Thermostat.dylib", "binaries/aarch64-linux/Thermostat.so"
PREFIXED = tuple("Thermostat_" + f for f in b.FUNCTIONS)
DECORATED = tuple(f"_{f}@16" for f in b.FUNCTIONS)
SYSTEM = "/usr/lib/libSystem.B.dylib"
NAMES = 'FMI 2.1.1: "If the FMU is shipped with DLL/SharedObject: The constructed function name is fmi2GetReal"'

S14: list[Case] = [
    foreign("elf_machine", "The library for linux32 is for x86-64.", LINUX32, b.elf(b.X86_64, 64), quote=PLATFORMS),
    foreign("elf_arm", "The library for linux32 is for 32-bit ARM.", LINUX32, b.elf(b.ARM, 32), quote=PLATFORMS),
    foreign(
        "elf_object",
        "The library for linux32 is an object file.",
        LINUX32,
        b.elf(b.I386, 32, kind=b.OBJECT),
        quote='FMI 2.3: "<modelIdentifier>.so // Shared library of the FMI implementation"',
    ),
    foreign(
        "elf_function_missing",
        "The library for linux32 does not export fmi2CancelStep.",
        LINUX32,
        b.elf(b.I386, 32, b.without("fmi2CancelStep")),
        quote=PRESENT,
    ),
    foreign(
        "elf_library_missing",
        "The library for linux32 needs a Python library that is not in the FMU.",
        LINUX32,
        b.elf(b.I386, 32, needed=("libpython3.9.so.1.0", "libc.so.6")),
        "warning",
        STATIC,
    ),
    foreign(
        "elf_absolute_library",
        "The library for linux32 needs a library by its absolute path.",
        LINUX32,
        b.elf(b.I386, 32, needed=("/opt/tool/lib/libsolver.so", "libc.so.6")),
        "warning",
        STATIC,
    ),
    foreign(
        "elf_new_glibc",
        "The library for linux32 needs version 2.38 of the C library.",
        LINUX32,
        b.elf(b.I386, 32, glibc="GLIBC_2.38"),
        "warning",
    ),
    foreign(
        "elf_new_glibc_arm",
        "The library for 64-bit ARM needs version 2.40 of the C library.",
        ARM_LINUX,
        b.elf(b.AARCH64, 64, glibc="GLIBC_2.40"),
        "warning",
    ),
    foreign(
        "elf_arm_is_x86", "The library for aarch64-linux is for x86-64.", ARM_LINUX, b.elf(b.X86_64, 64), "warning"
    ),
    foreign("pe_machine_32", "The library for win32 is for x86-64.", WIN32, b.pe(b.PE_AMD64), quote=PLATFORMS),
    foreign("pe_machine_64", "The library for win64 is for 32-bit x86.", WIN64, b.pe(b.PE_I386), quote=PLATFORMS),
    foreign("pe_arm", "The library for win64 is for 64-bit ARM.", WIN64, b.pe(b.PE_ARM64), quote=PLATFORMS),
    foreign("pe_is_elf", "The library for win64 is an ELF file with another name.", WIN64, b.elf(b.X86_64, 64)),
    foreign("pe_empty", "The library for win32 is an empty file.", WIN32, b""),
    foreign(
        "pe_function_missing",
        "The library for win64 does not export fmi2GetStringStatus.",
        WIN64,
        b.pe(b.PE_AMD64, b.without("fmi2GetStringStatus")),
        quote=PRESENT,
    ),
    foreign(
        "pe_prefixed",
        "The library for win64 exports the functions with the prefix of source code.",
        WIN64,
        b.pe(b.PE_AMD64, PREFIXED),
        quote=NAMES,
    ),
    foreign(
        "pe_decorated",
        "The library for win32 exports the functions with the decoration of stdcall.",
        WIN32,
        b.pe(b.PE_I386, DECORATED),
        quote=NAMES,
    ),
    foreign(
        "pe_debug_runtime",
        "The library for win64 needs the debug runtime of Visual Studio.",
        WIN64,
        b.pe(b.PE_AMD64, imports=("KERNEL32.dll", "VCRUNTIME140D.dll", "ucrtbased.dll")),
        "warning",
        STATIC,
    ),
    foreign(
        "pe_gcc_runtime",
        "The library for win64 needs the runtime libraries of MinGW.",
        WIN64,
        b.pe(b.PE_AMD64, imports=("KERNEL32.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll")),
        "warning",
        STATIC,
    ),
    foreign(
        "macho_machine",
        "The library for darwin64 is for Apple silicon only.",
        MAC,
        b.macho(b.MACH_ARM64),
        quote=PLATFORMS,
    ),
    foreign(
        "macho_function_missing",
        "The library for darwin64 does not export fmi2SetTime.",
        MAC,
        b.macho(b.MACH_X86_64, b.without("fmi2SetTime")),
        quote=PRESENT,
    ),
    foreign(
        "macho_library_missing",
        "The library for darwin64 needs a library of Homebrew.",
        MAC,
        b.macho(b.MACH_X86_64, needed=(SYSTEM, "/usr/local/opt/libomp/lib/libomp.dylib")),
        "warning",
        STATIC,
    ),
    foreign("macho_truncated", "The library for darwin64 ends in its header.", MAC, b.macho(b.MACH_X86_64)[:200]),
]


def flags(name: str, what: str, old: str, new: str, quote: str) -> Case:
    point = "capability flags that contradict each other"
    return Case("s15_" + name, "error", "S15", point, what, xml=((old, new),), quote=quote)


S15: list[Case] = [
    flags(
        "serialize_without_state_cs",
        "Co-Simulation can serialize states but not get and set them.",
        CS,
        CS.replace('canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="false"'),
        'FMI 4.3.1: "If this is the case, then flag canGetAndSetFMUstate must be true as well."',
    ),
    flags(
        "serialize_without_state_me",
        "Model Exchange can serialize states but not get and set them.",
        ME,
        ME.replace(' canGetAndSetFMUstate="true"', ""),
        'FMI 3.3.1: "If this is the case, then flag canGetAndSetFMUstate must be true as well."',
    ),
]

CASES: list[Case] = S1 + S2 + S14 + S15
