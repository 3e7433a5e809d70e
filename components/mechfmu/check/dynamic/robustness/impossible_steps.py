"""R3: impossible steps."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...findings import Finding, rule
from ..binding import WARNING
from ..instance import FmuInstance, status_name
from ..session import Session

BEFORE = 2  # steps
GAP = 5  # steps that are omitted


@rule("R3", "impossible steps", "4.2.2", kinds=("CoSimulation",))
def impossible_steps(s: Session) -> Iterator[Finding]:
    """A step of size 0, of a negative or infinite size or NaN, one that begins later or earlier than the last one
    ended, and one at the time NaN get fmi2Error or fmi2Discard."""
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
