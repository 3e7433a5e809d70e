"""Cases of the archive, the numbers of the description, foreign binaries and capability flags."""

from __future__ import annotations

from dataclasses import replace

from .case import LIBRARY, Case
from .platforms import ARM64, I386, MACHO_ARM64, MACHO_X64, PE_I386, PE_X64, X86_64, elf, macho, pe, without

DATA = "resources/fluids.txt"
S1 = "archives"


def change(name: str, **fields: object) -> tuple:
    return ("change", name, fields)


def binary(folder: str, extension: str, data: bytes) -> tuple:
    return ("add", f"binaries/{folder}/tankpair.{extension}", data)


ARCHIVES = [
    Case(
        "zip_bzip2",
        "error",
        "S1",
        S1,
        'One file is packed with bzip2: 2.3 "compression method ... must be either 8 (deflate), or 0 (store)".',
        archive=(change(DATA, method=12),),
    ),
    Case(
        "zip_lzma",
        "error",
        "S1",
        S1,
        'The documentation is packed with LZMA: 2.3 "compression method ... must be either 8 (deflate), or 0 (store)".',
        archive=(change("documentation/index.html", method=14),),
    ),
    Case(
        "zip_folders_case",
        "warning",
        "S1",
        S1,
        "Two folders differ by case only and become one on Windows.",
        archive=(("add", "resources/Maps/a.txt", b"a"), ("add", "resources/maps/b.txt", b"b")),
    ),
    Case(
        "zip_files_case",
        "warning",
        "S1",
        S1,
        "Two files differ by case only, one of them is lost on Windows.",
        archive=(("add", "resources/Fluids.txt", b"other"),),
    ),
    Case(
        "zip_folder_file_case",
        "warning",
        "S1",
        S1,
        "A folder and a file differ by case only.",
        archive=(("add", "resources/Table", b"t"), ("add", "resources/table/a.txt", b"a")),
    ),
    Case(
        "zip_backslash",
        "error",
        "S1",
        S1,
        'A name with a backslash: 2.3 "backslashes are forbidden as path separator".',
        archive=(("add", "resources\\maps\\pump.txt", b"1 2 3"),),
    ),
    Case(
        "zip_link",
        "error",
        "S1",
        S1,
        'A symbolic link: 2.3 "Links must not be used inside the ZIP archive".',
        archive=(
            ("add", "resources/latest.txt", b"fluids.txt"),
            change("resources/latest.txt", attributes=0o120777 << 16),
        ),
    ),
    Case(
        "zip_encrypted",
        "error",
        "S1",
        S1,
        'One entry is marked as encrypted: 2.3 "encryption must not be employed".',
        archive=(change(DATA, flags=1, method=0),),
    ),
    Case(
        "zip_stored_deferred",
        "error",
        "S1",
        S1,
        'A stored file with bit 3 set: 2.3 "Only files stored using '
        'compression method 8 may be stored with general purpose bit 3 set".',
        archive=(change(DATA, flags=8, method=0),),
    ),
    Case(
        "zip_version_45",
        "error",
        "S1",
        S1,
        'Version 4.5 needed: 2.3 "version needed to extract ... must not be higher than 2.0".',
        archive=(change(DATA, needed=45),),
    ),
    Case(
        "zip_absolute",
        "error",
        "S1",
        S1,
        "An absolute name (APPNOTE 4.4.17.1, to which 2.3 refers).",
        archive=(("add", "/etc/tankpair.conf", b"x"),),
    ),
    Case(
        "zip_parent",
        "warning",
        "S1",
        S1,
        "A name that leads out of the folder of the FMU.",
        archive=(("add", "resources/../../tankpair.conf", b"x"),),
    ),
    Case(
        "zip_crc",
        "error",
        "S1",
        S1,
        "The check sum of one entry is wrong: not an intact ZIP file (2.3).",
        archive=(change(DATA, crc=1),),
    ),
    Case(
        "zip_library_name",
        "error",
        "S1",
        S1,
        'The library is named after the model: 2.1.1 "the modelIdentifier attribute is used as library name".',
        archive=(("rename", LIBRARY, "binaries/linux64/TankPair.so"),),
    ),
    Case(
        "zip_in_folder",
        "error",
        "S1",
        S1,
        "Everything lies in one folder, as packers of folders do: 2.3 wants modelDescription.xml at the top.",
        archive=(("prefix", "tankpair/"),),
    ),
    Case(
        "zip_twice",
        "warning",
        "S1",
        S1,
        "Two entries have one name, readers take the first or the last.",
        archive=(("add", "modelDescription.xml", b"<old/>"),),
    ),
]

S2 = "a negative or absurd number in the description"
NUMBERS = [
    Case(
        "number_order",
        "error",
        "S2",
        S2,
        "maxOutputDerivativeOrder is -1, the schema says xs:unsignedInt.",
        xml=(('maxOutputDerivativeOrder="1"', 'maxOutputDerivativeOrder="-1"'),),
    ),
    Case(
        "number_reference",
        "error",
        "S2",
        S2,
        "A value reference is -5, the schema says xs:unsignedInt.",
        xml=(('valueReference="180"', 'valueReference="-5"'),),
    ),
    Case(
        "number_reference_large",
        "error",
        "S2",
        S2,
        "A value reference does not fit into 32 bits.",
        xml=(('valueReference="180"', 'valueReference="4294967476"'),),
    ),
    Case(
        "number_start_integer",
        "error",
        "S2",
        S2,
        "An Integer start value does not fit into 32 bits.",
        xml=(
            (
                'valueReference="200" causality="parameter" variability="fixed" initial="exact"><Integer start="3"/>',
                'valueReference="200" causality="parameter" variability="fixed" initial="exact">'
                '<Integer start="4294967299"/>',
            ),
        ),
    ),
    Case(
        "number_indicators",
        "error",
        "S2",
        S2,
        "numberOfEventIndicators is -4.",
        xml=(('numberOfEventIndicators="4"', 'numberOfEventIndicators="-4"'),),
    ),
    Case(
        "number_derivative",
        "error",
        "S2",
        S2,
        "The attribute derivative is negative.",
        xml=((' derivative="28"', ' derivative="-28"'),),
    ),
    Case(
        "number_start_nan",
        "error",
        "S2",
        S2,
        'A start value is NaN: 2.2 "The special values NAN, INF, +INF, and -INF for variables values are not allowed".',
        also=("S7",),
        xml=(
            (
                'valueReference="105" causality="parameter" variability="fixed" initial="exact"><Real start="0.15"/>',
                'valueReference="105" causality="parameter" variability="fixed" initial="exact"><Real start="NaN"/>',
            ),
        ),
    ),
    Case(
        "number_max_infinite",
        "error",
        "S2",
        S2,
        'A maximum is INF: 2.2 "The special values NAN, INF ... are not allowed in the FMI XML files".',
        also=("S7",),
        xml=(('max="200"', 'max="INF"'),),
    ),
    Case(
        "number_boolean",
        "error",
        "S2",
        S2,
        "A Boolean start value is True, as Python prints it.",
        xml=(('<Boolean start="true"/>', '<Boolean start="True"/>'),),
    ),
    Case(
        "number_comma",
        "error",
        "S2",
        S2,
        "A number with a decimal comma, as a German locale prints it.",
        xml=(('stepSize="0.1"', 'stepSize="0,1"'),),
    ),
    Case(
        "number_index",
        "error",
        "S2",
        S2,
        "An index of a dependency is -1.",
        xml=(('dependencies="1"/>', 'dependencies="-1"/>'),),
    ),
    Case(
        "number_indicators_absurd",
        "warning",
        "S2",
        S2,
        "4,000,000,000 event indicators are promised to the importer, who allocates them.",
        also=("D14",),
        xml=(('numberOfEventIndicators="4"', 'numberOfEventIndicators="4000000000"'),),
    ),
    Case(
        "number_item",
        "error",
        "S2",
        S2,
        "An item of an enumeration does not fit into 32 bits.",
        also=("S7",),
        xml=(('<Item name="glycol" value="3"/>', '<Item name="glycol" value="3000000000"/>'),),
    ),
]

S14 = "binaries of other platforms"
FOREIGN = [
    Case(
        "win64_is_32",
        "error",
        "S14",
        S14,
        'win64 holds a 32-bit DLL: 2.3 "64" stands for "64-bit x86".',
        archive=(binary("win64", "dll", pe(PE_I386)),),
    ),
    Case(
        "win32_is_64",
        "error",
        "S14",
        S14,
        'win32 holds a 64-bit DLL: 2.3 "32" stands for "32-bit x86".',
        archive=(binary("win32", "dll", pe(PE_X64)),),
    ),
    Case(
        "win64_without_dostep",
        "error",
        "S14",
        S14,
        'The DLL lacks fmi2DoStep: 2.3 "it is required that all functions specified ... are present".',
        archive=(binary("win64", "dll", pe(exports=without("fmi2DoStep"))),),
    ),
    Case(
        "win64_without_derivatives",
        "error",
        "S14",
        S14,
        "The DLL lacks a function of a flag that is false: 2.3 "
        '"even if they are only needed for capabilities that the FMU does not support".',
        archive=(binary("win64", "dll", pe(exports=without("fmi2GetStringStatus"))),),
    ),
    Case(
        "win64_prefixed",
        "error",
        "S14",
        S14,
        'The DLL exports tankpair_fmi2GetReal: 2.1.1 "the constructed function name is fmi2GetReal".',
        archive=(binary("win64", "dll", pe(exports=tuple("tankpair_" + n for n in without()))),),
    ),
    Case(
        "win64_debug_runtime",
        "warning",
        "S14",
        S14,
        "The DLL needs the debug run-time library of a compiler.",
        archive=(binary("win64", "dll", pe(imports=("KERNEL32.dll", "MSVCR120D.dll"))),),
    ),
    Case(
        "win64_tool_library",
        "warning",
        "S14",
        S14,
        "The DLL needs a library of the exporting tool.",
        archive=(binary("win64", "dll", pe(imports=("KERNEL32.dll", "SimToolKernel9.dll"))),),
    ),
    Case(
        "win64_pointer_file",
        "error",
        "S14",
        S14,
        "The DLL is a pointer file of a version control system.",
        archive=(binary("win64", "dll", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 812032\n"),),
    ),
    Case(
        "win64_not_dll",
        "error",
        "S14",
        S14,
        "The DLL is a program: the flag for a DLL is not set.",
        archive=(binary("win64", "dll", pe(characteristics=0x22)),),
    ),
    Case(
        "win64_cut",
        "error",
        "S14",
        S14,
        "The DLL was cut off after 700 bytes.",
        archive=(binary("win64", "dll", pe()[:700]),),
    ),
    Case(
        "linux32_is_64",
        "error",
        "S14",
        S14,
        'linux32 holds a 64-bit library: 2.3 "32" stands for "32-bit x86".',
        archive=(binary("linux32", "so", elf(X86_64)),),
    ),
    Case(
        "linux32_is_arm",
        "error",
        "S14",
        S14,
        'linux32 holds a library for ARM: 2.3 "32-bit x86".',
        archive=(binary("linux32", "so", elf(ARM64)),),
    ),
    Case(
        "linux32_without_exit",
        "error",
        "S14",
        S14,
        "The library lacks fmi2ExitInitializationMode (2.3).",
        archive=(binary("linux32", "so", elf(exports=without("fmi2ExitInitializationMode"))),),
    ),
    Case(
        "linux32_glibc",
        "warning",
        "S14",
        S14,
        "The library needs GLIBC_2.99, which no distribution has.",
        archive=(binary("linux32", "so", elf(I386, glibc="GLIBC_2.99")),),
    ),
    Case(
        "linux32_needs_tool",
        "warning",
        "S14",
        S14,
        "The library needs libsimtool.so.3, which is not in the FMU.",
        archive=(binary("linux32", "so", elf(needed=("libc.so.6", "libsimtool.so.3"))),),
    ),
    Case(
        "linux32_program",
        "error",
        "S14",
        S14,
        "The library is a relocatable object file.",
        archive=(binary("linux32", "so", elf(kind=1)),),
    ),
    Case(
        "darwin64_is_arm",
        "error",
        "S14",
        S14,
        'darwin64 holds a library for ARM only: 2.3 "64-bit x86".',
        archive=(binary("darwin64", "dylib", macho(MACHO_ARM64)),),
    ),
    Case(
        "darwin64_without_reset",
        "error",
        "S14",
        S14,
        "The library lacks fmi2Reset and fmi2Terminate (2.3).",
        archive=(binary("darwin64", "dylib", macho(MACHO_X64, without("fmi2Reset", "fmi2Terminate"))),),
    ),
    Case(
        "darwin64_homebrew",
        "warning",
        "S14",
        S14,
        "The library needs a library of a package manager.",
        archive=(binary("darwin64", "dylib", macho(needed=("/usr/local/opt/gcc/lib/libgfortran.5.dylib",))),),
    ),
    Case(
        "darwin_tuple_is_x86",
        "warning",
        "S14",
        S14,
        "aarch64-darwin holds a library for x86.",
        archive=(binary("aarch64-darwin", "dylib", macho(MACHO_X64)),),
    ),
]

S15 = "capability flags that contradict each other"
FLAGS = [
    Case(
        "flag_serialize_me",
        "error",
        "S15",
        S15,
        '3.3.1 canSerializeFMUstate: "If this is the case, then flag canGetAndSetFMUstate must be true as well".',
        table=lambda d: replace(d, exchange='canSerializeFMUstate="true" providesDirectionalDerivative="true"'),
    ),
    Case(
        "flag_serialize_cs",
        "error",
        "S15",
        S15,
        '4.3.1 canSerializeFMUstate: "If this is the case, then flag canGetAndSetFMUstate must be true as well".',
        xml=(
            (
                'maxOutputDerivativeOrder="1" canGetAndSetFMUstate="true"',
                'maxOutputDerivativeOrder="1" canGetAndSetFMUstate="0"',
            ),
        ),
    ),
]

CASES = [*ARCHIVES, *NUMBERS, *FOREIGN, *FLAGS]
