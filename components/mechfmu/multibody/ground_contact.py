"""Force of the ground, an inclined plane, on a sphere: normal force of Hunt and Crossley, regularised Coulomb friction.

            n                        The plane passes through (0, 0, h) and is turned about y by beta:
       ___  ^
     /     \\|                             n = (sin beta, 0, cos beta)                                              (1)
    |   c   |
     \\_____/     v_p                 The centre c of the sphere of radius rho moves with v, the sphere turns with w.
    ----p------->----- z = h

Depth of the lowest point p = c - rho n below the plane, and its rate:

    delta = rho - (c - h e_z) . n ,     delta' = -v . n                                                            (2)

Normal force, with delta+ = max(delta, 0):

    N = k delta+^2 max(1 + d delta', 0)                                                                            (3)

It grows from zero without a step and with a continuous slope, so that a touch is not an event; it never pulls. The
exponent 2 makes the law a polynomial: its derivatives exist everywhere, also without contact. A sphere under the load W
rests at the depth sqrt(W / k). A mass that hits the ground with the speed v leaves it with e v, where e depends on d v
only and is 1 - 2 d v / 3 for small ones: with u = delta', m u du = -k delta^2 (1 + d u) ddelta integrates to

    d v - ln(1 + d v) = -d e v - ln(1 - d e v)

The point p slides with s along the plane. With the friction speed v_f and x = |s| / v_f,

    s = v_p - (v_p . n) n ,   v_p = v - rho w x n                                                                  (4)
    T = -N s / v_f (mu_d g(x) + (mu_s - mu_d) 16 / (x^2 + 3)^2)                                                    (5)
    g(x) = (3 - x^2) / 2  for x < 1,  1 / x  beyond                                                                (6)

|T| / N rises from zero to its largest value, exactly the static coefficient mu_s, at x = 1, and then falls to the
sliding coefficient mu_d: both x g(x) and 16 x / (x^2 + 3)^2 have the value 1 and the slope 0 at x = 1; the second is
the bell of Brown and McPhee (Int. J. Non-Linear Mech. 2016). So a body sticks as long as a force below mu_s N acts on
it; it then creeps, slower than v_f. With mu_s >= mu_d >= 0 the bracket is not negative.

The normal force stores E = k delta+^3 / 3; the rest of the power is lost, and both terms of the loss are >= 0:

    loss = (N - k delta+^2) delta' - T . s                                                                         (7)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rotations import cross

Array = Any


@dataclass(frozen=True)
class Ground:
    """The plane and the parameters of the law."""

    height: Array  # h
    inclination: Array  # beta
    stiffness: Array  # k
    damping: Array  # d
    static_friction: Array  # mu_s
    sliding_friction: Array  # mu_d
    friction_speed: Array  # v_f

    @property
    def normal(self) -> Array:
        """(1)."""
        return normal(self.inclination)


def normal(inclination: Array) -> Array:
    """(1)."""
    return np.stack([np.sin(inclination), 0.0 * inclination, np.cos(inclination)])


@dataclass(frozen=True)
class GroundForce:
    """The force on a sphere and the point on which it acts, in world axes."""

    force: Array
    point: Array  # p
    depth: Array  # delta, negative above the ground
    energy: Array  # E
    loss: Array


def ground_force(ground: Ground, centre: Array, v: Array, w: Array, radius: float) -> GroundForce:
    """Return the force on a sphere from its centre, its velocity and angular velocity in world axes."""
    n, k = ground.normal, ground.stiffness
    depth = radius - centre[0] * n[0] - (centre[2] - ground.height) * n[2]  # (2)
    inwards = -(v[0] * n[0] + v[2] * n[2])
    pressed = np.maximum(depth, 0.0)
    elastic = k * pressed * pressed
    N = elastic * np.maximum(1.0 + ground.damping * inwards, 0.0)  # (3)
    arm = -radius * n
    slip = v + cross(w, arm) + inwards * n  # (4): arm is along n, so that v_p . n = v . n
    s = slip / ground.friction_speed
    x2 = np.sum(s * s)
    g = np.where(x2 < 1.0, 0.5 * (3.0 - x2), 1.0 / np.sqrt(np.maximum(x2, 1.0)))  # (6)
    more = ground.static_friction - ground.sliding_friction
    T = -N * (ground.sliding_friction * g + more * 16.0 / (x2 + 3.0) ** 2) * s  # (5)
    loss = (N - elastic) * inwards - np.sum(T * slip)  # (7)
    return GroundForce(N * n + T, centre + arm, depth, elastic * pressed / 3.0, loss)
