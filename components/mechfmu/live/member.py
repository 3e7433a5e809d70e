"""What a live page knows of a mechanism: its library, its variables and sliders, how it is drawn and pulled."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codegen.recorded_drawing import DRAW, drawing_at
from ..codegen.recorded_velocities import VELOCITIES
from ..model import Mechanism, UserError
from ..model.drawing import Drawing
from ..model.variables import Scalar
from ..simulation.result import display_unit
from ..view.scene_data import frame_of, limits_with_room
from .library import GUID, LiveLibrary, live_library
from .ranges import Scale, slider_range

SHOWN_ROLES = ("parameter", "input", "state", "discrete", "output")


@dataclass(frozen=True)
class LiveMember:
    """A mechanism in a live page. name: in its system, empty for a mechanism alone; starts: changed start values."""

    name: str
    mechanism: Mechanism
    starts: Mapping[str, float]
    library: LiveLibrary

    @property
    def drawing(self) -> Drawing:
        return self.library.drawing.start if self.library.drawing else Drawing()

    def data(self, seen: bool) -> dict[str, Any]:
        """Return the member as JSON; seen: whether it is in the scene."""
        table = self.mechanism.table
        values = self.mechanism.start_values(self.starts)
        units = {s.name: s.unit for s in table.of("parameter")}
        size = limits_with_room([self.drawing])[2] if self.drawing else 1.0
        scale = Scale.of({n: values[n] for n in units}, units, size)
        variables = [
            _variable(reference, s, values[s.name], scale)
            for reference, s in enumerate(table.scalars)
            if s.role in SHOWN_ROLES
        ]
        return {
            "name": self.name,
            "title": self.mechanism.title,
            "identifier": self.mechanism.name,
            "guid": GUID,
            "library": base64.b64encode(gzip.compress(self.library.wasm, mtime=0)).decode(),
            "variables": variables,
            "drawing": self._drawing() if seen else None,
            "velocities": self._velocities() if seen else None,
            "movable": movable_points(self.mechanism),
        }

    def _drawing(self) -> dict[str, Any] | None:
        recorded = self.library.drawing
        if recorded is None:
            return None
        count = len(frame_of(recorded.start))
        return {"reads": list(recorded.names), "numbers": count, "work": self.library.work[DRAW]}

    def _velocities(self) -> dict[str, Any] | None:
        recorded = self.library.velocities
        if recorded is None:
            return None
        table = self.mechanism.table
        names = {role: _ordered(table.of(role)) for role in ("state", "discrete", "parameter", "input")}
        references = {s.name: reference for reference, s in enumerate(table.scalars)}
        rates = [references[f"der({names['state'][i]})"] for i in recorded.free]
        return {
            "reads": [*names["state"], *names["discrete"], *names["parameter"]],
            "inputs": [names["input"][i] for i in recorded.inputs],
            "limits": [self.mechanism.input_limits.get(names["input"][i]) for i in recorded.inputs],
            "free": list(recorded.free),
            "rates": rates,
            "geometry": recorded.geometry,
            "work": self.library.work[VELOCITIES],
        }


def member_of(name: str, mechanism: Mechanism, starts: Mapping[str, float | str]) -> LiveMember:
    """Record and compile a mechanism for a live page; UserError where it cannot be drawn there."""
    numbers = {scalar.name: number for scalar, number in mechanism.settings(starts)}
    return LiveMember(name, mechanism, numbers, live_library(mechanism, numbers))


def is_drawn(mechanism: Mechanism, starts: Mapping[str, float | str]) -> bool:
    """Return whether the mechanism has a drawing at the start, without compiling it."""
    numbers = {scalar.name: number for scalar, number in mechanism.settings(starts)}
    return bool(drawing_at(mechanism, mechanism.start_values(numbers)))


def movable_points(mechanism: Mechanism) -> list[dict[str, str]]:
    """The points that follow from parameters alone, for the user to move: those of a scenario.

    A mechanism without states whose outputs A.x, A.y begin at its parameters A.x_start, A.y_start.
    """
    table = mechanism.table
    if table.x.size or table.u.size:
        return []
    points = [s.name.removesuffix(".x") for s in table.of("output") if s.name.endswith(".x")]
    return [
        {"x": f"{p}.x", "y": f"{p}.y", "set_x": f"{p}.x_start", "set_y": f"{p}.y_start"}
        for p in points
        if {f"{p}.y", f"{p}.x_start", f"{p}.y_start"} <= table.by_name.keys()
    ]


def _ordered(scalars: list[Scalar]) -> list[str]:
    return [s.name for s in sorted(scalars, key=lambda s: s.index)]


def _variable(reference: int, scalar: Scalar, start: float, scale: Scale) -> list[Any]:
    """A variable as a short list; live/web/variables.js names its parts."""
    row, shown = scalar.row, display_unit(scalar.unit)
    settable = scalar.role in ("parameter", "input")
    low, high = slider_range(scalar, start, scale) if settable else (0.0, 0.0)
    if not np.isfinite(start):
        raise UserError(f"{scalar.name} is not a finite number at the start")
    limits = [row.above, row.min, row.max] if settable else []
    text = scalar.description if settable else ""
    ends = [low, high] if settable else []
    return [scalar.name, reference, scalar.role, row.kind, shown.unit, shown.factor, start, scalar.index, text,
            ends, limits, list(row.items)]  # fmt: skip
