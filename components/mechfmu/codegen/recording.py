"""The casadi engine: a mechanism's NumPy functions recorded once, with symbols in place of numbers.

While the functions run, CasADi's arrays stand in for NumPy's (its "NumPy mode"), and their operations are recorded as
an expression graph. The graph gives fast evaluation, exact sparsity, derivatives and C code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import casadi
import numpy as np

from ..model import Mechanism
from ..model.block_boundaries import recorded_boundaries
from ..model.class_check import check_events, check_requirements
from ..model.errors import Mistake, model_errors
from ..model.mechanism import Identity, mechanism_of_identity
from ..model.variables import Layout, Table

ARGUMENTS = ("t", "x", "d", "u", "p")
SHORT = 6000  # instructions, of a graph that becomes straight-line code


@contextmanager
def numpy_mode() -> Iterator[None]:
    """Switch CasADi to NumPy mode inside. The switch is process-wide and the host may use CasADi, so it is restored."""
    before = casadi.GlobalOptions.getNumpyMode()
    casadi.GlobalOptions.setNumpyMode(1)
    try:
        yield
    finally:
        casadi.GlobalOptions.setNumpyMode(before)


@contextmanager
def conversions_forbidden() -> Iterator[None]:
    """Raise a Mistake where a symbol is converted to a number, by math.sin(s), float(s) or a[i] = s.

    CasADi silently returns NaN there.
    """
    names = ("__float__", "__int__")
    before = {name: getattr(casadi.SX, name) for name in names}

    def guarded(convert: Callable[[casadi.SX], float]) -> Callable[[casadi.SX], float]:
        def converted(symbol: casadi.SX) -> float:
            if not symbol.is_constant():
                raise Mistake(
                    "this converts a value to a number, but the value is not known when equations are recorded. "
                    "Use np.sin instead of math.sin, np.stack or np.concatenate instead of a[i] = ..., and no float()"
                )
            return convert(symbol)

        return converted

    try:
        for name in names:
            setattr(casadi.SX, name, guarded(before[name]))
        yield
    finally:
        for name in names:
            setattr(casadi.SX, name, before[name])


class Recording:
    """The recorded functions of one mechanism. Inputs are always (t, x, d, u, p), outputs one vector per result."""

    def __init__(self, mechanism: Mechanism):
        m, table = mechanism, mechanism.table
        sizes = {"t": 1, "x": table.x.size, "d": table.d.size, "u": table.u.size, "p": table.p.size}
        self.symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
        self.real_d = [s.row.kind == "Real" for s in sorted(table.of("discrete"), key=lambda s: s.index)]
        with numpy_mode(), model_errors(type(mechanism)):
            arguments = {**self.symbols, "p": with_constants(self.symbols["p"], table)}
            t, x, d, u, p = (np.reshape(arguments[a], (sizes[a],)) for a in ARGUMENTS)
            t = t[0]
            running = (t, x, d, u, p)
            state, discrete = Returned(table.x, "x"), Returned(table.d, "d")
            self.initial = self._recorded(m.initial, (p,), state, discrete)
            with recorded_boundaries() as boundaries:
                self.rates = self._recorded(m.rates, running, state)
            self._boundaries = {"rates": boundaries}
            with recorded_boundaries() as boundaries:
                self.outputs = self._recorded(m.outputs, running, Returned(table.y, "y"))
            self._boundaries["outputs"] = boundaries
            check_events(m)
            check_requirements(m)
            self.guards = self._recorded(m.guards, running, Returned(len(m.event_names), "event_names"))
            self.jumps = {event: self._recorded(m.jump, (*running, event), state, discrete) for event in m.event_names}
            self.project = self._recorded(m.project, (x, d, p), state)
            requirements = Returned(len(m.requirement_texts), "requirement_texts")
            self.requirements = self._recorded(m.requirements, (p,), requirements)

    def _recorded(self, function: Callable[..., Any], arguments: Sequence[Any], *wanted: Returned) -> casadi.Function:
        """Record a function of the mechanism; Mistake when it does not return what is wanted, or returns NaN."""
        returned = function(*arguments)
        results = returned if isinstance(returned, tuple) else (returned,)
        if returned is None or len(results) != len(wanted):
            given = "one result instead of two" if len(wanted) == 2 else f"{len(results)} results instead of one"
            given = "nothing" if returned is None else given
            advice = ", ".join(w.advice for w in wanted)
            raise Mistake(f"{function.__name__} returns {given}: return {advice}", function)
        for result, w in zip(results, wanted, strict=True):
            w.check(function, result)
        graph = self._record(function.__name__, *results)
        if has_nan(graph):
            with conversions_forbidden():
                function(*arguments)
            reason = "by a NaN written there or an operation such as 0 / 0"
            raise Mistake(f"{function.__name__}: the recorded equations contain NaN, {reason}", function)
        return graph

    def _record(self, name: str, *results: Any) -> casadi.Function:
        outputs = [casadi.SX(r) if np.size(r) else casadi.SX(0, 1) for r in results]
        return casadi.Function(name, [self.symbols[a] for a in ARGUMENTS], outputs)

    def in_order(self, name: Literal["rates", "outputs"]) -> casadi.Function:
        """The graph of rates or outputs with all block boundaries as outputs before its own.

        A short graph is without: its code is fastest in CasADi's order.
        """
        graph: casadi.Function = getattr(self, name)
        if graph.n_instructions() <= SHORT:
            return graph
        with numpy_mode():
            results = graph.call([self.symbols[a] for a in ARGUMENTS])
            return self._record(name, *map(flat, self._boundaries[name]), *results)


def with_constants(p: casadi.SX, table: Table) -> casadi.SX:
    """The parameters with the numbers of those that are constants, which fold into the equations."""
    mixed = casadi.SX(p)
    for scalar in table.of("constant"):
        mixed[scalar.index] = scalar.start
    return mixed


def flat(values: Any) -> casadi.SX:
    """Nested lists of symbols as one vector; plain numbers are omitted."""
    if isinstance(values, (list, tuple)):
        return casadi.vertcat(*(flat(value) for value in values))
    return casadi.vec(casadi.SX(values)) if isinstance(values, casadi.SX) or np.ndim(values) else casadi.SX(0, 1)


@dataclass(frozen=True)
class Returned:
    """What a function must return: a vector laid out as a part of the table, or of a given length."""

    layout: Layout | int
    name: str

    @property
    def advice(self) -> str:
        if isinstance(self.layout, int):
            return f"an array with one number for each of {self.name} ({self.layout})"
        parts = ", ".join(f"{row.symbol}=..." for row in self.layout.rows)
        return f"self.table.{self.name}.pack({parts})" if parts else "np.zeros(0)"

    def check(self, function: Callable[..., Any], result: Any) -> None:
        count = self.layout if isinstance(self.layout, int) else self.layout.size
        if isinstance(result, (list, tuple)):
            raise Mistake(f"{function.__name__} returns a list, not an array: return {self.advice}", function)
        shape = np.shape(result)
        if np.size(result) != count or (len(shape) > 1 and shape[0] != count):  # symbols may come as a column
            column = len(shape) == 2 and shape[1] == 1
            size = np.size(result) if len(shape) < 2 or column else f"an array of {' x '.join(map(str, shape))}"
            given = f"{size} numbers" if size != 1 else "1 number"
            raise Mistake(f"{function.__name__} returns {given} instead of {count}: return {self.advice}", function)


def has_nan(graph: casadi.Function) -> bool:
    """Whether the graph contains NaN, the result of `a = np.zeros(3); a[0] = symbol` or `math.sin(symbol)`."""
    return any(
        graph.instruction_id(k) == casadi.OP_CONST and math.isnan(graph.instruction_constant(k))
        for k in range(graph.n_instructions())
    )


@lru_cache(maxsize=32)
def _recording(identity: Identity) -> Recording:
    return Recording(mechanism_of_identity(identity))


def recording_of(mechanism: Mechanism) -> Recording:
    """The recorded functions; mechanisms of one identity share them."""
    return _recording(mechanism.identity)


class CasadiEngine:
    """Evaluates the recorded functions through fixed buffers (no allocation by CasADi)."""

    def __init__(self, mechanism: Mechanism):
        graphs = recording_of(mechanism)
        self._initial = _Evaluator(graphs.initial)
        self._rates = _Evaluator(graphs.rates)
        self._outputs = _Evaluator(graphs.outputs)
        self._guards = _Evaluator(graphs.guards)
        self._jumps = {event: _Evaluator(graph) for event, graph in graphs.jumps.items()}
        self._project = _Evaluator(graphs.project)
        self._requirements = _Evaluator(graphs.requirements)

    def initial(self, p: Any) -> tuple[np.ndarray, np.ndarray]:
        x, d = self._initial(p=p)
        return x, d

    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._rates(t=t, x=x, d=d, u=u, p=p)[0]

    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._outputs(t=t, x=x, d=d, u=u, p=p)[0]

    def guards(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray:
        return self._guards(t=t, x=x, d=d, u=u, p=p)[0]

    def jump(self, t: Any, x: Any, d: Any, u: Any, p: Any, event: str) -> tuple[np.ndarray, np.ndarray]:
        x, d = self._jumps[event](t=t, x=x, d=d, u=u, p=p)
        return x, d

    def project(self, x: Any, d: Any, p: Any) -> np.ndarray:
        return self._project(x=x, d=d, p=p)[0]

    def requirements(self, p: Any) -> np.ndarray:
        return self._requirements(p=p)[0]


class _Evaluator:
    """One recorded function on its own buffers."""

    def __init__(self, graph: casadi.Function):
        self._buffer: Any
        self._buffer, self._trigger = graph.buffer()  # the buffer object must outlive the trigger
        self._inputs = {name: np.zeros(graph.size1_in(i)) for i, name in enumerate(ARGUMENTS)}
        self._results = [np.zeros(graph.size1_out(i)) for i in range(graph.n_out())]
        for i, array in enumerate(self._inputs.values()):
            self._buffer.set_arg(i, array.data)
        for i, array in enumerate(self._results):
            self._buffer.set_res(i, array.data)

    def __call__(self, **values: Any) -> list[np.ndarray]:
        for name, value in values.items():
            self._inputs[name][:] = value
        self._trigger()
        return [r.copy() for r in self._results]
