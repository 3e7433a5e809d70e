"""What the parameters of an FMU must fulfil so that its bodies can exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...multibody.frames import Bodies
from ...multibody.rigid_groups import RigidGroup, impossible_inertias, merged, moving_groups
from ...multibody.tree import BodyTree

Array = Any
TEXT = "its inertia is not that of a body (positive, triangle inequality)"


def possible_bodies(tree: BodyTree) -> list[int]:
    """Return the bodies with an inertia that a body can have: each must keep one."""
    described = enumerate(tree.bodies)
    return [i for i, b in described if (b.mass > 0 or any(b.inertia)) and inertia_margin(*b.inertia) > 0]


def groups_judged_together(tree: BodyTree) -> list[RigidGroup]:
    """Return the moving groups that are possible as a whole although a body of them is not.

    A group that is impossible was accepted as it is (inertia=warn) and is not judged.
    """
    possible = set(possible_bodies(tree))
    impossible = {found.group.bodies for found in impossible_inertias(tree)}
    doubtful = [
        group
        for group in moving_groups(tree)
        if group.bodies not in impossible and any(any(tree.bodies[i].inertia) for i in set(group.bodies) - possible)
    ]
    own = Bodies(*(np.array(part) for part in zip(*((b.mass, b.com, b.inertia) for b in tree.bodies), strict=True)))
    return [group for group in doubtful if inertia_margins(own, (), [group])[0] > 0]


def inertia_margins(own: Bodies, bodies: Sequence[int], groups: Sequence[RigidGroup]) -> list[Array]:
    """Return a number for each body and group that is positive while its inertia is possible; own: in body axes."""
    found = [inertia_margin(*(own.J[i][n] for n in range(6))) for i in bodies]
    for group in groups:
        _, _, J = merged(group, *([part[i] for i in group.bodies] for part in (own.m, own.c, own.J)))
        found.append(inertia_margin(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
    return found


def inertia_margin(xx: Array, yy: Array, zz: Array, xy: Array, xz: Array, yz: Array) -> Array:
    """Positive for inertias that a real body can have: tr J / 2 E - J is positive semidefinite.

    J is then also positive semidefinite, and obeys the triangle inequality.
    """
    trace = xx + yy + zz
    a, b, c = trace / 2 - xx, trace / 2 - yy, trace / 2 - zz
    slack = 1e-9 * trace
    determinant = a * b * c - 2 * xy * xz * yz - a * yz**2 - b * xz**2 - c * xy**2
    pairs = [a * b - xy**2, a * c - xz**2, b * c - yz**2]
    minors = [a + slack, b + slack, c + slack]
    minors += [*(pair + slack * trace for pair in pairs), determinant + slack * trace**2]
    least = minors[0]
    for minor in minors[1:]:
        least = np.minimum(least, minor)
    return least + 1e-30
