"""Random scenarios for the cart, many at a time: arrays over scenarios in place of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechfmu.codegen.recording import recording_of
from mechfmu.control.guidance import Guidance, Obstacle, Target, distances, inflated, safe_field, separation
from mechfmu.mechanisms.cart_controller.model import CartController
from mechfmu.mechanisms.scenario.variables import OBSTACLE_VARIABLES
from mechfmu.mechanisms.wheeled_cart.model import WheeledCart


@dataclass
class Scenarios:
    """n scenarios: every number of target and obstacles is an array of length n."""

    x: np.ndarray
    y: np.ndarray
    target: Target
    obstacles: list[Obstacle]

    def __len__(self) -> int:
        return len(self.x)

    def at(self, t: float) -> tuple[Target, list[Obstacle]]:
        T = self.target
        return T._replace(x=T.x + t * T.vx, y=T.y + t * T.vy), [o.after(t) for o in self.obstacles]

    def chosen(self, which: np.ndarray) -> Scenarios:
        return Scenarios(
            self.x[which],
            self.y[which],
            Target(*(v[which] for v in self.target)),
            [Obstacle(*(v[which] for v in o)) for o in self.obstacles],
        )


def random_obstacles(
    random: np.random.Generator, m: int, box: float, speed: float, rotation: float, size: tuple[float, float]
) -> Obstacle:
    """m obstacles at once."""
    centre, velocity = random.uniform(-box, box, (2, m)), random.uniform(-speed, speed, (2, m)) / np.sqrt(2)
    angle, rate = random.uniform(-3, 3, m), random.uniform(-rotation, rotation, m)
    axes, side = random.uniform(*size, (2, m)), random.choice([-1.0, 1.0], m)
    return Obstacle(*centre, *velocity, angle, rate, *axes, side, np.ones(m))


def random_scenarios(
    n: int,
    seed: int,
    obstacles: int = 3,
    speed: float = 0.0,
    rotation: float = 0.0,
    gap: float = 0.2,
    start: float = 0.3,
    free: float = 0.6,
    stop: float = 60.0,
    size: tuple[float, float] = (0.4, 2.0),
    box: float = 6.0,
    footprint: float = 0.0,
) -> Scenarios:
    """Scenarios that a path can solve.

    At no time do obstacles come nearer than `gap` to each other; the start is `start` off them; the target is never
    inside one, and `free` off them in the last third of the time.
    """
    random, found = np.random.default_rng(seed), 0
    kept: list[Scenarios] = []
    while found < n:
        m = 2000
        make = [random_obstacles(random, m, box, speed, rotation, size) for _ in range(obstacles)]
        target = Target(*random.uniform(-box, box, (2, m)), *random.uniform(-0.1, 0.1, (2, m)) * (speed > 0))
        all_of_them = Scenarios(*random.uniform(-box - 2, box + 2, (2, m)), target, make)
        good = np.min(distances(all_of_them.x, all_of_them.y, [inflated(o, footprint) for o in make]), axis=0) > start
        moves = speed > 0 or rotation > 0
        for t in np.arange(0.0, stop + 0.1, 0.5) if moves else (0.0,):
            T, now = all_of_them.at(t)
            real = [inflated(o, footprint) for o in now]
            wide = [inflated(o, gap / 2) for o in real]
            for i, a in enumerate(wide):
                for b in wide[i + 1 :]:
                    good &= separation(a, b) > 0
            good &= np.min(distances(T.x, T.y, real), axis=0) > (free if t > stop * 2 / 3 or not moves else 0.05)
        kept.append(all_of_them.chosen(np.flatnonzero(good)))
        found += len(kept[-1])
    target = Target(*(np.concatenate(v) for v in zip(*(k.target for k in kept), strict=True)))
    make = [
        Obstacle(*(np.concatenate(v) for v in zip(*(k.obstacles[i] for k in kept), strict=True)))
        for i in range(obstacles)
    ]
    return Scenarios(np.concatenate([k.x for k in kept]), np.concatenate([k.y for k in kept]), target, make).chosen(
        np.arange(n)
    )


def follow_field(s: Scenarios, g: Guidance, stop: float, dt: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """M moving exactly with the field, by the classical Runge-Kutta method.

    Smallest clearance, and distance from the target at the end.
    """
    x, y = s.x.copy(), s.y.copy()
    clearance = np.full(len(s), np.inf)

    def F(t: float, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.array(safe_field(x, y, *s.at(t), g))

    for k in range(round(stop / dt)):
        t = k * dt
        clearance = np.minimum(clearance, np.min(distances(x, y, s.at(t)[1]), axis=0))
        k1 = F(t, x, y)
        k2 = F(t + dt / 2, x + dt / 2 * k1[0], y + dt / 2 * k1[1])
        k3 = F(t + dt / 2, x + dt / 2 * k2[0], y + dt / 2 * k2[1])
        k4 = F(t + dt, x + dt * k3[0], y + dt * k3[1])
        x, y = np.array([x, y]) + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    T, _ = s.at(stop)
    return clearance, np.hypot(x - T.x, y - T.y)


def drive(
    s: Scenarios,
    settings: dict[str, np.ndarray | float],
    heading: np.ndarray,
    steering: np.ndarray,
    stop: float,
    h: float = 0.02,
):
    """Plant and controller, torques held over h: the recorded equations, evaluated for all scenarios at once.

    Smallest clearance, distance from the target at the end, and the largest value of each flag.
    """
    n, plant, controller = len(s), WheeledCart(), CartController(obstacles=len(s.obstacles))
    rates, law = recording_of(plant).rates.map(n), recording_of(controller).outputs.map(n)
    tp, tc = plant.table, controller.table
    _, x, _, u, p = plant.start({"front.speed_start": 0.0})
    x, u, p = (np.tile(v[:, None], n) for v in (x, u, p))
    _, _, _, uc, pc = controller.start()
    uc, pc = (np.tile(v[:, None], n) for v in (uc, pc))
    for name, value in settings.items():
        pc[tc.by_name[name].index] = value
    for name, value in {"pose.x": s.x, "pose.y": s.y, "pose.heading": heading, "steering.angle": steering}.items():
        x[tp.by_name[name].index] = value
    measured = [
        (tc.by_name[name].index, tp.by_name[name].index)
        for name in ("pose.x", "pose.y", "pose.heading", "steering.angle", "steering.rate", "front.speed")
    ]
    torques = [
        (tp.by_name[name].index, tc.by_name[name].index)
        for name in ("wheel.left_torque", "wheel.right_torque", "steering.torque")
    ]
    words = {field: name for field, (name, _, _) in OBSTACLE_VARIABLES.items()}
    flags = ("inside_obstacle", "overlapping_obstacles", "target_blocked", "influence_short", "saturated")
    worst = {name: np.zeros(n) for name in flags}
    clearance = np.full(n, np.inf)

    def f(x: np.ndarray) -> np.ndarray:
        return np.array(rates(np.zeros((1, n)), x, np.zeros((0, n)), u, p))

    for k in range(round(stop / h)):
        T, obstacles = s.at(k * h)
        for name, value in zip(("x", "y", "velocity_x", "velocity_y"), T, strict=True):
            uc[tc.by_name[f"target.{name}"].index] = value
        for i, o in enumerate(obstacles, start=1):
            for symbol, word in words.items():
                uc[tc.by_name[f"obstacle[{i}].{word}"].index] = getattr(o, symbol)
        for to, of in measured:
            uc[to] = x[of]
        y = np.array(law(np.zeros((1, n)), np.zeros((0, n)), np.zeros((0, n)), uc, pc))
        for to, of in torques:
            u[to] = y[of]
        clearance = np.minimum(clearance, y[tc.by_name["clearance_min"].index])
        for name in flags:
            worst[name] = np.maximum(worst[name], y[tc.by_name[name].index])
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    T, _ = s.at(stop)
    return clearance, np.hypot(x[tp.by_name["pose.x"].index] - T.x, x[tp.by_name["pose.y"].index] - T.y), worst
