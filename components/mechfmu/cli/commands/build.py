"""`mechfmu build`: write the FMUs of a mechanism."""

from __future__ import annotations

import argparse

from ... import mechanisms
from ..arguments import add_repeatable, complete_choices, read_names, read_pairs
from ..mechanism_argument import FileOptions, add_file_options, add_mechanism, add_mechanism_options, load_mechanism
from ..terminal import REPORTER, report_file_size
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "build",
        help="write FMUs",
        description="Write the FMU of a mechanism.",
        epilog='example: mechfmu build link_chain -o out --option links=3 --start "joint[1].angle_start=0.5"',
    )
    help = (
        "a mechanism (see mechfmu list), a robot file (.urdf, .xacro, .sdf, .xml, .toml), a mechanism's folder, or all"
    )
    add_mechanism(c, "NAME|FILE", help)
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="folder for the FMUs (default: this folder)")
    help = "native (needs no Python, the default), python (readable, needs Python), both"
    kind = c.add_argument("--kind", default="native", metavar="KIND", help=help)
    complete_choices(kind, "native", "python", "both")
    help = "linux64, win64, darwin64, all of these (default: this one; Python FMUs: all), wasm; may be repeated"
    platform = c.add_argument("--platform", action="append", metavar="P", help=help)
    complete_choices(platform, "linux64", "win64", "darwin64", "all", "wasm")
    help = "zig (the default where it is installed) or cc, the system's compiler"
    complete_choices(c.add_argument("--compiler", metavar="CC", help=help), "zig", "cc")
    add_file_options(c)
    help = "for a file: write the computed-torque controller of the tree instead of the tree"
    c.add_argument("--controller", action="store_true", help=help)
    add_mechanism_options(c)
    add_repeatable(c, "--start", "NAME=VALUE", "start value of a parameter or input")
    help = "parameters that become constants, e.g. link[*].mass, or all: faster code; their values are those of --start"
    add_repeatable(c, "--bake", "NAME,...", help)
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ...fmu.build import build
    from ...mechanisms.tree.start_in_ground import start_in_ground

    given, starts = read_pairs(options.option, "--option"), read_pairs(options.start, "--start")
    names = mechanisms.names() if options.name == "all" else [options.name]
    models = [
        load_mechanism(name, dict(given), FileOptions.of(options), options.controller) for name in names
    ]  # before any build
    for model in models:
        with REPORTER.status("building") as update:
            files = build(
                model,
                options.output,
                kind=options.kind,
                start=starts,
                platforms=options.platform,
                compiler=options.compiler,
                progress=update,
                bake=[name for text in options.bake for name in read_names(text) or ()],
            )
        for file in files:
            report_file_size(file)
        if warning := start_in_ground(model, starts):
            REPORTER.info(f"warning: {warning}")
