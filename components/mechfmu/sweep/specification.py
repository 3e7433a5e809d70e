"""What a sweep runs: the description in a TOML file, and its cases.

    [run]       stop = 1.0, step = 0.01, record = ["tip.x"], keep = ["final", "min", "max", "mean"], tolerance,
                inputs = "drive.csv" or ["slow.csv", "fast.csv"]: tables of inputs over time, which vary like any value
    [set]       values for all runs
    [sample]    method = "grid" | "random" | "latin_hypercube" | "csv", count, seed, file
    [vary]      "gravity" = [1.62, 9.81]                               these values
                "solver.method" = ["explicit", "implicit"]             choices by name
                "joint[1].damping" = {from = 0, to = 1, count = 5}     equally spaced (grid), or anywhere in between
                                                                       (random, latin_hypercube)
                ... {from = 1e-3, to = 1, count = 4, scale = "log"}

A grid takes every combination. The values of random and latin_hypercube depend on the seed alone. A CSV file has a
column for each name; a column `inputs` names the table of each run.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..model import UserError
from ..simulation.inputs import InputTable, read_input_table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

METHODS = ("grid", "random", "latin_hypercube", "csv")
KEPT: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # of signals over a run, one per row
    "final": lambda s: s[:, -1],
    "min": lambda s: s.min(axis=1),
    "max": lambda s: s.max(axis=1),
    "mean": lambda s: s.mean(axis=1),
}
LARGEST = 100_000_000  # runs
INPUTS = "inputs"  # the column of the results that names the table of inputs

Values = Sequence[float] | Sequence[str]


@dataclass(frozen=True)
class Range:
    """Values between two ends."""

    low: float  # the ends
    high: float
    count: int = 0  # in a grid
    log: bool = False  # equal ratios instead of equal differences

    def at(self, place: np.ndarray) -> np.ndarray:
        """Return the values at places from 0 (low) to 1 (high)."""
        if self.log:
            return np.exp(np.log(self.low) + place * (np.log(self.high) - np.log(self.low)))
        return self.low + place * (self.high - self.low)


@dataclass(frozen=True)
class Spec:
    """What a sweep varies and what it keeps.

    `inputs` maps labels to tables: `{"slow": {"time": [0, 1], "joint[1].torque": [0, 2]}}`. They vary like a list of
    values.
    """

    vary: Mapping[str, Range | Values]  # by name of parameter or input: a range, numbers, or names of choices
    record: Sequence[str]  # names of outputs
    stop: float  # s
    step: float  # s
    method: str = "grid"  # or random, latin_hypercube, csv
    count: int = 0  # runs, if random or latin_hypercube
    seed: int = 0  # of random and latin_hypercube
    keep: Sequence[str] = ("final",)  # of each output: final, min, max, mean
    set: Mapping[str, Any] = field(default_factory=dict)  # values for all runs
    tolerance: float | None = None  # of the solver, relative
    inputs: Mapping[str, InputTable] = field(default_factory=dict)  # inputs over time

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UserError(f"method {self.method}: must be one of {', '.join(METHODS)}")
        if not self.vary and not self.inputs:
            raise UserError("nothing varies: [vary] is empty")
        if self.inputs:
            self._check_inputs()
        for name in self.keep:
            if name not in KEPT:
                raise UserError(f"keep {name}: must be one of {', '.join(KEPT)}")
        for name, values in self.vary.items():
            self._check(name, values)
            if name in self.set:
                raise UserError(f"{name} is both set and varied")
        if self.method in ("random", "latin_hypercube") and self.count < 1:
            raise UserError(f"count {self.count}: {self.method} needs the number of runs")
        if self.runs > LARGEST:
            raise UserError(f"the sweep has {self.runs} runs; at most {LARGEST} are allowed")

    def _check(self, name: str, values: Range | Values) -> None:
        numbers: list[Any] = [values.low, values.high] if isinstance(values, Range) else list(values)
        if numbers and all(isinstance(v, str) for v in numbers):
            return
        if not numbers or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in numbers):
            raise UserError(f"{name}: its values must be finite numbers, or all of them texts; at least one")
        if isinstance(values, Range):
            if values.log and not min(numbers) > 0:
                raise UserError(f"{name}: a logarithmic range must be positive")
            if self.method == "grid" and values.count < 2:
                raise UserError(f"{name}: a range in a grid needs a count of at least 2")

    def _check_inputs(self) -> None:
        if INPUTS in self.record:
            raise UserError(f"a variable named {INPUTS} cannot be recorded together with tables of inputs")
        labels = self.varied[INPUTS]
        if isinstance(labels, Range) or not set(labels) <= set(self.inputs):
            raise UserError(f"{INPUTS}: must be among the tables {', '.join(self.inputs)}")
        if self.method == "csv" and INPUTS not in self.vary and len(self.inputs) > 1:
            raise UserError(f"with method = csv a column {INPUTS} of the file must name the table of each run")
        for label, table in self.inputs.items():
            self._check_table(label, table)

    def _check_table(self, label: str, table: InputTable) -> None:
        lengths = {len(column) for column in table.values()}
        equally_long = len(lengths) == 1 and 0 not in lengths
        if "time" not in table or not equally_long or not all(_is_finite(column) for column in table.values()):
            raise UserError(f"inputs {label}: must be columns of equally many finite numbers, one of them time")
        if np.any(np.diff(np.asarray(table["time"], dtype=float)) < 0):
            raise UserError(f"inputs {label}: time goes back")
        for name in table:
            if name in self.vary:
                raise UserError(f"{name} is both varied and in the inputs {label}")

    @property
    def names(self) -> list[str]:
        return list(self.varied)

    @property
    def varied(self) -> dict[str, Range | Values]:
        """What varies, by name, with the labels of the tables of inputs."""
        if not self.inputs or INPUTS in self.vary:
            return dict(self.vary)
        return {**self.vary, INPUTS: list(self.inputs) * (self.runs if self.method == "csv" else 1)}

    @property
    def texts(self) -> dict[str, list[str]]:
        """The values of those that have texts; a case holds the index of the text in this list."""
        return {
            name: list(dict.fromkeys(map(str, v)))
            for name, v in self.varied.items()
            if not isinstance(v, Range) and len(v) and isinstance(v[0], str)
        }

    def shown(self, name: str, column: np.ndarray) -> list[str] | np.ndarray:
        """A column of the cases with texts instead of their indices."""
        texts = self.texts.get(name)
        return column if texts is None else [texts[int(k)] for k in column]

    @property
    def runs(self) -> int:
        if self.method == "grid":
            return math.prod(v.count if isinstance(v, Range) else len(v) for v in self.varied.values())
        if self.method == "csv":
            return len(next(iter(self.vary.values()), ()))  # type: ignore[arg-type]
        return self.count

    def cases(self) -> np.ndarray:
        """One row for each run, one column for each of `names`: a number, or the index of a text in `texts`.

        Always the same for the same sweep.
        """
        texts, varied = self.texts, self.varied

        def listed(name: str) -> np.ndarray:
            values: Any = varied[name]
            return np.array([texts[name].index(v) for v in values] if name in texts else values, dtype=float)

        if self.method == "csv":
            return np.stack([listed(name) for name in varied], axis=1)
        if self.method == "grid":
            axes = [
                v.at(np.linspace(0.0, 1.0, v.count)) if isinstance(v, Range) else listed(name)
                for name, v in varied.items()
            ]
            return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
        random = np.random.default_rng(self.seed)
        places = random.random((self.count, len(varied)))
        if self.method == "latin_hypercube":  # as in scipy.stats, which takes a second to import
            layers = np.tile(np.arange(self.count)[:, None], len(varied))
            places = (random.permuted(layers, axis=0) + places) / self.count
        columns = [
            v.at(place) if isinstance(v, Range) else listed(name)[(place * len(v)).astype(int)]
            for (name, v), place in zip(varied.items(), places.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    @property
    def columns(self) -> list[str]:
        """The names of the results: tip.x:final, tip.x:max, ...; tip.x if one is kept and tip.x is not varied."""
        return [
            name if len(self.keep) == 1 and name not in self.names else f"{name}:{what}"
            for name in self.record
            for what in self.keep
        ]

    def identity(self, fmu: bytes) -> str:
        """Equal for sweeps whose results may be combined."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True, default=_plain).encode() + fmu).hexdigest()[:32]


def _is_finite(column: Any) -> bool:
    return bool(np.isfinite(np.asarray(column, dtype=float)).all())


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays for JSON; the text of a long array would omit its middle."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def read_spec(file: str | Path) -> Spec:
    """Return the sweep in a TOML file; UserError names what is wrong in it."""
    path = Path(file)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    try:
        return _spec(data, path.parent)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


RUN_KEYS = {"stop": float, "step": float, "record": list, "keep": list, "tolerance": float, "inputs": (str, list)}
SAMPLE_KEYS = {"method": str, "count": int, "seed": int, "file": str}
TYPE_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    (str, list): "a text or a list of texts",
}


def _spec(data: Mapping[str, Any], folder: Path) -> Spec:
    run, sample = _section(data, "run", RUN_KEYS), _section(data, "sample", SAMPLE_KEYS)
    for name in data:
        if name not in ("run", "sample", "vary", "set"):
            raise UserError(f"unknown section [{name}]; there are: run, sample, vary, set")
    for name in ("stop", "record"):
        if name not in run:
            raise UserError(f"[run] needs {name}")
    run.setdefault("step", run["stop"] / 100)
    vary: dict[str, Range | Values] = {name: _values(name, value) for name, value in data.get("vary", {}).items()}
    file, tables = sample.pop("file", None), run.pop("inputs", [])
    tables = [tables] if isinstance(tables, str) else tables
    if (sample.get("method") == "csv") != (file is not None):
        raise UserError("[sample] file and method = csv belong together")
    if file is not None:
        if vary:
            raise UserError("with method = csv the file lists what varies: omit [vary]")
        vary = dict(_table(folder / file))
        listed: Any = vary.get(INPUTS, [0])
        if isinstance(listed[0], str):
            if tables:
                raise UserError(f"{file} has a column {INPUTS}: omit {INPUTS} in [run]")
            tables, folder = listed, (folder / file).parent
    return Spec(
        vary=vary,
        set=data.get("set", {}),
        inputs={name: read_input_table(folder / name) for name in dict.fromkeys(tables)},
        **sample,
        **run,
    )


def _section(data: Mapping[str, Any], section: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(data.get(section, {}))
    for name, value in found.items():
        if name not in kinds:
            raise UserError(f"[{section}] has no {name}; it has: {', '.join(kinds)}")
        kind = (int, float) if kinds[name] is float else kinds[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise UserError(f"[{section}] {name} = {value}: must be {TYPE_NAMES[kinds[name]]}")
        if isinstance(value, list) and not all(isinstance(v, str) for v in value):
            raise UserError(f"[{section}] {name}: must be a list of texts")
    return found


def _values(name: str, value: Any) -> Range | Values:
    if isinstance(value, list):
        return value
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return [value]  # type: ignore[return-value]
    if not isinstance(value, dict) or not {"from", "to"} <= set(value) <= {"from", "to", "count", "scale"}:
        raise UserError(f"[vary] {name}: must be a list of values or {{from = , to = , count = , scale = }}")
    if value.get("scale", "linear") not in ("linear", "log"):
        raise UserError(f"[vary] {name}: scale {value['scale']}: must be linear or log")
    low, high, count = numbers = (value["from"], value["to"], value.get("count", 0))
    are_numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers)
    if not are_numbers or not isinstance(count, int):
        raise UserError(f"[vary] {name}: from, to and count must be numbers, count a whole one")
    return Range(float(low), float(high), count, value.get("scale") == "log")


def _table(file: Path) -> dict[str, Values]:
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
    if len(rows) < 2:
        raise UserError(f"{file}: must have a line of names and at least one line of values")
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise UserError(f"{file}: line {line} has {len(row)} values, not {len(rows[0])}")
    names = [name.strip() for name in rows[0]]
    if len(set(names)) < len(names):
        raise UserError(f"{file}: a name appears twice")
    return {name: _column([row[k].strip() for row in rows[1:]], f"{file}: ", name) for k, name in enumerate(names)}


def _column(cells: list[str], where: str, name: str) -> Values:
    """Numbers; or texts, where no cell is a number and none is empty."""
    if not any(_is_number(cell) for cell in cells) and all(cells):
        return cells
    return [_number(cell, f"{where}line {line}, {name}") for line, cell in enumerate(cells, 2)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{where}: {text or 'an empty cell'} is not a number") from None
