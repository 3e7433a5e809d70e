"""The PID controller against closed forms.

Its own states under held inputs, and linear loops with known exponentials; both kinds of FMU.
"""

from __future__ import annotations

import fmpy.validation
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from helpers.build import Build
from helpers.description import Description
from helpers.fmu_client import Host, Refused
from helpers.tolerances import PID_EXACT, PID_SOLVER, SINGLE
from mechfmu.mechanisms.pid_controller.model import PidController
from mechfmu.model import UserError
from mechfmu.simulation.engines import NAMES, engine

MASS, KP, KI, KD = 2.0, 18.0, 9.0, 11.0


class Loop:
    """A controller and the mass m y'' = u + disturbance as one set of differential equations, without sampling."""

    def __init__(
        self, controller: PidController, start: dict[str, float], disturbance: float = 0.0, engine_name: str = "casadi"
    ):
        self.controller, self.engine, self.disturbance = controller, engine(engine_name, controller), disturbance
        _, self.x0, self.d, self.u, self.p = controller.start(start)

    def _inputs(self, y: float, dy: float) -> np.ndarray:
        measured = {"measurement[1]": y, "measurement_rate[1]": dy, "measurement[2]": dy}
        for name, value in measured.items():
            if scalar := self.controller.table.by_name.get(name):
                self.u[scalar.index] = value
        return self.u

    def rates(self, t: float, s: np.ndarray) -> np.ndarray:
        u = self._inputs(s[0], s[1])
        force = self.controller.table.y(self.engine.outputs(t, s[2:], self.d, u, self.p)).u[0]
        return np.concatenate(
            [[s[1], (force + self.disturbance) / MASS], self.engine.rates(t, s[2:], self.d, u, self.p)]
        )

    def run(self, y: float, dy: float, times: np.ndarray) -> np.ndarray:
        solution = solve_ivp(
            self.rates,
            (0.0, times[-1]),
            [y, dy, *self.x0],
            "DOP853",
            t_eval=times,
            rtol=PID_SOLVER,
            atol=PID_SOLVER,
            max_step=0.02,
        )
        assert solution.success
        return solution.y


def gains(**values: float) -> dict[str, float]:
    return {f"gain.{name}[1]": value for name, value in values.items()}


TIMES = np.linspace(0.0, 3.0, 31)
PID = gains(proportional=KP, integral=KI, derivative=KD)


# --- linear loops -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_loop_with_a_mass_is_its_matrix_exponential(name: str) -> None:
    """m y'' = kp (r - y) + I - kd y' + w, I' = ki (r - y): the integral carries the disturbance w in the end."""
    r, w = 0.7, -5.0
    A = np.array([[0, 1, 0], [-KP / MASS, -KD / MASS, 1 / MASS], [-KI, 0, 0]])
    rest = np.array([r, 0.0, -w])
    start = np.array([-0.4, 1.0, 0.0])
    found = Loop(PidController(), PID | {"reference[1]": r}, w, name).run(*start[:2], TIMES)
    wanted = np.array([rest + expm(A * t) @ (start - rest) for t in TIMES]).T
    assert np.max(np.abs(found - wanted)) < PID_EXACT


def test_the_loop_with_a_filtered_derivative_is_its_matrix_exponential() -> None:
    """State (y, y', I, z): e' is replaced by (e - z)/Tf."""
    r, Tf = 0.7, 0.05
    A = np.array(
        [[0, 1, 0, 0], [-(KP + KD / Tf) / MASS, 0, 1 / MASS, -KD / Tf / MASS], [-KI, 0, 0, 0], [-1 / Tf, 0, 0, -1 / Tf]]
    )
    rest = np.array([r, 0.0, 0.0, 0.0])
    start = np.array([-0.4, 1.0, 0.0, 0.0])
    found = Loop(PidController(rate="filtered"), PID | {"reference[1]": r, "filter.time[1]": Tf}).run(*start[:2], TIMES)
    wanted = np.array([rest + expm(A * t) @ (start - rest) for t in TIMES]).T
    assert np.max(np.abs(found - wanted)) < PID_EXACT


def test_state_feedback_places_the_poles() -> None:
    """u = K (x_ref - x) on (y, y') with m y'' = u: poles -3 and -4 give a sum of two exponentials."""
    k = {"gain.state[1,1]": 12 * MASS, "gain.state[1,2]": 7 * MASS}
    found = Loop(PidController(law="state_feedback"), k | {"reference[1]": 0.5}).run(1.5, 0.0, TIMES)
    assert np.max(np.abs(found[0] - (0.5 + 4 * np.exp(-3 * TIMES) - 3 * np.exp(-4 * TIMES)))) < PID_EXACT


def test_a_filter_of_no_time_is_the_measured_rate() -> None:
    """The difference of the two laws vanishes with Tf: it falls by about ten when Tf does."""
    measured = Loop(PidController(), PID).run(1.0, 0.0, TIMES)[0]
    gaps = []
    for Tf in (0.01, 0.001):
        loop = Loop(PidController(rate="filtered"), PID | {"filter.time[1]": Tf})
        loop.x0[1] = -1.0  # the filter has settled on the error of the start
        gaps.append(np.max(np.abs(loop.run(1.0, 0.0, TIMES)[0] - measured)))
    assert 8.0 < gaps[0] / gaps[1] < 12.0


def test_anti_windup_shortens_the_overshoot() -> None:
    """Into a limit for long: with anti-windup the loop stays near the reference, without it overshoots far."""
    limits = {"limit.lower[1]": -1.0, "limit.upper[1]": 1.0, "reference[1]": 3.0}
    times = np.linspace(0.0, 40.0, 401)
    over = {
        ka: np.max(Loop(PidController(), PID | limits | {"antiwindup.gain[1]": ka}).run(0.0, 0.0, times)[0]) - 3.0
        for ka in (0.0, 10.0)
    }
    assert over[10.0] < 0.5 < 2.0 < over[0.0]


# --- single evaluations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ({}, {"rate": "filtered"}, {"law": "state_feedback", "measurements": 5}), ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_engines_agree_with_the_formulas_written_out(name: str, options: dict) -> None:
    random = np.random.default_rng(3)
    controller = PidController(channels=3, **options)
    _, x, d, u, p = controller.start()
    x, u, p = (random.uniform(0.5, 2.0, v.size) for v in (x, u, p))
    p[controller.table.p.part("lower")], p[controller.table.p.part("upper")] = (
        [-9.0, -9.0, 50.0],
        [0.5, 90.0, 60.0],
    )  # above, within, below
    X, U, P = controller.table.x(x), controller.table.u(u), controller.table.p(p)
    e, wanted_I, v = U.r - U.y, [], []
    for k in range(3):
        if options.get("law") == "state_feedback":
            v.append(U.ff[k] + X.I[k] + sum(P.K[5 * k + j] * e[j] for j in range(5)))
            wanted_I.append(sum(P.Ki[5 * k + j] * e[j] for j in range(5)))
        else:
            rate = (e[k] - X.z[k]) / P.Tf[k] if options else U.dr[k] - U.dy[k]
            v.append(U.ff[k] + P.kp[k] * e[k] + X.I[k] + P.kd[k] * rate)
            wanted_I.append(P.ki[k] * e[k])
    limited = [min(max(a, lo), hi) for a, lo, hi in zip(v, P.lower, P.upper, strict=True)]
    wanted_I = [i + ka * (a - b) for i, ka, a, b in zip(wanted_I, P.ka, limited, v, strict=True)]
    y = controller.table.y(engine(name, controller).outputs(0.0, x, d, u, p))
    dx = controller.table.x(engine(name, controller).rates(0.0, x, d, u, p))
    assert np.max(np.abs(y.v - v)) < SINGLE * 10
    assert np.max(np.abs(y.u - limited)) < SINGLE * 10
    assert list(y.saturated) == [1.0, 0.0, 1.0]
    assert np.max(np.abs(dx.I - wanted_I)) < SINGLE * 1e3  # of the order of 100


def test_limits_that_cross_are_rejected() -> None:
    with pytest.raises(UserError, match=r"^limit.upper\[2\] must be greater than limit.lower\[2\]$"):
        PidController(channels=2).start({"limit.lower[2]": 1.0, "limit.upper[2]": 1.0})


# --- FMUs -------------------------------------------------------------------------------------------------------------


def test_states_of_the_fmu_under_held_inputs(fmu: Build, host: Host) -> None:
    """I grows with ki e, the filter settles exponentially; in the limit I follows an exponential of rate ka."""
    slave = host.open(fmu("pid_controller", rate="filtered"))
    slave.initialize(
        PID | {"filter.time[1]": 0.2, "reference[1]": 1.0, "integral_start[1]": -3.0}, tolerance=PID_SOLVER
    )
    rows = slave.run([0.1] * 10, ["integral[1]", "filter.error[1]", "output[1]"])
    t = 0.1 * np.arange(1, 11)
    z = 1 - np.exp(-t / 0.2)
    assert np.max(np.abs(rows - np.array([-3 + KI * t, z, KP + KD * (1 - z) / 0.2 - 3 + KI * t]).T)) < PID_EXACT

    slave.reset()
    ka, top = 4.0, 10.0
    slave.initialize(
        gains(proportional=KP, integral=KI) | {"limit.upper[1]": top, "antiwindup.gain[1]": ka, "reference[1]": 1.0},
        tolerance=PID_SOLVER,
    )
    rows = slave.run([0.1] * 10, ["integral[1]", "output[1]", "output_unlimited[1]", "saturated[1]"])
    rest = KI / ka + top - KP  # where ki e + ka (top - kp e - I) = 0
    integral = rest * (1 - np.exp(-ka * t))
    assert np.max(np.abs(rows - np.array([integral, 0 * t + top, KP + integral, 0 * t + 1]).T)) < PID_EXACT


def test_two_fmus_in_a_sampled_loop_follow_the_exact_recurrence(fmu: Build, host: Host) -> None:
    """A single weightless rod is a rotating mass.

    With held torques both FMUs are linear over a step, and the loop is a power of a matrix.
    """
    plant = host.open(fmu("link_chain", links=1), "plant")
    controller = host.open(fmu("pid_controller"), "controller")
    inertia, h, r = 10.0 / 3.0, 0.01, 0.6  # m l^2/3 of the default rod
    plant.initialize({"gravity": 0.0, "joint[1].angle_start": -0.5, "joint[1].rate_start": 0.3}, tolerance=PID_SOLVER)
    controller.initialize(PID | {"reference[1]": r}, tolerance=PID_SOLVER)
    # s = (q, w, I, 1): torque = kp (r - q) - kd w + I held over h; I grows by ki (r - q) h
    torque = np.array([-KP, -KD, 1.0, KP * r])
    step = np.eye(4) + np.outer([h**2 / 2 / inertia, h / inertia, 0, 0], torque)
    step[0, 1] += h
    step[2] += np.array([-KI, 0, 0, KI * r]) * h
    s = np.array([-0.5, 0.3, 0.0, 1.0])
    for _ in range(400):
        controller.set({"measurement[1]": plant["joint[1].angle"], "measurement_rate[1]": plant["joint[1].rate"]})
        plant.set({"joint[1].torque": controller["output[1]"]})
        plant.step(h)
        controller.step(h)
        s = step @ s
        assert abs(plant["joint[1].angle"] - s[0]) < PID_EXACT
        assert abs(controller["integral[1]"] - s[2]) < PID_EXACT
    assert abs(s[0] - r) < 0.2


def test_feed_through_is_declared(fmu: Build) -> None:
    """Outputs depend on the measurements at once; the integral does not."""
    unknowns = Description(fmu("pid_controller", channels=2)).unknowns("Outputs")
    assert unknowns["integral[1]"] == ["integral[1]"]
    assert set(unknowns["output[1]"]) == {
        "integral[1]",
        "reference[1]",
        "measurement[1]",
        "reference_rate[1]",
        "measurement_rate[1]",
        "feed_forward[1]",
    }


@pytest.mark.parametrize(
    "options", ({"channels": 2}, {"rate": "filtered"}, {"law": "state_feedback", "channels": 2}), ids=str
)
def test_it_is_a_valid_fmu(fmu: Build, options: dict) -> None:
    assert fmpy.validation.validate_fmu(str(fmu("pid_controller", **options))) == []


def test_the_fmu_rejects_crossed_limits_and_bad_numbers(fmu: Build, host: Host) -> None:
    slave = host.open(fmu("pid_controller")).enter({"limit.lower[1]": 2.0, "limit.upper[1]": 1.0})
    with pytest.raises(Refused, match=r"limit.upper\[1\] must be greater than limit.lower\[1\]"):
        slave.call("exitInitializationMode")
    with pytest.raises(Refused, match=r"measurement\[1\] = nan: must be a finite number"):
        slave.set({"measurement[1]": float("nan")})
