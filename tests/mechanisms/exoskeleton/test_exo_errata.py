"""Four errors of the printed paper that change results: with each of them, a check that the right equations pass fails.

The checks are physical: golden accelerations, equilibrium, energy and angular momentum of a free flight. The recursion
also differs from every wrong form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.exo_golden import Case, case, fast, load, worst
from helpers.tolerances import DENSE_TRAJECTORY, EXO_ENERGY, EXO_GOLDEN, EXO_TRAJECTORY, FORMS, STANDING_ACCELERATION
from mechfmu.mechanisms.exoskeleton import matrices as dense
from mechfmu.mechanisms.exoskeleton.topology import Limbs

Form = Callable[[Case], np.ndarray]  # (q'', l'')


def changed(change: Callable[[Case, dense.Matrices], dense.Matrices]) -> Form:
    """The accelerations of the matrix form with an error put in."""

    def form(c: Case) -> np.ndarray:
        wrong = change(c, dense.matrices(c.limbs, c.links, c.state, c.loads))
        return np.linalg.solve(*dense.system(wrong, c.state, c.loads.Id, c.g))

    return form


def reactions_only_in_the_rows_of_x_and_y(c: Case, m: dense.Matrices) -> dense.Matrices:
    """(4), (5), (7), (8), (13)-(16), (19)-(22), (34), (38) as printed."""
    without = dense.matrices(c.limbs, c.links, c.state, c.loads._replace(R=np.zeros((2, 2))))
    return m._replace(F=np.concatenate([m.F[:2], without.F[2:]]), S=without.S)


def sign_in_16(c: Case, m: dense.Matrices) -> dense.Matrices:
    """The term of phi_3'^2 in the row of phi_4, printed with a minus."""
    B = m.B.copy()
    B[2 + 3, 2 + 2] *= -1
    return m._replace(B=B)


def cosine_in_K(c: Case, m: dense.Matrices) -> dense.Matrices:
    """(35): the entry of the last link has cos instead of sin."""
    K = m.K.copy()
    K[-1] *= np.cos(c.state.q[-1]) / np.sin(c.state.q[-1])
    return m._replace(K=K)


def nothing_acts_in_flight(c: Case, m: dense.Matrices) -> dense.Matrices:
    """The right-hand sides of a flight set to zero: no springs, no inner moments."""
    return m._replace(F=0 * m.F, S=0 * m.S)


right = changed(lambda _, m: m)


# --- checks -----------------------------------------------------------------------------------------------------------


def golden(form: Form, name: str, only: Callable[[Case], bool] = lambda _: True) -> None:
    data = load(name)
    limbs = Limbs(data["k"], data["p"], data["r"])
    pairs = [(case(limbs, c), c["expect"]) for c in data["cases"]]
    for c, expect in pairs:
        if only(c):
            assert worst(form(c), expect["qdd"] + expect["ldd"]) < EXO_GOLDEN


def equilibrium(form: Form) -> None:
    data = load("static_6link_double")
    c = case(Limbs(2, 2, 2), data)
    standing = c.with_(loads=c.loads._replace(R=np.reshape(data["expect"]["reactions"], (2, 2))))
    assert np.max(np.abs(form(standing))) < STANDING_ACCELERATION, "standing still means no acceleration"


def free_flight(form: Form) -> None:
    """Energy and angular momentum of the golden flight, for a quarter of a second."""
    data = load("flight_6link")
    p, limbs = data["params"], Limbs(2, 2, 2)
    zero = np.zeros(6)
    links = dense.Links(*(np.array(p[k]) for k in ("m", "n", "l0", "ks", "d", "jr", "ja")))
    loads = dense.Loads(zero, zero, np.zeros((2, 2)), np.array(p["I0"]), zero)

    def at(y: np.ndarray) -> Case:
        return Case(limbs, links, dense.State(y[:8], y[8:16], y[16:22], y[22:]), loads, p["g"])

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        acc = form(at(y))
        return np.concatenate([y[8:16], acc[:8], y[22:], acc[8:]])

    start = np.concatenate([data[k][0] for k in ("q", "qd", "l", "ld")])
    end = solve_ivp(rates, (0, 0.25), start, "DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    wanted = [data[k][25] for k in ("q", "qd", "l", "ld")]
    energy, momentum = invariants(at(end))
    assert energy == pytest.approx(data["E"][0], abs=EXO_ENERGY)
    assert momentum == pytest.approx(data["Hc"][0], abs=EXO_TRAJECTORY)
    assert end == pytest.approx(np.concatenate(wanted), abs=DENSE_TRAJECTORY)


def invariants(c: Case) -> tuple[float, float]:
    """Energy and angular momentum about the mass centre, from the mass matrix and positions."""
    mass, _ = dense.system(dense.matrices(c.limbs, c.links, c.state, c.loads), c.state, c.loads.Id, c.g)
    m, l0 = c.links.m, c.links.l0
    sigma, fraction = c.limbs.sigma, c.limbs.c(c.links.n)
    at = np.zeros((c.limbs.n, 2))
    for branch in c.limbs.branches:
        node = c.state.q[:2]
        for i in branch:
            step = sigma[i] * c.state.l[i] * np.array([np.cos(c.state.q[2 + i]), np.sin(c.state.q[2 + i])])
            at[i], node = node + fraction[i] * step, node + step
    energy = 0.5 * c.v @ mass @ c.v + c.g * m @ at[:, 1] + 0.5 * c.links.k @ (c.state.l - l0) ** 2
    centre = m @ at / m.sum()
    # a unit turn about the mass centre moves the hip across its arm and all angles alike
    turn = np.concatenate(
        [[-(c.state.q[1] - centre[1]), c.state.q[0] - centre[0]], np.ones(c.limbs.n), np.zeros(c.limbs.n)]
    )
    return float(energy), float(turn @ mass @ c.v)


def in_flight(c: Case) -> bool:
    return not np.any(c.loads.R) and not np.any(c.loads.tau)


PAPER = [
    (reactions_only_in_the_rows_of_x_and_y, equilibrium),
    (reactions_only_in_the_rows_of_x_and_y, lambda form: golden(form, "acc_3link")),
    (sign_in_16, lambda form: golden(form, "acc_6link")),
    (sign_in_16, free_flight),
    (cosine_in_K, lambda form: golden(form, "acc_3link")),
    (cosine_in_K, free_flight),
    (nothing_acts_in_flight, lambda form: golden(form, "acc_3link", in_flight)),
    (nothing_acts_in_flight, free_flight),
]


@pytest.mark.parametrize(("error", "check"), PAPER, ids=lambda f: f.__name__.replace("<lambda>", "golden"))
def test_the_error_would_be_noticed(
    error: Callable[[Case, dense.Matrices], dense.Matrices], check: Callable[[Form], None]
) -> None:
    check(right)
    with pytest.raises(AssertionError):
        check(changed(error))


@pytest.mark.parametrize(
    "error",
    (reactions_only_in_the_rows_of_x_and_y, sign_in_16, cosine_in_K, nothing_acts_in_flight),
    ids=lambda f: f.__name__,
)
def test_the_recursion_differs_from_it(error: Callable[[Case, dense.Matrices], dense.Matrices]) -> None:
    data = load("acc_6link")
    c = case(Limbs(2, 2, 2), data["cases"][1])
    assert worst(right(c), fast(c)) < FORMS
    assert worst(changed(error)(c), fast(c)) > 1e3 * FORMS


def test_how_wrong_the_printed_reactions_are() -> None:
    """As specified: accelerations of several hundred at a standing equilibrium, and legs that are stretched."""
    data = load("static_6link_double")
    c = case(Limbs(2, 2, 2), data)
    standing = c.with_(loads=c.loads._replace(R=np.reshape(data["expect"]["reactions"], (2, 2))))
    assert np.max(np.abs(changed(reactions_only_in_the_rows_of_x_and_y)(standing))) > 100
    m = dense.matrices(c.limbs, standing.links, standing.state, standing.loads)
    # static row of the length: g K = S; without R in S the spring force of a leg link is -g K < 0, a pull
    assert np.all(c.g * m.K[2:6] < 0) and np.all((c.links.k * (c.links.l0 - c.state.l))[:4] > 0)
