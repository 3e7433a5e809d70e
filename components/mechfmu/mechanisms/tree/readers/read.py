"""Choose the reader of a robot description by the suffix of its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....model.mechanism import UserError
from ....multibody.tree import BodyTree
from .asked import with_asked
from .toml_file import read_toml
from .urdf import read_urdf


def read_tree(
    path: str | Path, base: str = "fixed", frames: Sequence[str] = (), contacts: Sequence[str] = ()
) -> BodyTree:
    """Return the tree of a .urdf or .toml file.

    base: whether the root link of a URDF is fixed or free to float; in a TOML file, the joints define that.
    frames, contacts: those asked for, see asked.py; what a TOML file describes is kept in any case.
    """
    return with_asked(_as_read(path, base), frames, contacts, keep=Path(path).suffix.lower() == ".toml")


def _as_read(path: str | Path, base: str) -> BodyTree:
    suffix = Path(path).suffix.lower()
    if suffix == ".toml":
        if base != "fixed":
            floating = "in a TOML file, a joint of kind free without a parent lets a body float"
            raise UserError(f"{path}: base={base} is for URDF files; {floating}")
        return read_toml(Path(path))
    if suffix in (".urdf", ".xml"):
        return read_urdf(Path(path), base)
    if suffix == ".xacro":
        raise UserError(f"{path}: a xacro file must be expanded first: xacro {Path(path).name} > robot.urdf")
    raise UserError(f"{path}: a robot description must end in .urdf or .toml")
