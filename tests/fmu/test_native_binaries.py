"""The files of the native FMU: exports and imports of its libraries on three platforms, runs without Python and under
Wine, binaries built from its sources, reproducibility."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import fmpy
import fmpy.validation
import numpy as np
import pytest

from helpers.native_build import FMI, RUNTIME, C, Native, extra, run, zig_for_this_platform
from helpers.native_fmi import ALL_FUNCTIONS, MODEL_EXCHANGE, Fmu
from helpers.native_formats import Library, read_elf, read_mach_o, read_pe
from helpers.needs import tool
from helpers.tolerances import OTHER_COMPILER, SAME_BINARY, SAME_OPERATIONS
from mechfmu import LinkChain
from mechfmu.codegen.compiler import PLATFORMS, WASM, host_platform
from mechfmu.codegen.operations import TEMPLATES

pytest_plugins = ("helpers.native_fixtures",)

MODEL = LinkChain(links=3)
STEP, COUNT, TOLERANCE = 0.01, 100, 1e-9
NAMES = [f"joint[{k}].{signal}" for signal in ("angle", "rate", "acceleration", "reaction_y") for k in (1, 2, 3)] + [
    "tip.x",
    "energy.total",
]


def archive(native: Native) -> zipfile.ZipFile:
    return zipfile.ZipFile(native.everywhere(MODEL))


def content(native: Native, platform: str) -> bytes:
    with zipfile.ZipFile(native.wasm(MODEL) if platform == WASM else native.everywhere(MODEL)) as opened:
        return opened.read(f"binaries/{platform}/{MODEL.name}{PLATFORMS[platform].suffix}")


@pytest.fixture(scope="module")
def reference(native: Native) -> np.ndarray:
    """What the library for this machine computes."""
    return Fmu(MODEL, native.binary(MODEL)).open().initialize(tolerance=TOLERANCE).run([STEP] * COUNT, NAMES)


# --- files ------------------------------------------------------------------------------------------------------------


def test_the_files_of_an_fmu_for_all_platforms(native: Native) -> None:
    with archive(native) as opened:
        names = opened.namelist()
        assert all(opened.read(n) for n in names)
    runtime = {f"sources/{f.name}" for folder in (FMI, RUNTIME) for f in folder.iterdir() if f.suffix in (".c", ".h")}
    top = {"modelDescription.xml", "model.png", "resources/model.json", "sources/model.c"}
    documentation = {f"documentation/{name}" for name in ("index.html", "reference_result.csv")}
    licenses = {f"documentation/licenses/{name}.txt" for name in ("license", "mechfmu", "zig", "mingw-w64")}
    binaries = {
        f"binaries/{name}" for name in ("linux64/LinkChain.so", "win64/LinkChain.dll", "darwin64/LinkChain.dylib")
    }
    assert set(names) == runtime | top | documentation | licenses | binaries
    assert fmpy.validation.validate_fmu(str(native.everywhere(MODEL))) == []


def test_the_description_claims_what_the_fmu_can(native: Native) -> None:
    description = fmpy.read_model_description(str(native.fmu(MODEL)))
    exchange, co = description.modelExchange, description.coSimulation
    for interface in (exchange, co):
        assert interface.modelIdentifier == "LinkChain"
        assert (
            interface.canGetAndSetFMUstate
            and interface.canSerializeFMUstate
            and interface.providesDirectionalDerivative
        )
        assert not interface.needsExecutionTool
    assert co.canHandleVariableCommunicationStepSize and co.canInterpolateInputs and co.maxOutputDerivativeOrder == 1
    assert exchange.needsCompletedIntegratorStep is False
    assert description.numberOfContinuousStates == 8 and description.numberOfEventIndicators == 0
    hybrid = fmpy.read_model_description(str(native.fmu(extra("bouncing_ball"))))
    assert hybrid.modelExchange.needsCompletedIntegratorStep is False and hybrid.numberOfEventIndicators == 1
    listed = set(description.buildConfigurations[0].sourceFileSets[0].sourceFiles)
    assert listed == {f.name for f in native.c_files(MODEL)}


# --- exports and imports ----------------------------------------------------------------------------------------------


def assert_exports(library: Library, besides: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    assert library.exports - besides == set(ALL_FUNCTIONS)
    assert len(ALL_FUNCTIONS) == 44


def version(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.removeprefix("GLIBC_").split("."))


def test_linux_library(native: Native) -> None:
    """Runs with any glibc since 2.17 (2012) and needs nothing else."""
    library = read_elf(content(native, "linux64"))
    assert library.processor == "x86_64"
    assert_exports(library)
    assert library.needs <= {"libc.so.6", "libm.so.6"}
    assert library.versions and all(version(v) <= (2, 17) for v in library.versions), library.versions


def test_windows_library(native: Native) -> None:
    """Needs only parts of Windows 10 and later: the universal C runtime."""
    library = read_pe(content(native, "win64"))
    assert library.processor == "x86_64"
    assert_exports(library)
    assert "api-ms-win-crt-math-l1-1-0.dll" in {n.lower() for n in library.needs}
    system = r"kernel32\.dll|ucrtbase\.dll|api-ms-win-crt-[a-z0-9-]+\.dll"
    assert all(re.fullmatch(system, n.lower()) for n in library.needs), library.needs


def test_macos_library(native: Native) -> None:
    """One file for both processors; those of Apple do not load libraries without a signature."""
    libraries = read_mach_o(content(native, "darwin64"))
    assert [library.processor for library in libraries] == ["x86_64", "arm64"]
    for library in libraries:
        assert_exports(library, besides={"_mh_dylib_header", "__dso_handle"})  # put there by the linker
        assert library.needs == {"/usr/lib/libSystem.B.dylib"}
    assert libraries[1].signed


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_path_of_the_builder_is_inside(native: Native, platform: str) -> None:
    data = content(native, platform)
    for trace in (b"/tmp/", b"mechfmu_native_", os.fsencode(Path.home()) + b"/", b"/usr/lib/gcc", b".zig-cache"):
        assert trace not in data, trace


@pytest.mark.skipif(sys.platform != "linux", reason="readelf reads the libraries of Linux")
def test_the_reader_agrees_with_binutils(native: Native) -> None:
    binary = native.binary(MODEL)
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", run(["readelf", "-d", binary]).stdout))
    symbols = {line.split()[-1] for line in run(["nm", "-D", "--defined-only", binary]).stdout.splitlines()}
    library = read_elf(binary.read_bytes())
    assert library.needs == needed and library.exports == symbols


# --- hosts without Python ---------------------------------------------------------------------------------------------


def arguments(binary: Path, fmu: Fmu) -> list[str]:
    return [str(binary), fmu.guid, str(STEP), str(COUNT), str(TOLERANCE), *(str(fmu.reference[n]) for n in NAMES)]


def printed(text: str) -> np.ndarray:
    return np.array([[float(v) for v in line.split()] for line in text.splitlines()])


@pytest.mark.skipif(sys.platform == "win32", reason="compiled with the tools of Unix; Windows has its own test")
def test_a_host_in_c(native: Native, reference: np.ndarray) -> None:
    host = native.host()
    binary = native.binary(MODEL)
    found = printed(run([host, *arguments(binary, Fmu(MODEL, binary))], env={}).stdout)
    assert np.array_equal(found, reference), "the same library with the same calls gives the same bits"


@pytest.mark.skipif(
    sys.platform != "linux", reason="Wine is for Linux; on Windows the library is used by all other tests"
)
def test_the_windows_library_under_wine(native: Native, wine, reference: np.ndarray) -> None:
    """Another C library computes sin and cos there, so not the same bits, but the same motion."""
    host = native.for_windows("host")
    binary = native.folder(native.everywhere(MODEL)) / "binaries" / "win64" / "LinkChain.dll"
    fmu = Fmu(MODEL, native.folder(native.everywhere(MODEL)) / "binaries" / "linux64" / "LinkChain.so")
    found = printed(wine(host, *arguments(binary, fmu)).stdout)
    assert found.shape == reference.shape
    assert np.abs(found - reference).max() < SAME_BINARY * np.abs(reference).max()


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_a_wrong_guid_under_wine(native: Native, wine) -> None:
    host = native.for_windows("host")
    binary = native.folder(native.everywhere(MODEL)) / "binaries" / "win64" / "LinkChain.dll"
    with pytest.raises(AssertionError, match="the GUID is not that of this FMU"):
        wine(host, str(binary), "wrong", "0.01", "1", "1e-6", "0")


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_the_functions_of_windows(native: Native, wine) -> None:
    """Every function of generated code, and a frame of many pages."""
    used = [t.format("a", "b") for t in TEMPLATES.values() if re.match(r"[a-z]\w+\(", t)]
    assert len(used) > 20
    functions = "-DFUNCTIONS=" + ", ".join(sorted({call.replace("acosh(a", "acosh(1.0 + a") for call in used}))
    here = native.program(
        "windows_functions", [C / "windows_functions.c"], [functions, f"-I{RUNTIME}"], zig_for_this_platform()
    )
    there = native.for_windows("windows_functions", functions)
    wanted, found = (
        [float(v) for v in text.split()]
        for text in (run([here, "0.3", "0.7"]).stdout, wine(there, "0.3", "0.7").stdout)
    )
    assert found == pytest.approx(wanted, rel=1e-15) and np.isfinite(wanted).all()


def test_both_builds_for_linux_agree(native: Native, reference: np.ndarray) -> None:
    """The library in the FMU for all platforms is that of the FMU for this one."""
    assert content(native, host_platform()) == native.binary(MODEL).read_bytes()


# --- the sources ------------------------------------------------------------------------------------------------------


def assert_same_results(fmu: Fmu, reference: np.ndarray) -> None:
    found = fmu.open().initialize(tolerance=TOLERANCE).run([STEP] * COUNT, NAMES)
    assert np.abs(found - reference).max() < OTHER_COMPILER * np.abs(reference).max()
    exchanged = fmu.open(MODEL_EXCHANGE).continuous()
    assert exchanged.states()[:3] == pytest.approx([-1.0, 0.0, 0.0])


def with_new_binary(native: Native, folder: Path) -> Path:
    """The FMU extracted into `folder`, without libraries."""
    shutil.copytree(native.folder(native.fmu(MODEL)), folder)
    shutil.rmtree(folder / "binaries")
    return folder


@pytest.mark.parametrize("level", ("-O0", "-O3"))
@pytest.mark.skipif(sys.platform == "win32", reason="there is no system compiler to count on")
def test_the_sources_compile_with_the_systems_compiler(
    native: Native, tmp_path: Path, reference: np.ndarray, level: str
) -> None:
    """The listed files and a C99 compiler suffice: no defines, no other headers."""
    folder = with_new_binary(native, tmp_path / "fmu")
    binary = folder / "binaries" / host_platform() / f"LinkChain{PLATFORMS[host_platform()].suffix}"
    binary.parent.mkdir(parents=True)
    listed = fmpy.read_model_description(str(folder)).buildConfigurations[0].sourceFileSets[0].sourceFiles
    compiler = os.environ.get("CC", "cc" if sys.platform == "darwin" else tool("gcc"))
    files = [folder / "sources" / f for f in listed]
    run([compiler, "-std=c99", level, "-ffp-contract=off", "-shared", "-fPIC", *files, "-lm", "-o", binary])
    assert_same_results(Fmu(MODEL, binary), reference)


FMPY_BUILD = """
import sys
sys.modules["mechfmu"] = None
from fmpy.build import build_platform_binary
build_platform_binary(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a generator of its own there")
def test_fmpy_builds_the_sources(native: Native, tmp_path: Path, reference: np.ndarray) -> None:
    """With CMake, as `fmpy compile` does."""
    tool("cmake")
    folder = with_new_binary(native, tmp_path / "fmu")
    run([sys.executable, "-c", FMPY_BUILD, folder], cwd=tmp_path)
    (binary,) = (folder / "binaries").rglob("LinkChain.*")
    assert_same_results(Fmu(MODEL, binary), reference)
    result = fmpy.simulate_fmu(
        str(folder), stop_time=1.0, output_interval=0.1, relative_tolerance=TOLERANCE, output=["joint[1].angle"]
    )
    assert result["joint[1].angle"][-1] == pytest.approx(reference[-1, 0], abs=SAME_BINARY)


def test_the_systems_compiler_builds_the_same_fmu(native: Native, reference: np.ndarray) -> None:
    """--compiler cc: everything but the library is equal, byte by byte, and the library computes the same."""
    with zipfile.ZipFile(native.fmu(MODEL)) as one, zipfile.ZipFile(native.fmu(MODEL, compiler="cc")) as two:
        names = set(one.namelist())
        assert names - set(two.namelist()) == {"documentation/licenses/zig.txt"} and set(two.namelist()) <= names
        differing = [n for n in two.namelist() if one.read(n) != two.read(n)]
    assert all(n.startswith("binaries/") or n == "documentation/licenses/license.txt" for n in differing)
    assert_same_results(Fmu(MODEL, native.binary(MODEL, compiler="cc")), reference)


def test_rates_of_two_compilers_agree_to_rounding(native: Native) -> None:
    values = []
    for compiler in ("zig", "cc"):
        fmu = Fmu(MODEL, native.binary(MODEL, compiler=compiler))
        instance = fmu.open(MODEL_EXCHANGE).continuous({"joint[2].torque": 0.3})
        instance.set_states(np.linspace(-1.0, 1.5, 8))
        values.append(instance.derivatives())
    assert np.abs(values[0] - values[1]).max() < SAME_OPERATIONS * np.abs(values[0]).max()


# --- the same bytes ---------------------------------------------------------------------------------------------------

BUILD = """
import sys
from mechfmu import LinkChain
LinkChain(links=3).build(sys.argv[1], kind="native", platforms=sys.argv[2:] or None)
"""


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("seed", ("1", "2"))
def test_another_process_in_another_folder_writes_the_same_bytes(native: Native, tmp_path: Path, seed: str) -> None:
    """Independent of the order of Python's sets, the folder and the clock."""
    folder = tmp_path / f"a folder with spaces {seed}"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "TMPDIR": str(tmp_path),
        "SOURCE_DATE_EPOCH": "1000000000",
        "TZ": "Asia/Tokyo",
    }
    run([sys.executable, "-c", BUILD, folder], cwd=tmp_path, env=environment)
    assert digest(folder / "LinkChain.fmu") == digest(native.fmu(MODEL))


def test_the_same_folder_again(tmp_path: Path) -> None:
    digests = set()
    for _ in range(2):
        (file,) = LinkChain(links=1).build(tmp_path, kind="native")
        digests.add(digest(file))
    assert len(digests) == 1


def test_libraries_for_all_platforms_are_reproducible(native: Native, tmp_path: Path) -> None:
    run([sys.executable, "-c", BUILD, tmp_path / "again", "all"], cwd=tmp_path)
    assert digest(tmp_path / "again" / "LinkChain.fmu") == digest(native.everywhere(MODEL))


def test_the_guid_follows_the_content(native: Native) -> None:
    """The GUID is in the XML and in the C code and depends on the model, not on the platforms or the compiler."""

    def guid(file: Path) -> str:
        return fmpy.read_model_description(str(file)).guid

    same = {guid(native.fmu(MODEL)), guid(native.everywhere(MODEL)), guid(native.fmu(MODEL, compiler="cc"))}
    others = {
        guid(native.fmu(LinkChain(links=1))),
        guid(native.fmu(MODEL, start={"joint[1].angle_start": 0.25})),
        guid(native.fmu(extra("bouncing_ball"))),
    }
    assert len(same) == 1 and len(others) == 3 and not same & others
    assert f'"{same.pop()}"' in (native.sources(MODEL) / "model.c").read_text()


def test_start_values_of_the_build_are_in_xml_and_binary(native: Native) -> None:
    start = {"joint[1].angle_start": 0.25, "joint[2].torque": -1.5}
    file = native.fmu(MODEL, start=start)
    described = {v.name: v.start for v in fmpy.read_model_description(str(file)).modelVariables}
    instance = Fmu(MODEL, native.binary(MODEL, start=start)).open().enter()
    for name, value in start.items():
        assert float(described[name]) == value == instance[name]
    assert instance["joint[1].angle"] == 0.25


def test_start_values_in_the_xml_are_those_of_the_binary(native: Native) -> None:
    """For every parameter and input."""
    instance = Fmu(MODEL, native.binary(MODEL)).open().enter()
    for v in fmpy.read_model_description(str(native.fmu(MODEL))).modelVariables:
        if v.start is not None:
            found = instance[v.name] if v.type == "Real" else instance.get_integer(v.name)
            assert float(v.start) == found, v.name
