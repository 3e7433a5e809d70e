"""The chain where the answer is known on paper: pendulums, and the modes of a hanging chain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ellipk, jn_zeros

from helpers.chains import Case, rate_of
from helpers.tolerances import (
    CLOSED_FORM,
    CONSERVATIVE,
    ROPE,
    SECOND_ORDER,
    SPECIFIED_HIGH_MODE,
    SPECIFIED_MODE,
    TIGHTEST,
)
from mechfmu import LinkChain
from mechfmu.simulation.engines import NAMES

HANGING = -math.pi / 2
GRAVITY = 9.81


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("amplitude", (0.1, 1.0, 2.5, 3.0))
@pytest.mark.parametrize(
    ("com", "inertia"), ((0.5, 1.0 / 12), (0.3, 0.2), (0.8, 0.0)), ids=("rod", "lopsided", "point-mass")
)
def test_period_of_a_pendulum(com: float, inertia: float, amplitude: float, name: str) -> None:
    """T = 4 sqrt(I / (m g lc)) K(sin(A/2)), at any amplitude; quarter, half and whole period are known points."""
    mass = 2.0
    period = 4 * math.sqrt((inertia + mass * com**2) / (mass * GRAVITY * com)) * ellipk(math.sin(amplitude / 2) ** 2)
    start = {
        "link[1].com": com,
        "link[1].mass": mass,
        "link[1].inertia": inertia,
        "joint[1].angle_start": HANGING + amplitude,
        "joint[1].rate_start": 0.0,
    }
    result = LinkChain(links=1).simulate(stop=period, step=period / 4, start=start, tolerance=TIGHTEST, engine=name)
    assert result["joint[1].angle"] == pytest.approx(HANGING + amplitude * np.array([1, 0, -1, 0, 1]), abs=CLOSED_FORM)


def modes(n: int) -> np.ndarray:
    """Angular frequencies of small oscillations about the hanging rest, ascending, from qdd = -A (q - q0)."""
    chain = LinkChain(links=n)
    _, x, _, u, p = chain.start()
    case = Case(chain, x, u, p).set(q=[HANGING] + [0.0] * (n - 1), dq=0.0)

    def accelerations(state: np.ndarray) -> np.ndarray:
        return chain.rates(0.0, state, np.zeros(0), case.u, case.p)[chain.table.x.part("dq")]

    jacobian = np.stack([rate_of(accelerations, case.x, np.eye(case.x.size)[i]) for i in range(n)], axis=1)
    eigenvalues = np.linalg.eigvals(-jacobian)
    assert np.max(np.abs(eigenvalues.imag)) < CONSERVATIVE * np.max(eigenvalues.real), (
        "a conservative system oscillates without decay"
    )
    return np.sqrt(np.sort(eigenvalues.real))


def test_lowest_mode_of_the_hanging_chain_tends_to_that_of_a_rope() -> None:
    """The rope's is j_01/2 sqrt(g/L) = 1.2024 sqrt(g/L); rods come closer as 1/n^2."""
    rope = jn_zeros(0, 1)[0] / 2 * math.sqrt(GRAVITY)
    errors = {n: modes(n)[0] - rope for n in (5, 10, 20)}
    assert modes(10)[0] == pytest.approx(3.767, abs=SPECIFIED_MODE)
    assert errors[20] < ROPE * rope
    assert errors[5] / errors[10] == pytest.approx(4, rel=SECOND_ORDER)
    assert errors[10] / errors[20] == pytest.approx(4, rel=SECOND_ORDER)


@pytest.mark.parametrize(("n", "highest"), ((10, 84), (30, 290)))
def test_highest_mode_of_the_hanging_chain(n: int, highest: float) -> None:
    assert modes(n)[-1] == pytest.approx(highest, abs=SPECIFIED_HIGH_MODE)


@pytest.mark.parametrize("name", NAMES)
def test_a_damped_spring_on_a_weightless_rod_rings_as_on_paper(name: str) -> None:
    """One rod, no gravity: I q'' + d q' + k q = 0, under-damped."""
    inertia, damping, stiffness, rest, start = 0.4, 0.3, 5.0, 0.2, 1.0
    values = {
        "gravity": 0.0,
        "link[1].mass": 1.0,
        "link[1].com": 0.5,
        "link[1].inertia": inertia - 0.25,
        "joint[1].damping": damping,
        "joint[1].stiffness": stiffness,
        "joint[1].rest_angle": rest,
        "joint[1].angle_start": start,
        "joint[1].rate_start": 0.0,
    }
    result = LinkChain(links=1).simulate(stop=3, step=0.1, start=values, tolerance=TIGHTEST, engine=name)
    decay = damping / (2 * inertia)
    w = math.sqrt(stiffness / inertia - decay**2)
    wanted = rest + (start - rest) * np.exp(-decay * result.t) * (
        np.cos(w * result.t) + decay / w * np.sin(w * result.t)
    )
    assert result["joint[1].angle"] == pytest.approx(wanted, abs=CLOSED_FORM)
