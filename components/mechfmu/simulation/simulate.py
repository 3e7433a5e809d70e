"""Simulating: a mechanism in this process, or any FMU through FMPy."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from fmpy.model_description import ModelDescription

from ..mechanisms import add_folder, make
from ..mechanisms import names as mechanism_names
from ..model import Mechanism, UserError, did_you_mean
from ..model.units import BASE_UNITS, Unit, in_unit, split_value, unit
from ..model.variables import Role
from .controlled import run_controlled
from .controller import Controller, SampledController, check_controller, moments
from .flags import first_of_each
from .fmu_messages import WARNING
from .result import DisplayUnit, Result, display_unit
from .scene import MissingMechanism

Input = (
    float | Callable[[float], float] | tuple[Sequence[float], Sequence[float]]
)  # a number, a function of time, or a table of times and values
SEEN: tuple[Role, ...] = ("state", "discrete", "output")  # roles of what a mechanism shows: the outputs of its FMU
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


def communication_points(
    start: float, stop: float, step: float, variable_step: bool, events: Sequence[float] = ()
) -> np.ndarray:
    """Return the times at which FMPy communicates with a Co-Simulation FMU: multiples of the step, and where the FMU can vary its steps the events of its
    inputs and the stop time. Without that the last point is the last multiple of the step."""
    points, number, ahead = [start], 1, [math.inf, *sorted(events, reverse=True)]
    while not (points[-1] > stop or math.isclose(points[-1], stop)):
        following = regular = start + number * step
        while (event := ahead[-1]) <= points[-1] or math.isclose(event, points[-1]):
            ahead.pop()
        if variable_step and following > event and not math.isclose(following, event):
            following = event
        if following > stop and not math.isclose(following, stop):
            if not variable_step:
                break
            following = stop
        points.append(following)
        number += math.isclose(following, regular)
    return np.array(points)


def reaches(t: float, stop: float, step: float) -> bool:
    """Whether a simulation whose last point is t ran to the end."""
    return t >= stop - 1e-6 * step


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
    progress: Progress = lambda t: None, controller: Controller | None = None, period: float | None = None,
) -> Result:  # fmt: skip
    """Simulate without an FMU; see Mechanism.simulate."""
    from .engines import make_instance  # SciPy and CasADi, which running an FMU does not need

    check_controller(controller, period)
    table = mechanism.table
    driven = {
        scalar: over_time(scalar.name, (inputs or {})[scalar.name])
        for scalar, _ in mechanism.settings(dict.fromkeys(inputs or {}, 0.0))
    }
    instance = make_instance(mechanism, start, engine)
    grid = times(0.0, mechanism.stop_time if stop is None else stop, mechanism.step_size if step is None else step)
    outputs, driving = table.of(*SEEN), table.of("input")
    recorded = [*outputs, *driving]
    law = None
    if controller is not None:
        roles = {s.name: "output" if s.role in SEEN else s.role for s in table.scalars}
        law = SampledController(
            controller,
            mechanism.name,
            [s.name for s in outputs],
            roles,
            {s.name: s.row.kind for s in driving},
            [s.name for s in driven],
        )

    def drive(t: float) -> None:
        instance.set(list(driven), [f(t) for f in driven.values()])

    drive(0.0)
    instance.initialize(tolerance=tolerance)
    rows, now = [], 0.0
    for moment in moments(grid, period):
        if moment.t > now:
            instance.step(now, moment.t - now)
            now = moment.t
            if moment.recorded:
                drive(now)  # so that feed-through outputs belong to the inputs of their own time
        if law and moment.called:
            wanted = law(now, instance.get(outputs))
            try:
                instance.set([table.by_name[name] for name in wanted], list(wanted.values()))
            except UserError as error:  # limits
                raise UserError(f"the controller sets at t = {now:g} s: {error}") from None
        if moment.recorded:
            rows.append(instance.get(recorded))
            if now > 0.0:
                progress(now)
    data = {s.name: d for s, d in zip(recorded, np.array(rows).T, strict=True)}
    constants = {s.name: v for s, v in zip(table.of("parameter"), instance.get(table.of("parameter")), strict=True)}
    return Result(
        mechanism.name, grid, {s.name: data[s.name] for s in outputs}, {s.name: display_unit(s.unit) for s in outputs}, constants, mechanism,
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
                raise UserError(
                    f"input {name}: its function gave {value!r} at t = {t:g} s, which is no number"
                ) from None

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
    if (
        at.ndim != 1
        or at.shape != values.shape
        or not len(at)
        or not np.isfinite([at, values]).all()
        or np.any(np.diff(at) < 0)
    ):
        raise UserError(
            f"input {name}: a table is two rows of equally many finite numbers: times, which do not go back, and values"
        )
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
    fmu: str | Path,
    stop: float | None = None,
    step: float | None = None,
    start: Mapping[str, Any] | None = None,
    input_csv: str | Path | None = None,
    tolerance: float | None = None,
    progress: Progress = lambda t: None,
    controller: Controller | None = None,
    period: float | None = None,
) -> Result:
    """Simulate any FMI 2.0 or 3.0 FMU with FMPy. `start` sets parameters and inputs; `input_csv` has a column `time` and input columns.

    `controller` and `period` as in Mechanism.simulate, for FMI 2.0 Co-Simulation.
    """
    description = read_description(fmu)
    check_controller(controller, period)
    if controller is not None and (description.fmiVersion != "2.0" or description.coSimulation is None):
        raise UserError(f"{Path(fmu).name} cannot have a controller: it is not an FMI 2.0 FMU for Co-Simulation")
    experiment, t_start = description.defaultExperiment, start_time(description)
    t_stop = (
        stop
        if stop is not None
        else float(experiment.stopTime)
        if experiment and experiment.stopTime
        else t_start + 1.0
    )
    t_step = (
        step
        if step is not None
        else float(experiment.stepSize)
        if experiment and experiment.stepSize
        else (t_stop - t_start) / 500
    )
    times(t_start, t_stop, t_step)  # refuses nonsense
    variables = {v.name: v for v in description.modelVariables}
    values = {}
    for name, value in (start or {}).items():
        if name not in variables:
            raise UserError(f"{Path(fmu).name} has no variable {name}{did_you_mean(name, variables)}")
        values[name] = start_value(variables[name], value, variables, description.unitDefinitions)
    tolerance = run_tolerance(description, tolerance, values)
    table = read_input_table(input_csv) if input_csv is not None else {}
    inputs = input_signals(table, variables, values, str(input_csv)) if table else None
    complaints: list[str] = []
    cautions: list[str] = []
    reached = [t_start]

    def logger(environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        if status >= WARNING and message:
            (complaints if status > WARNING else cautions).append(
                message.decode(errors="replace").strip().splitlines()[-1]
            )

    def step_finished(t: float, recorder: Any) -> bool:
        progress(t)
        stuck = (t <= reached[-1] and t > t_start) or bool(complaints)  # FMPy tries a discarded step again and again
        reached.append(t)
        return not stuck

    terminal, said = sys.stderr, io.StringIO()  # a Python FMU writes its messages to standard error of this process
    try:
        with contextlib.redirect_stderr(said):
            if controller is not None:
                curves = {
                    name: _curve(variables[name], table["time"], column)
                    for name, column in table.items()
                    if name != "time"
                }
                t = times(t_start, t_stop, t_step)
                signals, driven = run_controlled(
                    fmu,
                    description,
                    t,
                    values,
                    curves,
                    tolerance,
                    controller,
                    period,
                    progress,
                    complaints.append,
                    cautions.append,
                    terminal,
                )
            else:
                data = fmpy.simulate_fmu(
                    str(fmu), start_time=t_start, stop_time=t_stop, output_interval=t_step, relative_tolerance=tolerance, start_values=values,
                    input=inputs, step_finished=step_finished, validate=False, logger=logger, debug_logging=True,
                )  # fmt: skip
                t = np.asarray(data["time"])
                signals = {n: np.asarray(data[n], dtype=float) for n in data.dtype.names if n != "time"}
                driven = _driven(variables, inputs, values, t)
        if not reaches(t[-1], t_stop, t_step):  # a discarded step ends FMPy's simulation without an error
            raise RuntimeError(f"it stopped at t = {t[-1]:g} s")
    except UserError:
        raise
    except Exception as error:
        own = [line.partition("] ")[2] for line in said.getvalue().splitlines() if line.startswith("[")]
        raise UserError(f"{Path(fmu).name} did not run to the end: {(own or complaints or [str(error)])[-1]}") from None
    for text in first_of_each(cautions)[:WARNINGS_SHOWN]:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return Result(
        description.modelName, t, signals, {n: display_unit_of(variables[n], description) for n in signals}, constants_of(description, values), drawable_mechanism(fmu),
        driven,
    )  # fmt: skip


def start_time(description: ModelDescription) -> float:
    """Return the time at which every simulation of an FMU starts."""
    experiment = description.defaultExperiment
    return float(experiment.startTime) if experiment and experiment.startTime else 0.0


def run_tolerance(description: ModelDescription, tolerance: float | None, values: Mapping[str, Any]) -> float | None:
    """Return the tolerance that a run tells the FMU: what the user asks for, be it through a parameter of the FMU, else that of the default experiment."""
    if tolerance is None:
        tolerance = values.get("solver.relative_tolerance")
    experiment = description.defaultExperiment
    return (
        float(experiment.tolerance)
        if tolerance is None and experiment and experiment.tolerance is not None
        else tolerance
    )


def constants_of(description: ModelDescription, values: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a run in which these values were set."""
    usual = {
        v.name: v.start
        for v in description.modelVariables
        if v.causality == "parameter" and v.type == "Real" and v.start is not None
    }
    return {name: float(values.get(name, start)) for name, start in usual.items()}


def choices(variable: Any) -> dict[str, int]:
    """The values of an Enumeration, or of an Integer whose description ends in a list of them, as ours do: (1 = explicit, 2 = implicit)."""
    if variable.type == "Enumeration" and variable.declaredType:
        return {i.name: int(i.value) for i in variable.declaredType.items or ()}
    listed = (
        re.search(r"\((\d+ = \w+(?:, \d+ = \w+)*)\)$", variable.description or "")
        if variable.type == "Integer"
        else None
    )
    return (
        {name: int(number) for number, name in (part.split(" = ") for part in listed[1].split(", "))} if listed else {}
    )


def start_value(variable: Any, value: Any, names: Container[str] = (), units: Sequence[Any] | None = None) -> Any:
    """A value, perhaps text from a command line, as FMPy wants it for this variable.

    names   the FMU's variables
    units   the FMU's unit definitions; with them a text may have a unit: 30deg
    """
    of_start = re.sub(r"(\[\d+\])?$", r"_start\1", variable.name, count=1)
    if variable.initial == "approx" and of_start in names:
        raise UserError(f"{variable.name} cannot be set: its start value is the parameter {of_start}")
    if variable.causality not in ("parameter", "structuralParameter", "input") and variable.initial not in (
        "exact",
        "approx",
    ):
        raise UserError(f"{variable.name} cannot be set: it is computed")
    items = choices(variable)
    if variable.type == "String":
        return str(value)
    if variable.type == "Boolean":
        if str(value).lower() not in ("true", "false", "1", "0"):
            raise UserError(f"{variable.name} = {value}: must be true or false")
        return str(value).lower() in ("true", "1")
    try:
        if units is not None and isinstance(value, str) and variable.type not in ("Integer", "Enumeration"):
            return in_unit(value, unit_of(variable, units) if split_value(value) else unit("1"))
        return (
            items[value]
            if value in items
            else int(value)
            if variable.type in ("Integer", "Enumeration")
            else float(value)
        )
    except UserError as error:
        raise UserError(f"{variable.name} = {value}: {error}") from None
    except ValueError:
        wanted = (
            f"one of {', '.join(items)}" if items else "a whole number" if variable.type == "Integer" else "a number"
        )
        raise UserError(f"{variable.name} = {value}: must be {wanted}") from None


def unit_name(variable: Any) -> str:
    return variable.unit or (variable.declaredType.unit if variable.declaredType is not None else None) or ""


def unit_of(variable: Any, definitions: Sequence[Any]) -> Unit:
    """The unit of a variable of any FMU, as the FMU defines it. Ours of the same name says the same and knows of radians, which many tools do not write."""
    name = unit_name(variable) or "1"
    try:
        own = unit(name)
    except UserError:
        own = None
    base = next((d.baseUnit for d in definitions if d.name == name), None)
    factor = float(base.factor or 1.0) if base is not None else None
    if own is not None and factor in (None, own.factor):
        return own
    if base is None or float(base.offset or 0.0):
        raise UserError(f"its unit {name} cannot be converted: give a plain number in {name}")
    return Unit(name, {b: e for b in BASE_UNITS if (e := int(getattr(base, b) or 0))}, factor or 1.0)


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
            raise UserError(
                f"{name} was built from a mechanism {key} that is not here: run the command in the folder that holds {key}"
            )
        add_folder(key)
    try:
        return make(key, **options)
    except UserError as error:
        raise UserError(f"{name} was built from another version of the mechanism {key}: {error}") from None


def drawable_mechanism(fmu: str | Path) -> Mechanism | MissingMechanism | None:
    """The same for drawing: an FMU runs whatever became of the mechanism it was built from."""
    try:
        return mechanism_of(fmu)
    except UserError as error:
        return MissingMechanism(f"cannot animate: {error}")
    except Exception as error:  # one's own model may be half changed
        return MissingMechanism(
            f"cannot animate: the mechanism that {Path(fmu).name} was built from cannot be loaded: {type(error).__name__}: {error}"
        )


InputTable = Mapping[str, Sequence[float]]  # columns by name, time first


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
            f"{file}: it must be a table whose first column is time, with a line of names and at least one of numbers"
        )
    table = {name: [_cell(file, row, names, k) for row in rows[1:]] for k, name in enumerate(names)}
    if np.any(np.diff(table["time"]) < 0):
        raise UserError(f"{file}: time goes back")
    return table


def input_signals(table: InputTable, variables: Mapping[str, Any], values: Mapping[str, Any], label: str) -> np.ndarray:
    """Return a table of inputs as FMPy wants it; inputs that are not in it keep their start values."""
    inputs = {v.name: v for v in variables.values() if v.causality == "input" and v.type != "String"}
    for name in table:
        if name not in inputs and name != "time":
            raise UserError(f"{label}: {name} is not an input{did_you_mean(name, inputs)}")
    data = np.zeros(
        len(table["time"]),
        dtype=[
            (name, float)
            for name in ("time", *(n for n in table if n != "time"), *(n for n in inputs if n not in table))
        ],
    )
    for name in data.dtype.names or ():
        data[name] = (
            table[name]
            if name in table
            else float(start_value(inputs[name], values.get(name, inputs[name].start or 0)))
        )
    return data


def _curve(variable: Any, at: Sequence[float], column: Sequence[float]) -> Callable[[float], float]:
    """A column of the table as a function of time: interpolated where the input is continuous, held otherwise, as FMPy does."""
    if variable.type == "Real" and variable.variability != "discrete":
        return lambda t: float(np.interp(t, at, column))
    return lambda t: column[max(int(np.searchsorted(at, t, side="right")) - 1, 0)]


def _driven(
    variables: Mapping[str, Any], inputs: np.ndarray | None, values: Mapping[str, Any], t: np.ndarray
) -> dict[str, np.ndarray]:
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


def display_unit_of(variable: Any, description: ModelDescription) -> DisplayUnit:
    """Display unit and conversion from the model description of any FMU."""
    declared, own = variable.declaredType, unit_name(variable)
    display = variable.displayUnit or (declared.displayUnit if declared is not None else None)
    for known in description.unitDefinitions:
        if known.name == own:
            for d in known.displayUnits:
                if d.name == display:
                    return DisplayUnit(display, float(d.factor or 1.0), float(d.offset or 0.0), own)
    return DisplayUnit(own)
