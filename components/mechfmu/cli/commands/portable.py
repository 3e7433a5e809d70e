"""`mechfmu portable`: make an FMU of pythonfmu run in any importing tool."""

from __future__ import annotations

import argparse

from ..terminal import REPORTER, report_file_size
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "portable",
        help="make any pythonfmu FMU run in every host",
        description="Give an FMU made with pythonfmu (0.6 or 0.7), or the file of a slave, a library that runs it "
        "in a separate Python process, in any host.",
        epilog="example: mechfmu portable Pendulum.fmu -o out; "
        "from a slave: mechfmu portable pendulum.py helper.py data.csv -o out",
    )
    c.add_argument("source", metavar="FMU|SLAVE.py", help="an FMU made with pythonfmu, or the file of a slave")
    help = "with the file of a slave: what else it needs: modules, folders and data"
    c.add_argument("files", nargs="*", metavar="FILE", help=help)
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="folder for the FMU (default: this folder)")
    help = "abort a call of the host that takes longer than S seconds (default: never)"
    c.add_argument("--call-timeout", type=float, metavar="S", help=help)
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ...fmu.portable import make_portable

    with REPORTER.status("reading") as update:
        file = make_portable(options.source, options.output, options.files, options.call_timeout, update)
    report_file_size(file)
