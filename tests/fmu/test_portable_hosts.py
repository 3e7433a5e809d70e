"""Python FMUs in use: repeatedly, side by side, in threads, in forked and spawned processes, in a notebook, and in
hosts without Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from helpers import needs
from helpers.build import Build
from helpers.fmu_client import Host
from helpers.native_build import Native
from helpers.slave_cases import Portable

pytest_plugins = ["helpers.slave_fixtures", "helpers.native_fixtures"]
nbclient, nbformat = needs.module("nbclient"), needs.module("nbformat")

MECHANISMS = ("link_chain", "cart_controller", "exoskeleton")  # of different modules, events and options
SIMULATE = "import sys, json, fmpy; sys.modules['mechfmu'] = None\n"


@pytest.fixture
def kind() -> str:
    return "python"


def run(code: str, *arguments: object, folder: Path, timeout: float = 120) -> list[str]:
    """The lines that a script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SIMULATE + code, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_many_simulations_in_one_process(portable: Portable, tmp_path: Path) -> None:
    """FMPy extracts the FMU and deletes it again each time."""
    code = """
for _ in range(30):
    print(float(fmpy.simulate_fmu(sys.argv[1], stop_time=0.1, output_interval=0.01)["voltage"][-1]))
"""
    lines = run(code, portable("divider"), folder=tmp_path)
    assert len(lines) == 30 and set(lines) == {lines[0]}


def test_a_mechanism_again_and_then_another(fmu: Build, tmp_path: Path) -> None:
    code = "for file in sys.argv[1:]: print(fmpy.simulate_fmu(file, stop_time=0.2)[-1].tolist())"
    one, two = fmu(links=2), fmu("pid_controller")
    lines = run(code, one, one, two, one, folder=tmp_path)
    assert lines[0] == lines[1] == lines[3] != lines[2]


def test_mechanisms_interleaved(fmu: Build, fresh_host: Host, tmp_path: Path) -> None:
    files = {key: fmu(key) for key in MECHANISMS}
    together = {key: fresh_host.open(file, key).initialize() for key, file in files.items()}
    outputs = {key: [n for n, kind in slave._types.items() if kind == "Real"] for key, slave in together.items()}
    rows: dict[str, list] = {key: [] for key in files}
    for _ in range(3):
        for key, slave in together.items():
            rows[key].append(slave.run([0.01], outputs[key])[0])
    alone = Host(tmp_path)
    try:
        for key, file in files.items():
            slave = alone.open(file, key).initialize()
            assert np.array_equal(slave.run([0.01] * 3, outputs[key]), rows[key], equal_nan=True), key
            slave.free()
        alone.close()
    finally:
        alone.kill()


THREADS = """
from concurrent.futures import ThreadPoolExecutor
from fmpy.fmi2 import FMU2Slave
description, folder = fmpy.read_model_description(sys.argv[1]), fmpy.extract(sys.argv[1])
references = [v.valueReference for v in description.modelVariables if v.causality == 'output' and v.type == 'Real']
def work(k):
    slave = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName=f'thread {k}',
                      modelIdentifier=description.coSimulation.modelIdentifier)
    slave.instantiate(); slave.setupExperiment(); slave.enterInitializationMode(); slave.exitInitializationMode()
    for i in range(200):
        slave.doStep(i * 0.01, 0.01); values = slave.getReal(references)
    slave.terminate(); slave.freeInstance()
    return values
with ThreadPoolExecutor(4) as pool:
    for values in pool.map(work, range(8)): print(values)
"""


def test_threads_with_an_instance_each(portable: Portable, fmu: Build, tmp_path: Path) -> None:
    for file in (portable("spring"), fmu(links=2)):
        lines = run(THREADS, file, folder=tmp_path)
        assert len(lines) == 8 and set(lines) == {lines[0]}


PROCESSES = """
import multiprocessing
def work(k): return float(fmpy.simulate_fmu(sys.argv[1], stop_time=0.1)[-1][1])
if __name__ == '__main__':
    before = work(0)
    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool: found = pool.map(work, range(4))
    assert set(found) == {before} == {work(0)}
    print('same')
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"] if sys.platform == "linux" else ["spawn"])
def test_processes(portable: Portable, tmp_path: Path, method: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SIMULATE + PROCESSES)
    done = subprocess.run(
        [sys.executable, script, portable("spring"), method], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout == "same\n", done.stderr[-3000:]


FORKED = """
import os
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave
description, folder = fmpy.read_model_description(sys.argv[1]), fmpy.extract(sys.argv[1])
def new():
    slave = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName='a',
                      modelIdentifier=description.coSimulation.modelIdentifier)
    slave.instantiate(); slave.setupExperiment(); slave.enterInitializationMode(); slave.exitInitializationMode()
    return slave
slave = new()
child = os.fork()
if not child:
    try:
        slave.doStep(0.0, 0.01)
    except FMICallException as error:
        assert error.status == 3
        own = new(); own.doStep(0.0, 0.01); own.freeInstance(); slave.freeInstance()
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
slave.doStep(0.0, 0.01); slave.terminate(); slave.freeInstance()
print('both')
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_an_instance_stays_with_the_process_that_made_it(portable: Portable, tmp_path: Path) -> None:
    assert run(FORKED, portable("spring"), folder=tmp_path)[-1] == "both"


def test_a_notebook(portable: Portable, tmp_path: Path) -> None:
    """The kernel survives several cells."""
    cells = [
        "import fmpy",
        *[
            f"fmpy.simulate_fmu({str(portable(name))!r}, stop_time=0.1)[-1].tolist()"
            for name in ("spring", "spring", "divider")
        ],
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    results = [cell["outputs"][0]["data"]["text/plain"] for cell in notebook.cells[1:]]
    assert results[0] == results[1] != results[2]


@pytest.mark.skipif(sys.platform != "linux", reason="compiled with the tools of Linux")
def test_a_host_in_c_without_python(fmu: Build, native: Native, host: Host, tmp_path: Path) -> None:
    """Nothing preloaded, nothing in the environment but what selects NumPy's arithmetic: the same bits as in FMPy."""
    file = fmu(links=2)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "fmu")
    slave = host.open(file).initialize(tolerance=1e-6)
    names = ["joint[1].angle", "tip.x", "energy.total"]
    wanted = slave.run([0.01] * 20, names)
    guid = (tmp_path / "fmu" / "modelDescription.xml").read_text().split('guid="')[1].split('"')[0]
    program = native.host()
    library, outputs = tmp_path / "fmu" / "binaries" / "linux64" / "LinkChain.so", [slave.references[n] for n in names]
    command = [program, library, guid, "0.01", "20", "1e-6", *map(str, outputs)]
    environment = {name: value for name, value in os.environ.items() if "BLAS" in name}
    environment["MECHFMU_PYTHON"] = sys.executable
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert np.array_equal([[float(v) for v in line.split()] for line in done.stdout.splitlines()], wanted)


def test_pythonfmu_still_builds_the_slave(fmu: Build, fresh_host: Host, tmp_path: Path) -> None:
    """In the host's own process the slave computes the same bits."""
    file = fmu(links=2)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "fmu")
    resources = tmp_path / "fmu" / "resources"
    module = (resources / "slavemodule.txt").read_text()
    package = json.loads((resources / "model.json").read_text())["package"]
    files = [resources / "model.json", tmp_path / "fmu" / "modelDescription.xml", resources / package]
    options = ["-f", resources / f"{module}.py", "-d", tmp_path / "built"]
    command = [sys.executable, "-m", "pythonfmu", "build", *options, *files]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    outputs = ["joint[1].angle", "tip.x", "energy.total", "joint[2].reaction_x"]
    wanted = fresh_host.open(file).initialize().run([0.01] * 20, outputs)
    inside = Host(tmp_path)
    try:
        assert np.array_equal(
            inside.open(tmp_path / "built" / "LinkChain.fmu").initialize().run([0.01] * 20, outputs), wanted
        )
    finally:
        inside.kill()
