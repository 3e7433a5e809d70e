"""Draw the pictures that are kept in the repository:   python build_scripts/make_pictures.py [NAME ...]

The icons of mechanisms and the films of the documentation; without names all of them. Films need a browser
(Chromium, Chrome or Edge). Run it after a drawing changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from mechfmu import LinkChain, Scenario, SphericalArm, Tree, WheeledCart
from mechfmu.mechanisms import make, names
from mechfmu.simulation.result import Result
from mechfmu.simulation.scene import Scene
from mechfmu.view.animate import samples_of
from mechfmu.view.film import Look, film
from mechfmu.view.icon import draw_icon

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PANDA = "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
SIZE = (480, 360)
FPS = 20.0
LOOK = Look(SIZE, colours=96, ratio=2)
QUIET = replace(LOOK, options={"forces": False})


def after(result: Result, t: float) -> Result:
    """Return the part of a result from time t on."""
    keep = result.t >= t - 1e-9
    signals, inputs = ({n: s[keep] for n, s in series.items()} for series in (result.signals, result.inputs))
    return replace(result, t=result.t[keep], signals=signals, inputs=inputs)


def seen(distance: float, focus: tuple[float, float, float]) -> Look:
    """Return the look of a film in space: from the front and a little above, at a distance in m from a point."""
    return replace(QUIET, camera=(0.72, 0.3, distance, *focus))


def link_chain() -> tuple[Result, float, Look]:
    start = {"joint[1].angle_start": 0.2, "joint[6].angle_start": -0.6}
    return LinkChain(links=10).simulate(stop=4.0, step=0.01, start=start), 1.0, replace(QUIET, size=(480, 270))


def spherical_arm() -> tuple[Result, float, Look]:
    rates = {1: (2.5, 2.0, 1.0), 2: (-3.0, 2.0, 0.0)}
    start = {f"joint[{j}].rate_start[{a}]": rate for j, row in rates.items() for a, rate in enumerate(row, 1)}
    return SphericalArm().simulate(stop=4.0, step=0.01, start=start), 1.0, seen(2.55, (-0.03, -0.1, -0.43))


def exoskeleton() -> tuple[Result, float, Look]:
    """Two steps, the push, and what follows."""
    from exo_walk import simulate

    return after(simulate(stop=7.9), 4.9), 1.0, replace(LOOK, size=(400, 340))


def wheeled_cart() -> tuple[Result, float, Look]:
    """The carts of an example, each with its own controller, and what they drive around; a picture of their paths."""
    from cart_figure2 import CASES, drive, picture

    case = CASES["cart"]
    runs = {f"cart{k}": drive(case, start) for k, start in enumerate(case.starts, 1)}
    picture(str(DOCS / "wheeled_cart.png"), case, list(runs.values()))
    first = next(iter(runs.values()))
    scene = Scene({"world": Scenario(), **{name: WheeledCart() for name in runs}})
    signals: dict[str, np.ndarray] = {}
    constants: dict[str, float] = {}
    for name, member in scene.members.items():
        run = runs.get(name, first)
        values = member.start_values(case.obstacles if name == "world" else {})
        constants |= {f"{name}.{variable}": value for variable, value in values.items()}
        signals |= {f"{name}.{variable}": run[variable] for variable in values if variable in run}
    result = Result("carts", first["time"], signals, {}, constants, scene)
    camera = (0.0, -0.4, 27.0, -2.0, 3.2, 0.0)  # a little from below, as one looks at a table
    return after(result.until(22.0), 3.0), 4.0, replace(QUIET, size=(480, 300), camera=camera)


def panda() -> tuple[Result, float, Look]:
    """A robot that moves between postures, its motors as springs and dampers."""
    robot = Tree.from_file(distribution("example-robot-data").locate_file(PANDA), report=lambda _: None)
    joints = [f"panda_joint{k}" for k in range(1, 8)]
    middle = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    swing = np.array([0.9, 0.45, 0.3, 0.4, 0.4, 0.4, 0.8])
    stiffness, damping = np.array([600.0] * 4 + [200.0] * 3), np.array([60.0] * 4 + [12.0] * 3)

    def wanted(t: float) -> tuple[np.ndarray, np.ndarray]:
        pace = 2 * np.pi / 4.0 * np.array([1, 2, 1, 2, 1, 2, 1])
        return middle + swing * np.sin(pace * t), swing * pace * np.cos(pace * t)

    start = {f"{joint}.angle_start": float(angle) for joint, angle in zip(joints, wanted(0.0)[0], strict=True)}
    control = held(joints, wanted, stiffness, damping, np.full(7, 87.0))
    return (
        after(robot.simulate(8.0, 0.01, start, controller=control, period=0.002), 4.0),
        1.0,
        seen(1.95, (0.08, -0.08, 0.46)),
    )


def quadruped() -> tuple[Result, float, Look]:
    """The robot of an example stands, is pushed, and marches on the spot."""
    from quadruped import FORCE, JOINTS, KD, KP, MARCH, PUSH, STAND, START, STRONGEST, reference, solo12

    ones = np.ones(len(JOINTS))
    control = held(JOINTS, reference, KP * ones, KD * ones, STRONGEST * ones)

    def controller(t: float, y: Mapping[str, float]) -> dict[str, float]:
        return {**control(t, y), "base.force[2]": FORCE if STAND <= t < STAND + PUSH else 0.0}

    result = solo12().simulate(MARCH + 2.0, 0.02, START, controller=controller, period=0.001)
    return after(result, STAND - 0.2), 1.0, seen(1.0, (0.0, 0.0, 0.12))


def held(
    joints: list[str],
    wanted: Callable[[float], tuple[np.ndarray, np.ndarray]],
    stiffness: np.ndarray,
    damping: np.ndarray,
    strongest: np.ndarray,
) -> Callable[[float, Mapping[str, float]], dict[str, float]]:
    """Return a controller whose motors pull the joints to wanted angles and rates."""

    def controller(t: float, y: Mapping[str, float]) -> dict[str, float]:
        angles, rates = wanted(t)
        now, moving = (np.array([y[f"{joint}.{word}"] for joint in joints]) for word in ("angle", "rate"))
        torques = np.clip(stiffness * (angles - now) + damping * (rates - moving), -strongest, strongest)
        return {f"{joint}.torque": float(torque) for joint, torque in zip(joints, torques, strict=True)}

    return controller


FILMS = {f.__name__: f for f in (link_chain, spherical_arm, exoskeleton, wheeled_cart, panda, quadruped)}


def main(chosen: list[str]) -> None:
    sys.path.append(str(ROOT / "examples"))
    for key in names():
        if not chosen or key in chosen:
            draw_icon(make(key))
    for name, made in FILMS.items():
        if not chosen or name in chosen:
            result, speed, look = made()
            target = DOCS / f"{name}.gif"
            film(result, samples_of(result, FPS, speed), target, FPS, look, lambda done, total: None)
            print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
