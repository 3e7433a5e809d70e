"""Spheres on the bodies of a tree that touch the ground: their variables, and their forces as loads on the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model.variables import Row
from ...multibody.attachments import ContactSphere
from ...multibody.ground_contact import Ground, GroundForce, ground_force
from ...multibody.kinematics import Pose
from ...multibody.rotations import cross

Array = Any
Loads = dict[int, tuple[Array, Array]]
XYZ = "xyz"

STATIC_BELOW_SLIDING = "contact.static_friction must not be less than contact.sliding_friction"

GROUND_ROWS = (
    Row("ground_h", "ground.height", "parameter", "height of the ground at x = y = 0", "m"),
    Row("ground_beta", "ground.inclination", "parameter",
        "inclination of the ground, turned about y: positive, it falls towards x", "rad", min=-1.5, max=1.5),
    Row("contact_k", "contact.stiffness", "parameter", "normal force by the square of the depth", "N/m2",
        start=1e7, above=0.0),
    Row("contact_d", "contact.damping", "parameter", "how much the normal force grows with the speed inwards", "s/m",
        start=2.0, min=0.0),
    Row("contact_mus", "contact.static_friction", "parameter", "largest friction force by the normal force", "1",
        start=0.9, min=0.0),
    Row("contact_mud", "contact.sliding_friction", "parameter", "friction force by the normal force, sliding fast",
        "1", start=0.7, min=0.0),
    Row("contact_vf", "contact.friction_speed", "parameter", "speed at which friction is largest; below it, creep",
        "m/s", start=0.1, above=0.0),
)  # fmt: skip


def contact_rows(labels: Sequence[str]) -> list[Row]:
    """The outputs of all contacts."""
    rows = []
    for i, name in enumerate(labels):
        text = f"component of the force of the ground on contact {name}, world axes"
        rows += [Row(f"contact{i}_f{a}", f"{name}.force_{a}", "output", f"{a} {text}", "N") for a in XYZ]
        text = f"depth of contact {name} in the ground; negative: its height above it"
        rows.append(Row(f"contact{i}_depth", f"{name}.depth", "output", text, "m"))
    return rows


def contact_outputs(forces: Sequence[GroundForce]) -> dict[str, Array]:
    """Their values, by symbol."""
    parts: dict[str, Array] = {}
    for i, found in enumerate(forces):
        parts |= {f"contact{i}_f{a}": found.force[k] for k, a in enumerate(XYZ)}
        parts[f"contact{i}_depth"] = found.depth
    return parts


def ground_forces(
    contacts: Sequence[ContactSphere], at: Sequence[int], turns: Sequence[np.ndarray], where: list[Pose], P: Any
) -> list[GroundForce]:
    """The force on each sphere. at, turns: frame of the tree and rotation W to the body's axes, for each sphere."""
    if not contacts:
        return []
    ground = Ground(P.ground_h, P.ground_beta, P.contact_k, P.contact_d, P.contact_mus, P.contact_mud, P.contact_vf)
    found = []
    for sphere, k, W in zip(contacts, at, turns, strict=True):
        centre, velocity = where[k].point(W.T @ np.array(sphere.position))
        found.append(ground_force(ground, centre, velocity, where[k].w, sphere.radius))
    return found


def with_ground(loads: Loads, forces: Sequence[GroundForce], at: Sequence[int], where: list[Pose]) -> Loads:
    """Return the loads (force and moment about the frame's origin, its axes) with those of the ground."""
    loads = dict(loads)
    for found, k in zip(forces, at, strict=True):
        A, arm = where[k].A, found.point - where[k].r
        F, M = A.T @ found.force, A.T @ cross(arm, found.force)
        loads[k] = (loads[k][0] + F, loads[k][1] + M) if k in loads else (F, M)
    return loads
