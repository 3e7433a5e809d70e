"""The bouncing ball on paper."""

from __future__ import annotations

import math

import numpy as np

GRAVITY, HEIGHT = 10.0, 1.25  # first impact at 0.5 s with 5 m/s


def impacts(restitution: float, count: int) -> np.ndarray:
    """Times of the first impacts."""
    speed = math.sqrt(2 * GRAVITY * HEIGHT)
    flights = 2 * speed / GRAVITY * restitution ** np.arange(1, count)
    return speed / GRAVITY + np.append(0.0, np.cumsum(flights))


def on_paper(restitution: float, t: float) -> tuple[float, float, int]:
    """Height, velocity and number of impacts at time t."""
    times = impacts(restitution, 60)
    bounces = int(np.searchsorted(times, t, side="right"))
    if bounces == 0:
        return HEIGHT - GRAVITY * t**2 / 2, -GRAVITY * t, 0
    speed, since = math.sqrt(2 * GRAVITY * HEIGHT) * restitution**bounces, t - times[bounces - 1]
    return speed * since - GRAVITY * since**2 / 2, speed - GRAVITY * since, bounces
