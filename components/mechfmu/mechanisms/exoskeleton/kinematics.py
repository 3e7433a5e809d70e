"""Positions, velocities and energies of an exoskeleton (see topology.py for the drawing and the symbols).

Distal ends    r_i = r_P + sigma_i l_i u_i          v_i = v_P + sigma_i (l_i' u_i + l_i phi_i' t_i)
Energies       T = 1/2 sum m |v_c|^2 + 1/2 sum (Iext + jr l^2) phi'^2 + 1/2 sum ja l'^2
               V = g sum m y_c + 1/2 sum k (l - l0)^2
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .topology import Limbs

Array = Any


class LinkPoints(NamedTuple):
    """Distal end and mass centre of every link, (2, n) each, with their velocities."""

    end: Array
    com: Array
    end_velocity: Array
    com_velocity: Array

    def foot(self, limbs: Limbs, b: int) -> tuple[Any, Any]:
        return self.end[0, limbs.shanks[b]], self.end[1, limbs.shanks[b]]

    def foot_velocity(self, limbs: Limbs, b: int) -> tuple[Any, Any]:
        return self.end_velocity[0, limbs.shanks[b]], self.end_velocity[1, limbs.shanks[b]]


def link_points(limbs: Limbs, X: Any, P: Any) -> LinkPoints:
    """The points of all links from states X and parameters P."""
    cos, sin, c = np.cos(X.phi), np.sin(X.phi), limbs.c(P.n)
    step = (limbs.sigma * X.l * cos, limbs.sigma * X.l * sin)
    rate = (limbs.sigma * (X.ld * cos - X.l * X.w * sin), limbs.sigma * (X.ld * sin + X.l * X.w * cos))
    end, com = _running_sums(limbs, (X.x, X.y), step, c)
    end_velocity, com_velocity = _running_sums(limbs, (X.vx, X.vy), rate, c)
    return LinkPoints(end, com, end_velocity, com_velocity)


def _running_sums(limbs: Limbs, start: tuple[Any, Any], step: tuple[Array, Array], c: Array) -> tuple[Array, Array]:
    """Sums of the steps from the hip outwards: to the ends of the links, and to the fractions c of them."""
    ends: list[Any] = [None] * limbs.n
    inner: list[Any] = [None] * limbs.n
    for branch in limbs.branches:
        x, y = start
        for i in branch:
            inner[i] = (x + c[i] * step[0][i], y + c[i] * step[1][i])
            x, y = x + step[0][i], y + step[1][i]
            ends[i] = (x, y)
    at_ends, at_centres = (
        np.stack([np.stack([v[axis] for v in vectors]) for axis in range(2)]) for vectors in (ends, inner)
    )
    return at_ends, at_centres


class Totals(NamedTuple):
    """Mass centre, momentum and energies of the exoskeleton, without hinge springs."""

    com: tuple[Any, Any]
    com_velocity: tuple[Any, Any]
    angular_momentum: Array  # about the mass centre
    kinetic: Array
    potential: Array


def totals(points: LinkPoints, X: Any, P: Any, inertia: Array) -> Totals:
    """`inertia` is Iext + jr l^2."""
    mass = np.sum(P.m)
    (x, y), (vx, vy) = points.com, points.com_velocity
    com_x, com_y, com_vx, com_vy = (np.sum(P.m * value) / mass for value in (x, y, vx, vy))
    moment = P.m * ((x - com_x) * (vy - com_vy) - (y - com_y) * (vx - com_vx))
    return Totals(
        com=(com_x, com_y),
        com_velocity=(com_vx, com_vy),
        angular_momentum=np.sum(moment + inertia * X.w),
        kinetic=0.5 * np.sum(P.m * (vx**2 + vy**2) + inertia * X.w**2 + P.ja * X.ld**2),
        potential=P.gravity * np.sum(P.m * y) + 0.5 * np.sum(P.k * (X.l - P.l0) ** 2),
    )
