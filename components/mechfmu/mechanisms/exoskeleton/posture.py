"""Angles of the 6-link exoskeleton from the positions of hip and feet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SHANK, THIGH = 0.4987, 0.4287  # m, of the default person


def posture_angles(
    hip: Sequence[float], feet: Sequence[Sequence[float]], shank: float = SHANK, thigh: float = THIGH, lean: float = 0.0
) -> np.ndarray:
    """Return the six angles for a hip and feet at these points, knees bent to the right, body leaning by `lean`."""
    found = []
    for foot in feet:
        leg = np.subtract(hip, foot)
        reach = np.hypot(*leg)
        if reach > shank + thigh:
            raise ValueError(f"a foot at {foot} is out of reach of a hip at {hip}")
        at_foot = np.arccos((shank**2 + reach**2 - thigh**2) / (2 * shank * reach))
        at_hip = np.arccos((thigh**2 + reach**2 - shank**2) / (2 * thigh * reach))
        direction = np.arctan2(leg[1], leg[0])
        found.append((direction - at_foot, direction + at_hip))
    (shank_1, thigh_1), (shank_2, thigh_2) = found
    return np.array([shank_1, thigh_1, thigh_2, shank_2, np.pi / 2 - lean, np.pi / 2 - lean])
