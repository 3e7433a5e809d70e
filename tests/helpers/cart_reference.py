"""The cart in seven coordinates with multipliers, and in the article's independent coordinates.

Formulations that share nothing with the library's.
"""

from __future__ import annotations

import casadi
import numpy as np

RIGID, FREE = (0, 1, 2, 3, 4), (0, 1, 2, 4)  # the rolling rows that hold


def mass_matrix(q: np.ndarray, p: dict[str, float]) -> np.ndarray:
    m, mu = p["m0"] + 3 * p["m1"], p["m1"] * (p["l1"] - 2 * p["l2"])
    J = p["m0"] * p["k0"] ** 2 + p["m1"] * (p["l1"] ** 2 + 2 * p["l2"] ** 2 + 2 * p["h"] ** 2) + 3 * p["A"]
    M = np.diag([m, m, p["A"], J, p["C"], p["C"], p["C"]])
    M[0, 3] = M[3, 0] = -mu * np.sin(q[3])
    M[1, 3] = M[3, 1] = mu * np.cos(q[3])
    M[2, 3] = M[3, 2] = p["A"]
    return M


def rolling_matrix(q: np.ndarray, p: dict[str, float]) -> np.ndarray:
    """Jc of Jc q' = 0: front forward, rear left, rear right, front sideways, rear sideways."""
    s3, c3, s4, c4, sf, cf = (
        np.sin(q[2]),
        np.cos(q[2]),
        np.sin(q[3]),
        np.cos(q[3]),
        np.sin(q[2] + q[3]),
        np.cos(q[2] + q[3]),
    )
    r, h = p["r"], p["h"]
    return np.array(
        [
            [cf, sf, 0, p["l1"] * s3, -r, 0, 0],
            [c4, s4, 0, -h, 0, -r, 0],
            [c4, s4, 0, h, 0, 0, -r],
            [sf, -cf, 0, -p["l1"] * c3, 0, 0, 0],
            [s4, -c4, 0, p["l2"], 0, 0, 0],
        ]
    )


def accelerations(
    q: np.ndarray, dq: np.ndarray, tau: np.ndarray, p: dict[str, float], rows: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """q'' and multipliers of M q'' + h = tau + Jc^T lambda, Jc q'' + Jc' q' = 0."""
    M, Jc = mass_matrix(q, p), rolling_matrix(q, p)[list(rows)]
    mu = p["m1"] * (p["l1"] - 2 * p["l2"])
    bias = np.array([-mu * dq[3] ** 2 * np.cos(q[3]), -mu * dq[3] ** 2 * np.sin(q[3]), 0, 0, 0, 0, 0])
    step = 1e-30  # complex step: exact
    dJc = np.imag(rolling_matrix(q + 1j * step * dq, p)[list(rows)]) / step
    n = len(rows)
    K = np.block([[M, -Jc.T], [Jc, np.zeros((n, n))]])
    found = np.linalg.solve(K, np.concatenate([tau - bias, -dJc @ dq]))
    return found[:7], found[7:]


class Voronets:
    """The free cart in x = (q1, q2, q3) by Voronets' equations.

    `slips` puts back the two errors in the article's expansion of them.
    """

    def __init__(self, p: dict[str, float], slips: bool = False):
        q3, q4 = casadi.SX.sym("q3"), casadi.SX.sym("q4")
        dx, u = casadi.SX.sym("dx", 3), casadi.SX.sym("u", 3)
        L = p["l1"] + p["l2"]
        s4, c4 = casadi.sin(q4), casadi.cos(q4)
        v, om = c4 * dx[0] + s4 * dx[1], (c4 * dx[1] - s4 * dx[0]) / p["l2"]
        followers = casadi.vertcat(
            om,
            (v * casadi.cos(q3) + L * om * casadi.sin(q3)) / p["r"],
            (v - p["h"] * om) / p["r"],
            (v + p["h"] * om) / p["r"],
        )
        b = casadi.jacobian(followers, dx)  # rows: q4 .. q7
        dq = casadi.SX.sym("dq", 7)
        mu = p["m1"] * (p["l1"] - 2 * p["l2"])
        m = p["m0"] + 3 * p["m1"]
        J = p["m0"] * p["k0"] ** 2 + p["m1"] * (p["l1"] ** 2 + 2 * p["l2"] ** 2 + 2 * p["h"] ** 2) + 3 * p["A"]
        T = (m * (dq[0] ** 2 + dq[1] ** 2) + p["A"] * dq[2] ** 2 + J * dq[3] ** 2) / 2 + p["A"] * dq[2] * dq[3]
        T += mu * (dq[1] * c4 - dq[0] * s4) * dq[3] + p["C"] / 2 * (dq[4] ** 2 + dq[5] ** 2 + dq[6] ** 2)

        def on_constraints(expression: casadi.SX) -> casadi.SX:
            return casadi.substitute(expression, dq, casadi.vertcat(dx, followers))

        reduced = on_constraints(T)
        momentum = casadi.jacobian(reduced, dx).T
        A = casadi.jacobian(momentum, dx)
        theta = on_constraints(casadi.jacobian(T, dq[3:]).T)
        rate = casadi.jacobian(momentum, q3) * dx[2]
        by_q4 = on_constraints(casadi.jacobian(T, q4)) if slips else casadi.jacobian(reduced, q4)
        if not slips:
            rate += casadi.jacobian(momentum, q4) * om
        gyroscopic = casadi.SX.zeros(3)
        for nu in range(4):
            slope = casadi.SX.zeros(3, 3)  # d b_i / d x_j, through q3 and q4
            for i in range(3):
                for j in range(3):
                    slope[i, j] = casadi.jacobian(b[nu, i], q4) * b[0, j] + (
                        casadi.jacobian(b[nu, i], q3) if j == 2 else 0
                    )
            gyroscopic += theta[nu] * casadi.mtimes(slope - slope.T, dx)
        by_x = casadi.vertcat(0, 0, casadi.jacobian(reduced, q3))
        self.bias = rate - by_x - b[0, :].T * by_q4 - gyroscopic
        D = casadi.vertcat(casadi.horzcat(b[2, :].T, b[3, :].T, casadi.SX([0, 0, 1])))
        a = casadi.solve(A, casadi.mtimes(D, u) - self.bias)
        arguments = [q3, q4, dx]
        self._matrix = casadi.Function("A", arguments, [A])
        self._bias = casadi.Function("a", arguments, [self.bias])
        self._acceleration = casadi.Function("ddx", [*arguments, u], [a, om, reduced])

    def matrix(self, q3: float, q4: float, dx: np.ndarray) -> np.ndarray:
        return np.array(self._matrix(q3, q4, dx))

    def bias_at(self, q3: float, q4: float, dx: np.ndarray) -> np.ndarray:
        return np.array(self._bias(q3, q4, dx)).ravel()

    def rates(self, s: np.ndarray, u: np.ndarray) -> np.ndarray:
        """of s = (q1, q2, q3, q4, q1', q2', q3')"""
        a, om, _ = self._acceleration(s[2], s[3], s[4:7], u)
        return np.concatenate([s[4:7], [float(om)], np.array(a).ravel()])

    def energy(self, s: np.ndarray) -> float:
        return float(self._acceleration(s[2], s[3], s[4:7], np.zeros(3))[2])
