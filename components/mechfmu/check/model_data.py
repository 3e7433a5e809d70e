"""Converts the model description to plain data for the dynamic rules."""

from __future__ import annotations

import csv
import itertools
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .archive import Archive
from .description import Description, ScalarVariable, integer, truth
from .dynamic.model import ModelVariable, UnknownDependencies, Value

REFERENCE_BYTES = 20_000_000  # largest CSV file that is read
REFERENCE_ROWS = 2000


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
    """The fields of dynamic.model.Model as JSON. Invalid elements are omitted; the static rules report them."""
    variables = [v for v in (_variable(v) for v in d.variables) if v is not None]
    valid = {v.index for v in variables}

    def unknowns(element: str) -> list[dict[str, Any]]:
        listed = [(u.index, u) for u in d.unknowns(element) if u.index is not None and u.index in valid]
        return [asdict(UnknownDependencies(index, u.dependencies, u.line)) for index, u in listed]

    states = [v.state_index for u in d.unknowns("Derivatives") if (v := d.variable(u.index)) is not None]
    interfaces = {}
    for kind, element in d.interfaces.items():
        file = library(archive, element.get("modelIdentifier") or "")
        if file is not None:
            interfaces[kind] = {**dict(element.attrib), "library": str(file)}
    return dict(
        guid=d.attribute("guid") or "",
        interfaces=interfaces,
        variables=[asdict(v) for v in variables],
        outputs=unknowns("Outputs"),
        derivatives=unknowns("Derivatives"),
        initial_unknowns=unknowns("InitialUnknowns"),
        states=[i for i in states if i is not None],
        indicators=integer(d.attribute("numberOfEventIndicators")) or 0,
        categories=[c.get("name") for c in d.all("LogCategories/Category") if c.get("name")],
        **_experiment(d),
        reference=_reference(archive, variables),
    )


def _experiment(d: Description) -> dict[str, Any]:
    """The default experiment; defaults of the checker where it is missing or invalid."""
    given = d.default_experiment()
    start = given.get("startTime", 0.0)
    stop = given.get("stopTime", start + 1.0)
    start, stop = (start, stop) if math.isfinite(start) and math.isfinite(stop) and stop > start else (0.0, 1.0)
    step = given.get("stepSize", (stop - start) / 100)
    step = step if 0 < step <= stop - start else (stop - start) / 100
    tolerance = given.get("tolerance")
    tolerance = tolerance if tolerance and 0 < tolerance < 1 else None
    return dict(start_time=start, stop_time=stop, step_size=step, tolerance=tolerance)


def _variable(v: ScalarVariable) -> ModelVariable | None:
    if v.reference is None or not 0 <= v.reference < 1 << 32 or not v.type or not v.name:
        return None
    kind = "Integer" if v.type == "Enumeration" else v.type
    start, low, high, nominal = _start(kind, v.start), v.limit("min"), v.limit("max"), v.limit("nominal")
    attributes = v.causality, v.variability, v.initial
    return ModelVariable(v.index, v.name, v.reference, kind, *attributes, start, low, high, nominal, v.line)


def _start(kind: str, text: str | None) -> Value | None:
    if text is None or kind == "String":
        return text
    if kind == "Boolean":
        return truth(text)
    if kind == "Integer":
        return integer(text)
    try:
        return float(text)
    except ValueError:
        return None


def _reference(archive: Archive, variables: Sequence[ModelVariable]) -> dict[str, Any] | None:
    """The reference result: the first CSV file, at the top level or in a folder there, whose name contains "ref" or
    "result" and whose columns are the time and Real variables of the FMU. Inputs come from the same file, or from
    x_in.csv if that stands next to x_ref.csv."""
    real = {v.name for v in variables if v.type == "Real"}
    inputs = {v.name for v in variables if v.type == "Real" and v.causality == "input"}
    for name in sorted(archive.names):
        stem = Path(name).stem.lower()
        if name.count("/") > 1 or not name.lower().endswith(".csv") or not ("ref" in stem or "result" in stem):
            continue
        table = read_csv(archive.path(name))
        if table is None or len(table["time"]) < 2:
            continue
        signals = {n: c for n, c in table.items() if n in real and n not in inputs}
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
