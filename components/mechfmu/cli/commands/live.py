"""`mechfmu live`: a mechanism or a system that runs in a web page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...model import UserError
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
from ..terminal import REPORTER, report_file_size
from . import Commands

if TYPE_CHECKING:
    from ...cosim.system import System

NAME_HELP = "a mechanism, a robot file, an FMU that mechfmu built, a system of such FMUs (.ssp), or a ready system"


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "live",
        help="a web page in which a mechanism runs",
        description="Write one self-contained page in which a mechanism or a system runs as WebAssembly: "
        "bodies can be pulled, parameters and inputs changed while it moves.",
        epilog="example: mechfmu live link_chain --option links=5 -o chain.html; ready systems: mechfmu cosim new "
        "x.ssp --ready '?'",
    )
    add_mechanism(c, "NAME|FILE|SSP", NAME_HELP)
    c.add_argument("-o", "--output", metavar="FILE", help="the page (default: NAME.html in this folder)")
    add_file_options(c)
    add_mechanism_options(c)
    help = "for a robot file: with its computed-torque controller, which holds the posture of the start"
    c.add_argument("--controller", action="store_true", help=help)
    add_repeatable(c, "--start", "NAME=VALUE", "start value of a parameter or input; in a system: FMU.NAME=VALUE")
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ...live.page import LivePage

    target = options.output or f"{Path(options.name).stem}.html"
    check_ending(target, (".html",), "write")
    check_writable(target)
    with REPORTER.status("compiling") as update:
        LivePage(_page(options, update)).save(target)
    report_file_size(Path(target))


def _page(options: argparse.Namespace, update: Any) -> str:
    from ...cosim.builtin import BUILTIN, build_builtin, with_controller
    from ...cosim.system import System
    from ...live.page import live_mechanism, live_system
    from ...mechanisms import names
    from ...simulation.source_mechanism import built_mechanism

    name, starts = options.name, read_pairs(options.start, "--start")
    given, file = read_pairs(options.option, "--option"), FileOptions.of(options)
    ready = name in BUILTIN and name not in names()
    if flag := "--option" if given else file.given or ("--controller" if options.controller else ""):
        if ready or name.endswith(".ssp"):
            raise UserError(f"{flag} is for a mechanism, and {name} is a system of several")
        if name.endswith(".fmu"):
            raise UserError(OPTIONS_OF_AN_FMU.replace("--option", flag))
    if ready:
        with TemporaryDirectory(prefix="mechfmu-") as folder:
            system = build_builtin(name, Path(folder), update, kind="python")
            return live_system(_with(system, starts), BUILTIN[name].title, update)
    if name.endswith(".ssp"):
        return live_system(_with(System.load(name), starts), progress=update)
    if name.endswith(".fmu"):
        mechanism, built = built_mechanism(name)
        return live_mechanism(mechanism, {**built, **starts}, update)
    mechanism = load_mechanism(name, given, file)
    if options.controller:
        packages = file.package_paths if name.lower().endswith(".xacro") else ()
        seen = replace(file, frames=(), contacts=(), package_paths=packages)
        controller = load_mechanism(name, {}, seen, controller=True)
        with TemporaryDirectory(prefix="mechfmu-") as folder:
            system = with_controller(mechanism, controller, Path(folder), update)
            title = f"{mechanism.name} held by its computed-torque controller"
            return live_system(_with(system, starts), title, update)
    return live_mechanism(mechanism, {**mechanism.live_start, **starts}, update)


def _with(system: System, values: Mapping[str, Any]) -> System:
    return replace(system, set={**system.set, **values})
