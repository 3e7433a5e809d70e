"""The article's guidance field."""

from __future__ import annotations

import numpy as np

A, B = 3.2, 8.4


def published(
    x: float, y: float, t: float, slope: float = 0.25, k: tuple[float, float, float] = (0.1, 0.12, 0.25)
) -> np.ndarray:
    """Field (12) written out as in the article; slope is the factor in df4/dq1."""
    f1, f2, f3 = x + k[0] * t, y, ((x + 2 + k[1] * t) ** 2 + 4 * y**2 - 1) / 2
    f4 = ((x - 1 + k[2] * t) ** 2 / 4 + 16 / 9 * (y - 1.5) ** 2 - 1) / 2
    f4x, f4y, f4t = slope * (x - 1 + k[2] * t), 16 / 9 * (y - 1.5), k[2] * (x - 1 + k[2] * t) / 4
    fx = f2 * f3 * f4 + f1 * f2 * ((x + 2 + k[1] * t) * f4 + f3 * f4x)
    fy = f1 * f3 * f4 + f1 * f2 * (4 * y * f4 + f3 * f4y)
    ft = k[0] * f2 * f3 * f4 + f1 * f2 * (k[1] * (x + 2 + k[1] * t) * f4 + f3 * f4t)
    square = fx**2 + fy**2
    return np.array([-(A - 1) * f1 * f3 * f4 - fy - fx * ft / square, -(B + 1) * f2 * f3 * f4 + fx - fy * ft / square])
