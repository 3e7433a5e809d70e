"""The exoskeleton's accelerations in O(n): sweeps from the tips to the hip and back, with 2 x 2 blocks only.

The unknowns are the accelerations of the nodes: a_0 of the hip and a_i of the distal end of link i, relative to free
fall, so that weights do not appear: a = acceleration + g e_y. A link gives its two nodes P (proximal) and i the inertia

    Tm  = ja 1 + (Iext / l^2 + jr - ja) t t^T
    KPP = m (1-c)^2 1 + Tm        KPi = m c (1-c) 1 - Tm        Kii = m c^2 1 + Tm                              (1)

and the forces +f on i and -f on P, f = sigma (N* u + G* t), with

    N* = -k (l - l0) - d l' + Fa - (ja - jr) l phi'^2        G* = (tau - Iext' phi' + 2 Iext l' phi' / l) / l   (2)

Inward sweep, with Wc and bc handed over by the outer neighbour (zero at a tip, bc = R at a foot). Tm cancels in two of
the three sums:

    K = Kii + Wc        U = KPi + K = m c 1 + Wc        W = KPP + 2 KPi + K = m 1 + Wc        b = f + bc        (3)
    free link:                 Y = K^-1,                h = 0
    locked or prescribed link: Y = t t^T / (t^T K t),   h = sigma (l''_given - l phi'^2) u                      (4)
    hand over:  Wc = W - U Y U,    bc = bc - U h - U Y (b - K h)                                                (5)

At the hip (sum Wc) a_0 = sum bc. Outward sweep:

    a_i = Phi^T a_P + eta,    Phi = 1 - U Y,    eta = h + Y (b - K h)                                           (6)

and with De = sigma (a_i - a_P):  phi'' = (t . De - 2 l' phi') / l,   l'' = u . De + l phi'^2.                  (7)

A force on a foot is propagated inward by Phi and outward by Phi^T, so the accelerations of the feet are known before
the outward sweep. With T = the product of the Phi of a leg from the hip to the foot, and
Lambda_i = Y_i + Phi_i^T Lambda_P Phi_i (zero at the hip):

    a_foot_b = T_b^T a_0 + (sum of the propagated eta) + Lambda_b R_b
    Om_bc    = delta_bc Lambda_b + T_b^T (sum Wc)^-1 T_c                                                        (8)

Om = J M^-1 J^T is the mobility of the feet, which contact needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .blocks import (
    ONE,
    Matrix,
    Symmetric,
    Vector,
    congruent,
    full,
    inverse,
    minus,
    plus,
    plus3,
    plus4,
    product,
    product_general,
    symmetric_product,
    times,
    times_general,
    transposed,
    transposed_times,
)
from .topology import Limbs

Array = Any
Mobility = tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]  # block by block


class LinkStates(NamedTuple):
    """Parameters and state of the links, one entry each."""

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


class LinkForces(NamedTuple):
    """The internal forces (2) on the distal end of each link: along it and across it."""

    axial: Array
    across: Array


class SweptLink(NamedTuple):
    """The quantities of one link that the inward sweep leaves for the outward sweep."""

    K: Symmetric
    U: Symmetric
    Y: Symmetric
    b: Vector
    Phi: Matrix
    eta: Vector


class InwardSweep(NamedTuple):
    """Inertia and forces of all links, reduced to the hip."""

    links: list[SweptLink]
    W: Symmetric  # sum Wc, the articulated inertia at the hip
    W_inverse: Symmetric
    bc: Vector  # sum bc


def internal_forces(limbs: Limbs, links: LinkStates, spring: Array, tau: Sequence[Array], I_rate: Array) -> LinkForces:
    """(2); `spring` is -k (l - l0) - d l' + Fa."""
    axial = spring - (links.ja - links.jr) * links.l * links.w**2
    across = (np.stack(list(tau)) - I_rate * links.w + 2 * links.I * links.ld * links.w / links.l) / links.l
    return LinkForces(limbs.sigma * axial, limbs.sigma * across)


def inward_sweep(limbs: Limbs, links: LinkStates, force: LinkForces) -> InwardSweep:
    """(1)-(5), without forces on the feet."""
    swept: list[Any] = [None] * limbs.n
    zero = 0.0 * links.l[0]
    W_sum: Symmetric = (zero, zero, zero)
    b_sum: Vector = (zero, zero)
    transversal = links.I / links.l**2 + links.jr - links.ja
    mc, mcc = links.m * links.c, links.m * links.c**2 + links.ja
    for branch in limbs.branches:
        Wc: Symmetric = (zero, zero, zero)
        bc: Vector = (zero, zero)
        for i in reversed(branch):
            cos, sin, tr = links.cos[i], links.sin[i], transversal[i]
            K = (Wc[0] + mcc[i] + tr * sin * sin, Wc[1] - tr * sin * cos, Wc[2] + mcc[i] + tr * cos * cos)
            U = (Wc[0] + mc[i], Wc[1], Wc[2] + mc[i])
            f = (force.axial[i] * cos - force.across[i] * sin, force.axial[i] * sin + force.across[i] * cos)
            b = (bc[0] + f[0], bc[1] + f[1])
            Y, h = _compliance(limbs, links, i, K)
            drive = b if h is None else minus(b, times(K, h))
            UY = product(U, Y)
            Phi = (1 - UY[0], -UY[1], -UY[2], 1 - UY[3])
            bc = minus(bc, times_general(UY, drive))
            if h is not None:
                bc = minus(bc, times(U, h))
            # U Y U of symmetric U and Y is symmetric: three entries
            Wc = (
                Wc[0] + links.m[i] - UY[0] * U[0] - UY[1] * U[1],
                Wc[1] - UY[0] * U[1] - UY[1] * U[2],
                Wc[2] + links.m[i] - UY[2] * U[1] - UY[3] * U[2],
            )
            swept[i] = SweptLink(K, U, Y, b, Phi, plus((zero, zero) if h is None else h, times(Y, drive)))
        W_sum = (W_sum[0] + Wc[0], W_sum[1] + Wc[1], W_sum[2] + Wc[2])
        b_sum = plus(b_sum, bc)
    return InwardSweep(swept, W_sum, inverse(W_sum), b_sum)


def _compliance(limbs: Limbs, links: LinkStates, i: int, K: Symmetric) -> tuple[Symmetric, Vector | None]:
    """Y and h of (4); h is None when all lengths are free."""
    free = inverse(K)
    if links.fixed is None:
        return free, None
    cos, sin, fixed = links.cos[i], links.sin[i], links.fixed[i]
    across = 1.0 / (sin * sin * K[0] - 2 * sin * cos * K[1] + cos * cos * K[2])
    rigid = (across * sin * sin, -across * sin * cos, across * cos * cos)
    along = np.where(fixed > 0, limbs.sigma[i] * (links.ldd[i] - links.l[i] * links.w[i] ** 2), 0.0)
    xx, xy, yy = (np.where(fixed > 0, r, y) for r, y in zip(rigid, free, strict=True))
    return (xx, xy, yy), (along * cos, along * sin)


class Accelerations(NamedTuple):
    """Accelerations of the hip, the angles and the lengths."""

    x: Array
    y: Array
    phi: Array
    l: Array
    axial: Array  # constraint force along links of fixed length; 0 where the length is free


def outward_sweep(
    limbs: Limbs,
    links: LinkStates,
    sweep: InwardSweep,
    gravity: Array,
    R: Sequence[Vector] | None = None,
    ankles: Sequence[Any] | None = None,
) -> Accelerations:
    """(6) and (7), with forces R on the feet and ankle moments M, which act on the shanks as -M."""
    couples = None
    if ankles is not None:
        levers = [-moment * limbs.sigma[i] / links.l[i] for moment, i in zip(ankles, limbs.shanks, strict=True)]
        couples = [(-lever * links.sin[i], lever * links.cos[i]) for lever, i in zip(levers, limbs.shanks, strict=True)]
    b_hip, b_foot = _propagate_foot_forces(limbs, sweep, R, couples)
    a_hip = times(sweep.W_inverse, plus(sweep.bc, b_hip))
    added = [
        link.eta if extra is None else plus(link.eta, times(link.Y, extra))
        for link, extra in zip(sweep.links, b_foot, strict=True)
    ]
    a, De = _outward(limbs, sweep, a_hip, added)
    across, along = _across_and_along(limbs, links, De)
    b = [link.b if extra is None else plus(link.b, extra) for link, extra in zip(sweep.links, b_foot, strict=True)]
    return Accelerations(
        x=a_hip[0],
        y=a_hip[1] - gravity,
        phi=(across - 2 * links.ld * links.w) / links.l,
        l=along + links.l * links.w**2,
        axial=_constraint_force(limbs, links, sweep, a, De, b),
    )


def foot_force_response(limbs: Limbs, links: LinkStates, sweep: InwardSweep, R: Sequence[Vector]) -> Accelerations:
    """M^-1 J^T R: the accelerations due to forces on the feet, or the velocities due to impulses."""
    b_hip, b_foot = _propagate_foot_forces(limbs, sweep, R)
    a_hip = times(sweep.W_inverse, b_hip)
    zero = (0.0 * links.l[0], 0.0 * links.l[0])
    b = [zero if extra is None else extra for extra in b_foot]
    added = [zero if extra is None else times(link.Y, extra) for link, extra in zip(sweep.links, b_foot, strict=True)]
    a, De = _outward(limbs, sweep, a_hip, added)
    across, along = _across_and_along(limbs, links, De)
    return Accelerations(a_hip[0], a_hip[1], across / links.l, along, _constraint_force(limbs, links, sweep, a, De, b))


def _constraint_force(
    limbs: Limbs, links: LinkStates, sweep: InwardSweep, a: Sequence[Vector], De: Sequence[Vector], b: Sequence[Vector]
) -> Array:
    """N of links with fixed length, from the balance of the distal node, K De + U a_P = b + sigma N u."""
    if links.fixed is None:
        return 0.0 * links.l
    rest = [minus(plus(times(link.K, De[i]), times(link.U, a[i])), b[i]) for i, link in enumerate(sweep.links)]
    return np.where(links.fixed > 0, _across_and_along(limbs, links, rest)[1], 0.0)


def _propagate_foot_forces(
    limbs: Limbs, sweep: InwardSweep, R: Sequence[Vector] | None, couples: Sequence[Vector] | None = None
) -> tuple[Vector, list[Vector | None]]:
    """The parts of sum bc at the hip and of b of each link that are due to forces on the feet.

    A couple is a force on the foot and its opposite on the other end of the shank.
    """
    b_hip: Vector = (0.0, 0.0)
    added: list[Vector | None] = [None] * limbs.n
    for b, (leg, force) in enumerate(zip(limbs.legs, R or (), strict=R is not None)):
        if couples is not None:
            force = plus(force, couples[b])
        for i in reversed(leg):
            added[i] = force
            force = times_general(sweep.links[i].Phi, force)
            if couples is not None and i == leg[-1]:
                force = minus(force, couples[b])
        b_hip = plus(b_hip, force)
    return b_hip, added


def _outward(
    limbs: Limbs, sweep: InwardSweep, a_hip: Vector, added: Sequence[Vector]
) -> tuple[list[Vector], list[Vector]]:
    """a_P and a_i - a_P of every link, from a_i = Phi^T a_P + added_i."""
    a_P: list[Any] = [None] * limbs.n
    De: list[Any] = [None] * limbs.n
    for branch in limbs.branches:
        a = a_hip
        for i in branch:
            outer = plus(transposed_times(sweep.links[i].Phi, a), added[i])
            a_P[i], De[i], a = a, minus(outer, a), outer
    return a_P, De


def _across_and_along(limbs: Limbs, links: LinkStates, vectors: Sequence[Vector]) -> tuple[Array, Array]:
    """sigma t . v and sigma u . v of one vector for each link."""
    x, y = np.stack([v[0] for v in vectors]), np.stack([v[1] for v in vectors])
    return limbs.sigma * (links.cos * y - links.sin * x), limbs.sigma * (links.cos * x + links.sin * y)


class FootMobility(NamedTuple):
    """Accelerations of the feet due to forces on them, a = a_free + Om R, and of the shanks, phi'' = .. + turn R."""

    a: tuple[Vector, Vector]  # accelerations without reactions
    Om: Mobility
    turn: tuple[tuple[Vector, Vector], tuple[Vector, Vector]]  # turn[b][c]: shank b for a force on foot c


def foot_mobility(limbs: Limbs, links: LinkStates, sweep: InwardSweep, gravity: Array) -> FootMobility:
    """(8), and the angular accelerations of the shanks, by reciprocity those of the feet due to ankle moments."""
    zero = 0.0 * links.l[0]
    a_hip = times(sweep.W_inverse, sweep.bc)
    a, T, Lambda, own_turn, hip_turn = [], [], [], [], []
    for leg, shank in zip(limbs.legs, limbs.shanks, strict=True):
        T_i, Lambda_i, a_i = ONE, (zero, zero, zero), a_hip
        for i in leg[:-1]:
            T_i, Lambda_i, a_i = _to_distal_end(sweep.links[i], T_i, Lambda_i, a_i)
        # phi'' of the shank = across . (a_foot - a_P), and a_foot - a_P = (Phi^T - 1) a_P + Y R
        link = sweep.links[shank]
        lever = limbs.sigma[shank] / links.l[shank]
        across = (-lever * links.sin[shank], lever * links.cos[shank])
        lag = minus(times_general(link.Phi, across), across)
        own_turn.append(plus(times(link.Y, across), transposed_times(link.Phi, times(Lambda_i, lag))))
        hip_turn.append(times(sweep.W_inverse, times_general(T_i, lag)))
        T_i, Lambda_i, a_i = _to_distal_end(link, T_i, Lambda_i, a_i)
        a.append((a_i[0], a_i[1] - gravity))
        T.append(T_i)
        Lambda.append(Lambda_i)
    WT = [product_general(full(sweep.W_inverse), T_b) for T_b in T]
    across_hip = product_general(transposed(T[0]), WT[1])
    own = [plus4(full(Lambda[b]), full(symmetric_product(T[b], WT[b]))) for b in range(2)]
    turn = [[transposed_times(T[c], hip_turn[b]) for c in range(2)] for b in range(2)]
    for b in range(2):
        turn[b][b] = plus(turn[b][b], own_turn[b])
    Om = ((own[0], across_hip), (transposed(across_hip), own[1]))
    return FootMobility((a[0], a[1]), Om, ((turn[0][0], turn[0][1]), (turn[1][0], turn[1][1])))


def _to_distal_end(link: SweptLink, T: Matrix, Lambda: Symmetric, a: Vector) -> tuple[Matrix, Symmetric, Vector]:
    """T, Lambda and a at the distal end of a link, from those at its proximal end."""
    return (
        product_general(T, link.Phi),
        plus3(link.Y, congruent(link.Phi, Lambda)),
        plus(transposed_times(link.Phi, a), link.eta),
    )
