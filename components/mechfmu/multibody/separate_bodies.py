"""Vereshchagin's method of separate bodies for trees in space, O(n), each body in its own axes.

A joint is a sequence of elementary motions: turns about and slides along coordinate axes, and balls (a free
rotation, three rates). A revolute joint is one turn; a universal joint two; Euler angles three; a free joint
three slides and a ball. Between two motions stands a frame; the frame after a joint's last motion is fixed in
its body. So every frame k has

    parent     the frame before it
    R0, r      the constant placement of the motion in the parent frame (rotation and point)
    motion     what moves frame k against this placement, R its rotation (frame k to placement)
    m, c, J    mass, mass centre and inertia about the mass centre of what is fixed in frame k, in its axes; nothing for
               frames inside a joint

Accelerations (a of the origin, alpha) and wrenches (F, moment about the origin) are resolved in the axes of
their frame. One step outwards is

    placement:  a <- a + alpha x r + omega x (omega x r),  then into the axes of the placement by R0^T             (1)
    turn e:     alpha <- alpha + e qdd + omega x e qd                                                              (2)
    slide e:    a <- a + e qdd + alpha x e q + 2 omega x e qd + omega x (omega x e q)                              (3)
    ball:       alpha <- R^T alpha + Omegad + (R^T omega) x Omega                                                  (4)

The reaction of the inboard side on frame k, with everything outboard eliminated, is affine: R_k = M* a_k
- Q*, with the symmetric blocks

    M* = [A  B; B^T  D],    A: force due to a,  D: moment due to alpha,  B: force due to alpha.                    (5)

A single body has

    A = m E ,  B = -m c~ ,  D = J + m (c.c E - c c^T) ,  Q = load - (m omega x (omega x c), omega x D omega)       (6)

A motion S with moment tau adds S vdot to the acceleration a that the frame has without it. It is eliminated as in the
plane: with U = S^T M* S and u = tau + S^T Q*,

    vdot = U^-1 (u - S^T M* a),    M* <- M* - M* S U^-1 S^T M*,    Q* <- Q* - M* S U^-1 u,                         (7)

after which the rows and columns of M* that belong to S are zero; these zeros are written as such, and what follows
skips them: the bias, Q* <- Q* - M* a', and the rotations into the axes of the parent. Weight is a base that accelerates
upwards: a_0 = rdd_0 - g.

The rotor of a motor with inertia j and reduction n turns n times as fast as its joint. Its inertia seen from the joint,
the armature I = n^2 j, resists the rate (that the rotor also takes part in the motion of the bodies is part of their
inertias). The joint then transmits S^T R = tau - I vdot, and (7) holds with

    U = S^T M* S + I,                                                                                              (8)

but leaves no zeros in M*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.block_boundaries import block_boundary
from .elementary_motions import Armature, Blocks, Elimination, ForceMoment
from .frames import BASE, Bodies, Frame
from .rotations import cross
from .symmetric_blocks import Block, added, rotated, rotated_general, shifted, symmetric, times, transposed_times

Array = Any


@dataclass(frozen=True)
class TreeMotion:
    """Accelerations of the rates; for each frame omega, accelerations (a, alpha) and reaction (F, moment)."""

    vdot: Array
    omega: list[Array]
    a: list[tuple[Array, Array]]
    reaction: list[ForceMoment]


def forward_dynamics(
    frames: Sequence[Frame],
    bodies: Bodies,
    q: Array,
    v: Array,
    tau: Array,
    loads: dict[int, ForceMoment],
    a_0: Array,
    alpha_0: Array,
    omega_0: Array,
    armature: Armature | None = None,
) -> TreeMotion:
    """Return accelerations and reactions.

    loads: external (F, moment about the frame's origin) by frame. a_0 includes the weight, rdd_0 - g. armature: of
    the rotors, by rate.
    """
    R = [frame.rotation_to_parent(q) for frame in frames]
    zero = 0.0 * a_0[0]
    omega, bias = velocities(frames, R, q, v, omega_0, zero)
    M, Q = single_bodies(frames, bodies, omega, loads, zero)
    eliminated = _eliminate(frames, R, q, tau, bias, M, Q, armature or {})
    vdot, a = _accelerations(frames, R, q, a_0, alpha_0, bias, eliminated)
    reaction = [
        (times(A, a_k) + times(B, alpha_k) - F, transposed_times(B, a_k) + times(D, alpha_k) - N)
        for (A, B, D), (F, N), (a_k, alpha_k) in zip(M, Q, a, strict=True)
    ]
    return TreeMotion(np.stack([vdot[i] for i in range(len(vdot))]), omega, a, reaction)


def velocities(
    frames: Sequence[Frame], R: list[Array], q: Array, v: Array, omega_0: Array, zero: Array
) -> tuple[list[Array], list[tuple[Array, Array]]]:
    """Outwards: angular velocities, and the part a' of (1)-(4) that does not depend on accelerations."""
    omega: list[Array] = []
    bias: list[tuple[Array, Array]] = []
    for k, frame in enumerate(frames):
        w = omega_0 if frame.parent == BASE else omega[frame.parent]
        a_prime = R[k].T @ cross(w, cross(w, frame.r)) if frame.r.any() else np.stack([zero] * 3)
        w, a_prime, alpha_prime = frame.elementary.bias(q, v, R[k].T @ w, a_prime)
        omega.append(w)
        bias.append((a_prime, alpha_prime))
        block_boundary(w, a_prime, alpha_prime)
    return omega, bias


def single_bodies(
    frames: Sequence[Frame], bodies: Bodies, omega: list[Array], loads: dict[int, ForceMoment], zero: Array
) -> tuple[list[Blocks], list[ForceMoment]]:
    """M and Q of each frame alone, (5), (6)."""
    M: list[Blocks] = []
    Q: list[ForceMoment] = []
    for k, frame in enumerate(frames):
        load = loads.get(k)
        if frame.body is None:
            none = symmetric({})
            M.append((none, none, none))
            Q.append(load or (np.stack([zero] * 3), np.stack([zero] * 3)))
        else:
            blocks, inertial = _body(bodies, frame.body, omega[k])
            M.append(blocks)
            Q.append((-inertial[0], -inertial[1]) if load is None else (load[0] - inertial[0], load[1] - inertial[1]))
            block_boundary(M[k], Q[k])
    return M, Q


def _eliminate(
    frames: Sequence[Frame],
    R: list[Array],
    q: Array,
    tau: Array,
    bias: list[tuple[Array, Array]],
    M: list[Blocks],
    Q: list[ForceMoment],
    armature: Armature,
) -> list[Elimination | None]:
    """Inwards: eliminate the motions, (7), (8). M and Q become M* and Q* with everything outboard eliminated."""
    eliminated: list[Elimination | None] = [None] * len(frames)
    for k in reversed(range(len(frames))):
        frame = frames[k]
        eliminated[k], blocks, wrench = frame.elementary.eliminate(tau, M[k], Q[k], armature)
        wrench = without_bias(blocks, wrench, bias[k])
        if frame.parent == BASE:
            block_boundary(eliminated[k])
            continue
        (A, B, D), (F, N) = to_parent(frame, R[k], q, blocks, wrench)
        (A_p, B_p, D_p), (F_p, N_p) = M[frame.parent], Q[frame.parent]
        M[frame.parent] = (added(A_p, A, True), added(B_p, B, False), added(D_p, D, True))
        Q[frame.parent] = (F_p + F, N_p + N)
        block_boundary(eliminated[k], M[frame.parent], Q[frame.parent])
    return eliminated


def without_bias(blocks: Blocks, wrench: ForceMoment, bias: tuple[Array, Array]) -> ForceMoment:
    """Q* - M* a'."""
    (A, B, D), (F, N), (a, alpha) = blocks, wrench, bias
    return F - times(A, a) - times(B, alpha), N - transposed_times(B, a) - times(D, alpha)


def _accelerations(
    frames: Sequence[Frame],
    R: list[Array],
    q: Array,
    a_0: Array,
    alpha_0: Array,
    bias: list[tuple[Array, Array]],
    eliminated: list[Elimination | None],
) -> tuple[dict[int, Array], list[tuple[Array, Array]]]:
    """Outwards: accelerations of the rates, by rate, and of the frames."""
    vdot: dict[int, Array] = {}
    acceleration: list[tuple[Array, Array]] = []
    for k, frame in enumerate(frames):
        a, alpha = (a_0, alpha_0) if frame.parent == BASE else acceleration[frame.parent]
        a, alpha = to_frame(frame, R[k], q, a, alpha)
        rates, a, alpha = frame.elementary.solve(eliminated[k], a + bias[k][0], alpha + bias[k][1])
        vdot |= rates
        acceleration.append((a, alpha))
        block_boundary(a, alpha)
    return vdot, acceleration


def _body(bodies: Bodies, i: int, w: Array) -> tuple[Blocks, ForceMoment]:
    """M* of a single body about the origin of its frame, and its inertial wrench at zero acceleration, (6)."""
    m, c = bodies.m[i], bodies.c[i]
    J = bodies.J[i]
    mc = m * c
    B: Block = [[0.0, mc[2], -mc[1]], [-mc[2], 0.0, mc[0]], [mc[1], -mc[0], 0.0]]
    D = symmetric(
        {(i, i): J[i] + mc[j] * c[j] + mc[k] * c[k] for i, j, k in ((0, 1, 2), (1, 0, 2), (2, 0, 1))}
        | {(i, j): J[3 + n] - mc[i] * c[j] for n, (i, j) in enumerate(((0, 1), (0, 2), (1, 2)))}
    )
    return (symmetric({(0, 0): m, (1, 1): m, (2, 2): m}), B, D), (cross(w, cross(w, mc)), cross(w, times(D, w)))


def to_parent(frame: Frame, R: Array, q: Array, blocks: Blocks, wrench: ForceMoment) -> tuple[Blocks, ForceMoment]:
    """M* and Q* of the frame in the axes of its parent, about the parent's origin.

    One general rotation costs less than that of the motion and another one to the axes of the parent; where these are
    parallel to those of the placement, the second one costs nothing.
    """
    own = frame.rotation(q)
    if frame.skew and own is not None:
        A, B, D = (turn(X, R) for turn, X in zip((rotated, rotated_general, rotated), blocks, strict=True))
    else:
        A, B, D = frame.elementary.blocks_to_placement(own, q, *blocks)
        if not np.array_equal(frame.R0, np.eye(3)):
            A, B, D = rotated(A, frame.R0), rotated_general(B, frame.R0), rotated(D, frame.R0)
    if frame.r.any():
        B, D = shifted(A, B, D, frame.r)
    return (A, B, D), wrench_to_parent(frame, R, q, *wrench)


def wrench_to_parent(frame: Frame, R: Array, q: Array, F: Array, N: Array) -> ForceMoment:
    """A wrench in the axes of the parent, about its origin."""
    F, N = R @ F, R @ frame.elementary.moment_to_placement(q, F, N)
    return (F, N + cross(frame.r, F)) if frame.r.any() else (F, N)


def to_frame(frame: Frame, R: Array, q: Array, a: Array, alpha: Array) -> tuple[Array, Array]:
    """a, alpha of the frame from those of its parent, without those of the rates and the bias."""
    a, alpha = R.T @ (a + cross(alpha, frame.r)) if frame.r.any() else R.T @ a, R.T @ alpha
    return frame.elementary.carry(q, a, alpha), alpha
