"""Forces of springs, dampers, friction and elastic stops in the joints of a tree."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ...multibody.rotations import rotation_vector
from ...multibody.tree import BodyTree, Joint

Array = Any


def passive_forces(
    tree: BodyTree, passive: Collection[int], stopped: Collection[int], q: Array, v: Array, P: Any
) -> tuple[Array, Array, Array]:
    """Return the forces in the order of the rates, the power lost, and the energy stored.

    passive, stopped: joints with spring, damper and friction; joints with an elastic stop. P: parameters of the table.
    """
    forces: list[Array] = []
    loss: Any = 0.0
    energy: Any = 0.0
    at_q = at_v = 0
    for j, joint in enumerate(tree.joints):
        own_q, own_v = q[at_q : at_q + joint.coordinates], v[at_v : at_v + joint.rates]
        force = 0.0 * own_v
        if j in passive:
            k, damping, tc, vs = (getattr(P, f"{s}_{j}") for s in ("k", "d", "tc", "vs"))
            resisting = damping * own_v + tc * np.tanh(own_v / vs)
            stretch = rotation_vector(own_q) if joint.kind == "spherical" else own_q - getattr(P, f"rest_{j}")
            force = -k * stretch - resisting
            loss = loss + np.sum(resisting * own_v)
            energy = energy + 0.5 * k * np.sum(stretch * stretch)
        if j in stopped:
            # Hunt and Crossley: the force grows with depth and with speed inwards, so that it begins and ends at zero
            depth = _beyond(q[at_q], joint)
            force = force - P.k_stop * (depth + P.c_stop * np.abs(depth) * own_v)
            loss = loss + P.k_stop * P.c_stop * np.abs(depth) * np.sum(own_v**2)
            energy = energy + 0.5 * P.k_stop * depth**2
        forces.append(force)
        at_q, at_v = at_q + joint.coordinates, at_v + joint.rates
    return np.concatenate(forces), loss, energy


def _beyond(q: Array, joint: Joint) -> Array:
    """Distance of a coordinate beyond its limits: positive above the upper, negative below the lower."""
    above = np.maximum(q - joint.upper, 0.0) if joint.upper is not None else 0.0
    below = np.minimum(q - joint.lower, 0.0) if joint.lower is not None else 0.0
    return above + below
