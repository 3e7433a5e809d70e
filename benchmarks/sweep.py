"""A sweep of 100,000 runs of the 10-link chain, 1 s each, beside a plain loop of FMPy; undisturbed and disturbed.

    python benchmarks/sweep.py [--runs 100000] [--own-runs 10000]

Needs `pip install ".[native,sweep]"`. The sweep runs in two processes, once undisturbed and once with one of them
killed on the way, then the whole command killed, then continued. The engine is the default; fewer runs are made with
the FMU's own library, and still fewer in the plain loop. The exit status is 1 when a requirement at the end is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import fmpy
import numpy as np
import psutil
from pyarrow import parquet

from mechfmu import LinkChain
from mechfmu.simulation.batch import batch_library
from mechfmu.sweep.folder import parts
from mechfmu.sweep.specification import read_spec
from mechfmu.sweep.sweep import sweep

SPEC = """
[run]
stop = 1.0
step = 0.01
record = ["tip.x", "energy.kinetic"]
keep = ["final", "max"]
[sample]
method = "latin_hypercube"
count = {runs}
seed = 1
[vary]
"joint[1].angle_start" = {{from = -1.5, to = 1.5}}
"joint[1].damping" = {{from = 1e-3, to = 10, scale = "log"}}
"""
LOOP = 100  # runs of the plain loop: more would only take longer


def plain_loop(fmu: Path, cases: np.ndarray, names: list[str]) -> tuple[float, np.ndarray]:
    """Runs per second of FMPy's simulate_fmu with the same outputs at the same times, and the results."""
    began, rows = time.perf_counter(), []
    for case in cases:
        values = dict(zip(names, case, strict=True))
        data = fmpy.simulate_fmu(
            str(fmu), stop_time=1.0, output_interval=0.01, output=["tip.x", "energy.kinetic"], start_values=values
        )
        rows.append([data["tip.x"][-1], data["tip.x"].max(), data["energy.kinetic"][-1], data["energy.kinetic"].max()])
    return len(cases) / (time.perf_counter() - began), np.array(rows)


def count(folder: Path) -> int:
    """How many runs have been written."""
    return sum(int(f.stem.split("-")[2]) for f in parts(folder))


def resident() -> int:
    """Bytes of memory of this process and its workers."""
    total = 0
    for process in [own := psutil.Process(), *own.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total


def disturbed(fmu: Path, spec: Path, runs: int) -> Path:
    """The command; one process is killed after a fifth of the runs, itself after half of them, then it starts again."""
    folder = spec.parent / "disturbed"
    command = [sys.executable, "-m", "mechfmu", "sweep", str(fmu), str(spec), "-o", str(folder), "--workers", "2"]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    one_killed = False
    while (finished := count(folder)) < runs / 2:
        if process.poll() is not None:
            sys.exit("the sweep ended too early")
        if finished >= runs / 5 and not one_killed:
            psutil.Process(process.pid).children()[0].kill()
            one_killed = True
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    print(f"killed a process, and then everything after {count(folder)} runs; going on")
    subprocess.run(command, check=True)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description="Time a sweep beside a plain loop of FMPy, and disturb it.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--own-runs", type=int, default=10_000, help="with the FMU's own library")
    options = parser.parse_args()
    runs = options.runs
    with tempfile.TemporaryDirectory() as name:
        (fmu,) = LinkChain(links=10).build(name)
        file = Path(name) / "spec.toml"
        file.write_text(SPEC.format(runs=runs))
        spec = read_spec(file)
        batch_library(LinkChain(links=10))  # compiled beforehand, as the FMU was
        loop, expected = plain_loop(fmu, spec.cases()[:LOOP], spec.names)
        memory: list[int] = []
        engines: list[str] = []
        began = time.perf_counter()
        result = sweep(
            fmu,
            spec,
            Path(name) / "batch",
            workers=2,
            progress=lambda done, failed: memory.append(resident()),
            note=engines.append,
        )
        rate, table = runs / (time.perf_counter() - began), result.table
        few = {n: column[: options.own_runs] for n, column in zip(spec.names, spec.cases().T, strict=True)}
        own_spec = replace(spec, method="csv", count=0, vary={n: column.tolist() for n, column in few.items()})
        began = time.perf_counter()
        own = sweep(fmu, own_spec, Path(name) / "fmu", workers=2, engine="fmu").table
        own_rate = own.num_rows / (time.perf_counter() - began)
        print(
            f"runs a second, start and end of processes included: engine {engines} {rate:.0f}, "
            f"the FMU's own library {own_rate:.0f}; FMPy's loop {loop:.0f}"
        )
        right = all(
            np.allclose(np.asarray(table[c])[:LOOP], expected[:, j], rtol=0, atol=1e-4)
            for j, c in enumerate(spec.columns)
        )
        second = memory[len(memory) // 2 :]
        growth = (second[-1] - second[len(second) // 4]) / 1e6
        again = parquet.read_table([str(f) for f in parts(disturbed(fmu, file, runs))]).sort_by("run")
    found = [
        (f"the sweep is at least 60 times faster than FMPy's loop: {rate / loop:.1f} times", rate >= 60 * loop),
        (
            f"with the FMU's own library at least 10 times: {own_rate / loop:.1f} times",
            engines == ["batch"] and own_rate >= 10 * loop,
        ),
        ("its results are those of the loop, and the same with both engines", right and table[: own.num_rows] == own),
        (
            f"the memory of client and workers stays the same: {memory[1] / 1e6:.0f} MB after the first part, "
            f"{memory[-1] / 1e6:.0f} MB at the end, {growth:+.0f} MB over the last three eighths",
            growth < 50,
        ),
        (
            f"disturbed and resumed, it has exactly {runs} results, the same",
            again.equals(table) and again.num_rows == runs,
        ),
    ]
    for text, holds in found:
        print(f"{'PASS' if holds else 'FAIL'}  {text}")
    return 0 if all(holds for _, holds in found) else 1


if __name__ == "__main__":
    sys.exit(main())
