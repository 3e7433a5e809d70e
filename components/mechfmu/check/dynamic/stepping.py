"""D5: communication steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import byref, c_double, c_int

from ..findings import Finding, Plot, rule
from .binding import DISCARD, ERROR, LAST_SUCCESSFUL_TIME, STATUS, TERMINATED_STATUS, WARNING
from .compare import worst_difference
from .session import Session
from .instance import FmuInstance

ROUNDED = 1e-4  # of a signal's range: far above rounding, far below a step that was left out
JITTER = 3e-12  # s: what a host's sum of steps may differ from ours by


@rule("D5", "communication steps", "4.2.2", kinds=("CoSimulation",))
def do_step(s: Session) -> Iterator[Finding]:
    """A step has a positive size and begins where the last one ended, within rounding; a time that is off by 3e-12 s does not stop it; the independent
    variable follows; after fmi2Discard the last successful time and whether the FMU wants to end can be asked for."""
    h = s.model.step_size
    for size, severity in ((0.0, "warning"), (-h, "error"), (math.nan, "error")):
        if s.attempt(f"a step of size {size}"):
            instance = s.new_instance().enter_run_state()
            status = instance.call("fmi2DoStep", instance.t, size, 1, note=f" (step size {size:g})")
            if status <= WARNING:
                yield Finding(
                    "fmi2DoStep",
                    f"it returns {STATUS[status]} for a step of size {size:g}",
                    "fmi2Error: the size must be greater than 0",
                    severity=severity,
                )
            instance.free()
    if s.attempt("a gap in time"):
        instance = s.new_instance().enter_run_state()
        instance.step(h)
        status = instance.call("fmi2DoStep", instance.t + 5 * h, h, 1, note=" (5 steps left out)")
        if status <= WARNING:
            yield Finding(
                "fmi2DoStep",
                f"it returns {STATUS[status]} for a step that begins {5 * h:g} s after the last one ended",
                "fmi2Error",
                severity="warning",
            )
        instance.free()
    if s.attempt("rounding"):
        yield from _rounding(s)
    if s.attempt("the independent variable"):
        yield from _time(s)
    for factor in (10, 100, 0.1):
        if s.model.flag("CoSimulation", "canHandleVariableCommunicationStepSize") and s.attempt(f"step x {factor}"):
            yield from _discard(s, min(factor * h, s.model.stop_time - s.model.start_time))


def _rounding(s: Session) -> Iterator[Finding]:
    steps, signals = s.steps(20), s.model.signals
    plain = s.new_instance().enter_run_state()
    expected = [plain.numbers(signals)]
    for h in steps:
        plain.step(h)
        expected.append(plain.numbers(signals))
    plain.free()
    instance = s.new_instance().enter_run_state()
    found = [instance.numbers(signals)]
    for i, h in enumerate(steps):
        status = instance.call("fmi2DoStep", instance.t + (JITTER if i else 0.0), h, 1, note=f" (time off by {JITTER:g} s)")
        if status > WARNING:
            yield Finding(
                "fmi2DoStep",
                f"it returns {STATUS[status]} for a time that is off by {JITTER:g} s ({s.last_message()})",
                "a step: hosts round differently",
            )
            return
        instance.t += h
        found.append(instance.numbers(signals))
    worst = worst_difference(expected, found)
    if worst and worst.relative > ROUNDED:
        v = signals[worst.column]
        t = tuple(s.model.start_time + sum(steps[:i]) for i in range(len(expected)))
        plot = Plot(
            v.name,
            t,
            {
                "exact times": tuple(r[worst.column] for r in expected),
                "times off by 3e-12 s": tuple(r[worst.column] for r in found),
            },
        )
        yield Finding(
            v.where,
            f"it differs by {worst.absolute:.3g} when times are off by {JITTER:g} s",
            "the same result but for rounding",
            line=v.line,
            plot=plot,
        )


def _time(s: Session) -> Iterator[Finding]:
    v = s.model.independent
    if v is None:
        return
    instance = s.new_instance().enter_run_state()
    for h in s.steps(5):
        instance.step(h)
        (now,) = instance.numbers([v])
        if abs(now - instance.t) > 1e-9 * max(1.0, abs(instance.t)):
            yield Finding(v.where, f"it is {now!r} after a step to {instance.t!r}", "the end of the step", line=v.line)
            break
    instance.free()


def _discard(s: Session, h: float) -> Iterator[Finding]:
    """A step of unusual size: if it is discarded, the FMU says how far it came."""
    instance = s.new_instance().enter_run_state()
    status = instance.call("fmi2DoStep", instance.t, h, 1, note=f" (step size {h:g})")
    if status == DISCARD:
        yield from discard_report(instance, instance.t, h)
    elif status >= ERROR:
        yield Finding(
            "fmi2DoStep",
            f"it returns {STATUS[status] if status < 6 else status} for a step of {h:g} s ({s.last_message()})",
            "fmi2OK, or fmi2Discard",
            severity="note",
        )
    instance.free()


def discard_report(instance: FmuInstance, t: float, h: float) -> Iterator[Finding]:
    reached, ended = c_double(math.nan), c_int(-1)
    status = instance.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, byref(reached), note=" (after fmi2Discard)")
    slack = 1e-9 * max(1.0, abs(t))
    if status > WARNING:
        yield Finding(
            "fmi2GetRealStatus",
            f"it returns {STATUS[status]} for fmi2LastSuccessfulTime after fmi2Discard",
            "the time that was reached",
        )
    elif not t - slack <= reached.value <= t + h + slack:
        yield Finding(
            "fmi2GetRealStatus",
            f"fmi2LastSuccessfulTime is {reached.value:g} after a discarded step from {t:g} to {t + h:g}",
            "a time within the step",
        )
    status = instance.call("fmi2GetBooleanStatus", TERMINATED_STATUS, byref(ended), note=" (after fmi2Discard)")
    if status > WARNING:
        yield Finding(
            "fmi2GetBooleanStatus",
            f"it returns {STATUS[status]} for fmi2Terminated after fmi2Discard",
            "whether the FMU wants to end",
        )
