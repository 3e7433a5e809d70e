"""S11: DefaultExperiment."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..findings import Finding, rule
from .unpacked import UnpackedFmu

MOST_STEPS = 1e9  # of a default experiment that anybody can wait for


@rule("S11", "default experiment", "2.2.5")
def default_experiment(fmu: UnpackedFmu) -> Iterator[Finding]:
    """stopTime > startTime, tolerance > 0, stepSize > 0, all finite, and at most 1e9 steps. The standard does
    not say so, but an importer cannot run the experiment otherwise."""
    experiment = fmu.description.default_experiment()
    line = next((e.sourceline for e in fmu.description.all("DefaultExperiment")), None)

    def finding(problem: str, expected: str) -> Finding:
        return Finding("DefaultExperiment", problem, expected, line=line)

    infinite = {name for name, value in experiment.items() if not math.isfinite(value)}
    for name in sorted(infinite):
        yield finding(f"{name} is {experiment[name]:g}", "a finite number")
    experiment = {name: value for name, value in experiment.items() if name not in infinite}
    start, stop = experiment.get("startTime", 0.0), experiment.get("stopTime")
    tolerance, step = experiment.get("tolerance"), experiment.get("stepSize")
    if stop is not None and not stop > start:
        yield finding(f"stopTime is {stop:g} and startTime is {start:g}", "stopTime > startTime")
    if tolerance is not None and not tolerance > 0:
        yield finding(f"tolerance is {tolerance:g}", "greater than 0")
    if step is not None and not step > 0:
        yield finding(f"stepSize is {step:g}", "greater than 0")
    elif step is not None and stop is not None and stop - start > MOST_STEPS * step:
        yield finding(f"stepSize is {step:g}, of which the span has {(stop - start) / step:g}", "fewer steps")
