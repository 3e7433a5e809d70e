"""Vereshchagin's method of separate bodies for trees in space, O(n), each body in its own axes.

A joint is a sequence of elementary motions: turns about and slides along coordinate axes, and balls (a free rotation, three rates).
A revolute joint is one turn; a universal joint two; Euler angles three; a free joint three slides and a ball. Between two motions stands a
frame; the frame after a joint's last motion is fixed in its body. So every frame k has

    parent     the frame before it
    R0, r      the constant placement of the motion in the parent frame (rotation and point)
    motion     what moves frame k against this placement, R its rotation (frame k to placement)
    m, c, J    mass, mass centre and inertia about the mass centre of what is fixed in frame k, in its axes; nothing for frames inside a joint

Accelerations (a of the origin, alpha) and wrenches (F, moment about the origin) are resolved in the axes of their frame. One step outwards is

    placement:  a <- a + alpha x r + omega x (omega x r),  then into the axes of the placement by R0^T                           (1)
    turn e:     alpha <- alpha + e qdd + omega x e qd                                                                             (2)
    slide e:    a <- a + e qdd + alpha x e q + 2 omega x e qd + omega x (omega x e q)                                             (3)
    ball:       alpha <- R^T alpha + Omegad + (R^T omega) x Omega                                                                 (4)

The reaction of the inboard side on frame k, with everything outboard eliminated, is affine: R_k = M* a_k - Q*, with the symmetric blocks

    M* = [A  B; B^T  D],    A: force due to a,  D: moment due to alpha,  B: force due to alpha.                                   (5)

A single body has A = m E, B = -m c~, D = J + m (c.c E - c c^T), Q = load - (m omega x (omega x c), omega x D omega).              (6)
A motion S with moment tau is eliminated as in the plane: with U = S^T M* S and u = tau + S^T (Q* - M* a'),

    M* <- M* - M* S U^-1 S^T M*,     Q* <- Q* - M* a' - M* S U^-1 u,                                                              (7)

after which the rows and columns of M* that belong to S are zero; these zeros are written as such, and the rotations below skip them.
Weight is a base that accelerates upwards: a_0 = rdd_0 - g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..model.block_boundaries import block_boundary
from .rotations import about, from_quaternion
from .symmetric_blocks import (
    Block,
    added,
    inverse,
    outer_removed,
    rotated,
    rotated_general,
    shifted,
    symmetric,
    times,
    transposed_times,
    turned,
    turned_general,
)

Array = Any
BASE = -1


@dataclass(frozen=True, eq=False)
class Frame:
    """One elementary motion (or none: fixed) and what is fixed in the frame after it. See the top of this file."""

    parent: int  # the frame before it, or BASE
    R0: np.ndarray
    r: np.ndarray
    motion: Literal["fixed", "turn", "slide", "ball"]
    axis: int = 2
    q: int = 0  # first coordinate of the motion
    v: int = 0  # first rate
    body: int | None = None

    @property
    def rates(self) -> int:
        return {"fixed": 0, "ball": 3}.get(self.motion, 1)

    def rotation(self, q: Array) -> Array:
        """Frame k to placement; None: the axes stay."""
        if self.motion == "turn":
            return about(self.axis, np.cos(q[self.q]), np.sin(q[self.q]))
        return from_quaternion(q[self.q : self.q + 4]) if self.motion == "ball" else None


@dataclass(frozen=True)
class Bodies:
    """The parameters of the bodies, one row each: masses (n,), mass centres (n, 3), inertias (n, 6) as xx, yy, zz, xy, xz, yz."""

    m: Array
    c: Array
    J: Array


@dataclass(frozen=True)
class TreeMotion:
    """What the sweeps give: accelerations of the rates; for each frame omega, accelerations (a, alpha) and reaction (F, moment)."""

    vdot: Array
    omega: list[Array]
    a: list[tuple[Array, Array]]
    reaction: list[tuple[Array, Array]]


def cross(a: Array, b: Array) -> Array:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def forward_dynamics(
    frames: Sequence[Frame],
    bodies: Bodies,
    q: Array,
    v: Array,
    tau: Array,
    loads: dict[int, tuple[Array, Array]],
    a_0: Array,
    alpha_0: Array,
    omega_0: Array,
) -> TreeMotion:
    """Accelerations and reactions. loads: external (F, moment about the frame's origin) by frame; a_0 includes the weight, rdd_0 - g."""
    R = [frame.rotation(q) for frame in frames]
    zero = 0.0 * a_0[0]

    # outwards: angular velocities, and the part a' of the accelerations that does not depend on accelerations, (1)-(4)
    omega: list[Array] = []
    bias: list[tuple[Array, Array]] = []
    for k, frame in enumerate(frames):
        w = omega_0 if frame.parent == BASE else omega[frame.parent]
        a_prime = frame.R0.T @ cross(w, cross(w, frame.r)) if frame.r.any() else np.stack([zero, zero, zero])
        w = frame.R0.T @ w
        alpha_prime = np.stack([zero, zero, zero])
        e = np.eye(3)[frame.axis]
        if frame.motion == "turn":
            spin = e * v[frame.v]
            alpha_prime = cross(w, spin)
            w = w + spin
            a_prime, alpha_prime, w = (R[k].T @ x for x in (a_prime, alpha_prime, w))
        elif frame.motion == "slide":
            offset = e * q[frame.q]
            a_prime = a_prime + 2 * cross(w, e * v[frame.v]) + cross(w, cross(w, offset))
        elif frame.motion == "ball":
            spin = v[frame.v : frame.v + 3]
            w = R[k].T @ w
            a_prime, alpha_prime = R[k].T @ a_prime, cross(w, spin)
            w = w + spin
        omega.append(w)
        bias.append((a_prime, alpha_prime))
        block_boundary(w, a_prime, alpha_prime)

    # inwards: eliminate the motions, (5)-(7)
    M: list[tuple[Block, Block, Block]] = []
    Q: list[tuple[Array, Array]] = []
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
    kept: list[Any] = [None] * len(frames)
    for k in reversed(range(len(frames))):
        frame = frames[k]
        A, B, D = M[k]
        F, N = Q[k]
        a_prime, alpha_prime = bias[k]
        F = F - times(A, a_prime) - times(B, alpha_prime)
        N = N - transposed_times(B, a_prime) - times(D, alpha_prime)
        a = frame.axis
        if frame.motion == "turn":
            b, d = [B[i][a] for i in range(3)], [D[i][a] for i in range(3)]
            U = 1.0 / d[a]
            bU, dU = [x * U for x in b], [x * U for x in d]
            u = tau[frame.v] + N[a]
            kept[k] = (U, b, d, u)
            A, B, D = outer_removed(A, bU, b), _removed(B, b, dU, column=a), outer_removed(D, dU, d, gone=(a,))
            F, N = F - np.stack(bU) * u, N - np.stack(dU) * u
        elif frame.motion == "slide":
            b, d = [A[i][a] for i in range(3)], [B[a][i] for i in range(3)]
            U = 1.0 / b[a]
            bU, dU = [x * U for x in b], [x * U for x in d]
            u = tau[frame.v] + F[a]
            kept[k] = (U, b, d, u)
            A, B, D = outer_removed(A, bU, b, gone=(a,)), _removed(B, b, dU, row=a), outer_removed(D, dU, d)
            F, N = F - np.stack(bU) * u, N - np.stack(dU) * u
        elif frame.motion == "ball":
            U = inverse(D)
            u = tau[frame.v : frame.v + 3] + N
            BU = [[sum(B[i][k2] * U[k2][j] for k2 in range(3)) for j in range(3)] for i in range(3)]
            kept[k] = (U, BU, None, u)
            A = symmetric(
                {(i, j): A[i][j] - sum(BU[i][k2] * B[j][k2] for k2 in range(3)) for i in range(3) for j in range(i, 3)}
            )
            F = F - times(BU, u)
            N = -tau[frame.v : frame.v + 3]
            B, D = symmetric({}), symmetric({})
        if frame.parent == BASE:
            block_boundary(kept[k])
            continue
        A, B, D, F, N = _to_parent(frame, R[k], q, A, B, D, F, N)
        pA, pB, pD = M[frame.parent]
        M[frame.parent] = (added(pA, A, True), added(pB, B, False), added(pD, D, True))
        Q[frame.parent] = (Q[frame.parent][0] + F, Q[frame.parent][1] + N)
        block_boundary(kept[k], M[frame.parent], Q[frame.parent])

    # outwards: accelerations and reactions
    vdot: dict[int, Array] = {}
    acceleration: list[tuple[Array, Array]] = []
    reaction: list[tuple[Array, Array]] = []
    for k, frame in enumerate(frames):
        a_k, alpha_k = (a_0, alpha_0) if frame.parent == BASE else acceleration[frame.parent]
        a_k = frame.R0.T @ (a_k + cross(alpha_k, frame.r)) if frame.r.any() else frame.R0.T @ a_k
        alpha_k = frame.R0.T @ alpha_k
        e = np.eye(3)[frame.axis]
        if frame.motion == "turn":
            a_k, alpha_k = R[k].T @ a_k, R[k].T @ alpha_k
            U, b, d, u = kept[k]
            qdd = U * (u - np.stack(b) @ a_k - np.stack(d) @ alpha_k)
            vdot[frame.v] = qdd
            alpha_k = alpha_k + e * qdd
        elif frame.motion == "slide":
            a_k = a_k + cross(alpha_k, e * q[frame.q])
            U, b, d, u = kept[k]
            qdd = U * (u - np.stack(b) @ a_k - np.stack(d) @ alpha_k)
            vdot[frame.v] = qdd
            a_k = a_k + e * qdd
        elif frame.motion == "ball":
            a_k, alpha_k = R[k].T @ a_k, R[k].T @ alpha_k
            U, BU, _, u = kept[k]
            omegad = times(U, u) - transposed_times(BU, a_k) - alpha_k
            for i in range(3):
                vdot[frame.v + i] = omegad[i]
            alpha_k = alpha_k + omegad
        a_k, alpha_k = a_k + bias[k][0], alpha_k + bias[k][1]
        acceleration.append((a_k, alpha_k))
        block_boundary(a_k, alpha_k)
        A, B, D = M[k]
        reaction.append(
            (times(A, a_k) + times(B, alpha_k) - Q[k][0], transposed_times(B, a_k) + times(D, alpha_k) - Q[k][1])
        )
    return TreeMotion(np.stack([vdot[i] for i in range(len(vdot))]), omega, acceleration, reaction)


def _body(bodies: Bodies, i: int, w: Array) -> tuple[tuple[Block, Block, Block], tuple[Array, Array]]:
    """M* of a single body about the origin of its frame, and its inertial wrench at zero acceleration, (6)."""
    m, c = bodies.m[i], bodies.c[i]
    J = bodies.J[i]
    mc = m * c
    B: Block = [[0.0, mc[2], -mc[1]], [-mc[2], 0.0, mc[0]], [mc[1], -mc[0], 0.0]]
    D = symmetric({
        (0, 0): J[0] + mc[1] * c[1] + mc[2] * c[2], (1, 1): J[1] + mc[0] * c[0] + mc[2] * c[2], (2, 2): J[2] + mc[0] * c[0] + mc[1] * c[1],
        (0, 1): J[3] - mc[0] * c[1], (0, 2): J[4] - mc[0] * c[2], (1, 2): J[5] - mc[1] * c[2],
    })  # fmt: skip
    return (symmetric({(0, 0): m, (1, 1): m, (2, 2): m}), B, D), (cross(w, cross(w, mc)), cross(w, times(D, w)))


def _removed(B: Block, a: list[Any], b: list[Any], row: int | None = None, column: int | None = None) -> Block:
    """B - a b^T, whose row or column is known to vanish."""
    return [[0.0 if i == row or j == column else B[i][j] - a[i] * b[j] for j in range(3)] for i in range(3)]


def _to_parent(
    frame: Frame, R: Array, q: Array, A: Block, B: Block, D: Block, F: Array, N: Array
) -> tuple[Block, Block, Block, Array, Array]:
    """M* and Q* of the frame as its parent sees them: into the placement's axes, then the parent's axes, then the parent's origin."""
    if frame.motion == "turn":
        i, j = (frame.axis + 1) % 3, (frame.axis + 2) % 3
        cos, sin = R[i, i], R[j, i]
        A, B, D = (
            turned(A, frame.axis, cos, sin),
            turned_general(B, frame.axis, cos, sin),
            turned(D, frame.axis, cos, sin),
        )
        F, N = R @ F, R @ N
    elif frame.motion == "ball":
        A, F, N = rotated(A, R), R @ F, R @ N  # B and D are zero
    elif frame.motion == "slide":
        offset = np.eye(3)[frame.axis] * q[frame.q]
        B, D = shifted(A, B, D, offset)
        N = N + cross(offset, F)
    if not np.array_equal(frame.R0, np.eye(3)):
        A, B, D = rotated(A, frame.R0), rotated_general(B, frame.R0), rotated(D, frame.R0)
        F, N = frame.R0 @ F, frame.R0 @ N
    if frame.r.any():
        B, D = shifted(A, B, D, frame.r)
        N = N + cross(frame.r, F)
    return A, B, D, F, N
