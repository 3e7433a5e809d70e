"""Bodies that are fixed together move as one: their common inertia, whether a body can have it, and the nearest one.

Masses m_i, mass centres c_i and inertias J_i about them, in the axes of the first body, make

    m = sum m_i,    c = sum m_i c_i / m,    J = sum J_i + m_i (d_i.d_i E - d_i d_i^T),    d_i = c_i - c              (1)

J is that of a real body if its principal moments obey J_a <= J_b + J_c in every order. They are then of the form

    (J_1, J_2, J_3) = s_1 (0, 1, 1) + s_2 (1, 0, 1) + s_3 (1, 1, 0),    s >= 0,                                    (2)

with the second moments s of the mass along the principal axes. The nearest possible inertia to a given one has the same
axes and, of the moments (2), those with the least sum of squared differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .tree import Body, BodyTree

Array = Any
SECOND_MOMENTS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])  # (2), a column for each s


@dataclass(frozen=True)
class RigidGroup:
    """Bodies fixed together, by number, each with its axes and origin in the frame of the first."""

    bodies: tuple[int, ...]
    axes: tuple[np.ndarray, ...]
    origins: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class ImpossibleInertia:
    """A group whose inertia no body can have, and the body in it that is the cause."""

    group: RigidGroup
    body: int
    text: str


def moving_groups(tree: BodyTree) -> list[RigidGroup]:
    """Return the groups that can move: what is fixed to the base is not among them."""
    place: dict[str, tuple[int, np.ndarray, np.ndarray]] = {}
    found: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for i, (body, joint) in enumerate(zip(tree.bodies, tree.joints, strict=True)):
        if joint.rates:
            place[body.name] = i, np.eye(3), np.zeros(3)
        elif joint.parent in place:
            first, A, r = place[joint.parent]
            R, p = np.reshape(joint.rotation, (3, 3)), np.array(joint.position)
            place[body.name] = first, A @ R, r + A @ p
        else:
            continue
        first, A, r = place[body.name]
        found.setdefault(first, []).append((i, A, r))
    return [RigidGroup(*(tuple(part) for part in zip(*them, strict=True))) for them in found.values()]


def merged(group: RigidGroup, m: Sequence[Array], c: Sequence[Array], J: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Return mass, mass centre and inertia (3 x 3) of a group, (1), in the frame of its first body.

    m, c, J: of the bodies of the group, in their own axes, J as xx, yy, zz, xy, xz, yz. The mass must not be zero.
    """
    own = [r + A @ c_i for A, r, c_i in zip(group.axes, group.origins, c, strict=True)]
    mass = sum(m)
    centre = sum(m_i * c_i for m_i, c_i in zip(m, own, strict=True)) / mass
    total: Any = np.zeros((3, 3))
    for A, m_i, c_i, J_i in zip(group.axes, m, own, J, strict=True):
        d = c_i - centre
        total = total + A @ as_matrix(J_i) @ A.T + m_i * (np.sum(d * d) * np.eye(3) - np.outer(d, d))
    return mass, centre, total


def as_matrix(J: Array) -> Array:
    xx, yy, zz, xy, xz, yz = (J[i] for i in range(6))
    return np.stack([np.stack([xx, xy, xz]), np.stack([xy, yy, yz]), np.stack([xz, yz, zz])])


def fault(mass: float, J: np.ndarray) -> str | None:
    """Return what is impossible in an inertia about the mass centre, or None."""
    principal = np.linalg.eigvalsh(J)
    if mass == 0:
        return "inertia without mass" if np.any(J) else None
    slack = 1e-9 * max(abs(principal).max(), 1e-6 * mass)  # rounding of a point mass is not an error
    if principal[0] < -slack:
        return "its inertia is not positive"
    if principal[0] + principal[1] < principal[2] * (1 - 1e-6) - slack:
        return "its inertia breaks the triangle inequality"
    return None


def impossible_inertias(tree: BodyTree) -> list[ImpossibleInertia]:
    """Return the moving groups whose merged inertia is impossible; that of a single body in a group may be."""
    found = []
    for group in moving_groups(tree):
        bodies = [tree.bodies[i] for i in group.bodies]
        mass, J = _merged_bodies(group, bodies)
        what = fault(mass, J)
        if what is None:
            continue
        own = [np.linalg.eigvalsh(as_matrix(np.array(b.inertia))) for b in bodies]
        worst = int(np.argmin([p[0] + min(p[1] - p[2], 0.0) for p in own])) if mass else _first_with_inertia(bodies)
        moments = f"principal moments {_listed(own[worst])}"
        if sum(bool(b.mass or any(b.inertia)) for b in bodies) > 1:
            moments += f"; together with the bodies fixed to it {_listed(np.linalg.eigvalsh(J))}"
        found.append(ImpossibleInertia(group, group.bodies[worst], f"{what} ({moments})"))
    return found


def repaired(tree: BodyTree) -> tuple[BodyTree, list[str]]:
    """Return the tree with the nearest possible inertias, and what was changed, one line each."""
    bodies, notes = list(tree.bodies), []
    for found in impossible_inertias(tree):
        group, at = found.group, found.group.bodies.index(found.body)
        mass, J = _merged_bodies(group, [tree.bodies[i] for i in group.bodies])
        before = np.linalg.eigvalsh(J)
        if mass == 0:
            for i in group.bodies:
                bodies[i] = replace(bodies[i], inertia=(0.0,) * 6)
            after = np.zeros(3)
        else:
            nearest = nearest_possible(J)
            after, A = np.linalg.eigvalsh(nearest), group.axes[at]
            own = as_matrix(np.array(bodies[found.body].inertia)) + A.T @ (nearest - J) @ A
            upper = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            bodies[found.body] = replace(bodies[found.body], inertia=tuple(float(own[i]) for i in upper))
        name = tree.bodies[found.body].name
        notes.append(f"body {name}: principal moments {_listed(before)} were changed to {_listed(after)} kg m2")
    return replace(tree, bodies=tuple(bodies)), notes


def nearest_possible(J: np.ndarray) -> np.ndarray:
    """Return the possible inertia that is nearest to a symmetric matrix, (2)."""
    principal, axes = np.linalg.eigh(J)
    best, least = np.zeros(3), float(principal @ principal)
    for count in (1, 2, 3):
        for columns in combinations(range(3), count):
            S = SECOND_MOMENTS[:, columns]
            s = np.linalg.lstsq(S, principal, rcond=None)[0]
            distance = float(np.sum((S @ s - principal) ** 2))
            if np.all(s >= 0) and distance < least:
                best, least = S @ s, distance
    return axes @ np.diag(best) @ axes.T


def _merged_bodies(group: RigidGroup, bodies: Sequence[Body]) -> tuple[float, np.ndarray]:
    """Mass and inertia; without mass, the sum of the inertias."""
    J = [np.array(b.inertia) for b in bodies]
    if not any(b.mass for b in bodies):
        return 0.0, sum((A @ as_matrix(J_i) @ A.T for A, J_i in zip(group.axes, J, strict=True)), np.zeros((3, 3)))
    mass, _, total = merged(group, [b.mass for b in bodies], [np.array(b.com) for b in bodies], J)
    return float(mass), total


def _first_with_inertia(bodies: Sequence[Body]) -> int:
    return next(i for i, b in enumerate(bodies) if any(b.inertia))


def _listed(moments: np.ndarray) -> str:
    return ", ".join(f"{p:g}" for p in moments)
