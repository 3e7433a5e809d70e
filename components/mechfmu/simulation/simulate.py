"""Simulating: a mechanism in this process, or any FMU through FMPy."""

from __future__ import annotations

from .fmu_run import StoppedEarly, simulate_fmu
from .mechanism_run import simulate_mechanism

__all__ = ["StoppedEarly", "simulate_fmu", "simulate_mechanism"]
