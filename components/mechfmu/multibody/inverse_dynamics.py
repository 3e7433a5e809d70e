"""Inverse dynamics of a tree: the joint forces for given accelerations; outwards the motion, inwards the wrenches.

Frames, motions and conventions are those of separate_bodies.py, whose equations (1)-(4) and (6) are used here with
known accelerations. The reaction on frame k is the inertial wrench of its body, less the load on it, plus the
reactions on the frames outboard of it:

    R_k = M_k a_k - Q_k + sum of R over the children,     tau_k = S_k^T R_k
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .frames import BASE, Bodies, Frame
from .rotations import cross

Array = Any


def inverse_dynamics(
    frames: Sequence[Frame],
    bodies: Bodies,
    q: Array,
    v: Array,
    vdot: Array,
    loads: dict[int, tuple[Array, Array]],
    a_0: Array,
    alpha_0: Array,
    omega_0: Array,
) -> Array:
    """Return tau in the order of the rates. a_0 includes the weight, rdd_0 - g."""
    motion: list[tuple[Array, Array, Array]] = []  # omega, a, alpha of each frame
    wrench: list[tuple[Array, Array]] = []
    for k, frame in enumerate(frames):
        w, a, alpha = (omega_0, a_0, alpha_0) if frame.parent == BASE else motion[frame.parent]
        a = a + cross(alpha, frame.r) + cross(w, cross(w, frame.r))
        w, a, alpha = frame.R0.T @ w, frame.R0.T @ a, frame.R0.T @ alpha
        w, a, alpha = frame.elementary.accelerate(frame.rotation(q), q, v, vdot, w, a, alpha)
        motion.append((w, a, alpha))
        F, N = _inertial(bodies, frame, w, a, alpha)
        load_F, load_N = loads.get(k, (np.zeros(3), np.zeros(3)))
        wrench.append((F - load_F, N - load_N))

    tau: dict[int, Array] = {}
    for k in reversed(range(len(frames))):
        frame = frames[k]
        F, N = wrench[k]
        tau |= frame.elementary.project(F, N)
        if frame.parent == BASE:
            continue
        R = frame.rotation_to_parent(q)
        F, N = R @ F, R @ frame.elementary.moment_to_placement(q, F, N)
        before_F, before_N = wrench[frame.parent]
        wrench[frame.parent] = (before_F + F, before_N + N + cross(frame.r, F))
    return np.stack([tau[i] for i in range(len(tau))])


def _inertial(bodies: Bodies, frame: Frame, w: Array, a: Array, alpha: Array) -> tuple[Array, Array]:
    """The force and the moment about the frame's origin that its body's motion takes: Newton and Euler."""
    if frame.body is None:
        return np.zeros(3), np.zeros(3)
    m, c, J = bodies.m[frame.body], bodies.c[frame.body], bodies.J[frame.body]
    F = m * (a + cross(alpha, c) + cross(w, cross(w, c)))
    return F, times_inertia(J, alpha) + cross(w, times_inertia(J, w)) + cross(c, F)


def times_inertia(J: Array, w: Array) -> Array:
    """J w of an inertia xx, yy, zz, xy, xz, yz."""
    return np.stack(
        [
            J[0] * w[0] + J[3] * w[1] + J[4] * w[2],
            J[3] * w[0] + J[1] * w[1] + J[5] * w[2],
            J[4] * w[0] + J[5] * w[1] + J[2] * w[2],
        ]
    )
