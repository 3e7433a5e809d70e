"""Integration of a Model Exchange instance: classical Runge-Kutta with fixed steps, events located by bisection.

It is meant to be simple and repeatable, not fast or suited to stiff models. A second run with half the
step shows whether it is accurate enough for a comparison.
"""

from __future__ import annotations

from ctypes import byref, c_int
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .instance import FmuInstance

BISECTIONS = 30


def integrate(instance: FmuInstance, end: float, substeps: int) -> None:
    """Integrate from the instance's time to `end`."""
    needs_completed = not instance.model.flag("ModelExchange", "completedIntegratorStepNotNeeded")
    h = (end - instance.t) / substeps
    while instance.t < end - 1e-9 * abs(h):
        target = min(end, instance.t + h)
        if target > end - 1e-9 * abs(h):
            target = end
        timed = instance.next_event is not None and instance.next_event <= target
        if timed:
            target = max(instance.next_event or target, instance.t)
        t, x, g = instance.t, instance.states(), instance.indicators()
        rk4(instance, t, x, target - t)
        crossed = instance.model.indicators > 0 and _changed(g, instance.indicators())
        if crossed:
            low, high = 0.0, target - t
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                rk4(instance, t, x, middle)
                low, high = (low, middle) if _changed(g, instance.indicators()) else (middle, high)
            rk4(instance, t, x, high)
        wants_event = c_int(0)
        if needs_completed:
            instance.call_checked("fmi2CompletedIntegratorStep", 1, byref(wants_event), byref(c_int(0)))
        if timed or crossed or wants_event.value:
            instance.event()


def rk4(instance: FmuInstance, t: float, x: list[float], h: float) -> None:
    """One step of size h from (t, x). Afterwards the instance is at (t + h, x(t + h))."""
    if h <= 0 or not x:
        instance.set_time_and_states(t + h, x)
        return

    def stage(s: float, k: list[float]) -> list[float]:
        instance.set_time_and_states(t + s, [xi + s * ki for xi, ki in zip(x, k, strict=True)])
        return instance.derivatives()

    instance.set_time_and_states(t, x)
    k1 = instance.derivatives()
    k2 = stage(0.5 * h, k1)
    k3 = stage(0.5 * h, k2)
    k4 = stage(h, k3)
    end = [xi + h / 6 * (a + 2 * b + 2 * c + d) for xi, a, b, c, d in zip(x, k1, k2, k3, k4, strict=True)]
    instance.set_time_and_states(t + h, end)


def _changed(before: list[float], after: list[float]) -> bool:
    """Whether an event indicator has changed its domain, z > 0 or z <= 0."""
    return any((a > 0) != (b > 0) for a, b in zip(before, after, strict=True))
