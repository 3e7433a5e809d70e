"""Reading the model description of any FMU: experiment, start values, units."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import fmpy
from fmpy.model_description import ModelDescription

from ..model import UserError
from ..model.units import BASE_UNITS, Unit, in_unit, split_value, unit
from .result import DisplayUnit


def read_description(fmu: str | Path) -> ModelDescription:
    """Read the model description of an FMU, or raise a UserError that names what is wrong with the file."""
    path = Path(fmu)
    if not path.exists():
        raise UserError(f"there is no file {path}")
    if path.is_dir() or not zipfile.is_zipfile(path):
        raise UserError(f"{path} is not an FMU: it is not a zip file")
    with zipfile.ZipFile(path) as archive:
        if "modelDescription.xml" not in archive.namelist():
            raise UserError(f"{path} is not an FMU: modelDescription.xml is missing")
    try:
        return fmpy.read_model_description(str(path), validate=False)
    except Exception as error:
        raise UserError(f"{path} is not a readable FMU: {error}") from None


# --- experiment -------------------------------------------------------------------------------------------------------


def start_time(description: ModelDescription) -> float:
    """Return the time at which every simulation of an FMU starts."""
    experiment = description.defaultExperiment
    return float(experiment.startTime) if experiment and experiment.startTime else 0.0


def run_tolerance(description: ModelDescription, tolerance: float | None, values: Mapping[str, Any]) -> float | None:
    """Return the tolerance passed to the FMU: the given one, the FMU's parameter, or that of the default experiment."""
    if tolerance is None:
        tolerance = values.get("solver.relative_tolerance")
    experiment = description.defaultExperiment
    if tolerance is None and experiment and experiment.tolerance is not None:
        return float(experiment.tolerance)
    return tolerance


def constants_of(description: ModelDescription, values: Mapping[str, Any]) -> dict[str, float]:
    """Return the Real parameters and constants of a run in which these values were set."""
    fixed = [v for v in description.modelVariables if v.causality == "parameter" or v.variability == "constant"]
    parameters = [v for v in fixed if v.type == "Real"]
    return {v.name: float(values.get(v.name, v.start)) for v in parameters if v.start is not None}


# --- start values -----------------------------------------------------------------------------------------------------


def choices(variable: Any) -> dict[str, int]:
    """Return the items of an Enumeration, or of an Integer whose description ends in a list of them, as those of
    mechfmu do: (1 = explicit, 2 = implicit)."""
    if variable.type == "Enumeration" and variable.declaredType:
        return {i.name: int(i.value) for i in variable.declaredType.items or ()}
    if variable.type != "Integer":
        return {}
    listed = re.search(r"\((\d+ = \w+(?:, \d+ = \w+)*)\)$", variable.description or "")
    pairs = (part.split(" = ") for part in listed[1].split(", ")) if listed else ()
    return {name: int(number) for number, name in pairs}


def start_value(variable: Any, value: Any, names: Container[str] = (), units: Sequence[Any] | None = None) -> Any:
    """Convert a value, perhaps text from a command line, to what FMPy expects for this variable.

    names   the FMU's variables
    units   the FMU's unit definitions; with them a text may have a unit: 30deg
    """
    _check_settable(variable, names)
    if variable.type == "String":
        return str(value)
    if variable.type == "Boolean":
        if str(value).lower() not in ("true", "false", "1", "0"):
            raise UserError(f"{variable.name} = {value}: must be true or false")
        return str(value).lower() in ("true", "1")
    items = choices(variable)
    whole = variable.type in ("Integer", "Enumeration")
    try:
        if units is not None and isinstance(value, str) and not whole:
            return in_unit(value, unit_of(variable, units) if split_value(value) else unit("1"))
        return items[value] if value in items else int(value) if whole else float(value)
    except UserError as error:
        raise UserError(f"{variable.name} = {value}: {error}") from None
    except ValueError:
        kind = "a whole number" if variable.type == "Integer" else "a number"
        wanted = f"one of {', '.join(items)}" if items else kind
        raise UserError(f"{variable.name} = {value}: must be {wanted}") from None


def _check_settable(variable: Any, names: Container[str]) -> None:
    of_start = re.sub(r"(\[\d+\])?$", r"_start\1", variable.name, count=1)
    if variable.initial == "approx" and of_start in names:
        raise UserError(f"{variable.name} cannot be set: its start value is the parameter {of_start}")
    settable = variable.causality in ("parameter", "structuralParameter", "input")
    if not settable and variable.initial not in ("exact", "approx"):
        raise UserError(f"{variable.name} cannot be set: it is computed")


# --- units ------------------------------------------------------------------------------------------------------------


def unit_name(variable: Any) -> str:
    return variable.unit or (variable.declaredType.unit if variable.declaredType is not None else None) or ""


def unit_of(variable: Any, definitions: Sequence[Any]) -> Unit:
    """Return the unit of a variable of any FMU, as the FMU defines it.

    Where mechfmu has the same unit under that name, it is used: it includes radians, which many tools do not write.
    """
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


def display_unit_of(variable: Any, description: ModelDescription) -> DisplayUnit:
    """Return display unit and conversion from the model description of any FMU."""
    declared, own = variable.declaredType, unit_name(variable)
    display = variable.displayUnit or (declared.displayUnit if declared is not None else None)
    for known in description.unitDefinitions:
        if known.name == own:
            for d in known.displayUnits:
                if d.name == display:
                    return DisplayUnit(display, float(d.factor or 1.0), float(d.offset or 0.0), own)
    return DisplayUnit(own)
