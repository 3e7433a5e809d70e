"""The motors of a tree: what they can do, and the inertia of their rotors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...multibody.tree import BodyTree

Array = Any


def saturated(tree: BodyTree, independent: Collection[int], limited: Collection[int], motor: Array) -> Array:
    """Return the motors' forces, cut off at the effort of the joints `limited`.

    motor: by rate of the joints `independent`, which follow no other.
    """
    if not limited:
        return motor
    parts, at = [], 0
    for j in independent:
        joint = tree.joints[j]
        own = motor[at : at + joint.rates]
        parts.append(np.clip(own, -joint.effort, joint.effort) if j in limited else own)  # type: ignore[operator]
        at += joint.rates
    return np.concatenate(parts)


def armature(tree: BodyTree, P: Any) -> Mapping[int, Array]:
    """Return the inertias of the rotors, by rate. P: parameters of the table."""
    return {rate: getattr(P, symbol) for rate, symbol in _armature_symbols(tree).items()}


def _armature_symbols(tree: BodyTree) -> dict[int, str]:
    found: dict[int, str] = {}
    at = 0
    for j, joint in enumerate(tree.joints):
        found |= {rate: f"I_{j}" for rate in range(at, at + joint.rates) if joint.armature}
        at += joint.rates
    return found
