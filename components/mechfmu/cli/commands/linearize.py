"""`mechfmu linearize`: the state-space matrices and the modes of a mechanism at a point."""

from __future__ import annotations

import argparse
from typing import Any

from ...console import TextTable
from ...model import Mechanism, UserError
from ..arguments import add_repeatable, read_pairs
from ..mechanism_argument import (
    OPTIONS_OF_AN_FMU,
    FileOptions,
    add_file_options,
    add_mechanism,
    add_mechanism_options,
    load_mechanism,
)
from ..result_files import check_ending, check_writable
from ..terminal import OUT, REPORTER
from . import Commands

ROUNDING = 1e-12  # relative: smaller parts of an eigenvalue are shown as zero


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "linearize",
        help="A, B, C, D and the modes at a point",
        description="Linearize a mechanism at its start, or at the equilibrium near it.",
        epilog="example: mechfmu linearize link_chain --option links=3 "
        '--trim --set "joint[1].angle_start=-1.5" -o chain.mat',
    )
    add_mechanism(c, "NAME|FILE|FMU", "a mechanism, a robot file, or an FMU that mechfmu built")
    add_file_options(c)
    add_mechanism_options(c)
    add_repeatable(c, "--set", "NAME=VALUE", "value of a parameter or input")
    c.add_argument("--trim", action="store_true", help="at the equilibrium near the start")
    add_repeatable(c, "--free", "NAME", "with --trim: an input whose value is also determined")
    add_repeatable(c, "--hold", "NAME", "with --trim: a state that keeps its start value")
    c.add_argument("-o", "--output", metavar="FILE", help="write the matrices to this file (npz, mat, json)")
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ...analysis.linear import linearize, start_point, trim, values_at

    if (options.free or options.hold) and not options.trim:
        raise UserError(f"--{'free' if options.free else 'hold'} is for --trim")
    check_ending(options.output, (".npz", ".mat", ".json"), "write")
    check_writable(options.output)
    model, values = _model_and_values(options)
    point = trim(model, values, options.free, options.hold) if options.trim else start_point(model, values)
    linear = linearize(model, point=point)
    if options.trim:
        table = TextTable("at rest", "value")
        for name, value in values_at(model, point).items():
            table.add_row(name, f"{value:.6g}")
        OUT.print_table(table)
    OUT.print_table(_mode_table(linear))
    if options.output:
        linear.save(options.output)
        REPORTER.info(f"wrote {options.output}")


def _model_and_values(options: argparse.Namespace) -> tuple[Mechanism, dict[str, Any]]:
    """Return the mechanism and the values that were set; for an FMU, its start values apply where none was set."""
    from ...simulation.description import read_description
    from ...simulation.source_mechanism import mechanism_of

    values = read_pairs(options.set, "--set")
    if not options.name.endswith(".fmu"):
        file = FileOptions.of(options)
        return load_mechanism(options.name, read_pairs(options.option, "--option"), file), values
    if flag := "--option" if options.option else FileOptions.of(options).given:
        raise UserError(OPTIONS_OF_AN_FMU.replace("--option", flag))
    description = read_description(options.name)
    model = mechanism_of(options.name)
    if model is None:
        raise UserError(f"{options.name} was not built by mechfmu")
    known = {s.name for s in model.table.of("parameter", "input")}
    starts = {v.name: v.start for v in description.modelVariables if v.name in known and v.start is not None}
    return model, starts | values


def _mode_table(linear: Any) -> TextTable:
    table = TextTable("mode", "eigenvalue [1/s]", "frequency [Hz]", "damping ratio", "states")
    for number, (root, frequency, damping, states, constraint) in enumerate(linear.modes(), 1):
        real = _without_rounding(root.real, abs(root))
        eigenvalue = f"{real:.6g}" + (f" ± {root.imag:.6g}i" if root.imag else "")
        ratio = f"{_without_rounding(damping, 1.0):.4g}"
        listed = ", ".join(states) + (" (constraint)" if constraint else "")
        table.add_row(str(number), eigenvalue, f"{frequency:.6g}", ratio, listed)
    return table


def _without_rounding(value: float, size: float) -> float:
    """Return 0 for a value that is zero but for rounding, relative to `size`."""
    return 0.0 if abs(value) < ROUNDING * size else value
