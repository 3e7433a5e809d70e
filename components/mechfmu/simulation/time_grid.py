"""Communication points of a simulation, and its pace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from ..model import UserError

Progress = Callable[[float], None]  # called with the simulation time now and then


def times(start: float, stop: float, step: float) -> np.ndarray:
    """Communication points in equal steps; the last step is shorter when the span is not a multiple of the step."""
    for name, value in (("stop time", stop), ("step", step)):
        if not math.isfinite(value):
            raise UserError(f"{name} {value}: must be a finite number")
    if stop <= start:
        raise UserError(f"stop time {stop:g}: must be after the start time {start:g}")
    if step <= 0:
        raise UserError(f"step {step:g}: must be greater than 0")
    count = math.ceil((stop - start) / step - 1e-9)
    return np.append(start + step * np.arange(count), stop)


def communication_points(
    start: float, stop: float, step: float, variable_step: bool, events: Sequence[float] = ()
) -> np.ndarray:
    """Return the times at which FMPy communicates with a Co-Simulation FMU.

    They are multiples of the step and, where the FMU can vary its steps, the events of its inputs and the stop time.
    With fixed steps the last point is the last multiple of the step.
    """
    points, number, ahead = [start], 1, [math.inf, *sorted(events, reverse=True)]
    while not (points[-1] > stop or math.isclose(points[-1], stop)):
        following = regular = start + number * step
        while (event := ahead[-1]) <= points[-1] or math.isclose(event, points[-1]):
            ahead.pop()
        if variable_step and following > event and not math.isclose(following, event):
            following = event
        if following > stop and not math.isclose(following, stop):
            if not variable_step:
                break
            following = stop
        points.append(following)
        number += math.isclose(following, regular)
    return np.array(points)


def reaches(t: float, stop: float, step: float) -> bool:
    """Whether a simulation whose last point is t ran to the end."""
    return t >= stop - 1e-6 * step


def pace(factor: float, progress: Progress) -> Progress:
    """Return a progress function that slows the simulation down to `factor` times real time."""
    if not (math.isfinite(factor) and factor > 0):
        raise UserError(f"realtime {factor:g}: must be greater than 0")
    began = time.monotonic()

    def paced(t: float) -> None:
        time.sleep(max(0.0, began + t / factor - time.monotonic()))
        progress(t)

    return paced
