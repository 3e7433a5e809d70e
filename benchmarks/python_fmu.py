"""The cost of the Python FMU's own process: microseconds per call and per step of the 10-link chain.

Compared are the FMU in the host's process (pythonfmu's library), in a process of its own (ours), and the native one;
also measured is the time that the process takes to start.

    python benchmarks/python_fmu.py [--quick]

The three FMUs hold the same mechanism. Each runs in a host process of its own that never imports mechfmu, rounds in
turn, the best of each counts. The exit status is 1 when a requirement at the end is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

MOST_PER_CALL = 30.0  # us more than in the host's process
MOST_START = 1.5  # times the start of a Python that imports the same packages
CALLS = {"set": "set an input", "get": "read 10 outputs", "step": "step of 10 ms", "cycle": "set, step, read"}
FMUS = {
    "in-process": "in the host's process (pythonfmu)",
    "own": "in a process of its own (mechfmu)",
    "native": "native",
}


def measure(fmu: str, count: int) -> dict[str, float]:
    """Microseconds for each kind of call, through ctypes. (This runs in the process of its own.)"""
    import ctypes

    import fmpy
    from fmpy.fmi2 import FMU2Slave

    description = fmpy.read_model_description(fmu)
    folder = fmpy.extract(fmu)
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="benchmark",
    )
    slave.instantiate()
    slave.setupExperiment(tolerance=1e-6, startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    references = {
        c: [v.valueReference for v in description.modelVariables if v.causality == c and v.type == "Real"]
        for c in ("input", "output")
    }
    one, ten = (ctypes.c_uint32 * 1)(references["input"][0]), (ctypes.c_uint32 * 10)(*references["output"][:10])
    torque, values = (ctypes.c_double * 1)(0.1), (ctypes.c_double * 10)()
    component, library, h, now = ctypes.c_void_p(slave.component), slave.dll, 0.01, 0.0

    def put() -> None:
        library.fmi2SetReal(component, one, ctypes.c_size_t(1), torque)

    def get() -> None:
        library.fmi2GetReal(component, ten, ctypes.c_size_t(10), values)

    def step() -> None:
        nonlocal now
        assert library.fmi2DoStep(component, ctypes.c_double(now), ctypes.c_double(h), 1) == 0
        now += h

    def cycle() -> None:
        put()
        step()
        get()

    def timed(call: Callable[[], None], n: int) -> float:
        begun = time.perf_counter()
        for _ in range(n):
            call()
        return (time.perf_counter() - begun) / n * 1e6

    step()
    put_get = timed(lambda: (put(), get()), count)  # a value that was set makes the FMU compute what is read
    put_alone = timed(put, count)
    found = {
        "set": put_alone,
        "get": put_get - put_alone,
        "step": timed(step, count // 10),
        "cycle": timed(cycle, count // 10),
    }
    slave.terminate()
    return found


def in_process(fmu: Path, folder: Path) -> Path:
    """What `pythonfmu build` makes of the slave in our Python FMU."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    resources = folder / "resources"
    slave = resources / f"{(resources / 'slavemodule.txt').read_text()}.py"
    core = resources / json.loads((resources / "model.json").read_text())["core"]
    command = [
        sys.executable,
        "-m",
        "pythonfmu",
        "build",
        "-f",
        slave,
        "-d",
        folder / "built",
        resources / "model.json",
        folder / "modelDescription.xml",
        core,
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = (folder / "built").glob("*.fmu")
    return built


def start_ratio(resources: Path, rounds: int) -> float:
    """Time until the process of the FMU is ready, over that of a Python that imports the packages; the two in turn."""
    ratios = []
    for _ in range(rounds):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy, scipy, casadi"], check=True)
        plain = time.perf_counter() - begun
        ours, theirs = socket.socketpair()
        lifeline, held = os.pipe()
        output = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the others)
        numbers = [theirs.fileno(), theirs.fileno(), lifeline, output.fileno(), os.getpid()]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-B", resources / "mechfmu_start.py", *map(str, numbers)],
            pass_fds=numbers[:4],
            stdout=subprocess.DEVNULL,
        )
        ours.recv(64)
        ratios.append((time.perf_counter() - begun) / plain)
        process.kill()
        process.wait()
        for descriptor in (lifeline, held):
            os.close(descriptor)
        for end in (ours, theirs, output):
            end.close()
    return statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what a Python process of its own costs the Python FMU.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--run", metavar="FMU", help=argparse.SUPPRESS)
    options = parser.parse_args()
    rounds, count = (2, 2000) if options.quick else (6, 5000)
    if options.run:
        print(json.dumps(measure(options.run, count)), flush=True)
        os._exit(0)  # pythonfmu's library may crash when a process ends

    from mechfmu import LinkChain
    from mechfmu.cli.progress import Reporter
    from mechfmu.console import Console, Styled, TextTable

    console = Console()
    best: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as temporary, Reporter().status("building") as update:
        folder = Path(temporary)
        native, own = LinkChain(links=10).build(folder, kind="both")
        files = {"in-process": in_process(own, folder / "extracted"), "own": own, "native": native}
        for k in range(rounds):
            for name, file in files.items():
                update(f"round {k + 1} of {rounds}: {FMUS[name]}")
                command = [
                    sys.executable,
                    str(Path(__file__).resolve()),
                    "--run",
                    str(file),
                    *(["--quick"] if options.quick else []),
                ]
                done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
                if done.returncode != 0:
                    sys.exit(f"{file.name} did not run:\n{done.stderr}")
                found = json.loads(done.stdout.splitlines()[-1])
                best[name] = {call: min(found[call], best.get(name, found)[call]) for call in CALLS}
        update("starts")
        start = start_ratio(folder / "extracted" / "resources", 5 * rounds)
    table = TextTable("FMU", *CALLS.values(), right=range(1, len(CALLS) + 1))
    for name, title in FMUS.items():
        table.add_row(title, *(f"{best[name][call]:.1f}" for call in CALLS))
    console.print_table(table)
    console.print("microseconds, best of all rounds")
    worst = max(CALLS, key=lambda call: best["own"][call] - best["in-process"][call])
    more = best["own"][worst] - best["in-process"][worst]
    requirements = [
        (
            more <= MOST_PER_CALL,
            f"a call costs at most {MOST_PER_CALL:g} us more than in-process: {more:.1f} us ({CALLS[worst]})",
        ),
        (
            start <= MOST_START,
            f"the process starts in at most {MOST_START:g} times `import numpy, scipy, casadi`: {start:.2f}",
        ),
    ]
    for holds, text in requirements:
        console.print(Styled(f"{'PASS' if holds else 'FAIL'}  {text}", "green" if holds else "red"))
    return 0 if all(holds for holds, _ in requirements) else 1


if __name__ == "__main__":
    sys.exit(main())
