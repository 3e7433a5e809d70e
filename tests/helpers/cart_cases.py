"""Carts, scenarios and closed loops that tests share; the golden data in the names of the variables' contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from helpers.paths import GOLDEN_DATA
from mechfmu.control.guidance import Guidance, Obstacle, Target
from mechfmu.control.jets import constant, constants
from mechfmu.mechanisms.cart_controller.model import CartController
from mechfmu.mechanisms.wheeled_cart.equations import Cart, constants_of
from mechfmu.mechanisms.wheeled_cart.model import WheeledCart
from mechfmu.model import Mechanism
from mechfmu.simulation.engines import engine

FOLDER = GOLDEN_DATA / "wheeled_cart"


@cache
def golden(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text())


# --- golden names -> names of the contract ----------------------------------------------------------------------------

CART_NAMES = {
    "m0": "body.mass",
    "k0": "body.gyration_radius",
    "m1": "wheel.mass",
    "r": "wheel.radius",
    "C": "wheel.axial_inertia",
    "A": "wheel.diametral_inertia",
    "l1": "geometry.front",
    "l2": "geometry.rear",
    "h": "geometry.half_track",
}
GUIDANCE_NAMES = {
    "K": "guidance.gain",
    "vc": "guidance.cruise_speed",
    "d": "guidance.influence",
    "eps": "guidance.smoothing",
    "beta": "guidance.swirl",
    "kout": "guidance.push_out",
}
GAIN_NAMES = {
    "k0": "constraint.k0",
    "k1": "constraint.k1",
    "kz": "constraint.kz",
    "eps_s": "constraint.damping",
    "kd": "constraint.rate_gain",
}
OBSTACLE_NAMES = {
    "cx": "x",
    "cy": "y",
    "vx": "velocity_x",
    "vy": "velocity_y",
    "theta": "angle",
    "omega": "rotation_rate",
    "a": "semi_axis_a",
    "b": "semi_axis_b",
    "chi": "side",
}
Q = ("pose.x", "pose.y", "steering.angle", "pose.heading", "wheel.front_angle", "wheel.left_angle", "wheel.right_angle")
DQ = (
    "pose.velocity_x",
    "pose.velocity_y",
    "steering.rate",
    "yaw_rate",
    "wheel.front_rate",
    "wheel.left_rate",
    "wheel.right_rate",
)
NU = {"rigid": ("front.speed", "steering.rate"), "free": ("rear.speed", "yaw_rate", "steering.rate")}
TORQUES = ("wheel.left_torque", "wheel.right_torque", "steering.torque")
REQUESTED = tuple(f"{name}_requested" for name in TORQUES)
LIMITLESS = {"limit.wheel_torque": 1e6, "limit.steering_torque": 1e6}


def starts(names: tuple[str, ...], values: Any) -> dict[str, float]:
    return {f"{name}_start": float(value) for name, value in zip(names, values, strict=True)}


def named(names: Mapping[str, str], values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(values[key]) for key, name in names.items() if key in values}


def scenario_inputs(scenario: Mapping[str, Any], t: float = 0.0) -> dict[str, float]:
    """Target and obstacles at time t, as the controller's inputs."""
    target = scenario["target"]
    found = {"target.x": target["x"] + target["vx"] * t, "target.y": target["y"] + target["vy"] * t}
    found |= {"target.velocity_x": target["vx"], "target.velocity_y": target["vy"]}
    for i, o in enumerate(scenario["obstacles"], start=1):
        now = {**o, "cx": o["cx"] + o["vx"] * t, "cy": o["cy"] + o["vy"] * t, "theta": o["theta"] + o["omega"] * t}
        found |= {f"obstacle[{i}].{name}": now[key] for key, name in OBSTACLE_NAMES.items()} | {
            f"obstacle[{i}].active": 1.0
        }
    return found


def scenario_objects(scenario: Mapping[str, Any], t: float = 0.0) -> tuple[Target, list[Obstacle]]:
    """Target and obstacles at time t, as arguments of the guidance functions."""
    T = scenario["target"]
    obstacles = [Obstacle(*(o[key] for key in OBSTACLE_NAMES)).after(t) for o in scenario["obstacles"]]
    return Target(T["x"] + T["vx"] * t, T["y"] + T["vy"] * t, T["vx"], T["vy"]), obstacles


def golden_guidance(name: str = "guidance_field") -> Guidance:
    return Guidance(*(golden(name)["guidance"][key] for key in Guidance._fields))


def default_constants(**changes: float):
    parameters = {**golden("closed_loop_rigid")["parameters"], **changes}
    return constants_of(Cart(*(parameters[name] for name in Cart._fields)))


def field_on_jets(
    field: Callable[..., Any], target: Target, obstacles: list[Obstacle], *parameters: Any
) -> Callable[..., Any]:
    """field(x, y, t) for a program, with t counted from now."""
    T, O = constants(target), [constants(o) for o in obstacles]
    wrapped = [constants(p) if isinstance(p, tuple) else constant(p) for p in parameters]
    return lambda x, y, t: field(
        x, y, T._replace(x=t * T.vx + T.x, y=t * T.vy + T.y), [o.after(t) for o in O], *wrapped
    )


# --- mechanisms, evaluated --------------------------------------------------------------------------------------------


@cache
def _engine(name: str, kind: type[Mechanism], options: tuple[tuple[str, object], ...]):
    return engine(name, kind(**dict(options)))


def engine_of(name: str, mechanism: Mechanism):
    """An engine, made once for mechanisms that are alike."""
    return _engine(name, type(mechanism), tuple(mechanism.options.items()))


def evaluated(
    mechanism: Mechanism, start: Mapping[str, float], name: str = "casadi", t: float = 0.0
) -> dict[str, float]:
    """States, outputs and derivatives at the start, by name."""
    _, x, d, u, p = mechanism.start(start)
    e = engine_of(name, mechanism)
    values = {"state": x, "output": e.outputs(t, x, d, u, p), "derivative": e.rates(t, x, d, u, p)}
    return {s.name: float(values[s.role][s.index]) for s in mechanism.table.of("state", "output", "derivative")}


class Loop:
    """Controller and plant as one set of differential equations, without sampling.

    The scenario's target and obstacles move uniformly.
    """

    def __init__(
        self,
        scenario: Mapping[str, Any],
        start: Mapping[str, float],
        control: Mapping[str, float],
        front: str = "rigid",
        cart: Mapping[str, float] | None = None,
        law: str | None = None,
        engine_name: str = "casadi",
    ):
        self.scenario, cart = scenario, cart or {}
        self.plant = WheeledCart(front=front)
        self.controller = CartController(
            front=law or ("free" if front == "free" else "rigid"), obstacles=len(scenario["obstacles"])
        )
        self._plant, self._controller = engine_of(engine_name, self.plant), engine_of(engine_name, self.controller)
        _, self.x, self.d, self.u, self.p = self.plant.start({**cart, **start})
        _, _, _, self.uc, self.pc = self.controller.start({**cart, **control, **scenario_inputs(scenario)})
        inputs = {s.name: s.index for s in self.controller.table.of("input")}
        self._states = [(inputs[s.name], s.index) for s in self.plant.table.of("state") if s.name in inputs]
        self._outputs = [(inputs[s.name], s.index) for s in self.plant.table.of("output") if s.name in inputs]
        self._torques = [(self.plant.table.by_name[n].index, self.controller.table.by_name[n].index) for n in TORQUES]
        who = ["target", *(f"obstacle[{i}]" for i in range(1, len(scenario["obstacles"]) + 1))]
        moving = [(f"{w}.{axis}", f"{w}.velocity_{axis}") for w in who for axis in "xy"] + [
            (f"{w}.angle", f"{w}.rotation_rate") for w in who[1:]
        ]
        self._moving = [(inputs[position], inputs[rate]) for position, rate in moving]

    def control(self, t: float, x: np.ndarray) -> np.ndarray:
        """The controller's outputs at a state of the plant."""
        uc = self.uc.copy()
        for position, rate in self._moving:
            uc[position] = self.uc[position] + t * self.uc[rate]
        for to, of in self._states:
            uc[to] = x[of]
        if self._outputs:
            y = self._plant.outputs(t, x, self.d, self.u, self.p)
            for to, of in self._outputs:
                uc[to] = y[of]
        return self._controller.outputs(t, np.zeros(0), np.zeros(0), uc, self.pc)

    def rates(self, t: float, x: np.ndarray) -> np.ndarray:
        y = self.control(t, x)
        u = self.u.copy()
        for to, of in self._torques:
            u[to] = y[of]
        return self._plant.rates(t, x, self.d, u, self.p)

    def run(self, times: np.ndarray, rtol: float = 1e-11) -> SimpleNamespace:
        """States of the plant and outputs of the controller by name, at the times."""
        solution = solve_ivp(self.rates, (times[0], times[-1]), self.x, "DOP853", t_eval=times, rtol=rtol, atol=rtol)
        assert solution.success, solution.message
        controls = np.array([self.control(t, x) for t, x in zip(times, solution.y.T, strict=True)])
        plant = {s.name: solution.y[s.index] for s in self.plant.table.of("state")}
        return SimpleNamespace(
            t=times,
            x=solution.y,
            plant=plant,
            control={s.name: controls[:, s.index] for s in self.controller.table.of("output")},
        )


def golden_loop(front: str = "rigid", **control: float) -> Loop:
    """The closed loop of the golden data."""
    data = golden("closed_loop_rigid")
    first = data["samples"][0]
    scenario = golden("guidance_field")["scenarios"][data["scenario"]]
    settings = named(GUIDANCE_NAMES, data["guidance"]) | named(GAIN_NAMES, data["controller"]) | LIMITLESS | control
    if front == "rigid":
        start = starts(Q, first["q"]) | starts(NU["rigid"], first["nu"])
    else:
        start = starts(Q, first["q"]) | {"rear.speed_start": 0.1, "yaw_rate_start": 0.02, "steering.rate_start": 0.0}
    return Loop(scenario, start, settings, front, named(CART_NAMES, data["parameters"]))
