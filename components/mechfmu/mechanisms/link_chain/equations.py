"""Vereshchagin's method of separate bodies for a planar chain of rods, O(n).

Rod k hangs by joint k on rod k-1; rod 0 is the base. Three-vectors are (x, y, angle), reduced
to the mass centre of the rod.

          joint k+1                 e_k    unit vector along rod k at the absolute angle th_k
             o                      l_k    joint k to joint k+1
            /   rod k               lc_k   joint k to mass centre k
           /
      COM *                         g_k   = lc_k e_k                        joint k -> COM k              (1)
         /  g_k                     h_k   = (l_{k-1} - lc_{k-1}) e_{k-1}    COM k-1 -> joint k, h_1 = 0   (2)
        /                           rho_k = h_k + g_k                       COM k-1 -> COM k              (3)
       o joint k

Kinematics: the acceleration of rod k follows from that of its predecessor and from its own joint,

    a_k = C_k a_{k-1} + S_k qdd_k + a'_k                                                                  (4)
    C_k = [1 0 -rho_y; 0 1 rho_x; 0 0 1],  S_k = (-g_y, g_x, 1),  a'_k = (-w_k^2 g_k - w_{k-1}^2 h_k, 0)  (5)

Dynamics: the reaction of the predecessor on rod k, with everything outboard of it eliminated, is affine in a_k,

    R_k = M*_k a_k - Q*_k ,      S_k^T R_k = tau_k .                                                      (6)

Inward, k = n..1, from M*_k = diag(m, m, J) and Q*_k = load on rod k:

    U_k = S^T M* S ,   v_k = C^T M* S ,   u_k = tau_k + S^T (Q* - M* a')                                  (7)
    M*_{k-1} += C^T M* C - v U^-1 v^T                                                                     (8)
    Q*_{k-1} += C^T (Q* - M* a') - v U^-1 u                                                               (9)

The minus signs in (9) matter: a printed source of the method has a plus before C^T, which is wrong for every n > 1.
Outward, k = 1..n, from the base's acceleration a_0:

    qdd_k = U^-1 ( u_k - v_k^T a_{k-1} ) ,  then (4), then (6).                                           (10)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any


class ChainMotion(NamedTuple):
    """What the two sweeps give, one row per rod."""

    qdd: Array  # (n,) joint accelerations
    a: Array  # (n, 3) accelerations of the mass centres and the rods
    R: Array  # (n, 3) reaction on rod k, reduced to its mass centre


def forward_dynamics(
    e: Array, w: Array, w_0: Array, tau: Array, Q: Array, a_0: Array, l: Array, lc: Array, m: Array, J: Array
) -> ChainMotion:
    """Joint accelerations and reactions.

    e    (2, n)  directions of the rods           Q    (n, 3)  loads on the rods at their mass centres (weight included)
    w    (n,)    absolute angular velocities      a_0  (3,)    acceleration of the base at joint 1
    w_0          that of the base                 l, lc, m, J  (n,)
    tau  (n,)    joint moments
    """
    n = len(l)
    zero = 0.0 * w_0
    one = 1.0 + zero

    # what rod k needs of its own geometry, (1)-(3), (5)
    C, S, a_prime = [], [], []
    for k in range(n):
        g = lc[k] * e[:, k]
        h = (l[k - 1] - lc[k - 1]) * e[:, k - 1] if k > 0 else 0.0 * g
        rho = h + g
        w_parent = w[k - 1] if k > 0 else w_0
        centripetal = -(w[k] ** 2) * g - w_parent**2 * h
        C.append(np.stack([np.stack([one, zero, -rho[1]]), np.stack([zero, one, rho[0]]), np.stack([zero, zero, one])]))
        S.append(np.stack([-g[1], g[0], one]))
        a_prime.append(np.stack([centripetal[0], centripetal[1], zero]))

    # inward, (7)-(9)
    M_star = [np.diag(np.stack([m[k], m[k], J[k]])) for k in range(n)]
    Q_star = [Q[k] for k in range(n)]
    U_inverse, u, v = [zero] * n, [zero] * n, [zero] * n
    for k in reversed(range(n)):
        MS, Q_bias = M_star[k] @ S[k], Q_star[k] - M_star[k] @ a_prime[k]
        U_inverse[k], v[k], u[k] = 1.0 / (S[k] @ MS), C[k].T @ MS, tau[k] + S[k] @ Q_bias
        if k > 0:
            vU = v[k] * U_inverse[k]
            M_star[k - 1] = M_star[k - 1] + _mirrored(C[k].T @ M_star[k] @ C[k] - np.outer(vU, v[k]))
            Q_star[k - 1] = Q_star[k - 1] + (C[k].T @ Q_bias - vU * u[k])

    # outward, (10), (4), (6)
    qdd, a, R = [], [], []
    # h_1 = 0, so the last column of C_1 is S_1: the angular acceleration of the base only changes qdd of joint 1
    a_k = np.stack([a_0[0], a_0[1], zero])
    for k in range(n):
        qdd_k = (u[k] - v[k] @ a_k) * U_inverse[k]
        a_k = C[k] @ a_k + S[k] * qdd_k + a_prime[k]
        qdd.append(qdd_k)
        a.append(a_k)
        R.append(M_star[k] @ a_k - Q_star[k])
    qdd[0] = qdd[0] - a_0[2]
    return ChainMotion(np.stack(qdd), np.stack(a), np.stack(R))


def _mirrored(X: Array) -> Array:
    """The symmetric matrix X with its upper half for both: a compiled engine then omits the lower one."""
    return np.stack([np.stack([X[min(i, j), max(i, j)] for j in range(3)]) for i in range(3)])
