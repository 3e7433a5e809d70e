"""Speed of FMUs as WebAssembly, in Chromium and in Node, beside the native FMU in a C host.

    python benchmarks/wasm.py [--quick]

For Linux with gcc, Node and Chromium with its driver; needs `pip install ".[native,bench,dev]"`. Every contender makes
the same communication steps, and figures are shown only when all end in the same state. The exit status is 1 when they
do not, or when the requirement at the end is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np
from loops import FmuHost, console, duration, status
from selenium import webdriver

from mechfmu import Exoskeleton, LinkChain, SphericalArm, WheeledCart
from mechfmu.codegen.compiler import host_platform
from mechfmu.console import Styled, TextTable
from mechfmu.cosim.system import System
from mechfmu.fmu.build import build
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import Mechanism

WEB = Path(__file__).resolve().parent / "web"
TOLERANCE, SAME, PROMISED = 1e-6, 1e-9, 2.5
CALL = "const [name, parameters, done] = arguments; steps[name](...parameters).then(done)"
LOAD = 'const done = arguments[0]; import("./steps.js").then((all) => { globalThis.steps = {'
LOAD += "prepare: all.prepare, runs: async (count) => all.runs(count) }; done() })"
NOTES = (
    "Time of one communication step: CPU time of the native FMU, in a C host; elapsed time in Chromium and Node, which "
    "includes the call from JavaScript. Runs of the three alternate; what counts is the end of the fastest tenth, in "
    "Chromium and Node of each part of a run, which has about half a millisecond, so that other programs disturb few.",
)

Engine = Callable[..., Any]  # calls a function of steps.js


@dataclass(frozen=True)
class Case:
    """A mechanism, and the steps that are timed, `part` at a time; start: parameters and inputs that are not the
    default."""

    title: str
    make: Callable[[], Mechanism]
    step: float = 0.01
    steps: int = 100
    part: int = 50
    start: Mapping[str, float] = field(default_factory=dict)


def panda() -> Tree:
    (file,) = [f for f in files("example-robot-data") or () if f.name == "panda.urdf"]
    return Tree.from_file(str(file.locate()), report=lambda _: None)


CASES = (
    Case("link_chain, 10 links", partial(LinkChain, links=10), steps=200, part=100),
    Case("link_chain, 100 links", partial(LinkChain, links=100), steps=20, part=1),
    Case("spherical_arm", SphericalArm, steps=300, part=300),
    Case("exoskeleton, falls and lands", Exoskeleton, 0.001, steps=300, part=100),
    Case("wheeled_cart", WheeledCart, steps=500, part=500, start={"wheel.left_torque": 1.5, "wheel.right_torque": 1.0}),
    Case("Panda", panda),
)


# --- the engines ------------------------------------------------------------------------------------------------------


@contextmanager
def node(folder: Path) -> Iterator[Engine]:
    process = subprocess.Popen(
        ["node", "in_node.mjs"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None

    def call(name: str, *parameters: Any) -> Any:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([name, parameters]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        yield call
    finally:
        process.stdin.close()
        process.wait()


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")  # with these two the clock of the page is exact
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def chromium(folder: Path) -> Iterator[Engine]:
    options, service = webdriver.ChromeOptions(), webdriver.ChromeService(shutil.which("chromedriver"))
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        driver = webdriver.Chrome(options=options, service=service)
        try:
            driver.set_script_timeout(600)
            driver.get(f"http://127.0.0.1:{server.server_address[1]}/")
            driver.execute_async_script(LOAD)
            yield lambda name, *parameters: driver.execute_async_script(CALL, name, list(parameters))
        finally:
            driver.quit()
            server.shutdown()


# --- the contest ------------------------------------------------------------------------------------------------------


def prepare(folder: Path, cases: Sequence[Case], update: Callable[[str], None]) -> list[Path]:
    """Build all FMUs, and make the folder of a web server that has them."""
    fmus = []
    for k, case in enumerate(cases):
        update(f"building {case.title}")
        place = folder / f"fmu{k}"
        fmus += build(case.make(), place, platforms=[host_platform(), "wasm"], start=case.start)
        shutil.copy(fmus[-1], folder / f"{k}.fmu")
    with zipfile.ZipFile(fmus[0]) as archive:
        for name in archive.namelist():
            if name.startswith("binaries/wasm32/") and name.endswith(".js"):
                (folder / Path(name).name).write_bytes(archive.read(name))
    for file in WEB.iterdir():
        shutil.copy(file, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "index.html").write_text("<!DOCTYPE html><title>benchmark</title>")
    return fmus


def timed(case: Case, k: int, fmu: Path, folder: Path, engines: Mapping[str, Engine], rounds: int) -> dict[str, float]:
    """Seconds of one step by contender."""
    system = System("alone", {"m": fmu}, stop=case.steps * case.step, step=case.step)
    native = system.simulate(adaptive=False)
    names = [scalar.name for scalar in case.make().table.of("state")]
    expected = np.array([native[f"m.{name}"][-1] for name in names])
    settings = dict(step=case.step, steps=case.steps, part=case.part, tolerance=TOLERANCE)
    for name, engine in engines.items():
        found = np.array(engine("prepare", f"{k}.fmu", settings, names))
        if not np.all(np.abs(found - expected) <= SAME * (1 + np.abs(expected))):
            sys.exit(f"{case.title}: {name} ends in another state than the native FMU")
    host = FmuHost(fmu, folder / f"unpacked{k}", TOLERANCE)
    times: dict[str, list[list[float]]] = {"native": [], **{name: [] for name in engines}}
    for _ in range(rounds):
        times["native"] += [[host.seconds(case.step, case.steps)] for _ in range(10)]
        for name, engine in engines.items():
            times[name] += engine("runs", 10)
    return {name: float(np.quantile(found, 0.1, axis=0).sum()) / case.steps for name, found in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    rounds = 5 if parser.parse_args().quick else 60
    if missing := [program for program in ("gcc", "node", "chromium", "chromedriver") if not shutil.which(program)]:
        sys.exit(f"this benchmark needs {' and '.join(missing)}")
    table = TextTable("steps at tolerance 1e-6", "native", "Chromium over native", "Node over native")
    worst = 0.0
    with tempfile.TemporaryDirectory() as temporary, status("") as update:
        folder = Path(temporary)
        fmus = prepare(folder, CASES, update)
        with chromium(folder) as page, node(folder) as program:
            for k, (case, fmu) in enumerate(zip(CASES, fmus, strict=True)):
                update(f"running {case.title}")
                seconds = timed(case, k, fmu, folder, {"Chromium": page, "Node": program}, rounds)
                ratios = [seconds[name] / seconds["native"] for name in ("Chromium", "Node")]
                table.add_row(case.title, duration(seconds["native"]), *(f"{ratio:.2f}" for ratio in ratios))
                worst = max(worst, *ratios)
    console.print_table(table)
    for note in NOTES:
        console.print_wrapped(Styled(note, "dim"))
    text = f"a step as WebAssembly takes at most {PROMISED} times as long as the native one: {worst:.2f} times"
    console.print(Styled(f"{'PASS' if worst <= PROMISED else 'FAIL'}  {text}", "green" if worst <= PROMISED else "red"))
    return 0 if worst <= PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
