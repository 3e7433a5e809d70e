"""Choose the reader of a robot description by the suffix of its file; .xml is URDF, SDF or MJCF by its root element.

The readers are imported when they are needed: some of them need further packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from warnings import warn

from ....model.mechanism import UserError
from ....multibody.tree import BodyTree
from .asked import with_asked
from .common import Report
from .meshes.shapes import Meshes
from .root_element import root_element
from .unsupported import ignored_words

SUFFIXES = ".urdf, .xacro, .sdf, .xml (MJCF, URDF) or .toml"
KINDS = {".toml": "toml", ".urdf": "urdf", ".xacro": "xacro", ".sdf": "sdf", ".world": "sdf", ".mjcf": "mujoco"}
FLOATING = {
    "toml": "in a TOML file, a joint of kind free without a parent lets a body float",
    "mujoco": "in an MJCF file, a <freejoint/> lets a body float",
}
HELD = {"toml": "make its kind fixed", "mujoco": "remove the <freejoint/>", "urdf": "make its type fixed"}


def read_tree(
    path: str | Path,
    base: str | None = None,
    inertia: str = "refuse",
    ignore: Iterable[str] = (),
    report: Callable[[str], None] = warn,
    frames: Sequence[str] = (),
    contacts: Sequence[str] = (),
    arguments: Mapping[str, str] | None = None,
    meshes: bool = True,
    package_paths: Sequence[str | Path] = (),
) -> BodyTree:
    """Return the tree of a file.

    base: whether the root link of a URDF or SDF is "fixed" or "free" to float. None: as the file says, and that of a
    URDF, which cannot say it, is fixed; "moving" is fixed to a base that moves. TOML and MJCF define by their joints
    what floats. A body that floats by a joint of the file cannot be fixed.
    inertia: refuse, warn or repair, see arranged.judged. report: gets messages. ignore: words for what is left out, see
    unsupported.py. arguments: of a xacro file.
    frames, contacts: those asked for, see asked.py; what a TOML file describes is kept in any case.
    meshes: whether those of the file are read, for the drawing. package_paths: folders with packages, or of
    packages, where they and what a xacro file includes are looked for.
    """
    path = Path(path)
    kind = kind_of(path)
    if arguments and kind != "xacro":
        raise UserError(f"{path}: only xacro files have arguments; there is no option {next(iter(arguments))}")
    if base == "free" and kind in FLOATING:
        raise UserError(f"{path}: base={base} is for URDF and SDF files; {FLOATING[kind]}")

    def place(text: str, line: int) -> None:
        report(f"{path}:{line}: {text}" if line else f"{path}: {text}")

    found = Meshes(path, package_paths, place) if meshes and kind != "toml" else None
    if package_paths and kind not in ("urdf", "xacro", "sdf"):
        raise UserError(f"{path}: --package-path is for URDF, xacro and SDF files")
    tree = _as_read(
        path, kind, "fixed" if base == "moving" else base, inertia, ignore, place, arguments, found, package_paths
    )
    _check_base(tree, base, path, HELD.get(kind, HELD["urdf"]))
    return with_asked(tree, frames, contacts, keep=kind == "toml")


def _check_base(tree: BodyTree, base: str | None, path: Path, remedy: str) -> None:
    """Check that no body floats beside a base that is to be fixed, nor all of them beside one that is to move."""
    on_base = [joint for joint in tree.joints if not joint.parent]
    floating = [joint for joint in on_base if joint.kind == "free"]
    if floating and (base == "fixed" or (base == "moving" and len(floating) == len(on_base))):
        one = floating[0]
        text = f"base={base}: body {one.child} is not held by the base, joint {one.name} lets it float"
        raise UserError(f"{path}: {text}; {remedy}, or omit base")


def _as_read(
    path: Path,
    kind: str,
    base: str | None,
    inertia: str,
    ignore: Iterable[str],
    report: Report,
    arguments: Mapping[str, str] | None,
    meshes: Meshes | None,
    package_paths: Sequence[str | Path],
) -> BodyTree:
    """The tree with all frames and contacts of the file."""
    if kind == "xacro":
        from .xacro_file import read_xacro

        return read_xacro(path, base, inertia, ignore, report, arguments, meshes, package_paths)
    if kind == "sdf":
        from .sdf import read_sdf

        return read_sdf(path, base, inertia, ignore, report, meshes)
    if kind == "mujoco":
        from .mjcf import read_mjcf

        return read_mjcf(path, inertia, ignore, report, meshes)
    if kind == "toml":
        from .toml_file import read_toml

        ignored_words(ignore, {}, "a TOML file")
        return read_toml(path, inertia, report)
    from .urdf import read_urdf

    return read_urdf(path, base or "fixed", inertia, ignore, report, meshes)


def kind_of(path: Path) -> str:
    """toml, urdf, xacro, sdf or mujoco."""
    suffix = path.suffix.lower()
    if suffix != ".xml":
        if suffix not in KINDS:
            raise UserError(f"{path}: a robot description must end in {SUFFIXES}")
        return KINDS[suffix]
    try:
        with path.open("rb") as file:
            root = root_element(file.read(100_000))
    except (OSError, ValueError):
        return "urdf"  # whose reader says what is wrong
    return {"sdf": "sdf", "mujoco": "mujoco", "mujocoinclude": "mujoco"}.get(root, "urdf")
