"""Contacts that start so deep inside the ground that it throws the mechanism away."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...model.mechanism import Mechanism
from ...multibody.attachments import IDENTITY
from ...multibody.tree import GRAVITY
from .model import Tree

WEIGHTS = 10.0  # a warning if the elastic force on one contact is larger than so many times the weight of all bodies


def start_in_ground(mechanism: Mechanism, start: Mapping[str, float | str]) -> str:
    """Return a line about the deepest contact, and how to lift it, if it is too deep at these start values; or ""."""
    if not isinstance(mechanism, Tree) or not mechanism.tree.contacts:
        return ""
    tree, table = mechanism.tree, mechanism.table
    t, x, d, u, p = mechanism.start(start)
    with np.errstate(all="ignore"):
        y = mechanism.outputs(t, x, d, u, p)
    depths = [float(y[table.by_name[f"{label}.depth"].index]) for label in mechanism.contact_labels]

    def parameter(name: str) -> float:
        return float(p[table.by_name[name].index])

    weight = GRAVITY * sum(body.mass for body in tree.bodies)
    too_deep = [depth for depth in depths if parameter("contact.stiffness") * max(depth, 0.0) ** 2 > WEIGHTS * weight]
    if not too_deep:
        return ""
    deepest = depths.index(max(too_deep))
    lift = depths[deepest] / math.cos(parameter("ground.inclination"))
    carriers = {joint.child: joint for joint in tree.joints}
    joint = carriers[tree.contacts[deepest].body]
    while joint.parent:
        joint = carriers[joint.parent]
    if joint.kind == "free" and joint.rotation == IDENTITY:
        name = f"{mechanism.joint_label(tree.joints.index(joint))}.position_start[3]"
        value = math.ceil(round(1e3 * (parameter(name) + lift), 6)) / 1e3
    else:
        name, value = "ground.height", math.floor(round(1e3 * (parameter("ground.height") - lift), 6)) / 1e3
    more = f", and {len(too_deep) - 1} more" if len(too_deep) > 1 else ""
    contact = mechanism.contact_labels[deepest]
    return f'contact {contact} starts {depths[deepest]:.2g} m inside the ground{more}: set --start "{name}={value:g}"'
