"""Comparisons with the golden data that the library's tests and the FMUs' tests share.

`found` is anything with get(*names).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.chains import off_by
from helpers.tolerances import GOLDEN, GOLDEN_ENERGY, GOLDEN_MOMENTUM, GOLDEN_Q, GOLDEN_V, NORM
from helpers.tree_cases import ACCELERATIONS, ARM, XYZ, matrix_of, names, start_of, wrench_names
from mechfmu.mechanisms.spherical_arm.model import SphericalArm
from mechfmu.multibody.tree import BodyTree

FORMS = ("quaternion", "euler")
MOUNTING = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # Rx(-90 degrees), of both spherical joints
MOUNTING_QUATERNION = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])


def arm_of(form: str) -> SphericalArm:
    return SphericalArm(state=form, mass_matrix="yes")


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def arm_start(form: str, data: dict) -> dict[str, float]:
    """A golden state of the mounted arm. Its quaternions contain the mounting; the arm's own stand behind it."""
    if form == "euler":
        return start_of(arm_of(form).tree, data["q"], data["v"], data["tau"])
    own = data["quaternion_form"]
    back = MOUNTING_QUATERNION * [1, -1, -1, -1]
    q = np.array(own["q"])
    q = np.concatenate([product(back, q[:4]), product(back, q[4:8]), q[8:]])
    return start_of(arm_of(form).tree, q, own["v"], own["tau"])


def zxz(angles: np.ndarray) -> np.ndarray:
    """Rz(a) Rx(b) Rz(c), written out."""
    (a, b, c), (A, B, C) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [a * c - A * b * C, -a * C - A * b * c, A * B],
            [A * c + a * b * C, -A * C + a * b * c, -a * B],
            [B * C, B * c, b],
        ]
    )


def assert_golden(found: Any, tree: BodyTree, data: dict) -> None:
    """Joint loads and energies."""
    assert off_by(found.get(*wrench_names(tree)), np.ravel(data["joint_wrench"])) < GOLDEN
    assert off_by(found.get("energy.kinetic", "energy.potential"), data["energy"]) < GOLDEN


def assert_golden_arm(found: Any, form: str, data: dict) -> None:
    own, tree = (data["quaternion_form"] if form == "quaternion" else data), arm_of(form).tree
    assert off_by(found.get(*names(tree, ACCELERATIONS)), own["vdot" if form == "quaternion" else "qdd"]) < GOLDEN
    matrix = np.reshape(found.get(*(f"mass_matrix[{i},{j}]" for i in range(1, 8) for j in range(1, 8))), (7, 7))
    assert off_by(matrix, own["mass_matrix"]) < GOLDEN
    assert_golden(found, tree, data)
    # the part of the joints' loads that is constraint: the hinge alone has one about its
    # axes, forces are all constraint
    wrench = np.reshape(found.get(*wrench_names(tree)), (3, 6))
    assert off_by(wrench[:, :3], np.array(data["constraint_wrench"])[:, :3]) < GOLDEN
    wanted = np.array(data["constraint_wrench"])[2, 3:]
    hinge = wrench[2, 3:] - wanted  # along the hinge, and as strong as its drive
    assert abs(np.linalg.norm(hinge) - abs(data["tau"][6])) < GOLDEN * np.abs(wrench).max()
    assert abs(hinge @ wanted) < GOLDEN * np.abs(wrench).max() ** 2


def trajectory_signals(form: str) -> list[str]:
    angles = [f"joint[{j}].angle[{k}]" for j in (1, 2) for k in (1, 2, 3)]
    tip = [f"tip.{a}" for a in XYZ]
    signals = [
        *angles,
        "joint[3].angle",
        "joint[3].rate",
        *tip,
        "energy.kinetic",
        "energy.potential",
        "energy.total",
        "momentum.vertical",
    ]
    if form == "euler":
        return [*signals, *(f"joint[{j}].rate[{k}]" for j in (1, 2) for k in (1, 2, 3))]
    return [*signals, *(f"joint[{j}].quaternion[{k}]" for j in (1, 2) for k in (1, 2, 3, 4))]


def assert_golden_trajectory(form: str, rows: np.ndarray) -> None:
    """rows: the signals above at 0, 0.1, ..., 5 s, or the first of them."""
    wanted = {
        name: ARM["trajectory"][name][: len(rows)]
        for name in ("q", "v", "tip", "kinetic", "potential", "H_about_base_point")
    }
    column = {name: rows[:, k] for k, name in enumerate(trajectory_signals(form))}
    q, v = np.array(wanted["q"]), np.array(wanted["v"])
    angles = np.stack([column[f"joint[{j}].angle[{k}]"] for j in (1, 2) for k in (1, 2, 3)], axis=1)
    assert np.max(np.abs(np.exp(1j * angles) - np.exp(1j * q[:, :6]))) < GOLDEN_Q  # whole turns are the same angle
    assert np.max(np.abs(column["joint[3].angle"] - q[:, 6])) < GOLDEN_Q
    assert np.max(np.abs(column["joint[3].rate"] - v[:, 6])) < GOLDEN_V
    assert np.max(np.abs(np.stack([column[f"tip.{a}"] for a in XYZ], axis=1) - wanted["tip"])) < GOLDEN_Q
    for name in ("kinetic", "potential"):
        assert np.max(np.abs(column[f"energy.{name}"] - wanted[name])) < GOLDEN_ENERGY
    assert np.max(np.abs(column["energy.total"] - ARM["trajectory"]["accuracy"]["E0"])) < GOLDEN_ENERGY
    assert np.max(np.abs(column["momentum.vertical"] - np.array(wanted["H_about_base_point"])[:, 2])) < GOLDEN_MOMENTUM
    if form == "euler":
        rates = np.stack([column[f"joint[{j}].rate[{k}]"] for j in (1, 2) for k in (1, 2, 3)], axis=1)
        assert np.max(np.abs(rates - v[:, :6])) < GOLDEN_V
        return
    for j in (1, 2):
        e = np.stack([column[f"joint[{j}].quaternion[{k}]"] for k in (1, 2, 3, 4)], axis=1)
        assert np.max(np.abs(np.linalg.norm(e, axis=1) - 1)) < NORM
        for own, golden in zip(e, q[:, 3 * j - 3 : 3 * j], strict=True):
            assert np.max(np.abs(matrix_of(own) - zxz(golden))) < GOLDEN_Q
