"""Inputs over time: constants, functions, and tables from CSV files."""

from __future__ import annotations

import contextlib
import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model import UserError, did_you_mean
from .description import start_value

Input = float | Callable[[float], float] | tuple[Sequence[float], Sequence[float]]
"""A number, a function of time, or a table of times and values."""

InputTable = Mapping[str, Sequence[float]]  # columns by name, time first


def over_time(name: str, given: Any) -> Callable[[float], float]:
    """Return an input as a function of time, whatever it was given as."""
    if callable(given):

        def called(t: float) -> float:
            value = given(t)
            try:
                return float(value)
            except (TypeError, ValueError):
                message = f"input {name}: its function returned {value!r} at t = {t:g} s, which is not a number"
                raise UserError(message) from None

        return called
    with contextlib.suppress(TypeError, ValueError):
        number = float(given)
        return lambda t: number
    try:
        at, values = (np.asarray(row, dtype=float) for row in given)
    except (TypeError, ValueError):
        raise UserError(
            f"input {name}: must be a number, a function of time, or a table (times, values), not {given!r:.60}"
        ) from None
    if at.ndim != 1 or at.shape != values.shape or not len(at) or not _is_time_series(at, values):
        raise UserError(
            f"input {name}: a table must have two rows of the same number of finite numbers: times, which do not "
            "decrease, and values"
        )
    return lambda t: float(np.interp(t, at, values))


def _is_time_series(at: np.ndarray, values: np.ndarray) -> bool:
    return bool(np.isfinite([at, values]).all() and not np.any(np.diff(at) < 0))


def read_input_table(file: str | Path) -> dict[str, list[float]]:
    """Read a table of inputs over time from a CSV file."""
    try:
        with Path(file).open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"cannot read the inputs from {file}: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in rows[0]] if rows else []
    if not names or names[0] != "time" or len(rows) < 2:
        raise UserError(
            f"{file}: must be a table whose first column is time, with a line of names and at least one line of numbers"
        )
    table = {name: [_cell(file, row, names, k) for row in rows[1:]] for k, name in enumerate(names)}
    if np.any(np.diff(table["time"]) < 0):
        raise UserError(f"{file}: time must not decrease")
    return table


def _cell(file: str | Path, row: list[str], names: list[str], k: int) -> float:
    try:
        number = float(row[k])
    except (ValueError, IndexError):
        number = math.nan
    if len(row) != len(names) or not math.isfinite(number):
        raise UserError(f"{file}: column {names[k]} has a missing or bad value in the line {','.join(row)}")
    return number


def input_signals(table: InputTable, variables: Mapping[str, Any], values: Mapping[str, Any], label: str) -> np.ndarray:
    """Return a table of inputs in FMPy's format; inputs that are not in it keep their start values."""
    inputs = {v.name: v for v in variables.values() if v.causality == "input" and v.type != "String"}
    for name in table:
        if name not in inputs and name != "time":
            raise UserError(f"{label}: {name} is not an input{did_you_mean(name, inputs)}")
    names = ("time", *(n for n in table if n != "time"), *(n for n in inputs if n not in table))
    data = np.zeros(len(table["time"]), dtype=[(name, float) for name in names])
    for name in names:
        if name in table:
            data[name] = table[name]
        else:
            data[name] = float(start_value(inputs[name], values.get(name, inputs[name].start or 0)))
    return data


def column_over_time(variable: Any, at: Sequence[float], column: Sequence[float]) -> Callable[[float], float]:
    """Return a column of the table as a function of time: interpolated where the input is continuous, otherwise held,
    as FMPy does."""
    if variable.type == "Real" and variable.variability != "discrete":
        return lambda t: float(np.interp(t, at, column))
    return lambda t: column[max(int(np.searchsorted(at, t, side="right")) - 1, 0)]


def inputs_at(
    variables: Mapping[str, Any], inputs: np.ndarray | None, values: Mapping[str, Any], t: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the Real inputs at the times of the result, interpolated between the rows of a table as FMPy does."""
    names = [v.name for v in variables.values() if v.causality == "input" and v.type == "Real"]
    if inputs is not None:
        return {name: np.interp(t, inputs["time"], inputs[name]) for name in names}
    return {name: np.full(len(t), float(values.get(name, variables[name].start or 0.0))) for name in names}
