"""FMUs with a WebAssembly library: files, alone and beside other platforms, exports, other tools, reproducibility."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import fmpy
import fmpy.validation
import pytest

from helpers.native_build import Native, run
from helpers.native_fmi import ALL_FUNCTIONS
from helpers.needs import tool
from mechfmu import LinkChain
from mechfmu.check.checker import Options, check_fmu
from mechfmu.codegen.compiler import PLATFORMS, host_platform
from mechfmu.fmu.build import build

pytest_plugins = ("helpers.native_fixtures",)

MODEL = LinkChain(links=2)
LIBRARY = "binaries/wasm32/LinkChain.wasm"
OWN = {"_initialize", "malloc", "free", "memory", "__stack_pointer"}
HOST = {f"mechfmu_host_{name}" for name in ("new", "free", "messages", "length", "clear")}
LIST = """
const module = new WebAssembly.Module(require("fs").readFileSync(process.argv[1]));
console.log(JSON.stringify(["imports", "exports"].map((kind) => WebAssembly.Module[kind](module).map((x) => x.name))));
"""


@pytest.fixture
def both(native: Native) -> Path:
    return native.fmu(MODEL, platforms=[host_platform(), "wasm"])


def contents(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_files_of_an_fmu_with_no_other_library(native: Native, both: Path) -> None:
    """Only the libraries, the modules and the licences depend on the platforms."""
    alone, beside = contents(native.wasm(MODEL)), contents(both)
    binaries = {Path(name).name for name in alone if name.startswith("binaries/")}
    assert "LinkChain.wasm" in binaries and "fmu.js" in binaries
    assert all(name.startswith("fmu_") and name.endswith(".js") for name in binaries - {"LinkChain.wasm", "fmu.js"})
    assert beside.keys() - alone.keys() == {f"binaries/{host_platform()}/LinkChain{PLATFORMS[host_platform()].suffix}"}
    assert all(beside[name] == content for name, content in alone.items())
    licenses = {Path(name).stem for name in alone if name.startswith("documentation/licenses/")}
    assert licenses == {"license", "mechfmu", "zig", "wasi-libc", "musl"}


def test_the_library_exports_the_functions_of_fmi_and_imports_nothing(native: Native) -> None:
    found = run([tool("node"), "-e", LIST, native.folder(native.wasm(MODEL)) / LIBRARY])
    imports, exports = json.loads(found.stdout)
    assert imports == [] and set(exports) == {*ALL_FUNCTIONS, *OWN, *HOST}


def test_other_tools_accept_it(native: Native, both: Path) -> None:
    """FMPy and the checker ignore what they cannot run."""
    for file in (native.wasm(MODEL), both):
        assert fmpy.validation.validate_fmu(str(file)) == []
    assert fmpy.simulate_fmu(str(both), stop_time=0.1)["tip.x"][-1] < 1.0
    report = check_fmu(native.wasm(MODEL), Options(only=("S", "D1")))
    (s14,) = [result for result in report.results if result.rule.id == "S14"]
    assert report.counted == [] and not s14.skipped
    assert report.static_only.endswith(f"there is none for {host_platform()}, only for wasm32")


def test_the_same_bytes_again(native: Native, tmp_path: Path) -> None:
    (again,) = build(LinkChain(links=2), tmp_path / "größe, with a space", platforms=["wasm"])
    assert again.read_bytes() == native.wasm(MODEL).read_bytes()
