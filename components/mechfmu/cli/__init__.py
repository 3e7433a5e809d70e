"""The command `mechfmu`."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NoReturn

import argcomplete
from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.tree import Tree as RichTree

from .. import __version__, mechanisms
from ..mechanisms.tree.base import TreeMechanism
from ..model import Mechanism, UserError, did_you_mean
from ..model.units import in_unit, unit
from .progress import Talk

ANY_WIDTH = 10_000  # columns: wider than any name
LONG = 2000  # rows of a table that are printed without borders
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # what a full or read-only disk answers
DUST = 1e-12  # what rounding leaves of a zero, relative
PICTURES = (".png", ".svg", ".pdf", ".html")

OUT = Console()
TALK = Talk()


class Parser(argparse.ArgumentParser):
    """argparse, but bad input gives one line instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def of(self, command: str | None) -> Parser:
        """The parser of a command."""
        found = [a.choices[command] for a in self._actions if isinstance(a.choices, dict) and command in a.choices]
        return found[0] if found else self

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        self.error(
            f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(unknown[0].partition('=')[0], self._option_string_actions)}"
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.dest == "command" and value not in (action.choices or ()):
            self.error(f"there is no command {value}{did_you_mean(value, action.choices)}")
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action,
                f"there is no {value}{did_you_mean(value, action.choices)} (choose from {', '.join(map(str, action.choices))})",
            )


class Command(Parser):
    """A subcommand, with the flags that all of them have."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.add_argument("-q", "--quiet", action="store_true", help="say nothing but results and errors")
        self.add_argument("-v", "--verbose", action="store_true", help="say every step and how long it took")
        self.add_argument("--traceback", action="store_true", help="show where in the program an error came up")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 findings (check), 2 bad input."""
    parser = make_parser()
    argcomplete.autocomplete(parser)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.of(options.command).refuse(unknown)
    if not hasattr(options, "run"):
        parser.print_help()
        return 0

    TALK.quiet, TALK.verbose = options.quiet, options.verbose

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        print(f"mechfmu {options.command}: warning: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", RuntimeWarning)
            warnings.showwarning = show
            status: int | None = options.run(options)
    except UserError as error:
        if options.traceback:
            traceback.print_exception(error)
        print(f"mechfmu {options.command}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in DISK and "temporary directory" not in str(error):  # of tempfile, when no disk has room
            raise
        where = f" {error.filename}" if error.filename else ""
        print(f"mechfmu {options.command}: cannot write{where}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"mechfmu {options.command}: interrupted", file=sys.stderr)
        return 130
    return status or 0


def make_parser() -> Parser:
    parser = Parser(
        prog="mechfmu",
        description="Mechanism models as FMI units.",
        epilog="example: mechfmu build link_chain --option links=3 -o out",
    )
    parser.add_argument("--version", action="version", version=f"mechfmu {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Command)

    c = commands.add_parser(
        "list",
        help="the mechanisms, with their options",
        description="List the mechanisms, or what one of them has.",
        epilog="example: mechfmu list link_chain --option links=3",
    )
    complete(
        c.add_argument(
            "name",
            nargs="?",
            metavar="NAME|FILE",
            help="show one mechanism, the tree in a .urdf or .toml file, or any FMU, with its variables",
        )
    )
    offer(
        c.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="K=V",
            help="an option of the mechanism, e.g. links=3; may be repeated",
        ),
        _options,
    )
    c.set_defaults(run=run_list)

    c = commands.add_parser(
        "build",
        help="write FMUs",
        description="Write the FMU of a mechanism.",
        epilog='example: mechfmu build link_chain -o out --option links=3 --start "joint[1].angle_start=0.5"',
    )
    complete(
        c.add_argument(
            "name",
            metavar="NAME|FILE",
            help="a mechanism (see mechfmu list), a .urdf or .toml file, the folder of a mechanism, or all",
        )
    )
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="folder for the FMUs (default: this folder)")
    kind = c.add_argument(
        "--kind",
        default="native",
        metavar="KIND",
        help="native (needs no Python, the default), python (readable, needs Python), both",
    )
    offer(kind, lambda _, __: ["native", "python", "both"])
    platform = c.add_argument(
        "--platform",
        action="append",
        metavar="P",
        help="linux64, win64, darwin64, all (default: this one; Python FMUs: all); may be repeated",
    )
    offer(platform, lambda _, __: ["linux64", "win64", "darwin64", "all"])
    offer(
        c.add_argument(
            "--compiler", metavar="CC", help="zig (the default where it is installed) or cc, the system's compiler"
        ),
        lambda _, __: ["zig", "cc"],
    )
    base = c.add_argument(
        "--base",
        metavar="BASE",
        help="of a file's tree: fixed (the default), moving by acceleration inputs, or free (URDF: its root link floats)",
    )
    offer(base, lambda _, __: ["fixed", "moving", "free"])
    c.add_argument(
        "--controller",
        action="store_true",
        help="of a file's tree: write its computed-torque controller instead of the tree itself",
    )
    offer(
        c.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="K=V",
            help="an option of the mechanism, e.g. links=3; may be repeated",
        ),
        _options,
    )
    c.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="start value of a parameter or input; may be repeated",
    )
    c.set_defaults(run=run_build)

    c = commands.add_parser(
        "check",
        help="check the compliance of FMUs",
        description="Check any FMI 2.0 FMU against the rules of the standard: its file and its running binary.",
        epilog="exit status: 0 clean, 1 findings, 2 could not run. example: mechfmu check out/LinkChain.fmu --html report.html --junit report.xml",
    )
    c.add_argument("fmu", nargs="*", metavar="FMU", help="the FMU files")
    c.add_argument("--rules", action="store_true", help="list the rules and leave")
    offer(
        c.add_argument(
            "--only",
            action="append",
            default=[],
            metavar="ID,...",
            help="only these rules (S: all static, D: all dynamic ones); may be repeated",
        ),
        _rules,
    )
    offer(
        c.add_argument(
            "--skip", action="append", default=[], metavar="ID,...", help="not these rules; may be repeated"
        ),
        _rules,
    )
    c.add_argument(
        "--level",
        default="warning",
        choices=("error", "warning", "note"),
        help="the least severe findings that count (default: warning)",
    )
    c.add_argument("--strict", action="store_true", help="an FMU whose binary cannot be run here is not clean")
    c.add_argument("--json", metavar="FILE", help="write everything that was found into this file")
    c.add_argument("--junit", metavar="FILE", help="write a JUnit report for CI into this file")
    c.add_argument(
        "--html", metavar="FILE", help="write one self-contained page, with plots of failing signals, into this file"
    )
    c.add_argument(
        "--timeout", type=float, default=60.0, metavar="S", help="time limit of each rule in s (default: 60)"
    )
    c.add_argument("--random", type=int, default=0, metavar="N", help="let rule D3 make N random calls, too")
    c.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random calls (default: 0)")
    c.add_argument(
        "--jobs",
        type=int,
        default=0,
        metavar="N",
        help="rules that run at the same time (default: as many as there are processors)",
    )
    c.set_defaults(run=run_check)

    c = commands.add_parser(
        "portable",
        help="make any pythonfmu FMU run in every host",
        description="Give an FMU made with pythonfmu (0.6 or 0.7), or a slave's file, a library that runs it in a Python process of its own, in any host.",
        epilog="example: mechfmu portable Pendulum.fmu -o out; from a slave: mechfmu portable pendulum.py helper.py data.csv -o out",
    )
    c.add_argument("source", metavar="FMU|SLAVE.py", help="an FMU made with pythonfmu, or the file of a slave")
    c.add_argument(
        "files", nargs="*", metavar="FILE", help="with a slave's file: what else it needs, modules, folders and data"
    )
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="folder for the FMU (default: this folder)")
    c.add_argument(
        "--call-timeout",
        type=float,
        metavar="S",
        help="give up a call of the host that takes longer than S seconds (default: never)",
    )
    c.set_defaults(run=run_portable)

    c = commands.add_parser(
        "simulate",
        help="run an FMU",
        description="Run any FMU through FMPy.",
        epilog='example: mechfmu simulate out/LinkChain.fmu --stop 5 --set "joint[1].angle_start=0.5" -o result.csv --plot result.png',
    )
    c.add_argument("fmu", metavar="FMU", help="the FMU file")
    c.add_argument("--stop", type=seconds, metavar="T", help="stop time in s (default: the FMU's own)")
    c.add_argument("--step", type=seconds, metavar="H", help="communication step in s (default: the FMU's own)")
    c.add_argument("--tolerance", type=float, metavar="TOL", help="relative tolerance (default: the FMU's own)")
    c.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a parameter or input; may be repeated",
    )
    c.add_argument("--input", metavar="CSV", help="inputs over time: a column time and a column for each input")
    c.add_argument("-o", "--output", metavar="FILE", help="write all outputs to this file (csv, parquet, mat)")
    c.add_argument(
        "--plot", metavar="FILE", help="draw the outputs into this file (html: a page to zoom into; png, svg, pdf)"
    )
    c.add_argument(
        "--signals", metavar="NAME,...", help="draw only these outputs, in the plot and beside the animation"
    )
    c.add_argument(
        "--realtime",
        type=float,
        nargs="?",
        const=1.0,
        metavar="FACTOR",
        help="not faster than real time, or than FACTOR times real time",
    )
    c.add_argument(
        "--animate",
        metavar="FILE",
        help="draw the moving mechanism into this file (html: a page with a player; gif, mp4)",
    )
    c.set_defaults(run=run_simulate)
    c = commands.add_parser(
        "cosim",
        help="run FMUs wired together",
        description="Run a system of FMUs (SSP), or write one: mechfmu cosim new FILE.ssp ...",
        epilog="example: mechfmu cosim loop.ssp -o loop.csv --plot loop.png; "
        "and to write the system: mechfmu cosim new loop.ssp --fmu plant=LinkChain.fmu --fmu control=PidController.fmu "
        '--connect "plant.joint[1].angle=control.measurement[1]" --connect "control.output[1]=plant.joint[1].torque"',
    )
    c.add_argument("system", nargs="+", metavar="SYSTEM", help="an .ssp file to run; or new and an .ssp file to write")
    c.add_argument("--stop", type=seconds, metavar="T", help="stop time in s (default: the system's own)")
    c.add_argument(
        "--step",
        type=seconds,
        metavar="H",
        help="communication step in s, which is divided where that is needed (default: the system's own)",
    )
    c.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FMU.NAME=VALUE",
        help="value of a parameter or unconnected input; may be repeated",
    )
    c.add_argument(
        "--input",
        metavar="CSV",
        help="unconnected inputs over time: a column time and a column FMU.NAME for each of them",
    )
    c.add_argument(
        "--adaptive",
        type=float,
        metavar="TOL",
        help="divide steps to keep this relative error of the connected signals (default: 1e-4, where all "
        "FMUs can save their state)",
    )
    c.add_argument("--fixed", action="store_true", help="do not divide steps")
    c.add_argument(
        "--isolated",
        action=argparse.BooleanOptionalAction,
        help="run every FMU in a process of its own, or none (default: those of other tools)",
    )
    c.add_argument(
        "--realtime",
        type=float,
        nargs="?",
        const=1.0,
        metavar="FACTOR",
        help="not faster than real time, or than FACTOR times real time",
    )
    offer(
        c.add_argument("--master", default="fmpy", metavar="M", help="fmpy (the default) or libcosim"),
        lambda _, __: ["fmpy", "libcosim"],
    )
    c.add_argument("-o", "--output", metavar="FILE", help="write all outputs to this file (csv, parquet, mat)")
    c.add_argument(
        "--plot", metavar="FILE", help="draw the outputs into this file (html: a page to zoom into; png, svg, pdf)"
    )
    c.add_argument(
        "--signals", metavar="FMU.NAME,...", help="draw only these outputs, in the plot and beside the animation"
    )
    c.add_argument(
        "--animate",
        metavar="FILE",
        help="draw the moving mechanisms into this file (html: a page with a player; gif, mp4)",
    )
    new = c.add_argument_group("with new")
    new.add_argument(
        "--fmu",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="an FMU and its name in the system; may be repeated",
    )
    new.add_argument(
        "--connect", action="append", default=[], metavar="A.OUT=B.IN", help="an output feeds an input; may be repeated"
    )
    new.add_argument(
        "--join",
        action="append",
        default=[],
        metavar="A,B",
        help="connect all outputs and inputs of two FMUs that have equal names",
    )
    offer(
        new.add_argument(
            "--ready", metavar="NAME", help="build the FMUs of a ready system and wire them; ? lists the ready systems"
        ),
        _ready,
    )
    c.set_defaults(run=run_cosim)

    c = commands.add_parser(
        "sweep",
        help="run an FMU many times",
        description="Run an FMU many times with different values, on all processors or on a Dask cluster.",
        epilog="example: mechfmu sweep out/LinkChain.fmu swing.toml -o swing_results --plot swing.png",
    )
    c.add_argument("fmu", metavar="FMU", help="the FMU file")
    c.add_argument("spec", metavar="SPEC", help="the description of the sweep, a .toml file (see docs/sweeps.md)")
    c.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="folder for the results, which grow there as Parquet files (default: the name of SPEC with _results)",
    )
    c.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a running Dask scheduler, e.g. tcp://10.0.0.5:8786 (default: processes of this machine)",
    )
    c.add_argument("--workers", type=int, metavar="N", help="processes of this machine (default: one per processor)")
    c.add_argument(
        "--engine",
        default="fmu",
        metavar="E",
        help="fmu (the default), or c: the equations of one of our FMUs, compiled by the workers",
    )
    c.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        help="limit for one run in seconds of real time; a run that takes longer is recorded as failed",
    )
    c.add_argument("--restart", action="store_true", help="begin anew instead of going on with what the folder holds")
    c.add_argument(
        "--plot", metavar="FILE", help="draw all results over all varied values into this file (png, svg, pdf)"
    )
    c.set_defaults(run=run_sweep)

    c = commands.add_parser(
        "linearize",
        help="A, B, C, D and the modes at a point",
        description="Linearize a mechanism where it starts, or at the equilibrium near there.",
        epilog='example: mechfmu linearize link_chain --option links=3 --trim --set "joint[1].angle_start=-1.5" -o chain.mat',
    )
    complete(
        c.add_argument(
            "name", metavar="NAME|FILE|FMU", help="a mechanism, a .urdf or .toml file, or an FMU that mechfmu built"
        )
    )
    offer(
        c.add_argument(
            "--option", action="append", default=[], metavar="K=V", help="an option of the mechanism; may be repeated"
        ),
        _options,
    )
    c.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of a parameter or input; may be repeated",
    )
    c.add_argument("--trim", action="store_true", help="at the equilibrium near the start")
    c.add_argument(
        "--free",
        action="append",
        default=[],
        metavar="NAME",
        help="with --trim: an input whose value is sought, too; may be repeated",
    )
    c.add_argument(
        "--hold",
        action="append",
        default=[],
        metavar="NAME",
        help="with --trim: a state that keeps its start value; may be repeated",
    )
    c.add_argument("-o", "--output", metavar="FILE", help="write the matrices to this file (npz, mat, json)")
    c.set_defaults(run=run_linearize)

    c = commands.add_parser(
        "new",
        help="begin a mechanism of your own",
        description="Write a folder with a working mechanism to change, and its tests.",
        epilog="example: mechfmu new double_pendulum",
    )
    c.add_argument(
        "name", metavar="NAME", help="small letters, digits and underscores: the folder, and the key of the mechanism"
    )
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write it (default: this folder)")
    c.set_defaults(run=run_new)

    return parser


def seconds(text: str) -> float:
    """A time on the command line: 0.5, 500ms, 2min."""
    try:
        return in_unit(text, unit("s"))
    except UserError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text}: must be a number of seconds, or one with a unit such as 5ms"
        ) from None


def complete(argument: argparse.Action) -> None:
    """Let the shell complete the names of mechanisms, beside those of files."""
    argument.completer = lambda prefix, **_: [*mechanisms.names(), *argcomplete.FilesCompleter()(prefix)]  # type: ignore[attr-defined]


def offer(argument: argparse.Action, words: Callable[[str, argparse.Namespace], Iterable[str]]) -> None:
    """Let the shell complete a value: `words` are those that fit what was typed of it and the rest of the line."""
    argument.completer = lambda prefix, parsed_args, **_: list(words(prefix, parsed_args))  # type: ignore[attr-defined]


def _options(prefix: str, line: argparse.Namespace) -> list[str]:
    """The options of the mechanism that the line names, each with its choices."""
    if os.path.isdir(line.name or ""):  # noqa: PTH112
        mechanisms.add_folder(line.name)
    key = os.path.basename(line.name or "")  # noqa: PTH119
    if "." in key:
        key = "computed_torque" if getattr(line, "controller", False) else "tree"
    hidden = ("model", "base") if "." in (line.name or "") else ()  # a file says the one, --base the other
    return [
        f"{o.name}={choice}"
        for o in mechanisms.find(key).option_list
        if o.name not in hidden
        for choice in o.choices or ("",)
    ]


def _rules(prefix: str, line: argparse.Namespace) -> list[str]:
    from ..check.checker import RULES

    return [f"{prefix[: prefix.rfind(',') + 1]}{id}" for id in ("S", "D", *(r.id for r in RULES))]


def _ready(prefix: str, line: argparse.Namespace) -> list[str]:
    from ..cosim.builtin import BUILTIN

    return list(BUILTIN)


def run_list(options: argparse.Namespace) -> None:
    given = pairs(options.option, "--option")
    if not options.name:
        if given:
            raise UserError("--option is for one mechanism: mechfmu list NAME --option ...")
        _list_all()
    elif options.name.lower().endswith(".fmu"):
        if given:
            raise UserError("the options of an FMU were chosen when it was built: leave --option away")
        _list_fmu(options.name)
    else:
        _list_one(_model(options.name, given))


def _list_all() -> None:
    """All mechanisms, each with its options: narrow enough for any terminal."""
    for key in mechanisms.names():
        mechanism = mechanisms.find(key)
        OUT.print(f"[bold]{key}[/]  {_plain(mechanism.title)}", highlight=False)
        lines = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 2))
        for o in mechanism.option_list:
            default = f" (default: {o.default})" if o.choices else ""
            lines.add_row(
                _plain(f"{o.name}={'|'.join(o.choices) or _brief(o.default)}"), _plain(f"{o.description}{default}")
            )
        OUT.print(Padding(lines, (0, 0, 0, 4)))
    OUT.print("mechfmu list NAME shows a mechanism's variables", highlight=False)


def _list_fmu(file: str) -> None:
    """Any FMU: what it is, and what a user sees of it."""
    from ..simulation.simulate import read_description, unit_name

    description = read_description(file)
    kinds = {"Co-Simulation": description.coSimulation, "Model Exchange": description.modelExchange}
    OUT.print(f"[bold]{_plain(description.modelName)}[/]  {_plain(description.description or '')}", highlight=False)
    OUT.print(
        f"FMI {description.fmiVersion}, {' and '.join(name for name, kind in kinds.items() if kind is not None)}",
        highlight=False,
    )
    seen = [v for v in description.modelVariables if v.causality not in ("local", "independent")]
    reals = ("Real", "Float64", "Float32")
    _print_variables(
        [
            (v.name, v.causality, unit_name(v) if v.type in reals else v.type, str(v.start or ""), v.description or "")
            for v in seen
        ]
    )
    local = sum(v.causality == "local" for v in description.modelVariables)
    if local:
        OUT.print(f"and {_counted(local, 'local variable')}", highlight=False)


def _list_one(mechanism: Mechanism) -> None:
    """One mechanism: its options, its tree, when it is one, and its variables."""
    OUT.print(f"[bold]{mechanism.key}[/]  {_plain(mechanism.title)}", highlight=False)
    if mechanism.option_list:
        table = _table("option", "value", "choices", "meaning")
        for o in mechanism.option_list:
            value = _brief(mechanism.options[o.name])
            default = "" if mechanism.options[o.name] == o.default else f" (default: {_brief(o.default)})"
            table.add_row(*map(_plain, (o.name, value, ", ".join(o.choices), f"{o.description}{default}")))
        OUT.print(table)
    if isinstance(mechanism, TreeMechanism):
        _print_tree(mechanism)
    rows = []
    for scalar in mechanism.table.of("parameter", "input", "state", "discrete", "output"):
        role = {"state": "output (state)", "discrete": "output"}.get(scalar.role, scalar.role)
        start = f"{scalar.start:g}" if scalar.role in ("parameter", "input") else ""
        rows.append((scalar.name, role, "" if scalar.unit == "1" else scalar.unit, start, scalar.description))
    _print_variables(rows)


def _print_tree(mechanism: TreeMechanism) -> None:
    branches, depth = {"": RichTree(f"{mechanism.name}: base")}, {"": 0}
    plain = []
    for joint, body in zip(mechanism.tree.joints, mechanism.tree.bodies, strict=True):
        text = f"{joint.name} ({joint.kind}) - {body.name}, {body.mass:g} kg"
        branches[body.name] = branches[joint.parent].add(_plain(text))
        depth[body.name] = depth[joint.parent] + 1
        plain.append((f"{joint.parent or 'base'} -", text))
    if len(plain) > LONG or 4 * max(depth.values()) > OUT.width // 2:  # too deep for branches
        _print_columns([(f"{mechanism.name}:",), *plain])
    else:
        OUT.print(branches[""])


def _print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Rows as plain columns: a table with borders takes minutes for a hundred thousand of them."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    OUT.file.write(
        "".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() + "\n"
            for row in rows
        )
    )


def _print_variables(rows: Sequence[tuple[str, ...]]) -> None:
    from .variable_list import Variable, variable_lines

    if len(rows) > LONG:
        _print_columns([("variable", "causality", "unit", "start", "meaning"), *rows])
        return
    for line in variable_lines([Variable(*row) for row in rows], OUT.width if OUT.is_terminal else None):
        OUT.print(line, soft_wrap=True, highlight=False, markup=False)


def _table(*headings: str) -> Table:
    """A table that breaks words in a narrow terminal instead of cutting them off."""
    return Table(*(Column(heading, overflow="fold") for heading in headings))


def _print_table(table: Table) -> None:
    """In a terminal as wide as that is, in a pipe as wide as it must be."""
    (OUT if OUT.is_terminal else Console(width=ANY_WIDTH)).print(table)


def _plain(text: str) -> str:
    """Text as it is, in which brackets mean nothing."""
    return text.replace("[", "\\[")


def _brief(value: Any) -> str:
    """The value of an option; a tree as JSON is none to look at."""
    return str(value) if len(str(value)) <= 40 else "..."


def _counted(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _model(name: str, given: dict[str, Any], base: str | None = None, controller: bool = False) -> Mechanism:
    """A mechanism by its name, or that of a file (no mechanism has a dot in its name)."""
    if os.path.isdir(name) and not (base or controller):  # noqa: PTH112
        return mechanisms.make(mechanisms.add_folder(name), **given)
    if "." not in name:
        if base or controller:
            raise UserError(
                f"--{'base' if base else 'controller'} is for .urdf and .toml files; {name} is a mechanism with options of its own (mechfmu list {name})"
            )
        return mechanisms.make(name, **given)
    from ..mechanisms.computed_torque.model import ComputedTorque
    from ..mechanisms.tree.model import Tree

    if controller:
        if base == "moving":
            raise UserError("--base moving is for the tree: its controller computes with a base at rest")
        return ComputedTorque(model=Tree.from_file(name, base or "fixed").options["model"], **given)
    stops = given.pop("stops", "none")
    if given:
        raise UserError(f"a file's tree has no option {next(iter(given))}; it has: stops (and --base)")
    return Tree.from_file(name, base or "fixed", stops)


def run_build(options: argparse.Namespace) -> None:
    from ..fmu.build import build

    given = pairs(options.option, "--option")
    starts = pairs(options.start, "--start")
    names = mechanisms.names() if options.name == "all" else [options.name]
    models = [
        _model(name, given, options.base, options.controller) for name in names
    ]  # all refused before any is built
    for model in models:
        with TALK.working("building") as update:
            files = build(
                model,
                options.output,
                kind=options.kind,
                start=starts,
                platforms=options.platform,
                compiler=options.compiler,
                progress=update,
            )
        for file in files:
            _tell_size(file)


def run_portable(options: argparse.Namespace) -> None:
    from ..fmu.portable import make_portable

    with TALK.working("reading") as update:
        file = make_portable(options.source, options.output, options.files, options.call_timeout, update)
    _tell_size(file)


def _tell_size(file: Path) -> None:
    TALK.tell(f"wrote {file} ({file.stat().st_size / 1000:.0f} kB)")


def run_check(options: argparse.Namespace) -> int:
    from ..check.checker import RULES, CannotCheck, Options, check_fmu
    from ..check.isolation import Limits
    from ..check.report import as_html, as_json, as_junit, as_text

    if options.rules:
        as_text.print_rules(OUT)
        return 0
    if not options.fmu:
        raise UserError("which FMU? give one or more files, or --rules for the list of rules")
    chosen = {
        name: tuple(id.strip() for text in getattr(options, name) for id in text.split(","))
        for name in ("only", "skip")
    }
    ids = [r.id for r in RULES]
    for id in (*chosen["only"], *chosen["skip"]):
        if id.upper() not in (*ids, "S", "D"):
            raise UserError(f"there is no rule {id}{did_you_mean(id.upper(), ids)} (mechfmu check --rules lists them)")
    if options.timeout <= 0 or options.random < 0 or options.jobs < 0:
        raise UserError("--timeout must be greater than 0, --random and --jobs not negative")
    for file in options.fmu:
        if not Path(file).is_file():
            raise UserError(
                f"{file} is a folder, not an FMU file" if Path(file).is_dir() else f"there is no file {file}"
            )
    for file in (options.json, options.junit, options.html):
        _refuse_unwritable(file)
    limits = Limits(options.timeout, random=options.random, seed=options.seed)
    wanted = Options(chosen["only"], chosen["skip"], options.level, options.strict, limits, options.jobs)
    reports = []
    for file in options.fmu:
        with TALK.working(file) as update:
            try:
                reports.append(check_fmu(file, wanted, update))
            except CannotCheck as error:
                raise UserError(str(error)) from None
        as_text.print_report(reports[-1], OUT)
    contents = {
        options.json: lambda: as_json.to_json(reports, __version__).encode(),
        options.junit: lambda: as_junit.to_junit(reports),
        options.html: lambda: as_html.to_html(reports, __version__).encode(),
    }
    for file in filter(None, contents):
        from ..atomic_file import atomic_write

        with atomic_write(Path(file)) as target:
            target.write_bytes(contents[file]())
        OUT.print(f"wrote {file}", soft_wrap=True, highlight=False, markup=False)
    return max(r.exit_status for r in reports)


def run_simulate(options: argparse.Namespace) -> None:
    from ..simulation.simulate import pace, read_description, simulate_fmu, times

    _refuse_files(options)
    description = read_description(options.fmu)
    signals = _signals(options)
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    for name in signals or ():
        if name not in outputs:
            raise UserError(f"there is no output {name} to plot{did_you_mean(name, outputs)}")
    experiment = description.defaultExperiment
    stop = (
        options.stop
        if options.stop is not None
        else float(experiment.stopTime)
        if experiment and experiment.stopTime
        else 1.0
    )
    if options.step is not None:
        times(0.0, stop, options.step)
    with TALK.bar(description.modelName, stop, "s") as advance:
        paced = advance if options.realtime is None else pace(options.realtime, advance)
        result = simulate_fmu(
            options.fmu,
            options.stop,
            options.step,
            pairs(options.set, "--set"),
            options.input,
            options.tolerance,
            paced,
        )
    TALK.tell(f"{result.title}: {_counted(len(result.t) - 1, 'step')} to t = {result.t[-1]:g} s")
    _print_flags({v.name: v.description for v in description.modelVariables}, result)
    _write_files(result, options, signals)


def run_cosim(options: argparse.Namespace) -> None:
    if options.system[0] == "new":
        _new_system(options)
        return
    from ..cosim.system import System
    from ..simulation.simulate import pace, read_input_table

    if len(options.system) > 1:
        raise UserError(f"one system at a time, not {' and '.join(options.system)}")
    for flag in ("fmu", "connect", "join", "ready"):
        if getattr(options, flag):
            raise UserError(f"--{flag} is for writing a system: mechfmu cosim new {options.system[0]} --{flag} ...")
    if options.fixed and options.adaptive is not None:
        raise UserError("--fixed and --adaptive exclude each other")
    _refuse_files(options)
    system = System.load(options.system[0])
    signals = _signals(options)
    outputs = [
        f"{fmu}.{v.name}"
        for fmu, variables in system.variables.items()
        for v in variables.values()
        if v.causality == "output"
    ]
    for name in signals or ():
        if name not in outputs:
            raise UserError(f"there is no output {name} to plot{did_you_mean(name, outputs)}")
    inputs = None
    if options.input:
        at = read_input_table(options.input)
        free = [
            f"{fmu}.{v.name}"
            for fmu, variables in system.variables.items()
            for v in variables.values()
            if v.causality == "input"
        ]
        for name in at:
            if name != "time" and name not in free:
                raise UserError(f"{options.input}: {name} is not an input{did_you_mean(name, free)}")
        inputs = {name: (at["time"], values) for name, values in at.items() if name != "time"}
    with TALK.bar(system.name, options.stop or system.stop_time, "s") as advance:
        paced = advance if options.realtime is None else pace(options.realtime, advance)
        result = system.simulate(
            stop=options.stop,
            step=options.step,
            set=pairs(options.set, "--set"),
            inputs=inputs,
            adaptive=False if options.fixed else options.adaptive,
            isolated=options.isolated,
            master=options.master,
            progress=paced,
            warn=lambda text: print(f"mechfmu cosim: warning: {text}", file=sys.stderr),
        )
    parts = (
        _counted(len(system.fmus), "FMU"),
        _counted(len(system.connections), "connection"),
        _counted(len(result.t) - 1, "step"),
    )
    TALK.tell(f"{system.name}: {', '.join(parts)} to t = {result.t[-1]:g} s")
    about = {
        f"{fmu}.{name}": v.description for fmu, variables in system.variables.items() for name, v in variables.items()
    }
    _print_flags(about, result)
    _write_files(result, options, signals)


def _print_flags(descriptions: Mapping[str, str | None], result: Any) -> None:
    from ..simulation.flags import raised_flags

    for line in raised_flags(descriptions, result.t, result.signals):
        TALK.tell(line)


def _signals(options: argparse.Namespace) -> list[str] | None:
    """The signals that --signals names."""
    return [name for text in (options.signals or "").split(",") if (name := text.strip())] or None


def _refuse_files(options: argparse.Namespace) -> None:
    """UserError when a result could not be written, before it is computed."""
    from ..simulation.result import check_table_file

    if options.output:
        check_table_file(options.output)
    for file in (options.output, options.plot, options.animate):
        _refuse_unwritable(file)
    if options.plot and not options.plot.endswith(PICTURES):
        raise UserError(f"cannot draw into {options.plot}: the file must end in {' or '.join(PICTURES)}")
    if options.animate:
        from ..view.animate import check_film_file

        check_film_file(options.animate)


def _write_files(result: Any, options: argparse.Namespace, signals: Sequence[str] | None) -> None:
    if options.output:
        result.save(options.output)
    if options.plot:
        from ..view.plot import signals_without_plot

        result.plot(signals, options.plot)
        if missing := signals_without_plot(result, signals):
            names = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
            TALK.tell(f"{_counted(len(missing), 'signal')} not drawn: {names}; choose with --signals")
    if options.animate:
        with TALK.working(f"drawing {options.animate}"):
            result.animate(options.animate, signals=signals)
    _tell_written_or_show(result, options.output, options.plot, options.animate)


def _new_system(options: argparse.Namespace) -> None:
    from tempfile import TemporaryDirectory

    from ..cosim.builtin import BUILTIN, build_builtin
    from ..cosim.system import System, joined

    if options.ready == "?":
        table = Table("ready system", "what it is")
        for name, ready in BUILTIN.items():
            table.add_row(name, ready.title)
        OUT.print(table)
        return
    if len(options.system) != 2:
        raise UserError("give the one file to write: mechfmu cosim new FILE.ssp ...")
    target = options.system[1]
    if not target.endswith(".ssp"):
        raise UserError(f"cannot write {target}: the name of a system's file must end in .ssp")
    _refuse_unwritable(target)
    with TemporaryDirectory(prefix="mechfmu-") as folder:
        if options.ready:
            with TALK.working("building") as update:
                base = build_builtin(options.ready, Path(folder), update)
        else:
            base = System(Path(target).stem, pairs(options.fmu, "--fmu"))
        connect: dict[str, list[str]] = {
            source: [target] if isinstance(target, str) else list(target) for source, target in base.connect.items()
        }
        for text in options.join:
            a, _, b = text.partition(",")
            for source, end in joined(base, a, b).items():
                connect.setdefault(source, []).append(end)
        for text in options.connect:
            source, end = next(iter(pairs([text], "--connect").items()))
            connect.setdefault(source, []).append(end)
        stop = base.stop if options.stop is None else options.stop
        step = base.step if options.step is None else options.step
        system = System(base.name, base.fmus, connect, {**base.set, **pairs(options.set, "--set")}, stop, step)
        system.save(target)
    parts = (_counted(len(system.fmus), "FMU"), _counted(len(system.connections), "connection"))
    TALK.tell(f"wrote {target}: {', '.join(parts)}")


def run_sweep(options: argparse.Namespace) -> int:
    from ..simulation.simulate import read_description
    from ..sweep.specification import read_spec
    from ..sweep.sweep import sweep

    still = tuple(ending for ending in PICTURES if ending != ".html")
    if options.plot and not options.plot.endswith(still):
        raise UserError(f"cannot draw into {options.plot}: the file must end in {' or '.join(still)}")
    _refuse_unwritable(options.plot)
    description, spec = read_description(options.fmu), read_spec(options.spec)
    folder = options.output or f"{Path(options.spec).stem}_results"
    done = [0, 0]
    with TALK.bar(description.modelName, spec.runs, "runs") as show:

        def advance(runs: int, failed: int) -> None:
            done[:] = runs, failed
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
            )
        except KeyboardInterrupt:
            print(
                f"mechfmu sweep: interrupted after {done[0]} of {spec.runs} runs; the same command goes on from there",
                file=sys.stderr,
            )
            return 130
    TALK.tell(
        f"{description.modelName}: {spec.runs} runs in {folder}" + (f", {done[1]} of them failed" if done[1] else "")
    )
    if done[1]:
        reasons = [r for r in result.table["reason"].to_pylist() if r]
        TALK.tell(f"the first failure: {reasons[0]}")
    if options.plot:
        result.plot(options.plot)
        TALK.tell(f"wrote {options.plot}")
    return 0


def run_linearize(options: argparse.Namespace) -> None:
    from ..analysis.linear import linearize, start_point, trim, values_at
    from ..simulation.simulate import mechanism_of, read_description

    if (options.free or options.hold) and not options.trim:
        raise UserError(f"--{'free' if options.free else 'hold'} is for --trim")
    if options.output and not options.output.endswith((".npz", ".mat", ".json")):
        raise UserError(f"cannot write {options.output}: the file must end in .npz or .mat or .json")
    _refuse_unwritable(options.output)
    values = pairs(options.set, "--set")
    if options.name.endswith(".fmu"):
        if options.option:
            raise UserError("the options of an FMU were chosen when it was built: leave --option away")
        description = read_description(options.name)
        found = mechanism_of(options.name)
        if found is None:
            raise UserError(f"{options.name} was not built by mechfmu")
        model: Mechanism = found
        known = {s.name for s in model.table.of("parameter", "input")}
        values = {
            v.name: v.start for v in description.modelVariables if v.name in known and v.start is not None
        } | values
    else:
        model = _model(options.name, pairs(options.option, "--option"))
    point = trim(model, values, options.free, options.hold) if options.trim else start_point(model, values)
    linear = linearize(model, point=point)
    if options.trim:
        table = Table("at rest", "value")
        for name, value in values_at(model, point).items():
            table.add_row(name.replace("[", "\\["), f"{value:.6g}")
        _print_table(table)
    table = Table("mode", "eigenvalue [1/s]", "frequency [Hz]", "damping ratio", Column("states", overflow="fold"))
    for number, (root, frequency, damping, states, constraint) in enumerate(linear.modes(), 1):
        real, damping = (
            0.0 if abs(value) < DUST * size else value for value, size in ((root.real, abs(root)), (damping, 1.0))
        )
        part = _plain(", ".join(states)) + (" (constraint)" if constraint else "")
        table.add_row(
            str(number),
            f"{real:.6g}" + (f" ± {root.imag:.6g}i" if root.imag else ""),
            f"{frequency:.6g}",
            f"{damping:.4g}",
            part,
        )
    OUT.print(table)
    if options.output:
        linear.save(options.output)
        TALK.tell(f"wrote {options.output}")


def run_new(options: argparse.Namespace) -> None:
    from .new_mechanism import write_skeleton

    for file in write_skeleton(options.name, Path(options.output)):
        TALK.tell(f"wrote {file}")
    folder = Path(options.output) / options.name
    test = folder.parent / f"test_{options.name}.py"
    TALK.tell(f"next: python -m pytest {test} (pip install pytest); mechfmu build {folder}")


def _tell_written_or_show(result: Any, *files: str | None) -> None:
    """The files that were written, or the values at the end when there are none."""
    for file in filter(None, files):
        TALK.tell(f"wrote {file}")
    if not any(files):
        table = Table("output", "unit", "at the end")
        for name in result.names:
            how = result.shown[name]
            table.add_row(name.replace("[", "\\["), how.unit, f"{how.factor * result[name][-1] + how.offset:.6g}")
        _print_table(table)
        other = {how.unit: how.own for how in result.shown.values() if how.own}
        if other:
            OUT.print(
                f"shown in {', '.join(other)}; --set and files use {', '.join(other.values())}",
                highlight=False,
                soft_wrap=True,
            )


def pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """["a=1", "b=2"] as a dictionary."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UserError(f"{option} {text}: must look like name=value")
        found[name.strip()] = value.strip()
    return found


def _refuse_unwritable(file: str | None) -> None:
    """Before a long run, not after it."""
    if file:
        from ..fmu.archive import make_folder

        make_folder(Path(file).parent)
        if Path(file).is_dir():
            raise UserError(f"cannot write {file}: it is a folder")


def entry() -> NoReturn:
    """The console command. It leaves without the interpreter's clean-up, in which the library of a foreign FMU that was run may crash (pythonfmu's does)."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, which takes temporary files along
    status = main()
    gc.collect()  # takes the folders of unpacked FMUs along
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
