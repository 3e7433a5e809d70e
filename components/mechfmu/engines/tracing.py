"""The casadi engine: a mechanism's NumPy functions recorded once, with symbols in place of numbers.

CasADi's arrays stand in for NumPy's while the functions run (its "NumPy mode"); what they did is kept as an expression graph.
The graph gives fast evaluation, exact sparsity and, for later use, derivatives and C code.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import casadi
import numpy as np

from ..core.milestones import milestones
from ..mechanisms import Mechanism, UserError

ARGUMENTS = ("t", "x", "d", "u", "p")


class TracingError(UserError):
    """The functions cannot be recorded faithfully."""


@contextmanager
def numpy_mode() -> Iterator[None]:
    """CasADi follows NumPy inside; the process-wide switch is put back after, because the host may use CasADi itself."""
    before = casadi.GlobalOptions.getNumpyMode()
    casadi.GlobalOptions.setNumpyMode(1)
    try:
        yield
    finally:
        casadi.GlobalOptions.setNumpyMode(before)


@contextmanager
def decisions_refused() -> Iterator[None]:
    """A TracingError where the equations inside decide something by a symbol: it names the line of the mechanism."""
    try:
        yield
    except RuntimeError as error:
        if "truth value" not in str(error):
            raise
        frame = [f for f in traceback.extract_tb(error.__traceback__) if not {"casadi", "numpy"} & set(Path(f.filename).parts)][-1]
        raise TracingError(
            f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}: `{frame.line}` decides by a value, which is not known when equations are recorded. "
            f"Instead of if, and, or, min and max on values use np.where, np.logical_and, np.logical_or, np.minimum and np.maximum."
        ) from None


class Traced:
    """The recorded functions of one mechanism. Inputs are always (t, x, d, u, p), outputs one vector per result."""

    def __init__(self, mechanism: Mechanism):
        m, table = mechanism, mechanism.table
        sizes = {"t": 1, "x": table.x.size, "d": table.d.size, "u": table.u.size, "p": table.p.size}
        self.symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
        self.real_d = [s.row.kind == "Real" for s in sorted(table.of("discrete"), key=lambda s: s.index)]
        with numpy_mode(), decisions_refused():
            t, x, d, u, p = (np.reshape(self.symbols[a], (sizes[a],)) for a in ARGUMENTS)
            t = t[0]
            self.initial = self._record("initial", *m.initial(p))
            with milestones() as on_the_way:
                self.rates = self._record("rates", m.rates(t, x, d, u, p))
            self._milestones = {"rates": on_the_way}
            with milestones() as on_the_way:
                self.outputs = self._record("outputs", m.outputs(t, x, d, u, p))
            self._milestones["outputs"] = on_the_way
            self.guards = self._record("guards", m.guards(t, x, d, u, p))
            self.jumps = [self._record(f"jump_{k}", *m.jump(t, x, d, u, p, k)) for k in range(m.guard_count)]
            self.project = self._record("project", m.project(x, d, p))
            self.requirements = self._record("requirements", m.requirements(p))

    def _record(self, name: str, *results: Any) -> casadi.Function:
        outputs = [casadi.SX(r) if np.size(r) else casadi.SX(0, 1) for r in results]
        graph = casadi.Function(name, [self.symbols[a] for a in ARGUMENTS], outputs)
        refuse_nan(graph)
        return graph

    def in_order(self, name: Literal["rates", "outputs"]) -> casadi.Function:
        """The graph of rates or outputs with all milestones as outputs before its own."""
        graph: casadi.Function = getattr(self, name)
        with numpy_mode():
            return self._record(name, *map(flat, self._milestones[name]), *graph.call([self.symbols[a] for a in ARGUMENTS]))


def flat(values: Any) -> casadi.SX:
    """Nested lists of symbols as one vector; what is a plain number is left out."""
    if isinstance(values, (list, tuple)):
        return casadi.vertcat(*(flat(value) for value in values))
    return casadi.vec(casadi.SX(values)) if isinstance(values, casadi.SX) or np.ndim(values) else casadi.SX(0, 1)


def refuse_nan(graph: casadi.Function) -> None:
    """TracingError when the graph contains the constant NaN.

    That is what `a = np.zeros(3); a[0] = symbol` and `math.sin(symbol)` silently leave behind.
    """
    for k in range(graph.n_instructions()):
        if graph.instruction_id(k) == casadi.OP_CONST and math.isnan(graph.instruction_constant(k)):
            raise TracingError(
                f"{graph.name()}: the recorded equations contain NaN. Look for an assignment into a NumPy array (a[i] = ...), for a "
                f"math.* function (use np.*), or for a NaN written in the equations."
            )


@lru_cache(maxsize=8)
def _traced(mechanism_type: type[Mechanism], options: tuple[tuple[str, Any], ...]) -> Traced:
    return Traced(mechanism_type(**dict(options)))


def traced(mechanism: Mechanism) -> Traced:
    """The recorded functions; mechanisms of one kind with equal options share them."""
    return _traced(type(mechanism), tuple(mechanism.options.items()))


class CasadiEngine:
    """Evaluates the recorded functions through fixed buffers (no allocation by CasADi)."""

    def __init__(self, mechanism: Mechanism):
        graphs = traced(mechanism)
        self._initial = _Evaluator(graphs.initial)
        self._rates = _Evaluator(graphs.rates)
        self._outputs = _Evaluator(graphs.outputs)
        self._guards = _Evaluator(graphs.guards)
        self._jumps = [_Evaluator(j) for j in graphs.jumps]
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

    def jump(self, t: Any, x: Any, d: Any, u: Any, p: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        x, d = self._jumps[k](t=t, x=x, d=d, u=u, p=p)
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
