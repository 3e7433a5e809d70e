"""Simulating: a mechanism in this process, or any FMU through FMPy."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import time
import warnings
import zipfile
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.model_description import ModelDescription

from ..mechanisms import Mechanism, UserError, add_folder, make, near
from ..mechanisms import names as mechanism_names
from .listening import WARNING
from .result import Result, Shown, shown
from .scene import Absent

Input = float | Callable[[float], float] | tuple[Sequence[float], Sequence[float]]  # a number, a function of time, or a table of times and values
WARNINGS_SHOWN = 10  # of an FMU, different ones
Progress = Callable[[float], None]  # told the simulation time now and then


def times(start: float, stop: float, step: float) -> np.ndarray:
    """The communication points: equal steps, the last one shorter when the span is no multiple."""
    for name, value in (("stop time", stop), ("step", step)):
        if not math.isfinite(value):
            raise UserError(f"{name} {value}: must be a finite number")
    if stop <= start:
        raise UserError(f"stop time {stop:g}: must be after the start time {start:g}")
    if step <= 0:
        raise UserError(f"step {step:g}: must be greater than 0")
    count = math.ceil((stop - start) / step - 1e-9)
    return np.append(start + step * np.arange(count), stop)


def pace(factor: float, progress: Progress) -> Progress:
    """A progress function that waits until so many times real time has passed."""
    if not (math.isfinite(factor) and factor > 0):
        raise UserError(f"realtime {factor:g}: must be greater than 0")
    began = time.monotonic()

    def paced(t: float) -> None:
        time.sleep(max(0.0, began + t / factor - time.monotonic()))
        progress(t)

    return paced


def simulate_mechanism(
    mechanism: Mechanism, stop: float | None = None, step: float | None = None, start: Mapping[str, float] | None = None,
    inputs: Mapping[str, Input] | None = None, tolerance: float | None = None, engine: str = "casadi",
    progress: Progress = lambda t: None,
) -> Result:  # fmt: skip
    """Simulate without an FMU; see Mechanism.simulate."""
    from ..engines.instance import make_instance  # SciPy and CasADi, which running an FMU does not need

    table = mechanism.table
    driven = {scalar: over_time(scalar.name, (inputs or {})[scalar.name]) for scalar, _ in mechanism.settings(dict.fromkeys(inputs or {}, 0.0))}
    instance = make_instance(mechanism, start, engine)
    grid = times(0.0, mechanism.stop_time if stop is None else stop, mechanism.step_size if step is None else step)
    outputs, driving = table.of("state", "discrete", "output"), table.of("input")
    recorded = [*outputs, *driving]

    def drive(t: float) -> None:
        instance.set(list(driven), [f(t) for f in driven.values()])

    drive(0.0)
    instance.initialize(tolerance=tolerance)
    rows = [instance.get(recorded)]
    for t, t_next in pairwise(grid):
        instance.step(float(t), float(t_next - t))
        drive(float(t_next))  # so that feed-through outputs belong to the inputs of their own time
        rows.append(instance.get(recorded))
        progress(float(t_next))
    data = {s.name: d for s, d in zip(recorded, np.array(rows).T, strict=True)}
    constants = {s.name: v for s, v in zip(table.of("parameter"), instance.get(table.of("parameter")), strict=True)}
    return Result(
        mechanism.name, grid, {s.name: data[s.name] for s in outputs}, {s.name: shown(s.unit) for s in outputs}, constants, mechanism,
        {s.name: data[s.name] for s in driving},
    )  # fmt: skip


def over_time(name: str, given: Any) -> Callable[[float], float]:
    """An input as a function of time, whatever it was given as."""
    if callable(given):

        def called(t: float) -> float:
            value = given(t)
            try:
                return float(value)
            except (TypeError, ValueError):
                raise UserError(f"input {name}: its function gave {value!r} at t = {t:g} s, which is no number") from None

        return called
    with contextlib.suppress(TypeError, ValueError):
        number = float(given)
        return lambda t: number
    try:
        at, values = (np.asarray(row, dtype=float) for row in given)
    except (TypeError, ValueError):
        raise UserError(f"input {name}: must be a number, a function of time, or a table (times, values), not {given!r:.60}") from None
    if at.ndim != 1 or at.shape != values.shape or not len(at) or not np.isfinite([at, values]).all() or np.any(np.diff(at) < 0):
        raise UserError(f"input {name}: a table is two rows of equally many finite numbers: times, which do not go back, and values")
    return lambda t: float(np.interp(t, at, values))


def read_description(fmu: str | Path) -> ModelDescription:
    """The model description of an FMU, or a UserError that says what is wrong with the file."""
    path = Path(fmu)
    if not path.exists():
        raise UserError(f"there is no file {path}")
    if path.is_dir() or not zipfile.is_zipfile(path):
        raise UserError(f"{path} is no FMU: it is not a zip file")
    with zipfile.ZipFile(path) as archive:
        if "modelDescription.xml" not in archive.namelist():
            raise UserError(f"{path} is no FMU: it has no modelDescription.xml")
    try:
        return fmpy.read_model_description(str(path), validate=False)
    except Exception as error:
        raise UserError(f"{path} is no readable FMU: {error}") from None


def simulate_fmu(
    fmu: str | Path, stop: float | None = None, step: float | None = None, start: Mapping[str, Any] | None = None,
    input_csv: str | Path | None = None, tolerance: float | None = None, progress: Progress = lambda t: None,
) -> Result:  # fmt: skip
    """Simulate any FMI 2.0 or 3.0 FMU with FMPy. `start` sets parameters and inputs; `input_csv` has a column `time` and input columns."""
    description = read_description(fmu)
    experiment = description.defaultExperiment
    t_start = float(experiment.startTime) if experiment and experiment.startTime else 0.0
    t_stop = stop if stop is not None else float(experiment.stopTime) if experiment and experiment.stopTime else t_start + 1.0
    t_step = step if step is not None else float(experiment.stepSize) if experiment and experiment.stepSize else (t_stop - t_start) / 500
    times(t_start, t_stop, t_step)  # refuses nonsense
    variables = {v.name: v for v in description.modelVariables}
    values = {}
    for name, value in (start or {}).items():
        if name not in variables:
            raise UserError(f"{Path(fmu).name} has no variable {name}{near(name, variables)}")
        values[name] = start_value(variables[name], value, variables)
    if tolerance is None:
        tolerance = values.get("solver.relative_tolerance")  # or else the experiment's own tolerance would override what the user asks for
    inputs = _read_inputs(input_csv, variables, values)
    complaints: list[str] = []
    cautions: list[str] = []
    reached = [t_start]

    def logger(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        if status >= WARNING and message:
            (complaints if status > WARNING else cautions).append(message.decode(errors="replace").strip().splitlines()[-1])

    def step_finished(t: float, recorder: Any) -> bool:
        progress(t)
        stuck = (t <= reached[-1] and t > t_start) or bool(complaints)  # FMPy tries a discarded step again and again
        reached.append(t)
        return not stuck

    said = io.StringIO()  # a Python FMU writes its messages to standard error of this process
    try:
        with contextlib.redirect_stderr(said):
            data = fmpy.simulate_fmu(
                str(fmu), start_time=t_start, stop_time=t_stop, output_interval=t_step, relative_tolerance=tolerance, start_values=values,
                input=inputs, step_finished=step_finished, validate=False, logger=logger, debug_logging=True,
            )  # fmt: skip
        if data["time"][-1] < t_stop - 1e-6 * t_step:  # a discarded step ends FMPy's simulation without an error
            raise RuntimeError(f"it stopped at t = {data['time'][-1]:g} s")
    except Exception as error:
        own = [line.partition("] ")[2] for line in said.getvalue().splitlines() if line.startswith("[")]
        raise UserError(f"{Path(fmu).name} did not run to the end: {(own or complaints or [str(error)])[-1]}") from None
    for text in list(dict.fromkeys(cautions))[:WARNINGS_SHOWN]:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    names = [n for n in data.dtype.names if n != "time"]
    return Result(
        description.modelName, np.asarray(data["time"]), {n: np.asarray(data[n], dtype=float) for n in names},
        {n: shown_as(variables[n], description) for n in names}, constants_of(description, values), seen_mechanism(fmu),
        _driven(variables, inputs, values, np.asarray(data["time"])),
    )  # fmt: skip


def constants_of(description: ModelDescription, values: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a run in which these values were set."""
    usual = {v.name: v.start for v in description.modelVariables if v.causality == "parameter" and v.type == "Real" and v.start is not None}
    return {name: float(values.get(name, start)) for name, start in usual.items()}


def choices(variable: Any) -> dict[str, int]:
    """The values of an Enumeration, or of an Integer whose description ends in a list of them, as ours do: (1 = explicit, 2 = implicit)."""
    if variable.type == "Enumeration" and variable.declaredType:
        return {i.name: int(i.value) for i in variable.declaredType.items or ()}
    listed = re.search(r"\((\d+ = \w+(?:, \d+ = \w+)*)\)$", variable.description or "") if variable.type == "Integer" else None
    return {name: int(number) for number, name in (part.split(" = ") for part in listed[1].split(", "))} if listed else {}


def start_value(variable: Any, value: Any, names: Container[str] = ()) -> Any:
    """A value, perhaps text from a command line, as FMPy wants it for this variable; `names` are the FMU's variables."""
    of_start = re.sub(r"(\[\d+\])?$", r"_start\1", variable.name, count=1)
    if variable.initial == "approx" and of_start in names:
        raise UserError(f"{variable.name} cannot be set: its start value is the parameter {of_start}")
    if variable.causality not in ("parameter", "structuralParameter", "input") and variable.initial not in ("exact", "approx"):
        raise UserError(f"{variable.name} cannot be set: it is computed")
    items = choices(variable)
    if variable.type == "String":
        return str(value)
    if variable.type == "Boolean":
        if str(value).lower() not in ("true", "false", "1", "0"):
            raise UserError(f"{variable.name} = {value}: must be true or false")
        return str(value).lower() in ("true", "1")
    try:
        return items[value] if value in items else int(value) if variable.type in ("Integer", "Enumeration") else float(value)
    except ValueError:
        wanted = f"one of {', '.join(items)}" if items else "a whole number" if variable.type == "Integer" else "a number"
        raise UserError(f"{variable.name} = {value}: must be {wanted}") from None


def mechanism_of(fmu: str | Path) -> Mechanism | None:
    """The mechanism an FMU was built from; None: mechfmu did not build it. One's own is looked for in the current folder, where `build` found it, too."""
    with zipfile.ZipFile(fmu) as archive:
        try:
            model = json.loads(archive.read("resources/model.json"))
            key, options = str(model["mechanism"]), dict(model["options"])
        except (KeyError, TypeError, ValueError):
            return None
    name = Path(fmu).name
    if key not in mechanism_names():
        if not (key.isidentifier() and (Path(key) / "model.py").is_file()):
            raise UserError(f"{name} was built from a mechanism {key} that is not here: run the command in the folder that holds {key}")
        add_folder(key)
    try:
        return make(key, **options)
    except UserError as error:
        raise UserError(f"{name} was built from another version of the mechanism {key}: {error}") from None


def seen_mechanism(fmu: str | Path) -> Mechanism | Absent | None:
    """The same for drawing: an FMU runs whatever became of the mechanism it was built from."""
    try:
        return mechanism_of(fmu)
    except UserError as error:
        return Absent(f"cannot animate: {error}")
    except Exception as error:  # one's own model may be half changed
        return Absent(f"cannot animate: the mechanism that {Path(fmu).name} was built from cannot be loaded: {type(error).__name__}: {error}")


def read_table(file: str | Path, inputs: Collection[str]) -> dict[str, list[float]]:
    """The columns of a table of inputs over time, `time` first."""
    try:
        with Path(file).open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"cannot read the inputs from {file}: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in rows[0]] if rows else []
    if not names or names[0] != "time" or len(rows) < 2:
        raise UserError(f"{file}: it must be a table whose first column is time, with a line of names and at least one of numbers")
    for name in names[1:]:
        if name not in inputs:
            raise UserError(f"{file}: {name} is no input{near(name, inputs)}")
    table = {name: [_cell(file, row, names, k) for row in rows[1:]] for k, name in enumerate(names)}
    if np.any(np.diff(table["time"]) < 0):
        raise UserError(f"{file}: time goes back")
    return table


def _read_inputs(file: str | Path | None, variables: Mapping[str, Any], values: Mapping[str, Any]) -> np.ndarray | None:
    """The table of inputs over time; inputs that are not in it keep their start values."""
    if file is None:
        return None
    inputs = {v.name: v for v in variables.values() if v.causality == "input"}
    table = read_table(file, inputs)
    for name, variable in inputs.items():
        table.setdefault(name, [float(values.get(name, variable.start or 0.0))] * len(table["time"]))
    data = np.zeros(len(table["time"]), dtype=[(name, float) for name in table])
    for name, column in table.items():
        data[name] = column
    return data


def _driven(variables: Mapping[str, Any], inputs: np.ndarray | None, values: Mapping[str, Any], t: np.ndarray) -> dict[str, np.ndarray]:
    """The inputs at the times of the result; between the rows of a table FMPy interpolates, too."""
    names = [v.name for v in variables.values() if v.causality == "input" and v.type == "Real"]
    if inputs is not None:
        return {name: np.interp(t, inputs["time"], inputs[name]) for name in names}
    return {name: np.full(len(t), float(values.get(name, variables[name].start or 0.0))) for name in names}


def _cell(file: str | Path, row: list[str], names: list[str], k: int) -> float:
    try:
        number = float(row[k])
    except (ValueError, IndexError):
        number = math.nan
    if len(row) != len(names) or not math.isfinite(number):
        raise UserError(f"{file}: column {names[k]} has a missing or bad value in the line {','.join(row)}")
    return number


def shown_as(variable: Any, description: ModelDescription) -> Shown:
    """Display unit and conversion from the model description of any FMU."""
    declared = variable.declaredType
    unit = variable.unit or (declared.unit if declared is not None else None)
    display = variable.displayUnit or (declared.displayUnit if declared is not None else None)
    for known in description.unitDefinitions:
        if known.name == unit:
            for d in known.displayUnits:
                if d.name == display:
                    return Shown(display, float(d.factor or 1.0), float(d.offset or 0.0), unit)
    return Shown(unit or "")
