"""The program of the wheeled cart and its torques: M moves with the velocity F(q1, q2, t) of a guidance field.

    y = phi(q, t) = Fx sin q3 - (L/l2) Fy cos q3 ,    Fx = F1 cos q4 + F2 sin q4 ,  Fy = -F1 sin q4 + F2 cos q4    (1)

is the sideways speed the front wheel would have if M moved with F: it determines the steering angle, up to half a turn.
Its decay has order 2,

    y'' = -k0 y - k1 y' .                                                                                          (2)

Rigid front wheel, nu = (w, sg). Two equations for two degrees of freedom:

    z = w - wd ,   wd = (Fx cos q3 + lam Fy sin q3)/(cos^2 q3 + lam^2 sin^2 q3) ,   lam = l2/L ,     z' = -kz z    (3)

y = 0 and z = 0 together mean q1' = F1, q2' = F2. Free front wheel, nu = (v, om, sg):

    z1 = q1' - F1 ,   z2 = q2' - F2 ,   z' = -kz z                                                                 (4)

In both cases (3), (4) give all accelerations but that of the steering, which follows from (2),
y'' = Th nu' + Th_3 sg' + s. Where F vanishes, or the wheel stands across, Th_3 = dphi/dq3 also does, and dividing by it
would give an infinite torque. A damped inverse does not:

    sg' = (Th_3 rhs - es^2 kd sg)/(Th_3^2 + es^2) ,    rhs = -k0 y - k1 y' - s - Th nu'                            (5)

The torques follow from the equations of motion. In the rigid case one choice remains, how the rear wheels share the
drive:

    least effort    M1, M2 = (c1, c2) Qw/(c1^2 + c2^2)                                                             (6)
    no side load    M1 + M2 = r (ae v' - md om^2 + cr cos q3 w')                                                   (7)
                    M2 - M1 = (r/h)(Je om' + A sg' + md v om + cr L sin q3 w')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...control.jets import constants
from ...control.programmed_constraints import ConstraintProgram
from ..wheeled_cart.equations import (
    Constants,
    axle_accelerations,
    free_equations,
    front_speeds,
    pose_rates,
    rear_arms,
    rigid_inertia,
)

Array = Any
Field = Callable[[Array, Array, Array], tuple[Array, Array]]  # field(q1, q2, t) -> F1, F2, on jets


class Gains(NamedTuple):
    """How violations decay, and the damping of the inverse."""

    k0: Array  # 1/s2
    k1: Array  # 1/s
    kz: Array  # 1/s
    es: Array  # m/s
    kd: Array  # 1/s


class Law(NamedTuple):
    """Torques, and the violations they act on."""

    M1: Array
    M2: Array
    R3: Array
    y: Array
    y_rate: Array
    z: Array  # one number with a rigid front wheel, two with a free one
    theta3: Array  # dphi/dq3
    w_desired: Array


def _in_the_cart(q4: Array, F: tuple[Array, Array]) -> tuple[Array, Array]:
    """Fx, Fy: along and across the body."""
    c, s = np.cos(q4), np.sin(q4)
    return F[0] * c + F[1] * s, F[1] * c - F[0] * s


def _wanted_speed(q: Array, F: tuple[Array, Array], lam: Array) -> Array:
    """wd of (3)"""
    Fx, Fy = _in_the_cart(q[3], F)
    c, s = np.cos(q[2]), np.sin(q[2])
    return (Fx * c + lam * Fy * s) / (c**2 + lam**2 * s**2)


def cart_program(field: Field, k: Constants, gains: Gains, front: str) -> ConstraintProgram:
    """(1) and (3), or (1) and (4), for q = (q1, q2, q3, q4)."""
    k = constants(k)
    lam = k.l2 / k.L

    def phi(q: Array, t: Array) -> Array:
        Fx, Fy = _in_the_cart(q[3], field(q[0], q[1], t))
        return np.stack([Fx * np.sin(q[2]) - Fy * np.cos(q[2]) / lam])

    def rigid_rate(q: Array, nu: Array) -> Array:
        v, om = front_speeds(q[2], nu[0], k)
        return np.stack([*pose_rates(q[3], v, om, k), nu[1], om])

    def rigid_psi(q: Array, nu: Array, t: Array) -> Array:
        return np.stack([nu[0] - _wanted_speed(q, field(q[0], q[1], t), lam)])

    def free_rate(q: Array, nu: Array) -> Array:
        return np.stack([*pose_rates(q[3], nu[0], nu[1], k), nu[2], nu[1]])

    def free_psi(q: Array, nu: Array, t: Array) -> Array:
        F1, F2 = field(q[0], q[1], t)
        v1, v2 = pose_rates(q[3], nu[0], nu[1], k)
        return np.stack([v1 - F1, v2 - F2])

    rate, psi = (free_rate, free_psi) if front == "free" else (rigid_rate, rigid_psi)
    return ConstraintProgram(rate, phi, psi, gains.k0, gains.k1, gains.kz)


def _steering(Th_3: Array, rhs: Array, sg: Array, g: Gains) -> Array:
    """sg' by the damped inverse (5); without damping and without effect (es = Th_3 = 0) it is 0."""
    scale = Th_3**2 + g.es**2
    return (Th_3 * rhs - g.es**2 * g.kd * sg) / np.where(scale > 0.0, scale, 1.0)


def rigid_law(field: Field, q: Array, w: Array, sg: Array, k: Constants, gains: Gains, no_side_load: Array) -> Law:
    """The torques of the rigid cart; no_side_load: 0 for (6), 1 for (7)."""
    program = cart_program(field, k, gains, "rigid")
    V = program.violation(q, np.stack([w, sg]), 0.0)
    wanted = program.wanted(V)
    dw = wanted[1] - V.s[1]  # psi_nu = (1, 0)
    dsg = _steering(V.Theta[0, 1], wanted[0] - V.s[0] - V.Theta[0, 0] * dw, sg, gains)
    q3 = q[2]
    s, c = np.sin(q3), np.cos(q3)
    v, om = front_speeds(q3, w, k)
    dv, dom = axle_accelerations(q3, w, sg, dw, k)
    Qw = rigid_inertia(q3, k) * dw + w * sg * (k.be - k.ae) * s * c + k.A / k.L * s * dsg
    R3 = k.A * (dsg + dom)
    c1, c2 = rear_arms(q3, k)
    share = Qw / (c1**2 + c2**2)
    total = k.r * (k.ae * dv - k.md * om**2 + k.cr * c * dw)
    difference = k.r / k.h * (k.Je * dom + k.A * dsg + k.md * v * om + k.cr * k.L * s * dw)
    M1 = np.where(no_side_load > 0.5, (total - difference) / 2.0, c1 * share)
    M2 = np.where(no_side_load > 0.5, (total + difference) / 2.0, c2 * share)
    return Law(M1, M2, R3, V.y[0], V.y_rate[0], V.z, V.Theta[0, 1], w - V.z[0])


def free_law(field: Field, q: Array, dq: Array, k: Constants, gains: Gains) -> Law:
    """The torques of the cart whose front wheel may slide, from dq = (q1', q2', q3')."""
    program = cart_program(field, k, gains, "free")
    s, c = np.sin(q[3]), np.cos(q[3])
    v, om = dq[0] * c + dq[1] * s, (dq[1] * c - dq[0] * s) / k.l2
    nu = np.stack([v, om, dq[2]])
    V = program.violation(q, nu, 0.0)
    wanted = program.wanted(V)
    axle = np.linalg.solve(V.Theta[1:, :2], wanted[1:] - V.s[1:])  # v', om'; psi_nu has determinant l2
    dsg = _steering(V.Theta[0, 2], wanted[0] - V.s[0] - V.Theta[0, 0] * axle[0] - V.Theta[0, 1] * axle[1], dq[2], gains)
    Mr, br, B = free_equations(q[2], v, om, dq[2], k)
    u = np.linalg.solve(B, Mr @ np.stack([axle[0], axle[1], dsg]) + br)
    w = v * np.cos(q[2]) + k.L * om * np.sin(q[2])
    return Law(u[0], u[1], u[2], V.y[0], V.y_rate[0], V.z, V.Theta[0, 2], w)
