"""The robots of example-robot-data with the options that they need, compared with Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from helpers.robot_reference import RobotReference, RobotState
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import UserError
from mechfmu.simulation.engines import engine

Choice = dict[str, str]  # options of the command line, without --
Accelerations = Callable[[RobotState], list[float]]

CHOICES: tuple[Choice, ...] = (
    {},
    {"base": "free"},
    {"inertia": "warn"},
    {"ignore": "mimic"},
    {"inertia": "warn", "ignore": "mimic"},
)


def first_that_works(file: Path) -> tuple[Choice, Tree | None, str]:
    """The first options with which a file can be read, its tree, and the message without options."""
    error = ""
    for choice in CHOICES:
        try:
            return choice, tree_of(file, choice), error
        except UserError as found:
            error = error or str(found).replace(str(file), file.name)
    return {}, None, error


def tree_of(file: Path, choice: Choice) -> Tree:
    """The tree of a file; Pinocchio does not limit efforts."""
    ignore = (choice["ignore"],) if "ignore" in choice else ()
    base, inertia = choice.get("base", "fixed"), choice.get("inertia", "refuse")
    return Tree.from_file(
        file, base, effort="unlimited", inertia=inertia, ignore=ignore, report=lambda _: None, meshes=False
    )


def reference_of(file: Path, choice: Choice, tree: Tree) -> RobotReference:
    """The same robot in Pinocchio."""
    held = [joint.name for joint in tree.tree.joints if joint.kind == "fixed"]
    base, mimic = choice.get("base", "fixed"), "ignore" not in choice
    return RobotReference(file.read_text(), base, mimic=mimic, held=held)


def worst(points: Sequence[RobotState], accelerations: Accelerations) -> float:
    """The largest difference, relative to the largest acceleration of its state; NaN counts as infinite."""
    found = 0.0
    for point in points:
        wanted = np.array(list(point.wanted.values()))
        difference = np.max(np.abs(np.array(accelerations(point)) - wanted)) / np.max(np.abs(wanted))
        found = max(found, float(np.nan_to_num(difference, nan=np.inf)))
    return found


def by_library(tree: Tree, name: str = "numpy") -> Accelerations:
    """The accelerations by an engine."""
    made = engine(name, tree)
    index = {s.name: s.index for s in tree.table.of("output")}

    def accelerations(point: RobotState) -> list[float]:
        y = made.outputs(*tree.start(point.start))
        return [float(y[index[name]]) for name in point.wanted]

    return accelerations
