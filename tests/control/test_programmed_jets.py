"""Jets: Taylor coefficients of NumPy code, against closed forms, differences, and an engine's own derivatives."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from helpers.tolerances import ROUNDING, TWO_METHODS
from mechfmu.codegen.recording import numpy_mode
from mechfmu.control.guidance import smooth_step
from mechfmu.control.jets import Jet, coefficient, constant, time_jet

FUNCTIONS = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "arctan": np.arctan,
    "power": lambda a: a**5 - a**2.5,
    "quotient": lambda a: (1.0 + a) / (a * a + 2.0),
    "reciprocal": lambda a: 3.0 / a,
    "arctan2": lambda a: np.arctan2(a - 2.0, a * a),
    "absolute": lambda a: np.abs(a - 3.0) * a,
    "chosen": lambda a: np.where(a > 0.5, a**3, a),
    "extremes": lambda a: np.maximum(a * a, 0.3) - np.minimum(0.2, a),
    "nested": lambda a: np.sin(np.exp(-a) / np.sqrt(1.0 + a**2)),
    "mixed": lambda a: 2.0 - a / 3.0 + (-a) * np.float64(1.5) - (+a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_two_derivatives_along_a_curve(name: str) -> None:
    """Coefficients (f, f', f''/2) of f(a(tau)) against differences of fourth order."""
    f, c, h = FUNCTIONS[name], (0.83, -0.7, 0.4), 1e-3

    def at(tau: float) -> float:
        return float(f(c[0] + c[1] * tau + c[2] * tau**2))

    values = [at(k * h) for k in (-2, -1, 0, 1, 2)]
    first = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * h)
    second = (16 * (values[3] + values[1]) - (values[4] + values[0]) - 30 * values[2]) / (12 * h * h)
    found = f(Jet(c))
    assert found.c[0] == values[2]
    assert abs(found.c[1] - first) < TWO_METHODS
    assert abs(2 * found.c[2] - second) < TWO_METHODS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_casadi_engine_finds_the_same_derivatives(name: str) -> None:
    f = FUNCTIONS[name]
    tau, a = casadi.SX.sym("tau"), casadi.SX.sym("a", 3)
    with numpy_mode():
        c = np.reshape(a, (3,))
        series = f(Jet((c[0], c[1], c[2])))
        t = np.reshape(tau, (1,))[0]
        plain = casadi.SX(f(c[0] + t * (c[1] + t * c[2])))
        ours = casadi.vertcat(*(casadi.SX(s) for s in series.c))
    slope = casadi.jacobian(plain, tau)
    theirs = casadi.substitute(casadi.vertcat(plain, slope, casadi.jacobian(slope, tau) / 2), tau, 0)
    both = casadi.Function("both", [a], [ours, theirs])
    found, wanted = (np.array(v).ravel() for v in both([0.83, -0.7, 0.4]))
    assert np.max(np.abs(found - wanted)) < ROUNDING * max(1.0, np.max(np.abs(wanted)))


def test_arrays_go_through_linear_functions_and_products() -> None:
    a, b = Jet((np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0]))), np.array([2.0, -1.0, 0.5])
    A = np.arange(9.0).reshape(3, 3)
    functions = (
        np.cumsum,
        np.sum,
        lambda v: A @ v,
        lambda v: v @ b,
        lambda v: np.stack([v[0], v[2], 1.0]),
        lambda v: np.concatenate([v, b]),
        lambda v: np.reshape(v, (3, 1)),
        lambda v: v[1:],
        lambda v: v @ v,
    )
    for f in functions:
        found, h = f(a), 1e-6
        assert np.array_equal(found.c[0], f(a.c[0]))
        assert np.max(np.abs(found.c[1] - (f(a.c[0] + h * a.c[1]) - f(a.c[0] - h * a.c[1])) / (2 * h))) < TWO_METHODS
    assert len(a) == 3


def test_constants_and_time() -> None:
    assert coefficient(constant(3.0) * 2.0, 1) == 0.0
    assert coefficient(7.0, 2) == 0.0
    assert (time_jet(1.5, 2) ** 2).c == (2.25, 3.0, 1.0)
    assert np.sin(time_jet(0.0, 2)).c == pytest.approx((0.0, 1.0, 0.0))
    assert np.cos(time_jet(0.0, 2)).c == pytest.approx(
        (1.0, 0.0, -0.5)
    )  # the second derivative of a function of time itself


def test_series_cut_off_at_different_orders_do_not_mix() -> None:
    with pytest.raises(ValueError, match=r"jets of different orders: \[1, 2\]"):
        time_jet(0.0, 1) * time_jet(0.0, 2)


def test_functions_that_jets_do_not_support_are_rejected() -> None:
    for f in (np.arccosh, lambda a: np.add.reduce(a), lambda a: np.linalg.inv(a)):
        with pytest.raises(TypeError):
            f(Jet((np.eye(2), np.eye(2))))


def test_the_smooth_step_has_three_continuous_derivatives() -> None:
    """Its value and first three derivatives at both ends join those of the constants 0 and 1."""
    for end, value in ((0.0, 0.0), (1.0, 1.0)):
        for side in (1e-12, -1e-12):
            c = smooth_step(Jet((end + side, 1.0, 0.0, 0.0))).c
            assert abs(c[0] - value) < ROUNDING
            assert max(abs(v) for v in c[1:]) < 1e-9  # the fourth derivative, 840, times the distance from the end
