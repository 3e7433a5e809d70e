"""fmu.js, which an FMU carries beside its WebAssembly library: in Node, and in Chromium with a strict policy."""

from __future__ import annotations

import math
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.binary_files import wasm
from helpers.build import Build
from helpers.look_browser import Browser
from helpers.native_build import Native, run
from helpers.native_fmi import Fmu, Refused
from helpers.paths import ROOT
from helpers.web_folder import WebFolder, served, unpack_modules
from mechfmu import Exoskeleton, LinkChain, mechanisms
from mechfmu.codegen.compiler import host_platform
from mechfmu.cosim.system import System

pytest_plugins = ("helpers.native_fixtures",)

SAME = 1e-9
CHAIN = LinkChain(links=2)

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def web(native: Native, tmp_path_factory: pytest.TempPathFactory) -> WebFolder:
    web = WebFolder(tmp_path_factory.mktemp("größe und mehr"), native.wasm(CHAIN))
    web.add(native.wasm(CHAIN), "chain.fmu")
    web.add(native.wasm(Exoskeleton()), "exoskeleton.fmu")
    return web


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def node(web: WebFolder) -> Run:
    needs.tool("node")
    return web.node


@pytest.fixture
def chromium(web: WebFolder, browser: Browser) -> Run:
    return lambda *arguments: web.browser(browser, *arguments)


@pytest.fixture(params=("node", "chromium"))
def engine(request: pytest.FixtureRequest) -> Run:
    """Runs a scenario in Node and in Chromium."""
    return request.getfixturevalue(request.param)


# --- trajectories -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A run: parameters, inputs (these values times the cosine of time), steps through the events."""

    values: dict[str, float] = field(default_factory=dict)
    inputs: dict[str, float] = field(default_factory=dict)
    step: float = 0.01
    steps: int = 50

    def input(self, name: str, t: float) -> float:
        return self.inputs[name] * math.cos(4.0 * t)

    def native(self, file: Path) -> dict[str, np.ndarray]:
        system = System("alone", {"m": file}, stop=self.steps * self.step, step=self.step)
        inputs = {f"m.{name}": partial(self.input, name) for name in self.inputs}
        result = system.simulate(set={f"m.{name}": v for name, v in self.values.items()}, inputs=inputs, adaptive=False)
        return {name.removeprefix("m."): result[name][1:] for name in result.names}

    def scenario(self, names: list[str]) -> dict[str, Any]:
        inputs = {name: [self.input(name, i * self.step) for i in range(self.steps + 1)] for name in self.inputs}
        return dict(values=self.values, inputs=inputs, step=self.step, steps=self.steps, names=names)


CASES = {  # the full lane runs the first and the sixth
    "link_chain": Case({"joint[1].angle_start": 0.4, "gravity": 3.7}, {"joint[1].torque": 3.0}, steps=100),
    "wheeled_cart": Case(inputs={"wheel.left_torque": 1.5, "steering.torque": 0.1}),
    "spherical_arm": Case(inputs={"joint[1].torque[1]": 2.0}),
    "tree": Case(inputs={"waist.torque": 1.0}),
    "cart_controller": Case(inputs={"pose.heading": 0.5}),
    "exoskeleton": Case({"link[2].locked": True}, {"link[2].moment": 5.0}, step=0.002, steps=150),
    "computed_torque": Case(inputs={"shoulder.angle": 0.1}),
    "pid_controller": Case(inputs={"reference[1]": 1.0}),
    "scenario": Case(),
    "walking_controller": Case(inputs={"hip.x": 0.1}, steps=45),  # it switches at t = 0.5 s
}


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("kind", ["native"], indirect=True)
def test_the_trajectory_is_that_of_the_native_fmu(
    web: WebFolder, native: Native, node: Run, fmu: Build, kind: str, key: str
) -> None:
    assert set(CASES) == set(mechanisms.names())
    case, expected = CASES[key], CASES[key].native(fmu(key))
    names = list(expected)
    found = node("trajectory", web.add(native.wasm(mechanisms.make(key)), f"{key}.fmu"), case.scenario(names))
    assert found["time"] == pytest.approx(case.steps * case.step)
    rows, same = np.array(found["rows"]), np.column_stack([expected[name] for name in names])
    assert rows.shape == same.shape
    assert np.max(np.abs(rows - same) / (1 + np.abs(same))) < SAME
    assert key == "scenario" or np.ptp(rows, axis=0).max() > 1e-3, "nothing moves"
    if key == "exoskeleton":
        assert rows[-1, names.index("events")] >= 1, "there is no event in the comparison"


def test_chromium_and_node_compute_the_same_numbers(node: Run, chromium: Run) -> None:
    run = CASES["exoskeleton"].scenario(["hip.y", "events", "energy.total"])
    assert node("trajectory", "exoskeleton.fmu", run) == chromium("trajectory", "exoskeleton.fmu", run)


@pytest.mark.parametrize("kind", ["native"], indirect=True)
def test_a_step_that_fails_leaves_the_instance_where_it_was(native: Native, fmu: Build, kind: str, node: Run) -> None:
    """The exoskeleton falls: the error has the message of the native FMU."""
    found = node("failedStep", "exoskeleton.fmu", {"step": 0.01, "steps": 1000})
    assert (found["name"], found["status"]) == ("FmuError", "discard")
    assert "fallen" in found["message"] and found["logged"] == []
    assert found["time"] == found["before"] > 0.1 and found["finite"] and found["again"] == 0.01
    (binary,) = (native.folder(fmu("exoskeleton")) / "binaries" / host_platform()).iterdir()
    exoskeleton = Fmu(Exoskeleton(), binary).open().initialize()
    with pytest.raises(Refused) as told:
        exoskeleton.run([0.01] * 1000, ["hip.y"])
    assert found["message"] in str(told.value)


# --- instances --------------------------------------------------------------------------------------------------------


def test_states_are_saved_and_restored_in_any_instance(web: WebFolder, native: Native, engine: Run) -> None:
    other = web.add(native.wasm(LinkChain(links=3)), "other.fmu")
    found = engine("states", "chain.fmu", {"other": other})
    first, again, elsewhere, after_reset = found["runs"]
    assert first == again == elsewhere == after_reset and first[0] == pytest.approx(0.4)
    foreign, shorter, nothing = (refused["message"] for refused in found["refused"])
    assert "bytes, not" in foreign or "not a state of this FMU" in foreign
    assert "bytes, not" in shorter and "not a state" in nothing


def test_instances_of_one_and_of_two_fmus_do_not_disturb_each_other(
    web: WebFolder, native: Native, engine: Run
) -> None:
    other = web.add(native.wasm(LinkChain(links=3)), "other.fmu")
    alone, beside = engine("together", ["chain.fmu", other])
    assert alone == beside and len({str(values) for values in alone}) == 3


def test_freed_memory_is_used_again(engine: Run) -> None:
    found = engine("memory", "chain.fmu", {"kept": 300, "cycles": 10_000})
    assert found["before"] == found["after"]
    assert found["grown"] > found["start"], "the memory has not grown"
    assert found["grown"] == found["settled"] == found["end"]


def test_kinds_of_variables(engine: Run) -> None:
    found = engine("kinds", "exoskeleton.fmu")
    locked, method, pinned, phase, height = found["values"]
    assert (locked, method, pinned) == (1, 2, 0) and phase == int(phase) and 0 < height < 3
    assert found["types"] == ["Boolean", "Integer", "Boolean", "Integer", "Real"]
    assert found["time"] == pytest.approx(1.001) and found["derivative"] == [1]
    assert found["variable"]["unit"] == "N.m" and found["variable"]["causality"] == "input"
    assert found["description"]["modelIdentifier"] == "Exoskeleton"
    assert found["description"]["experiment"]["step"] == Exoskeleton().step_size
    assert found["description"]["count"] == len(Exoskeleton().table.scalars)


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSED = {
    "unknown": "LinkChain has no variable joint[9].angle",
    "parameter": "link[1].mass",
    "output": "joint[1].angle",
    "nan": "joint[1].torque = nan",
    "infinite": "joint[1].torque = inf",
    "text": "joint[1].torque = much: must be a number",
    "nothing": "joint[1].torque = null: must be a number",
    "fraction": "solver.method = 1.5: must be a whole number",
    "large": "solver.method = 4294967297: must be a whole number",
    "choice": "solver.method = 7",
    "mass": "link[1].mass = -1",
    "tolerance": "tolerance -1: must be greater than 0",
    "stop": "stop time 1: must not be before the start time",
    "start": "start = 0: must be a number",
    "name": "the instance has no name",
    "early": "a step cannot be made: the instance is instantiated",
    "late": "step to t = 2: the stop time of the experiment is 1",
    "zero": "step of size 0 at t = 0: the size must be greater than 0",
    "back": "step of size -0.1",
    "step": "step = 0.1: must be a number",
    "no_step": "step = undefined: must be a number",
    "no_number": "step of size nan",
    "no_name": "get(undefined): must be a name or an array of names",
    "twice": "the experiment cannot be set up: the instance is stepping",
    "ended": "a step cannot be made: the instance is terminated",
    "freed_reader": "freed has been freed",
    "freed_writer": "freed has been freed",
    "freed_get": "freed has been freed",
    "freed_step": "freed has been freed",
    "freed_state": "freed has been freed",
    "freed_call": "freed has been freed",
    "short": "1 values for 2 variables",
}


def test_bad_calls_are_refused_with_the_reason_and_change_nothing(engine: Run) -> None:
    found = engine("refusals", "chain.fmu")
    wrong = {
        name: found["found"][name]
        for name, text in REFUSED.items()
        if found["found"][name].get("name") != "FmuError" or text not in found["found"][name]["message"]
    }
    assert not wrong and found["found"].keys() == REFUSED.keys()
    assert found["time"] == 0.5 and found["messages"] == [] and np.isfinite(found["lastAngle"])


def test_files_that_cannot_be_loaded(web: WebFolder, fmu: Build, engine: Run) -> None:
    chain = (web.folder / "chain.fmu").read_bytes()
    with zipfile.ZipFile(web.folder / "chain.fmu") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    library = "binaries/wasm32/LinkChain.wasm"
    at = chain.index(library.encode()) + len(library) + 1000
    for name, data in {
        "text.fmu": b"hello" * 100,
        "empty.fmu": b"",
        "half.fmu": chain[: len(chain) // 2],
        "late.fmu": chain[5000:],
        "changed.fmu": chain[:at] + bytes(100) + chain[at + 100 :],
    }.items():
        (web.folder / name).write_bytes(data)
    for name, changes in {
        "library.fmu": {library: None},
        "description.fmu": {"modelDescription.xml": None},
        "nonsense.fmu": {library: b"hello"},
        "imports.fmu": {library: wasm(imports=("wasi_snapshot_preview1",))},
        "foreign.fmu": {library: b"\0asm\1\0\0\0"},
        "xml.fmu": {"modelDescription.xml": b"<fmiModelDescription"},
    }.items():
        with zipfile.ZipFile(web.folder / name, "w", zipfile.ZIP_STORED) as archive:
            for file, content in (contents | changes).items():
                if content is not None:
                    archive.writestr(file, content)
    expected = {
        "text.fmu": "not a ZIP archive",
        "empty.fmu": "not a ZIP archive",
        "half.fmu": "not a ZIP archive",
        "late.fmu": "the FMU is damaged",
        "changed.fmu": f"the FMU is damaged: {library} cannot be decompressed",
        "library.fmu": f"no file {library}: build it with  mechfmu build NAME --platform wasm",
        "description.fmu": "this is not an FMU: it has no file modelDescription.xml",
        "nonsense.fmu": "LinkChain.wasm cannot be loaded",
        "imports.fmu": "LinkChain.wasm cannot be loaded",
        "foreign.fmu": "LinkChain.wasm does not export memory: it was not built by mechfmu",
        "xml.fmu": "modelDescription.xml is not that of a Co-Simulation FMU",
    }
    found = engine("unloadable", list(expected))
    assert not {name: found[name] for name, text in expected.items() if text not in found[name].get("message", "")}
    assert {error["name"] for error in found.values()} == {"FmuError"}


def test_an_address_that_is_not_there(chromium: Run) -> None:
    assert "404" in chromium("unloadable", ["nowhere.fmu"])["nowhere.fmu"]["message"]


# --- the documentation ------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "wasm.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```js\n// (\S+\.mjs)\n.*?^```\n\n```text\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def documented(native: Native, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder web of the page: the FMU, its modules, and the code blocks."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copy(native.wasm(CHAIN), folder / "LinkChain.fmu")
    unpack_modules(native.wasm(CHAIN), folder)
    for name, code in re.findall(r"^```js\n// (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(code, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}')  # for old versions of Node
    (html,) = re.findall(r"^```html\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "index.html").write_text(html, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("name", "printed"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_the_programs_of_the_documentation(documented: Path, name: str, printed: str) -> None:
    assert run([needs.tool("node"), name], cwd=documented).stdout.strip() == printed


def test_the_page_of_the_documentation(documented: Path, browser: Browser) -> None:
    """With the policy that the page names, and no other requests than for its own files."""
    assert len(PROGRAMS) == 3
    assert all(part in PAGE for part in ("script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'"))
    with served(documented) as address:
        browser.open_address(address)
        browser.wait(lambda: float((browser.find("#time").text or "0").split()[0]) > 0.5, "the chain does not move")
        before = browser.picture("#view")
        browser.js("const s = document.getElementById('torque'); s.value = 60")
        browser.wait(lambda: np.any(browser.picture("#view") != before), "the picture stays as it is")
        assert len(np.unique(before)) > 1 and browser.errors() == []
        assert all(request.startswith(address) for request in browser.requests())
