"""`mechfmu convert`: write a robot file of any format as TOML."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter

from ...model import UserError
from ..arguments import read_pairs
from ..mechanism_argument import FileOptions, add_file_options, add_mechanism_options, check_arguments
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
    add_file_options(c)
    add_mechanism_options(c)
    c.set_defaults(run=run, name=None)


def run(options: argparse.Namespace) -> None:
    from ...atomic_file import atomic_write
    from ...mechanisms.tree.model import Tree
    from ...mechanisms.tree.readers.read import read_tree
    from ...mechanisms.tree.readers.toml_writer import toml_text

    check_ending(options.output, (".toml",), "write")
    asked = FileOptions.of(options)
    if asked.base not in (None, "fixed", "free"):
        raise UserError(f"--base {asked.base}: must be fixed or free")
    reading: Any = dict(inertia=asked.inertia or "refuse", ignore=asked.ignore, report=REPORTER.info)
    arguments = read_pairs(options.option, "--option")
    check_arguments(options.file, arguments, (Tree,), asked.package_paths)
    reading |= dict(frames=asked.frames, contacts=asked.contacts, arguments=arguments)
    reading["package_paths"] = asked.package_paths
    tree = read_tree(options.file, asked.base, **reading)
    text = toml_text(tree, Path(options.file).name)
    check_writable(options.output)
    with atomic_write(Path(options.output)) as file:
        file.write_text(text, encoding="utf-8")
    rates = sum(joint.rates for joint in tree.joints if not joint.mimic)
    REPORTER.info(f"wrote {options.output}: {count(len(tree.joints), 'joint')}, {count(rates, 'degree')} of freedom")
