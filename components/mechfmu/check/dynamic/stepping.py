"""D5: communication steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from ctypes import byref
from functools import partial

from ..findings import Finding, Plot, rule
from .binding import DISCARD, ERROR, FATAL, PENDING, STATUS, WARNING
from .compare import Difference, Rows, worst_difference
from .discarding import asynchronous, discard_report, discarded
from .instance import CallFailed, FmuInstance, status_name
from .model import ModelVariable
from .runs import run_steps
from .saving import restore, save
from .session import Session
from .stirring import run_parts
from .stop_times import beyond_default_stop, beyond_set_stop

MAX_DIFFERENCE = 1e-4  # of a signal's range: far above rounding, far below the effect of an omitted step
KEPT_DIFFERENCE = 0.01  # of a signal's range: a solver may restart where it has to keep the last step
TIME_ERROR = 3e-12  # s: rounding of an importer that sums up its steps
RELATIVE_TIME_ERROR = 1e-10  # the same for small steps, relative to their size
NEGLIGIBLE = 1e-6  # of a signal's nominal value
SENSITIVITY = 10.0  # times the effect that a real shift of time has
SIZES = (1.0, 0.377, 1.618, 0.1234567, 1.0)  # of the step size, where it may vary
OTHER_START = 0.25  # of the default experiment
ROUNDING = 1e-9  # relative, of times


@rule("D5", "communication steps", "2.1.6, 4.2.2, 4.2.3", kinds=("CoSimulation",))
def communication_steps(s: Session) -> Iterator[Finding]:
    """Steps of the declared sizes succeed; times that are off by rounding change nothing; the independent variable is
    the end of the step; a saved state leads back in time; the simulation can go beyond the default stop time, but not
    beyond one that was set; after fmi2Discard the status functions answer, and the end of the simulation does not
    depend on the step size; fmi2Pending comes only from asynchronous FMUs and ends."""

    def judged(error: CallFailed) -> bool:  # a step may be discarded
        return error.function != "fmi2DoStep" or error.status != DISCARD

    yield from run_parts(s, {name: partial(part, s) for name, part in PARTS.items()}, judged)


def _last_bit(s: Session) -> Iterator[Finding]:
    """Points that are the product of number and size of the steps, not their sum; where these agree, off by one bit.
    The importer defines the points, so the FMU must follow."""
    start, instance = s.model.start_time, s.new_instance().enter_run_state()
    for i, h in enumerate(s.steps(20)):
        product = start + i * h
        if i:
            instance.t = product if product != instance.t else math.nextafter(product, math.inf)
        status = instance.try_step(h)
        if status in (ERROR, FATAL):
            problem = f"it returns {STATUS[status]} for a time that is rounded otherwise{s.reason()}"
            expected = f"fmi2OK: {start:g} + {i} * {h:g} is the end of the last step"
            yield Finding("fmi2DoStep", problem, expected, sentence="integrate-exactly")
        if status > WARNING:
            break
        instance.t += h
    instance.free()


def _time_error(s: Session) -> float:
    return min(TIME_ERROR, RELATIVE_TIME_ERROR * s.model.step_size)


def _rounding(s: Session) -> Iterator[Finding]:
    """The same run with exact times and with times that are off by rounding."""
    steps, signals, shift = s.steps(20), s.model.signals, _time_error(s)
    expected = run_steps(s.new_instance().enter_run_state(), steps, signals)
    instance = s.new_instance().enter_run_state()
    found = [instance.numbers(signals)]
    for i, h in enumerate(steps):
        exact = instance.t
        instance.t += shift if i else 0.0
        status = instance.try_step(h)
        instance.t = exact + h
        if status > WARNING:
            problem = f"it returns {STATUS[status]} for a time that is off by {shift:g} s{s.reason()}"
            yield Finding("fmi2DoStep", problem, "fmi2OK: importers round differently")
            return
        found.append(instance.numbers(signals))
    rows = [[float(x) for x in row] for row in expected]
    worst = _worst(signals, rows, found)
    if worst is None or worst.absolute <= SENSITIVITY * _effect_of_shift(s, steps, worst.column, rows):
        return
    v = signals[worst.column]
    times = tuple(s.model.start_time + sum(steps[:i]) for i in range(len(rows)))
    labels = ("exact times", f"times off by {shift:g} s")
    lines = {label: tuple(r[worst.column] for r in run) for label, run in zip(labels, (rows, found), strict=True)}
    problem = f"it differs by {worst.absolute:.3g} when times are off by {shift:g} s"
    yield v.finding(problem, "the same result except for rounding", plot=Plot(v.name, times, lines))


def _worst(signals: Sequence[ModelVariable], a: Rows, b: Rows) -> Difference | None:
    """The largest of the differences that are large both relative to the signal's range and to its nominal value."""
    found = None
    for column, v in enumerate(signals):
        d = worst_difference([[r[column]] for r in a], [[r[column]] for r in b])
        if d is None or d.relative <= MAX_DIFFERENCE or d.absolute <= NEGLIGIBLE * v.scale:
            continue
        if found is None or d.relative > found.relative:
            found = Difference(column, d.absolute, d.relative)
    return found


def _effect_of_shift(s: Session, steps: Sequence[float], column: int, rows: Rows) -> float:
    """How much a signal changes if the first step really is longer by this error, where the size may vary: a chaotic
    model amplifies it."""
    if not s.model.flag("CoSimulation", "canHandleVariableCommunicationStepSize"):
        return 0.0
    v = s.model.signals[column]
    shifted = [steps[0] + _time_error(s), *steps[1:]]
    found = run_steps(s.new_instance().enter_run_state(), shifted, [v])
    worst = worst_difference([[r[column]] for r in rows], [[float(x) for x in row] for row in found])
    return worst.absolute if worst else 0.0


def _end_of_step(s: Session) -> Iterator[Finding]:
    v = s.model.independent
    if v is None:
        return
    instance = s.new_instance().enter_run_state()
    for h in s.steps(5):
        instance.step(h)
        (now,) = instance.numbers([v])
        if abs(now - instance.t) > ROUNDING * max(1.0, abs(instance.t)):
            problem = f"it is {now!r} after a step to {instance.t!r}"
            yield v.finding(problem, "the end of the step", sentence="integrate-exactly", cause="end of step")
            break
    instance.free()


def _start_time(s: Session) -> Iterator[Finding]:
    """The importer chooses the start time; an FMU that refuses it is not judged here."""
    start = s.model.start_time + OTHER_START * (s.model.stop_time - s.model.start_time)
    instance = s.new_instance()
    arguments = (0, 0.0, start, 0, 0.0)
    if s.model.independent is None or instance.call("fmi2SetupExperiment", *arguments) > WARNING:
        return
    instance.t = start
    try:
        instance.enter_initialization()
        instance.exit_initialization()
    except CallFailed:
        return
    (now,) = instance.numbers([s.model.independent])
    if abs(now - start) > ROUNDING * max(1.0, abs(start)):
        problem = f"it is {now!r} after initialization with the start time {start!r}"
        yield s.model.independent.finding(problem, "the start time", sentence="start-time")
    instance.free()


def _variable_sizes(s: Session) -> Iterator[Finding]:
    if not s.model.flag("CoSimulation", "canHandleVariableCommunicationStepSize"):
        return
    instance = s.new_instance().enter_run_state()
    span = s.model.stop_time - s.model.start_time
    for factor in SIZES:
        h = min(factor * s.model.step_size, span / 10)
        status = instance.try_step(h)
        if status == DISCARD:
            yield from discard_report(instance, instance.t, h)
            break
        if status > WARNING:
            problem = f"it returns {status_name(status)} for a step of {h:g} s after others{s.reason()}"
            yield Finding("fmi2DoStep", problem, "fmi2OK, or fmi2Discard", sentence="variable-step")
            break
        instance.t += h
        wrong = list(_time(instance))
        yield from wrong
        if wrong:
            break
    instance.free()


def _time(instance: FmuInstance) -> Iterator[Finding]:
    v = instance.model.independent
    found = instance.numbers([v])[0] if v is not None else instance.t
    if v is not None and abs(found - instance.t) > ROUNDING * max(1.0, abs(instance.t)):
        problem = f"it is {found:.9g} after fmi2DoStep with another step size, to {instance.t:.9g}"
        yield v.finding(problem, "the end of the step", sentence="integrate-exactly", cause="end of step")


def _keep_states(s: Session) -> Iterator[Finding]:
    """noSetFMUStatePriorToCurrentPoint = false, as every importer gives it that may repeat steps."""
    signals = s.model.signals
    first, second = _rows(s, 1), _rows(s, 0)
    if isinstance(second, int):
        problem = f"it returns {status_name(second)} when noSetFMUStatePriorToCurrentPoint is false"
        if not isinstance(first, int):
            yield Finding("fmi2DoStep", problem, "fmi2OK", sentence="cs-calls")
        return
    again = _rows(s, 1)
    if isinstance(first, int) or isinstance(again, int):
        return
    worst, spread = worst_difference(first, second), worst_difference(first, again)
    if spread and spread.relative > KEPT_DIFFERENCE:
        s.not_judged("noSetFMUStatePriorToCurrentPoint: two equal runs differ")
    elif worst and worst.relative > KEPT_DIFFERENCE:
        problem = "it depends on noSetFMUStatePriorToCurrentPoint"
        yield signals[worst.column].finding(problem, "the same result", sentence="integrate-exactly")


def _rows(s: Session, no_set_prior: int) -> list[list[float]] | int:
    """The signals before and after each of a few steps, or the status of a step that failed."""
    instance = s.new_instance().enter_run_state()
    rows = [instance.numbers(s.model.signals)]
    for h in s.steps(5):
        status = instance.call("fmi2DoStep", instance.t, h, no_set_prior)
        status = instance.wait() if status == PENDING else status
        if status > WARNING:
            return status
        instance.t += h
        rows.append(instance.numbers(s.model.signals))
    instance.free()
    return rows


def _back(s: Session) -> Iterator[Finding]:
    """A step from an earlier time, after the state of this time was set again."""
    if not s.model.flag("CoSimulation", "canGetAndSetFMUstate"):
        return
    instance = s.new_instance()
    instance.rollback = True
    instance.enter_run_state()
    steps = s.steps(8)
    middle = len(steps) // 2
    for h in steps[:middle]:
        instance.step(h)
    saved = save(instance)
    for h in steps[middle:]:
        instance.step(h)
    restore(instance, saved)
    h = steps[-1]
    status = instance.try_step(h)
    if status in (ERROR, FATAL):
        problem = f"it returns {STATUS[status]} after a state of an earlier time was set{s.reason()}"
        yield Finding("fmi2DoStep", problem, "fmi2OK", sentence="set-state")
    else:
        instance.call_checked("fmi2FreeFMUstate", byref(saved.handle))
    instance.free()


PARTS = {
    "the last bit of times": _last_bit,
    "rounding": _rounding,
    "end of step": _end_of_step,
    "another start time": _start_time,
    "variable sizes": _variable_sizes,
    "repeatable steps": _keep_states,
    "back in time": _back,
    "asynchronous": asynchronous,
    "beyond the stop time that was set": beyond_set_stop,
    "beyond the default stop time": beyond_default_stop,
    "discarded": discarded,
}
