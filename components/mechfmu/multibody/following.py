"""Joints that follow others, and whom they follow in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .tree_error import TreeError

if TYPE_CHECKING:
    from .tree import Joint

FOLLOWING = ("revolute", "prismatic")  # kinds of joints that can follow another, or lead one


def follow(joints: Sequence[Joint]) -> dict[int, tuple[int, float, float]]:
    """Return for each joint that follows another: the joint at the end of the chain, multiplier and offset.

    Following one that follows: q = m1 (m2 q_leader + o2) + o1. TreeError for a joint that cannot be followed.
    """
    index = {joint.name: j for j, joint in enumerate(joints)}
    found: dict[int, tuple[int, float, float]] = {}
    for first, one in enumerate(joints):
        what, chain, k = f"joint {one.name}: mimic", dict[int, None](), first
        while (joint := joints[k]).mimic and k not in found:
            if joint.kind not in FOLLOWING:
                allowed = f"allowed: {', '.join(FOLLOWING)}"
                raise TreeError(f"{what}: a {joint.kind} joint cannot follow another ({allowed})")
            if joint.mimic not in index:
                raise TreeError(f"{what}: joint {joint.mimic} does not exist")
            chain[k] = None
            k = index[joint.mimic]
            if k in chain:
                circle = " -> ".join(joints[i].name for i in (*list(chain)[:8], k))
                raise TreeError(f"{what}: the joints follow each other in a circle: {circle}")
        leader, multiplier, offset = found.get(k, (k, 1.0, 0.0))
        if chain and joints[leader].kind not in FOLLOWING:
            allowed = f"only {' and '.join(FOLLOWING)} joints lead"
            raise TreeError(
                f"{what}: joint {joints[leader].name} is {joints[leader].kind}, and cannot lead it ({allowed})"
            )
        for i in reversed(chain):
            multiplier, offset = joints[i].multiplier * multiplier, joints[i].multiplier * offset + joints[i].offset
            found[i] = leader, multiplier, offset
            if not np.isfinite(multiplier) or not np.isfinite(offset):
                raise TreeError(f"joint {joints[i].name}: mimic: its multiplier or offset is not finite")
    return dict(sorted(found.items()))
