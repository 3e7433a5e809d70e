"""Positions and velocities of the frames of a tree in world axes, by an outward recursion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .frames import BASE, Frame
from .rotations import cross, quaternion_of, quaternion_product

Array = Any


@dataclass(frozen=True)
class Pose:
    """A frame in the world."""

    A: Array  # rotation, frame components to world components
    e: Array  # the same as a unit quaternion
    r: Array  # origin
    v: Array  # its velocity
    w: Array  # angular velocity

    def point(self, offset: Array) -> tuple[Array, Array]:
        """Position and velocity of a point fixed in the frame at `offset`."""
        arm = self.A @ offset
        return self.r + arm, self.v + cross(self.w, arm)


def poses(frames: Sequence[Frame], q: Array, v: Array, base: Pose) -> list[Pose]:
    """Return the pose of every frame."""
    found: list[Pose] = []
    for frame in frames:
        before = base if frame.parent == BASE else found[frame.parent]
        r, velocity = before.point(frame.r)
        A, e = before.A @ frame.R0, quaternion_product(before.e, quaternion_of(frame.R0))
        found.append(Pose(*frame.elementary.displace(q, v, A, e, r, velocity, before.w)))
    return found
