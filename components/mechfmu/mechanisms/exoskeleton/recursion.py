"""The exoskeleton's accelerations in O(n): sweeps from the tips to the hip and back.

The unknowns are the accelerations of the nodes: a_0 of the hip and a_i of the distal end of link i, relative to free
fall, so that weights do not appear: a = acceleration + g e_y. A link gives its two nodes P (proximal) and i the inertia

    Tm  = ja 1 + (Iext / l^2 + jr - ja) t t^T
    KPP = m (1-c)^2 1 + Tm        KPi = m c (1-c) 1 - Tm        Kii = m c^2 1 + Tm                              (1)

and the forces +f on i and -f on P, f = sigma (N* u + G* t), with

    N* = -k (l - l0) - d l' + Fa - (ja - jr) l phi'^2        G* = (tau - Iext' phi' + 2 Iext l' phi' / l) / l   (2)

With Wc and bc handed over by the outer neighbour (zero at a tip, bc = R at a foot), the difference of the accelerations
of a link's nodes follows from the balance of the distal one; N is the constraint force of a fixed length:

    K De + U a_P = b + sigma N u,    K = Kii + Wc,    U = KPi + K = m c 1 + Wc,    b = f + bc                   (3)

Inward sweep: De = e_t t + e_u u is eliminated, first along t, then along v, which is K-orthogonal to t

    y_t = 1 / (t . K t)     g = y_t (u . K t)     v = u - g t     kappa = v . K v     p = U t     q = U v       (4)
    beta = y_t (t . b)      rho = v . b
    free link:                     y_u = 1 / kappa,    alpha = y_u rho
    locked or prescribed link:     y_u = 0,            alpha = sigma (l''_given - l phi'^2)                     (5)
    hand over:  Wc = Wc + m 1 - y_t p p^T - y_u q q^T,    bc = bc - beta p - alpha q                            (6)

At the hip (sum Wc) a_0 = sum bc. Outward sweep:

    e_u = alpha - y_u (q . a_P)     e_t = beta - y_t (p . a_P) - g e_u     a_i = a_P + e_t t + e_u u            (7)
    phi'' = (sigma e_t - 2 l' phi') / l     l'' = sigma e_u + l phi'^2     sigma N = kappa e_u - rho + q . a_P  (8)

A force F on the distal node adds to beta, rho and alpha, and arrives at the proximal node as F':

    tau = t . F     nu = v . F     + y_t tau,  + nu,  + y_u nu     F' = F - y_t tau p - y_u nu q                (9)

So the accelerations of the feet are known before the outward sweep. With a unit force on foot b that arrives at the hip
as F_b, and the sums over the links that it passes,

    a_b   = F_b . a_0 + sum (tau beta + nu alpha)
    Om_bc = F_b . (sum Wc)^-1 F_c + sum (y_t tau_b tau_c + y_u nu_b nu_c)    (the sum only for forces on one leg)   (10)

Om = J M^-1 J^T is the mobility of the feet, which contact needs. An ankle moment is treated as one more force: a couple
of a force on the foot and its opposite on the other end of the shank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .blocks import Matrix, Symmetric, Vector, combined, dot, inverse, minus, plus, times
from .topology import Limbs

Array = Any
Mobility = tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]  # block by block
NOTHING: Vector = (0.0, 0.0)


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
    """The quantities (4) and (5) of one link."""

    t: Vector
    u: Vector
    p: Vector
    q: Vector
    y_t: Array
    y_u: Array
    g: Array
    kappa: Array
    beta: Array
    rho: Array
    alpha: Array


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
    """(3)-(6), without forces on the feet."""
    swept: list[Any] = [None] * limbs.n
    zero = 0.0 * links.l[0]
    W_sum: Symmetric = (zero, zero, zero)
    b_sum: Vector = (zero, zero)
    for branch in limbs.branches:
        Wc: Symmetric = (zero, zero, zero)
        bc: Vector = (zero, zero)
        for i in reversed(branch):
            link = swept[i] = _swept_link(limbs, links, i, Wc, (force.across[i], force.axial[i]), bc)
            p, q = link.p, link.q
            yp, yq = (link.y_t * p[0], link.y_t * p[1]), (link.y_u * q[0], link.y_u * q[1])
            Wc = (
                Wc[0] + links.m[i] - p[0] * yp[0] - q[0] * yq[0],
                Wc[1] - p[0] * yp[1] - q[0] * yq[1],
                Wc[2] + links.m[i] - p[1] * yp[1] - q[1] * yq[1],
            )
            bc = minus(bc, combined(link.beta, p, link.alpha, q))
        W_sum = (W_sum[0] + Wc[0], W_sum[1] + Wc[1], W_sum[2] + Wc[2])
        b_sum = plus(b_sum, bc)
    return InwardSweep(swept, W_sum, inverse(W_sum), b_sum)


def _swept_link(limbs: Limbs, links: LinkStates, i: int, Wc: Symmetric, force: Vector, bc: Vector) -> SweptLink:
    """(4) and (5); `force` is f across and along the link."""
    m, c, cos, sin = links.m[i], links.c[i], links.cos[i], links.sin[i]
    t, u = (-sin, cos), (cos, sin)
    mc, mcc = m * c, m * c**2 + links.ja[i]
    z = times(Wc, t)
    tz, trace = dot(t, z), Wc[0] + Wc[2]
    p = (z[0] + mc * t[0], z[1] + mc * t[1])
    Uu = ((trace + mc) * cos - z[1], (trace + mc) * sin + z[0])  # U u, as Wc u = trace u - (z_y, -z_x) in the plane
    y_t = 1.0 / (tz + mcc + (links.I[i] / links.l[i] ** 2 + links.jr[i] - links.ja[i]))
    uKt = dot(u, z)
    g = y_t * uKt
    kappa = trace - tz + mcc - g * uKt
    q = (Uu[0] - g * p[0], Uu[1] - g * p[1])
    bt = force[0] + dot(t, bc)
    rho = force[1] + dot(u, bc) - g * bt
    if links.fixed is None:
        y_u = 1.0 / kappa
        alpha = y_u * rho
    else:
        fixed = links.fixed[i]
        y_u = (1 - fixed) / (kappa + fixed)  # 1 / kappa or 0
        alpha = y_u * rho + fixed * limbs.sigma[i] * (links.ldd[i] - links.l[i] * links.w[i] ** 2)
    return SweptLink(t, u, p, q, y_t, y_u, g, kappa, y_t * bt, rho, alpha)


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
    """(7) and (8), with forces R on the feet and ankle moments M, which act on the shanks as -M."""
    b_hip, loaded = _with_foot_forces(limbs, links, sweep, R, ankles)
    a = _outward(limbs, links, loaded, times(sweep.W_inverse, plus(sweep.bc, b_hip)))
    phi, l = a.phi - 2 * links.ld * links.w / links.l, a.l + links.l * links.w**2
    return a._replace(y=a.y - gravity, phi=phi, l=l)


def foot_force_response(limbs: Limbs, links: LinkStates, sweep: InwardSweep, R: Sequence[Vector]) -> Accelerations:
    """M^-1 J^T R: the accelerations due to forces on the feet, or the velocities due to impulses."""
    unloaded = sweep._replace(links=[link._replace(beta=0.0, rho=0.0, alpha=0.0) for link in sweep.links])
    b_hip, loaded = _with_foot_forces(limbs, links, unloaded, R, None)
    return _outward(limbs, links, loaded, times(sweep.W_inverse, b_hip))


def _with_foot_forces(
    limbs: Limbs, links: LinkStates, sweep: InwardSweep, R: Sequence[Vector] | None, ankles: Sequence[Any] | None
) -> tuple[Vector, list[SweptLink]]:
    """(9): the parts of sum bc at the hip and of all links that are due to forces on the feet."""
    b_hip, loaded = NOTHING, list(sweep.links)
    for b, (leg, force) in enumerate(zip(limbs.legs, R or (), strict=R is not None)):
        for i in reversed(leg):
            link = sweep.links[i]
            couple = -ankles[b] * limbs.sigma[i] / links.l[i] if ankles is not None and i == leg[-1] else 0.0
            tau, nu, force = _passed(link, force, couple)
            loaded[i] = link._replace(
                beta=link.beta + link.y_t * tau, rho=link.rho + nu, alpha=link.alpha + link.y_u * nu
            )
        b_hip = plus(b_hip, force)
    return b_hip, loaded


def _passed(link: SweptLink, F: Vector, couple: Array = 0.0) -> tuple[Array, Array, Vector]:
    """tau, nu and F' of (9); `couple`: one more force along t on the distal node, and its opposite on the other."""
    tau = dot(link.t, F) + couple
    nu = dot(link.u, F) - link.g * tau
    return tau, nu, minus(F, combined(link.y_t * tau, link.p, link.y_u * nu, link.q))


def _outward(limbs: Limbs, links: LinkStates, swept: Sequence[SweptLink], a_hip: Vector) -> Accelerations:
    """(7) and (8) without the terms of the velocities."""
    e_t: list[Any] = [None] * limbs.n
    e_u: list[Any] = [None] * limbs.n
    N: list[Any] = [None] * limbs.n
    for branch in limbs.branches:
        a = a_hip
        for i in branch:
            link = swept[i]
            qa = dot(link.q, a)
            e_u[i] = link.alpha - link.y_u * qa
            e_t[i] = link.beta - link.y_t * dot(link.p, a) - link.g * e_u[i]
            N[i] = link.kappa * e_u[i] - link.rho + qa
            a = plus(a, combined(e_t[i], link.t, e_u[i], link.u))
    axial = 0.0 * links.l if links.fixed is None else np.where(links.fixed > 0, limbs.sigma * np.stack(N), 0.0)
    phi, l = limbs.sigma * np.stack(e_t) / links.l, limbs.sigma * np.stack(e_u)
    return Accelerations(a_hip[0], a_hip[1], phi, l, axial)


class FootMobility(NamedTuple):
    """Accelerations of the feet due to forces on them, a = a_free + Om R, and of the shanks, phi'' = .. + turn R."""

    a: tuple[Vector, Vector]  # accelerations without reactions
    Om: Mobility
    turn: tuple[tuple[Vector, Vector], tuple[Vector, Vector]]  # turn[b][c]: shank b for a force on foot c


class _UnitForces(NamedTuple):
    """Unit forces on a foot along x and y, and the couple that turns its shank, as they arrive at the hip."""

    at_hip: tuple[Vector, Vector, Vector]
    own: tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]  # the sum in Om_bc: [x or y][x, y or couple]
    a: Vector  # the sum in a_b


def foot_mobility(limbs: Limbs, links: LinkStates, sweep: InwardSweep, gravity: Array) -> FootMobility:
    """(10), and the angular accelerations of the shanks, by reciprocity those of the feet due to ankle moments."""
    a_hip = times(sweep.W_inverse, sweep.bc)
    units = [_unit_forces(limbs, links, sweep, b) for b in range(2)]
    moved = [[times(sweep.W_inverse, F) for F in unit.at_hip] for unit in units]  # accelerations of the hip

    def response(b: int, e: int, c: int, f: int) -> Array:
        """Acceleration of foot b along e due to force f on foot c; e, f: 0 along x, 1 along y, 2 the couple."""
        across = dot(units[b].at_hip[e], moved[c][f])
        return across + units[b].own[e][f] if b == c else across

    def block(b: int, c: int) -> Matrix:
        xy = response(b, 0, c, 1)
        return response(b, 0, c, 0), xy, xy if b == c else response(b, 1, c, 0), response(b, 1, c, 1)

    a = [[dot(F, a_hip) + passed for F, passed in zip(unit.at_hip[:2], unit.a, strict=True)] for unit in units]
    turn = [[(response(c, 0, b, 2), response(c, 1, b, 2)) for c in range(2)] for b in range(2)]
    across = block(0, 1)
    return FootMobility(
        a=((a[0][0], a[0][1] - gravity), (a[1][0], a[1][1] - gravity)),
        Om=((block(0, 0), across), ((across[0], across[2], across[1], across[3]), block(1, 1))),
        turn=((turn[0][0], turn[0][1]), (turn[1][0], turn[1][1])),
    )


def _unit_forces(limbs: Limbs, links: LinkStates, sweep: InwardSweep, b: int) -> _UnitForces:
    shank = limbs.shanks[b]
    couples = [0.0, 0.0, limbs.sigma[shank] / links.l[shank]]
    forces: list[Vector] = [(1.0, 0.0), (0.0, 1.0), NOTHING]
    own: list[list[Any]] = [[0.0] * 3, [0.0] * 3]
    a: list[Any] = [0.0, 0.0]
    for i in reversed(limbs.legs[b]):
        link = sweep.links[i]
        passed = [_passed(link, F, c if i == shank else 0.0) for F, c in zip(forces, couples, strict=True)]
        for e, (tau, nu, _) in enumerate(passed[:2]):
            a[e] = a[e] + tau * link.beta + nu * link.alpha
            for f in range(e, 3):
                own[e][f] = own[e][f] + link.y_t * tau * passed[f][0] + link.y_u * nu * passed[f][1]
        forces = [F for _, _, F in passed]
    own[1][0] = own[0][1]
    return _UnitForces(
        (forces[0], forces[1], forces[2]),
        ((own[0][0], own[0][1], own[0][2]), (own[1][0], own[1][1], own[1][2])),
        (a[0], a[1]),
    )
