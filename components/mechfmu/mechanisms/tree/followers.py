"""Joints that follow others: all coordinates and rates from those that are states, and back.

A joint that follows another has q = multiplier * q_leader + offset. With G the constant matrix that has a row for every
rate of the tree and a column for every rate of the joints that follow no other,

    v = G v_s,    vdot = G vdot_s,    tau_s = G^T tau                                                              (1)

are the rates, the accelerations and the motor forces that do the same work.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from ...multibody.tree import BodyTree

Array = Any
Followers = Mapping[int, tuple[int, float, float]]  # joint -> leader, multiplier, offset; as multibody.following.follow


def expanded(tree: BodyTree, followers: Followers, q: Array, v: Array) -> tuple[Array, Array]:
    """Return coordinates and rates of all joints from those of the joints that follow no other."""
    if not followers:
        return q, v
    at: dict[int, tuple[int, int]] = {}
    at_q = at_v = 0
    for j, joint in enumerate(tree.joints):
        if j not in followers:
            at[j] = at_q, at_v
            at_q, at_v = at_q + joint.coordinates, at_v + joint.rates
    all_q, all_v = [], []
    for j, joint in enumerate(tree.joints):
        if j in followers:
            leader, multiplier, offset = followers[j]
            all_q.append(np.reshape(multiplier * q[at[leader][0]] + offset, (1,)))
            all_v.append(np.reshape(multiplier * v[at[leader][1]], (1,)))
        elif joint.rates:
            all_q.append(q[at[j][0] : at[j][0] + joint.coordinates])
            all_v.append(v[at[j][1] : at[j][1] + joint.rates])
    return np.concatenate(all_q), np.concatenate(all_v)


def reduced(tree: BodyTree, followers: Followers, rates: Array) -> Array:
    """Return of a vector by rate the elements of the joints that follow no other."""
    if not followers:
        return rates
    starts = _starts(tree)
    return np.concatenate(
        [rates[starts[j] : starts[j] + x.rates] for j, x in enumerate(tree.joints) if x.rates and j not in followers]
    )


def lifted(tree: BodyTree, followers: Followers, own: Array) -> Array:
    """Return the reverse of `reduced`: the joints that follow others have zeros."""
    if not followers:
        return own
    parts, at = [], 0
    for j, joint in enumerate(tree.joints):
        if j in followers:
            parts.append(np.reshape(0.0 * own[0], (1,)))
        elif joint.rates:
            parts.append(own[at : at + joint.rates])
            at += joint.rates
    return np.concatenate(parts)


def collected(tree: BodyTree, followers: Followers, forces: Array) -> Array:
    """Return G^T forces, (1): what the motors of the joints that follow no other must do for all."""
    if not followers:
        return forces
    starts, found = _starts(tree), []
    for j, joint in enumerate(tree.joints):
        if joint.rates and j not in followers:
            own = forces[starts[j] : starts[j] + joint.rates]
            for follower, (leader, multiplier, _) in followers.items():
                own = own + multiplier * forces[starts[follower]] if leader == j else own
            found.append(own)
    return np.concatenate(found)


def _starts(tree: BodyTree) -> list[int]:
    """The first rate of each joint."""
    return [0, *accumulate(joint.rates for joint in tree.joints)]
