"""Rotations: about a coordinate axis, by a quaternion (scalar first), and back to angles."""

from __future__ import annotations

from typing import Any

import numpy as np

LENGTH_TIME = 0.05  # s; long compared with the steps of a solver, short compared with the time in which errors add up

Array = Any

AXES = {"x": 0, "y": 1, "z": 2}
SHORTEST = 1e-6  # a shorter quaternion counts as zero


def others(axis: int) -> tuple[int, int]:
    """The two coordinates that a rotation about `axis` mixes, in the order of a right-handed system."""
    return (axis + 1) % 3, (axis + 2) % 3


def about(axis: int, cos: Array, sin: Array) -> Array:
    """The matrix of a rotation about a coordinate axis: child components to parent components."""
    i, j = others(axis)
    entries = {(axis, axis): 1.0, (i, i): cos, (i, j): -sin, (j, i): sin, (j, j): cos}
    zero = 0.0 * cos
    return np.stack([np.stack([entries.get((r, c), 0.0) + zero for c in range(3)]) for r in range(3)])


def from_quaternion(e: Array) -> Array:
    """The matrix of a unit quaternion (w, x, y, z): child components to parent components."""
    w, x, y, z = e[0], e[1], e[2], e[3]
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def quaternion_rate(e: Array, omega: Array) -> Array:
    """de/dt of a quaternion whose child turns with omega (child components): e o (0, omega) / 2."""
    w, x, y, z = e[0], e[1], e[2], e[3]
    a, b, c = omega[0], omega[1], omega[2]
    return 0.5 * np.stack([-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a])


def normalising_rate(e: Array) -> Array:
    """A rate that brings a quaternion back to unit length, where it vanishes: (1 - e.e) e / 2 T, T = LENGTH_TIME."""
    return (1.0 - np.sum(e * e)) / (2.0 * LENGTH_TIME) * e


def cross(a: Array, b: Array) -> Array:
    """The cross product a x b."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def tilde(a: Array) -> Array:
    """The matrix of the cross product: tilde(a) @ b = a x b."""
    zero = 0.0 * a[0]
    return np.stack([np.stack([zero, -a[2], a[1]]), np.stack([a[2], zero, -a[0]]), np.stack([-a[1], a[0], zero])])


def quaternion_product(a: Array, b: Array) -> Array:
    """The quaternion of rotation a followed, in its own axes, by rotation b."""
    return np.stack(
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    )


def unit_quaternion(e: Array) -> Array:
    """The quaternion with length one; (1, 0, 0, 0) for zero, the value of an input that is not set."""
    square = np.sum(e * e)
    none = square < SHORTEST**2
    return np.where(none, np.array([1.0, 0.0, 0.0, 0.0]), e) / np.sqrt(np.where(none, 1.0, square))


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """The unit quaternion, w >= 0, of a rotation matrix of numbers (constant placements; not for symbols)."""
    K = [
        [R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]],
        [R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]],
        [R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], R[0, 0] + R[1, 1] + R[2, 2]],
    ]
    vector = np.linalg.eigh(np.array(K) / 3.0)[1][:, -1]
    e = vector[[3, 0, 1, 2]]
    e = np.where(np.abs(e - np.round(e)) < 1e-14, np.round(e), e) + 0.0
    return e if e[0] > 0 or (e[0] == 0 and next(x for x in e if x) > 0) else -e


def zxz_angles(R: Array) -> Array:
    """The Euler angles of a rotation R = Rz(a) Rx(b) Rz(c), b in [0, pi].

    Where sin b = 0, only a + c or a - c is determined, and c is zero.
    """
    s2 = R[0, 2] ** 2 + R[1, 2] ** 2
    singular = s2 < 1e-24  # the angles are constant around there, so that they have derivatives
    sin = np.where(singular, 0.0, np.sqrt(np.where(singular, 1.0, s2)))
    a = np.arctan2(np.where(singular, R[1, 0], R[0, 2]), np.where(singular, R[0, 0], -R[1, 2]))
    c = np.arctan2(np.where(singular, 0.0, R[2, 0]), np.where(singular, 1.0, R[2, 1]))
    return np.stack([a, np.arctan2(sin, R[2, 2]), c])


def rotation_vector(e: Array) -> Array:
    """The rotation vector (axis times angle, at most pi) of a unit quaternion."""
    sign = np.where(e[0] < 0, -1.0, 1.0)
    vector = sign * e[1:4]
    length = np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2 + 1e-30)  # smooth at rest
    return 2.0 * np.arctan2(length, sign * e[0]) / length * vector
