"""Integration of a Model Exchange instance: the classical Runge-Kutta method with fixed steps, and events located by bisection.

It has to be right, simple and repeatable; speed and stiff models are no aim. Whether it is accurate enough for a comparison is seen
from a second run with half the step.
"""

from __future__ import annotations

from ctypes import byref, c_int
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .unit import Unit

BISECTIONS = 30


def integrate(unit: Unit, end: float, substeps: int) -> None:
    """From the instance's time to `end`."""
    needs_completed = not unit.model.flag("ModelExchange", "completedIntegratorStepNotNeeded")
    h = (end - unit.t) / substeps
    while unit.t < end - 1e-9 * abs(h):
        target = min(end, unit.t + h)
        if target > end - 1e-9 * abs(h):
            target = end
        timed = unit.next_event is not None and unit.next_event <= target
        if timed:
            target = max(unit.next_event or target, unit.t)
        t, x, g = unit.t, unit.states(), unit.indicators()
        rk4(unit, t, x, target - t)
        crossed = unit.model.indicators > 0 and _changed(g, unit.indicators())
        if crossed:
            low, high = 0.0, target - t
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                rk4(unit, t, x, middle)
                low, high = (low, middle) if _changed(g, unit.indicators()) else (middle, high)
            rk4(unit, t, x, high)
        wants_event = c_int(0)
        if needs_completed:
            unit.must("fmi2CompletedIntegratorStep", 1, byref(wants_event), byref(c_int(0)))
        if timed or crossed or wants_event.value:
            unit.event()


def rk4(unit: Unit, t: float, x: list[float], h: float) -> None:
    """One step of size h from (t, x); the instance is left at its end."""
    if h <= 0 or not x:
        unit.put(t + h, x)
        return

    def rates(s: float, k: list[float]) -> list[float]:
        unit.put(t + s, [xi + s * ki for xi, ki in zip(x, k, strict=True)])
        return unit.rates()

    unit.put(t, x)
    k1 = unit.rates()
    k2 = rates(0.5 * h, k1)
    k3 = rates(0.5 * h, k2)
    k4 = rates(h, k3)
    unit.put(t + h, [xi + h / 6 * (a + 2 * b + 2 * c + d) for xi, a, b, c, d in zip(x, k1, k2, k3, k4, strict=True)])


def _changed(before: list[float], after: list[float]) -> bool:
    """An event indicator has changed its domain, z > 0 or z <= 0."""
    return any((a > 0) != (b > 0) for a, b in zip(before, after, strict=True))
