"""`mechfmu new`: create a mechanism from a template."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..terminal import REPORTER
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "new",
        help="create a mechanism of your own",
        description="Write a folder with a working mechanism to change, and its tests.",
        epilog="example: mechfmu new double_pendulum",
    )
    help = "lower-case letters, digits and underscores: the folder, and the key of the mechanism"
    c.add_argument("name", metavar="NAME", help=help)
    c.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write it (default: this folder)")
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from ..new_mechanism import write_skeleton

    for file in write_skeleton(options.name, Path(options.output)):
        REPORTER.info(f"wrote {file}")
    folder = Path(options.output) / options.name
    test = folder.parent / f"test_{options.name}.py"
    REPORTER.info(f"next: python -m pytest {test} (pip install pytest); mechfmu build {folder}")
