"""D5: communication steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import byref, c_double, c_int

from ..findings import Finding, Plot, rule
from .binding import DISCARD, ERROR, LAST_SUCCESSFUL_TIME, STATUS, TERMINATED_STATUS, WARNING
from .compare import worst_difference
from .instance import FmuInstance, status_name
from .session import Session

MAX_DIFFERENCE = 1e-4  # of a signal's range: far above rounding, far below the effect of an omitted step
TIME_ERROR = 3e-12  # s: rounding of an importer that sums up its steps


@rule("D5", "communication steps", "4.2.2", kinds=("CoSimulation",))
def do_step(s: Session) -> Iterator[Finding]:
    """A step has a positive size and begins where the last one ended, within rounding; a time that is off by 3e-12 s is
    accepted; the independent variable has the end time of the step; after fmi2Discard, the last successful time and
    whether the FMU requests termination are available."""
    h = s.model.step_size
    for size, severity in ((0.0, "warning"), (-h, "error"), (math.nan, "error")):
        if s.attempt(f"a step of size {size}"):
            instance = s.new_instance().enter_run_state()
            status = instance.call("fmi2DoStep", instance.t, size, 1, note=f" (step size {size:g})")
            if status <= WARNING:
                problem = f"it returns {STATUS[status]} for a step of size {size:g}"
                yield Finding("fmi2DoStep", problem, "fmi2Error: the size must be greater than 0", severity=severity)
            instance.free()
    if s.attempt("a gap in time"):
        instance = s.new_instance().enter_run_state()
        instance.step(h)
        status = instance.call("fmi2DoStep", instance.t + 5 * h, h, 1, note=" (5 steps omitted)")
        if status <= WARNING:
            problem = f"it returns {STATUS[status]} for a step that begins {5 * h:g} s after the last one ended"
            yield Finding("fmi2DoStep", problem, "fmi2Error", severity="warning")
        instance.free()
    if s.attempt("rounding"):
        yield from _rounding(s)
    if s.attempt("the independent variable"):
        yield from _time(s)
    for factor in (10, 100, 0.1):
        if s.model.flag("CoSimulation", "canHandleVariableCommunicationStepSize") and s.attempt(f"step x {factor}"):
            yield from _discard(s, min(factor * h, s.model.stop_time - s.model.start_time))


def _rounding(s: Session) -> Iterator[Finding]:
    """The same run with exact times and with times that are off by TIME_ERROR."""
    steps, signals = s.steps(20), s.model.signals
    exact = s.new_instance().enter_run_state()
    expected = [exact.numbers(signals)]
    for h in steps:
        exact.step(h)
        expected.append(exact.numbers(signals))
    exact.free()
    instance = s.new_instance().enter_run_state()
    found = [instance.numbers(signals)]
    for i, h in enumerate(steps):
        t = instance.t + (TIME_ERROR if i else 0.0)
        status = instance.call("fmi2DoStep", t, h, 1, note=f" (time off by {TIME_ERROR:g} s)")
        if status > WARNING:
            problem = f"it returns {STATUS[status]} for a time that is off by {TIME_ERROR:g} s ({s.last_message()})"
            yield Finding("fmi2DoStep", problem, "fmi2OK: importers round differently")
            return
        instance.t += h
        found.append(instance.numbers(signals))
    worst = worst_difference(expected, found)
    if worst and worst.relative > MAX_DIFFERENCE:
        v = signals[worst.column]
        times = tuple(s.model.start_time + sum(steps[:i]) for i in range(len(expected)))
        lines = {
            "exact times": tuple(r[worst.column] for r in expected),
            f"times off by {TIME_ERROR:g} s": tuple(r[worst.column] for r in found),
        }
        problem = f"it differs by {worst.absolute:.3g} when times are off by {TIME_ERROR:g} s"
        plot = Plot(v.name, times, lines)
        yield Finding(v.where, problem, "the same result except for rounding", line=v.line, plot=plot)


def _time(s: Session) -> Iterator[Finding]:
    v = s.model.independent
    if v is None:
        return
    instance = s.new_instance().enter_run_state()
    for h in s.steps(5):
        instance.step(h)
        (now,) = instance.numbers([v])
        if abs(now - instance.t) > 1e-9 * max(1.0, abs(instance.t)):
            yield v.finding(f"it is {now!r} after a step to {instance.t!r}", "the end of the step")
            break
    instance.free()


def _discard(s: Session, h: float) -> Iterator[Finding]:
    """A step of another size: if it is discarded, the FMU must report the time it reached."""
    instance = s.new_instance().enter_run_state()
    status = instance.call("fmi2DoStep", instance.t, h, 1, note=f" (step size {h:g})")
    if status == DISCARD:
        yield from discard_report(instance, instance.t, h)
    elif status >= ERROR:
        problem = f"it returns {status_name(status)} for a step of {h:g} s ({s.last_message()})"
        yield Finding("fmi2DoStep", problem, "fmi2OK, or fmi2Discard", severity="note")
    instance.free()


def discard_report(instance: FmuInstance, t: float, h: float) -> Iterator[Finding]:
    reached, ended = c_double(math.nan), c_int(-1)
    status = instance.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, byref(reached), note=" (after fmi2Discard)")
    slack = 1e-9 * max(1.0, abs(t))
    if status > WARNING:
        problem = f"it returns {STATUS[status]} for fmi2LastSuccessfulTime after fmi2Discard"
        yield Finding("fmi2GetRealStatus", problem, "the time that was reached")
    elif not t - slack <= reached.value <= t + h + slack:
        problem = f"fmi2LastSuccessfulTime is {reached.value:g} after a discarded step from {t:g} to {t + h:g}"
        yield Finding("fmi2GetRealStatus", problem, "a time within the step")
    status = instance.call("fmi2GetBooleanStatus", TERMINATED_STATUS, byref(ended), note=" (after fmi2Discard)")
    if status > WARNING:
        problem = f"it returns {STATUS[status]} for fmi2Terminated after fmi2Discard"
        yield Finding("fmi2GetBooleanStatus", problem, "whether the FMU requests termination")
