"""Outputs of frames on the bodies: pose, velocity, what an inertial sensor there measures, force in the joint.

A sensor frame s is fixed in frame k of the tree at the point r, its axes turned by S (components in s to components in
k). With the motion of frame k in its own axes (omega, a, alpha; separate_bodies.py), A its rotation to the world:

    position            r_k + A r                                                                                  (1)
    orientation         A S, as a quaternion                                                                       (2)
    velocity            v_k + w x A r,   w = A omega                                                               (3)
    gyroscope           S^T omega                                                                                  (4)
    accelerometer       S^T (a + alpha x r + omega x (omega x r))                                                  (5)

In the recursion weight is a base that accelerates upwards, so a contains -g, and (5) is the acceleration less gravity
that an accelerometer feels: at rest, g upwards. The joint that carries the body transmits the wrench (F, N about the
joint), axes of frame k. In the sensor's axes, about its origin:

    force               S^T F                                                                                      (6)
    torque              S^T (N - r x F)                                                                            (7)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model.variables import Row
from ...multibody.attachments import FramePoint
from ...multibody.frames import BASE
from ...multibody.kinematics import Pose
from ...multibody.rotations import cross, quaternion_of, quaternion_product
from ...multibody.separate_bodies import TreeMotion

Array = Any
XYZ = "xyz"
VECTORS = (  # symbol, name, description, unit
    ("r", "", "position of frame {name}, world axes", "m"),
    ("v", "velocity_", "velocity of the origin of frame {name}, world axes", "m/s"),
    ("w", "rate_", "angular velocity of frame {name}, world axes", "rad/s"),
    ("gyro", "gyroscope_", "angular velocity of frame {name} in its own axes, as a gyroscope there measures it",
     "rad/s"),
    ("acc", "accelerometer_",
     "acceleration of frame {name} less gravity in its own axes, as an accelerometer there measures it", "m/s2"),
)  # fmt: skip
WRENCH = (
    ("f", "joint_force_", "force of the joint that carries frame {name} on the body, axes of the frame", "N"),
    ("n", "joint_torque_",
     "torque of the joint that carries frame {name} on the body, about the frame's origin in its axes", "N.m"),
)  # fmt: skip


def frame_rows(points: Sequence[FramePoint], labels: Sequence[str]) -> list[Row]:
    """The outputs of all frames. labels: their names in the FMU."""
    rows = []
    for i, (point, name) in enumerate(zip(points, labels, strict=True)):
        for symbol, word, text, unit in (*VECTORS, *(WRENCH if point.body else ())):
            meaning = text.format(name=name)
            rows += [Row(f"frame{i}_{symbol}{a}", f"{name}.{word}{a}", "output", f"{a} {meaning}", unit) for a in XYZ]
        text = f"orientation of frame {name}, element {{k}} of w, x, y, z"
        rows.append(Row(f"frame{i}_e", f"{name}.quaternion[{{k}}]", "output", text, "1", size=4))
    return rows


def frame_outputs(
    number: int, point: FramePoint, k: int, W: np.ndarray, pose: Pose, motion: TreeMotion, base: tuple[Array, ...]
) -> dict[str, Array]:
    """The outputs of one frame, by symbol.

    k, W: the frame of the tree in which it is fixed, and the rotation from there to the body's own axes; pose: of k.
    base: omega, a, alpha of the base in its axes, for a frame on it.
    """
    S, r = W.T @ np.reshape(point.rotation, (3, 3)), W.T @ np.array(point.position)
    omega, a, alpha = base if k == BASE else (motion.omega[k], *motion.a[k])
    position, velocity = pose.point(r)  # (1), (3)
    vectors = {
        "r": position,
        "v": velocity,
        "w": pose.w,
        "gyro": S.T @ omega,  # (4)
        "acc": S.T @ (a + cross(alpha, r) + cross(omega, cross(omega, r))),  # (5)
    }
    if k != BASE:
        F, N = motion.reaction[k]
        vectors |= {"f": S.T @ F, "n": S.T @ (N - cross(r, F))}  # (6), (7)
    parts = {f"frame{number}_{symbol}{a}": vector[i] for symbol, vector in vectors.items() for i, a in enumerate(XYZ)}
    return parts | {f"frame{number}_e": quaternion_product(pose.e, quaternion_of(S))}  # (2)
