"""R3: impossible steps."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...findings import Finding, rule
from ..binding import ERROR, WARNING
from ..instance import CallFailed, EndlessEventIteration, FmuInstance, NotJudged, SimulationTerminated, status_name
from ..integration import advance
from ..session import Session

BEFORE = 2  # steps
GAP = 5  # steps that are omitted
BEYOND = 5  # steps past the stop time
EXCHANGE_STEP = 0.01  # of the default experiment: a step of Model Exchange


@rule("R3", "impossible steps", "2.1.6, 4.2.2")
def impossible_steps(s: Session) -> Iterator[Finding]:
    """A step of size 0, of a negative or infinite size or NaN, one that begins later or earlier than the last one
    ended, and one at the time NaN get fmi2Error or fmi2Discard. In Model Exchange, steps and events past the stop time
    that was set get fmi2Error."""
    if s.kind == "ModelExchange":
        yield from _past_stop_time(s)
        return
    h = s.model.step_size
    for size in (0.0, -h, math.nan, math.inf):
        yield from _step(s, f"a step of size {size:g}", 0.0, size)
    yield from _step(s, f"a step that begins {GAP} steps after the last one ended", GAP * h, h)
    yield from _step(s, "a step that begins before the last one ended", -h, h)
    yield from _step(s, "a step at the time NaN", math.nan, h)


def _step(s: Session, what: str, offset: float, size: float) -> Iterator[Finding]:
    if not s.attempt(what):
        return
    instance: FmuInstance = s.new_instance().enter_run_state()
    for h in s.steps(BEFORE):
        instance.step(h)
    status = instance.call("fmi2DoStep", instance.t + offset, size, 1, note=f" ({what})")
    if status <= WARNING:
        yield Finding("fmi2DoStep", f"it returns {status_name(status)} for {what}", "fmi2Error or fmi2Discard")
    instance.free()


def _past_stop_time(s: Session) -> Iterator[Finding]:
    """A solver may evaluate the model past the stop time, but it must not complete a step or begin an event there."""
    h = EXCHANGE_STEP * (s.model.stop_time - s.model.start_time)
    instance = s.new_instance()
    instance.stop_time = s.model.start_time + BEFORE * h
    instance.enter_run_state()
    for _ in range(BEFORE - 1):
        advance(instance, h)
    advance(instance, instance.stop_time - instance.t)
    status = 0
    try:
        for _ in range(BEYOND):
            advance(instance, h)
        instance.event()
    except CallFailed as error:
        status = error.status
    except (SimulationTerminated, EndlessEventIteration, NotJudged):
        return
    if status < ERROR:
        problem = "steps and an event past the stop time that was set are accepted"
        if status:
            problem = f"it returns {status_name(status)} for a step past the stop time that was set"
        yield Finding("fmi2CompletedIntegratorStep", problem, "fmi2Error")
