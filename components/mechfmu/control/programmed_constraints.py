"""Programmed constraints: control forces that make a mechanism satisfy equations of motion it is not forced to satisfy.

A mechanism  M(q) nu' + h(q, nu) = B u,  q' = N(q) nu,  and a program of equations for its motion

    phi(q, t) = 0      order 2, violation y = phi ,      wanted  y'' = -k0 y - k1 y'                               (1)
    psi(q, nu, t) = 0  order 1, violation z = psi ,      wanted  z'  = -kz z                                       (2)

Differentiated until the accelerations appear, the violations obey

    (y'', z') = Theta nu' + s ,    Theta = [phi_q N ; psi_nu]                                                      (3)
    s = [(phi_q N)' nu + (phi_t)' ; psi_q N nu + psi_t]

s is the second (first) derivative along the motion with nu' = 0, and column j of Theta the derivative of phi along
N e_j (of psi along e_j): jets give them from the program alone. With nu' = a + R u, a = -M^-1 h, R = M^-1 B, the forces
must satisfy

    G u = b ,    G = Theta R ,    b = wanted - s - Theta a                                                         (4)

and among those that do, the ones nearest to the preferred forces up, in the measure of W, are

    u = up + W^-1 G^T (G W^-1 G^T + diag(eps)^2)^-1 (b - G up)                                                     (5)

as many inputs as constraints    u = G^-1 b, whatever W and up are
more inputs                      up determines the rest of the motion and must damp it. W = 1 is least effort,
                                 W = B^T M^-1 B least deviation from the motion under up (Gauss)
fewer inputs, or a loss of rank  eps > 0: damped least squares. One eps for all, or one for each constraint: the smaller
                                 it is, the more the constraint counts
passive joints                   possible while rank G = m; check the motion of the passive joints (the zero dynamics)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .jets import Jet, coefficient, constant, time_jet

Array = Any

SWEEPS = 8  # of Jacobi's method; it converges quadratically, and 6 sweeps bring matrices of this size to rounding
NEGLIGIBLE = 1e-9  # relative to the largest: a smaller singular value, or row, counts as zero

APPROXIMATELY = "they can only be kept approximately, with eps > 0"


class ProgramError(ValueError):
    """A program that no control forces can satisfy."""


class Violation(NamedTuple):
    """Violation of the program, and how it depends on the accelerations, (3)."""

    y: Array
    y_rate: Array
    z: Array
    Theta: Array
    s: Array


class Control(NamedTuple):
    """Forces, the residual of (4), and the condition of (4)."""

    u: Array
    residual: Array  # b - G u
    singular_values: Array  # of G, descending
    G: Array


@dataclass(frozen=True)
class ConstraintProgram:
    """The equations to satisfy, and how fast their violation decays.

    rate(q, nu)                  q'
    phi(q, t), psi(q, nu, t)     arrays, one element per equation; None: no equation of that order
    k0, k1, kz                   one number for all equations of that order, or one each

    The functions are plain NumPy and are called with jets. When an engine records them, its symbols in
    them must be `jets.constant`s.
    """

    rate: Callable[[Array, Array], Array]
    phi: Callable[[Array, Array], Array] | None = None
    psi: Callable[[Array, Array, Array], Array] | None = None
    k0: Array = 16.0
    k1: Array = 8.0
    kz: Array = 3.0

    def violation(self, q: Array, nu: Array, t: Array) -> Violation:
        """(3) at a state."""
        if self.phi is None and self.psi is None:
            raise ProgramError("the program has no equation")
        n, nothing = np.shape(nu)[0], np.zeros(0)
        units = [np.eye(n)[j] for j in range(n)]
        y = y_rate = z = nothing
        Theta, s = [], []
        still, here = constant(t), constant(q)
        dq = coefficient(self.rate(here, constant(nu)), 0)
        if self.phi is not None:
            ddq = coefficient(self.rate(Jet((q, dq)), constant(nu)), 1)  # with nu' = 0
            along = self.phi(Jet((q, dq, ddq / 2.0)), time_jet(t, 2))
            y, y_rate = coefficient(along, 0), coefficient(along, 1)
            directions = [coefficient(self.rate(here, constant(e)), 0) for e in units]
            Theta.append(np.stack([coefficient(self.phi(Jet((q, direction)), still), 1) for direction in directions]).T)
            s.append(2.0 * coefficient(along, 2))
        if self.psi is not None:
            along = self.psi(Jet((q, dq)), constant(nu), time_jet(t, 1))
            z = coefficient(along, 0)
            Theta.append(np.stack([coefficient(self.psi(here, Jet((nu, e)), still), 1) for e in units]).T)
            s.append(coefficient(along, 1))
        return Violation(y, y_rate, z, np.concatenate(Theta), np.concatenate(s))

    def wanted(self, v: Violation) -> Array:
        """The accelerations of the violations that make them decay, (1) and (2)."""
        parts = []
        if self.phi is not None:
            parts.append(-self.k0 * v.y - self.k1 * v.y_rate)
        if self.psi is not None:
            parts.append(-self.kz * v.z)
        return np.concatenate(parts)

    def control(
        self,
        q: Array,
        nu: Array,
        t: Array,
        a: Array,
        R: Array,
        eps: Array | None = None,
        W: Array | None = None,
        preferred: Array | None = None,
    ) -> Control:
        """The forces (5) of a mechanism whose accelerations are nu' = a + R u."""
        v = self.violation(q, nu, t)
        return forces(v.Theta @ R, self.wanted(v) - v.s - v.Theta @ a, eps, W, preferred)

    def check_feasible(self, q: Array, nu: Array, t: float, R: Array, eps: Array | None = None) -> None:
        """ProgramError if no forces can satisfy the program near this state.

        Numbers only; call it at a state typical of the motion.
        """
        Theta = np.asarray(self.violation(q, nu, t).Theta, float)
        G, m = Theta @ np.asarray(R, float), len(Theta)
        if not np.all(np.isfinite(G)):
            raise ProgramError("the program has no finite derivatives at this state")
        sizes, largest = np.linalg.norm(Theta, axis=1), np.linalg.norm(Theta, axis=1)[:, None] * np.linalg.norm(R)
        for i in range(m):
            if np.all(np.abs(G[i]) <= NEGLIGIBLE * largest[i]):
                raise ProgramError(
                    f"equation {i + 1} of the program is of higher order: "
                    "no input acts on its second derivative (first, for psi)"
                )
        values = np.linalg.svd(Theta / sizes[:, None], compute_uv=False)
        if m > Theta.shape[1] or values[-1] <= NEGLIGIBLE * values[0]:
            rank = np.sum(values > NEGLIGIBLE * values[0])
            raise ProgramError(f"the equations of the program depend on each other: {m} equations, rank {rank}")
        if eps is not None:
            return
        if G.shape[1] < m:
            raise ProgramError(f"{m} equations for {G.shape[1]} inputs: {APPROXIMATELY}")
        values = np.linalg.svd(G, compute_uv=False)
        if values[-1] <= NEGLIGIBLE * values[0]:
            raise ProgramError(f"the inputs cannot act on all equations at this state: {APPROXIMATELY}")


def response(M: Array, h: Array, B: Array) -> tuple[Array, Array]:
    """a, R of nu' = a + R u from M nu' + h = B u."""
    return -np.linalg.solve(M, h), np.linalg.solve(M, B)


def response_of(accelerations: Callable[[Array], Array], inputs: int) -> tuple[Array, Array]:
    """a, R from accelerations(u) that are affine in u, as those of every mechanism are: no mass matrix is needed."""
    a = accelerations(np.zeros(inputs))
    return a, np.stack([accelerations(np.eye(inputs)[j]) - a for j in range(inputs)]).T


def forces(
    G: Array, b: Array, eps: Array | None = None, W: Array | None = None, preferred: Array | None = None
) -> Control:
    """Solve (5) for the inputs; eps=None gives the exact solution."""
    m, k = np.shape(G)
    if eps is None and m == k:
        u = np.linalg.solve(G, b)
    else:
        up = np.zeros(k) if preferred is None else preferred
        weighted = G.T if W is None else np.linalg.solve(W, G.T)
        damping = np.zeros((m, m)) if eps is None else np.diag(np.ones(m) * eps * eps)
        u = up + weighted @ np.linalg.solve(G @ weighted + damping, b - G @ up)
    return Control(u, b - G @ u, singular_values(G), G)


def singular_values(G: Array) -> Array:
    """The singular values of a matrix, descending.

    One-sided Jacobi rotations turn its rows until these are orthogonal; their lengths remain. A fixed number of sweeps
    without decisions, so that it can be recorded.
    """
    m, k = np.shape(G)
    rows = [G[i] for i in range(m)] if m <= k else [G[:, j] for j in range(k)]
    for _ in range(SWEEPS if len(rows) > 1 else 0):
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                alpha, beta, gamma = rows[i] @ rows[i], rows[j] @ rows[j], rows[i] @ rows[j]
                angle = 0.5 * np.arctan2(2.0 * gamma, alpha - beta)  # puts the longer row first
                c, s = np.cos(angle), np.sin(angle)
                rows[i], rows[j] = c * rows[i] + s * rows[j], c * rows[j] - s * rows[i]
    return np.stack([np.sqrt(row @ row) for row in rows])
