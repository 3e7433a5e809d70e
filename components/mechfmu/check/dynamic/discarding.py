"""Part of D5: steps that are discarded or asynchronous."""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import byref, c_double, c_int

from ..findings import Finding
from .binding import DISCARD, LAST_SUCCESSFUL_TIME, PENDING, STATUS, TERMINATED_STATUS, WARNING, StepFinished
from .instance import FmuInstance, status_name
from .session import Session

ROUNDING = 1e-9  # relative, of times
PENDING_STEPS = 60
OTHER_SIZE = 1.5  # times the step size: fewer steps to the same time
CLEARLY_BEYOND = 3  # steps


def discard_report(instance: FmuInstance, t: float, h: float) -> Iterator[Finding]:
    """After fmi2Discard: the time that was reached, and whether the FMU asks to end the simulation."""
    reached, ended = c_double(math.nan), c_int(-1)
    status = instance.call("fmi2GetRealStatus", LAST_SUCCESSFUL_TIME, byref(reached), note=" (after fmi2Discard)")
    slack = ROUNDING * max(1.0, abs(t))
    expected = "the time that was reached"
    if status > WARNING:
        problem = f"it returns {STATUS[status]} for fmi2LastSuccessfulTime after fmi2Discard"
        yield Finding("fmi2GetRealStatus", problem, expected, sentence="last-successful-time")
    elif not t - slack <= reached.value <= t + h + slack:
        problem = f"fmi2LastSuccessfulTime is {reached.value:g} after a discarded step from {t:g} to {t + h:g}"
        yield Finding("fmi2GetRealStatus", problem, "a time within the step", sentence="last-successful-time")
    elif reached.value >= t + h - min(slack, 1e-3 * h) and not instance.wants_to_end():  # it may end there
        problem = f"fmi2LastSuccessfulTime is {reached.value:g}, the end of the step from {t:g} that was discarded"
        yield Finding("fmi2GetRealStatus", problem, "an earlier time", sentence="last-successful-time")
    status = instance.call("fmi2GetBooleanStatus", TERMINATED_STATUS, byref(ended), note=" (after fmi2Discard)")
    if status > WARNING:
        problem = f"it returns {STATUS[status]} for fmi2Terminated after fmi2Discard"
        yield Finding("fmi2GetBooleanStatus", problem, "whether the FMU asks to end", sentence="terminated")


def discarded(s: Session) -> Iterator[Finding]:
    """Look for a discarded step over the default experiment, then at what the status functions say."""
    instance = s.new_instance().enter_run_state()
    for h in s.steps(100_000):
        status = instance.try_step(h)
        if status == DISCARD:
            yield from discard_report(instance, instance.t, h)
            if instance.wants_to_end():
                yield from _end_depends_on_steps(s, instance.t)
        if status > WARNING or s.time_used(0.8):
            break
        instance.t += h
    instance.free()


def _end_depends_on_steps(s: Session, t: float) -> Iterator[Finding]:
    """The FMU has ended the simulation at time t. Whether it wants to is not known to anybody else; but if larger steps
    lead beyond this time, the end is not one of the model."""
    if not s.model.flag("CoSimulation", "canHandleVariableCommunicationStepSize"):
        return
    h = OTHER_SIZE * s.model.step_size
    wanted = t + CLEARLY_BEYOND * s.model.step_size
    if wanted + h > s.model.stop_time:
        return
    instance = s.new_instance().enter_run_state()
    while instance.t < wanted:
        if instance.try_step(h) > WARNING or s.time_used(0.8):
            instance.free()
            return
        instance.t += h
    instance.free()
    problem = (
        f"fmi2Terminated is true after a step from t = {t:g}, of size {s.model.step_size:g}; steps of size {h:g} go "
        "beyond this time without it"
    )
    yield Finding("fmi2GetBooleanStatus", problem, "an end of the simulation that does not depend on the step size")


def asynchronous(s: Session) -> Iterator[Finding]:
    """fmi2Pending only where it is declared; stepFinished is called once, with the status that fmi2GetStatus gives."""
    finished: list[int] = []
    callback = StepFinished(lambda environment, status: finished.append(status))
    instance = s.instantiate(callbacks=s.callbacks(callback))
    if instance is None:
        return
    instance.enter_run_state()
    for h in s.steps(PENDING_STEPS):
        finished.clear()
        status = instance.call("fmi2DoStep", instance.t, h, 1)
        if status == PENDING:
            if not s.model.flag("CoSimulation", "canRunAsynchronuously"):
                expected = "another status: canRunAsynchronuously is not declared"
                yield Finding("fmi2DoStep", "it returns fmi2Pending", expected, sentence="asynchronous")
            status = instance.wait()
            if not finished:
                problem = "the asynchronous step has ended, but stepFinished was not called"
                yield Finding("stepFinished", problem, "a call after the step", sentence="step-finished")
                break
            if finished[0] != status:
                problem = f"it gets {status_name(finished[0])}, fmi2GetStatus {status_name(status)}"
                yield Finding("stepFinished", problem, "the status of the step", sentence="pending")
                break
        if status > WARNING:
            break
        instance.t += h
    instance.free()
