"""`mechfmu convert`: write a robot file of any format as TOML."""

from __future__ import annotations

import argparse
from pathlib import Path

from argcomplete.completers import FilesCompleter

from ...model import UserError
from ..arguments import complete_choices, read_pairs
from ..mechanism_argument import add_mechanism_options, read_words
from ..result_files import check_ending, check_writable
from ..terminal import REPORTER, count
from . import Commands


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "convert",
        help="write a robot file as TOML",
        description="Write the tree of a robot file (URDF, xacro, SDF, MJCF) as TOML, the complete description.",
        epilog="example: mechfmu convert robot.urdf robot.toml",
    )
    argument = c.add_argument("file", metavar="FILE", help="a robot file (.urdf, .xacro, .sdf, .xml, .toml)")
    argument.completer = FilesCompleter()  # type: ignore[attr-defined]
    c.add_argument("output", metavar="OUTPUT", help="the file to be written, .toml")
    help = "fixed (URDF: the default) or free (URDF, SDF: the root link floats)"
    complete_choices(c.add_argument("--base", metavar="BASE", help=help), "fixed", "free")
    add_mechanism_options(c)
    c.set_defaults(run=run, name=None)


def run(options: argparse.Namespace) -> None:
    from ...atomic_file import atomic_write
    from ...mechanisms.tree.readers.read import read_tree
    from ...mechanisms.tree.readers.toml_writer import toml_text

    check_ending(options.output, (".toml",), "write")
    if options.base not in (None, "fixed", "free"):
        raise UserError(f"--base {options.base}: must be fixed or free")
    tree = read_tree(options.file, options.base, read_words(options.ignore), read_pairs(options.option, "--option"))
    text = toml_text(tree, Path(options.file).name)
    check_writable(options.output)
    with atomic_write(Path(options.output)) as file:
        file.write_text(text, encoding="utf-8")
    rates = sum(joint.rates for joint in tree.joints)
    REPORTER.info(f"wrote {options.output}: {count(len(tree.joints), 'joint')}, {count(rates, 'degree')} of freedom")
