"""Any tree of bodies: described in a URDF or TOML file, or as data (multibody/tree.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from warnings import warn

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
    title = "Tree of bodies from a URDF or TOML file"
    stop_time = 5.0
    option_list = (
        Option(
            "model", EXAMPLE.to_json(), "the tree as JSON; made from a file by `mechfmu build FILE` and Tree.from_file"
        ),
        Option("base", "fixed", "the base stands still, or follows acceleration inputs", choices=("fixed", "moving")),
        Option("stops", "none", "elastic: joints with limits are pushed back there", choices=("none", "elastic")),
        Option("effort", "limited", "limited: motors do no more than the effort of the file", choices=EFFORTS),
        Option("inertia", "refuse", "warn: inertias that no body can have are taken as they are", choices=INERTIAS),
    )

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        base: str = "fixed",
        stops: str = "none",
        effort: str = "limited",
        inertia: str = "refuse",
        ignore: Sequence[str] = (),
        report: Callable[[str], None] = warn,
    ) -> Tree:
        """The mechanism of a .urdf or .toml file.

        base: fixed; moving, by acceleration inputs; or free, with the root link of a URDF file floating. inertia: of an
        inertia that no body can have: refuse; warn, take it as it is; repair, take the nearest possible one. ignore:
        mimic, transmission: elements of a URDF file to leave out. report: gets a line for each inertia that is not
        possible; a warning by default.
        """
        from .readers.read import read_tree

        if base not in ("fixed", "moving", "free"):
            raise UserError(f"base {base}: must be fixed, moving or free")
        tree = read_tree(path, "free" if base == "free" else "fixed", inertia, ignore, report)
        taken = "warn" if inertia == "warn" else "refuse"
        base = "moving" if base == "moving" else "fixed"
        made = cls(model=tree.to_json(), base=base, stops=stops, effort=effort, inertia=taken)
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
        """Those of any tree, unless a joint has the name of something else."""
        rows = super().rows()
        taken: set[str] = set()
        for name in (name for row in rows for name in row.names()):
            if name in taken:
                raise UserError(f"joint {name.partition('.')[0]}: rename it, the FMU has a variable {name} of its own")
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
