"""Limits and tolerances of the event loop, shared by the Python and the C runtime.

fmu_src/fmi/event_limits.h has the same numbers for C. After a change here run:
python3 build_scripts/limits_header.py
"""

from __future__ import annotations

EVENT_LIMIT = 1000
"""Events within one communication step."""

EVENT_ROUNDS = 100
"""Rounds of the event iteration at one time; more are chattering."""

EVALUATION_LIMIT = 200_000
"""Evaluations of the equations within one communication step: some ten seconds for the largest mechanisms."""

MIN_TOLERANCE = 1e-13
"""The smallest relative tolerance that the solvers can meet."""

TIME_TOLERANCE = 1e-9
"""Relative: the host's time may differ from that of the instance by rounding."""

START_VALUE_TOLERANCE = 1e-9
"""Relative: hosts print start values of the description and read them again."""

EVENT_TIME_TOLERANCE = 1e-10
"""In s: zero crossings of guards within it of each other, up to a factor of two, are one event."""

NEGLIGIBLE_INTERVAL = 1e-3
"""Of EVENT_TIME_TOLERANCE: too short to integrate, as the rest after an event at the very end of a step."""

EVENT_SAMPLES_PER_STEP = 8
"""Evaluations of the guards in one step of the solver, to find those that cross zero twice in it."""
