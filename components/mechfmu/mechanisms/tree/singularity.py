"""Euler and Cardan angles: a warning near their singularity, a stop before it is reached."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.mechanism import Note

Array = Any

NEAR_SINGULARITY, AT_SINGULARITY = "near_singularity", "at_singularity"  # the events
WARN_BELOW, STOP_BELOW = 1e-2, 1e-4  # |sin phi_2|


def sine(kind: str, middle: Array) -> Array:
    """sin phi_2 of a joint's middle angle: 0 where the angles are singular.

    The angles z, x, z are singular at 0 of the middle angle; x, y, z and z, y, x at a right angle.
    """
    return np.sin(middle) if kind == "euler_zxz" else np.cos(middle)


def singularity_notes(remedy: str) -> dict[str, Note]:
    """What the events report; `remedy`: what to do instead of angles."""
    near = f"come near their singularity (|sin phi_2| < {WARN_BELOW:g})"
    at = f"are at their singularity (|sin phi_2| < {STOP_BELOW:g})"
    return {
        NEAR_SINGULARITY: Note(f"the Euler angles of a joint {near}: {remedy}"),
        AT_SINGULARITY: Note(f"the Euler angles of a joint {at}: {remedy}", stop=True),
    }


def singularity_guards(least: Array) -> dict[str, Array]:
    """Guards of the events from the smallest sin phi_2."""
    return {NEAR_SINGULARITY: least - WARN_BELOW, AT_SINGULARITY: least - STOP_BELOW}
