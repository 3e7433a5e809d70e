"""Derivatives by central differences, with an estimate of their errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from .model import ModelVariable
from .probes import Bench

STEPS = (1e-2, 1e-3, 1e-4, 1e-5)  # relative to the magnitude of the known
TIME_STEPS = (1e-4, 1e-5)  # relative to the experiment
ROUNDING = 1e-14  # error of a value of the FMU, relative
# what an FMU that differentiates numerically is allowed, with steps down to sqrt(2^-53) and up to 1e-5:
RELATIVE = 2e-4
CANCELLATION = 1e-6  # of value / magnitude of the known
CURVATURE = 1e-5  # of the second derivative
FINER = 100.0  # its steps are smaller than the smallest one here, which increases the error of rounding
KINK = 0.6  # the slopes on both sides get closer at least like this with a tenth of the step


@dataclass(frozen=True)
class Derivative:
    """A derivative and its uncertainty, which is infinite where there is no derivative."""

    value: float
    uncertainty: float


NONE = Derivative(math.nan, math.inf)


def derivative(bench: Bench, known: ModelVariable, unknowns: Sequence[ModelVariable]) -> list[Derivative]:
    """The derivatives of all unknowns with respect to a known."""
    size = max(known.scale, abs(float(bench.base[known.index])))
    found = along(bench, {known: size}, unknowns)
    return [Derivative(d.value / size, d.uncertainty / size) for d in found]


def along(bench: Bench, direction: dict[ModelVariable, float], unknowns: Sequence[ModelVariable]) -> list[Derivative]:
    """The derivatives of all unknowns if the knowns change in a direction of typical size."""
    knowns = list(direction)
    first = bench.read(unknowns)
    bench.restore(knowns)
    center = bench.read(unknowns)
    noise = [abs(a - b) for a, b in zip(first, center, strict=True)]
    sides: list[tuple[float, list[float], list[float]]] = []
    for step in STEPS:
        ends = [{k: float(bench.base[k.index]) + h * d for k, d in direction.items()} for h in (step, -step)]
        if not all(k.inside(x) for end in ends for k, x in end.items()):
            continue
        above, below = (bench.values_with(dict(end), unknowns) for end in ends)
        if above is not None and below is not None:
            sides.append((step, above, below))
    if len(sides) < 2:
        return [NONE] * len(unknowns)
    coarse = max(max(abs(d), 1.0) / abs(d) for d in direction.values())
    return [
        _best([(h, above[i], below[i]) for h, above, below in sides], center[i], noise[i], coarse, v.scale)
        for i, v in enumerate(unknowns)
    ]


def _best(
    sides: Sequence[tuple[float, float, float]], center: float, noise: float, coarse_step: float, scale: float
) -> Derivative:
    """From pairs of neighbouring step sizes, the derivative with the smallest uncertainty. An FMU may differentiate
    with steps that are relative to 1 and not to the magnitude of the known: `coarse_step` is that ratio."""
    if not math.isfinite(center) or not all(math.isfinite(a) and math.isfinite(b) for _, a, b in sides):
        return NONE
    if noise == 0.0 and all(above == center == below for _, above, below in sides):  # it does not depend on the known
        size = abs(center)
        return Derivative(0.0, 30.0 * ROUNDING * size / sides[1][0] + CANCELLATION * max(size, 1e-3 * scale))
    best, gaps = NONE, []
    magnitude = max(abs(center), *(abs(y) for _, above, below in sides for y in (above, below)))
    curvature = max(abs(above - 2.0 * center + below) / h**2 for h, above, below in sides[:1])
    error = (10.0 * noise + ROUNDING * magnitude) * 10.0
    for (h1, a1, b1), (h2, a2, b2) in itertools.pairwise(sides):
        coarse, fine = (a1 - b1) / (2.0 * h1), (a2 - b2) / (2.0 * h2)
        ratio = (h1 / h2) ** 2
        value = (ratio * fine - coarse) / (ratio - 1.0)
        uncertainty = abs(fine - coarse) + error / h2
        gaps.append((abs(a1 - 2.0 * center + b1) / h1, abs(a2 - 2.0 * center + b2) / h2, error / h2))
        if uncertainty < best.uncertainty:
            best = Derivative(value, uncertainty)
    # at a kink the slopes on both sides differ as much for a small step as for a large one
    if any(fine > KINK * coarse and fine > 4.0 * rounding + 1e-4 * abs(best.value) for coarse, fine, rounding in gaps):
        return NONE
    finest = [(above - below) / (2.0 * h) for h, above, below in sides[-2:]]
    allowed = RELATIVE * abs(best.value) + CANCELLATION * max(magnitude, 1e-3 * scale)
    allowed += CURVATURE * coarse_step * curvature + FINER * abs(finest[1] - finest[0])
    return Derivative(best.value, 3.0 * best.uncertainty + allowed)


def time_derivative(
    bench: Bench, time: ModelVariable, unknowns: Sequence[ModelVariable], span: float
) -> list[Derivative]:
    """The partial derivatives with respect to time, by differences to later times."""
    limit = bench.instance.next_event
    center = bench.read(unknowns)
    rows = []
    for step in TIME_STEPS:
        h = step * span
        if limit is not None and bench.t + 2.0 * h >= limit:
            return [NONE] * len(unknowns)
        once = bench.values_with({time: bench.t + h}, unknowns)
        twice = bench.values_with({time: bench.t + 2.0 * h}, unknowns)
        if once is None or twice is None:
            return [NONE] * len(unknowns)
        rows.append([(4.0 * b - c - 3.0 * a) / (2.0 * h) for a, b, c in zip(center, once, twice, strict=True)])
    found = []
    for v, y, coarse, fine in zip(unknowns, center, *rows, strict=True):
        error = abs(coarse - fine)
        natural = max(abs(y), 1e-3 * v.scale) / span
        smooth = math.isfinite(error) and error <= 0.05 * max(abs(fine), 1e-3 * natural)
        found.append(Derivative(fine, 5.0 * error + 0.02 * abs(fine) + 1e-5 * natural) if smooth else NONE)
    return found
