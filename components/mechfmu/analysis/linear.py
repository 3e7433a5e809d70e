"""Linearisation and equilibrium, from exact derivatives of the recorded equations.

dx/dt = A dx + B du,   dy = C dx + D du        around a point; x, u, y in the order of `states`, `inputs`, `outputs`
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi
import numpy as np
from scipy.linalg import eig
from scipy.optimize import least_squares

from ..atomic_file import atomic_write
from ..codegen.recording import ARGUMENTS, recording_of
from ..model import Mechanism, UserError, did_you_mean
from ..model.units import per_second
from ..simulation.engines import engine

MOVES = 1e-6  # the rate of a state above which a point is not an equilibrium
MOST_STATES, TAKES_PART = (
    4,
    0.3,
)  # states that a mode names: how many at most, and their participation beside that of the first
BESIDE = 1e-3  # of a left eigenvector that lies outside the constraints
DEFECTIVE = 1e-9  # participation below which left and right eigenvector are orthogonal: two modes in one

if TYPE_CHECKING:
    from .lqr import StateFeedback, Weights

ROUNDS = 200
DISTANCES = (
    0.0,
    0.1,
    0.1,
    0.3,
    0.3,
    1.0,
    1.0,
    1.0,
)  # from the start to where the search begins: it can get stuck where rates are small but not zero
AT_REST = 1e-9  # the largest rate of an equilibrium, relative to the largest one at the start


@dataclass(frozen=True)
class OperatingPoint:
    """Where a mechanism is: all arguments of its functions."""

    t: float
    x: np.ndarray
    d: np.ndarray
    u: np.ndarray
    p: np.ndarray


class Mode(NamedTuple):
    """One mode of a linear system, or a pair of conjugate ones."""

    eigenvalue: complex  # 1/s
    frequency: float  # Hz
    damping: float  # ratio
    states: tuple[str, ...]  # those that take part most
    constraint: bool  # it only brings states back onto their constraints: not a motion of the mechanism


@dataclass(frozen=True)
class Linear:
    """A linear system with the names of its variables, and their values x0, u0, y0 at the point `point`."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    x0: np.ndarray
    u0: np.ndarray
    y0: np.ndarray
    dx0: np.ndarray  # rates at the point: zero in an equilibrium
    point: OperatingPoint = field(repr=False)
    projection: np.ndarray | None = field(
        default=None, repr=False
    )  # derivative of the projection onto the constraints by the states

    def select(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> Linear:
        """The same system with these inputs and outputs alone, in this order; None: with all."""
        u, y = (_places(chosen, known) for chosen, known in ((inputs, self.inputs), (outputs, self.outputs)))
        kept_inputs, kept_outputs = tuple(self.inputs[i] for i in u), tuple(self.outputs[i] for i in y)
        return replace(
            self,
            B=self.B[:, u],
            C=self.C[y],
            D=self.D[np.ix_(y, u)],
            u0=self.u0[u],
            y0=self.y0[y],
            inputs=kept_inputs,
            outputs=kept_outputs,
        )

    def modes(self) -> list[Mode]:
        """The modes, slowest first; pairs appear once."""
        values, left, right = eig(self.A, left=True, right=True) if self.A.size else (np.zeros(0),) * 3
        kept = sorted(
            (i for i, v in enumerate(values) if v.imag >= 0),
            key=lambda i: (abs(values[i]), values[i].imag, values[i].real),
        )
        return [self._mode(complex(values[i]), left[:, i], right[:, i]) for i in kept]

    def _mode(self, value: complex, left: np.ndarray, right: np.ndarray) -> Mode:
        share = np.abs(left * right)  # the participation factors: whatever the units of the states are
        share = share if share.max() > DEFECTIVE else np.abs(right) ** 2
        most = [i for i in np.argsort(-share, kind="stable")[:MOST_STATES] if share[i] >= TAKES_PART * share.max()]
        constraint = self.projection is not None and bool(
            np.linalg.norm(left.conj() @ self.projection) < BESIDE * np.linalg.norm(left)
        )
        damping = -value.real / abs(value) if value else 0.0
        return Mode(value, abs(value) / (2 * np.pi), damping, tuple(self.states[i] for i in most), constraint)

    def lqr(self, Q: Weights, R: Weights, period: float | None = None) -> StateFeedback:
        """The linear-quadratic regulator, as a controller: `mechanism.simulate(controller=linear.lqr(Q, R, 0.01), period=0.01)`.

        Q        weights of the states: a dict by name, where those left out have the weight 0, or a symmetric matrix without negative eigenvalues
        R        weights of the inputs: a dict by name of those that the regulator uses, or a symmetric matrix with positive eigenvalues for all inputs
        period   in s, at which the law is to be sampled and held in between; None: it acts at all times
        """
        from .lqr import lqr

        return lqr(self, Q, R, period)

    def save(self, file: str | Path) -> Path:
        """As .npz (NumPy), .mat (MATLAB, Octave) or .json."""
        path = Path(file)
        matrices = {name: getattr(self, name) for name in ("A", "B", "C", "D", "x0", "u0", "y0")}
        names = {name: list(getattr(self, name)) for name in ("states", "inputs", "outputs")}
        if path.suffix not in (".npz", ".mat", ".json"):
            raise UserError(f"cannot write {path}: the file must end in .npz, .mat or .json")
        with atomic_write(path) as target:
            if path.suffix == ".npz":
                arrays: dict[str, Any] = {**matrices, **{k: np.array(v) for k, v in names.items()}}
                np.savez(target, **arrays)
            elif path.suffix == ".mat":
                from scipy.io import savemat

                savemat(target, {**matrices, **{k: np.array(v, dtype=object) for k, v in names.items()}})
            else:
                target.write_text(json.dumps({**{k: v.tolist() for k, v in matrices.items()}, **names}, indent=1))
        return path


def start_point(mechanism: Mechanism, start: Mapping[str, Any] | None = None) -> OperatingPoint:
    """Where a simulation with these start values begins."""
    t, x, d, u, p = mechanism.start(start)
    return OperatingPoint(
        float(t), np.array(x, dtype=float), np.array(d, dtype=float), np.array(u, dtype=float), np.array(p, dtype=float)
    )


def linearize(
    mechanism: Mechanism,
    start: Mapping[str, Any] | None = None,
    point: OperatingPoint | None = None,
    energies: bool = False,
) -> Linear:
    """The mechanism linearised where it starts, or at another point (of `trim`, for instance).

    energies   keep the states energy.*, which only count what goes in and out: nothing depends on them, so no controller can be designed with them
    """
    at = point or start_point(mechanism, start)
    A, B, C, D, projection = _jacobians(mechanism, at)
    _warn_of_motion(mechanism, at)
    functions = engine("casadi", mechanism)
    y0, dx0 = (f(at.t, at.x, at.d, at.u, at.p) for f in (functions.outputs, functions.rates))
    names = {role: tuple(s.name for s in mechanism.table.of(role)) for role in ("state", "input", "output")}
    kept = [i for i, name in enumerate(names["state"]) if energies or not name.startswith("energy.")]
    states = tuple(names["state"][i] for i in kept)
    both = np.ix_(kept, kept)
    return Linear(
        A[both],
        B[kept],
        C[:, kept],
        D,
        states,
        names["input"],
        names["output"],
        at.x[kept],
        at.u,
        y0,
        np.asarray(dx0)[kept],
        at,
        projection[both],
    )


def _warn_of_motion(mechanism: Mechanism, at: OperatingPoint) -> None:
    """A warning where states change on which rates depend: the linear model then holds for a moment only."""
    rates = np.abs(engine("casadi", mechanism).rates(at.t, at.x, at.d, at.u, at.p)) * _states_that_matter(mechanism)
    if rates.size and rates.max() > MOVES:
        state = mechanism.table.of("state")[int(np.argmax(rates))]
        warnings.warn(
            f"this is not an equilibrium: {state.name} changes at a rate of {rates.max():.3g} {per_second(state.unit)}, the largest one; "
            "find an equilibrium with trim (--trim)",
            RuntimeWarning,
            stacklevel=3,
        )


def _places(chosen: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    for name in chosen or ():
        if name not in known:
            raise UserError(f"the linear system has no {name}{did_you_mean(name, known)}")
    return list(range(len(known))) if chosen is None else [known.index(name) for name in chosen]


def _jacobians(mechanism: Mechanism, at: OperatingPoint) -> list[np.ndarray]:
    """A, B, C, D, and the derivative of the projection by the states."""
    arguments = [getattr(at, name) for name in ARGUMENTS]
    return [np.array(f(*arguments)) for f in _jacobian_functions(type(mechanism), tuple(mechanism.options.items()))]


@lru_cache(maxsize=16)
def _jacobian_functions(mechanism_type: type[Mechanism], options: tuple[tuple[str, Any], ...]) -> list[casadi.Function]:
    graphs = recording_of(mechanism_type(**dict(options)))
    functions = []
    for graph in (graphs.rates, graphs.outputs):
        symbols = {name: casadi.SX.sym(name, graph.sparsity_in(i)) for i, name in enumerate(ARGUMENTS)}
        (result,) = graph.call(list(symbols.values()))
        functions += [
            casadi.Function("jacobian", list(symbols.values()), [casadi.jacobian(result, symbols[by])])
            for by in ("x", "u")
        ]
    (projected,) = graphs.project.call(list(symbols.values()))
    return [*functions, casadi.Function("jacobian", list(symbols.values()), [casadi.jacobian(projected, symbols["x"])])]


def trim(
    mechanism: Mechanism, start: Mapping[str, Any] | None = None, free: Sequence[str] = (), hold: Sequence[str] = ()
) -> OperatingPoint:
    """An equilibrium near the start: all rates zero but those of energies, which only count. UserError when none is found.

    free    inputs whose values are sought, too;    hold    states that keep their start values

    Nonlinear least squares from the start, so that what need not change changes little. Constraints between the states hold, too: a projection onto
    them must change nothing. States that only count something up, such as energies, stay what they are.
    """
    at, table, functions = start_point(mechanism, start), mechanism.table, engine("casadi", mechanism)
    inputs, states = {s.name: s.index for s in table.of("input")}, {s.name: s.index for s in table.of("state")}
    places = []
    for names, known, what in ((free, inputs, "input"), (hold, states, "state")):
        for name in names:
            if name not in known:
                raise UserError(f"{mechanism.key} has no {what} {name}{did_you_mean(name, known)}")
        places.append([known[name] for name in names])
    matter = _states_that_matter(mechanism)
    searched = [i for i in range(table.x.size) if matter[i] and i not in places[1]]
    counts = np.array(
        [1.0 if not s.name.startswith("energy.") else 0.0 for s in table.of("state")]
    )  # a motor that holds a load takes in energy, and nothing moves

    def point(z: np.ndarray) -> OperatingPoint:
        x, u = at.x.copy(), at.u.copy()
        x[searched], u[places[0]] = z[: len(searched)], z[len(searched) :]
        return OperatingPoint(at.t, x, at.d, u, at.p)

    def residual(z: np.ndarray) -> np.ndarray:
        q = point(z)
        return np.concatenate(
            [counts * functions.rates(q.t, q.x, q.d, q.u, q.p), functions.project(q.x, q.d, q.p) - q.x]
        )

    def jacobian(z: np.ndarray) -> np.ndarray:
        A, B, *_, projection = _jacobians(mechanism, point(z))
        away = projection - np.eye(len(projection))
        A, B = counts[:, None] * A, counts[:, None] * B
        return np.hstack([np.vstack([A, away])[:, searched], np.vstack([B, np.zeros_like(B)])[:, places[0]]])

    z = np.concatenate([at.x[searched], at.u[places[0]]])
    scale = max(1.0, float(np.max(np.abs(residual(z)))))
    random, nearest = np.random.default_rng(0), (np.inf, "")
    for distance, scaling in product(DISTANCES, (1.0, "jac")):  # the first changes little, the second finds more
        found = least_squares(
            residual,
            z + distance * random.normal(size=z.size),
            jacobian,
            method="trf",
            x_scale=scaling,
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=ROUNDS,
        )
        largest = int(np.argmax(np.abs(found.fun)))
        if abs(found.fun[largest]) <= AT_REST * scale:
            return point(found.x)
        what, name = (
            "still changes at a rate of" if largest < table.x.size else "is off its constraint by",
            table.of("state")[largest % table.x.size].name,
        )
        nearest = min(nearest, (abs(found.fun[largest]), f"{name} {what} {abs(found.fun[largest]):.3g}"))
    raise UserError(f"no equilibrium of {mechanism.key} was found near the start: {nearest[1]}")


def _states_that_matter(mechanism: Mechanism) -> np.ndarray:
    """Whether a rate or a constraint depends on the state."""
    by_x, *_, projection = _jacobian_functions(type(mechanism), tuple(mechanism.options.items()))
    pattern = [np.array(casadi.DM(f.sparsity_out(0), 1)) for f in (by_x, projection)]
    return np.any(pattern[0] != 0, axis=0) | np.any((pattern[1] != 0) != np.eye(len(pattern[1])).astype(bool), axis=0)


def values_at(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    """The states and inputs of a point by name."""
    states = {s.name: float(v) for s, v in zip(mechanism.table.of("state"), point.x, strict=True)}
    return states | _inputs(mechanism, point)


def start_at(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    """The parameters and inputs with which a simulation starts at a point: hip.y_start for the state hip.y, and so on."""
    parameters = {s.name for s in mechanism.table.of("parameter")}
    found: dict[str, float] = {}
    for state, value in zip(mechanism.table.of("state"), point.x, strict=True):
        names = {f"{state.name}_start", re.sub(r"(\[\d+\])$", r"_start\1", state.name)} & parameters
        found |= {name: float(value) for name in names}
    return found | _inputs(mechanism, point)


def _inputs(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    return {s.name: float(v) for s, v in zip(mechanism.table.of("input"), point.u, strict=True)}
