"""Target and obstacles as variables: parameters and outputs of the scenario, inputs of the cart's controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.guidance import Obstacle, Target
from ...model.mechanism import Array
from ...model.variables import Role, Row

# At t = 0: one ellipse drives away in front of the target, another one crosses behind it.
# Further obstacles are inactive.
TARGET = Target(0.0, 0.0, -0.1, 0.0)
OBSTACLES = (
    Obstacle(-2.0, 0.0, -0.12, 0.0, 0.0, 0.0, 1.0, 0.5, 1.0),
    Obstacle(1.0, 1.5, -0.25, 0.0, 0.0, 0.0, 2.0, 0.75, 1.0),
)

TARGET_VARIABLES = {  # by field: name, description, unit
    "x": ("x", "position of the target, x", "m"),
    "y": ("y", "position of the target, y", "m"),
    "vx": ("velocity_x", "velocity of the target, x", "m/s"),
    "vy": ("velocity_y", "velocity of the target, y", "m/s"),
}
OBSTACLE_VARIABLES = {
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
LIMITS: dict[str, dict[str, float]] = {
    "a": {"min": 0.0},
    "b": {"min": 0.0},
    "side": {"min": -1.0, "max": 1.0},
    "active": {"min": 0.0, "max": 1.0},
}


def scenario_rows(role: Role, count: int, suffix: str = "") -> list[Row]:
    """Target and obstacles as inputs, outputs, or (with a suffix) parameters."""
    inactive = Obstacle(20.0, 20.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
    spare = [inactive._replace(x=20.0 + 3.0 * i) for i in range(len(OBSTACLES), count)]
    defaults = (*OBSTACLES[:count], *spare)
    at_start = " at t = 0" if suffix else ""
    rows = [
        Row(f"T_{s}{suffix}", f"target.{name}{suffix}", role, text + at_start, unit, start=getattr(TARGET, s))
        for s, (name, text, unit) in TARGET_VARIABLES.items()
    ]
    for s, (name, text, unit) in OBSTACLE_VARIABLES.items():
        starts = tuple(float(getattr(o, s)) for o in defaults)
        limits: Any = LIMITS.get(s, {}) if role != "output" else {}
        name = f"obstacle[{{k}}].{name}{suffix}"
        rows.append(Row(f"O_{s}{suffix}", name, role, text + at_start, unit, count, starts, **limits))
    return rows


def target_of(named: Any, suffix: str = "") -> Target:
    """The target from a table's values."""
    return Target(*(getattr(named, f"T_{s}{suffix}") for s in Target._fields))


def obstacles_of(named: Any, count: int, suffix: str = "") -> list[Obstacle]:
    """The obstacles from a table's values."""
    return [Obstacle(*(getattr(named, f"O_{s}{suffix}")[i] for s in Obstacle._fields)) for i in range(count)]


def outline(o: Obstacle, points: int = 60) -> tuple[Array, Array]:
    """The boundary of an obstacle as a polyline."""
    s = np.linspace(0.0, 2.0 * np.pi, points)
    x, y = o.a * np.cos(s), o.b * np.sin(s)
    c, d = np.cos(o.angle), np.sin(o.angle)
    return o.x + c * x - d * y, o.y + d * x + c * y
