"""3 x 3 blocks that keep their symmetry and their zeros.

What is known to be equal is computed once, what is known to be zero not at all. Blocks are lists of rows. In a
symmetric block the entries [i][j] and [j][i] are the same object.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rotations import others

Array = Any
Block = list[list[Any]]


def symmetric(upper: dict[tuple[int, int], Any]) -> Block:
    """The symmetric block with these entries (i <= j); the others are zero."""
    return [[upper.get((min(i, j), max(i, j)), 0.0) for j in range(3)] for i in range(3)]


def outer_removed(X: Block, a: list[Any], b: list[Any], gone: tuple[int, ...] = ()) -> Block:
    """The symmetric X - a b^T (a parallel to b), whose rows and columns `gone` are known to vanish."""
    kept = [i for i in range(3) if i not in gone]
    return symmetric({(i, j): X[i][j] - a[i] * b[j] for i in kept for j in kept if i <= j})


def turned(X: Block, axis: int, cos: Any, sin: Any) -> Block:
    """R X R^T of a symmetric block, R a turn about a coordinate axis."""
    (i, j), a = others(axis), axis
    ii = cos * cos * X[i][i] - 2 * (cos * sin * X[i][j]) + sin * sin * X[j][j]
    entries = {
        (a, a): X[a][a],
        (a, i): cos * X[a][i] - sin * X[a][j],
        (a, j): sin * X[a][i] + cos * X[a][j],
        (i, i): ii,
        (j, j): X[i][i] + X[j][j] - ii,
        (i, j): cos * sin * (X[i][i] - X[j][j]) + (cos * cos - sin * sin) * X[i][j],
    }
    return symmetric({(min(k), max(k)): v for k, v in entries.items()})


def turned_general(X: Block, axis: int, cos: Any, sin: Any) -> Block:
    """R X R^T of any block, R a turn about a coordinate axis."""
    i, j = others(axis)
    Y = [list(row) for row in X]
    for k in range(3):
        Y[i][k], Y[j][k] = cos * X[i][k] - sin * X[j][k], sin * X[i][k] + cos * X[j][k]
    Z = [list(row) for row in Y]
    for k in range(3):
        Z[k][i], Z[k][j] = cos * Y[k][i] - sin * Y[k][j], sin * Y[k][i] + cos * Y[k][j]
    return Z


def rotated(X: Block, R: Array) -> Block:
    """R X R^T of a symmetric block."""
    Y = [[_dot(R[i], [X[k][j] for k in range(3)]) for j in range(3)] for i in range(3)]
    return symmetric({(i, j): _dot(R[j], Y[i]) for i in range(3) for j in range(i, 3)})


def rotated_general(X: Block, R: Array) -> Block:
    """R X R^T of any block."""
    Y = [[_dot(R[i], [X[k][j] for k in range(3)]) for j in range(3)] for i in range(3)]
    return [[_dot(R[j], Y[i]) for j in range(3)] for i in range(3)]


def shifted(A: Block, B: Block, D: Block, r: Array) -> tuple[Block, Block]:
    """B and D for an origin from which the old one lies at r: B - A r~ and D + r~ B - B^T r~ - r~ A r~."""
    B_new = [[B[i][j] - x for j, x in enumerate(_row_times_tilde(A[i], r))] for i in range(3)]
    rB, rB_new = _tilde_times(r, B), _tilde_times(r, B_new)
    return B_new, symmetric({(i, j): D[i][j] + rB_new[i][j] + rB[j][i] for i in range(3) for j in range(i, 3)})


def times(X: Block, a: Array) -> Array:
    """X a"""
    return np.stack([_dot(X[i], a) for i in range(3)])


def transposed_times(X: Block, a: Array) -> Array:
    """X^T a"""
    return np.stack([_dot([X[k][i] for k in range(3)], a) for i in range(3)])


def inverse(X: Block) -> Block:
    """The inverse of a symmetric block, by cofactors."""
    c = {
        (0, 0): X[1][1] * X[2][2] - X[1][2] * X[1][2],
        (0, 1): X[0][2] * X[1][2] - X[0][1] * X[2][2],
        (0, 2): X[0][1] * X[1][2] - X[0][2] * X[1][1],
        (1, 1): X[0][0] * X[2][2] - X[0][2] * X[0][2],
        (1, 2): X[0][1] * X[0][2] - X[0][0] * X[1][2],
        (2, 2): X[0][0] * X[1][1] - X[0][1] * X[0][1],
    }
    one_over = 1.0 / (X[0][0] * c[0, 0] + X[0][1] * c[0, 1] + X[0][2] * c[0, 2])
    return symmetric({k: v * one_over for k, v in c.items()})


def added(X: Block, Y: Block, is_symmetric: bool) -> Block:
    if is_symmetric:
        return symmetric({(i, j): X[i][j] + Y[i][j] for i in range(3) for j in range(i, 3)})
    return [[X[i][j] + Y[i][j] for j in range(3)] for i in range(3)]


def _dot(a: Any, b: Any) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _row_times_tilde(a: Any, r: Any) -> list[Any]:
    """a r~ of a row a"""
    return [a[1] * r[2] - a[2] * r[1], a[2] * r[0] - a[0] * r[2], a[0] * r[1] - a[1] * r[0]]


def _tilde_times(r: Any, X: Block) -> Block:
    """r~ X"""
    columns = [[X[k][j] for k in range(3)] for j in range(3)]
    crossed = [[r[1] * c[2] - r[2] * c[1], r[2] * c[0] - r[0] * c[2], r[0] * c[1] - r[1] * c[0]] for c in columns]
    return [[crossed[j][i] for j in range(3)] for i in range(3)]
