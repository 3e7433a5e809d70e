"""The exoskeleton's accelerations in O(n): from the tips to the hip and back, with 2 x 2 blocks only.

The unknowns are the accelerations of the nodes: a_0 of the hip and a_i of the distal end of link i, counted from free fall (so that weights appear
nowhere: a = acceleration + g e_y). A link gives its two nodes P (proximal) and i the inertia

    Tm  = ja 1 + (Iext / l^2 + jr - ja) t t^T
    KPP = m (1-c)^2 1 + Tm        KPi = m c (1-c) 1 - Tm        Kii = m c^2 1 + Tm                              (1)

and the forces +f on i and -f on P, f = sigma (N* u + G* t), with

    N* = -k (l - l0) - d l' + Fa - (ja - jr) l phi'^2        G* = (tau - Iext' phi' + 2 Iext l' phi' / l) / l   (2)

Inward, with what the outer neighbour hands over (Wc, bc; zero at a tip, bc = R at a foot). Tm cancels in two of the three sums:

    K = Kii + Wc        U = KPi + K = m c 1 + Wc        W = KPP + 2 KPi + K = m 1 + Wc        b = f + bc        (3)
    free link:                 Y = K^-1,                h = 0
    locked or prescribed link: Y = t t^T / (t^T K t),   h = sigma (l''_given - l phi'^2) u                      (4)
    hand over:  Wc = W - U Y U,    bc = bc - U h - U Y (b - K h)                                                (5)

At the hip (sum Wc) a_0 = sum bc. Outward

    a_i = Phi^T a_P + eta,    Phi = 1 - U Y,    eta = h + Y (b - K h)                                           (6)

and with De = sigma (a_i - a_P):  phi'' = (t . De - 2 l' phi') / l,   l'' = u . De + l phi'^2.                  (7)

A force at the foot travels inward by Phi and outward by Phi^T, so the accelerations of the feet are known before the way back. With
T = the product of the Phi of a leg from the hip to the foot, and Lambda_i = Y_i + Phi_i^T Lambda_P Phi_i (nothing at the hip):

    a_foot_b = T_b^T a_0 + (sum of what the eta give) + Lambda_b R_b,      Om_bc = delta_bc Lambda_b + T_b^T (sum Wc)^-1 T_c      (8)

Om = J M^-1 J^T is the mobility of the feet, which contact needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .topology import Limbs

Array = Any
Vector = tuple[Any, Any]
Symmetric = tuple[Any, Any, Any]  # xx, xy, yy
Matrix = tuple[Any, Any, Any, Any]  # xx, xy, yx, yy
Mobility = tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]  # block by block

ONE: Matrix = (1.0, 0.0, 0.0, 1.0)


class Body(NamedTuple):
    """What the recursion needs to know about the links, one entry each."""

    m: Array
    c: Array  # fraction from the proximal end to the mass centre
    jr: Array
    ja: Array
    cos: Array
    sin: Array
    w: Array  # phi'
    l: Array
    ld: Array
    I: Array  # Iext
    fixed: Array | None  # 1: the length is locked or prescribed, 0: it is free; None: all are free
    ldd: Array  # the given l'' of the links with fixed length


class Force(NamedTuple):
    """The internal forces (2) on the distal end of each link: along it and across it."""

    axial: Array
    across: Array


class Inward(NamedTuple):
    """What one link remembers from the way in."""

    K: Symmetric
    U: Symmetric
    Y: Symmetric
    b: Vector
    Phi: Matrix
    eta: Vector


class Folded(NamedTuple):
    """Everything folded onto the hip."""

    links: list[Inward]
    W: Symmetric  # sum Wc, the inertia of everything as the hip feels it
    W_inverse: Symmetric
    bc: Vector  # sum bc


def internal_forces(limbs: Limbs, body: Body, spring: Array, tau: Sequence[Array], I_rate: Array) -> Force:
    """(2); `spring` is -k (l - l0) - d l' + Fa."""
    axial = spring - (body.ja - body.jr) * body.l * body.w**2
    across = (np.stack(list(tau)) - I_rate * body.w + 2 * body.I * body.ld * body.w / body.l) / body.l
    return Force(limbs.sigma * axial, limbs.sigma * across)


def fold(limbs: Limbs, body: Body, force: Force) -> Folded:
    """Inward, (1)-(5), without forces at the feet."""
    links: list[Any] = [None] * limbs.n
    zero = 0.0 * body.l[0]
    W_sum: Symmetric = (zero, zero, zero)
    b_sum: Vector = (zero, zero)
    transversal = body.I / body.l**2 + body.jr - body.ja
    mc, mcc = body.m * body.c, body.m * body.c**2 + body.ja
    for branch in limbs.branches:
        Wc: Symmetric = (zero, zero, zero)
        bc: Vector = (zero, zero)
        for i in reversed(branch):
            cos, sin, tr = body.cos[i], body.sin[i], transversal[i]
            K = (Wc[0] + mcc[i] + tr * sin * sin, Wc[1] - tr * sin * cos, Wc[2] + mcc[i] + tr * cos * cos)
            U = (Wc[0] + mc[i], Wc[1], Wc[2] + mc[i])
            f = (force.axial[i] * cos - force.across[i] * sin, force.axial[i] * sin + force.across[i] * cos)
            b = (bc[0] + f[0], bc[1] + f[1])
            Y = inverse(K)
            if body.fixed is None:
                drive, bias = b, (zero, zero)
            else:
                across = 1.0 / (sin * sin * K[0] - 2 * sin * cos * K[1] + cos * cos * K[2])
                rigid = (across * sin * sin, -across * sin * cos, across * cos * cos)
                Y = tuple(np.where(body.fixed[i] > 0, r, y) for r, y in zip(rigid, Y, strict=True))
                along = np.where(body.fixed[i] > 0, limbs.sigma[i] * (body.ldd[i] - body.l[i] * body.w[i] ** 2), 0.0)
                bias = (along * cos, along * sin)
                drive = minus(b, times(K, bias))
            UY = product(U, Y)
            Phi = (1 - UY[0], -UY[1], -UY[2], 1 - UY[3])
            reaction = times_general(UY, drive)
            bc = minus(bc, reaction)
            if body.fixed is not None:
                bc = minus(bc, times(U, bias))
            # U Y U of symmetric U and Y is symmetric: three entries
            Wc = (
                Wc[0] + body.m[i] - UY[0] * U[0] - UY[1] * U[1],
                Wc[1] - UY[0] * U[1] - UY[1] * U[2],
                Wc[2] + body.m[i] - UY[2] * U[1] - UY[3] * U[2],
            )
            links[i] = Inward(K, U, Y, b, Phi, plus(bias, times(Y, drive)))
        W_sum = (W_sum[0] + Wc[0], W_sum[1] + Wc[1], W_sum[2] + Wc[2])
        b_sum = plus(b_sum, bc)
    return Folded(links, W_sum, inverse(W_sum), b_sum)


class Motion(NamedTuple):
    """Accelerations."""

    x: Array
    y: Array
    phi: Array
    l: Array
    axial: Array  # what a fixed length adds to the axial force; 0 where the length is free


def unfold(
    limbs: Limbs,
    body: Body,
    folded: Folded,
    gravity: Array,
    R: Sequence[Vector] | None = None,
    ankles: Sequence[Any] | None = None,
) -> Motion:
    """Outward, (6) and (7), with forces R on the feet and ankle moments, which act on the shanks by -M."""
    couples = None
    if ankles is not None:
        levers = [-moment * limbs.sigma[i] / body.l[i] for moment, i in zip(ankles, limbs.shanks, strict=True)]
        couples = [(-lever * body.sin[i], lever * body.cos[i]) for lever, i in zip(levers, limbs.shanks, strict=True)]
    b_hip, b_foot = _feet_forces(limbs, folded, R, couples)
    a_hip = times(folded.W_inverse, plus(folded.bc, b_hip))
    push = [
        link.eta if extra is None else plus(link.eta, times(link.Y, extra))
        for link, extra in zip(folded.links, b_foot, strict=True)
    ]
    a, De = _outward(limbs, folded, a_hip, push)
    across, along = _turned(limbs, body, De)
    axial = _held(
        limbs,
        body,
        folded,
        a,
        De,
        [link.b if extra is None else plus(link.b, extra) for link, extra in zip(folded.links, b_foot, strict=True)],
    )
    return Motion(
        a_hip[0], a_hip[1] - gravity, (across - 2 * body.ld * body.w) / body.l, along + body.l * body.w**2, axial
    )


def respond(limbs: Limbs, body: Body, folded: Folded, R: Sequence[Vector]) -> Motion:
    """M^-1 J^T R: what forces on the feet add to the accelerations, or impulses to the velocities."""
    b_hip, b_foot = _feet_forces(limbs, folded, R)
    a_hip = times(folded.W_inverse, b_hip)
    nothing = (0.0 * body.l[0], 0.0 * body.l[0])
    b = [nothing if extra is None else extra for extra in b_foot]
    a, De = _outward(
        limbs,
        folded,
        a_hip,
        [nothing if extra is None else times(link.Y, extra) for link, extra in zip(folded.links, b_foot, strict=True)],
    )
    across, along = _turned(limbs, body, De)
    return Motion(a_hip[0], a_hip[1], across / body.l, along, _held(limbs, body, folded, a, De, b))


def _held(
    limbs: Limbs, body: Body, folded: Folded, a: Sequence[Vector], De: Sequence[Vector], b: Sequence[Vector]
) -> Array:
    """What fixed lengths add to the axial forces: the balance of the distal node along the link, K De + U a_P = b + sigma N u."""
    if body.fixed is None:
        return 0.0 * body.l
    rest = [minus(plus(times(link.K, De[i]), times(link.U, a[i])), b[i]) for i, link in enumerate(folded.links)]
    return np.where(body.fixed > 0, _turned(limbs, body, rest)[1], 0.0)


def _feet_forces(
    limbs: Limbs, folded: Folded, R: Sequence[Vector] | None, couples: Sequence[Vector] | None = None
) -> tuple[Vector, list[Vector | None]]:
    """What forces on the feet add at the hip and to b of each link; a couple is a force on the foot and its opposite on the shank's other end."""
    b_hip: Vector = (0.0, 0.0)
    added: list[Vector | None] = [None] * limbs.n
    for b, (leg, force) in enumerate(zip(limbs.legs, R or (), strict=R is not None)):
        if couples is not None:
            force = plus(force, couples[b])
        for i in reversed(leg):
            added[i] = force
            force = times_general(folded.links[i].Phi, force)
            if couples is not None and i == leg[-1]:
                force = minus(force, couples[b])
        b_hip = plus(b_hip, force)
    return b_hip, added


def _outward(limbs: Limbs, folded: Folded, a_hip: Vector, push: Sequence[Vector]) -> tuple[list[Vector], list[Vector]]:
    """a_i = Phi^T a_P + push_i: for every link a_P and a_i - a_P."""
    a_P: list[Any] = [None] * limbs.n
    De: list[Any] = [None] * limbs.n
    for branch in limbs.branches:
        a = a_hip
        for i in branch:
            outer = plus(transposed_times(folded.links[i].Phi, a), push[i])
            a_P[i], De[i], a = a, minus(outer, a), outer
    return a_P, De


def _turned(limbs: Limbs, body: Body, vectors: Sequence[Vector]) -> tuple[Array, Array]:
    """sigma t . v and sigma u . v of one vector for each link."""
    x, y = np.stack([v[0] for v in vectors]), np.stack([v[1] for v in vectors])
    return limbs.sigma * (body.cos * y - body.sin * x), limbs.sigma * (body.cos * x + body.sin * y)


class Feet(NamedTuple):
    """How the feet answer to forces: a = a_free + Om R, block by block; and the shanks: phi'' = .. + turn R."""

    a: tuple[Vector, Vector]  # accelerations without reactions
    Om: Mobility
    turn: tuple[tuple[Vector, Vector], tuple[Vector, Vector]]  # turn[b][c]: shank b for a force on foot c


def feet(limbs: Limbs, body: Body, folded: Folded, gravity: Array) -> Feet:
    """(8), and the angular accelerations of the shanks, which are what an ankle moment does to the feet as well (reciprocity)."""
    zero = 0.0 * body.l[0]
    a_hip = times(folded.W_inverse, folded.bc)
    a, T, Lambda, own_turn, hip_turn = [], [], [], [], []
    for leg, shank in zip(limbs.legs, limbs.shanks, strict=True):
        T_i, Lambda_i, a_i = ONE, (zero, zero, zero), a_hip
        for i in leg[:-1]:
            T_i, Lambda_i, a_i = _beyond(folded.links[i], T_i, Lambda_i, a_i)
        # phi'' of the shank = across . (a_foot - a_P), and a_foot - a_P = (Phi^T - 1) a_P + Y R
        link = folded.links[shank]
        lever = limbs.sigma[shank] / body.l[shank]
        across = (-lever * body.sin[shank], lever * body.cos[shank])
        lag = minus(times_general(link.Phi, across), across)
        own_turn.append(plus(times(link.Y, across), transposed_times(link.Phi, times(Lambda_i, lag))))
        hip_turn.append(times(folded.W_inverse, times_general(T_i, lag)))
        T_i, Lambda_i, a_i = _beyond(link, T_i, Lambda_i, a_i)
        a.append((a_i[0], a_i[1] - gravity))
        T.append(T_i)
        Lambda.append(Lambda_i)
    WT = [product_general(full(folded.W_inverse), T_b) for T_b in T]
    across_hip = product_general(transposed(T[0]), WT[1])
    own = [plus4(full(Lambda[b]), full(_symmetric_product(T[b], WT[b]))) for b in range(2)]
    turn = [[transposed_times(T[c], hip_turn[b]) for c in range(2)] for b in range(2)]
    for b in range(2):
        turn[b][b] = plus(turn[b][b], own_turn[b])
    Om = ((own[0], across_hip), (transposed(across_hip), own[1]))
    return Feet((a[0], a[1]), Om, ((turn[0][0], turn[0][1]), (turn[1][0], turn[1][1])))


def _beyond(link: Inward, T: Matrix, Lambda: Symmetric, a: Vector) -> tuple[Matrix, Symmetric, Vector]:
    """T, Lambda and a at the distal end of a link, from those at its proximal end."""
    return (
        product_general(T, link.Phi),
        plus3(link.Y, congruent(link.Phi, Lambda)),
        plus(transposed_times(link.Phi, a), link.eta),
    )


# --- 2 x 2 blocks -----------------------------------------------------------------------------------------------------


def inverse(X: Symmetric) -> Symmetric:
    one_over = 1.0 / (X[0] * X[2] - X[1] * X[1])
    return X[2] * one_over, -X[1] * one_over, X[0] * one_over


def times(X: Symmetric, a: Vector) -> Vector:
    return X[0] * a[0] + X[1] * a[1], X[1] * a[0] + X[2] * a[1]


def times_general(X: Matrix, a: Vector) -> Vector:
    return X[0] * a[0] + X[1] * a[1], X[2] * a[0] + X[3] * a[1]


def transposed_times(X: Matrix, a: Vector) -> Vector:
    return X[0] * a[0] + X[2] * a[1], X[1] * a[0] + X[3] * a[1]


def product(X: Symmetric, Y: Symmetric) -> Matrix:
    return X[0] * Y[0] + X[1] * Y[1], X[0] * Y[1] + X[1] * Y[2], X[1] * Y[0] + X[2] * Y[1], X[1] * Y[1] + X[2] * Y[2]


def product_general(X: Matrix, Y: Matrix) -> Matrix:
    return X[0] * Y[0] + X[1] * Y[2], X[0] * Y[1] + X[1] * Y[3], X[2] * Y[0] + X[3] * Y[2], X[2] * Y[1] + X[3] * Y[3]


def congruent(X: Matrix, S: Symmetric) -> Symmetric:
    """X^T S X"""
    return _symmetric_product(X, product_general(full(S), X))


def _symmetric_product(X: Matrix, Y: Matrix) -> Symmetric:
    """X^T Y, known to be symmetric."""
    return X[0] * Y[0] + X[2] * Y[2], X[0] * Y[1] + X[2] * Y[3], X[1] * Y[1] + X[3] * Y[3]


def transposed(X: Matrix) -> Matrix:
    return X[0], X[2], X[1], X[3]


def full(S: Symmetric) -> Matrix:
    return S[0], S[1], S[1], S[2]


def plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1]


def plus3(X: Symmetric, Y: Symmetric) -> Symmetric:
    return X[0] + Y[0], X[1] + Y[1], X[2] + Y[2]


def plus4(X: Matrix, Y: Matrix) -> Matrix:
    return X[0] + Y[0], X[1] + Y[1], X[2] + Y[2], X[3] + Y[3]
