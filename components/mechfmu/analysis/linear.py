"""Linearisation and equilibrium, from exact derivatives of the recorded equations.

    dx/dt = A dx + B du,   dy = C dx + D du

around a point, with x, u, y in the order of `states`, `inputs`, `outputs`.
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
from typing import Any, NamedTuple

import casadi
import numpy as np
from scipy.linalg import eig
from scipy.optimize import least_squares

from ..atomic_file import atomic_write
from ..codegen.recording import ARGUMENTS, recording_of
from ..model import Mechanism, UserError, did_you_mean
from ..model.mechanism import Identity, mechanism_of_identity
from ..model.units import per_second
from ..model.variables import Role
from ..simulation.engines import engine
from .lqr import StateFeedback, Weights, lqr

MOVES = 1e-6  # the rate of a state above which a point is not an equilibrium
MOST_STATES = 4  # that a mode names,
PARTICIPATION = 0.3  # and their participation, relative to the largest one
OFF_CONSTRAINT = 1e-3  # of a left eigenvector: its part inside the constraints, below which a mode is not a motion
DEFECTIVE = 1e-9  # participation below which left and right eigenvector are orthogonal: a double eigenvalue

# Distances from the start at which the search for an equilibrium begins: it can end where rates are small but not zero.
SEARCH_DISTANCES = (0.0, 0.1, 0.1, 0.3, 0.3, 1.0, 1.0, 1.0)
MAX_EVALUATIONS = 200  # of one search
AT_REST = 1e-9  # the largest rate of an equilibrium, relative to the largest one at the start


@dataclass(frozen=True)
class OperatingPoint:
    """The arguments of a mechanism's functions: time, states, discrete states, inputs, parameters."""

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
    states: tuple[str, ...]  # those with the largest participation
    constraint: bool  # it only returns states to their constraints: not a motion of the mechanism


@dataclass(frozen=True)
class Linear:
    """A linear system with the names of its variables, and their values x0, u0, y0 at `point`."""

    A: np.ndarray  # the matrices
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]  # names
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    x0: np.ndarray  # values at the point
    u0: np.ndarray
    y0: np.ndarray
    dx0: np.ndarray  # rates at the point: zero in an equilibrium
    point: OperatingPoint = field(repr=False)
    projection: np.ndarray | None = field(default=None, repr=False)
    """Derivative of the projection onto the constraints by the states."""

    def select(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> Linear:
        """Return the same system with only these inputs and outputs, in this order; None: with all."""
        u, y = (_places(chosen, known) for chosen, known in ((inputs, self.inputs), (outputs, self.outputs)))
        kept_inputs, kept_outputs = tuple(self.inputs[i] for i in u), tuple(self.outputs[i] for i in y)
        matrices: dict[str, Any] = {"B": self.B[:, u], "C": self.C[y], "D": self.D[np.ix_(y, u)]}
        return replace(self, **matrices, u0=self.u0[u], y0=self.y0[y], inputs=kept_inputs, outputs=kept_outputs)

    def modes(self) -> list[Mode]:
        """Return the modes, slowest first; pairs appear once."""
        values, left, right = eig(self.A, left=True, right=True) if self.A.size else (np.zeros(0),) * 3
        kept = [i for i, v in enumerate(values) if v.imag >= 0]
        kept.sort(key=lambda i: (abs(values[i]), values[i].imag, values[i].real))
        return [self._mode(complex(values[i]), left[:, i], right[:, i]) for i in kept]

    def _mode(self, value: complex, left: np.ndarray, right: np.ndarray) -> Mode:
        share = np.abs(left * right)  # the participation factors, which do not depend on the units of the states
        share = share if share.max() > DEFECTIVE else np.abs(right) ** 2
        most = [i for i in np.argsort(-share, kind="stable")[:MOST_STATES] if share[i] >= PARTICIPATION * share.max()]
        constraint = self.projection is not None and bool(
            np.linalg.norm(left.conj() @ self.projection) < OFF_CONSTRAINT * np.linalg.norm(left)
        )
        damping = -value.real / abs(value) if value else 0.0
        return Mode(value, abs(value) / (2 * np.pi), damping, tuple(self.states[i] for i in most), constraint)

    def lqr(self, Q: Weights, R: Weights, period: float | None = None) -> StateFeedback:
        """Return the linear-quadratic regulator, as a controller:
        `mechanism.simulate(controller=linear.lqr(Q, R, 0.01), period=0.01)`

        Q        weights of the states: a dict by name, where omitted ones are 0, or a symmetric matrix without negative
                 eigenvalues
        R        weights of the inputs: a dict by name of those that the regulator uses, or a symmetric matrix with
                 positive eigenvalues for all inputs
        period   in s, at which the law is sampled and held in between; None: it acts continuously
        """
        return lqr(self, Q, R, period)

    def save(self, file: str | Path) -> Path:
        """Write the matrices and names as .npz (NumPy), .mat (MATLAB, Octave) or .json, and return the path."""
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
    """Return the point at which a simulation with these start values begins."""
    t, *vectors = mechanism.start(start)
    x, d, u, p = (np.array(v, dtype=float) for v in vectors)
    return OperatingPoint(float(t), x, d, u, p)


def linearize(
    mechanism: Mechanism,
    start: Mapping[str, Any] | None = None,
    point: OperatingPoint | None = None,
    energies: bool = False,
) -> Linear:
    """Return the mechanism linearised where it starts, or at another point.

    start      parameters, inputs and start values by name, where they differ from the defaults
    point      the point, such as one of `trim`, instead of the start
    energies   keep the states energy.*, which only count energies: nothing depends on them, so that a controller cannot
               be designed with them
    """
    at = point or start_point(mechanism, start)
    A, B, C, D, projection = _jacobians(mechanism, at)
    _warn_of_motion(mechanism, at)
    functions = engine("casadi", mechanism)
    y0, dx0 = (np.asarray(f(at.t, at.x, at.d, at.u, at.p)) for f in (functions.outputs, functions.rates))
    names, inputs, outputs = (tuple(s.name for s in mechanism.table.of(r)) for r in ("state", "input", "output"))
    kept = [i for i, name in enumerate(names) if energies or not name.startswith("energy.")]
    both, states = np.ix_(kept, kept), tuple(names[i] for i in kept)
    matrices = (A[both], B[kept], C[:, kept], D)
    return Linear(*matrices, states, inputs, outputs, at.x[kept], at.u, y0, dx0[kept], at, projection[both])


def _warn_of_motion(mechanism: Mechanism, at: OperatingPoint) -> None:
    """Warn if states change on which rates depend: the linear model then holds for a moment only."""
    rates = np.abs(engine("casadi", mechanism).rates(at.t, at.x, at.d, at.u, at.p)) * _states_that_matter(mechanism)
    if rates.size and rates.max() > MOVES:
        state = mechanism.table.of("state")[int(np.argmax(rates))]
        rate = f"{state.name} changes at a rate of {rates.max():.3g} {per_second(state.unit)}"
        text = f"this is not an equilibrium: {rate}, the largest one; find an equilibrium with trim (--trim)"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _places(chosen: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    for name in chosen or ():
        if name not in known:
            raise UserError(f"the linear system has no {name}{did_you_mean(name, known)}")
    return list(range(len(known))) if chosen is None else [known.index(name) for name in chosen]


def _jacobians(mechanism: Mechanism, at: OperatingPoint) -> list[np.ndarray]:
    """A, B, C, D, and the derivative of the projection by the states."""
    arguments = [getattr(at, name) for name in ARGUMENTS]
    return [np.array(f(*arguments)) for f in _jacobian_functions(mechanism.identity)]


@lru_cache(maxsize=16)
def _jacobian_functions(identity: Identity) -> list[casadi.Function]:
    graphs = recording_of(mechanism_of_identity(identity))
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
    """Return an equilibrium near the start: all rates zero except those of energies. UserError when none is found.

    start   as in `linearize`
    free    inputs whose values are also found
    hold    states that keep their start values

    Nonlinear least squares from the start, so that what need not change changes little. Constraints between the states
    hold, too: a projection onto them must change nothing. States that only count, such as energies, keep their values.
    """
    search = EquilibriumSearch(mechanism, start_point(mechanism, start), free, hold)
    z = search.start
    scale = max(1.0, float(np.max(np.abs(search.residual(z)))))
    random, nearest = np.random.default_rng(0), (np.inf, "")
    options: dict[str, Any] = dict(method="trf", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=MAX_EVALUATIONS)
    for distance, scaling in product(SEARCH_DISTANCES, (1.0, "jac")):  # the first changes little, the second finds more
        begin = z + distance * random.normal(size=z.size)
        found = least_squares(search.residual, begin, search.jacobian, x_scale=scaling, **options)
        largest = int(np.argmax(np.abs(found.fun)))
        size = abs(found.fun[largest])
        if size <= AT_REST * scale:
            return search.point(found.x)
        states = mechanism.table.of("state")
        what = "still changes at a rate of" if largest < len(states) else "is off its constraint by"
        nearest = min(nearest, (size, f"{states[largest % len(states)].name} {what} {size:.3g}"))
    raise UserError(f"no equilibrium of {mechanism.key} was found near the start: {nearest[1]}")


class EquilibriumSearch:
    """The least-squares problem of `trim`: z holds the unknown states and inputs, the residual is zero at rest."""

    def __init__(self, mechanism: Mechanism, at: OperatingPoint, free: Sequence[str], hold: Sequence[str]):
        self.mechanism, self.at, self.functions = mechanism, at, engine("casadi", mechanism)
        self.inputs = self._indices("input", free)
        held, matter = self._indices("state", hold), _states_that_matter(mechanism)
        states = mechanism.table.of("state")
        self.states = [i for i in range(len(states)) if matter[i] and i not in held]
        # a motor that holds a load takes in energy, and nothing moves
        self.counted = np.array([0.0 if s.name.startswith("energy.") else 1.0 for s in states])

    def _indices(self, role: Role, names: Sequence[str]) -> list[int]:
        known = {s.name: s.index for s in self.mechanism.table.of(role)}
        for name in names:
            if name not in known:
                raise UserError(f"{self.mechanism.key} has no {role} {name}{did_you_mean(name, known)}")
        return [known[name] for name in names]

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([self.at.x[self.states], self.at.u[self.inputs]])

    def point(self, z: np.ndarray) -> OperatingPoint:
        x, u = self.at.x.copy(), self.at.u.copy()
        x[self.states], u[self.inputs] = z[: len(self.states)], z[len(self.states) :]
        return OperatingPoint(self.at.t, x, self.at.d, u, self.at.p)

    def residual(self, z: np.ndarray) -> np.ndarray:
        at = self.point(z)
        rates = self.functions.rates(at.t, at.x, at.d, at.u, at.p)
        return np.concatenate([self.counted * rates, self.functions.project(at.x, at.d, at.p) - at.x])

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        A, B, *_, projection = _jacobians(self.mechanism, self.point(z))
        off_constraint = projection - np.eye(len(projection))
        A, B = self.counted[:, None] * A, self.counted[:, None] * B
        by_states = np.vstack([A, off_constraint])[:, self.states]
        return np.hstack([by_states, np.vstack([B, np.zeros_like(B)])[:, self.inputs]])


def _states_that_matter(mechanism: Mechanism) -> np.ndarray:
    """Whether a rate or a constraint depends on the state."""
    by_x, *_, projection = _jacobian_functions(mechanism.identity)
    pattern = [np.array(casadi.DM(f.sparsity_out(0), 1)) for f in (by_x, projection)]
    return np.any(pattern[0] != 0, axis=0) | np.any((pattern[1] != 0) != np.eye(len(pattern[1])).astype(bool), axis=0)


def values_at(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    """Return the states and inputs of a point by name."""
    states = {s.name: float(v) for s, v in zip(mechanism.table.of("state"), point.x, strict=True)}
    return states | _inputs(mechanism, point)


def start_at(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    """Return the parameters and inputs with which a simulation starts at a point: hip.y_start for the state hip.y."""
    parameters = {s.name for s in mechanism.table.of("parameter")}
    found: dict[str, float] = {}
    for state, value in zip(mechanism.table.of("state"), point.x, strict=True):
        names = {f"{state.name}_start", re.sub(r"(\[\d+\])$", r"_start\1", state.name)} & parameters
        found |= {name: float(value) for name in names}
    return found | _inputs(mechanism, point)


def _inputs(mechanism: Mechanism, point: OperatingPoint) -> dict[str, float]:
    return {s.name: float(v) for s, v in zip(mechanism.table.of("input"), point.u, strict=True)}
