"""The units of the variable tables: SI exponents, the FMI type each unit stands for, and how a person prefers to read it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Unit:
    """One physical unit. `display` maps the name of a display unit to its factor (value shown = factor * SI value)."""

    name: str
    type_name: str
    exponents: dict[str, int]
    display: dict[str, float] = field(default_factory=dict)

    @property
    def preferred_display(self) -> str | None:
        return next(iter(self.display), None)


_DEG = 180.0 / math.pi

UNITS: dict[str, Unit] = {
    u.name: u
    for u in (
        Unit("s", "Time", {"s": 1}),
        Unit("m", "Length", {"m": 1}),
        Unit("m/s", "Velocity", {"m": 1, "s": -1}),
        Unit("m/s2", "Acceleration", {"m": 1, "s": -2}),
        Unit("kg", "Mass", {"kg": 1}),
        Unit("kg.m2", "MomentOfInertia", {"kg": 1, "m": 2}),
        Unit("rad", "Angle", {"rad": 1}, {"deg": _DEG}),
        Unit("rad/s", "AngularVelocity", {"rad": 1, "s": -1}, {"deg/s": _DEG}),
        Unit("rad/s2", "AngularAcceleration", {"rad": 1, "s": -2}, {"deg/s2": _DEG}),
        Unit("N", "Force", {"kg": 1, "m": 1, "s": -2}),
        Unit("N.m", "Torque", {"kg": 1, "m": 2, "s": -2}),
        Unit("N.m/rad", "RotationalStiffness", {"kg": 1, "m": 2, "s": -2, "rad": -1}),
        Unit("N.m.s/rad", "RotationalDamping", {"kg": 1, "m": 2, "s": -1, "rad": -1}),
        Unit("N/m", "Stiffness", {"kg": 1, "s": -2}),
        Unit("N.s/m", "Damping", {"kg": 1, "s": -1}),
        Unit("kg.m2/s", "AngularMomentum", {"kg": 1, "m": 2, "s": -1}),
        Unit("1/s", "Rate", {"s": -1}),
        Unit("1/s2", "SquaredRate", {"s": -2}),
        Unit("J", "Energy", {"kg": 1, "m": 2, "s": -2}),
        Unit("W", "Power", {"kg": 1, "m": 2, "s": -3}),
        Unit("1", "Ratio", {}),
    )
}


def per_second(unit: str) -> str:
    """The unit of a time derivative, e.g. J -> W; it must be in the table."""
    exponents = dict(UNITS[unit].exponents)
    exponents["s"] = exponents.get("s", 0) - 1
    wanted = {k: v for k, v in exponents.items() if v}
    for u in UNITS.values():
        if u.exponents == wanted:
            return u.name
    raise KeyError(f"no unit for the rate of {unit}: add it to mechfmu/mechanisms/units.py")
