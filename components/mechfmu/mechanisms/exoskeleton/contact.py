"""Feet on the ground: reactions, limits of ankle moments, and impacts, from the mobility Om of the feet (recursion.py).

There are no branches on values: a pair of numbers 0 or 1 selects the feet that take part; for the others R = 0.

    reactions       Om R = a_wanted - a_free                                                              (1)
    plastic impact  Om Lambda = -J v,   v+ = v + M^-1 J^T Lambda,   loss = 1/2 (J v)^T Om^-1 (J v)        (2)
    restitution     Om Lambda = (1 in x, 1 + e in y) * (-J v);      loss = -1/2 Lambda . (J v + J v+)     (3)
    stabilization   a_wanted = -2 s v - s^2 (r - anchor),  r, v of the foot,  s = ground.stabilization    (4)

The feet that take part in an impact are the largest set of candidates whose normal impulses all push, and for which
the other candidates do not move into the ground (v_y+ >= 0). With two feet these are at most three trials.

A foot that lands can throw the other one up a little, which lands again and throws up the first: such a sequence comes
to rest after infinitely many impacts in a short time. So candidates that are all slow enough come to rest at once, even
if one impulse has to pull a little. There may also be no such set at all: to stop a foot that slides fast and closes
slowly without slip can need a pull. The closing feet are stopped nevertheless. The loss (2) is positive in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .blocks import (
    Matrix,
    Vector,
    inverse_general,
    minus,
    minus4,
    plus,
    product_general,
    times_general,
    transposed,
    transposed_times,
)
from .recursion import FootMobility, Mobility

Array = Any
Pair = Sequence[Any]  # one number for each foot

REDUNDANT = 1e-12  # independence below which the reactions of two feet are not determined


def solve(Om: Mobility, on: Pair, rhs: Sequence[Vector]) -> tuple[Vector, Vector]:
    """R with Om R = rhs for the feet that are `on`, R = 0 for the others; block elimination, foot 1 first."""
    first, second, both = on[0], on[1], on[0] * on[1]
    one = _masked(Om[0][0], first)
    across = tuple(both * entry for entry in Om[0][1])
    one_inverse = inverse_general(one)
    left = product_general(transposed(across), one_inverse)  # A21 A11^-1
    two = minus4(_masked(Om[1][1], second), product_general(left, across))
    r_1, r_2 = (first * rhs[0][0], first * rhs[0][1]), (second * rhs[1][0], second * rhs[1][1])
    R_2 = times_general(inverse_general(two), minus(r_2, times_general(left, r_1)))
    R_1 = times_general(one_inverse, minus(r_1, times_general(across, R_2)))
    return R_1, R_2


def independence(Om: Mobility) -> Array:
    """About 1 in general, 0 when Om is singular: both legs rigid and parallel."""
    left = product_general(transposed(Om[0][1]), inverse_general(Om[0][0]))
    two = minus4(Om[1][1], product_general(left, Om[0][1]))
    return (two[0] * two[3] - two[1] * two[2]) / (Om[1][1][0] + Om[1][1][3]) ** 2


class Support(NamedTuple):
    """Forces and moments of the ground on the feet."""

    R: tuple[Vector, Vector]
    ankles: tuple[Any, Any]  # the ankle moments that act


def support(feet: FootMobility, on: Pair, a_wanted: Sequence[Vector], M: Pair, a: Array | None) -> Support:
    """Reactions (1) of the feet that are `on`, and ankle moments within |M_b| <= a R_yb; a = None: no limit.

    A moment M in ankle c acts on shank c as -M, which accelerates foot b by -turn[c][b] M; so the reactions are linear
    in the moments, R = R_0 + Gr M. A moment beyond the limit is set to the limit, M = +-a r / (1 -+ a Gr); three rounds
    over the two feet, because each moment changes the other foot's reaction a little.
    """
    R = solve(feet.Om, on, [minus(w, f) for w, f in zip(a_wanted, feet.a, strict=True)])
    Gr = [solve(feet.Om, on, feet.turn[b]) for b in range(2)]
    moments = [on[b] * M[b] for b in range(2)]
    if a is not None:
        moments = [0.0 * M[0], 0.0 * M[1]]
        reach = [[a / np.maximum(1 + sign * a * Gr[b][b][1], 0.1) for sign in (-1, 1)] for b in range(2)]
        for _ in range(3):
            for b in range(2):
                other = 1 - b
                r = np.maximum(R[b][1] + Gr[other][b][1] * moments[other], 0.0)
                moments[b] = np.minimum(np.maximum(on[b] * M[b], -reach[b][1] * r), reach[b][0] * r)
    forces = tuple(
        tuple(R[b][i] + Gr[0][b][i] * moments[0] + Gr[1][b][i] * moments[1] for i in range(2)) for b in range(2)
    )
    return Support(forces, (moments[0], moments[1]))  # type: ignore[arg-type]


class Impact(NamedTuple):
    Lambda: tuple[Vector, Vector]  # impulses on the feet
    chosen: tuple[Any, Any]  # 1 for the feet that take part
    after: tuple[Vector, Vector]  # velocities of the feet after it
    loss: Array  # of kinetic energy


def impact(Om: Mobility, candidate: Pair, v: Sequence[Vector], e: Pair, slow: Array) -> Impact:
    """The impact of candidate feet with velocities v.

    e: restitution of each foot; candidates that are all slower than `slow` come to rest together.
    """
    rhs = [(-v[b][0], -(1 + e[b]) * v[b][1]) for b in range(2)]
    one, zero = 1.0 + 0.0 * v[0][0], 0.0 * v[0][0]
    regular = independence(Om) > REDUNDANT
    trials = {}
    for on in ((1, 1), (1, 0), (0, 1)):
        takes_part = [flag * candidate[b] for b, flag in enumerate(on)]
        if on == (1, 1):  # of two redundant feet only one can take part
            takes_part[1] = np.where(regular, takes_part[1], 0.0)
        Lambda = solve(Om, takes_part, rhs)
        after = _after(Om, v, Lambda)
        fits = one
        for b in range(2):
            pushes, leaves = Lambda[b][1] >= 0, after[b][1] >= 0
            fits = fits * np.where(takes_part[b] > 0, 1.0 * pushes, np.where(candidate[b] > 0, 1.0 * leaves, 1.0))
        trials[on] = takes_part, Lambda, after, fits
    fastest = np.maximum(*(candidate[b] * (v[b][0] ** 2 + v[b][1] ** 2) for b in range(2)))
    rests = np.where(regular, np.where(fastest < slow**2, 1.0, 0.0), 0.0)
    closing = [candidate[b] * np.where(v[b][1] < 0, 1.0, 0.0) for b in range(2)]
    none = np.where(trials[1, 1][3] + trials[1, 0][3] + trials[0, 1][3] > 0, 0.0, 1.0)
    both, first = trials[1, 1][3] + rests + none * closing[0] * closing[1] > 0, trials[1, 0][3] + none * closing[0] > 0

    def pick(get: Any) -> Any:
        return np.where(both, get(trials[1, 1]), np.where(first, get(trials[1, 0]), get(trials[0, 1])))

    (x_1, y_1), (x_2, y_2) = ([pick(lambda trial, b=b, i=i: trial[1][b][i]) for i in range(2)] for b in range(2))
    impulses = (x_1, y_1), (x_2, y_2)
    chosen = (pick(lambda trial: trial[0][0] + zero), pick(lambda trial: trial[0][1] + zero))
    after = _after(Om, v, impulses)
    loss = -0.5 * sum(impulses[b][i] * (v[b][i] + after[b][i]) for b in range(2) for i in range(2))
    return Impact(impulses, chosen, after, loss)


def _after(Om: Mobility, v: Sequence[Vector], Lambda: Sequence[Vector]) -> tuple[Vector, Vector]:
    """v + Om Lambda"""
    (a, b), (_, d) = Om
    return (
        plus(v[0], plus(times_general(a, Lambda[0]), times_general(b, Lambda[1]))),
        plus(v[1], plus(transposed_times(b, Lambda[0]), times_general(d, Lambda[1]))),
    )


def _masked(X: Matrix, on: Array) -> Matrix:
    """X, or the unit matrix when off."""
    off = 1 - on
    return on * X[0] + off, on * X[1], on * X[2], on * X[3] + off
