"""A reference result given by the user: the files x_ref.csv and x_in.csv of the FMI cross-check.

The first column is the time; the others have the names of variables of the FMU, quoted or not.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cannot_check import CannotCheck
from .dynamic.model import ModelVariable

TOLERANCE = 1e-2  # allowed deviation relative to the range of a signal
MAX_ROWS = 10_000  # of the reference; longer ones are thinned out, unless there are inputs
MAX_NAMES = 5  # unknown columns that a message lists
Table = dict[str, list[float]]


@dataclass(frozen=True)
class ReferenceResult:
    """Columns by name, "time" among them."""

    file: str
    table: Table
    inputs: Table | None = None
    input_file: str = ""
    tolerance: float = TOLERANCE

    def model_data(self, variables: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
        """The reference as D12 takes it. Raises CannotCheck if a column is not a variable of the FMU."""
        by_name = {v.name: v for v in (ModelVariable(*fields) for fields in variables)}
        inputs = {n for n, v in by_name.items() if v.causality == "input"}
        settable = inputs | {n for n, v in by_name.items() if v.causality == "parameter" and v.variability == "tunable"}
        own = {n for n, v in by_name.items() if v.causality == "independent"} | {"time"}
        columns = {n: c for n, c in self.table.items() if n not in own}
        _check_columns(self.file, columns, by_name)
        recorded = self.table if self.inputs is None else self.inputs
        driven = {n: c for n, c in recorded.items() if n not in own}
        if self.inputs is not None:
            _check_columns(self.input_file, driven, by_name)
            for name in sorted(set(driven) - settable):
                raise CannotCheck(f"{self.input_file}: {name} is not an input or tunable parameter of the FMU")
        driven = {n: c for n, c in driven.items() if n in (inputs if self.inputs is None else settable)}
        signals = {n: c for n, c in columns.items() if n not in inputs and by_name[n].type != "String"}
        if not signals:
            raise CannotCheck(f"{self.file}: no column is a variable of the FMU that could be compared")
        rows = _last_of_each_time(self.table["time"])
        if len(rows) > MAX_ROWS and not driven:  # inputs are set at every row
            rows = _thinned(rows)
        return dict(
            file=Path(self.file).name,
            tolerance=self.tolerance,
            t=[self.table["time"][i] for i in rows],
            signals={name: [column[i] for i in rows] for name, column in signals.items()},
            inputs={"time": _ascending(recorded["time"]), **driven} if driven else {},
        )


def read_reference(file: Path, inputs: Path | None, tolerance: float = TOLERANCE) -> ReferenceResult:
    table = read_table(file)
    if len(table["time"]) < 2:
        raise CannotCheck(f"{file}: a reference result needs at least two rows")
    return ReferenceResult(str(file), table, read_table(inputs) if inputs else None, str(inputs or ""), tolerance)


def read_table(file: Path) -> Table:
    """Read a CSV file. Every mistake in it is one line with the number of the row."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream, skipinitialspace=True) if any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise CannotCheck(f"there is no file {file}") from None
    except OSError as error:
        raise CannotCheck(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, csv.Error) as error:
        raise CannotCheck(f"{file} is not a CSV file: {error}") from None
    names = [name.strip().strip('"') for name in rows[0]] if rows else []
    if not names or names[0].lower() != "time":
        raise CannotCheck(f'{file}: the first column must be "time"' + (f', not "{names[0]}"' if names else ""))
    if twice := [n for i, n in enumerate(names) if n in names[:i]]:
        raise CannotCheck(f'{file}: two columns are called "{twice[0]}"')
    columns: list[list[float]] = [[] for _ in names]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) < len(names) or any(cell.strip() for cell in row[len(names) :]):
            raise CannotCheck(f"{file}, row {number}: it has {len(row)} values, the heading {len(names)}")
        for name, column, cell in zip(names, columns, row, strict=False):
            column.append(_number(cell, f"{file}, row {number}, {name}"))
    for number, (a, b) in enumerate(itertools.pairwise(columns[0]), start=3):
        if b < a:
            raise CannotCheck(f"{file}, row {number}: the time {b:g} comes after {a:g}")
    return dict(zip(["time", *names[1:]], columns, strict=True))


def _number(cell: str, where: str) -> float:
    text = cell.strip().lower()
    try:
        value = {"true": 1.0, "false": 0.0}[text] if text in ("true", "false") else float(text)
    except ValueError:
        raise CannotCheck(f'{where}: "{cell.strip()}" is not a number') from None
    if not math.isfinite(value):
        raise CannotCheck(f"{where}: {cell.strip()} is not a finite number")
    return value


def _check_columns(file: str, columns: Table, by_name: dict[str, Any]) -> None:
    unknown = [name for name in columns if name not in by_name]
    if unknown:
        names = ", ".join(f'"{name}"' for name in unknown[:MAX_NAMES])
        more = f" and {len(unknown) - MAX_NAMES} more" if len(unknown) > MAX_NAMES else ""
        raise CannotCheck(f"{file}: the FMU has no variable {names}{more}")


def _last_of_each_time(times: Sequence[float]) -> list[int]:
    """Row indices; of rows of one time, as results have them at events, the last."""
    return [i for i, t in enumerate(times) if i + 1 == len(times) or times[i + 1] > t]


def _thinned(rows: Sequence[int]) -> list[int]:
    """Evenly spaced rows, the first and the last among them."""
    return [rows[round(i * (len(rows) - 1) / (MAX_ROWS - 1))] for i in range(MAX_ROWS)]


def _ascending(times: Sequence[float]) -> list[float]:
    """Times of inputs: of two rows of one time, a jump, the first moves to just before."""
    found = list(times)
    for i in range(len(found) - 2, -1, -1):
        if found[i] >= found[i + 1]:
            found[i] = math.nextafter(found[i + 1], -math.inf)
    return found
