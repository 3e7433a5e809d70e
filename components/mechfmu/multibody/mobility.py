"""Check that every motion of a tree has inertia: otherwise the forces do not determine its acceleration.

The inward sweep of separate_bodies.py with numbers only and plain 6 x 6 matrices (linear part first, about the origin
of the frame): M, the inertia of everything outboard with the outer motions eliminated, and C, the same with them
locked. A motion S is singular if U = S^T M S is only rounding compared with C. Motions that follow others are treated
as in coupled_bodies.py, whose equations (7)-(13) are cited here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from .coupled_bodies import Members, closing_frames
from .frames import BASE, Frame
from .rotations import tilde

ROUNDING = 1e-12  # of U relative to C; a singular motion has 1e-16, real robots 1e-6 and more
POSITIONS = 2  # checked: a random position is singular only if nearly all are


def singular_frame(
    frames: Sequence[Frame],
    inertias: Sequence[np.ndarray],
    armature: Mapping[int, float] | None = None,
    members: Members | None = None,
) -> int | None:
    """Return the frame whose motion has no inertia in any position of the tree, or None.

    inertias: 6 x 6, by body. armature: by rate. members: motions that follow others, by frame.
    """
    random = np.random.default_rng(1)
    with np.errstate(all="ignore"):  # masses of 1e-320 kg: an overflow counts as singular
        for _ in range(POSITIONS):
            q = _position(frames, random)
            found = _Sweep(frames, inertias, armature or {}, members or {}).singular_at(q)
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


class _Sweep:
    """The inward sweep at one position."""

    def __init__(
        self, frames: Sequence[Frame], inertias: Sequence[np.ndarray], armature: Mapping[int, float], members: Members
    ):
        self.frames, self.armature, self.members = frames, armature, members
        self.M = [np.zeros((6, 6)) if frame.body is None else inertias[frame.body].copy() for frame in frames]
        self.C = [m.copy() for m in self.M]
        self.closing = closing_frames(frames, members)
        # by frame, of the groups open outboard of it: H, and E in both orders; by group: inertia, all else locked
        self.H: dict[int, dict[int, np.ndarray]] = {k: {} for k in (BASE, *range(len(frames)))}
        self.E: dict[int, dict[tuple[int, int], float]] = {k: {} for k in (BASE, *range(len(frames)))}
        self.locked: dict[int, float] = {}

    def singular_at(self, q: np.ndarray) -> int | None:
        for k in reversed(range(len(self.frames))):
            frame = self.frames[k]
            if (group := self._close(k)) is not None:
                return group
            if k in self.members:
                self._open(k)
            elif frame.rates and not self._eliminate(k):
                return k
            turn = frame.rotation(q)
            R = frame.R0 if turn is None else frame.R0 @ turn
            r = frame.r + frame.R0[:, frame.axis] * q[frame.q] if frame.motion == "slide" else frame.r
            X = np.block([[R.T, -R.T @ tilde(r)], [np.zeros((3, 3)), R.T]])
            for g, H in self.H[k].items():
                self.H[frame.parent][g] = self.H[frame.parent].get(g, 0.0) + X.T @ H
            for pair, E in self.E[k].items():
                self.E[frame.parent][pair] = self.E[frame.parent].get(pair, 0.0) + E
            if frame.parent != BASE:
                self.M[frame.parent] += X.T @ self.M[k] @ X
                self.C[frame.parent] += X.T @ self.C[k] @ X
        return self._close(BASE)

    def _subspace(self, k: int) -> tuple[slice, float, float]:
        """S, the armature, and the size of C."""
        frame = self.frames[k]
        first = {"turn": 3 + frame.axis, "slide": frame.axis, "ball": 3}[frame.motion]
        like = slice(0, 3) if frame.motion == "slide" else slice(3, 6)
        rotor = self.armature.get(frame.v, 0.0)
        return slice(first, first + frame.rates), rotor, float(np.trace(self.C[k][like, like])) + rotor

    def _eliminate(self, k: int) -> bool:
        """(7), (8), (11); False: singular."""
        (S, rotor, size), M, H = self._subspace(k), self.M[k], self.H[k]
        U = M[S, S] + rotor * np.eye(self.frames[k].rates)
        if not (np.isfinite(M).all() and np.linalg.eigvalsh(U)[0] > ROUNDING * size):
            return False
        solved = {g: np.linalg.solve(U, H_g[S]) for g, H_g in H.items()}
        for g, h in product(H, H):
            self.E[k][g, h] = self.E[k].get((g, h), 0.0) - float(H[g][S] @ solved[h])
        self.H[k] = {g: H_g - M[:, S] @ solved[g] for g, H_g in H.items()}
        self.M[k] = M - M[:, S] @ np.linalg.solve(U, M[S])
        return True

    def _open(self, k: int) -> None:
        """(10)"""
        (S, rotor, size), M, H, E = self._subspace(k), self.M[k], self.H[k], self.E[k]
        g, multiple, i = self.members[k].group, self.members[k].multiple, S.start
        for h, H_h in H.items():
            for pair in ((g, h), (h, g)):
                E[pair] = E.get(pair, 0.0) + multiple * float(H_h[i])
        E[g, g] = E.get((g, g), 0.0) + multiple**2 * float(M[i, i] + rotor)
        self.locked[g] = self.locked.get(g, 0.0) + multiple**2 * size
        H[g] = H.get(g, 0.0) + multiple * M[:, i]

    def _close(self, k: int) -> int | None:
        """(13). Return a group without inertia, if there is one: its number is that of its leader's frame."""
        H, E = self.H[k], self.E[k]
        for g in self.closing.get(k, ()):
            H_g, E_gg = H.pop(g), E.pop((g, g))
            if not (np.isfinite(H_g).all() and np.isfinite(E_gg) and E_gg > ROUNDING * self.locked[g]):
                return g
            if k != BASE:
                self.M[k] = self.M[k] - np.outer(H_g, H_g) / E_gg
            coupled = {h: E.pop((g, h)) for h in H if (g, h) in E}
            for h, E_gh in coupled.items():
                E.pop((h, g))
                H[h] = H[h] - H_g * E_gh / E_gg
            for h, i in product(coupled, coupled):
                E[h, i] = E.get((h, i), 0.0) - coupled[h] * coupled[i] / E_gg
        return None


def inertia_matrix(m: float, c: np.ndarray, J: np.ndarray) -> np.ndarray:
    """6 x 6 about the origin, of mass, mass centre and inertia about it."""
    B = -m * tilde(c)
    return np.block([[m * np.eye(3), B], [B.T, J + m * (c @ c * np.eye(3) - np.outer(c, c))]])
