"""A mechanism on the command line: its key, its folder, or a robot file (.urdf, .xacro, .sdf, .xml, .toml)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter

from .. import mechanisms
from ..model import Mechanism, UserError
from .arguments import add_repeatable, complete_with, read_names

OPTIONS_OF_AN_FMU = "the options of an FMU were chosen when it was built: omit --option"


def add_mechanism(parser: argparse.ArgumentParser, metavar: str, help: str, nargs: str | None = None) -> None:
    """Add the argument `name`, which the shell completes with the keys of mechanisms and with files."""
    argument = parser.add_argument("name", nargs=nargs, metavar=metavar, help=help)
    complete_with(argument, lambda prefix, _: [*mechanisms.names(), *FilesCompleter()(prefix)])


def add_mechanism_options(parser: argparse.ArgumentParser) -> None:
    """Add --option and --ignore."""
    help = "an option of the mechanism, e.g. links=3, or an argument of a xacro file"
    argument = add_repeatable(parser, "--option", "K=V", help)
    complete_with(argument, lambda _, line: _option_words(line))
    help = "leave out what an SDF or MJCF file asks for and a tree does not do, e.g. sensor"
    add_repeatable(parser, "--ignore", "WHAT", help)


def _option_words(line: argparse.Namespace) -> list[str]:
    """Return the options of the mechanism named in the line, each with its choices."""
    name = line.name or ""
    if _is_folder_of_mechanism(name):
        mechanisms.add_folder(name)
    key = os.path.basename(name)  # noqa: PTH119
    if "." in key:
        key = "computed_torque" if getattr(line, "controller", False) else "tree"
    hidden = ("model", "base") if "." in name else ()  # given by the file and by --base
    options = [o for o in mechanisms.find(key).option_list if o.name not in hidden]
    return [f"{o.name}={choice}" for o in options for choice in o.choices or ("",)]


def _is_folder_of_mechanism(name: str) -> bool:
    """Whether a name is a folder and not only the key of a mechanism of the package."""
    path = Path(name)
    return path.is_dir() and ((path / "model.py").is_file() or name not in mechanisms.names())


def load_mechanism(
    name: str, given: dict[str, Any], base: str | None = None, controller: bool = False, ignore: Sequence[str] = ()
) -> Mechanism:
    """Return the mechanism of a key, a folder, or a file (no key has a dot)."""
    if _is_folder_of_mechanism(name) and not (base or controller or ignore):
        return mechanisms.make(mechanisms.add_folder(name), **given)
    if "." not in name:
        if base or controller or ignore:
            flag = "--base" if base else "--controller" if controller else "--ignore"
            hint = f"{name} is a mechanism with its own options (mechfmu list {name})"
            raise UserError(f"{flag} is for .urdf, .toml and other robot files; {hint}")
        return mechanisms.make(name, **given)
    from ..mechanisms.computed_torque.model import ComputedTorque
    from ..mechanisms.tree.model import Tree

    words = read_words(ignore)
    options, arguments = split_arguments(name, given, ComputedTorque if controller else Tree)
    if controller:
        if base == "moving":
            raise UserError("--base moving is for the tree: its controller assumes a base at rest")
        tree = Tree.from_file(name, base, ignore=words, arguments=arguments)
        return ComputedTorque(model=tree.options["model"], **options)
    stops = options.pop("stops", "none")
    if options:
        raise UserError(f"the tree of a file has no option {next(iter(options))}; it has: stops (and --base)")
    return Tree.from_file(name, base, stops, words, arguments)


def split_arguments(
    name: str, given: dict[str, Any], mechanism: type[Mechanism]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options of the mechanism, and the arguments of the file if it is a xacro file."""
    if not name.lower().endswith(".xacro"):
        return dict(given), {}
    own = {option.name for option in mechanism.option_list}
    options = {key: value for key, value in given.items() if key in own}
    return options, {key: str(value) for key, value in given.items() if key not in own}


def read_words(texts: Sequence[str]) -> list[str]:
    """Return the words of --ignore, which may be repeated and may have commas."""
    return [word for text in texts for word in read_names(text) or ()]
