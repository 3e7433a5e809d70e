"""Vectors and matrices of 2 x 2 numbers as tuples: what the recursion and contact compute with."""

from __future__ import annotations

from typing import Any

Vector = tuple[Any, Any]
Symmetric = tuple[Any, Any, Any]  # xx, xy, yy
Matrix = tuple[Any, Any, Any, Any]  # xx, xy, yx, yy

ONE: Matrix = (1.0, 0.0, 0.0, 1.0)


def inverse(X: Symmetric) -> Symmetric:
    one_over = 1.0 / (X[0] * X[2] - X[1] * X[1])
    return X[2] * one_over, -X[1] * one_over, X[0] * one_over


def inverse_general(X: Matrix) -> Matrix:
    one_over = 1.0 / (X[0] * X[3] - X[1] * X[2])
    return X[3] * one_over, -X[1] * one_over, -X[2] * one_over, X[0] * one_over


def times(X: Symmetric, a: Vector) -> Vector:
    return X[0] * a[0] + X[1] * a[1], X[1] * a[0] + X[2] * a[1]


def times_general(X: Matrix, a: Vector) -> Vector:
    return X[0] * a[0] + X[1] * a[1], X[2] * a[0] + X[3] * a[1]


def transposed_times(X: Matrix, a: Vector) -> Vector:
    return X[0] * a[0] + X[2] * a[1], X[1] * a[0] + X[3] * a[1]


def product(X: Symmetric, Y: Symmetric) -> Matrix:
    return X[0] * Y[0] + X[1] * Y[1], X[0] * Y[1] + X[1] * Y[2], X[1] * Y[0] + X[2] * Y[1], X[1] * Y[1] + X[2] * Y[2]


def product_general(X: Matrix, Y: Matrix) -> Matrix:
    return X[0] * Y[0] + X[1] * Y[2], X[0] * Y[1] + X[1] * Y[3], X[2] * Y[0] + X[3] * Y[2], X[2] * Y[1] + X[3] * Y[3]


def congruent(X: Matrix, S: Symmetric) -> Symmetric:
    """X^T S X"""
    return symmetric_product(X, product_general(full(S), X))


def symmetric_product(X: Matrix, Y: Matrix) -> Symmetric:
    """X^T Y, known to be symmetric."""
    return X[0] * Y[0] + X[2] * Y[2], X[0] * Y[1] + X[2] * Y[3], X[1] * Y[1] + X[3] * Y[3]


def transposed(X: Matrix) -> Matrix:
    return X[0], X[2], X[1], X[3]


def full(S: Symmetric) -> Matrix:
    return S[0], S[1], S[1], S[2]


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def combined(x: Any, a: Vector, y: Any, b: Vector) -> Vector:
    """x a + y b"""
    return x * a[0] + y * b[0], x * a[1] + y * b[1]


def plus(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1]


def plus3(X: Symmetric, Y: Symmetric) -> Symmetric:
    return X[0] + Y[0], X[1] + Y[1], X[2] + Y[2]


def plus4(X: Matrix, Y: Matrix) -> Matrix:
    return X[0] + Y[0], X[1] + Y[1], X[2] + Y[2], X[3] + Y[3]


def minus4(X: Any, Y: Any) -> Matrix:
    return X[0] - Y[0], X[1] - Y[1], X[2] - Y[2], X[3] - Y[3]
