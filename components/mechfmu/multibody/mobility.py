"""Check that every motion of a tree has inertia: otherwise the forces do not determine its acceleration.

The inward sweep of separate_bodies.py with numbers only and plain 6 x 6 matrices (linear part first, about the origin
of the frame): M, the inertia of everything outboard with the outer motions eliminated, and C, the same with them
locked. A motion S is singular if U = S^T M S is only rounding compared with C.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .frames import BASE, Frame
from .rotations import tilde

ROUNDING = 1e-12  # of U relative to C; a singular motion has 1e-16, real robots 1e-6 and more
POSITIONS = 2  # checked: a random position is singular only if nearly all are


def singular_frame(frames: Sequence[Frame], inertias: Sequence[np.ndarray]) -> int | None:
    """Return the frame whose motion has no inertia in any position of the tree, or None.

    inertias: 6 x 6, by body.
    """
    random = np.random.default_rng(1)
    with np.errstate(all="ignore"):  # masses of 1e-320 kg: an overflow counts as singular
        for _ in range(POSITIONS):
            found = _singular_at(frames, inertias, _position(frames, random))
            if found is None:
                break
    return found


def _position(frames: Sequence[Frame], random: np.random.Generator) -> np.ndarray:
    q: list[float] = []
    for frame in frames:
        if frame.motion == "ball":
            e = random.normal(size=4)
            q.extend(e / np.linalg.norm(e))
        elif frame.rates:
            q.append(random.uniform(-2.0, 2.0))
    return np.array(q)


def _singular_at(frames: Sequence[Frame], inertias: Sequence[np.ndarray], q: np.ndarray) -> int | None:
    M = [np.zeros((6, 6)) if frame.body is None else inertias[frame.body].copy() for frame in frames]
    C = [m.copy() for m in M]
    for k in reversed(range(len(frames))):
        frame = frames[k]
        if frame.rates:
            first = {"turn": 3 + frame.axis, "slide": frame.axis, "ball": 3}[frame.motion]
            S, like = slice(first, first + frame.rates), slice(0, 3) if frame.motion == "slide" else slice(3, 6)
            U = M[k][S, S] + frame.armature * np.eye(frame.rates)
            if not (np.isfinite(M[k]).all() and np.linalg.eigvalsh(U)[0] > ROUNDING * np.trace(C[k][like, like])):
                return k
            M[k] = M[k] - M[k][:, S] @ np.linalg.solve(U, M[k][S])
        if frame.parent != BASE:
            turn = frame.rotation(q)
            R = frame.R0 if turn is None else frame.R0 @ turn
            r = frame.r + frame.R0[:, frame.axis] * q[frame.q] if frame.motion == "slide" else frame.r
            X = np.block([[R.T, -R.T @ tilde(r)], [np.zeros((3, 3)), R.T]])
            M[frame.parent] += X.T @ M[k] @ X
            C[frame.parent] += X.T @ C[k] @ X
    return None


def inertia_matrix(m: float, c: np.ndarray, J: np.ndarray) -> np.ndarray:
    """6 x 6 about the origin, of mass, mass centre and inertia about it."""
    B = -m * tilde(c)
    return np.block([[m * np.eye(3), B], [B.T, J + m * (c @ c * np.eye(3) - np.outer(c, c))]])
