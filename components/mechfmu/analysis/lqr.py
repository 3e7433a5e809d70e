"""Linear-quadratic regulator: the state feedback u = u0 - K (x - x0) with the least integral of dx' Q dx + du' R du.

K = R^-1 B' P, where P solves A' P + P A - P B R^-1 B' P + Q = 0                                                (1)

for a law that acts continuously. A law that is sampled every h seconds and held in between has, exactly, the step and
the cost of a period

    z = (x, u),  z' = G z,  G = [A B; 0 0],  F = exp(G h)
    W = integral of exp(G' s) diag(Q, R) exp(G s) ds from 0 to h                                                (2)

where W of a short time follows from exp([-G' diag(Q, R); 0 G] h) (Van Loan) and that of twice the time is W + F' W F;
the gains then follow from the discrete Riccati equation with the blocks of F and W.

P exists and the closed loop is stable if the inputs reach every mode that does not decay by itself, and Q sees every
mode on the imaginary axis. Both are tested mode by mode after Popov, Belevitch and Hautus: a mode s is out of reach of
the inputs if [A - s I, B] has a left null vector, and unseen if [A - s I; Q] has a right one. Modes that decay may be
out of reach: those of the terms that hold constraints (unit quaternions, pinned feet) are, because no input leaves a
constraint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag, expm, solve_continuous_are, solve_discrete_are

from ..mechanisms import make
from ..model import Mechanism, UserError, did_you_mean
from ..simulation.controller import check_period

if TYPE_CHECKING:
    from .linear import Linear

Weights = Mapping[str, float] | Sequence[Sequence[float]] | np.ndarray  # by name, or a matrix

AT_REST = 1e-3  # the largest rate, relative to the largest element of A: about the distance from the equilibrium
UNDAMPED = 1e-6  # relative to the norm of A: modes no further left do not decay; equal ones are found to about 1e-8
RANK = 1e-9  # relative to the norm of A: smaller singular values are zero, as exactly as an equilibrium is found
NO_EFFECT = 1e-13  # in SI units: an input that accelerates by less has no effect
ROUNDING = 1e-9  # relative: of symmetry and of eigenvalues of Q and R


@dataclass(frozen=True)
class StateFeedback:
    """u = u0 - K (x - x0), by name: a controller for simulate(controller=...), or a mechanism to build as an FMU."""

    K: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    x0: np.ndarray
    u0: np.ndarray

    def __call__(self, t: float, y: Mapping[str, float]) -> dict[str, float]:
        u = self.u0 - self.K @ (np.array([y[name] for name in self.states]) - self.x0)
        return dict(zip(self.inputs, u.tolist(), strict=True))

    def connections(self, plant: str = "plant", control: str = "control") -> dict[str, str]:
        """Return the connections of a System in which the FMUs of mechanism and controller have these names."""
        measured = {f"{plant}.{name}": f"{control}.measurement[{j}]" for j, name in enumerate(self.states, 1)}
        return measured | {f"{control}.output[{i}]": f"{plant}.{name}" for i, name in enumerate(self.inputs, 1)}

    def controller(self) -> tuple[Mechanism, dict[str, float]]:
        """Return the law as a mechanism and its start values, to be built: `controller.build("out", start=start)`."""
        inputs, measurements = len(self.inputs), len(self.states)
        mechanism = make("pid_controller", law="state_feedback", channels=inputs, measurements=measurements)
        start = {f"gain.state[{i + 1},{j + 1}]": float(gain) for (i, j), gain in np.ndenumerate(self.K)}
        start |= {f"reference[{j}]": float(x) for j, x in enumerate(self.x0, 1)}
        start |= {f"feed_forward[{i}]": float(u) for i, u in enumerate(self.u0, 1)}
        start |= {f"antiwindup.gain[{i}]": 0.0 for i in range(1, inputs + 1)}  # there is no integral part
        return mechanism, start


def lqr_controller(
    linear: Linear, Q: Weights, R: Weights, period: float | None = None
) -> tuple[Mechanism, dict[str, float]]:
    """Return the linear-quadratic regulator as a mechanism and its start values; arguments as in `Linear.lqr`.

    `controller, start = lqr_controller(...)`, then `controller.build("out", start=start)`
    """
    return lqr(linear, Q, R, period).controller()


def lqr(linear: Linear, Q: Weights, R: Weights, period: float | None = None) -> StateFeedback:
    """The regulator of a linear system; see Linear.lqr."""
    check_period(period)
    used = linear
    if isinstance(R, Mapping):
        _check_names("R", R, linear.inputs, "input")
        used = linear.select(inputs=[name for name in linear.inputs if name in R])
    if not used.inputs:
        raise UserError("LQR needs at least one input: give R the weights of those that it may use")
    A, B = used.A, used.B
    _check_equilibrium(used)
    q, r = _weights("Q", Q, used.states, "state", 0.0), _weights("R", R, used.inputs, "input", None)
    _check_modes(used, q)
    try:
        if period is None:
            K = np.linalg.solve(r, B.T @ solve_continuous_are(A, B, q, r))  # (1)
            stable = np.linalg.eigvals(A - B @ K).real.max() < 0
        else:
            F, H, W_x, W_xu, W_u = _sampled(A, B, q, r, period)
            P = solve_discrete_are(F, H, W_x, W_u, s=W_xu)
            K = np.linalg.solve(W_u + H.T @ P @ H, H.T @ P @ F + W_xu.T)
            stable = np.abs(np.linalg.eigvals(F - H @ K)).max() < 1
    except np.linalg.LinAlgError as error:
        raise UserError(f"LQR has no solution with these weights: {error}") from None
    if not stable:
        raise UserError("LQR has no solution with these weights: the closed loop is not stable")
    return StateFeedback(K, used.states, used.inputs, used.x0, used.u0)


def _sampled(A: np.ndarray, B: np.ndarray, q: np.ndarray, r: np.ndarray, h: float) -> tuple[np.ndarray, ...]:
    """(2): x after a period is F x + H u, and its cost is x' W_x x + 2 x' W_xu u + u' W_u u."""
    n, size = len(A), len(A) + len(r)
    G, cost = np.zeros((size, size)), block_diag(q, r)
    G[:n] = np.hstack([A, B])
    doublings = max(0, int(np.ceil(np.log2(max(1.0, float(np.linalg.norm(G, 1)) * h)))))
    short = expm(np.block([[-G.T, cost], [np.zeros_like(G), G]]) * h / 2**doublings)
    F = short[size:, size:]
    W = F.T @ short[:size, size:]
    for _ in range(doublings):
        F, W = F @ F, W + F.T @ W @ F
    W = (W + W.T) / 2
    return F[:n, :n], F[:n, n:], W[:n, :n], W[:n, n:], W[n:, n:]


def _check_equilibrium(linear: Linear) -> None:
    """UserError if the linear system was not taken at an equilibrium."""
    worst = int(np.argmax(np.abs(linear.dx0)))
    if abs(linear.dx0[worst]) > AT_REST * max(1.0, float(np.abs(linear.A).max())):
        change = f"{linear.states[worst]} changes at a rate of {linear.dx0[worst]:.3g} at this point"
        raise UserError(f"LQR needs an equilibrium: {change}; find one with trim")


def _check_modes(linear: Linear, q: np.ndarray) -> None:
    """UserError if a mode that does not decay is out of reach of the inputs, or an undamped one is not seen by Q."""
    A, B, states = linear.A, linear.B, linear.states
    scale, lengths, largest = max(1.0, float(np.linalg.norm(A, 2))), np.linalg.norm(B, axis=0), float(np.abs(q).max())
    reach, seen = B / np.where(lengths > NO_EFFECT, lengths, 1.0), q / (largest or 1.0)  # units must not matter
    lasting = [s for s in np.linalg.eigvals(A) if s.real >= -UNDAMPED * scale and s.imag >= 0]
    for s in sorted(lasting, key=lambda s: (-s.real, s.imag)):
        shifted, mode = (A - s * np.eye(len(A))) / scale, f"the mode at {_shown(s)} 1/s, in which it moves,"
        if name := _null_state(np.hstack([shifted, reach]).T, states):
            inputs = _listed(linear.inputs)
            raise UserError(f"{name} cannot be controlled: {mode} does not decay and is out of reach of {inputs}")
        if s.real <= UNDAMPED * scale and (name := _null_state(np.vstack([shifted, seen]), states)):
            raise UserError(f"Q has no weight on {name}: {mode} would last; give it a weight greater than 0")


def _check_names(what: str, given: Mapping[str, Any], known: Sequence[str], kind: str) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{what}: the linear system has no {kind} {name}{did_you_mean(str(name), known)}")


def _weights(what: str, given: Weights, names: Sequence[str], kind: str, missing: float | None) -> np.ndarray:
    """A symmetric matrix of weights; positive where none may be missing, otherwise not negative."""
    allowed = "must be greater than 0" if missing is None else "must not be negative"
    if isinstance(given, Mapping):
        _check_names(what, given, names, kind)
        numbers = [_number(f"{what}: the weight of {name}", given.get(name, missing)) for name in names]
        for name, number in zip(names, numbers, strict=True):
            if number < 0 or (missing is None and number == 0):
                raise UserError(f"{what}: the weight of {name} is {number:g}: {allowed}")
        return np.diag(numbers)
    matrix = _symmetric_matrix(what, given, names)
    size = float(np.abs(matrix).max())
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -ROUNDING * size or (missing is None and values[0] <= ROUNDING * np.abs(np.diag(matrix)).min()):
        worst = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise UserError(f"{what} has the eigenvalue {values[0]:.3g}, mostly of {worst}: it {allowed}")
    return matrix


def _symmetric_matrix(what: str, given: Any, names: Sequence[str]) -> np.ndarray:
    try:
        matrix = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise UserError(f"{what}: must be a matrix of numbers, or a dict of weights by name") from None
    shape = (len(names), len(names))
    if matrix.shape != shape:
        needed = f"must be {shape}, for {_listed(names)}; or a dict of weights by name"
        raise UserError(f"{what} has the shape {matrix.shape}: {needed}")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise UserError(f"{what}: the weight of {names[i]} and {names[j]} is {matrix[i, j]:g}: must be finite")
    if (skew := np.abs(matrix - matrix.T)).max() > ROUNDING * float(np.abs(matrix).max()):
        i, j = map(int, np.unravel_index(np.argmax(skew), skew.shape))
        raise UserError(f"{what} is not symmetric: {matrix[i, j]:g} and {matrix[j, i]:g} for {names[i]} and {names[j]}")
    return matrix


def _number(what: str, given: Any) -> float:
    try:
        number = np.nan if isinstance(given, str) else float(given)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise UserError(f"{what} is {given!r:.60}: must be a finite number")
    return number


def _null_state(matrix: np.ndarray, states: Sequence[str]) -> str:
    """The state that moves most in the null vector of a matrix; empty: it has none."""
    _, values, vectors = np.linalg.svd(matrix)
    return states[int(np.argmax(np.round(np.abs(vectors[-1]), 6)))] if values[-1] <= RANK else ""


def _shown(s: complex) -> str:
    parts = [0.0 if abs(part) < UNDAMPED else part for part in (s.real, s.imag)]
    return f"{parts[0]:.3g} ± {parts[1]:.3g}i" if parts[1] else f"{parts[0]:.3g}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])}, ... ({len(names)})"
