"""`mechfmu simulate`: run an FMU."""

from __future__ import annotations

import argparse
from typing import Any

from ..arguments import add_realtime, add_repeatable, add_result_files, read_pairs, seconds
from ..result_files import check_result_files, report_flags, selected_signals, write_result_files
from ..terminal import REPORTER, count
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "simulate",
        help="run an FMU",
        description="Run any FMU through FMPy.",
        epilog="example: mechfmu simulate out/LinkChain.fmu --stop 5 "
        '--set "joint[1].angle_start=0.5" -o result.csv --plot result.png',
    )
    c.add_argument("fmu", metavar="FMU", help="the FMU file")
    c.add_argument("--stop", type=seconds, metavar="T", help="stop time in s (default: the FMU's own)")
    c.add_argument("--step", type=seconds, metavar="H", help="communication step in s (default: the FMU's own)")
    c.add_argument("--tolerance", type=float, metavar="TOL", help="relative tolerance (default: the FMU's own)")
    add_repeatable(c, "--set", "NAME=VALUE", "value of a parameter or input")
    c.add_argument("--input", metavar="CSV", help="inputs over time: a column time and a column for each input")
    add_realtime(c)
    add_result_files(c, "NAME", "mechanism")
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ...simulation.description import read_description
    from ...simulation.simulate import StoppedEarly, simulate_fmu
    from ...simulation.time_grid import pace, times

    check_result_files(options)
    description = read_description(options.fmu)
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    signals = selected_signals(options, outputs)
    stop = _stop_time(options, description)
    if options.step is not None:
        times(0.0, stop, options.step)
    try:
        with REPORTER.bar(description.modelName, stop, "s") as advance:
            progress = advance if options.realtime is None else pace(options.realtime, advance)
            values = read_pairs(options.set, "--set")
            result = simulate_fmu(
                options.fmu, options.stop, options.step, values, options.input, options.tolerance, progress
            )
    except StoppedEarly as error:
        if error.result is not None:
            REPORTER.info(f"{error.result.title}: stopped at t = {error.result.t[-1]:g} s")
            write_result_files(error.result, options, signals)
        raise
    REPORTER.info(f"{result.title}: {count(len(result.t) - 1, 'step')} to t = {result.t[-1]:g} s")
    report_flags({v.name: v.description for v in description.modelVariables}, result)
    write_result_files(result, options, signals)


def _stop_time(options: argparse.Namespace, description: Any) -> float:
    if options.stop is not None:
        return float(options.stop)
    experiment = description.defaultExperiment
    return float(experiment.stopTime) if experiment and experiment.stopTime else 1.0
