"""A cart with two driven rear wheels and a steered front wheel, on level ground; its wheels roll.

                      rear left (6)                    q1, q2   ground position of M, the body's mass centre
              h  +---[===]-----------+                 q3       steering angle, + to the left
                 |    |              |      / (5)      q4       heading
          --- C--+----|-----M--------|-----/--->       q5..q7   rolling angles of front, rear left, rear right wheel
                 |    |              |    /
              h  +---[===]-----------+                 w        ground speed of the front wheel in its own plane, r q5'
                      rear right (7)                   v, om    forward speed of the rear axle's centre C, yaw rate
                   <-- l2 --><----- l1 ---->           sg       q3'

M is the mass centre of the body m0 alone; that of the whole cart lies mu/m ahead of it. With

    m = m0 + 3 m1 ,   mu = m1 (l1 - 2 l2) ,   J = m0 k0^2 + m1 (l1^2 + 2 l2^2 + 2 h^2) + 3 A ,   L = l1 + l2       (1)
    JR = J + m l2^2 + 2 mu l2 ,  md = m l2 + mu ,  ae = m + 2 C/r^2 ,  Je = JR + 2 C h^2/r^2                       (2)
    cr = C/r^2 ,  be = Je/L^2

the kinetic energy is

    T = m/2 (q1'^2 + q2'^2) + A/2 q3'^2 + J/2 q4'^2 + A q3' q4' + mu (q2' cos q4 - q1' sin q4) q4' +
    C/2 (q5'^2 + q6'^2 + q7'^2)                                                                                    (3)

Rolling: forward at the three wheels (4)-(6), sideways at the front (7) and the rear axle (8)

    q1' cos(q3+q4) + q2' sin(q3+q4) + l1 q4' sin q3 - r q5' = 0                                                    (4)
    q1' cos q4 + q2' sin q4 - h q4' - r q6' = 0 ,      q1' cos q4 + q2' sin q4 + h q4' - r q7' = 0            (5), (6)
    q1' sin(q3+q4) - q2' cos(q3+q4) - l1 q4' cos q3 = 0 ,      q1' sin q4 - q2' cos q4 + l2 q4' = 0           (7), (8)

Rigid front wheel: all five hold, two degrees of freedom, nu = (w, sg). Nothing is divided by cos q3, so that no
configuration is singular.

    v = w cos q3 ,  om = w sin q3/L                                                                                (9)
    | Iw          A sin q3/L |      | w sg (be - ae) sin q3 cos q3 |   | Qw |       Iw = ae cos^2 q3 + be sin^2 q3 + cr
    | A sin q3/L  A          | nu' +| (A/L) w sg cos q3            | = | R3 |       Qw = c1 M1 + c2 M2 + Mf/r     (10)
    c1, c2 = (cos q3 -+ (h/L) sin q3)/r

Side force of the ground on the front wheel, + to the left, from the equations of the free front wheel below:

    e1 = ae v' - md om^2 + cr cos q3 w' - (M1 + M2)/r - Mf cos q3/r
    e2 = Je om' + A sg' + md v om + cr L sin q3 w' - (h/r)(M2 - M1) - Mf L sin q3/r
    f = -e1 sin q3 + e2 cos q3/L                                                                                  (11)

Front wheel free to slide sideways: without (7), three degrees of freedom, nu = (v, om, sg),
slip = -v sin q3 + L om cos q3, side force f(slip):

    | ae + cr cos^2 q3     cr L sin q3 cos q3      0 |       | -md om^2 + cr cos q3 sg slip  |   | g1 |
    | cr L sin q3 cos q3   Je + cr L^2 sin^2 q3    A | nu' + | md v om + cr L sin q3 sg slip | = | g2 |          (12)
    | 0                    A                       A |       | 0                             |   | R3 |
    g1 = (M1 + M2)/r + Mf cos q3/r - f sin q3 ,   g2 = (h/r)(M2 - M1) + Mf L sin q3/r + f L cos q3

M1, M2, Mf are the moments on the rear left, rear right and front wheel, R3 that on the fork.

The other forces of the ground: forward on each wheel, from C q'' = M - r F; sideways on the rear axle, + to the left,
from the motion of the mass centre. Only the sum S of the two rear wheels follows from (8), not how they share it.

    F5 = (Mf - C q5'')/r ,  F6 = (M1 - C q6'')/r ,  F7 = (M2 - C q7'')/r                                          (13)
    S = m v om + md om' - F5 sin q3 - f cos q3
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any


class Cart(NamedTuple):
    """Masses and lengths."""

    m0: Array  # mass of the body
    k0: Array  # its radius of gyration about M
    m1: Array  # mass of a wheel
    r: Array  # its radius
    C: Array  # its moment of inertia about the axle
    A: Array  # about a diameter
    l1: Array  # M to the front axle
    l2: Array  # M to the rear axle
    h: Array  # half track


class Constants(NamedTuple):
    """Derived constants, (1), (2)."""

    r: Array
    A: Array
    C: Array
    l1: Array
    l2: Array
    h: Array
    L: Array
    m: Array
    mu: Array
    J: Array
    md: Array
    ae: Array
    Je: Array
    cr: Array
    be: Array


def constants_of(c: Cart) -> Constants:
    m, mu, L, cr = c.m0 + 3.0 * c.m1, c.m1 * (c.l1 - 2.0 * c.l2), c.l1 + c.l2, c.C / c.r**2
    J = c.m0 * c.k0**2 + c.m1 * (c.l1**2 + 2.0 * c.l2**2 + 2.0 * c.h**2) + 3.0 * c.A
    Je = J + m * c.l2**2 + 2.0 * mu * c.l2 + 2.0 * cr * c.h**2
    return Constants(c.r, c.A, c.C, c.l1, c.l2, c.h, L, m, mu, J, m * c.l2 + mu, m + 2.0 * cr, Je, cr, Je / L**2)


def front_speeds(q3: Array, w: Array, k: Constants) -> tuple[Array, Array]:
    """v, om of a front wheel that does not slide, (9)."""
    return w * np.cos(q3), w * np.sin(q3) / k.L


def pose_rates(q4: Array, v: Array, om: Array, k: Constants) -> tuple[Array, Array]:
    """q1', q2'"""
    return v * np.cos(q4) - k.l2 * om * np.sin(q4), v * np.sin(q4) + k.l2 * om * np.cos(q4)


def wheel_rates(q3: Array, v: Array, om: Array, k: Constants) -> tuple[Array, Array, Array]:
    """q5', q6', q7'"""
    return (v * np.cos(q3) + k.L * om * np.sin(q3)) / k.r, (v - k.h * om) / k.r, (v + k.h * om) / k.r


def slip_of(q3: Array, v: Array, om: Array, k: Constants) -> Array:
    """Sideways speed of the front wheel's contact point, + to the left."""
    return k.L * om * np.cos(q3) - v * np.sin(q3)


def rolling_rows(q: Array, dq: Array, k: Constants) -> Array:
    """The left-hand sides of (4)-(8)."""
    front, c4, s4 = q[2] + q[3], np.cos(q[3]), np.sin(q[3])
    cf, sf = np.cos(front), np.sin(front)
    forward = dq[0] * c4 + dq[1] * s4
    return np.stack(
        [
            dq[0] * cf + dq[1] * sf + k.l1 * dq[3] * np.sin(q[2]) - k.r * dq[4],
            forward - k.h * dq[3] - k.r * dq[5],
            forward + k.h * dq[3] - k.r * dq[6],
            dq[0] * sf - dq[1] * cf - k.l1 * dq[3] * np.cos(q[2]),
            dq[0] * s4 - dq[1] * c4 + k.l2 * dq[3],
        ]
    )


def kinetic_energy(q4: Array, dq: Array, k: Constants) -> Array:
    """(3)"""
    turning = k.J / 2.0 * dq[3] ** 2 + k.A / 2.0 * dq[2] ** 2 + k.A * dq[2] * dq[3]
    coupling = k.mu * (dq[1] * np.cos(q4) - dq[0] * np.sin(q4)) * dq[3]
    rolling = k.C / 2.0 * (dq[4] ** 2 + dq[5] ** 2 + dq[6] ** 2)
    return k.m / 2.0 * (dq[0] ** 2 + dq[1] ** 2) + turning + coupling + rolling


class Drive(NamedTuple):
    """The moments on the rear left, rear right and front wheel, and on the fork."""

    M1: Array
    M2: Array
    R3: Array
    Mf: Array = 0.0


def rigid_inertia(q3: Array, k: Constants) -> Array:
    """Iw"""
    return k.ae * np.cos(q3) ** 2 + k.be * np.sin(q3) ** 2 + k.cr


def rear_arms(q3: Array, k: Constants) -> tuple[Array, Array]:
    """c1, c2 of (10)"""
    return (np.cos(q3) - k.h / k.L * np.sin(q3)) / k.r, (np.cos(q3) + k.h / k.L * np.sin(q3)) / k.r


def rigid_accelerations(q3: Array, w: Array, sg: Array, drive: Drive, k: Constants) -> tuple[Array, Array]:
    """w', sg' from (10); the determinant is A (Iw - A sin^2 q3/L^2) > 0."""
    s, c = np.sin(q3), np.cos(q3)
    c1, c2 = rear_arms(q3, k)
    Iw = rigid_inertia(q3, k)
    Qw = c1 * drive.M1 + c2 * drive.M2 + drive.Mf / k.r - w * sg * (k.be - k.ae) * s * c
    R3 = drive.R3 - k.A / k.L * w * sg * c
    dw = (Qw - s / k.L * R3) / (Iw - k.A * s**2 / k.L**2)
    return dw, R3 / k.A - s / k.L * dw


def axle_accelerations(q3: Array, w: Array, sg: Array, dw: Array, k: Constants) -> tuple[Array, Array]:
    """v', om' of the rigid cart, (9) differentiated."""
    s, c = np.sin(q3), np.cos(q3)
    return dw * c - w * sg * s, (dw * s + w * sg * c) / k.L


def side_force(q3: Array, w: Array, sg: Array, dw: Array, dsg: Array, drive: Drive, k: Constants) -> Array:
    """f of (11)"""
    s, c = np.sin(q3), np.cos(q3)
    v, om = front_speeds(q3, w, k)
    dv, dom = axle_accelerations(q3, w, sg, dw, k)
    e1 = k.ae * dv - k.md * om**2 + k.cr * c * dw - (drive.M1 + drive.M2) / k.r - drive.Mf * c / k.r
    e2 = k.Je * dom + k.A * dsg + k.md * v * om + k.cr * k.L * s * dw
    e2 = e2 - k.h / k.r * (drive.M2 - drive.M1) - drive.Mf * k.L * s / k.r
    return -e1 * s + e2 * c / k.L


def free_equations(q3: Array, v: Array, om: Array, sg: Array, k: Constants) -> tuple[Array, Array, Array]:
    """Mr, br of (12) and the matrix that turns (M1, M2, R3) into generalised forces."""
    s, c = np.sin(q3), np.cos(q3)
    slip, zero = slip_of(q3, v, om, k), 0.0 * (v + k.A)
    one = 1.0 + zero
    cross = k.cr * k.L * s * c
    Mr = np.stack(
        [
            np.stack([k.ae + k.cr * c**2, cross, zero]),
            np.stack([cross, k.Je + k.cr * k.L**2 * s**2, k.A + zero]),
            np.stack([zero, k.A + zero, k.A + zero]),
        ]
    )
    br = np.stack([-k.md * om**2 + k.cr * c * sg * slip, k.md * v * om + k.cr * k.L * s * sg * slip, zero])
    B = np.stack(
        [
            np.stack([1.0 / k.r + zero, 1.0 / k.r + zero, zero]),
            np.stack([-k.h / k.r + zero, k.h / k.r + zero, zero]),
            np.stack([zero, zero, one]),
        ]
    )
    return Mr, br, B


def free_accelerations(q3: Array, v: Array, om: Array, sg: Array, drive: Drive, f: Array, k: Constants) -> Array:
    """(v', om', sg') from (12)"""
    s, c = np.sin(q3), np.cos(q3)
    Mr, br, B = free_equations(q3, v, om, sg, k)
    ground = np.stack([drive.Mf * c / k.r - f * s, drive.Mf * k.L * s / k.r + f * k.L * c, 0.0 * f])
    return np.linalg.solve(Mr, B @ np.stack([drive.M1, drive.M2, drive.R3]) + ground - br)


def ground_forces(
    q3: Array, v: Array, om: Array, sg: Array, dv: Array, dom: Array, drive: Drive, f: Array, k: Constants
) -> tuple[Array, Array, Array, Array]:
    """F5, F6, F7, S of (13); the rolling accelerations are the rates of `wheel_rates`."""
    s, c = np.sin(q3), np.cos(q3)
    front, left, right = wheel_rates(q3, dv, dom, k)
    front = front + sg * slip_of(q3, v, om, k) / k.r
    F5, F6, F7 = (drive.Mf - k.C * front) / k.r, (drive.M1 - k.C * left) / k.r, (drive.M2 - k.C * right) / k.r
    return F5, F6, F7, k.m * v * om + k.md * dom - F5 * s - f * c
