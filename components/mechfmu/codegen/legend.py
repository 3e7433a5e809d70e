"""Names of variables for the comments of the generated C: a legend on top, and names where elements are used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model import Mechanism
from ..model.variables import Role, Scalar

MAX_LISTED = 12  # elements of an array that have a line each in the legend; a longer array has one line

VECTORS: dict[str, tuple[Role, str]] = {
    "x": ("state", "continuous states"),
    "d": ("discrete", "discrete states"),
    "u": ("input", "inputs"),
    "p": ("parameter", "parameters"),
    "y": ("output", "outputs"),
}


class VariableNames:
    """The names of the elements of the arguments of the generated functions."""

    def __init__(self, mechanism: Mechanism):
        names = {vector: [_safe(s.name) for s in _scalars(mechanism, role)] for vector, (role, _) in VECTORS.items()}
        derivatives = [_safe(s.name) for s in _scalars(mechanism, "derivative")]
        events, requirements = (list(map(_safe, t)) for t in (mechanism.event_names, mechanism.requirement_texts))
        self._arguments = {vector: names[vector] for vector in "xdup"}
        self._results = {
            "rates": {"out": derivatives},
            "outputs": {"out": names["y"]},
            "guards": {"out": events},
            "project": {"out": names["x"]},
            "requirements": {"out": requirements},
            "tangent": {"dx_dot": derivatives, "y_dot": names["y"]},
            "initial_tangent": {"x_dot": names["x"], "d_dot": names["d"]},
        }
        self._new_state = {"x_new": names["x"], "d_new": names["d"]}

    def of(self, function: str) -> dict[str, list[str]]:
        """By argument of a function: the names of its elements."""
        return {**self._arguments, **self._results.get(function, self._new_state)}  # new state: initial and jumps


def heading(mechanism: Mechanism, function: str) -> str:
    """A comment before a generated function."""
    texts = {
        "initial": "states at the start",
        "rates": "time derivatives of the states",
        "outputs": "outputs",
        "guards": "guards of the events",
        "project": "states on their constraints",
        "requirements": "requirements on the parameters, which must be greater than 0",
        "tangent": "derivatives of rates and outputs along a direction",
        "initial_tangent": "derivatives of the states at the start along a direction of the parameters",
    }
    if function.startswith("jump_"):
        event = mechanism.event_names[int(function.removeprefix("jump_"))]
        return f"/* states after the event {_safe(event)} */\n"
    return f"/* {texts[function]} */\n"


def legend(mechanism: Mechanism) -> str:
    """A comment that lists the variables of the mechanism by vector and index."""
    lines = [
        f" * {_safe(mechanism.title)}",
        " *",
        " * Arguments of the functions below, besides the time t and the work array w:",
    ]
    for vector, (role, title) in VECTORS.items():
        lines += _section(title, list(_entries(vector, _scalars(mechanism, role))))
    notes = mechanism.event_notes
    texts = {name: _safe(notes[name].text) if name in notes else "" for name in mechanism.event_names}
    events = [(f"g[{k}]", _safe(name), "", text) for k, (name, text) in enumerate(texts.items())]
    lines += _section("guards, one per event, which occurs when its guard falls to zero", events)
    lines += [
        " *",
        " * The result of a function is in out, or in x_new and d_new (states after initialization or an event).",
        " * *_dot is the derivative of a vector along a direction. Comments name the variables that a function uses,",
        " * each at its first use.",
    ]
    return "\n".join(["/*", *lines, " */", ""])


def summary(names: Sequence[str]) -> str:
    """Names of successive elements in short form: joint[1..10].length, or the first and the last."""
    first, last = names[0], names[-1]
    if len(set(names)) == 1:
        return first
    parts = [re.split(r"(\d+)", name) for name in (first, last)]
    if len(parts[0]) == len(parts[1]):
        differing = [k for k, (a, b) in enumerate(zip(*parts, strict=True)) if a != b]
        if len(differing) == 1 and differing[0] % 2:
            k = differing[0]
            low, high = int(parts[0][k]), int(parts[1][k])
            step = 1 if high > low else -1
            before, after = "".join(parts[0][:k]), "".join(parts[0][k + 1 :])
            if list(names) == [f"{before}{number}{after}" for number in range(low, high + step, step)]:
                return f"{before}{low}..{high}{after}"
    return f"{first} ... {last}"


def _scalars(mechanism: Mechanism, role: Role) -> list[Scalar]:
    return sorted((s for s in mechanism.table.scalars if s.row.role == role), key=lambda s: s.index)


def _entries(vector: str, scalars: Sequence[Scalar]) -> Iterator[tuple[str, str, str, str]]:
    """Element, name, unit and description of every line."""
    k = 0
    while k < len(scalars):
        scalar, row = scalars[k], scalars[k].row
        if isinstance(row.name, str) and row.count > MAX_LISTED:
            end = k + row.count - 1
            name = summary([s.name for s in scalars[k : end + 1]])
            description = row.description.format(k="k", j="k-1")
            yield f"{vector}[{k}..{end}]", _safe(name), scalar.unit, _safe(description)
            k = end + 1
        else:
            yield f"{vector}[{k}]", _safe(scalar.name), scalar.unit, _safe(scalar.description)
            k += 1


def _section(title: str, entries: Sequence[tuple[str, str, str, str]]) -> list[str]:
    if not entries:
        return []
    widths = [max(len(entry[column]) for entry in entries) for column in range(3)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(e, (*widths, 0), strict=True)) for e in entries]
    return [" *", f" * {title}", *(f" *   {line.rstrip()}" for line in lines)]


def _safe(text: str) -> str:
    """Text that cannot end a C comment or begin another one."""
    return " ".join(text.replace("*/", "* /").replace("/*", "/ *").split())
