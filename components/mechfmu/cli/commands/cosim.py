"""`mechfmu cosim`: run a system of connected FMUs (SSP), or write one."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...console import TextTable
from ...model import UserError, did_you_mean
from ..arguments import (
    add_realtime,
    add_repeatable,
    add_result_files,
    complete_choices,
    complete_with,
    read_pairs,
    seconds,
)
from ..result_files import check_result_files, check_writable, report_flags, selected_signals, write_result_files
from ..terminal import OUT, REPORTER, count, print_error
from . import Commands

if TYPE_CHECKING:
    from ...cosim.system import System

EPILOG = """example: mechfmu cosim loop.ssp -o loop.csv --plot loop.png; and to write the system:
mechfmu cosim new loop.ssp --fmu plant=LinkChain.fmu --fmu control=PidController.fmu
--connect "plant.joint[1].angle=control.measurement[1]" --connect "control.output[1]=plant.joint[1].torque"
"""


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "cosim",
        help="run FMUs wired together",
        description="Run a system of FMUs (SSP), or write one: mechfmu cosim new FILE.ssp ...",
        epilog=EPILOG,
    )
    c.add_argument("system", nargs="+", metavar="SYSTEM", help="an .ssp file to run; or new and an .ssp file to write")
    c.add_argument("--stop", type=seconds, metavar="T", help="stop time in s (default: the system's own)")
    help = "communication step in s, divided where needed (default: the system's own)"
    c.add_argument("--step", type=seconds, metavar="H", help=help)
    add_repeatable(c, "--set", "FMU.NAME=VALUE", "value of a parameter or unconnected input")
    help = "unconnected inputs over time: a column time and a column FMU.NAME for each of them"
    c.add_argument("--input", metavar="CSV", help=help)
    help = (
        "divide steps to keep this relative error of the connected signals "
        "(default: 1e-4, where all FMUs can save their state)"
    )
    c.add_argument("--adaptive", type=float, metavar="TOL", help=help)
    c.add_argument("--fixed", action="store_true", help="do not divide steps")
    help = "run every FMU in a separate process, or none (default: those of other tools)"
    c.add_argument("--isolated", action=argparse.BooleanOptionalAction, help=help)
    add_realtime(c)
    master = c.add_argument("--master", default="fmpy", metavar="M", help="fmpy (the default) or libcosim")
    complete_choices(master, "fmpy", "libcosim")
    add_result_files(c, "FMU.NAME", "mechanisms")
    new = c.add_argument_group("with new")
    add_repeatable(new, "--fmu", "NAME=FILE", "an FMU and its name in the system")
    add_repeatable(new, "--connect", "A.OUT=B.IN", "connect an output to an input")
    help = "connect all outputs and inputs of two FMUs that have equal names"
    new.add_argument("--join", action="append", default=[], metavar="A,B", help=help)
    help = "build the FMUs of a ready system and connect them; ? lists the ready systems"
    complete_with(new.add_argument("--ready", metavar="NAME", help=help), lambda *_: _ready_systems())
    c.set_defaults(run=run)


def _ready_systems() -> list[str]:
    from ...cosim.builtin import BUILTIN

    return list(BUILTIN)


def run(options: argparse.Namespace) -> None:
    if options.system[0] == "new":
        _write_system(options)
    else:
        _run_system(options)


def _run_system(options: argparse.Namespace) -> None:
    from ...cosim.system import System
    from ...simulation.time_grid import pace

    _check_arguments(options)
    check_result_files(options)
    system = System.load(options.system[0])
    signals = selected_signals(options, _names(system, "output"))
    inputs = _inputs(options.input, system) if options.input else None
    with REPORTER.bar(system.name, options.stop or system.stop_time, "s") as advance:
        result = system.simulate(
            stop=options.stop,
            step=options.step,
            set=read_pairs(options.set, "--set"),
            inputs=inputs,
            adaptive=False if options.fixed else options.adaptive,
            isolated=options.isolated,
            master=options.master,
            progress=advance if options.realtime is None else pace(options.realtime, advance),
            warn=lambda text: print_error(f"mechfmu cosim: warning: {text}"),
        )
    steps = count(len(result.t) - 1, "step")
    REPORTER.info(f"{system.name}: {_size(system)}, {steps} to t = {result.t[-1]:g} s")
    descriptions = {
        f"{fmu}.{name}": v.description for fmu, variables in system.variables.items() for name, v in variables.items()
    }
    report_flags(descriptions, result)
    write_result_files(result, options, signals)


def _check_arguments(options: argparse.Namespace) -> None:
    if len(options.system) > 1:
        raise UserError(f"one system at a time, not {' and '.join(options.system)}")
    for flag in ("fmu", "connect", "join", "ready"):
        if getattr(options, flag):
            raise UserError(f"--{flag} is for writing a system: mechfmu cosim new {options.system[0]} --{flag} ...")
    if options.fixed and options.adaptive is not None:
        raise UserError("--fixed and --adaptive exclude each other")


def _names(system: System, causality: str) -> list[str]:
    """Return FMU.NAME of all variables of this causality."""
    found = ((fmu, v) for fmu, variables in system.variables.items() for v in variables.values())
    return [f"{fmu}.{v.name}" for fmu, v in found if v.causality == causality]


def _inputs(file: str, system: System) -> dict[str, tuple[Any, Any]]:
    """Read the table of inputs: FMU.NAME -> (times, values)."""
    from ...simulation.inputs import read_input_table

    table, known = read_input_table(file), _names(system, "input")
    for name in table:
        if name != "time" and name not in known:
            raise UserError(f"{file}: {name} is not an input{did_you_mean(name, known)}")
    return {name: (table["time"], values) for name, values in table.items() if name != "time"}


def _size(system: System) -> str:
    return f"{count(len(system.fmus), 'FMU')}, {count(len(system.connections), 'connection')}"


def _write_system(options: argparse.Namespace) -> None:
    if options.ready == "?":
        _print_ready_systems()
        return
    if len(options.system) != 2:
        raise UserError("give the one file to write: mechfmu cosim new FILE.ssp ...")
    target = options.system[1]
    if not target.endswith(".ssp"):
        raise UserError(f"cannot write {target}: the name of a system's file must end in .ssp")
    check_writable(target)
    with TemporaryDirectory(prefix="mechfmu-") as folder:
        system = _make_system(options, Path(target).stem, Path(folder))
        system.save(target)
    REPORTER.info(f"wrote {target}: {_size(system)}")


def _make_system(options: argparse.Namespace, name: str, folder: Path) -> System:
    """Return the system that the arguments describe; the FMUs of a ready system are built into `folder`."""
    from ...cosim.builtin import build_builtin
    from ...cosim.system import System, joined

    if options.ready:
        with REPORTER.status("building") as update:
            base = build_builtin(options.ready, folder, update)
    else:
        base = System(name, read_pairs(options.fmu, "--fmu"))
    connect: dict[str, list[str]] = {
        source: [end] if isinstance(end, str) else list(end) for source, end in base.connect.items()
    }
    for text in options.join:
        a, _, b = text.partition(",")
        for source, end in joined(base, a, b).items():
            connect.setdefault(source, []).append(end)
    for text in options.connect:
        source, end = next(iter(read_pairs([text], "--connect").items()))
        connect.setdefault(source, []).append(end)
    stop = base.stop if options.stop is None else options.stop
    step = base.step if options.step is None else options.step
    return System(base.name, base.fmus, connect, {**base.set, **read_pairs(options.set, "--set")}, stop, step)


def _print_ready_systems() -> None:
    from ...cosim.builtin import BUILTIN

    table = TextTable("ready system", "what it is")
    for name, system in BUILTIN.items():
        table.add_row(name, system.title)
    OUT.print_table(table)
