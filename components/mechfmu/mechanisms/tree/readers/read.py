"""Choose the reader of a robot description by the suffix of its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from warnings import warn

from ....model.mechanism import UserError
from ....multibody.tree import BodyTree
from .asked import with_asked
from .toml_file import read_toml
from .urdf import IGNORABLE, read_urdf


def read_tree(
    path: str | Path,
    base: str = "fixed",
    inertia: str = "refuse",
    ignore: Sequence[str] = (),
    report: Callable[[str], None] = warn,
    frames: Sequence[str] = (),
    contacts: Sequence[str] = (),
) -> BodyTree:
    """Return the tree of a .urdf or .toml file.

    base: whether the root link of a URDF is fixed or free to float; in a TOML file, the joints define that. inertia:
    refuse, warn or repair, see common.judged. ignore: elements of a URDF file to leave out. report: gets messages.
    frames, contacts: those asked for, see asked.py; what a TOML file describes is kept in any case.
    """
    tree = _as_read(path, base, inertia, ignore, report)
    return with_asked(tree, frames, contacts, keep=Path(path).suffix.lower() == ".toml")


def _as_read(
    path: str | Path, base: str, inertia: str, ignore: Sequence[str], report: Callable[[str], None]
) -> BodyTree:
    suffix = Path(path).suffix.lower()

    def place(text: str, line: int) -> None:
        report(f"{path}:{line}: {text}" if line else f"{path}: {text}")

    if suffix == ".toml":
        if base != "fixed":
            floating = "in a TOML file, a joint of kind free without a parent lets a body float"
            raise UserError(f"{path}: base={base} is for URDF files; {floating}")
        if ignore:
            raise UserError(f"{path}: --ignore is for URDF files; leave the keys out of the TOML file")
        return read_toml(Path(path), inertia, place)
    if suffix in (".urdf", ".xml"):
        for what in ignore:
            if what not in IGNORABLE:
                raise UserError(f"--ignore {what}: must be one of {', '.join(IGNORABLE)}")
        return read_urdf(Path(path), base, inertia, ignore, place)
    if suffix == ".xacro":
        raise UserError(f"{path}: a xacro file must be expanded first: xacro {Path(path).name} > robot.urdf")
    raise UserError(f"{path}: a robot description must end in .urdf or .toml")
