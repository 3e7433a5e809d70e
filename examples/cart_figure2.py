"""Carts drive to a moving target, around moving obstacles.

Plant, controller and scenario run in a loop, with torques held over 10 ms.

    python examples/cart_figure2.py           true to size: obstacles are inflated by the footprint of the cart, so that
                                              no part of it touches one
    python examples/cart_figure2.py point     the shapes of the published figure, in which only the point M keeps off
                                              the obstacles

Writes a picture (paths, carts along them, torques below) and an animation. Both show the same runs.
"""

import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from mechfmu import CartController, Scenario, WheeledCart
from mechfmu.control.guidance import Obstacle
from mechfmu.mechanisms.scenario.variables import outline
from mechfmu.mechanisms.wheeled_cart.model import cart_strokes
from mechfmu.simulation.engines import make_instance

STEP = 0.01
TORQUES = ("wheel.left_torque", "wheel.right_torque", "steering.torque")
COLOURS = ("#1769aa", "#d9480f", "#2b8a3e", "#862e9c", "#e67700")


@dataclass(frozen=True)
class Case:
    """What is simulated."""

    stop: float
    starts: tuple[tuple[float, float, float], ...]  # x, y, heading
    control: dict[str, float]
    obstacles: dict[str, float]


CASES = {
    "point": Case(
        20.0,
        ((-4.5, 0.8, 0.0), (-4.5, 2.6, 0.0), (3.8, 2.9, 3.0), (1.0, 2.9, 1.0), (-3.0, -1.5, 0.5)),
        {"guidance.influence": 0.25},
        {"obstacle[2].side_start": -1.0},
    ),
    "cart": Case(
        40.0,
        ((-14.0, 2.0, 0.0), (12.0, 9.5, 3.1), (-12.0, -3.0, 0.5), (4.0, 11.0, -1.5)),
        {"guidance.gain": 0.6, "guidance.cruise_speed": 0.8, "guidance.influence": 0.6, "guidance.footprint": 0.65},
        {
            "obstacle[1].x_start": -6.0,
            "obstacle[1].semi_axis_a_start": 3.0,
            "obstacle[1].semi_axis_b_start": 1.5,
            "obstacle[2].x_start": 3.0,
            "obstacle[2].y_start": 6.5,
            "obstacle[2].semi_axis_a_start": 6.0,
            "obstacle[2].semi_axis_b_start": 2.25,
        },
    ),
}


def drive(case: Case, start: tuple[float, float, float]) -> dict[str, np.ndarray]:
    """One cart from its start to the end: every output of the three mechanisms over time."""
    x, y, heading = start
    pose = {"pose.x": x, "pose.y": y, "pose.heading": heading, "steering.angle": 0.0}
    plant = make_instance(WheeledCart(), {f"{n}_start": v for n, v in pose.items()} | {"front.speed_start": 0.0})
    scenario = make_instance(Scenario(), case.obstacles)
    scenario.initialize()
    outputs = {which: which.table.of("state", "output") for which in (plant, scenario)}
    controller = make_instance(
        CartController(), {"front.speed": 0.0, **pose, **case.control, **shown(scenario, outputs[scenario])}
    )
    plant.initialize()
    controller.initialize()
    outputs[controller] = controller.table.of("output")
    inputs = controller.table.of("input")
    motors = [plant.table.by_name[name] for name in TORQUES]
    history: dict[str, list[float]] = {}
    for k in range(round(case.stop / STEP) + 1):
        seen = shown(plant, outputs[plant]) | shown(scenario, outputs[scenario])
        controller.set(inputs, [seen[s.name] for s in inputs])
        wanted = shown(controller, outputs[controller])
        for name, value in {**wanted, **seen, "time": k * STEP}.items():
            history.setdefault(name, []).append(value)
        plant.set(motors, [wanted[name] for name in TORQUES])
        for instance in (plant, controller, scenario):
            instance.step(k * STEP, STEP)
    return {name: np.array(values) for name, values in history.items()}


def shown(instance, scalars) -> dict[str, float]:
    return dict(zip([s.name for s in scalars], instance.get(scalars), strict=True))


def obstacles(run: dict[str, np.ndarray], k: int) -> list[Obstacle]:
    """The obstacles at sample k."""
    words = (
        "x",
        "y",
        "velocity_x",
        "velocity_y",
        "angle",
        "rotation_rate",
        "semi_axis_a",
        "semi_axis_b",
        "side",
        "active",
    )
    return [Obstacle(*(run[f"obstacle[{i}].{word}"][k] for word in words)) for i in (1, 2)]


def ellipses(run: dict[str, np.ndarray], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The outlines of the obstacles at sample k."""
    return [outline(obstacle) for obstacle in obstacles(run, k)]


def cart(run: dict[str, np.ndarray], k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    names = ("pose.x", "pose.y", "pose.heading", "steering.angle")
    return cart_strokes(*(run[n][k] for n in names), l1=0.5, l2=0.3, h=0.3, r=0.15)


def picture(file: str, case: Case, runs: list[dict[str, np.ndarray]]) -> None:
    figure, axes = plt.subplots(4, 1, figsize=(9, 11), height_ratios=(6, 1, 1, 1), layout="constrained")
    plane, samples = axes[0], len(runs[0]["time"])
    for share in (0.0, 0.5, 1.0):
        for x, y in ellipses(runs[0], round(share * (samples - 1))):
            plane.fill(x, y, color="#868e96", alpha=0.12 + 0.25 * share, linewidth=0)
            plane.plot(x, y, color="#868e96", linewidth=0.6)
    plane.plot(runs[0]["target.x"], runs[0]["target.y"], color="black", linewidth=2)
    plane.plot(runs[0]["target.x"][-1], runs[0]["target.y"][-1], "k*", markersize=10)
    for run, colour in zip(runs, COLOURS, strict=False):
        plane.plot(run["pose.x"], run["pose.y"], color=colour, linewidth=1)
        gone = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(run["pose.x"]), np.diff(run["pose.y"])))])
        for k in np.searchsorted(gone, np.arange(0.0, gone[-1], 1.6)):
            for x, y in cart(run, int(k)):
                plane.plot(x, y, color=colour, linewidth=0.9)
    plane.set(
        aspect="equal",
        xlabel="x [m]",
        ylabel="y [m]",
        title=f"{len(runs)} carts, obstacles at 0, {case.stop / 2:g} and {case.stop:g} s (darker: later)",
    )
    for panel, torque in zip(axes[1:], TORQUES, strict=True):
        for run, colour in zip(runs, COLOURS, strict=False):
            panel.plot(run["time"], run[torque], color=colour, linewidth=0.8)
        panel.set(ylabel=f"{torque.replace('_torque', '').replace('.torque', '')}\n[N m]")
        panel.grid(alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    figure.savefig(file, dpi=120)
    plt.close(figure)


def film(name: str, case: Case, runs: list[dict[str, np.ndarray]], fps: int = 10, speed: float = 4.0) -> None:
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    xs, ys = (np.concatenate([run[f"pose.{a}"] for run in runs]) for a in "xy")
    axes.set(
        aspect="equal",
        xlim=(xs.min() - 1.5, xs.max() + 1.5),
        ylim=(ys.min() - 1.5, ys.max() + 1.5),
        xlabel="x [m]",
        ylabel="y [m]",
    )
    shapes = [axes.plot([], [], color="#495057")[0] for _ in range(2)]
    target = axes.plot([], [], "k*", markersize=10)[0]
    paths = [axes.plot([], [], color=c, linewidth=0.8)[0] for _, c in zip(runs, COLOURS, strict=False)]
    carts = [
        [axes.plot([], [], color=c, linewidth=1.5)[0] for _ in cart(run, 0)]
        for run, c in zip(runs, COLOURS, strict=False)
    ]
    frames = np.arange(0, len(runs[0]["time"]), round(speed / fps / STEP))

    def draw(i: int) -> None:
        k = int(frames[i])
        for line, (x, y) in zip(shapes, ellipses(runs[0], k), strict=True):
            line.set_data(x, y)
        target.set_data([runs[0]["target.x"][k]], [runs[0]["target.y"][k]])
        for run, path, lines in zip(runs, paths, carts, strict=True):
            path.set_data(run["pose.x"][: k + 1], run["pose.y"][: k + 1])
            for line, (x, y) in zip(lines, cart(run, k), strict=True):
                line.set_data(x, y)
        axes.set_title(f"t = {runs[0]['time'][k]:4.1f} s")

    FuncAnimation(figure, draw, frames=len(frames)).save(
        f"cart_figure2_{name}.gif", writer=PillowWriter(fps=fps), dpi=72
    )
    plt.close(figure)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "cart"
    if name not in CASES:
        sys.exit(f"there is no case {name}; cases: {', '.join(CASES)}")
    case = CASES[name]
    runs = []
    for start in case.starts:
        run = drive(case, start)
        miss = np.hypot(run["pose.x"][-1] - run["target.x"][-1], run["pose.y"][-1] - run["target.y"][-1])
        largest = max(np.max(np.abs(run[torque])) for torque in TORQUES)
        print(
            f"from ({start[0]:5.1f}, {start[1]:5.1f}): {1000 * miss:6.2f} mm off the target after {case.stop:g} s, "
            f"clearance of M at least {np.min(run['clearance_min']):.3f} m, torques up to {largest:.1f} N m"
        )
        runs.append(run)
    picture(f"cart_figure2_{name}.png", case, runs)
    film(name, case, runs)
    print(f"wrote cart_figure2_{name}.png and cart_figure2_{name}.gif")


if __name__ == "__main__":
    main()
