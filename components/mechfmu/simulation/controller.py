"""Sampled control from Python: a function of time and outputs that sets inputs, called at equal intervals.

Inputs are held between the calls:

    spring = lambda t, y: {"joint[1].torque": -80 * y["joint[1].angle"] - 10 * y["joint[1].rate"]}
    chain.simulate(controller=spring, period=0.01)
"""

from __future__ import annotations

import math
import numbers
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..model import UserError, did_you_mean

Controller = Callable[[float, Mapping[str, float]], Mapping[str, float]]
COINCIDENT = 1e-9  # of the step or the period: a call this close to a communication point is made there
LIBRARIES = tuple(
    Path(p).resolve()
    for p in (*(sysconfig.get_paths()[k] for k in ("stdlib", "purelib", "platlib")), str(Path(__file__).parents[1]))
)


class UnknownOutput(KeyError):
    """An output that the model does not have."""

    def __str__(self) -> str:
        return str(self.args[0])


class Outputs(dict[str, float]):
    """All outputs by name; the error for an unknown name suggests a similar one."""

    def __missing__(self, name: Any) -> float:
        raise UnknownOutput(f"there is no output {name}{did_you_mean(str(name), self)}")


@dataclass(frozen=True)
class SampleTime:
    """A time at which a simulation with a controller stops."""

    t: float
    recorded: bool  # it is a communication point
    controlled: bool  # the controller is called


def sample_times(grid: np.ndarray, period: float | None) -> Iterator[SampleTime]:
    """The communication points, and the times start + k period at which the controller is called.

    period   None: at every communication point
    """
    if period is None:
        yield from (SampleTime(float(t), True, True) for t in grid)
        return
    slack, k, call = COINCIDENT * min(period, float(np.min(np.diff(grid)))), 0, float(grid[0])
    for t in map(float, grid):
        while call < t - slack:
            yield SampleTime(call, False, True)
            k, call = k + 1, float(grid[0]) + (k + 1) * period
        due = call <= t + slack
        yield SampleTime(t, True, due)
        if due:
            k, call = k + 1, float(grid[0]) + (k + 1) * period


def check_period(period: Any) -> None:
    """UserError unless a period is a time, or None."""
    if period is not None and not (isinstance(period, numbers.Real) and 0.0 < float(period) < math.inf):
        raise UserError(f"period {period}: must be a finite number of seconds, greater than 0")


def check_controller(controller: Any, period: Any) -> None:
    """UserError unless the controller is a function and its period a time."""
    if controller is None and period is not None:
        raise UserError(f"period {period}: only with a controller")
    if controller is not None and not callable(controller):
        raise UserError(
            f"controller {controller!r:.60}: must be a function of time and outputs that returns a dict of inputs"
        )
    check_period(period)


@dataclass(frozen=True)
class SampledController:
    """A controller of a model, whose mistakes become UserErrors of one line.

    roles     of all variables of the model: input, output, parameter, ...
    kinds     of the inputs: Real, Integer, Enumeration, Boolean, String
    driven    inputs that are set from elsewhere
    """

    law: Controller
    model: str
    outputs: Sequence[str]
    roles: Mapping[str, str]
    kinds: Mapping[str, str]
    driven: Sequence[str] = ()

    def __call__(self, t: float, values: Sequence[float]) -> dict[str, float]:
        """The inputs to be set at this time, given the values of the outputs."""
        outputs = Outputs(zip(self.outputs, values, strict=True))
        try:
            wanted = self.law(t, outputs)
        except Exception as error:
            kind = "" if isinstance(error, (UnknownOutput, UserError)) else f"{type(error).__name__}: "
            reason = f"{kind}{' '.join(str(error).split())}{_place(error, self.law)}"
            raise UserError(f"the controller failed at t = {t:g} s: {reason}") from error
        if not isinstance(wanted, Mapping):
            raise UserError(
                f"the controller returned {_brief(wanted)} at t = {t:g} s: must be a dict of inputs by name"
            )
        return {name: self._checked(t, name, value) for name, value in wanted.items()}

    def _checked(self, t: float, name: Any, value: Any) -> float:
        setting = f"the controller sets {name} at t = {t:g} s"
        role = self.roles.get(name)
        if role is None:
            suggestion = did_you_mean(str(name), self.kinds)
            raise UserError(f"{setting}: {self.model} has no such input{suggestion}")
        if role != "input":
            raise UserError(f"{setting}: it is not an input of {self.model} (causality: {role})")
        if name in self.driven:
            raise UserError(f"{setting}: it is already driven by an input signal")
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        kind = self.kinds[name]
        number = float(value) if isinstance(value, (numbers.Real, np.bool_)) else math.nan
        if kind == "String" or not _is_of_kind(kind, number):
            wanted = {"Real": "finite number", "Boolean": "truth value"}.get(kind, "whole number")
            reason = "texts cannot be set" if kind == "String" else f"must be a {wanted}"
            raise UserError(f"the controller sets {name} = {_brief(value)} at t = {t:g} s: {reason}")
        return number


def _is_of_kind(kind: str, number: float) -> bool:
    if kind == "Boolean":
        return number in (0.0, 1.0)
    return math.isfinite(number) and (kind == "Real" or number.is_integer())


def _brief(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.60}"


def _place(error: Exception, law: Any) -> str:
    """Where in the user's own files an exception came from: " (control.py:12)"."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if not _is_library(f.filename)]
    if not frames and (code := getattr(law, "__code__", None)):  # it could not even be called
        own = [f"{Path(code.co_filename).name}:{code.co_firstlineno}"]
    return f" ({own[-1]})" if own else ""


def _is_library(file: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to mechfmu."""
    return file.startswith(("<frozen", "<__array")) or any(
        Path(file).resolve().is_relative_to(folder) for folder in LIBRARIES
    )
