"""Linear-quadratic regulators: closed forms, optimality, and weights or mechanisms for which there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from helpers.tolerances import QUATERNION_MODE, REGULATED_ANGLE, REGULATED_TORQUE, RICCATI
from mechfmu import Exoskeleton, LinkChain, SphericalArm, WheeledCart
from mechfmu.analysis.linear import Linear, linearize, start_at, trim
from mechfmu.analysis.lqr import StateFeedback, lqr_controller
from mechfmu.model import UserError
from mechfmu.simulation.simulate import simulate_mechanism

ROD = LinkChain(links=1)
INERTIA = 10.0 / 3  # kg m2 about its end
MOTORS = tuple(f"joint[{k}].torque" for k in (1, 2, 3))


@cache
def floating_rod() -> Linear:
    """A double integrator: a rod without weight."""
    return linearize(ROD, {"gravity": 0.0, "joint[1].angle_start": 0.0})


@cache
def upright() -> Linear:
    chain = LinkChain(links=3)
    return linearize(chain, point=trim(chain, {"joint[1].angle_start": 1.5}))


def weights(linear: Linear) -> dict[str, float]:
    return {name: 10.0 if name.endswith("angle") else 1.0 for name in linear.states}


@pytest.mark.parametrize("as_matrix", (False, True))
def test_the_gains_of_a_double_integrator(as_matrix: bool) -> None:
    """J x'' = u with the cost q x^2 + r u^2: K = (sqrt(q/r), sqrt(2 J sqrt(q/r)))."""
    q, r = 9.0, 0.25
    one = floating_rod().select(inputs=["joint[1].torque"])
    if as_matrix:
        law = one.lqr(np.diag([q, 0.0]), [[r]])
    else:
        law = floating_rod().lqr({"joint[1].angle": q}, {"joint[1].torque": r})
    stiffness = np.sqrt(q / r)
    assert law.K[0] == pytest.approx([stiffness, np.sqrt(2 * INERTIA * stiffness)], rel=RICCATI)
    assert law.inputs == ("joint[1].torque",) and law.states == ("joint[1].angle", "joint[1].rate")


def test_the_law_is_a_controller_by_name() -> None:
    point = trim(ROD, {"joint[1].angle_start": 0.5}, hold=["joint[1].angle"], free=["joint[1].torque"])
    law = linearize(ROD, point=point).lqr({"joint[1].angle": 100.0}, {"joint[1].torque": 1.0})
    (carry,) = law.u0
    assert carry == pytest.approx(10.0 * 9.81 * 0.5 * np.cos(0.5))
    assert law(0.0, {"joint[1].angle": 0.5, "joint[1].rate": 0.0}) == {"joint[1].torque": pytest.approx(carry)}
    moved = law(0.0, {"joint[1].angle": 0.7, "joint[1].rate": 0.1})
    assert moved["joint[1].torque"] == pytest.approx(carry - law.K[0] @ [0.2, 0.1])
    swung = ROD.simulate(stop=8.0, start={"joint[1].angle_start": 0.9}, controller=law, period=0.01)
    assert swung["joint[1].angle"][-1] == pytest.approx(0.5, abs=REGULATED_ANGLE)
    assert swung.inputs["joint[1].torque"][-1] == pytest.approx(carry, abs=REGULATED_TORQUE)


def cost(law: StateFeedback, period: float, q: float, r: float) -> float:
    """The cost of a run, from the simulation alone."""
    start = {"gravity": 0.0, "joint[1].angle_start": 1.0}
    result = simulate_mechanism(
        ROD, stop=12.0, step=period / 10, start=start, controller=law, period=period, engine="c"
    )
    torque = result.inputs["joint[1].torque"]
    running = q * result["joint[1].angle"] ** 2
    return float(np.sum((running[1:] + running[:-1]) / 2 + r * torque[:-1] ** 2) * period / 10)


def test_a_sampled_law_is_the_best_of_its_period() -> None:
    """At a period of 0.5 s it costs less than its neighbours and than the continuous law, to which it tends."""
    q, r, period = 9.0, 0.25, 0.5
    Q, R = {"joint[1].angle": q}, {"joint[1].torque": r}
    best, continuous = floating_rod().lqr(Q, R, period), floating_rod().lqr(Q, R)
    least = cost(best, period, q, r)
    neighbours = [replace(best, K=best.K * np.array(by)) for by in ((1.03, 1), (0.97, 1), (1, 1.03), (1, 0.97))]
    assert all(cost(law, period, q, r) > least * (1 + 1e-5) for law in neighbours)
    assert cost(continuous, period, q, r) > 1.01 * least
    errors = [np.abs(floating_rod().lqr(Q, R, h).K / continuous.K - 1).max() for h in (1e-3, 1e-4)]
    assert errors[1] < 1e-3 and errors[0] / errors[1] == pytest.approx(10.0, rel=0.05)


def test_three_rods_stand_with_a_sampled_law_where_the_other_is_too_fast() -> None:
    """Modes of 227 1/s are too fast for a period of 0.01 s: the gains must allow for it."""
    chain, model = LinkChain(links=3), upright()
    R = dict.fromkeys(MOTORS, 0.1)
    start = start_at(chain, model.point) | {"joint[3].rate_start": -1.0}
    runs = [
        chain.simulate(stop=2.0, start=start, controller=law, period=0.01)
        for law in (model.lqr(weights(model), R, 0.01), model.lqr(weights(model), R))
    ]
    sampled, fast = (np.abs(run["joint[3].rate"][-50:]).max() for run in runs)
    assert sampled < 0.01 < 1.0 < fast


def test_a_pinned_exoskeleton_stands_by_its_law() -> None:
    """The modes that hold its feet are out of reach of the moments and decay: they need no control."""
    exoskeleton = Exoskeleton(leg1=1, leg2=1, body=1, contact="pinned")
    moments = [s.name for s in exoskeleton.table.of("input") if "moment" in s.name]
    model = linearize(exoskeleton, point=trim(exoskeleton, free=moments))
    law = model.lqr(np.eye(len(model.states)), dict.fromkeys(moments, 1e-4), 0.005)
    standing, hip = start_at(exoskeleton, model.point), "hip.moment[1]"

    def pushed(law: Any) -> np.ndarray:
        """The angle of the body after a push of 50 N m for 0.1 s."""

        def controller(t: float, y: Mapping[str, float]) -> dict[str, float]:
            wanted = {hip: standing[hip], **law(t, y)}
            return {**wanted, hip: wanted[hip] + (50.0 if t < 0.1 else 0.0)}

        result = exoskeleton.simulate(stop=1.5, step=0.01, start=standing, controller=controller, period=0.005)
        return np.abs(result["link[3].angle"] - np.pi / 2)

    held = pushed(law)
    assert held[-1] < 0.01 < held.max() < 0.05 < 1.0 < pushed(lambda t, y: {})[-1]


def test_quaternions_need_no_control() -> None:
    arm = SphericalArm()
    model = linearize(arm, point=trim(arm))
    law = model.lqr(np.eye(len(model.states)), {name: 1.0 for name in model.inputs if "torque" in name})
    closed = np.linalg.eigvals(model.A - model.select(inputs=law.inputs).B @ law.K)
    assert closed.real.max() < -0.1
    assert np.sum(np.abs(closed + 20.0) < QUATERNION_MODE) == 2, "one mode per quaternion is unchanged"


def refused(message: str) -> Any:
    return pytest.raises(UserError, match=f"^{message}$")


Q6, R6 = np.eye(6), np.eye(6)
WEIGHTS: dict[str, tuple[Any, Any, str]] = {
    "state": (
        {"joint[1].angel": 1.0},
        {MOTORS[0]: 1.0},
        r"Q: the linear system has no state joint\[1\]\.angel; did you mean joint\[1\]\.angle\?",
    ),
    "input": (
        Q6,
        {"joint[1].torqe": 1.0},
        r"R: the linear system has no input joint\[1\]\.torqe; did you mean joint\[1\]\.torque\?",
    ),
    "no input": (Q6, {}, "LQR needs at least one input: give R the weights of those that it may use"),
    "negative": (
        {"joint[1].angle": -1.0},
        {MOTORS[0]: 1.0},
        r"Q: the weight of joint\[1\]\.angle is -1: must not be negative",
    ),
    "zero": (Q6, {MOTORS[1]: 0}, r"R: the weight of joint\[2\]\.torque is 0: must be greater than 0"),
    "nan": (Q6, {MOTORS[1]: float("nan")}, r"R: the weight of joint\[2\]\.torque is nan: must be a finite number"),
    "text": (Q6, {MOTORS[1]: "1"}, r"R: the weight of joint\[2\]\.torque is '1': must be a finite number"),
    "shape": (
        np.eye(5),
        R6,
        r"Q has the shape \(5, 5\): must be \(6, 6\), for joint\[1\]\.angle, .*; or a dict of weights by name",
    ),
    "no matrix": ("abc", R6, "Q: must be a matrix of numbers, or a dict of weights by name"),
    "infinite": (
        Q6,
        np.diag([1, 1, 1, 1, np.inf, 1]),
        r"R: the weight of tip\.force_y and tip\.force_y is inf: must be finite",
    ),
    "skew": (Q6 + np.eye(6, k=1), R6, r"Q is not symmetric: 1 and 0 for joint\[1\]\.angle and joint\[2\]\.angle"),
    "indefinite": (
        np.diag([1, 1, 1, 1, -2, 1]),
        R6,
        r"Q has the eigenvalue -2, mostly of joint\[2\]\.rate: it must not be negative",
    ),
    "singular": (
        Q6,
        np.diag([1, 1, 1, 1, 1, 0]),
        r"R has the eigenvalue 0, mostly of tip\.moment: it must be greater than 0",
    ),
    "unreached": (
        Q6,
        {"tip.force_y": 1.0},
        r"joint\[\d\]\.\w+ cannot be controlled: the mode at 17\.8 1/s, in which it moves, "
        r"does not decay and is out of reach of tip\.force_y",
    ),
}


@pytest.mark.parametrize(("Q", "R", "message"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_invalid_weights(Q: Any, R: Any, message: str) -> None:
    with refused(message):
        upright().lqr(Q, R)
    with refused("period -1: must be a finite number of seconds, greater than 0"):
        upright().lqr(Q6, R6, -1)


def test_where_there_is_no_regulator() -> None:
    """Away from equilibria, for modes that no input reaches, and for modes that Q does not see."""
    with refused(
        r"LQR needs an equilibrium: joint\[2\]\.rate changes at a rate of \S+ at this point; find one with trim"
    ):
        with pytest.warns(RuntimeWarning, match="not an equilibrium"):
            moving = linearize(LinkChain(links=3))
        moving.lqr(Q6, dict.fromkeys(MOTORS, 1.0))
    cart = linearize(WheeledCart(), point=trim(WheeledCart()))
    with refused(
        r"pose\.[xy] cannot be controlled: the mode at 0 1/s, in which it moves, "
        r"does not decay and is out of reach of wheel\.left_torque, .*"
    ):
        cart.lqr(np.eye(len(cart.states)), np.eye(len(cart.inputs)))  # it cannot be driven sideways
    with refused(
        r"Q has no weight on joint\[1\]\.angle: the mode at 0 1/s, in which it moves, would last; "
        "give it a weight greater than 0"
    ):
        floating_rod().lqr({"joint[1].rate": 1.0}, {"joint[1].torque": 1.0})
    exoskeleton = Exoskeleton(leg1=1, leg2=1, body=1, contact="pinned")
    moments = [s.name for s in exoskeleton.table.of("input") if "moment" in s.name]
    loose = linearize(exoskeleton, point=trim(exoskeleton, {"ground.stabilization": 0.0}, free=moments))
    with refused(r"\S+ cannot be controlled: the mode at 0 1/s, .* out of reach of .*"):
        loose.lqr(np.eye(len(loose.states)), dict.fromkeys(moments, 1.0))


def test_the_law_as_a_mechanism_is_the_same_law() -> None:
    """With limits it is cut off, and nothing remains of it afterwards."""
    model = upright()
    law = model.lqr(weights(model), dict.fromkeys(MOTORS, 0.1))
    controller, start = lqr_controller(model, weights(model), dict.fromkeys(MOTORS, 0.1))
    assert {name for name in start if not re.match(r"gain\.state|reference|feed_forward|antiwindup", name)} == set()
    x = model.x0 + np.random.default_rng(1).normal(size=6)
    measured = {f"measurement[{j}]": value for j, value in enumerate(x, 1)}
    result = controller.simulate(stop=0.1, start={**start, **measured, "limit.upper[1]": 0.5, "limit.lower[1]": -0.5})
    wanted = list(law(0.0, dict(zip(model.states, x, strict=True))).values())
    assert abs(wanted[0]) > 0.5 and [result[f"output[{k}]"][-1] for k in (2, 3)] == pytest.approx(wanted[1:])
    assert result["output[1]"][-1] == pytest.approx(np.sign(wanted[0]) * 0.5) and result["integral[1]"][-1] == 0.0
    wires = law.connections("plant", "control")
    assert len(wires) == 9 and wires["plant.joint[2].angle"] == "control.measurement[2]"
    assert wires["control.output[3]"] == "plant.joint[3].torque"
