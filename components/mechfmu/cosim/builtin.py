"""Built-in systems: plant and controller, built and connected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..fmu.archive import make_folder
from ..fmu.build import build
from ..mechanisms import make
from ..mechanisms.exoskeleton.posture import posture_angles
from ..model import Mechanism, UserError, did_you_mean
from ..multibody.tree import Body, BodyTree, Joint
from .system import System, joined

UPRIGHT = (1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0)  # the plane x, y of a planar mechanism becomes x, z of a tree
CONTROLLER_STEP = 0.005  # s, of a controller made for a robot


@dataclass(frozen=True)
class BuiltinSystem:
    """FMUs by name, the pairs that are joined by equal names, further connections, and values."""

    title: str
    parts: Callable[[], dict[str, Mechanism]]
    joins: tuple[tuple[str, str], ...] = ()
    connect: Callable[[], dict[str, str]] = dict
    set: Callable[[], dict[str, Any]] = dict
    stop: float | None = None
    step: float = 0.01


def chain_as_tree(links: int, length: float, mass: float) -> BodyTree:
    """The default link chain as a tree whose joints have the chain's names: the model of its controller."""
    l, m = length / links, mass / links
    bodies = tuple(
        Body(f"link[{k}]", m, (l / 2, 0.0, 0.0), (0.0, m * l**2 / 12, m * l**2 / 12, 0.0, 0.0, 0.0))
        for k in range(1, links + 1)
    )
    first = Joint("joint[1]", "revolute", "link[1]", rotation=UPRIGHT)
    others = (
        Joint(f"joint[{k}]", "revolute", f"link[{k}]", f"link[{k - 1}]", (l, 0.0, 0.0)) for k in range(2, links + 1)
    )
    return BodyTree("chain", bodies, (first, *others))


def chain_parts() -> dict[str, Mechanism]:
    chain = make("link_chain", links=3)
    model = chain_as_tree(3, chain.options["length"], chain.options["mass"])
    return {"chain": chain, "control": make("computed_torque", model=model.to_json(), law="gravity")}


def arm_parts() -> dict[str, Mechanism]:
    arm: Any = make("spherical_arm")
    return {"arm": arm, "control": make("computed_torque", model=arm.tree.to_json())}


def cart_parts() -> dict[str, Mechanism]:
    return {"cart": make("wheeled_cart"), "control": make("cart_controller"), "world": make("scenario")}


# knees, waist and hips of the 6-link exoskeleton: name of angle, rate and moment, and the angle that is held
EXOSKELETON_JOINTS = (
    ("link[2].{}", 0.0),
    ("link[3].{}", 0.0),
    ("link[6].{}", 0.0),
    ("hip.{}[1]", -0.25),
    ("hip.{}[2]", 0.25),
)


def exoskeleton_parts() -> dict[str, Mechanism]:
    return {
        "exo": make("exoskeleton", leg1=2, leg2=2, body=2, push="hip"),
        "control": make("pid_controller", channels=len(EXOSKELETON_JOINTS)),
    }


def exoskeleton_connections() -> dict[str, str]:
    found: dict[str, str] = {}
    for k, (name, _) in enumerate(EXOSKELETON_JOINTS, 1):
        hinge = "hinge_" if name.startswith("link") else ""
        found[f"exo.{name.format(hinge + 'angle')}"] = f"control.measurement[{k}]"
        found[f"exo.{name.format(hinge + 'rate')}"] = f"control.measurement_rate[{k}]"
        found[f"control.output[{k}]"] = f"exo.{name.format('moment')}"
    return found


def exoskeleton_values() -> dict[str, Any]:
    gains = {"gain.proportional": 1500.0, "gain.derivative": 60.0}
    channels = range(1, len(EXOSKELETON_JOINTS) + 1)
    held = {f"control.reference[{k}]": angle for k, (_, angle) in enumerate(EXOSKELETON_JOINTS, 1)}
    return held | {f"control.{name}[{k}]": gain for name, gain in gains.items() for k in channels}


# the walk starts at rest, the weight a little in front of the first stance foot
WALK_HIP, WALK_FEET, WALK_LEAN = (0.1, 0.86), ((0.0, 0.0), (-0.15, 0.0)), 0.05


def walk_parts() -> dict[str, Mechanism]:
    return {"exo": make("exoskeleton", leg1=2, leg2=2, body=2, push="hip"), "control": make("walking_controller")}


def walk_values() -> dict[str, Any]:
    angles = enumerate(posture_angles(WALK_HIP, WALK_FEET, lean=WALK_LEAN), 1)
    values: dict[str, Any] = {f"exo.link[{i}].angle_start": float(a) for i, a in angles}
    values |= {f"exo.foot[{b}].pinned_start": True for b in (1, 2)}
    values |= {"exo.hip.x_start": WALK_HIP[0], "exo.hip.y_start": WALK_HIP[1]}
    return values | {"control.lift_x_start": WALK_FEET[1][0], "control.body.lean": WALK_LEAN}


def figure2_values() -> dict[str, Any]:
    cart = {"cart.pose.x_start": -4.5, "cart.pose.y_start": 0.8}
    return cart | {"control.guidance.influence": 0.25, "world.obstacle[2].side_start": -1.0}


BUILTIN = {
    "figure2": BuiltinSystem(
        "a cart steered to a moving target around two moving obstacles",
        cart_parts,
        (("cart", "control"), ("world", "control")),
        set=figure2_values,
        stop=20.0,
    ),
    "chain_gravity_compensation": BuiltinSystem(
        "a chain of three rods whose motors carry its weight: pushed, it drifts as if there were no gravity",
        chain_parts,
        (("chain", "control"),),
        set=lambda: {"chain.joint[1].rate_start": 0.4, "chain.joint[2].angle_start": 0.7},
        stop=4.0,
    ),
    "arm_computed_torque": BuiltinSystem(
        "the spherical-joint arm moved to a new posture and held there by inverse dynamics",
        arm_parts,
        (("arm", "control"),),
        set=lambda: {"control.joint[3].angle_reference": 1.0},
        stop=5.0,
    ),
    "exoskeleton_pd": BuiltinSystem(
        "the 6-link exoskeleton lands on both feet and stands, its joints held by PD controllers, until it is pushed",
        exoskeleton_parts,
        connect=exoskeleton_connections,
        set=exoskeleton_values,
        stop=3.0,
        step=0.001,
    ),
    "walk": BuiltinSystem(
        "the 6-link exoskeleton walks from rest; exo.push.force_x pushes it",
        walk_parts,
        (("exo", "control"),),
        set=walk_values,
        stop=12.0,
        step=0.001,
    ),
}


def build_builtin(
    name: str,
    folder: Path,
    progress: Callable[[str], None] = lambda text: None,
    platforms: Sequence[str] | None = None,
    kind: str = "native",
) -> System:
    """Build the FMUs of a ready system into a folder and return the system.

    name        figure2, chain_gravity_compensation, arm_computed_torque, exoskeleton_pd or walk
    progress    called with a text for each step of the build
    platforms   as in the build of a mechanism
    kind        native or python
    """
    if name not in BUILTIN:
        proposal = did_you_mean(name, BUILTIN)
        raise UserError(f"there is no built-in system {name}{proposal}; there are: {', '.join(BUILTIN)}")
    return _built(name, BUILTIN[name], folder, progress, platforms, kind)


def with_controller(
    plant: Mechanism, controller: Mechanism, folder: Path, progress: Callable[[str], None] = lambda text: None
) -> System:
    """Build a tree and its computed-torque controller, which holds the posture of the start, as a system."""
    start, inputs = plant.start_values(), {s.name for s in controller.table.of("input")}
    held = {f"{name.removesuffix('_start')}_reference": start[name] for name in start if name.endswith("_start")}
    system = BuiltinSystem(
        f"{plant.name} held by its computed-torque controller",
        lambda: {"robot": plant, "control": controller},
        (("robot", "control"),),
        set=lambda: {f"control.{name}": value for name, value in held.items() if name in inputs},
        step=CONTROLLER_STEP,
    )
    return _built(plant.name, system, folder, progress, kind="python")


def _built(
    name: str,
    chosen: BuiltinSystem,
    folder: Path,
    progress: Callable[[str], None],
    platforms: Sequence[str] | None = None,
    kind: str = "native",
) -> System:
    make_folder(folder)
    files = {}
    for part, mechanism in chosen.parts().items():
        (files[part],) = build(mechanism, folder / part, kind, platforms=platforms, progress=progress)
    connect = dict(chosen.connect())
    bare = System(name, files)
    for a, b in chosen.joins:
        connect |= joined(bare, a, b)
    return System(name, files, connect, chosen.set(), chosen.stop, chosen.step)
