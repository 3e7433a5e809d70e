"""A mechanism on the command line: its key, its folder, or a robot file (.urdf, .xacro, .sdf, .xml, .toml)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argcomplete.completers import FilesCompleter

from .. import mechanisms
from ..model import Mechanism, UserError
from .arguments import add_repeatable, complete_choices, complete_with, read_names
from .terminal import REPORTER

OPTIONS_OF_AN_FMU = "the options of an FMU were chosen when it was built: omit --option"


def add_mechanism(parser: argparse.ArgumentParser, metavar: str, help: str, nargs: str | None = None) -> None:
    """Add the argument `name`, which the shell completes with the keys of mechanisms and with files."""
    argument = parser.add_argument("name", nargs=nargs, metavar=metavar, help=help)
    complete_with(argument, lambda prefix, _: [*mechanisms.names(), *FilesCompleter()(prefix)])


def add_mechanism_options(parser: argparse.ArgumentParser) -> None:
    """Add --option."""
    help = "an option of the mechanism, e.g. links=3, or an argument of a xacro file"
    argument = add_repeatable(parser, "--option", "K=V", help)
    complete_with(argument, lambda _, line: _option_words(line))


def _option_words(line: argparse.Namespace) -> list[str]:
    """Return the options of the mechanism named in the line, each with its choices."""
    name = line.name or ""
    if _is_folder_of_mechanism(name):
        mechanisms.add_folder(name)
    key = os.path.basename(name)  # noqa: PTH119
    if "." in key:
        key = "computed_torque" if getattr(line, "controller", False) else "tree"
    hidden = ("model", "base", "inertia") if "." in name else ()  # given by the file, by --base and by --inertia
    options = [o for o in mechanisms.find(key).option_list if o.name not in hidden]
    return [f"{o.name}={choice}" for o in options for choice in o.choices or ("",)]


def _is_folder_of_mechanism(name: str) -> bool:
    """Whether a name is a folder and not only the key of a mechanism of the package."""
    path = Path(name)
    return path.is_dir() and ((path / "model.py").is_file() or name not in mechanisms.names())


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """Add --base, --inertia, --ignore, --frame, --contact and --package-path, which are for robot files."""
    help = "for a file: fixed (URDF: the default), moving by acceleration inputs, or free (URDF, SDF: root link floats)"
    complete_choices(parser.add_argument("--base", metavar="BASE", help=help), "fixed", "moving", "free")
    help = "for a file: refuse (the default) an inertia that no body can have, warn and take it, or repair it"
    complete_choices(parser.add_argument("--inertia", metavar="WHAT", help=help), "refuse", "warn", "repair")
    help = "for a file: leave out these features of it, e.g. mimic, transmission, sensor, tendon"
    add_repeatable(parser, "--ignore", "WHAT", help)
    help = "for a file: pose, velocity, IMU and joint force of this link, joint or sensor as outputs"
    add_repeatable(parser, "--frame", "NAME", help)
    help = "for a file: what touches the ground, a link with its collision spheres and boxes or a radius in m, or all"
    add_repeatable(parser, "--contact", "LINK[:RADIUS]", help)
    help = "for a file: a folder with packages, or of one, for package:// and, in xacro files, $(find)"
    add_repeatable(parser, "--package-path", "DIR", help)


@dataclass(frozen=True)
class FileOptions:
    """How a robot file is read."""

    base: str | None = None
    inertia: str | None = None
    ignore: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    package_paths: tuple[str, ...] = ()

    @staticmethod
    def of(line: argparse.Namespace) -> FileOptions:
        """Those of a command that has `add_file_options`."""
        lists = (tuple(words) for words in (line.frame, line.contact, line.package_path))
        return FileOptions(line.base, line.inertia, _words(line.ignore), *lists)

    @property
    def given(self) -> str:
        """The first one that was given, as it is typed; empty if none was."""
        flags = {"--base": self.base, "--inertia": self.inertia, "--ignore": self.ignore}
        flags["--package-path"] = self.package_paths
        return next((flag for flag, value in flags.items() if value), "") or self.for_tree

    @property
    def for_tree(self) -> str:
        """The first one that only a tree has, and not its controller; likewise."""
        return "--frame" if self.frames else "--contact" if self.contacts else ""


def load_mechanism(
    name: str, given: dict[str, Any], file: FileOptions | None = None, controller: bool = False
) -> Mechanism:
    """Return the mechanism of a key, a folder, or a file (no key has a dot)."""
    file = file or FileOptions()
    flag = file.given or ("--controller" if controller else "")
    if _is_folder_of_mechanism(name) and not flag:
        return mechanisms.make(mechanisms.add_folder(name), **given)
    if "." not in name:
        if flag:
            hint = f"{name} is a mechanism with its own options (mechfmu list {name})"
            raise UserError(f"{flag} is for .urdf, .toml and other robot files; {hint}")
        return mechanisms.make(name, **given)
    from ..mechanisms.computed_torque.model import ComputedTorque
    from ..mechanisms.tree.model import Tree

    reading: Any = dict(inertia=file.inertia or "refuse", ignore=file.ignore, report=REPORTER.info)
    check_arguments(name, given, (Tree, ComputedTorque) if controller else (Tree,), file.package_paths)
    options, reading["arguments"] = split_arguments(name, given, ComputedTorque if controller else Tree)
    if controller:
        if file.base == "moving":
            raise UserError("--base moving is for the tree: its controller assumes a base at rest")
        if flag := file.for_tree:
            raise UserError(f"{flag} is for the tree: its controller has no sensors and no ground")
        if file.package_paths and not name.lower().endswith(".xacro"):
            raise UserError("--package-path is for the tree: its controller is not drawn")
        tree = Tree.from_file(name, file.base, **reading, meshes=False, package_paths=file.package_paths).options
        return ComputedTorque(model=tree["model"], inertia=tree["inertia"], **options)
    if unknown := [key for key in options if key not in ("stops", "effort", "energy")]:
        raise UserError(f"the tree of a file has no option {unknown[0]}; it has: stops, effort, energy (and --base)")
    asked: Any = dict(frames=file.frames, contacts=file.contacts, package_paths=file.package_paths)
    return Tree.from_file(name, file.base, **options, **reading, **asked)


def check_arguments(
    name: str, given: Mapping[str, Any], owners: Sequence[type[Mechanism]], package_paths: Sequence[str]
) -> None:
    """Check that no --option is both an option of one of the mechanisms and an argument of the xacro file."""
    own = {option.name for owner in owners for option in owner.option_list} & given.keys()
    if not own or not name.lower().endswith(".xacro"):
        return
    from ..mechanisms.tree.readers.xacro_file import xacro_arguments

    for clash in sorted(own & xacro_arguments(Path(name), given, package_paths)):
        text = "is an argument of the file and an option of the mechanism; rename the argument in the file"
        raise UserError(f"{name}: --option {clash}: {clash} {text}")


def split_arguments(
    name: str, given: dict[str, Any], mechanism: type[Mechanism]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the options of the mechanism, and the arguments of the file if it is a xacro file."""
    if not name.lower().endswith(".xacro"):
        return dict(given), {}
    own = {option.name for option in mechanism.option_list}
    options = {key: value for key, value in given.items() if key in own}
    return options, {key: str(value) for key, value in given.items() if key not in own}


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    """The words of --ignore, which may be repeated and may have commas."""
    return tuple(word for text in texts for word in read_names(text) or ())
