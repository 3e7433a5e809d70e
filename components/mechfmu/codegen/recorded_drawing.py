"""The drawing of a mechanism as a graph: from the values of its variables to all numbers of the drawing that change.

A live page computes each picture with the C code of this graph, so the drawing is written once, like the equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from ..model import Mechanism
from ..model.drawing import Drawing, drawn_numbers
from ..model.errors import Mistake, model_errors
from ..model.mechanism import look_up
from .c_text import Code, c_function
from .recording import has_nan, numpy_mode

DRAW = "mechfmu_draw"  # the C function: values of the variables -> the numbers of the drawing


@dataclass(frozen=True)
class RecordedDrawing:
    """The variables that the drawing depends on, the drawing at the start, and the graph."""

    names: tuple[str, ...]
    start: Drawing
    graph: casadi.Function  # values -> numbers

    def c_code(self) -> Code:
        return c_function(self.graph, DRAW)


def recorded_drawing(mechanism: Mechanism, start: Mapping[str, float]) -> RecordedDrawing:
    """Record the drawing. start: the value of every variable at the start; the constant parts are taken from there."""
    value = _Recorder(start)
    with numpy_mode(), model_errors(type(mechanism)):
        try:
            numbers = [_flat(part) for part in drawn_numbers(mechanism.drawing(value))]
        except (TypeError, RuntimeError) as error:
            advice = "use np.stack instead of np.array, np.where instead of if, as in the equations"
            raise Mistake(f"the drawing cannot be recorded for a live page ({error}): {advice}") from error
        symbols = [casadi.SX.sym("v"), *value.symbols.values()][1:]
        frame = casadi.vertcat(*numbers)
        graph = casadi.Function("draw", [casadi.vertcat(*symbols)], [casadi.cse(frame)], ["values"], ["frame"])
    if has_nan(graph):
        raise Mistake("the recorded drawing contains NaN: it must not use math. functions or assign elements of arrays")
    return RecordedDrawing(tuple(value.symbols), drawing_at(mechanism, start), graph)


class _Recorder:
    """Stands for `value` while a drawing is recorded: a symbol for each variable that is asked for."""

    def __init__(self, start: Mapping[str, float]):
        self.start = start
        self.symbols: dict[str, casadi.SX] = {}

    def __call__(self, name: str) -> casadi.SX:
        self.constant(name)
        symbol = self.symbols.setdefault(name, casadi.SX.sym(name))
        return np.reshape(symbol, (1,))[0]

    def constant(self, name: str) -> float:
        """The value at the start, for model/drawing.py: constant."""
        return float(look_up(self.start, name))


def drawing_at(mechanism: Mechanism, values: Mapping[str, float]) -> Drawing:
    """Return the drawing for the values of all variables."""
    with model_errors(type(mechanism)):
        return mechanism.drawing(lambda name: look_up(values, name))


def _flat(part: Any) -> casadi.SX:
    """A part of a drawing as a column, by rows."""
    return casadi.vec(casadi.SX(part).T)
