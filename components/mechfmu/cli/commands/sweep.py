"""`mechfmu sweep`: run an FMU many times with different values."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...model.extras import require
from ..result_files import PICTURES, check_ending, check_writable
from ..terminal import REPORTER, print_error
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "sweep",
        help="run an FMU many times",
        description="Run an FMU many times with different values, on all processors or on a Dask cluster.",
        epilog="example: mechfmu sweep out/LinkChain.fmu swing.toml -o swing_results --plot swing.png",
    )
    c.add_argument("fmu", metavar="FMU", help="the FMU file")
    c.add_argument("spec", metavar="SPEC", help="the description of the sweep, a .toml file (see docs/sweeps.md)")
    help = "folder for the results, which are added as Parquet files (default: the name of SPEC with _results)"
    c.add_argument("-o", "--output", metavar="DIR", help=help)
    help = "address of a running Dask scheduler, e.g. tcp://10.0.0.5:8786 (default: processes of this machine)"
    c.add_argument("--scheduler", metavar="ADDRESS", help=help)
    help = "processes of this machine (default: one per processor)"
    c.add_argument("--workers", type=int, metavar="N", help=help)
    help = "auto (the default), fmu: its own library, or batch: many runs at once in SIMD lanes (see docs/sweeps.md)"
    c.add_argument("--engine", default="auto", metavar="E", help=help)
    help = "limit for one run in seconds of real time; a run that takes longer is recorded as failed"
    c.add_argument("--timeout", type=float, metavar="S", help=help)
    help = "start from the beginning instead of resuming with the results in the folder"
    c.add_argument("--restart", action="store_true", help=help)
    help = "draw all results over all varied values into this file (png, svg, pdf)"
    c.add_argument("--plot", metavar="FILE", help=help)
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ...simulation.description import read_description
    from ...sweep.specification import read_spec
    from ...sweep.sweep import sweep

    check_ending(options.plot, PICTURES, "draw into")
    check_writable(options.plot)
    if options.plot:
        require("matplotlib")
    description, spec = read_description(options.fmu), read_spec(options.spec)
    folder = options.output or f"{Path(options.spec).stem}_results"
    done = failed = 0
    engines: list[str] = []
    with REPORTER.bar(description.modelName, spec.runs, "runs") as show:

        def advance(runs: int, failures: int) -> None:
            nonlocal done, failed
            done, failed = runs, failures
            show(runs)

        try:
            result = sweep(
                options.fmu,
                spec,
                folder,
                options.scheduler,
                options.workers,
                options.engine,
                options.restart,
                advance,
                timeout=options.timeout,
                note=engines.append,
            )
        except KeyboardInterrupt:
            text = f"interrupted after {done} of {spec.runs} runs; the same command resumes the sweep"
            print_error(f"mechfmu sweep: {text}")
            return 130
    failures = f", {failed} of them failed" if failed else ""
    REPORTER.info(f"{description.modelName}: {spec.runs} runs in {folder}{failures}")
    for engine in engines:
        REPORTER.info(f"engine: {engine}")
    if failed:
        reasons = [r for r in result.table["reason"].to_pylist() if r]
        REPORTER.info(f"the first failure: {reasons[0]}")
    if options.plot:
        result.plot(options.plot)
        REPORTER.info(f"wrote {options.plot}")
    return 0
