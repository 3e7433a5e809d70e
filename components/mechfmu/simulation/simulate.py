"""Simulating: a mechanism in this process, or any FMU through FMPy."""

from __future__ import annotations

from .fmu_run import simulate_fmu
from .mechanism_run import simulate_mechanism

__all__ = ["simulate_fmu", "simulate_mechanism"]
