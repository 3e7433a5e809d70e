"""The cart's controller: golden values, exact decay, equivalences, symmetries, flags, and the article's errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from helpers.cart_cases import (
    LIMITLESS,
    NU,
    REQUESTED,
    TORQUES,
    Loop,
    Q,
    default_constants,
    evaluated,
    field_on_jets,
    golden_guidance,
    golden_loop,
    scenario_objects,
    starts,
)
from helpers.cart_controller_cases import CART, EXACT, GAINS, GUIDANCE, LOOP, SCENARIOS, VALUES, case_inputs, close
from helpers.chains import off_by
from helpers.published_field import published
from helpers.tolerances import (
    CART_DECAY,
    CART_ENERGY,
    CART_SAME_MOTION,
    CART_SOLVER,
    CART_TRAJECTORY,
    CONTROLLER,
    DAMPED_Y,
    ERRATUM_LOOP,
    PUBLISHED_FIELD,
    ROUNDING,
    SYMMETRY,
)
from mechfmu import CartController
from mechfmu.control.guidance import safe_field
from mechfmu.control.programmed_constraints import ConstraintProgram, response
from mechfmu.mechanisms.cart_controller.program import Gains, cart_program, free_law, rigid_law
from mechfmu.mechanisms.wheeled_cart.equations import (
    Drive,
    free_accelerations,
    free_equations,
    pose_rates,
    rear_arms,
    rigid_inertia,
    slip_of,
)
from mechfmu.model import UserError
from mechfmu.simulation.engines import NAMES, make_instance

G, K = golden_guidance(), default_constants()


def controller_of(case: dict) -> CartController:
    return CartController(front=case["mode"], obstacles=len(SCENARIOS[case["scenario"]]["obstacles"]))


# --- golden data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("numpy", "casadi"))  # the native FMU is the c engine
def test_values(name: str) -> None:
    """Both laws, both allocations, exact and damped, in and out of the obstacles' influence."""
    near = 0
    for case in VALUES["cases"]:
        found = evaluated(controller_of(case), case_inputs(case), name)
        near += found["clearance_min"] < G.d
        assert close([found["constraint.y"]], case["y"])
        assert close([found["constraint.y_rate"]], case["ydot"])
        if case["mode"] == "free":
            assert close([found[n] for n in REQUESTED], case["torque"])
            assert close([found["constraint.z_x"], found["constraint.z_y"]], case["z"])
            continue
        assert close([found[n] for n in REQUESTED], case["torque_min_norm"])
        assert close(
            [found["constraint.z"], found["constraint.theta3"], found["front.speed_desired"]],
            [case["z"], case["theta3"], case["w_desired"]],
        )
        other = evaluated(controller_of(case), case_inputs(case) | {"constraint.allocation": "zero_side_load"}, name)
        assert close([other[n] for n in REQUESTED], case["torque_zero_side_load"])
    assert near > 35


def test_ten_seconds_of_the_closed_loop() -> None:
    samples = LOOP["samples"]
    found = golden_loop().run(np.array([s["t"] for s in samples]), CART_SOLVER)
    for names, key, signals in (
        (Q, "q", found.plant),
        (NU["rigid"], "nu", found.plant),
        (TORQUES, "torque", found.control),
        (("guidance.velocity_x", "guidance.velocity_y"), "F", found.control),
        (("clearance[1]", "clearance[2]"), "clearance", found.control),
    ):
        assert (
            np.max(np.abs(np.array([signals[n] for n in names]).T - np.array([s[key] for s in samples])))
            < CART_TRAJECTORY
        ), key
    for name, key, signals in (
        ("constraint.y", "y", found.control),
        ("constraint.y_rate", "ydot", found.control),
        ("constraint.z", "z", found.control),
        ("energy.input", "work", found.plant),
    ):
        assert np.max(np.abs(signals[name] - np.array([s[key] for s in samples]))) < CART_TRAJECTORY, key


# --- decay ------------------------------------------------------------------------------------------------------------

TIMES = np.linspace(0.0, 10.0, 101)
A4 = np.array([[0, 1, 0, 0], [-16, -8, 0, 0], [0, 0, -3, 0], [0, 0, 0, -3]])


def violations(found, front: str) -> np.ndarray:
    z = ["constraint.z"] if front == "rigid" else ["constraint.z_x", "constraint.z_y"]
    return np.array([found.control[n] for n in ("constraint.y", "constraint.y_rate", *z)]).T


@pytest.mark.parametrize("front", ("rigid", "free"))
def test_exact_law_violations_are_exp_At(front: str) -> None:
    p = violations(golden_loop(front, **EXACT).run(TIMES), front)
    A = A4[: p.shape[1], : p.shape[1]]
    assert abs(p[0, 0]) > 0.3 and abs(p[0, 2]) > 0.2
    assert np.max(np.abs(p - np.array([expm(A * t) @ p[0] for t in TIMES]))) < CART_DECAY


def test_damped_law_z_is_exact_and_y_nearly() -> None:
    p = violations(golden_loop().run(TIMES), "rigid")
    assert np.max(np.abs(p[:, 2] - p[0, 2] * np.exp(-3 * TIMES))) < CART_DECAY
    assert np.max(np.abs(p[:, 0] - [(expm(A4[:2, :2] * t) @ p[0, :2])[0] for t in TIMES])) < DAMPED_Y


def test_energy_balance_of_the_closed_loop() -> None:
    loop = golden_loop()
    found = loop.run(TIMES, CART_SOLVER)
    kinetic = loop.plant.table.by_name["energy.kinetic"].index
    energy = np.array(
        [loop._plant.outputs(t, x, loop.d, loop.u, loop.p)[kinetic] for t, x in zip(TIMES, found.x.T, strict=True)]
    )
    balance = energy - found.plant["energy.input"]
    assert np.ptp(balance) < CART_ENERGY * np.max(energy) * 10  # torques that vary in time, integrated at CART_SOLVER


def test_both_violations_gone_means_the_field_is_followed() -> None:
    found = golden_loop().run(np.linspace(0.0, 8.0, 81))
    loop = golden_loop()
    k = default_constants()
    w, q3, q4 = found.plant["front.speed"], found.plant["steering.angle"], found.plant["pose.heading"]
    v = pose_rates(q4, w * np.cos(q3), w * np.sin(q3) / k.L, k)
    gap = np.hypot(v[0] - found.control["guidance.velocity_x"], v[1] - found.control["guidance.velocity_y"])
    assert loop.controller.rigid and gap[0] > 0.3
    assert np.max(gap[60:]) < 1e-4


# --- equivalences -----------------------------------------------------------------------------------------------------


def random_case(seed: int):
    random = np.random.default_rng(seed)
    scenario = SCENARIOS[seed % 2]
    t = random.uniform(0, 3)
    target, obstacles = scenario_objects(scenario, t)
    q = random.uniform((-5, -3, -1.2, -3), (4, 4, 1.2, 3))
    return random, field_on_jets(safe_field, target, obstacles, G), q


def test_the_rigid_law_is_the_redundant_case_of_the_module() -> None:
    """M nu' + h = B u with three inputs for two equations: least effort is the minimum-norm allocation."""
    for seed in range(20):
        random, field, q = random_case(seed)
        w, sg = random.uniform(-1, 1, 2)
        gains = Gains(16.0, 8.0, 3.0, 0.0, 4.0)
        law = rigid_law(field, q, w, sg, K, gains, 0.0)
        s, c = np.sin(q[2]), np.cos(q[2])
        M = np.array([[rigid_inertia(q[2], K), K.A * s / K.L], [K.A * s / K.L, K.A]])
        h = np.array([w * sg * (K.be - K.ae) * s * c, K.A / K.L * w * sg * c])
        B = np.array([[*rear_arms(q[2], K), 0.0], [0.0, 0.0, 1.0]])
        found = cart_program(field, K, gains, "rigid").control(q, np.array([w, sg]), 0.0, *response(M, h, B))
        assert off_by(found.u, [law.M1, law.M2, law.R3]) < CONTROLLER


def test_the_free_law_is_the_square_case_of_the_module() -> None:
    for seed in range(20):
        random, field, q = random_case(seed)
        dq = random.uniform(-1, 1, 3)
        gains = Gains(16.0, 8.0, 3.0, 0.0, 4.0)
        law = free_law(field, q, dq, K, gains)
        v, om = dq[0] * np.cos(q[3]) + dq[1] * np.sin(q[3]), (dq[1] * np.cos(q[3]) - dq[0] * np.sin(q[3])) / K.l2
        Mr, br, B = free_equations(q[2], v, om, dq[2], K)
        found = cart_program(field, K, gains, "free").control(q, np.array([v, om, dq[2]]), 0.0, *response(Mr, br, B))
        assert off_by(found.u, [law.M1, law.M2, law.R3]) < CONTROLLER


def test_theta3_is_the_closed_form() -> None:
    for seed in range(20):
        _, field, q = random_case(seed)
        law = rigid_law(field, q, 0.3, -0.2, K, Gains(16.0, 8.0, 3.0, 0.03, 4.0), 0.0)
        F1, F2 = (F.c[0] for F in field(q[0], q[1], 0.0))
        Fx, Fy = F1 * np.cos(q[3]) + F2 * np.sin(q[3]), F2 * np.cos(q[3]) - F1 * np.sin(q[3])
        assert law.theta3 == pytest.approx(Fx * np.cos(q[2]) + K.L / K.l2 * Fy * np.sin(q[2]), abs=ROUNDING)
        assert law.y == pytest.approx(Fx * np.sin(q[2]) - K.L / K.l2 * Fy * np.cos(q[2]), abs=ROUNDING)


def test_without_side_load_the_free_plant_moves_like_the_rigid_one() -> None:
    """The torques of the rigid law with zero side load, on both plants; the start satisfies (16), not the program."""
    times = np.linspace(0.0, 8.0, 81)
    control = GUIDANCE | GAINS | LIMITLESS | {"constraint.allocation": "zero_side_load"}
    start = starts(Q, LOOP["samples"][0]["q"])
    w, q3 = 0.1, 0.2
    rigid = Loop(SCENARIOS[0], start | {"front.speed_start": w, "steering.rate_start": 0.0}, control, "rigid", CART)
    rolling = {"rear.speed_start": w * np.cos(q3), "yaw_rate_start": w * np.sin(q3) / K.L, "steering.rate_start": 0.0}
    free = Loop(SCENARIOS[0], start | rolling, control, "free", CART, law="rigid")
    one, other = rigid.run(times), free.run(times)
    for name in Q:
        assert np.max(np.abs(one.plant[name] - other.plant[name])) < CART_SAME_MOTION, name
    slip = slip_of(other.plant["steering.angle"], other.plant["rear.speed"], other.plant["yaw_rate"], K)
    assert np.max(np.abs(slip)) < CART_SAME_MOTION
    control = control | {"constraint.allocation": 1.0}
    loaded = Loop(SCENARIOS[0], start | rolling, control, "free", CART, law="rigid").run(times)
    assert np.max(np.abs(loaded.plant["pose.y"] - one.plant["pose.y"])) > 1e-3  # with side load it does not


# --- symmetries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", [c for c in VALUES["cases"] if c["eps_s"] > 0 or c["mode"] == "free"][::7], ids=lambda c: f"{c['mode']}"
)
def test_torques_do_not_change_when_the_world_is_turned_and_moved(case: dict) -> None:
    inputs, controller = case_inputs(case), controller_of(case)
    turn, sx, sy = 2.1, 3.0, -5.0
    c, s = np.cos(turn), np.sin(turn)
    image = dict(inputs)
    for x, y, shift in [
        ("pose.x", "pose.y", 1),
        ("target.x", "target.y", 1),
        ("target.velocity_x", "target.velocity_y", 0),
        ("pose.velocity_x", "pose.velocity_y", 0),
    ] + [
        (f"obstacle[{i}].{a}x", f"obstacle[{i}].{a}y", a == "")
        for i in range(1, controller.count + 1)
        for a in ("", "velocity_")
    ]:
        if x in inputs:
            image[x], image[y] = c * inputs[x] - s * inputs[y] + shift * sx, s * inputs[x] + c * inputs[y] + shift * sy
    for name in ("pose.heading", *(f"obstacle[{i}].angle" for i in range(1, controller.count + 1))):
        image[name] = inputs[name] + turn
    here, there = evaluated(controller, inputs), evaluated(controller, image)
    for name in (*REQUESTED, "constraint.y", "constraint.y_rate", "clearance_min"):
        assert abs(here[name] - there[name]) < SYMMETRY * max(1.0, abs(here[name])), name


@pytest.mark.parametrize(
    "case", [c for c in VALUES["cases"] if c["eps_s"] > 0 or c["mode"] == "free"][::7], ids=lambda c: f"{c['mode']}"
)
def test_mirror(case: dict) -> None:
    inputs, controller = case_inputs(case), controller_of(case)
    flipped = (
        "pose.y",
        "steering.angle",
        "pose.heading",
        "steering.rate",
        "pose.velocity_y",
        "target.y",
        "target.velocity_y",
    )
    flipped += tuple(
        f"obstacle[{i}].{n}"
        for i in range(1, controller.count + 1)
        for n in ("y", "velocity_y", "angle", "rotation_rate", "side")
    )
    image = {name: -value if name in flipped else value for name, value in inputs.items()}
    here, there = evaluated(controller, inputs), evaluated(controller, image)
    wanted = [here[REQUESTED[1]], here[REQUESTED[0]], -here[REQUESTED[2]], -here["constraint.y"]]
    assert np.max(np.abs(np.array([there[n] for n in (*REQUESTED, "constraint.y")]) - wanted)) < SYMMETRY * max(
        1.0, np.max(np.abs(wanted))
    )


# --- singular situations, flags, limits -------------------------------------------------------------------------------


def test_where_the_field_vanishes_the_damped_law_stays_bounded() -> None:
    """A static target reached: exact steering torque grows without bound, damped it does not; the flag is set."""
    still = {
        "target.velocity_x": 0.0,
        "target.x": -4.5,
        "target.y": 2.0,
        "pose.x": -4.5 + 1e-6,
        "pose.y": 2.0,
        "steering.rate": 0.3,
        "front.speed": 0.05,
    }
    exact, soft = (evaluated(CartController(), still | {"constraint.damping": es} | LIMITLESS) for es in (0.0, 0.03))
    assert abs(exact["steering.torque"]) > 50.0
    assert abs(soft["steering.torque"]) < 5.0
    assert (exact["steering_degraded"], soft["steering_degraded"]) == (0.0, 1.0)


def test_a_front_wheel_across_turns_by_itself() -> None:
    """Steering 90 degrees off with y != 0: theta3 = 0.

    The damped law leaves it, and the target is reached; driving backwards turns the cart round.
    """
    for heading, steering in ((0.0, np.pi / 2), (np.pi, 0.0)):
        start = {
            "pose.x_start": -5.0,
            "pose.y_start": 2.0,
            "pose.heading_start": heading,
            "steering.angle_start": steering,
            "front.speed_start": 0.0,
        }
        found = Loop(SCENARIOS[0], start, GUIDANCE).run(np.linspace(0.0, 25.0, 51), 1e-8)
        assert np.hypot(found.plant["pose.x"][-1] + 2.5, found.plant["pose.y"][-1]) < 0.01
        assert np.min(found.control["clearance_min"]) > 0.0


def test_limits_and_their_flag() -> None:
    case = next(c for c in VALUES["cases"] if c["mode"] == "rigid" and max(map(abs, c["torque_min_norm"])) > 9.0)
    inputs = case_inputs(case) | {"limit.wheel_torque": 2.0, "limit.steering_torque": 0.1}
    found = evaluated(controller_of(case), inputs)
    assert close([found[n] for n in REQUESTED], case["torque_min_norm"])
    assert [found[n] for n in TORQUES] == [
        float(np.clip(found[n], -limit, limit)) for n, limit in zip(REQUESTED, (2.0, 2.0, 0.1), strict=True)
    ]
    assert found["saturated"] == 1.0
    assert evaluated(controller_of(case), case_inputs(case))["saturated"] == 0.0


def flags(**changes: float) -> set[str]:
    names = (
        "inside_obstacle",
        "overlapping_obstacles",
        "target_blocked",
        "steering_degraded",
        "saturated",
        "influence_short",
    )
    found = evaluated(
        CartController(), {"guidance.influence": 0.6} | {k.replace("__", "."): v for k, v in changes.items()}
    )
    return {n for n in names if found[n] == 1.0}


def test_flags() -> None:
    assert flags() == set()
    assert flags(pose__x=-2.2, pose__y=0.1, **LIMITLESS) == {"inside_obstacle"}
    assert flags(**{"obstacle[2].x": -1.0, "obstacle[2].y": 0.9}) == {"overlapping_obstacles"}
    assert flags(**{"target.x": 1.0, "target.y": 1.4}) == {"target_blocked"}
    assert flags(**{"obstacle[2].x": -1.0, "obstacle[2].y": 0.9, "obstacle[2].active": 0.0}) == set()
    assert flags(**{"guidance.influence": 0.5}) == {"influence_short"}  # 2 (0.6 + 0.25)^2/2.77 = 0.52 is needed
    assert "inside_obstacle" in flags(**{"guidance.footprint": 3.0})


def test_the_footprint_inflates_the_obstacles() -> None:
    wide = evaluated(CartController(), {"guidance.footprint": 0.4})
    b0 = np.sqrt(0.5)
    grown = {
        f"obstacle[1].semi_axis_{n}": np.sqrt((1 + 0.4 / b0) * (v**2 + 0.4 * b0)) for n, v in (("a", 1.0), ("b", 0.5))
    }
    b0 = np.sqrt(1.5)
    grown |= {
        f"obstacle[2].semi_axis_{n}": np.sqrt((1 + 0.4 / b0) * (v**2 + 0.4 * b0)) for n, v in (("a", 2.0), ("b", 0.75))
    }
    for name, value in evaluated(CartController(), grown).items():
        assert wide[name] == pytest.approx(value, abs=ROUNDING), name


def test_the_published_guidance_as_an_option() -> None:
    """The same law on the article's field.

    Its velocity is passed on, and the cart gets stuck where the safe field does not.
    """
    found = evaluated(CartController(guidance="article"), {})
    assert [found["guidance.velocity_x"], found["guidance.velocity_y"]] == pytest.approx(
        list(published(-4.5, 0.8, 0.0)), rel=PUBLISHED_FIELD
    )


@pytest.mark.parametrize(
    "options",
    (
        {"obstacles": 5},
        {"front": "free", "obstacles": 3},
        {"guidance": "article"},
        {"guidance": "article", "front": "free"},
    ),
    ids=str,
)
def test_engines_agree(options: dict) -> None:
    random = np.random.default_rng(5)
    controller = CartController(**options)
    inputs = {
        s.name: s.start + random.uniform(-0.1, 0.1)
        for s in controller.table.of("input")
        if not s.name.endswith(("active", "side"))
    }
    plain, *others = (
        evaluated(controller, inputs, name) for name in (NAMES if controller.count == 2 else ("numpy", "casadi"))
    )
    for name, value in plain.items():
        for other in others:
            assert abs(other[name] - value) < CONTROLLER * max(1.0, abs(value)), name


# --- the article's errors, put back -----------------------------------------------------------------------------------


class FreeLoop:
    """The free plant under a law u(program, q, nu); target and obstacles move."""

    def __init__(self, law, scenario: int = 0, gains: Gains = Gains(16.0, 8.0, 3.0, 0.0, 4.0)):  # noqa: B008
        self.law, self.scenario, self.gains = law, SCENARIOS[scenario], gains

    def program(self, t: float) -> ConstraintProgram:
        target, obstacles = scenario_objects(self.scenario, t)
        return cart_program(field_on_jets(safe_field, target, obstacles, G), K, self.gains, "free")

    def rates(self, t: float, s: np.ndarray) -> np.ndarray:
        q, nu = s[:4], s[4:]
        u = self.law(self.program(t), q, nu)
        return np.concatenate(
            [[*pose_rates(q[3], nu[0], nu[1], K), nu[2], nu[1]], free_accelerations(q[2], *nu, Drive(*u), 0.0, K)]
        )

    def error(self, stop: float = 0.5) -> float:
        """The largest difference of the violations from exp(A t) p(0)."""
        times = np.linspace(0.0, stop, 6)
        start = [-4.5, 0.8, 0.2, 0.3, 0.1, 0.02, 0.0]
        states = solve_ivp(self.rates, (0.0, stop), start, "DOP853", t_eval=times, rtol=1e-8, atol=1e-9).y.T
        found = [self.program(t).violation(s[:4], s[4:], 0.0) for t, s in zip(times, states, strict=True)]
        p = np.array([[*v.y, *v.y_rate, *v.z] for v in found])
        return float(np.max(np.abs(p - np.array([expm(A4 * t) @ p[0] for t in times]))))


def equations(q: np.ndarray, nu: np.ndarray):
    return response(*free_equations(q[2], *nu, K))


def right(program: ConstraintProgram, q: np.ndarray, nu: np.ndarray) -> np.ndarray:
    return program.control(q, nu, 0.0, *equations(q, nu)).u


def test_erratum_4_the_part_of_the_heading_in_theta() -> None:
    """Without b_4i dphi/dq4 in Theta the violations do not decay as they should."""

    def forgets_heading(program: ConstraintProgram, q: np.ndarray, nu: np.ndarray) -> np.ndarray:
        v, (a, R) = program.violation(q, nu, 0.0), equations(q, nu)
        still = ConstraintProgram(
            lambda q, nu: np.stack([*pose_rates(q[3], nu[0], nu[1], K), nu[2], 0.0 * nu[1]]), program.phi, program.psi
        ).violation(q, nu, 0.0)
        Theta = np.concatenate([still.Theta[:1], v.Theta[1:]])
        return np.linalg.solve(Theta @ R, program.wanted(v) - v.s - Theta @ a)

    assert FreeLoop(right).error() < ERRATUM_LOOP
    assert FreeLoop(forgets_heading).error() > 1e-3


def test_erratum_4_forces_without_an_actuator() -> None:
    """The article's law supports the program with forces R1, R2 on the body that no motor supplies.

    Dropping them is not exact.
    """

    def drops_forces(program: ConstraintProgram, q: np.ndarray, nu: np.ndarray) -> np.ndarray:
        v, (Mr, br, B) = program.violation(q, nu, 0.0), free_equations(q[2], *nu, K)
        article = np.column_stack(
            [B[:, 0], B[:, 1], v.Theta[0]]
        )  # the third input: a multiplier along the first row of Theta
        a, R = response(Mr, br, article)
        M1, M2, multiplier = np.linalg.solve(v.Theta @ R, program.wanted(v) - v.s - v.Theta @ a)
        return np.array([M1, M2, v.Theta[0, 2] * multiplier])

    assert FreeLoop(drops_forces).error() > 1e-3


def test_erratum_5_the_decay_needs_four_components() -> None:
    """With a 3x3 matrix on (y', z1, z2) the violation y comes to rest away from zero."""
    times = np.linspace(0.0, 3.0, 16)
    F = [evaluated(CartController(), {})[f"guidance.velocity_{axis}"] for axis in "xy"]
    Fx, Fy = F[0] * np.cos(0.3) + F[1] * np.sin(0.3), F[1] * np.cos(0.3) - F[0] * np.sin(0.3)
    last = {}
    for k0 in (16.0, 0.0):
        loop = golden_loop("free", **EXACT)
        loop.x[loop.plant.table.by_name["steering.angle"].index] = (
            np.arctan2(K.L / K.l2 * Fy, Fx) + 0.1
        )  # near the program, where y = 0
        loop.pc[loop.controller.table.by_name["constraint.k0"].index] = k0
        last[k0] = loop.run(times).control["constraint.y"][-4:]
    assert np.max(np.abs(last[16.0])) < 1e-3
    assert np.min(np.abs(last[0.0])) > 0.01 and np.ptp(last[0.0]) < 1e-6


def test_erratum_6_off_the_program_the_free_front_wheel_skids() -> None:
    """(16) is physical: without it the front wheel slides sideways while y, z != 0, and rolls again on the program."""
    found = golden_loop("free", **EXACT).run(TIMES)
    slip = np.abs(slip_of(found.plant["steering.angle"], found.plant["rear.speed"], found.plant["yaw_rate"], K))
    assert np.max(slip[:20]) > 0.1
    assert np.max(slip[60:]) < 1e-5


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ("casadi", "c"))
@pytest.mark.parametrize(
    ("changes", "reason"),
    (
        ({"pose.x": -2.2, "pose.y": 0.1}, "the cart starts inside an obstacle"),
        ({"guidance.footprint": 3.0}, "the cart starts inside an obstacle"),
        ({"obstacle[2].x": -1.0, "obstacle[2].y": 0.9}, "two obstacles overlap"),
        ({"target.x": 1.0, "target.y": 1.4}, "the target is inside an obstacle"),
    ),
    ids=("start", "footprint", "overlap", "target"),
)
def test_a_start_that_cannot_be_solved_is_rejected(engine: str, changes: dict[str, float], reason: str) -> None:
    with pytest.raises(UserError, match=rf"^at t = 0 s: {reason} \(inflated by guidance.footprint\)$"):
        make_instance(CartController(), changes, engine).initialize()


@pytest.mark.parametrize("engine", ("casadi", "c"))
def test_later_it_continues_with_a_flag(engine: str) -> None:
    instance = make_instance(CartController(), {}, engine)
    instance.initialize()
    by_name = instance.table.by_name
    instance.step(0.0, 0.01)
    instance.set([by_name["pose.x"], by_name["pose.y"]], [-2.2, 0.1])
    with pytest.warns(RuntimeWarning, match=r"the cart touches obstacle\[1\]"):
        instance.step(0.01, 0.01)
    assert instance.get([by_name["inside_obstacle"]]) == [1.0]
    assert np.all(np.isfinite(instance.get([by_name[n] for n in TORQUES])))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    (
        ("geometry.rear", 0.0, "must be greater than 0"),
        ("guidance.influence", 0.0, "must be greater than 0"),
        ("guidance.cruise_speed", -1.0, "must be greater than 0"),
        ("constraint.k0", 0.0, "must be greater than 0"),
        ("constraint.damping", -0.1, "must be at least 0"),
        ("limit.wheel_torque", -1.0, "must be at least 0"),
        ("obstacle[1].semi_axis_a", -0.1, "must be at least 0"),
        ("obstacle[1].active", 2.0, "must be at most 1"),
        ("pose.x", float("nan"), "must be a finite number"),
        ("guidance.footprint", float("inf"), "must be a finite number"),
    ),
)
def test_bad_numbers(name: str, value: float, reason: str) -> None:
    with pytest.raises(UserError, match=rf"^{name.replace('[', chr(92) + '[')} = .*: {reason}$"):
        CartController().start({name: value})
