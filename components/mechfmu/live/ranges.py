"""The ranges of the sliders of a live page: the limits of the table, otherwise what suits the mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..model.variables import Scalar

FORCES_OF_WEIGHT = 2.0  # the largest force of a slider over the weight of the mechanism
GRAVITY = 9.81  # m/s2
PARAMETER_FACTOR = 3.0  # the largest value of a parameter over its start value
FALLBACK = 10.0  # in the unit of the variable


@dataclass(frozen=True)
class Scale:
    """The weight [N] and the size [m] of a mechanism."""

    weight: float
    size: float

    @staticmethod
    def of(values: Mapping[str, float], units: Mapping[str, str], size: float) -> Scale:
        """The weight from the parameters that are masses."""
        mass = sum(value for name, value in values.items() if units.get(name) == "kg" and value > 0)
        return Scale(GRAVITY * mass if mass else FALLBACK, size)


def slider_range(scalar: Scalar, start: float, scale: Scale) -> tuple[float, float]:
    """Return the ends of the slider of a parameter or an input in its unit; the start value is between them."""
    low, high = _wished(scalar, start, scale)
    row = scalar.row
    if row.above is not None:
        low = max(low, row.above + (high - row.above) / 1000)
    low = low if row.min is None else max(low, row.min)
    high = high if row.max is None else min(high, row.max)
    return min(low, start), max(high, start)


def _wished(scalar: Scalar, start: float, scale: Scale) -> tuple[float, float]:
    row = scalar.row
    if row.items:
        return 1.0, float(len(row.items))
    if row.kind == "Boolean":
        return 0.0, 1.0
    if scalar.role == "input":
        force = FORCES_OF_WEIGHT * scale.weight
        largest = {"N": force, "N.m": force * scale.size / 2, "rad": math.pi}.get(row.unit, FALLBACK)
        largest = max(_rounded(largest), 2 * abs(start))
        return -largest, largest
    if scalar.name == "gravity" or scalar.name.startswith("gravity."):
        return (0.0, 25.0) if scalar.name == "gravity" else (-25.0, 25.0)
    if row.unit == "rad":
        return -math.pi, math.pi
    largest = _rounded(PARAMETER_FACTOR * abs(start)) if start else FALLBACK
    positive = start >= 0 and (row.min is not None or row.above is not None or start > 0)
    return (0.0 if positive else -largest), largest


def _rounded(x: float) -> float:
    """The smallest number from x on that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= x * (1 - 1e-9)))
