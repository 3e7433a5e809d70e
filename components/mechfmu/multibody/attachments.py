"""What is fixed to the bodies of a tree besides their mass: frames of sensors, and spheres that touch the ground.

Positions and rotations are given in the frame of the body, which is the moving frame of its joint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class FramePoint:
    """A frame on a body, whose motion can be an output."""

    name: str
    body: str = ""  # empty: the base
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = IDENTITY  # rows one after the other: components in the frame to body components


@dataclass(frozen=True)
class ContactSphere:
    """A sphere on a body that touches the ground; radius 0: a point."""

    name: str
    body: str
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    radius: float = 0.0


def attachment_fault(points: Sequence[FramePoint], contacts: Sequence[ContactSphere], bodies: Collection[str]) -> str:
    """Return what is wrong with the frames and spheres, or an empty text. `bodies`: all names, the base's included."""
    for what, names in (("frame", [p.name for p in points]), ("contact", [c.name for c in contacts])):
        for name, count in Counter(names).most_common(1):
            if count > 1:
                return f"{what} {name}: there are two of this name"
    for point in points:
        what = f"frame {point.name}"
        if point.body not in bodies:
            return f"{what}: there is no body {point.body}"
        if len(point.position) != 3 or len(point.rotation) != 9:
            return f"{what}: position must be 3 numbers, rotation 9"
        R = np.reshape(point.rotation, (3, 3))
        if not np.all(np.isfinite(point.position)) or not np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-9):
            return f"{what}: its position is not finite or its rotation is not a rotation matrix"
        if not np.linalg.det(R) > 0:
            return f"{what}: its rotation is not a rotation matrix"
    for sphere in contacts:
        what = f"contact {sphere.name}"
        if not sphere.body or sphere.body not in bodies:
            return f"{what}: there is no body {sphere.body or 'that carries it: the base does not move'}"
        if len(sphere.position) != 3:
            return f"{what}: position must be 3 numbers"
        if not np.all(np.isfinite([*sphere.position, sphere.radius])) or sphere.radius < 0:
            return f"{what}: its numbers must be finite, its radius not negative"
    return ""
