"""The wheeled cart as a plant: golden data, other formulations, invariants, and the errors of the article put back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.cart_cases import (
    CART_NAMES,
    DQ,
    NU,
    TORQUES,
    Q,
    default_constants,
    engine_of,
    evaluated,
    golden,
    named,
    starts,
)
from helpers.cart_plant_cases import ACCELERATIONS, OPEN_LOOP, case_start
from helpers.cart_reference import FREE, RIGID, Voronets, accelerations, mass_matrix, rolling_matrix
from helpers.chains import off_by
from helpers.tolerances import (
    ACCELERATION,
    CART_ENERGY,
    CART_SAME_MOTION,
    CART_SOLVER,
    CART_TRAJECTORY,
    MULTIPLIERS,
    ROLLING,
    ROUNDING,
)
from mechfmu import WheeledCart
from mechfmu.mechanisms.wheeled_cart.equations import (
    Drive,
    free_equations,
    kinetic_energy,
    pose_rates,
    rigid_accelerations,
    wheel_rates,
)
from mechfmu.model import UserError
from mechfmu.simulation.engines import NAMES

PARAMETERS = OPEN_LOOP["parameters"]
FRONTS = ("rigid", "free", "viscous")
FRICTION = {"wheel.damping": 0.05, "wheel.rolling_resistance": 0.2, "wheel.rolling_rate": 0.5, "steering.damping": 0.02}


def driven(t: float) -> np.ndarray:
    """The torques of the golden open loop."""
    return np.array([1.2 + np.sin(1.3 * t), 1.0 + 1.2 * np.sin(1.1 * t + 0.5), 0.02 * np.sin(2 * t)])


def undriven(t: float) -> np.ndarray:
    return np.zeros(3)


def run(
    cart: WheeledCart, start: dict[str, float], times: np.ndarray, torques=driven, rtol: float = CART_SOLVER
) -> tuple[dict, dict]:
    """States and outputs by name under torques that are functions of time."""
    e = engine_of("casadi", cart)
    _, x, d, _, p = cart.start(start)
    solution = solve_ivp(
        lambda t, x: e.rates(t, x, d, torques(t), p),
        (times[0], times[-1]),
        x,
        "DOP853",
        t_eval=times,
        rtol=rtol,
        atol=rtol,
    )
    assert solution.success, solution.message
    y = np.array([e.outputs(t, x, d, torques(t), p) for t, x in zip(times, solution.y.T, strict=True)])
    return {s.name: solution.y[s.index] for s in cart.table.of("state")}, {
        s.name: y[:, s.index] for s in cart.table.of("output")
    }


def random_start(front: str, seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    nu = NU["rigid" if front == "rigid" else "free"]
    return starts(Q, random.uniform(-2, 2, 7)) | starts(nu, random.uniform(-1.5, 1.5, len(nu)))


GENERAL = {
    "body.mass": 31.0,
    "wheel.mass": 3.5,
    "geometry.front": 0.7,
    "geometry.rear": 0.2,
    "geometry.half_track": 0.35,
    "wheel.radius": 0.21,
}


# --- golden data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_accelerations(name: str) -> None:
    """Rates, accelerations, energy, power and side force of 40 states, by every engine."""
    assert {c["front"] for c in ACCELERATIONS["cases"]} == {"rigid", "free"}
    for case in ACCELERATIONS["cases"]:
        found = evaluated(WheeledCart(front=case["front"]), case_start(case), name)
        assert off_by([found[n] for n in DQ], case["qdot"]) < ACCELERATION
        assert off_by([found[f"der({n})"] for n in NU[case["front"]]], case["nudot"]) < ACCELERATION
        assert (
            off_by(
                [found["pose.acceleration_x"], found["pose.acceleration_y"], found["steering.acceleration"]],
                case["qddot"][:3],
            )
            < ACCELERATION
        )
        assert off_by(found["energy.kinetic"], case["kinetic_energy"]) < ACCELERATION
        assert abs(found["der(energy.input)"] - case["power"]) < ACCELERATION * max(1.0, abs(case["power"]))
        wanted = case.get("front_lateral_force", 0.0)
        assert abs(found["front.side_force"] - wanted) < ACCELERATION * max(1.0, abs(wanted))


def test_ten_seconds_under_given_torques() -> None:
    data = OPEN_LOOP["rigid"]
    start = named(CART_NAMES, PARAMETERS) | starts(Q, data["q0"]) | starts(NU["rigid"], data["nu0"])
    states, outputs = run(WheeledCart(), start, np.array(data["t"]))
    assert np.max(np.abs(np.array([states[n] for n in Q]).T - data["q"])) < CART_TRAJECTORY
    assert np.max(np.abs(np.array([states[n] for n in NU["rigid"]]).T - data["nu"])) < CART_TRAJECTORY
    assert off_by(outputs["energy.kinetic"], data["kinetic_energy"]) < CART_TRAJECTORY
    assert off_by(states["energy.input"], data["work"]) < CART_TRAJECTORY


# --- other formulations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", ({}, FRICTION), ids=("smooth", "friction"))
@pytest.mark.parametrize("front", FRONTS)
def test_seven_coordinates_with_multipliers(front: str, friction: dict[str, float]) -> None:
    """Accelerations and side force agree with M q'' + h = tau + Jc^T lambda, with friction and viscous side force."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        p = {k: v * random.uniform(0.6, 1.6) for k, v in PARAMETERS.items()}
        torque = random.uniform(-5, 5, 3)
        lateral = {"front.lateral_damping": 70.0} if front == "viscous" else {}
        start = (
            named(CART_NAMES, p)
            | friction
            | lateral
            | random_start(front, seed)
            | dict(zip(TORQUES, torque, strict=True))
        )
        found = evaluated(WheeledCart(front=front), start)
        q, dq = np.array([found[n] for n in Q]), np.array([found[n] for n in DQ])
        drag = [
            friction.get("wheel.damping", 0) * w + friction.get("wheel.rolling_resistance", 0) * np.tanh(w / 0.5)
            for w in dq[4:]
        ]
        tau = np.array(
            [
                0,
                0,
                torque[2] - friction.get("steering.damping", 0) * dq[2],
                0,
                -drag[0],
                torque[0] - drag[1],
                torque[1] - drag[2],
            ]
        )
        side = np.array(
            [-np.sin(q[2] + q[3]), np.cos(q[2] + q[3]), 0, p["l1"] * np.cos(q[2]), 0, 0, 0]
        )  # a unit force to the left on the front wheel
        slip = side @ dq
        if front == "viscous":
            tau = tau - 70.0 * slip * side
        wanted, multipliers = accelerations(q, dq, tau, p, RIGID if front == "rigid" else FREE)
        nu = NU["rigid" if front == "rigid" else "free"]
        ahead = {"front.speed": p["r"] * wanted[4], "steering.rate": wanted[2], "yaw_rate": wanted[3]}
        c, s = np.cos(q[3]), np.sin(q[3])
        ahead["rear.speed"] = (
            wanted[0] * c + wanted[1] * s + p["l2"] * dq[3] ** 2
        )  # q1'' = v' c - v om s - l2 (om' s + om^2 c), ...
        assert off_by([found[f"der({n})"] for n in nu], [ahead[n] for n in nu]) < ACCELERATION
        assert off_by([found["pose.acceleration_x"], found["pose.acceleration_y"]], wanted[:2]) < ACCELERATION
        force = {"rigid": -multipliers[3] if front == "rigid" else 0.0, "free": 0.0, "viscous": -70.0 * slip}[front]
        assert abs(found["front.side_force"] - force) < ACCELERATION * 100
        assert abs(found["front.slip"] - slip) < ROUNDING


def test_the_multiplier_form_keeps_rolling_for_ten_seconds() -> None:
    """Without projection: rolling residual, and the same motion as the reduced form."""
    data = OPEN_LOOP["rigid"]
    start = named(CART_NAMES, PARAMETERS) | starts(Q, data["q0"]) | starts(NU["rigid"], data["nu0"])
    first = evaluated(WheeledCart(), start)
    s0 = np.array([first[n] for n in (*Q, *DQ)])

    def rates(t: float, s: np.ndarray) -> np.ndarray:
        M1, M2, R3 = driven(t)
        return np.concatenate(
            [s[7:], accelerations(s[:7], s[7:], np.array([0, 0, R3, 0, 0, M1, M2]), PARAMETERS, RIGID)[0]]
        )

    solution = solve_ivp(rates, (0.0, 10.0), s0, "DOP853", t_eval=data["t"], rtol=1e-11, atol=1e-12)
    residual = [np.max(np.abs(rolling_matrix(s[:7], PARAMETERS) @ s[7:])) for s in solution.y.T]
    assert max(residual) < MULTIPLIERS
    assert np.max(np.abs(solution.y[:7].T - data["q"])) < CART_TRAJECTORY


# --- invariants -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("front", FRONTS)
def test_wheels_roll(front: str) -> None:
    times = np.linspace(0.0, 10.0, 51)
    _, outputs = run(WheeledCart(front=front), GENERAL | random_start(front, 3), times)
    assert np.max(outputs["rolling_residual"]) < ROLLING * np.max(
        np.abs(outputs["rear.speed"] if front == "rigid" else outputs["front.speed"])
    )


@pytest.mark.parametrize("friction", ({}, FRICTION), ids=("smooth", "friction"))
@pytest.mark.parametrize("front", FRONTS)
def test_energy_balance(front: str, friction: dict[str, float]) -> None:
    times = np.linspace(0.0, 10.0, 51)
    states, outputs = run(WheeledCart(front=front), GENERAL | friction | random_start(front, 4), times)
    balance = outputs["energy.total"] - states["energy.input"] + states["energy.dissipated"]
    assert np.max(np.abs(balance - balance[0])) < CART_ENERGY * np.max(outputs["energy.kinetic"])
    assert np.all(np.diff(states["energy.dissipated"]) >= 0)
    assert (states["energy.dissipated"][-1] > 0.1) == bool(friction or front == "viscous")


@pytest.mark.parametrize("front", ("rigid", "free"))
def test_without_torques_the_energy_stays(front: str) -> None:
    _, outputs = run(WheeledCart(front=front), GENERAL | random_start(front, 5), np.linspace(0.0, 10.0, 51), undriven)
    assert np.ptp(outputs["energy.kinetic"]) < CART_ENERGY * outputs["energy.kinetic"][0]


def test_viscous_approaches_rigid_like_one_over_the_damping() -> None:
    times = np.linspace(0.0, 2.0, 21)
    rigid, _ = run(WheeledCart(), {}, times)
    start = {"rear.speed_start": 0.1 * np.cos(0.2), "yaw_rate_start": 0.1 * np.sin(0.2) / 0.8}
    gaps = [
        np.max(
            np.abs(
                run(WheeledCart(front="viscous"), start | {"front.lateral_damping": c}, times)[0]["pose.y"]
                - rigid["pose.y"]
            )
        )
        for c in (2e3, 2e4)
    ]
    assert 8.0 < gaps[0] / gaps[1] < 12.0


def test_no_configuration_is_singular() -> None:
    """Steering straight across: the rear axle's centre stands, its wheels counter-rotate.

    All the way round nothing blows up.
    """
    found = evaluated(
        WheeledCart(), {"steering.angle_start": np.pi / 2, "front.speed_start": 0.8, "wheel.right_torque": 1.0}
    )
    assert abs(found["rear.speed"]) < ROUNDING
    assert found["wheel.left_rate"] == pytest.approx(-found["wheel.right_rate"], rel=ROUNDING)
    p = golden("plant_accelerations")["parameters"][1]
    for q3 in np.linspace(-np.pi, np.pi, 41):
        start = (
            named(CART_NAMES, p)
            | {"steering.angle_start": q3, "front.speed_start": 0.7, "steering.rate_start": 0.4}
            | dict(zip(TORQUES, (1, 2, 0.1), strict=True))
        )
        found = evaluated(WheeledCart(), start)
        wanted, _ = accelerations(
            np.array([found[n] for n in Q]),
            np.array([found[n] for n in DQ]),
            np.array([0, 0, 0.1, 0, 0, 1, 2]),
            p,
            RIGID,
        )
        assert (
            off_by([found["der(front.speed)"], found["der(steering.rate)"]], [p["r"] * wanted[4], wanted[2]])
            < ACCELERATION
        )


def test_balanced_cart_has_a_constant_mass_matrix() -> None:
    """l1 = 2 l2: mu = 0, M is the mass centre of the whole cart, and turning does not push it."""
    assert default_constants(l1=0.6, l2=0.3).mu == 0.0
    p = {**PARAMETERS, "l1": 0.6}
    assert np.array_equal(mass_matrix(np.zeros(7), p), mass_matrix(np.array([1.0, 2, 3, 4, 5, 6, 7]), p))


@pytest.mark.parametrize("front", FRONTS)
def test_mirror(front: str) -> None:
    """y, steering, heading and R3 change sign, left and right change places: the motion is the mirror image."""
    start = GENERAL | FRICTION | random_start(front, 6)
    flips = {
        "pose.y",
        "steering.angle",
        "pose.heading",
        "steering.rate",
        "yaw_rate",
        "pose.velocity_y",
        "pose.acceleration_y",
        "front.side_force",
        "front.slip",
        "steering.acceleration",
    }
    swaps = {"wheel.left_angle": "wheel.right_angle", "wheel.left_rate": "wheel.right_rate"}
    swaps |= {b: a for a, b in swaps.items()}

    def mirrored(name: str) -> tuple[str, float]:
        base = name.removesuffix("_start")
        return (swaps.get(base, base) + name[len(base) :]), -1.0 if base in flips else 1.0

    image = {mirrored(n)[0]: mirrored(n)[1] * v for n, v in start.items()}
    times = np.linspace(0.0, 3.0, 7)
    here = run(WheeledCart(front=front), start, times)
    there = run(WheeledCart(front=front), image, times, lambda t: driven(t)[[1, 0, 2]] * [1, 1, -1])
    for ours, theirs in zip(here, there, strict=True):
        for name, values in ours.items():
            other, sign = mirrored(name)
            assert np.max(np.abs(theirs[other] - sign * values)) < CART_SAME_MOTION * max(
                1.0, np.max(np.abs(values))
            ), name


def test_torque_limits_of_the_plant() -> None:
    """Off by default; when set, more torque has no more effect and does no more work."""
    limited = {"wheel.torque_limit": 2.0, "steering.torque_limit": 0.1}
    start = random_start("rigid", 7)
    at_limit = evaluated(WheeledCart(), start | limited | dict(zip(TORQUES, (2.0, -2.0, 0.1), strict=True)))
    beyond = evaluated(WheeledCart(), start | limited | dict(zip(TORQUES, (5.0, -9.0, 3.0), strict=True)))
    assert beyond == at_limit
    free = evaluated(WheeledCart(), start | dict(zip(TORQUES, (5.0, -9.0, 3.0), strict=True)))
    assert abs(free["der(front.speed)"] - beyond["der(front.speed)"]) > 0.01


# --- the article's errors, put back -----------------------------------------------------------------------------------


def test_erratum_1_the_mass_centre_of_the_body_is_not_that_of_the_cart() -> None:
    """Taking M for the mass centre of the whole cart (mu = 0) misses the golden accelerations."""
    misses = []
    for case in ACCELERATIONS["cases"]:
        if case["front"] == "rigid" and case["param_set"] == 0:
            k = default_constants()
            right, wrong = k, k._replace(md=k.m * k.l2, Je=k.Je - 2 * k.mu * k.l2, be=(k.Je - 2 * k.mu * k.l2) / k.L**2)
            found = [
                rigid_accelerations(case["q"][2], *case["nu"], Drive(*case["torque"]), constants)
                for constants in (right, wrong)
            ]
            assert off_by(found[0], case["nudot"]) < ACCELERATION
            misses.append(abs(found[1][0] - case["nudot"][0]))
    assert max(misses) > 1e-3


def published_matrix(q3: float, q4: float, p: dict[str, float]) -> np.ndarray:
    """The corrected coefficients of (24), for 2T* = sum a_ij x_i' x_j'."""
    m, mu, L = p["m0"] + 3 * p["m1"], p["m1"] * (p["l1"] - 2 * p["l2"]), p["l1"] + p["l2"]
    J = p["m0"] * p["k0"] ** 2 + p["m1"] * (p["l1"] ** 2 + 2 * p["l2"] ** 2 + 2 * p["h"] ** 2) + 3 * p["A"]
    l1, l2, h, A, C, r = (p[n] for n in ("l1", "l2", "h", "A", "C", "r"))
    s3, c3, s4, c4 = np.sin(q3), np.cos(q3), np.sin(q4), np.cos(q4)
    own, wheels = J / l2**2 + 2 * mu / l2, C / (r**2 * l2**2)
    a11 = m + own * s4**2 + wheels * (2 * l2**2 * c4**2 + 2 * h**2 * s4**2 + (L * s3 * s4 - l2 * c3 * c4) ** 2)
    a22 = m + own * c4**2 + wheels * (2 * l2**2 * s4**2 + 2 * h**2 * c4**2 + (l1 * s3 * c4 + l2 * np.sin(q3 + q4)) ** 2)
    bracket = (
        l2**2 * (2 * np.sin(2 * q4) + np.sin(2 * q3 + 2 * q4))
        - 2 * h**2 * np.sin(2 * q4)
        - l1**2 * s3**2 * np.sin(2 * q4)
    )
    a12 = -(J / (2 * l2**2) + mu / l2) * np.sin(2 * q4) + wheels / 2 * (
        bracket + 2 * l1 * l2 * s3 * np.cos(q3 + 2 * q4)
    )
    return np.array([[a11, a12, -A * s4 / l2], [a12, a22, A * c4 / l2], [-A * s4 / l2, A * c4 / l2, A]])


def test_erratum_2_the_coefficients_of_the_kinetic_energy() -> None:
    """x'^T A* x'/2 is the kinetic energy with the full values, half of it with the printed ones; A* = H^T Mr H."""
    k = default_constants()
    for seed in range(5):
        random = np.random.default_rng(seed)
        q3, q4, dx = *random.uniform(-2, 2, 2), random.uniform(-1, 1, 3)
        H = np.array([[np.cos(q4), np.sin(q4), 0], [-np.sin(q4) / k.l2, np.cos(q4) / k.l2, 0], [0, 0, 1]])
        v, om, sg = H @ dx
        Mr, _, _ = free_equations(q3, v, om, sg, k)
        A = published_matrix(q3, q4, PARAMETERS)
        assert off_by(H.T @ Mr @ H, A) < ACCELERATION
        assert off_by(Voronets(PARAMETERS).matrix(q3, q4, dx), A) < ACCELERATION
        energy = kinetic_energy(q4, np.array([*pose_rates(q4, v, om, k), sg, om, *wheel_rates(q3, v, om, k)]), k)
        assert dx @ A @ dx / 2 == pytest.approx(energy, rel=ACCELERATION)
        assert dx @ (A / 2) @ dx / 2 == pytest.approx(energy / 2, rel=ACCELERATION)


def test_erratum_3_the_expansion_of_voronets_equations() -> None:
    """Right: the library's accelerations, energy kept.

    With the two slips of the article: torque-free energy is lost.
    """
    k = default_constants()
    right, wrong = Voronets(PARAMETERS), Voronets(PARAMETERS, slips=True)
    random = np.random.default_rng(1)
    for _ in range(5):
        q3, q4, dx = *random.uniform(-2, 2, 2), random.uniform(-1, 1, 3)
        H = np.array([[np.cos(q4), np.sin(q4), 0], [-np.sin(q4) / k.l2, np.cos(q4) / k.l2, 0], [0, 0, 1]])
        v, om, sg = H @ dx
        dH = om * np.array([[-np.sin(q4), np.cos(q4), 0], [-np.cos(q4) / k.l2, -np.sin(q4) / k.l2, 0], [0, 0, 0]])
        Mr, br, _ = free_equations(q3, v, om, sg, k)
        assert off_by(right.bias_at(q3, q4, dx), H.T @ (Mr @ dH @ dx + br)) < ACCELERATION
        assert off_by(wrong.bias_at(q3, q4, dx), H.T @ (Mr @ dH @ dx + br)) > 0.1
    start = np.array([0, 0, 0.3, 0.4, 0.8, 0.5, 0.2])
    lost = {}
    for name, model in (("right", right), ("wrong", wrong)):
        end = solve_ivp(
            lambda t, s, m=model: m.rates(s, np.zeros(3)), (0, 3), start, "DOP853", rtol=1e-11, atol=1e-12
        ).y[:, -1]
        lost[name] = 1 - right.energy(end) / right.energy(start)
    assert abs(lost["right"]) < CART_ENERGY
    assert abs(lost["wrong"]) > 0.05


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CART_NAMES.values())
def test_masses_and_lengths_must_be_positive(name: str) -> None:
    for value in (0.0, -0.1):
        with pytest.raises(UserError, match=rf"^{name} = {value:g} .*: must be greater than 0$"):
            WheeledCart().start({name: value})
    with pytest.raises(UserError, match=rf"^{name} = nan: must be a finite number$"):
        WheeledCart().start({name: float("nan")})


def test_unknown_front() -> None:
    with pytest.raises(UserError, match="option front=loose: must be one of rigid, free, viscous"):
        WheeledCart(front="loose")
