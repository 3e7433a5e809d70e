"""A mechanism on the command line: its key, its folder, or a .urdf or .toml file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter

from .. import mechanisms
from ..model import Mechanism, UserError
from .arguments import add_repeatable, complete_with

OPTIONS_OF_AN_FMU = "the options of an FMU were chosen when it was built: omit --option"


def add_mechanism(parser: argparse.ArgumentParser, metavar: str, help: str, nargs: str | None = None) -> None:
    """Add the argument `name`, which the shell completes with the keys of mechanisms and with files."""
    argument = parser.add_argument("name", nargs=nargs, metavar=metavar, help=help)
    complete_with(argument, lambda prefix, _: [*mechanisms.names(), *FilesCompleter()(prefix)])


def add_mechanism_options(parser: argparse.ArgumentParser) -> None:
    """Add --option."""
    argument = add_repeatable(parser, "--option", "K=V", "an option of the mechanism, e.g. links=3")
    complete_with(argument, lambda _, line: _option_words(line))


def add_tree_attachments(parser: argparse.ArgumentParser) -> None:
    """Add --frame and --contact."""
    help = "for a file: pose, velocity, IMU and joint force of this link, joint or sensor as outputs"
    add_repeatable(parser, "--frame", "NAME", help)
    help = "for a file: what touches the ground, a link with its collision spheres and boxes or a radius in m, or all"
    add_repeatable(parser, "--contact", "LINK[:RADIUS]", help)


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
    name: str,
    given: dict[str, Any],
    base: str | None = None,
    controller: bool = False,
    frames: Sequence[str] = (),
    contacts: Sequence[str] = (),
) -> Mechanism:
    """Return the mechanism of a key, a folder, or a file (no key has a dot)."""
    flags = {"--base": base, "--controller": controller, "--frame": frames, "--contact": contacts}
    if _is_folder_of_mechanism(name) and not any(flags.values()):
        return mechanisms.make(mechanisms.add_folder(name), **given)
    if "." not in name:
        if any(flags.values()):
            flag = next(flag for flag, value in flags.items() if value)
            hint = f"{name} is a mechanism with its own options (mechfmu list {name})"
            raise UserError(f"{flag} is for .urdf and .toml files; {hint}")
        return mechanisms.make(name, **given)
    from ..mechanisms.computed_torque.model import ComputedTorque
    from ..mechanisms.tree.model import Tree

    if controller:
        if base == "moving":
            raise UserError("--base moving is for the tree: its controller assumes a base at rest")
        if frames or contacts:
            flag = "--frame" if frames else "--contact"
            raise UserError(f"{flag} is for the tree: its controller has no sensors and no ground")
        return ComputedTorque(model=Tree.from_file(name, base or "fixed").options["model"], **given)
    stops = given.pop("stops", "none")
    if given:
        raise UserError(f"the tree of a file has no option {next(iter(given))}; it has: stops (and --base)")
    return Tree.from_file(name, base or "fixed", stops, frames, contacts)
