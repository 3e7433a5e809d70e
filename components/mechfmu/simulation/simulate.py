"""Simulating: a mechanism in this process, or any FMU through FMPy."""

from __future__ import annotations

from .description import (
    constants_of,
    display_unit_of,
    read_description,
    run_tolerance,
    start_time,
    start_value,
    unit_name,
)
from .fmu_run import simulate_fmu
from .inputs import Input, InputTable, input_signals, over_time, read_input_table
from .mechanism_run import simulate_mechanism
from .source_mechanism import drawable_mechanism, mechanism_of
from .time_grid import Progress, communication_points, pace, reaches, times

__all__ = [
    "Input",
    "InputTable",
    "Progress",
    "communication_points",
    "constants_of",
    "display_unit_of",
    "drawable_mechanism",
    "input_signals",
    "mechanism_of",
    "over_time",
    "pace",
    "reaches",
    "read_description",
    "read_input_table",
    "run_tolerance",
    "simulate_fmu",
    "simulate_mechanism",
    "start_time",
    "start_value",
    "times",
    "unit_name",
]
