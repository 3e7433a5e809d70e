"""The force law of the ground by itself: friction between its coefficients, smooth where it begins."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from mechfmu.codegen.recording import numpy_mode
from mechfmu.multibody.ground_contact import Ground, ground_force

GROUND = Ground(0.3, 0.0, 1e6, 2.0, 0.9, 0.6, 0.02)
DEEP = np.array([0.0, 0.0, 0.299])


def friction(speed: float) -> float:
    """Over the normal force, against the motion."""
    found = ground_force(GROUND, DEEP, np.array([0.6 * speed, 0.8 * speed, 0.0]), np.zeros(3), 0.0)
    assert found.force[:2] / np.linalg.norm(found.force[:2]) == pytest.approx([-0.6, -0.8])
    return float(np.linalg.norm(found.force[:2]) / found.force[2])


def test_friction_rises_to_the_static_coefficient_and_falls_to_the_sliding_one() -> None:
    rising = [friction(s) for s in np.linspace(1e-4, 0.02, 50)]
    falling = [friction(s) for s in np.geomspace(0.02, 2.0, 50)]
    assert np.all(np.diff(rising) > 0)
    assert np.all(np.diff(falling) < 0)
    assert rising[-1] == pytest.approx(0.9, rel=1e-14)
    assert falling[-1] == pytest.approx(0.6, abs=1e-5)


def test_the_normal_force_never_pulls() -> None:
    for speed in np.linspace(-3.0, 3.0, 25):
        found = ground_force(GROUND, DEEP, np.array([0.0, 0.0, speed]), np.zeros(3), 0.0)
        assert found.force[2] == pytest.approx(1e6 * 1e-6 * max(1 - 2 * speed, 0.0), rel=1e-9)
        assert found.loss >= 0


@pytest.mark.parametrize("height", (0.25, 0.31, 0.4), ids=("pressed", "touching", "above"))
def test_derivatives_are_finite_everywhere(height: float) -> None:
    """Also at rest, and at the very instant of touching."""
    with numpy_mode():
        z = casadi.SX.sym("z", 9)
        flat = np.reshape(z, (9,))
        found = ground_force(GROUND, flat[0:3], flat[3:6], flat[6:9], 0.01)
        parts = [found.force[i] for i in range(3)] + [found.depth, found.energy, found.loss]
        slope = casadi.Function("slope", [z], [casadi.jacobian(casadi.vertcat(*(casadi.SX(p) for p in parts)), z)])
    for speed in (0.0, 0.02, 1.0):
        values = np.array(slope([0.0, 0.0, height, speed, 0.0, 0.0, 0.0, 0.0, 0.0]))
        assert np.all(np.isfinite(values))
        if height > 0.3:
            assert not values[:3].any()
