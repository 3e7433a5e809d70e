"""Systems that are ready to run: plant, controller, and what they need, built and wired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.tree import Body, Joint, Tree
from ..mechanisms import Mechanism, UserError, make, near
from ..packaging.build import build
from .system import System, joined

UPRIGHT = (1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0)  # the plane x, y of a planar mechanism stands in x, z of a tree


@dataclass(frozen=True)
class Ready:
    """FMUs by their names in the system, the pairs whose equal names are wired, wires besides, and values."""

    title: str
    parts: Callable[[], dict[str, Mechanism]]
    joins: tuple[tuple[str, str], ...] = ()
    connect: Callable[[], dict[str, str]] = dict
    set: Callable[[], dict[str, Any]] = dict
    stop: float | None = None
    step: float = 0.01


def chain_as_tree(links: int, length: float, mass: float) -> Tree:
    """The default chain of so many rods, as a tree whose joints have the chain's names: the model its controller computes with."""
    l, m = length / links, mass / links
    bodies = tuple(Body(f"link[{k}]", m, (l / 2, 0.0, 0.0), (0.0, m * l**2 / 12, m * l**2 / 12, 0.0, 0.0, 0.0)) for k in range(1, links + 1))
    first = Joint("joint[1]", "revolute", "link[1]", rotation=UPRIGHT)
    others = (Joint(f"joint[{k}]", "revolute", f"link[{k}]", f"link[{k - 1}]", (l, 0.0, 0.0)) for k in range(2, links + 1))
    return Tree("chain", bodies, (first, *others))


def chain_parts() -> dict[str, Mechanism]:
    chain = make("link_chain", links=3)
    model = chain_as_tree(3, chain.options["length"], chain.options["mass"])
    return {"chain": chain, "control": make("computed_torque", model=model.to_json(), law="gravity")}


def arm_parts() -> dict[str, Mechanism]:
    arm: Any = make("spherical_arm")
    return {"arm": arm, "control": make("computed_torque", model=arm.tree.to_json())}


READY = {
    "chain_gravity_compensation": Ready(
        "a chain of three rods whose motors carry its weight: pushed, it drifts as if there were no gravity", chain_parts, (("chain", "control"),),
        set=lambda: {"chain.joint[1].rate_start": 0.4, "chain.joint[2].angle_start": 0.7}, stop=4.0,
    ),
    "arm_computed_torque": Ready(
        "the spherical-joint arm moved to a new posture and held there by inverse dynamics", arm_parts, (("arm", "control"),),
        set=lambda: {"control.joint[3].angle_reference": 1.0}, stop=5.0,
    ),
}  # fmt: skip


def build_ready(name: str, folder: Path, progress: Callable[[str], None] = lambda text: None, platforms: Sequence[str] | None = None) -> System:
    """Build the native FMUs of a ready system into `folder`."""
    if name not in READY:
        raise UserError(f"there is no ready system {name}{near(name, READY)}; there are: {', '.join(READY)}")
    ready = READY[name]
    files = {}
    for part, mechanism in ready.parts().items():
        (files[part],) = build(mechanism, folder / part, platforms=platforms, progress=progress)
    connect = dict(ready.connect())
    bare = System(name, files)
    for a, b in ready.joins:
        connect |= joined(bare, a, b)
    return System(name, files, connect, ready.set(), ready.stop, ready.step)
