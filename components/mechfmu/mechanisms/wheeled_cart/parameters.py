"""Parameters of the cart, which its controller also has, and the default start."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.mechanism import Array
from ...model.variables import Row
from .equations import Cart

AXIAL_INERTIA = 2.0 * 0.15**2 / 2  # kg m2, of a homogeneous disc with the mass and radius below
DIAMETRAL_INERTIA = 2.0 * 0.15**2 / 4 + 2.0 * 0.05**2 / 12  # of this disc, 0.05 m wide

CART_ROWS = tuple(
    Row(symbol, name, "parameter", text, unit, start=start, above=0.0)
    for symbol, name, text, unit, start in (
        ("m0", "body.mass", "mass of the body without wheels", "kg", 40.0),
        ("k0", "body.gyration_radius", "radius of gyration of the body about its mass centre M", "m", 0.3),
        ("m1", "wheel.mass", "mass of a wheel", "kg", 2.0),
        ("r", "wheel.radius", "radius of the wheels", "m", 0.15),
        ("C", "wheel.axial_inertia", "moment of inertia of a wheel about its axle", "kg.m2", AXIAL_INERTIA),
        ("A", "wheel.diametral_inertia", "moment of inertia of a wheel about a diameter", "kg.m2", DIAMETRAL_INERTIA),
        ("l1", "geometry.front", "distance from M forward to the front axle", "m", 0.5),
        ("l2", "geometry.rear", "distance from M back to the rear axle", "m", 0.3),
        ("h", "geometry.half_track", "half of the distance between the rear wheels", "m", 0.3),
    )
)

START = {"x": -4.5, "y": 0.8, "heading": 0.3, "steering": 0.2, "speed": 0.1}  # outside the obstacles of the scenario


def cart_of(p: Any) -> Cart:
    """The cart that the parameters describe."""
    return Cart(*(getattr(p, name) for name in Cart._fields))


def limited(torque: Array, limit: Array) -> Array:
    """The torque within +-limit; a limit of 0 means no limit."""
    return np.where(limit > 0.0, np.minimum(np.maximum(torque, -limit), limit), torque)
