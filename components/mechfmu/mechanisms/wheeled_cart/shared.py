"""What the cart, its controller and its scenario have in common: parameters, names, and the default scenario."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.guidance import Obstacle, Target
from ...model.mechanism import Array
from ...model.variables import Role, Row
from .equations import Cart

CART_ROWS = (
    Row("m0", "body.mass", "parameter", "mass of the body without wheels", "kg", start=40.0, above=0.0),
    Row("k0", "body.gyration_radius", "parameter", "radius of gyration of the body about its mass centre M", "m", start=0.3, above=0.0),
    Row("m1", "wheel.mass", "parameter", "mass of a wheel", "kg", start=2.0, above=0.0),
    Row("r", "wheel.radius", "parameter", "radius of the wheels", "m", start=0.15, above=0.0),
    Row("C", "wheel.axial_inertia", "parameter", "moment of inertia of a wheel about its axle", "kg.m2", start=2.0 * 0.15**2 / 2, above=0.0),
    Row("A", "wheel.diametral_inertia", "parameter", "moment of inertia of a wheel about a diameter", "kg.m2",
        start=2.0 * 0.15**2 / 4 + 2.0 * 0.05**2 / 12, above=0.0),
    Row("l1", "geometry.front", "parameter", "distance from M forward to the front axle", "m", start=0.5, above=0.0),
    Row("l2", "geometry.rear", "parameter", "distance from M back to the rear axle", "m", start=0.3, above=0.0),
    Row("h", "geometry.half_track", "parameter", "half of the distance between the rear wheels", "m", start=0.3, above=0.0),
)  # fmt: skip

START = {"x": -4.5, "y": 0.8, "heading": 0.3, "steering": 0.2, "speed": 0.1}  # of the cart, outside the obstacles below

# Target and obstacles at t = 0: an ellipse drives away before the target, another one crosses behind it. Further obstacles are switched off.
TARGET = Target(0.0, 0.0, -0.1, 0.0)
OBSTACLES = (
    Obstacle(-2.0, 0.0, -0.12, 0.0, 0.0, 0.0, 1.0, 0.5, 1.0),
    Obstacle(1.0, 1.5, -0.25, 0.0, 0.0, 0.0, 2.0, 0.75, 1.0),
)

_TARGET_TEXTS = {
    "x": ("x", "position of the target, x", "m"),
    "y": ("y", "position of the target, y", "m"),
    "vx": ("velocity_x", "velocity of the target, x", "m/s"),
    "vy": ("velocity_y", "velocity of the target, y", "m/s"),
}
_OBSTACLE_TEXTS = {
    "x": ("x", "centre of obstacle {k}, x", "m"),
    "y": ("y", "centre of obstacle {k}, y", "m"),
    "vx": ("velocity_x", "velocity of the centre of obstacle {k}, x", "m/s"),
    "vy": ("velocity_y", "velocity of the centre of obstacle {k}, y", "m/s"),
    "angle": ("angle", "angle of the axis a of obstacle {k}", "rad"),
    "rate": ("rotation_rate", "rate at which obstacle {k} turns", "rad/s"),
    "a": ("semi_axis_a", "semi-axis a of obstacle {k}; 0: there is no obstacle {k}", "m"),
    "b": ("semi_axis_b", "semi-axis b of obstacle {k}; 0: there is no obstacle {k}", "m"),
    "side": ("side", "side to which obstacle {k} is passed when in doubt: 1 left, -1 right, 0 neither", "1"),
    "active": ("active", "1 when obstacle {k} is there, 0 when not", "1"),
}


def cart_of(p: Any) -> Cart:
    """The cart that the parameters describe."""
    return Cart(*(getattr(p, name) for name in Cart._fields))


def scenario_rows(role: Role, count: int, suffix: str = "") -> list[Row]:
    """Target and obstacles as inputs, outputs, or (with a suffix) parameters."""
    limits: dict[str, Any] = (
        {"a": dict(min=0.0), "b": dict(min=0.0), "side": dict(min=-1.0, max=1.0), "active": dict(min=0.0, max=1.0)}
        if role != "output"
        else {}
    )
    spare = [
        Obstacle(20.0 + 3.0 * i, 20.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0) for i in range(len(OBSTACLES), count)
    ]
    defaults = (*OBSTACLES[:count], *spare)
    at_start = " at t = 0" if suffix else ""
    rows = [
        Row(f"T_{s}{suffix}", f"target.{name}{suffix}", role, text + at_start, unit, start=getattr(TARGET, s))
        for s, (name, text, unit) in _TARGET_TEXTS.items()
    ]
    for symbol, (name, text, unit) in _OBSTACLE_TEXTS.items():
        starts = tuple(float(getattr(o, symbol)) for o in defaults)
        rows.append(
            Row(
                f"O_{symbol}{suffix}",
                f"obstacle[{{k}}].{name}{suffix}",
                role,
                text + at_start,
                unit,
                count,
                starts,
                **limits.get(symbol, {}),
            )
        )
    return rows


def target_of(named: Any, suffix: str = "") -> Target:
    return Target(*(getattr(named, f"T_{s}{suffix}") for s in Target._fields))


def obstacles_of(named: Any, count: int, suffix: str = "") -> list[Obstacle]:
    return [Obstacle(*(getattr(named, f"O_{s}{suffix}")[i] for s in Obstacle._fields)) for i in range(count)]


def limited(torque: Array, limit: Array) -> Array:
    """The torque within +-limit; a limit of 0 is none."""
    return np.where(limit > 0.0, np.minimum(np.maximum(torque, -limit), limit), torque)


def outline(o: Obstacle, points: int = 60) -> tuple[Array, Array]:
    """The boundary of an obstacle as a polyline."""
    s = np.linspace(0.0, 2.0 * np.pi, points)
    x, y = o.a * np.cos(s), o.b * np.sin(s)
    c, d = np.cos(o.angle), np.sin(o.angle)
    return o.x + c * x - d * y, o.y + d * x + c * y
