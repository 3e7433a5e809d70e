"""Converts the model description to plain data for the dynamic rules."""

from __future__ import annotations

import csv
import itertools
import math
import platform
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from .archive import Archive
from .description import Description, ScalarVariable, finite, integer, truth
from .dynamic.model import ModelVariable, Value

REFERENCE_BYTES = 20_000_000  # largest CSV file that is read
REFERENCE_ROWS = 2000
RESOLUTION = 1e-3  # of a step
MOST_STEPS, FEW_STEPS = 1e9, 1000  # of the default experiment
VERSION_2_0_3 = "2021-11-29"  # the day of this text of the standard
BOOLEANS = ("true", "false", "1", "0")


def host_platform() -> str | None:
    """FMI's name of this platform, or None if it has none."""
    system, machine = platform.system(), platform.machine().lower()
    bits = "64" if machine in ("x86_64", "amd64") else "32" if machine in ("i386", "i686", "x86") else None
    if system == "Darwin":
        return "darwin64"
    names = {"Linux": "linux", "Windows": "win"}
    return names[system] + bits if system in names and bits else None


def library(archive: Archive, identifier: str) -> Path | None:
    """The FMU's library for this platform."""
    here = host_platform()
    suffix = {"linux": ".so", "win": ".dll", "darwin": ".dylib"}.get((here or "").rstrip("0123456789"))
    name = f"binaries/{here}/{identifier}{suffix}"
    return archive.path(name) if here and suffix and name in archive.names else None


def model_data(d: Description, archive: Archive) -> dict[str, Any]:
    """The fields of dynamic.model.Model as plain data, and `unusable`. Invalid elements are omitted; the static rules
    report them."""
    surplus = _surplus_aliases(d)
    variables = [v for v in (_variable(d, v) for v in d.variables if v.index not in surplus) if v is not None]
    valid = {v.index for v in variables}

    def unknowns(element: str) -> list[tuple[Any, ...]]:
        listed = [(u.index, u) for u in d.unknowns(element) if u.index is not None and u.index in valid]
        return [(index, u.dependencies, u.line, u.kinds) for index, u in listed]

    interfaces = {}
    for kind, element in d.interfaces.items():
        file = library(archive, element.get("modelIdentifier") or "")
        if file is not None:
            interfaces[kind] = {**dict(element.attrib), "library": str(file)}
    return dict(
        guid=d.attribute("guid") or "",
        interfaces=interfaces,
        variables=[tuple(getattr(v, f.name) for f in fields(v)) for v in variables],
        outputs=unknowns("Outputs"),
        derivatives=unknowns("Derivatives"),
        initial_unknowns=unknowns("InitialUnknowns"),
        states=_states(d),
        indicators=d.event_indicators or 0,
        unusable=_unusable(d),
        categories=[c.get("name") for c in d.all("LogCategories/Category") if c.get("name")],
        **_experiment(d),
        before_2_0_3="" < (d.attribute("generationDateAndTime") or "") < VERSION_2_0_3,
        reference=_reference(archive, variables),
        resources="resources" in archive.folders,
    )


def _states(d: Description) -> list[int]:
    """Indices of the continuous states in the order of their derivatives."""
    derivatives = (d.variable(u.index) for u in d.unknowns("Derivatives"))
    return [v.state_index for v in derivatives if v is not None and v.state_index is not None]


def _surplus_aliases(d: Description) -> set[int]:
    """Indices of variables that can be set although an alias can, which S9 reports: set to different values, they would
    contradict each other."""
    settable = ([v for v in alias if v.settable] for alias in d.alias_sets)
    return {v.index for alias in settable for v in alias[1:]}


def _unusable(d: Description) -> dict[str, str]:
    """Interface types that cannot be run because of what the static rules report, and the reason."""
    if "ModelExchange" in d.interfaces and d.event_indicators is None:
        return {"ModelExchange": "see S2, numberOfEventIndicators"}
    if "ModelExchange" in d.interfaces and len(set(_states(d))) != len(d.unknowns("Derivatives")):
        return {"ModelExchange": "see S2 and S10, Derivatives"}
    return {}


def _experiment(d: Description) -> dict[str, Any]:
    """The default experiment; defaults of the checker where it is missing or invalid."""
    given = d.default_experiment()
    start = given.get("startTime", 0.0)
    stop = given.get("stopTime", start + 1.0)
    start, stop = (start, stop) if math.isfinite(start) and math.isfinite(stop) and stop > start else (0.0, 1.0)
    step = given.get("stepSize", (stop - start) / 100)
    step = step if 0 < step <= stop - start else (stop - start) / 100
    if start + RESOLUTION * step == start or not math.isfinite(stop - start):  # times that a double cannot tell apart
        start, stop, step = 0.0, 1.0, 0.01
    if stop - start > MOST_STEPS * step:  # reported by S11
        stop = start + FEW_STEPS * step
    tolerance = given.get("tolerance")
    tolerance = tolerance if tolerance and 0 < tolerance < 1 else None
    declared = dict(step_declared=step == given.get("stepSize"), stop_declared=stop == given.get("stopTime"))
    return dict(start_time=start, stop_time=stop, step_size=step, tolerance=tolerance, **declared)


def _variable(d: Description, v: ScalarVariable) -> ModelVariable | None:
    if v.reference is None or not 0 <= v.reference < 1 << 32 or not v.type or not v.name:
        return None
    kind = "Integer" if v.type == "Enumeration" else v.type
    start, low, high, nominal = _start(kind, v.start), v.limit("min"), v.limit("max"), v.limit("nominal")
    nominal = abs(nominal) if nominal else None
    if low is not None and high is not None and low > high:
        low = high = None  # reported by S7
    set_once = v.own.get("canHandleMultipleSetPerTimeInstant", "").strip() in ("false", "0")
    reinit = v.attributes.get("reinit", "").strip() in ("true", "1")
    return ModelVariable(
        v.index, v.name, v.reference, kind, v.causality, v.variability, v.initial,
        start, low, high, nominal, _items(d, v), set_once, reinit, v.line,
    )  # fmt: skip


def _items(d: Description, v: ScalarVariable) -> tuple[int, ...]:
    """The values of an enumeration; none if one of them is not a number, which S2 reports."""
    declared = d.types.get(v.attributes.get("declaredType", "")) if v.type == "Enumeration" else None
    values = [integer(item.get("value")) for item in declared.findall("Item")] if declared is not None else []
    valid = tuple(x for x in values if x is not None and abs(x) < 1 << 31)
    return valid if len(valid) == len(values) else ()


def _start(kind: str, text: str | None) -> Value | None:
    if text is None or kind == "String":
        return text
    if kind == "Boolean":
        return truth(text) if text.strip() in BOOLEANS else None
    if kind == "Integer":
        value = integer(text)
        return value if value is not None and abs(value) < 1 << 31 else None
    return finite(text)


def _reference(archive: Archive, variables: Sequence[ModelVariable]) -> dict[str, Any] | None:
    """The reference result: the first CSV file, at the top level or in a folder there, whose name contains "ref" or
    "result" and whose columns are the time and variables of the FMU. Inputs come from the same file, or from
    x_in.csv if that stands next to x_ref.csv."""
    numbers = {v.name for v in variables if v.type != "String"}
    inputs = {v.name for v in variables if v.type != "String" and v.causality == "input"}
    for name in sorted(archive.names):
        stem = Path(name).stem.lower()
        if name.count("/") > 1 or not name.lower().endswith(".csv") or not ("ref" in stem or "result" in stem):
            continue
        table = read_csv(archive.path(name))
        if table is None or len(table["time"]) < 2:
            continue
        signals = {n: c for n, c in table.items() if n in numbers and n not in inputs}
        input_file = read_csv(archive.path(name.replace("_ref", "_in"))) if "_ref" in name else None
        input_table = table if input_file is None else input_file
        driven = {n: c for n, c in input_table.items() if n in inputs}
        if signals:
            recorded = {"time": input_table["time"], **driven} if driven else {}
            return dict(file=name, t=table["time"], signals=signals, inputs=recorded)
    return None


def read_csv(file: Path) -> dict[str, list[float]] | None:
    """Columns by name, "time" among them; None unless all values are finite numbers and the times ascend."""
    if not file.is_file() or file.stat().st_size > REFERENCE_BYTES:
        return None
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for _, row in zip(range(REFERENCE_ROWS + 1), csv.reader(stream), strict=False) if row]
        names = [n.strip().strip('"') for n in rows[0]]
        table = {n: [float(row[i]) for row in rows[1:]] for i, n in enumerate(names)}
    except (OSError, ValueError, IndexError, csv.Error):
        return None
    if not names or names[0].lower() != "time":
        return None
    table["time"] = table.pop(names[0])
    times = table["time"]
    ascending = all(a < b for a, b in itertools.pairwise(times))
    return table if ascending and all(math.isfinite(x) for c in table.values() for x in c) else None
