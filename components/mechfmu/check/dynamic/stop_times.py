"""Part of D5: the default stop time, and one that was set in fmi2SetupExperiment."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..findings import Finding
from .binding import DISCARD, ERROR, WARNING
from .instance import CallFailed, SimulationTerminated, status_name
from .session import Session

BEYOND = 5  # steps beyond the default stop time
BEFORE = 3  # steps to the stop time that is set
ROUNDING = 1e-9  # relative, of times


def beyond_default_stop(s: Session) -> Iterator[Finding]:
    """Without a stop time in fmi2SetupExperiment, the default one is no limit. A failure of the run before it is
    found by D13."""
    h, span = s.model.step_size, s.model.stop_time - s.model.start_time
    count = math.ceil(span / h - ROUNDING)
    instance = s.new_instance().enter_run_state()
    for i in range(count + BEYOND):
        if s.time_used(0.5):
            s.not_judged("the time budget was used up before the default stop time was passed")
            return
        try:
            instance.step(h)
        except SimulationTerminated:
            return
        except CallFailed as error:
            if i >= count and error.status >= ERROR:
                problem = f"{error} at t = {instance.t:g}, after the default stop time"
                expected = "fmi2OK: no stop time was set, and the default one is not a limit"
                yield Finding("fmi2DoStep", problem, expected, sentence="no-stop-time")
            return
    instance.free()


def beyond_set_stop(s: Session) -> Iterator[Finding]:
    h = s.model.step_size
    instance = s.new_instance()
    instance.stop_time = s.model.start_time + BEFORE * h
    instance.enter_run_state()
    for _ in range(BEFORE):
        status = instance.try_step(h)
        if status > WARNING:
            problem = f"it returns {status_name(status)} for a step that ends at or before the stop time"
            yield Finding("fmi2DoStep", f"{problem}{s.reason()}", "fmi2OK", sentence="cs-calls")
            return
        instance.t += h
    status = instance.try_step(h)
    if status <= WARNING or status == DISCARD:
        problem = f"it returns {status_name(status)} for a step past the stop time that was set"
        yield Finding("fmi2DoStep", problem, "fmi2Error", sentence="past-stop-time")
    instance.free()
