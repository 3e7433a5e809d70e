"""Random scenarios: with the design rule kept none enters an obstacle and none misses the target.

What breaks the rule is flagged.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.cart_cases import default_constants
from helpers.cart_monte_carlo import Scenarios, drive, follow_field, random_scenarios
from mechfmu.control.guidance import Guidance, Obstacle, Target, influence_needed

GUIDANCE = Guidance(0.8, 0.6, 0.5, 0.05, 0.1, 1.0)
ENSEMBLES = {
    "static": dict(obstacles=4),
    "narrow": dict(obstacles=4, gap=0.05, box=3.5, size=(0.4, 1.2)),
    "moving": dict(speed=0.4),
    "rotating": dict(speed=0.2, rotation=0.3, gap=0.4),
}
K = default_constants()
ACCELERATION = 2 * 10.0 / (K.r * K.ae)  # of the default cart at its torque limit


@pytest.mark.parametrize("name", ENSEMBLES)
def test_kinematically(name: str) -> None:
    """150 scenarios of each kind, 600 together, for 60 s."""
    scenarios = random_scenarios(150, seed=11, **ENSEMBLES[name])
    clearance, miss = follow_field(scenarios, GUIDANCE, 60.0)
    assert np.min(clearance) > 0.0
    assert np.max(miss) < 0.01


def test_with_full_dynamics_and_torque_limits() -> None:
    """100 carts start at rest with random heading and steering among moving, rotating obstacles.

    Torques are held over 20 ms. The start is as far off the obstacles as the violation of the program there requires:
    |z|/kz + 2 |y|/sqrt(k0) <= 1.2 m at 0.6 m/s and L/l2 = 8/3.
    """
    n = 100
    scenarios = random_scenarios(
        n,
        seed=5,
        obstacles=3,
        speed=0.3,
        rotation=0.1,
        gap=0.3,
        start=1.2,
        free=1.0,
        stop=60.0,
        box=7.0,
        footprint=0.65,
    )
    random = np.random.default_rng(6)
    wide = [o._replace(a=o.a + 1.0, b=o.b + 1.0) for o in scenarios.obstacles]  # a bound for what the footprint adds
    d = np.maximum(0.5, influence_needed(wide, 0.6, ACCELERATION))
    settings = {"guidance.footprint": 0.65, "guidance.influence": d}
    clearance, miss, flags = drive(scenarios, settings, random.uniform(-3, 3, n), random.uniform(-0.6, 0.6, n), 60.0)
    assert np.min(clearance) > 0.0
    assert np.max(miss) < 0.02
    assert (
        not np.any(flags["influence_short"])
        and not np.any(flags["inside_obstacle"])
        and not np.any(flags["target_blocked"])
    )
    assert np.mean(flags["saturated"]) > 0.1  # the limits have a say


def test_what_breaks_the_rule_is_flagged() -> None:
    """A fast obstacle drives at the cart.

    With a short influence distance the limited torques come too late, and it is hit; the flag is set.
    """
    n = 40
    random = np.random.default_rng(8)
    one = np.ones(n)
    runner = Obstacle(
        6 * one, random.uniform(-0.3, 0.3, n), -1.2 * one, 0 * one, 0 * one, 0 * one, one, 0.8 * one, one, one
    )
    scenarios = Scenarios(0 * one, 0 * one, Target(-1.0 * one, 0 * one, 0 * one, 0 * one), [runner])
    results = {}
    for d in (0.15, 2 * (0.6 + 1.2) ** 2 / ACCELERATION):
        clearance, _, flags = drive(scenarios, {"guidance.influence": d + 1e-9}, random.uniform(-3, 3, n), 0 * one, 8.0)
        results[d] = np.min(clearance), np.mean(flags["influence_short"]), np.mean(flags["inside_obstacle"])
    (hit, flagged, inside), (safe, quiet, outside) = results.values()
    assert hit < 0.0 and flagged == 1.0 and inside > 0.0
    assert safe > 0.0 and quiet == 0.0 and outside == 0.0
