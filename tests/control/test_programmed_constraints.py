"""Programmed constraints on an arm of rods: its tip follows a line at a given speed.

Square, redundant, rank-deficient, underactuated; refusals.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import casadi
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.cart_cases import engine_of
from helpers.chains import off_by
from helpers.tolerances import PROGRAM_DECAY, PROGRAM_DERIVATIVE, PROGRAM_EXACT, PROGRAM_RESIDUAL, PROGRAM_SOLVER
from mechfmu import LinkChain
from mechfmu.codegen.recording import numpy_mode
from mechfmu.control.programmed_constraints import (
    ConstraintProgram,
    ProgramError,
    forces,
    response,
    response_of,
    singular_values,
)

ANGLE, SPEED, OFFSET = 0.4, 0.25, 0.1  # of the line, along it, and of the line from the start of the tip
K0, K1, KZ = 25.0, 10.0, 4.0
L = np.array([0.7, 0.6, 0.5])
NORMAL, ALONG = np.array([-np.sin(ANGLE), np.cos(ANGLE)]), np.array([np.cos(ANGLE), np.sin(ANGLE)])


class Arm:
    """A chain of rods as an arm: accelerations from the library's own equations of motion."""

    def __init__(self, links: int = 3, gravity: float = 9.81):
        self.n, self.chain = links, LinkChain(links=links)
        lengths = {f"link[{k + 1}].length": L[k] for k in range(links)} | {
            f"link[{k + 1}].com": 0.45 * L[k] for k in range(links)
        }
        _, self.x, self.d, self.u, self.p = self.chain.start(lengths | {"gravity": gravity, "joint[1].damping": 0.0})
        self.engine = engine_of("casadi", self.chain)

    def accelerations(self, q: np.ndarray, nu: np.ndarray, tau: np.ndarray) -> np.ndarray:
        x, u, table = self.x.copy(), self.u.copy(), self.chain.table
        x[table.x.part("q")], x[table.x.part("dq")], u[table.u.part("tau")] = q, nu, tau
        return self.engine.rates(0.0, x, self.d, u, self.p)[table.x.part("dq")]

    def response(self, q: np.ndarray, nu: np.ndarray, B: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        a, R = response_of(lambda tau: self.accelerations(q, nu, tau), self.n)
        return a, R if B is None else R @ B

    def follow(
        self, program: ConstraintProgram, q: np.ndarray, stop: float, B: np.ndarray | None = None, **how
    ) -> SimpleNamespace:
        """The motion under the program's forces; how[...] may be functions of (q, nu, a, R)."""
        B = np.eye(self.n) if B is None else B

        def control(t: float, s: np.ndarray):
            q, nu = s[: self.n], s[self.n :]
            a, R = self.response(q, nu, B)
            return program.control(q, nu, t, a, R, **{k: v(q, nu, a, R) if callable(v) else v for k, v in how.items()})

        def rates(t: float, s: np.ndarray) -> np.ndarray:
            q, nu = s[: self.n], s[self.n :]
            return np.concatenate([nu, self.accelerations(q, nu, B @ control(t, s).u)])

        times = np.linspace(0.0, stop, 41)
        solution = solve_ivp(
            rates,
            (0.0, stop),
            np.concatenate([q, 0 * q]),
            "DOP853",
            t_eval=times,
            rtol=PROGRAM_SOLVER,
            atol=PROGRAM_SOLVER,
        )
        assert solution.success, solution.message
        states = solution.y.T
        violations = [program.violation(s[: self.n], s[self.n :], t) for t, s in zip(times, states, strict=True)]
        controls = [control(t, s) for t, s in zip(times, states, strict=True)]
        y, y_rate, z = (np.array([getattr(v, name) for v in violations]) for name in ("y", "y_rate", "z"))
        q, nu = states[:, : self.n], states[:, self.n :]
        return SimpleNamespace(t=times, q=q, nu=nu, y=y, y_rate=y_rate, z=z, controls=controls)


def tip(q, lengths):
    th = np.cumsum(q)
    return np.stack([np.sum(lengths * np.cos(th)), np.sum(lengths * np.sin(th))])


def tip_velocity(q, nu, lengths):
    th, w = np.cumsum(q), np.cumsum(nu)
    return np.stack([np.sum(-lengths * np.sin(th) * w), np.sum(lengths * np.cos(th) * w)])


def on_a_line(q0: np.ndarray, drift: float = 0.0) -> ConstraintProgram:
    """phi: distance of the tip from a line, which may drift sideways; psi: error of its speed along the line."""
    lengths = L[: len(q0)]
    foot = tip(q0, lengths) + OFFSET * NORMAL

    def phi(q, t):
        p = tip(q, lengths)
        return np.stack([NORMAL[0] * (p[0] - foot[0]) + NORMAL[1] * (p[1] - foot[1]) - drift * t])

    def psi(q, nu, t):
        v = tip_velocity(q, nu, lengths)
        return np.stack([ALONG[0] * v[0] + ALONG[1] * v[1] - SPEED])

    return ConstraintProgram(lambda q, nu: nu, phi, psi, K0, K1, KZ)


def assert_decay(found: SimpleNamespace) -> None:
    """y'' = -k0 y - k1 y' with a double pole -5, z' = -kz z."""
    y0, v0, lam = found.y[0, 0], found.y_rate[0, 0], K1 / 2
    wanted = np.exp(-lam * found.t) * (y0 + (v0 + lam * y0) * found.t)
    assert abs(y0) > 0.05 and abs(found.z[0, 0]) > 0.2
    assert np.max(np.abs(found.y[:, 0] - wanted)) < PROGRAM_DECAY
    assert np.max(np.abs(found.z[:, 0] - found.z[0, 0] * np.exp(-KZ * found.t))) < PROGRAM_DECAY


Q3, Q2 = np.array([2.4, -2.2, -0.8]), np.array([2.2, -1.9])  # far from stretched, now and later


def damped(arm: Arm, damping: float = 2.0):
    """Preferred forces: carry the weight and damp every joint."""
    return lambda q, nu, a, R: -np.linalg.solve(R, arm.accelerations(q, 0 * nu, np.zeros(arm.n))) - damping * nu


def gauss(q, nu, a, R):
    """W = B^T M^-1 B with B = 1."""
    return R


# --- derivatives ------------------------------------------------------------------------------------------------------


def test_theta_and_s_are_the_derivatives_of_the_violations() -> None:
    """Along motions with any acceleration: y'' = Theta nu' + s, z' = ..., by differences."""
    random = np.random.default_rng(0)
    program = on_a_line(Q3, drift=0.3)
    for _ in range(5):
        q, nu, dnu, t, h = *random.uniform(-1, 1, (3, 3)), random.uniform(0, 2), 1e-3
        v = program.violation(q, nu, t)

        def at(tau: float, q=q, nu=nu, dnu=dnu, t=t):
            return program.violation(q + nu * tau + dnu * tau**2 / 2, nu + dnu * tau, t + tau)

        ahead = (at(-2 * h), at(-h), at(h), at(2 * h))
        y_rate, z = np.array([w.y_rate for w in ahead]), np.array([w.z for w in ahead])
        slope = [(8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h) for f in (y_rate, z)]
        assert np.max(np.abs(np.concatenate(slope) - (v.Theta @ dnu + v.s))) < PROGRAM_DERIVATIVE


def test_the_engine_records_the_same_forces() -> None:
    """The whole law as a graph of the casadi engine, against numbers."""
    arm, program = Arm(), on_a_line(Q3)
    q, nu, t = Q3, np.array([0.3, -0.2, 0.5]), 0.7
    a, R = arm.response(q, nu)
    sizes = {"q": 3, "nu": 3, "a": 3, "R": 9, "t": 1}
    symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
    with numpy_mode():
        S = {name: np.reshape(s, (sizes[name],)) for name, s in symbols.items()}
        law = program.control(
            S["q"],
            S["nu"],
            S["t"][0],
            S["a"],
            np.reshape(S["R"], (3, 3)),
            eps=0.01,
            W=np.reshape(S["R"], (3, 3)),
            preferred=S["nu"],
        )
        results = [casadi.SX(v) for v in (law.u, law.residual, law.singular_values)]
    found = casadi.Function("law", list(symbols.values()), results)(q, nu, a, R.ravel(), t)
    wanted = program.control(q, nu, t, a, R, eps=0.01, W=R, preferred=nu)
    for one, other in zip(found, (wanted.u, wanted.residual, wanted.singular_values), strict=True):
        assert off_by(np.array(one).ravel(), other) < PROGRAM_EXACT


def test_singular_values() -> None:
    random = np.random.default_rng(1)
    for shape in ((1, 3), (2, 3), (3, 3), (4, 2), (6, 6)):
        A = random.normal(size=shape) * np.logspace(0, -5, shape[0])[:, None]
        assert off_by(singular_values(A), np.linalg.svd(A, compute_uv=False)) < PROGRAM_EXACT


def test_responses_from_matrices_and_from_accelerations() -> None:
    random = np.random.default_rng(2)
    root, h, B = random.normal(size=(3, 3)), random.normal(size=3), random.normal(size=(3, 2))
    M = root @ root.T + np.eye(3)
    for one, other in zip(response(M, h, B), response_of(lambda u: np.linalg.solve(M, B @ u - h), 2), strict=True):
        assert off_by(one, other) < PROGRAM_EXACT


# --- as many inputs as equations --------------------------------------------------------------------------------------


@pytest.mark.parametrize("drift", (0.0, 0.2))
def test_square_the_tip_of_two_rods_follows_a_line(drift: float) -> None:
    found = Arm(2).follow(on_a_line(Q2, drift), Q2, 1.5)
    assert_decay(found)
    assert max(np.max(np.abs(c.residual)) for c in found.controls) < PROGRAM_RESIDUAL


def test_gains_of_each_equation() -> None:
    """Two equations of order 2 with decays of their own."""
    arm = Arm(2)
    foot = tip(Q2, L[:2]) + np.array([0.1, -0.15])
    k0, k1 = np.array([25.0, 4.0]), np.array([10.0, 4.0])
    program = ConstraintProgram(lambda q, nu: nu, lambda q, t: tip(q, L[:2]) - foot, k0=k0, k1=k1)
    found = arm.follow(program, Q2, 1.5)
    lam = k1 / 2
    t = found.t[:, None]
    assert np.max(np.abs(found.y - found.y[0] * (1 + lam * t) * np.exp(-lam * t))) < PROGRAM_DECAY


# --- more inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("W", (None, gauss), ids=("least_effort", "gauss"))
def test_redundant_the_tip_of_three_rods_follows_a_line(W) -> None:
    arm = Arm()
    found = arm.follow(on_a_line(Q3), Q3, 1.5, W=W, preferred=damped(arm))
    assert_decay(found)


def test_redundant_without_damping_the_rest_of_the_arm_runs_away() -> None:
    """The violations decay all the same; only the joints tell."""
    arm = Arm()
    wild, tame = (arm.follow(on_a_line(Q3), Q3, 1.2, preferred=preferred) for preferred in (None, damped(arm)))
    assert_decay(wild)
    assert np.max(np.abs(wild.nu)) > 3 * np.max(np.abs(tame.nu))
    assert np.max(np.abs(tame.nu)) < 15.0


def test_least_effort_and_least_deviation() -> None:
    """W = 1: the smallest forces.

    W = M^-1: forces Theta^T lambda, the smallest change of accelerations in the measure of M.
    """
    arm, program = Arm(), on_a_line(Q3)
    nu = np.array([0.4, -0.3, 0.2])
    a, R = arm.response(Q3, nu)
    v = program.violation(Q3, nu, 0.0)
    G, b = v.Theta @ R, program.wanted(v) - v.s - v.Theta @ a
    assert off_by(forces(G, b).u, np.linalg.lstsq(G, b, rcond=None)[0]) < PROGRAM_EXACT
    gentle = forces(G, b, W=R).u
    multipliers = np.linalg.lstsq(v.Theta.T, gentle, rcond=None)[0]
    assert off_by(v.Theta.T @ multipliers, gentle) < PROGRAM_EXACT
    free = np.linalg.svd(G)[2][2]  # a direction the program does not see
    for u, measure in ((forces(G, b).u, np.eye(3)), (gentle, R)):
        assert all(u @ measure @ u < (u + step * free) @ measure @ (u + step * free) for step in (0.1, -0.1))


# --- fewer inputs, loss of rank ---------------------------------------------------------------------------------------


def test_a_stretched_arm_asks_for_bounded_forces_when_damped() -> None:
    arm, program = Arm(), on_a_line(Q3)
    stretched, nu = np.array([0.4, 1e-3, 0.0]), np.zeros(3)
    a, R = arm.response(stretched, nu)
    exact, soft = (program.control(stretched, nu, 0.0, a, R, eps=eps) for eps in (None, 0.05))
    assert np.max(np.abs(exact.u)) > 10 * np.max(np.abs(soft.u))
    assert np.max(np.abs(soft.residual)) > 0.1 > 1e-6 > np.max(np.abs(exact.residual))
    assert exact.singular_values[-1] < 0.05 * exact.singular_values[0]


def test_one_input_for_two_equations_the_smaller_eps_matters_more() -> None:
    arm, program = Arm(), on_a_line(Q3)
    a, R = arm.response(Q3, np.zeros(3), np.array([[0.0], [1.0], [0.0]]))
    for first in (0, 1):
        eps = np.array([1e-4, 1e-1]) if first == 0 else np.array([1e-1, 1e-4])
        residual = np.abs(program.control(Q3, np.zeros(3), 0.0, a, R, eps=eps).residual)
        assert residual[first] < 1e-4 * residual[1 - first]


def test_underactuated_the_program_holds_with_a_passive_joint() -> None:
    """rank G = 2 with two motors: the violations decay exactly, while the passive joint goes where it must."""
    arm, B = Arm(gravity=0.0), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found = arm.follow(on_a_line(Q3), Q3, 0.8, B)
    assert_decay(found)
    assert np.ptp(found.q[:, 2]) > 0.3
    assert (
        min(c.singular_values[-1] for c in found.controls) > 0.05
    )  # to be watched: at 0 the motors have lost their grip


# --- refusals ---------------------------------------------------------------------------------------------------------


def refusal(
    program: ConstraintProgram, q: np.ndarray = Q3, B: np.ndarray | None = None, eps: float | None = None
) -> str:
    arm = Arm()
    with pytest.raises(ProgramError) as refused:
        program.check_feasible(q, np.zeros(3), 0.0, arm.response(q, np.zeros(3), B)[1], eps)
    return str(refused.value)


def test_infeasible_programs_are_rejected_with_a_reason() -> None:
    program = on_a_line(Q3)
    program.check_feasible(Q3, np.zeros(3), 0.0, Arm().response(Q3, np.zeros(3))[1])  # nothing to say against this one
    twice = replace(program, phi=lambda q, t: np.stack([program.phi(q, t)[0], 2.0 * program.phi(q, t)[0]]))
    assert refusal(twice) == "the equations of the program depend on each other: 3 equations, rank 2"
    timed = replace(program, phi=lambda q, t: np.stack([program.phi(q, t)[0] + t, 0.0 * q[0] + t]))
    assert refusal(timed).startswith(
        "equation 2 of the program is of higher order: no input acts on its second derivative"
    )
    last = np.array([[0.0], [0.0], [1.0]])
    assert refusal(program, B=last) == "2 equations for 1 inputs: they can only be kept approximately, with eps > 0"
    straight = np.array([ANGLE, 0.0, 0.0])
    line = replace(program, psi=None, phi=lambda q, t: tip(q, L) - tip(np.array([0.3, 0.2, 0.1]), L))
    assert refusal(line, straight) == "the equations of the program depend on each other: 2 equations, rank 1"
    blind = replace(program, phi=lambda q, t: np.stack([q[0] + 0.0 * t]), psi=None)
    assert refusal(blind, B=np.zeros((3, 1))).startswith("equation 1 of the program is of higher order")
    broken = replace(program, psi=None, phi=lambda q, t: np.stack([np.sqrt(q[0] - Q3[0])]))
    with np.errstate(all="ignore"):
        assert refusal(broken) == "the program has no finite derivatives at this state"
    with pytest.raises(ProgramError, match="the program has no equation"):
        ConstraintProgram(lambda q, nu: nu).violation(Q3, Q3, 0.0)


def test_inputs_that_cannot_act_on_all_equations() -> None:
    """Two motors on the same joint."""
    same = np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    assert (
        refusal(on_a_line(Q3), B=same)
        == "the inputs cannot act on all equations at this state: they can only be kept approximately, with eps > 0"
    )
    on_a_line(Q3).check_feasible(Q3, np.zeros(3), 0.0, Arm().response(Q3, np.zeros(3), same)[1], eps=0.01)
