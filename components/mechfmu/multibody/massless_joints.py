"""Joints that move no mass: forces do not determine their acceleration. They are rejected, or held still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .rotations import about

if TYPE_CHECKING:
    from .tree import BodyTree, Joint

Followers = Mapping[int, tuple[int, float, float]]  # as following.follow


def massless_joints(tree: BodyTree, followers: Followers) -> list[list[int]]:
    """Return the joints that move neither mass nor rotor, each with the joints that follow it, which do not either."""
    moved = {b.name: bool(b.mass > 0 or any(b.inertia)) for b in tree.bodies}
    resisted: dict[int, bool] = {}
    members: dict[int, list[int]] = {}
    for j in reversed(range(len(tree.joints))):
        joint = tree.joints[j]
        if joint.rates:
            leader = followers[j][0] if j in followers else j
            resisted[leader] = resisted.get(leader, False) or moved[joint.child] or joint.armature > 0
            members.setdefault(leader, []).append(j)
        if joint.parent:
            moved[joint.parent] = moved[joint.parent] or moved[joint.child]
    return [[leader, *sorted(set(members[leader]) - {leader})] for leader in sorted(members) if not resisted[leader]]


def held(tree: BodyTree, followers: Followers) -> tuple[BodyTree, list[str]]:
    """Return the tree with these joints fixed, and a line about each.

    They stay where they would start: at zero, or at the nearest value within their limits.
    """
    joints, notes = list(tree.joints), []
    for leader, *others in massless_joints(tree, followers):
        joint = tree.joints[leader]
        lower = -np.inf if joint.lower is None else joint.lower
        upper = np.inf if joint.upper is None else joint.upper
        q = float(np.clip(0.0, lower, upper)) if joint.rates == 1 else 0.0
        joints[leader] = _fixed(joint, q)
        for j in others:
            joints[j] = _fixed(tree.joints[j], followers[j][1] * q + followers[j][2])
        following = f", with the {len(others)} that follow it" if others else ""
        notes.append(f"joint {joint.name}: moves no mass and is held at {q:g}{following}")
    return replace(tree, joints=tuple(joints)), notes


def _fixed(joint: Joint, q: float) -> Joint:
    """A fixed joint at the place of a joint with one coordinate q, or of any joint at zero."""
    R, position = np.reshape(joint.rotation, (3, 3)), np.array(joint.position)
    axis = np.array(joint.axis) / max(np.linalg.norm(joint.axis), 1e-300)
    if joint.kind == "revolute" and q:
        R = R @ _turned(axis, q)
    elif joint.kind == "prismatic":
        position = position + R @ axis * q
    rotation = tuple(float(x) for x in R.ravel())
    kept = {name: getattr(joint, name) for name in ("name", "child", "parent")}
    return type(joint)(kind="fixed", position=tuple(float(x) for x in position), rotation=rotation, **kept)


def _turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation about a unit vector, made of a turn about z."""
    x = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    x = x / np.linalg.norm(x)
    W = np.stack([x, np.cross(axis, x), axis], axis=1)
    return np.asarray(W @ about(2, np.cos(angle), np.sin(angle)) @ W.T)
