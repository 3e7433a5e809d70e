"""How fast the FMUs of the 10-link chain step: 10 ms steps at tolerance 1e-6, through FMPy, against real time.

    python benchmarks/fmu_step.py [--quick]

Every FMU runs in a process of its own that never imports mechfmu, as at a user's. The exit status is 1 when the
requirement at the end is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEP, TOLERANCE = 0.01, 1e-6
WAYS = {"step": "steps alone", "exchange": "an input set and all outputs read at each step"}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def run_fmu(fmu: str, seconds: float, repeats: int) -> dict[str, float]:
    """Simulated over elapsed time for each way of stepping, the best of several runs; runs in its own process."""
    import shutil
    import time

    import fmpy
    from fmpy.fmi2 import FMU2Slave

    description = fmpy.read_model_description(fmu)
    folder = fmpy.extract(fmu)
    inputs = [v.valueReference for v in description.modelVariables if v.causality == "input"][:1]
    outputs = [v.valueReference for v in description.modelVariables if v.causality == "output"]
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="benchmark",
    )
    slave.instantiate()
    best = dict.fromkeys(WAYS, 0.0)
    for _ in range(repeats):
        for way in WAYS:
            slave.setupExperiment(tolerance=TOLERANCE, startTime=0.0)
            slave.enterInitializationMode()
            slave.exitInitializationMode()
            began = time.perf_counter()  # a Python FMU computes in a process of its own
            for i in range(round(seconds / STEP)):
                if way == "exchange":
                    slave.setReal(inputs, [0.1 * (i % 2)])
                slave.doStep(i * STEP, STEP)
                if way == "exchange":
                    slave.getReal(outputs)
            best[way] = max(best[way], seconds / (time.perf_counter() - began))
            slave.terminate()
            slave.reset()
    slave.freeInstance()
    shutil.rmtree(folder, ignore_errors=True)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how fast FMUs step against real time.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs, for a first look")
    parser.add_argument("--run", metavar="FMU", help=argparse.SUPPRESS)
    options = parser.parse_args()
    seconds, repeats = (1.0, 2) if options.quick else (10.0, 5)
    if options.run:
        print(json.dumps(run_fmu(options.run, seconds, repeats)))
        return 0

    from mechfmu import LinkChain
    from mechfmu.cli.progress import Reporter
    from mechfmu.console import Console, Styled, TextTable
    from mechfmu.fmu.build import KINDS

    console, table = Console(), TextTable("FMU", *WAYS.values())
    speeds: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, Reporter().status("") as update:
        for kind in KINDS:
            update(f"building the {kind} FMU")
            for file in LinkChain(links=10).build(folder, kind=kind):
                update(f"running {file.name}")
                command = [
                    sys.executable,
                    str(Path(__file__).resolve()),
                    "--run",
                    str(file),
                    *(["--quick"] if options.quick else []),
                ]
                done = subprocess.run(
                    command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, cwd=folder
                )
                if done.returncode != 0:
                    sys.exit(f"{file.name} did not run:\n{done.stderr}")
                speeds[file.name] = json.loads(done.stdout.splitlines()[-1])
    for name, speed in speeds.items():
        table.add_row(name, *(f"{speed[way]:.0f} x" for way in WAYS))
    console.print_table(table)
    console.print("simulated over elapsed time, best of several runs")
    python = speeds["LinkChain.python.fmu"]["step"]
    holds = python >= 20
    requirement = f"the Python FMU steps the 10-link chain at least 20 times faster than real time: {python:.0f} times"
    text = f"{'PASS' if holds else 'FAIL'}  {requirement}"
    console.print(Styled(text, "green" if holds else "red"))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
