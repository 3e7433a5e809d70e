"""Vectors and velocities carried along the path from the base to one body, in the axes of each frame on it.

Cheaper than the poses of all frames (kinematics.py) where only one body matters, such as that with the tip. The steps
are those of accelerations in separate_bodies.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .frames import BASE, Frame
from .separate_bodies import to_frame

Array = Any


def path(frames: Sequence[Frame], k: int) -> list[int]:
    """Return the frames from the base to frame k."""
    found = []
    while k != BASE:
        found.append(k)
        k = frames[k].parent
    return found[::-1]


def resolved(frames: Sequence[Frame], k: int, q: Array, vectors: Sequence[Array]) -> list[Array]:
    """Return vectors given in the axes of the base in those of frame k."""
    for i in path(frames, k):
        R = frames[i].rotation_to_parent(q)
        vectors = [R.T @ x for x in vectors]
    return list(vectors)


def origin_velocity(
    frames: Sequence[Frame], k: int, q: Array, v: Array, omega: Sequence[Array], v_0: Array, omega_0: Array
) -> Array:
    """Return the velocity of the origin of frame k in its axes.

    omega: angular velocities of the frames in their axes; v_0, omega_0: of the base in its axes
    """
    velocity = v_0
    for i in path(frames, k):
        frame = frames[i]
        w = omega_0 if frame.parent == BASE else omega[frame.parent]
        velocity, _ = to_frame(frame, frame.rotation_to_parent(q), q, velocity, w)
        velocity = velocity + frame.elementary.speed(v)
    return velocity
