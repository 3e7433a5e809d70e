"""Where the frames of a tree are and how they move, in world axes: the outward recursion of positions and velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .rotations import quaternion_of, quaternion_product
from .separate_bodies import BASE, Frame, cross

Array = Any


@dataclass(frozen=True)
class Pose:
    """A frame in the world: rotation A (frame to world components), unit quaternion e, origin r, its velocity v, angular velocity w."""

    A: Array
    e: Array
    r: Array
    v: Array
    w: Array

    def point(self, offset: Array) -> tuple[Array, Array]:
        """Position and velocity of a point fixed in the frame at `offset`."""
        arm = self.A @ offset
        return self.r + arm, self.v + cross(self.w, arm)


def poses(frames: Sequence[Frame], q: Array, v: Array, base: Pose) -> list[Pose]:
    """The pose of every frame."""
    found: list[Pose] = []
    for frame in frames:
        before = base if frame.parent == BASE else found[frame.parent]
        r, velocity = before.point(frame.r)
        A, e, w = before.A @ frame.R0, quaternion_product(before.e, quaternion_of(frame.R0)), before.w
        axis = np.eye(3)[frame.axis]
        if frame.motion == "turn":
            half = 0.5 * q[frame.q]
            w = w + A @ (axis * v[frame.v])
            A = A @ frame.rotation(q)
            e = quaternion_product(e, np.concatenate([np.reshape(np.cos(half), (1,)), axis * np.sin(half)]))
        elif frame.motion == "slide":
            arm = A @ (axis * q[frame.q])
            r, velocity = r + arm, velocity + cross(w, arm) + A @ (axis * v[frame.v])
        elif frame.motion == "ball":
            A = A @ frame.rotation(q)
            e = quaternion_product(e, q[frame.q : frame.q + 4])
            w = w + A @ v[frame.v : frame.v + 3]
        found.append(Pose(A, e, r, velocity, w))
    return found
