"""Any tree of bodies: described in a robot file, or as data (multibody/tree.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from warnings import warn

from ...model.energy import ENERGY
from ...model.mechanism import Option, UserError
from ...model.variables import Row
from ...multibody.tree import Body, BodyTree, Joint
from .base import TreeMechanism
from .names import identifier, tree_of

EXAMPLE = BodyTree(
    "ExampleTree",
    (
        Body("column", 8.0, (0.0, 0.0, 0.25), (0.2, 0.2, 0.05, 0.0, 0.0, 0.0)),
        Body("left_arm", 2.0, (0.2, 0.0, 0.0), (0.003, 0.03, 0.03, 0.0, 0.0, 0.0)),
        Body("right_arm", 2.0, (-0.2, 0.0, 0.0), (0.003, 0.03, 0.03, 0.0, 0.0, 0.0)),
    ),
    (
        Joint("waist", "revolute", "column", damping=0.2),
        Joint("left_shoulder", "universal", "left_arm", "column", (0.1, 0.0, 0.5), damping=0.05),
        Joint("right_shoulder", "spherical", "right_arm", "column", (-0.1, 0.0, 0.5), damping=0.05),
    ),
)


EFFORTS = ("limited", "unlimited")
INERTIAS = ("refuse", "warn")


class Tree(TreeMechanism):
    """A mechanism made from a description of bodies and joints."""

    key = "tree"
    title = "Tree of bodies from a robot file"
    stop_time = 5.0
    option_list = (
        Option(
            "model", EXAMPLE.to_json(), "the tree as JSON; made from a file by `mechfmu build FILE` and Tree.from_file"
        ),
        Option("base", "fixed", "the base stands still, or follows acceleration inputs", choices=("fixed", "moving")),
        Option("stops", "none", "elastic: joints with limits are pushed back there", choices=("none", "elastic")),
        Option("effort", "limited", "limited: motor forces are cut off at the file's effort limits", choices=EFFORTS),
        Option("inertia", "refuse", "warn: inertias that no body can have are taken as they are", choices=INERTIAS),
        ENERGY,
    )

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        base: str | None = None,
        stops: str = "none",
        effort: str = "limited",
        inertia: str = "refuse",
        ignore: Iterable[str] = (),
        report: Callable[[str], None] = warn,
        frames: Sequence[str] = (),
        contacts: Sequence[str] = (),
        arguments: Mapping[str, str] | None = None,
        meshes: bool = True,
        package_paths: Sequence[str | Path] = (),
        energy: str = "on",
    ) -> Tree:
        """Return the mechanism of a robot file: URDF, xacro, SDF, MJCF or TOML.

        base            fixed; moving, by acceleration inputs; or free, with the root link of a URDF or SDF file
                        floating. None: as the file says, and fixed where it cannot say it
        stops           none; elastic: joints with limits are pushed back there
        effort          limited: motor forces are cut off at the file's limits; unlimited
        inertia         of an inertia that no body can have: refuse; warn, take it as it is; repair, take the nearest
                        possible one
        ignore          features of the file to be left out, by the words that the messages name
        report          called with a line for each inertia that is not refused, and so on; default: a warning
        frames          links, joints or sensors whose motion and joint force are outputs
        contacts        what touches the ground: "LINK", its collision spheres and corners of boxes, "LINK:RADIUS", or
                        "all"
        arguments       of a xacro file
        meshes          whether the drawing has those of the file
        package_paths   folders where `package://` is looked for
        energy          on; off: energies, work and losses are not computed
        """
        from .readers.read import read_tree

        if base not in (None, "fixed", "moving", "free"):
            raise UserError(f"base {base}: must be fixed, moving or free")
        asked: Any = (frames, contacts, arguments, meshes, package_paths)
        tree = read_tree(path, base, inertia, ignore, report, *asked)
        taken = "warn" if inertia == "warn" else "refuse"
        base = "moving" if base == "moving" else "fixed"
        made = cls(model=tree.to_json(), base=base, stops=stops, effort=effort, inertia=taken, energy=energy)
        made.__dict__["tree"] = tree  # checked when it was read, which takes seconds for thousands of bodies
        return made

    @property
    def shown_options(self) -> Mapping[str, Any]:
        """The model, and what differs from the default."""
        usual = {o.name: o.default for o in self.option_list if o.name != "model"}
        return {name: value for name, value in self.options.items() if name not in usual or value != usual[name]}

    @cached_property
    def tree(self) -> BodyTree:
        return tree_of(self.options["model"], self.options["inertia"])

    def rows(self) -> tuple[Row, ...]:
        """Those of any tree, unless a joint, frame or contact has the name of something else."""
        rows = super().rows()
        taken: set[str] = set()
        for name in (name for row in rows for name in row.names()):
            if name in taken:
                label = name.partition(".")[0]
                kinds = {"frame": self.frame_labels, "contact": self.contact_labels}
                what = next((kind for kind, labels in kinds.items() if label in labels), "joint")
                raise UserError(f"{what} {label}: rename it, the FMU has a variable {name} of its own")
            taken.add(name)
        return rows

    @property
    def name(self) -> str:
        """The name of the robot."""
        return identifier(self.tree)

    @property
    def elastic_stops(self) -> bool:  # type: ignore[override]
        return bool(self.options["stops"] == "elastic")

    @property
    def limited_effort(self) -> bool:  # type: ignore[override]
        return bool(self.options["effort"] == "limited")

    @property
    def moving(self) -> bool:  # type: ignore[override]
        return bool(self.options["base"] == "moving")
