"""Vereshchagin's method of separate bodies for a planar chain of rods, O(n).

Rod k hangs by joint k on rod k-1; rod 0 is the base. Everything is in world axes and reduced to the joints: a force
acts at a joint, a rod is described by the acceleration of its inner joint. The tip is joint n+1.

      rod k+1                        e_k    unit vector along rod k at the absolute angle th_k
         o joint k+1                 r_k  = l_k e_k          joint k -> joint k+1                             (1)
        /                            c_k  = m_k lc_k e_k     joint k -> mass centre k, times the mass         (2)
       * COM                         I_k  = J_k + m_k lc_k^2     moment of inertia about joint k              (3)
      /   rod k                      x_|    the vector x turned by a right angle, (-x_y, x_x)
     o joint k

Kinematics: a_k is the acceleration of joint k, w_k the angular velocity of rod k,

    a_{k+1} = a_k + r_k| wd_k - w_k^2 r_k .                                                                   (4)

Dynamics: R_k and tau_k are force and moment of rod k-1 on rod k in joint k,

    R_k   - R_{k+1}   = m_k a_k + c_k| wd_k - w_k^2 c_k ,                                                     (5)
    tau_k - tau_{k+1} = I_k wd_k + c_k| . a_k + r_k| . R_{k+1} .                                              (6)

Weight is a base that accelerates upwards: a_1 = rdd_0 - g.

The reaction on rod k+1, with everything outboard of it eliminated, is affine in the acceleration of its joint, and no
more than a symmetric 2 x 2 matrix and a vector are needed, because a joint transmits no other moment than tau:

    R_{k+1} = M_{k+1} a_{k+1} - Q_{k+1} .                                                                     (7)

Inward, k = n..1, from the load on the tip: M_{n+1} = 0, Q_{n+1} = F_tip, tau_{n+1} = -M_tip. (4) and (7) in (5), (6):

    P_k = Q_{k+1} + w_k^2 M_{k+1} r_k                                                                         (8)
    v_k = c_k| + M_{k+1} r_k|                                                                                 (9)
    U_k = I_k + r_k| . M_{k+1} r_k| ,   u_k = tau_k - tau_{k+1} + r_k| . P_k                                 (10)
    M_k = m_k E + M_{k+1} - v_k U_k^-1 v_k^T                                                                 (11)
    Q_k = P_k + w_k^2 c_k - v_k U_k^-1 u_k                                                                   (12)

Outward, k = 1..n, from the base's acceleration:

    wd_k = U_k^-1 (u_k - v_k . a_k) ,  qdd_k = wd_k - wd_{k-1} ,  then (4), (7).                             (13)

The recursion is one long chain of dependent operations, which a processor cannot do side by side. So terms are grouped
in such a way that what comes from the next rod is used last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any


class ChainMotion(NamedTuple):
    """What the two sweeps give, one row per rod."""

    qdd: Array  # (n,) joint accelerations
    R: Array  # (n, 2) reaction on rod k in joint k


def forward_dynamics(
    e: Array,
    w: Array,
    tau: Array,
    tip_force: Array,
    tip_moment: Array,
    a_0: Array,
    eps_0: Array,
    l: Array,
    lc: Array,
    m: Array,
    J: Array,
) -> ChainMotion:
    """Joint accelerations and reactions.

    e    (2, n)  directions of the rods           tip_force, tip_moment  load on the tip, (2,) and a number
    w    (n,)    absolute angular velocities      a_0    (2,) acceleration of the base at joint 1, minus gravity
    tau  (n,)    joint moments                    eps_0  angular acceleration of the base
    l, lc, m, J  (n,)
    """
    n = len(l)
    first_moment = m * lc
    r, c = l * e, first_moment * e  # (1), (2)
    I, w2 = J + first_moment * lc, w**2  # (3)
    torque = tau - np.concatenate([tau[1:], np.reshape(-tip_moment, (1,))])

    # inward, (8)-(12)
    M, Q = np.zeros((2, 2)), tip_force
    handle: list[Any] = [None] * n
    v_over_U, u_over_U = handle.copy(), handle.copy()
    for k in reversed(range(n)):
        x, y = r[0, k], r[1, k]
        P = Q + w2[k] * (M @ r[:, k])
        v = turned(c[:, k]) + M @ turned(r[:, k])
        U = (I[k] + y**2 * M[0, 0]) + (x**2 * M[1, 1] - 2 * x * y * M[0, 1])
        v_over_U[k], u_over_U[k] = v / U, (torque[k] + (x * P[1] - y * P[0])) / U
        M = mirrored(m[k] * np.eye(2) + M - np.outer(v, v) / U)
        Q = P + w2[k] * c[:, k] - v * u_over_U[k]
        handle[k] = M, Q

    # outward, (13), (4), (7)
    wd, R, a = [], [], a_0
    for k in range(n):
        M, Q = handle[k]
        R.append(M @ a - Q)
        wd.append(u_over_U[k] - v_over_U[k] @ a)
        a = (a - w2[k] * r[:, k]) + turned(r[:, k]) * wd[k]
    qdd = [wd_k - wd_before for wd_k, wd_before in zip(wd, [eps_0, *wd], strict=False)]
    return ChainMotion(np.stack(qdd), np.stack(R))


def turned(x: Array) -> Array:
    """The vector turned by a right angle, counter-clockwise."""
    return np.stack([-x[1], x[0]])


def mirrored(X: Array) -> Array:
    """The symmetric matrix X with its upper half for both: a compiled engine then omits the lower one."""
    return np.stack([np.stack([X[0, 0], X[0, 1]]), np.stack([X[0, 1], X[1, 1]])])
