"""Trees as mechanisms: names of their variables, points of evaluation, and trees that tests share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from helpers.paths import GOLDEN_DATA
from helpers.trees import ANGLES, golden_tree
from mechfmu.mechanisms.tree.base import TreeMechanism
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.multibody.tree import BodyTree
from mechfmu.simulation.engines import engine

ARM = json.loads((GOLDEN_DATA / "spherical_arm_7dof.json").read_text())
GOLDEN_TREES = {tree["name"]: tree for tree in json.loads((GOLDEN_DATA / "random_trees.json").read_text())["trees"]}

KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", *ANGLES, "spherical", "free")
XYZ = "xyz"

BuildTree = Callable[..., Path]  # what the fixture tree_fmu is


def several(word: str, count: int) -> list[str]:
    return [f"{word}[{k}]" for k in range(1, count + 1)]


# --- the contract's names, written out for every kind of joint --------------------------------------------------------

COORDINATES = {
    "fixed": [],
    "revolute": ["angle"],
    "prismatic": ["position"],
    "cylindrical": ["position", "angle"],
    "universal": several("angle", 2),
    "planar": [*several("position", 2), "angle"],
    **{kind: several("angle", 3) for kind in ANGLES},
    "spherical": several("quaternion", 4),
    "free": [*several("position", 3), *several("quaternion", 4)],
}
RATES = {
    "fixed": [],
    "revolute": ["rate"],
    "prismatic": ["speed"],
    "cylindrical": ["speed", "rate"],
    "universal": several("rate", 2),
    "planar": [*several("speed", 2), "rate"],
    **{kind: several("rate", 3) for kind in (*ANGLES, "spherical")},
    "free": [*several("speed", 3), *several("rate", 3)],
}
FORCES = {kind: [n.replace("rate", "torque").replace("speed", "force") for n in names] for kind, names in RATES.items()}
MIXED = ("cylindrical", "planar", "free")
ACCELERATIONS = {
    kind: [
        n.replace("rate", "angular_acceleration" if kind in MIXED else "acceleration").replace(
            "speed", "linear_acceleration" if kind in MIXED else "acceleration"
        )
        for n in names
    ]
    for kind, names in RATES.items()
}


def at_start(name: str) -> str:
    word, bracket, index = name.partition("[")
    return f"{word}_start{bracket}{index}"


def names(tree: BodyTree, words: Mapping[str, list[str]], start: bool = False) -> list[str]:
    """The variables of all joints, in the order of the coordinates or of the rates."""
    return [f"{joint.name}.{at_start(word) if start else word}" for joint in tree.joints for word in words[joint.kind]]


def start_of(tree: BodyTree, q: np.ndarray, v: np.ndarray, tau: np.ndarray | None = None) -> dict[str, float]:
    """Start values and inputs that put a mechanism into a state."""
    tau = np.zeros(len(v)) if tau is None else tau
    found = dict(zip(names(tree, COORDINATES, start=True), np.asarray(q, float).tolist(), strict=True))
    found |= zip(names(tree, RATES, start=True), np.asarray(v, float).tolist(), strict=True)
    return found | dict(zip(names(tree, FORCES), np.asarray(tau, float).tolist(), strict=True))


def load_of(force: np.ndarray, moment: np.ndarray) -> dict[str, float]:
    """Inputs: a load on the tip."""
    loads = {"force": force, "moment": moment}
    return {f"tip.{what}_{a}": float(vector[i]) for what, vector in loads.items() for i, a in enumerate(XYZ)}


def wrench_names(tree: BodyTree) -> list[str]:
    """Force and moment of every joint that can move, joint after joint."""
    moving = [joint.name for joint in tree.joints if RATES[joint.kind]]
    return [f"{name}.{what}_{a}" for name in moving for what in ("force", "moment") for a in XYZ]


# --- mechanisms, evaluated --------------------------------------------------------------------------------------------


def mechanism_of(tree: BodyTree, **options: str) -> Tree:
    return Tree(model=tree.to_json(), **options)


@lru_cache(maxsize=32)
def _engine(name: str, kind: type[TreeMechanism], options: tuple[tuple[str, object], ...]):
    return engine(name, kind(**dict(options)))


def engine_of(name: str, mechanism: TreeMechanism):
    """An engine, made once for mechanisms that are alike."""
    return _engine(name, type(mechanism), tuple(mechanism.options.items()))


class Point:
    """A mechanism at one point in time, with its states and outputs by name."""

    def __init__(
        self,
        mechanism: TreeMechanism,
        start: Mapping[str, float],
        states: Mapping[str, float] | None = None,
        engine: str = "numpy",
    ):
        self.mechanism = mechanism
        self.t, self.x, self.d, self.u, self.p = mechanism.start(start)
        for name, value in (states or {}).items():
            self.x[mechanism.table.by_name[name].index] = value
        self.engine = engine_of(engine, mechanism)
        y = self.engine.outputs(*self.arguments)
        self._values = {s.name: float(y[s.index]) for s in mechanism.table.of("output")}
        self._values |= {s.name: float(self.x[s.index]) for s in mechanism.table.of("state")}

    @property
    def arguments(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.t, self.x, self.d, self.u, self.p

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def get(self, *wanted: str) -> np.ndarray:
        return np.array([self._values[name] for name in wanted])

    def rates(self) -> np.ndarray:
        return np.asarray(self.engine.rates(*self.arguments))

    def rate(self, name: str) -> float:
        return float(self.rates()[self.mechanism.table.by_name[name].index])


def rate_along(point: Point, outputs: list[str], step: float = 2e-4) -> np.ndarray:
    """How fast outputs change in the motion that the rates describe: central differences of order 4."""
    dx, table = point.rates(), point.mechanism.table
    where = [table.by_name[name].index for name in outputs]

    def at(h: float) -> np.ndarray:
        return np.asarray(point.engine.outputs(point.t, point.x + h * dx, point.d, point.u, point.p))[where]

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)


# --- trees ------------------------------------------------------------------------------------------------------------


def named_for_fmu(tree: BodyTree) -> BodyTree:
    """The same tree with names that are identifiers."""
    bodies = tuple(replace(b, name=b.name.replace(" ", "_")) for b in tree.bodies)
    joints = (
        replace(j, **{part: getattr(j, part).replace(" ", "_") for part in ("name", "child", "parent")})
        for j in tree.joints
    )
    return BodyTree(tree.name, bodies, tuple(joints))


def golden_arm(variant: str, quaternions: bool) -> BodyTree:
    tree = golden_tree(ARM["variants"][variant]["model"], quaternions)
    return replace(named_for_fmu(tree), name=f"{variant}_{'quaternion' if quaternions else 'euler'}")


def golden_random_tree(name: str) -> BodyTree:
    return replace(named_for_fmu(golden_tree(GOLDEN_TREES[name]["model"])), name=name)


def matrix_of(e: np.ndarray) -> np.ndarray:
    """The rotation matrix of a unit quaternion, by the rotation formula v -> v + 2 w (e x v) + 2 e x (e x v)."""
    w, vector = e[0], np.asarray(e[1:4])
    return np.array([v + 2 * w * np.cross(vector, v) + 2 * np.cross(vector, np.cross(vector, v)) for v in np.eye(3)]).T
