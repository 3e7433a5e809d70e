"""Cart, controller and scenario as FMUs of both kinds, in a process without the library.

Golden data, closed loops, feed-through, refusals.
"""

from __future__ import annotations

import fmpy.validation
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.build import Build
from helpers.cart_cases import (
    CART_NAMES,
    DQ,
    LIMITLESS,
    NU,
    REQUESTED,
    TORQUES,
    Q,
    golden_loop,
    named,
    scenario_inputs,
    starts,
)
from helpers.cart_controller_cases import EXACT, GAINS, GUIDANCE, LOOP, SCENARIOS, VALUES, case_inputs, close
from helpers.cart_plant_cases import ACCELERATIONS, OPEN_LOOP, case_start
from helpers.chains import off_by
from helpers.description import Description
from helpers.fmu_client import Host, Refused, Slave
from helpers.tolerances import ACCELERATION, CART_SOLVER, CART_TRAJECTORY, COASTING

STATE = (*Q, "front.speed", "steering.rate", "energy.input")
MEASURED = ("pose.x", "pose.y", "steering.angle", "pose.heading", "front.speed", "steering.rate")


@pytest.mark.parametrize("front", ("rigid", "free"))
def test_accelerations(fmu: Build, host: Host, front: str) -> None:
    slave = host.open(fmu("wheeled_cart", front=front))
    for case in ACCELERATIONS["cases"]:
        if case["front"] == front:
            slave.reset()
            slave.initialize(case_start(case))
            assert off_by(slave.get(*DQ), case["qdot"]) < ACCELERATION
            assert off_by(slave.get(*(f"der({n})" for n in NU[front])), case["nudot"]) < ACCELERATION
            assert off_by(slave["energy.kinetic"], case["kinetic_energy"]) < ACCELERATION
            wanted = case.get("front_lateral_force", 0.0)
            assert abs(slave["front.side_force"] - wanted) < ACCELERATION * max(1.0, abs(wanted))


def test_ten_seconds_under_given_torques(fmu: Build, host: Host) -> None:
    """The torques are held at their means over steps of 4 and 2 ms, which costs terms in h^2, h^4, and so on.

    The first is extrapolated away.
    """
    data = OPEN_LOOP["rigid"]
    start = named(CART_NAMES, OPEN_LOOP["parameters"]) | starts(Q, data["q0"]) | starts(NU["rigid"], data["nu0"])
    slave = host.open(fmu("wheeled_cart"))

    def run(n: int) -> np.ndarray:
        slave.reset()
        slave.initialize(start, tolerance=CART_SOLVER)
        t, h = np.linspace(0.0, 10.0, n + 1), 10.0 / n
        integrals = (1.2 * t - np.cos(1.3 * t) / 1.3, t - 1.2 / 1.1 * np.cos(1.1 * t + 0.5), -0.01 * np.cos(2 * t))
        means = {name: (np.diff(integral) / h).tolist() for name, integral in zip(TORQUES, integrals, strict=True)}
        return slave.run([h] * n, [*Q, *NU["rigid"]], means)[n // 100 - 1 :: n // 100]

    coarse, fine = run(2500), run(5000)
    assert np.max(np.abs((4 * fine - coarse) / 3 - np.hstack([data["q"], data["nu"]])[1:])) < CART_TRAJECTORY


@pytest.mark.parametrize("mode", ("rigid", "free"))
def test_controller_values(fmu: Build, host: Host, mode: str) -> None:
    slave = host.open(fmu("cart_controller", front=mode, obstacles=3))
    for case in VALUES["cases"]:
        if case["mode"] != mode:
            continue
        two = len(SCENARIOS[case["scenario"]]["obstacles"]) == 2
        slave.reset()
        slave.initialize(case_inputs(case) | ({"obstacle[3].active": 0.0, "obstacle[3].x": 50.0} if two else {}))
        if mode == "free":
            assert close(slave.get(*REQUESTED), case["torque"])
            continue
        assert close(slave.get(*REQUESTED), case["torque_min_norm"])
        assert close(
            slave.get("constraint.y", "constraint.y_rate", "constraint.z"), [case["y"], case["ydot"], case["z"]]
        )


def test_ten_seconds_of_the_closed_loop(fmu: Build, host: Host) -> None:
    """The equations inside both FMUs, integrated from outside.

    Derivatives of the plant at any state in Initialization Mode, outputs of the controller.
    """
    plant, controller = host.open(fmu("wheeled_cart"), "plant"), host.open(fmu("cart_controller"), "controller")
    plant.enter(named(CART_NAMES, LOOP["parameters"]))
    controller.initialize(named(CART_NAMES, LOOP["parameters"]) | GUIDANCE | GAINS | LIMITLESS)
    scenario, samples = SCENARIOS[LOOP["scenario"]], LOOP["samples"]

    def rates(t: float, s: np.ndarray) -> list[float]:
        controller.set(dict(zip((*Q[:4], *NU["rigid"]), [*s[:4], *s[7:9]], strict=True)) | scenario_inputs(scenario, t))
        plant.set(starts(STATE[:9], s[:9]) | dict(zip(TORQUES, controller.get(*TORQUES), strict=True)))
        return plant.get(*(f"der({n})" for n in STATE))

    start = [*samples[0]["q"], *samples[0]["nu"], 0.0]
    times = [s["t"] for s in samples]
    found = solve_ivp(rates, (0.0, 10.0), start, "DOP853", t_eval=times, rtol=1e-9, atol=1e-10).y.T
    wanted = np.array([[*s["q"], *s["nu"], s["work"]] for s in samples])
    assert np.max(np.abs(found - wanted)) < CART_TRAJECTORY


def sampled_loop(host: Host, files: tuple, h: float, stop: float, outputs: tuple[str, ...]) -> np.ndarray:
    """Three FMUs stepped together, each with what the others showed at the beginning of the step."""
    plant, controller, scenario = (
        host.open(file, name) for file, name in zip(files, ("plant", "controller", "scenario"), strict=True)
    )
    data = SCENARIOS[LOOP["scenario"]]
    scenario.initialize({f"{n}_start": v for n, v in scenario_inputs(data).items()})
    first = LOOP["samples"][0]
    plant.initialize(
        named(CART_NAMES, LOOP["parameters"]) | starts(Q, first["q"]) | starts(NU["rigid"], first["nu"]), tolerance=1e-9
    )
    shown = list(scenario_inputs(data))
    controller.initialize(named(CART_NAMES, LOOP["parameters"]) | GUIDANCE | GAINS | LIMITLESS)
    rows = []
    for _ in range(round(stop / h)):
        controller.set(
            dict(zip(MEASURED, plant.get(*MEASURED), strict=True)) | dict(zip(shown, scenario.get(*shown), strict=True))
        )
        plant.set(dict(zip(TORQUES, controller.get(*TORQUES), strict=True)))
        for slave in (plant, controller, scenario):
            slave.step(h)
        rows.append([*plant.get(*outputs), controller["clearance_min"]])
    for slave in (plant, controller, scenario):
        slave.free()
    return np.array(rows)


def test_three_fmus_approach_the_continuous_loop_with_the_step(fmu: Build, host: Host) -> None:
    """Held torques lag by half a step: the error is of first order."""
    files = fmu("wheeled_cart"), fmu("cart_controller"), fmu("scenario")
    wanted = golden_loop().run(np.array([0.0, 2.0])).plant
    errors = []
    for h in (0.04, 0.02):
        last = sampled_loop(host, files, h, 2.0, ("pose.x", "pose.y", "pose.heading"))[-1, :3]
        errors.append(np.max(np.abs(last - [wanted[n][-1] for n in ("pose.x", "pose.y", "pose.heading")])))
    assert errors[1] < 5e-3
    assert 1.7 < errors[0] / errors[1] < 2.3


# --- interface --------------------------------------------------------------------------------------------------------

FEED_THROUGH = {"pose.acceleration_x", "pose.acceleration_y", "steering.acceleration", "front.side_force"}


@pytest.mark.parametrize("front", ("rigid", "free", "viscous"))
def test_only_accelerations_and_the_side_force_depend_on_the_torques(fmu: Build, front: str) -> None:
    """So that a loop with the controller is not an algebraic loop."""
    unknowns = Description(fmu("wheeled_cart", front=front)).unknowns("Outputs")
    through = {name for name, known in unknowns.items() if known is None or set(known) & set(TORQUES)}
    assert through == (FEED_THROUGH if front == "rigid" else FEED_THROUGH - {"front.side_force"})


CONTRACT = {
    "wheeled_cart": (
        "body.mass body.gyration_radius wheel.mass wheel.radius wheel.axial_inertia wheel.diametral_inertia "
        "geometry.front geometry.rear geometry.half_track pose.x_start pose.y_start pose.heading_start "
        "steering.angle_start steering.rate_start front.speed_start",
        "wheel.left_torque wheel.right_torque steering.torque",
        "pose.x pose.y pose.heading pose.velocity_x pose.velocity_y steering.angle steering.rate yaw_rate "
        "front.speed rear.speed wheel.front_angle wheel.left_angle wheel.right_angle wheel.front_rate "
        "wheel.left_rate wheel.right_rate pose.acceleration_x pose.acceleration_y front.side_force front.slip "
        "energy.kinetic energy.potential energy.total energy.input energy.dissipated",
    ),
    "cart_controller": (
        "body.mass geometry.rear guidance.gain guidance.cruise_speed guidance.influence guidance.smoothing "
        "guidance.swirl guidance.push_out guidance.footprint constraint.k0 constraint.k1 constraint.kz "
        "constraint.damping constraint.rate_gain limit.wheel_torque limit.steering_torque",
        "pose.x pose.y pose.heading steering.angle steering.rate front.speed target.x target.y target.velocity_x "
        "target.velocity_y obstacle[2].active obstacle[2].x obstacle[2].y obstacle[2].velocity_x "
        "obstacle[2].velocity_y obstacle[2].angle obstacle[2].rotation_rate obstacle[2].semi_axis_a "
        "obstacle[2].semi_axis_b obstacle[2].side",
        "wheel.left_torque wheel.right_torque steering.torque wheel.left_torque_requested "
        "wheel.right_torque_requested steering.torque_requested guidance.velocity_x guidance.velocity_y "
        "constraint.y constraint.y_rate constraint.z clearance[1] clearance[2] clearance_min inside_obstacle "
        "overlapping_obstacles target_blocked steering_degraded saturated",
    ),
}


@pytest.mark.parametrize("key", CONTRACT)
def test_names_of_the_contract(fmu: Build, key: str) -> None:
    description = Description(fmu(key))
    for causality, names in zip(("parameter", "input", "output"), CONTRACT[key], strict=True):
        found = {n for n, v in description.variables.items() if v.attrib["causality"] == causality}
        assert set(names.split()) <= found


@pytest.mark.parametrize(
    ("key", "options"),
    (
        ("wheeled_cart", {}),
        ("wheeled_cart", {"front": "free"}),
        ("wheeled_cart", {"front": "viscous"}),
        ("cart_controller", {}),
        ("scenario", {}),
    ),
    ids=lambda v: str(v),
)
def test_they_are_valid_fmus(fmu: Build, key: str, options: dict) -> None:
    assert fmpy.validation.validate_fmu(str(fmu(key, **options))) == []


def test_the_plant_runs_without_a_controller(fmu: Build, host: Host) -> None:
    """Coasting: energy and, with straight steering, speed stay."""
    slave = host.open(fmu("wheeled_cart")).initialize({"steering.angle_start": 0.0, "front.speed_start": 0.7})
    rows = slave.run([0.5] * 10, ["front.speed", "energy.kinetic", "pose.heading"])
    assert np.max(np.abs(rows - [0.7, slave["energy.total"], 0.3])) < COASTING


# --- refusals ---------------------------------------------------------------------------------------------------------


def exit_refused(slave: Slave, start: dict[str, float]) -> str:
    slave.enter(start)
    with pytest.raises(Refused) as refused:
        slave.call("exitInitializationMode")
    slave.reset()
    return str(refused.value)


def test_starts_that_cannot_be_solved(fmu: Build, host: Host) -> None:
    controller, scenario = host.open(fmu("cart_controller")), host.open(fmu("scenario"))
    assert "the cart starts inside an obstacle" in exit_refused(controller, {"pose.x": -2.2, "pose.y": 0.1})
    assert "two obstacles overlap" in exit_refused(controller, {"obstacle[2].x": -1.0, "obstacle[2].y": 0.9})
    assert "the target is inside an obstacle" in exit_refused(controller, {"target.x": 1.0, "target.y": 1.4})
    assert "obstacle[1] and obstacle[2] overlap at the start" in exit_refused(
        scenario, {"obstacle[2].x_start": -1.0, "obstacle[2].y_start": 0.9}
    )
    assert "the target lies inside obstacle[2] at the start" in exit_refused(
        scenario, {"target.x_start": 1.0, "target.y_start": 1.4}
    )


def test_later_the_controller_continues_with_a_flag(fmu: Build, host: Host) -> None:
    slave = host.open(fmu("cart_controller")).initialize(LIMITLESS | EXACT)
    slave.step(0.01)
    slave.set({"pose.x": -2.2, "pose.y": 0.1})
    slave.step(0.01)
    assert slave["inside_obstacle"] == 1.0
    assert np.all(np.isfinite(slave.get(*TORQUES)))
    slave.step(0.01)


def test_the_controller_runs_with_all_inputs_at_zero(fmu: Build, host: Host) -> None:
    """As in a host that ignores start values: no obstacles, the cart rests on its target."""
    inputs = [n for n, v in Description(fmu("cart_controller")).variables.items() if v.attrib["causality"] == "input"]
    slave = host.open(fmu("cart_controller")).initialize(dict.fromkeys(inputs, 0.0))
    slave.step(0.01)
    assert slave.get(*TORQUES, "inside_obstacle", "target_blocked", "overlapping_obstacles") == [0.0] * 6
    assert slave["clearance_min"] == 1e6


def test_bad_numbers(fmu: Build, host: Host) -> None:
    plant, controller = host.open(fmu("wheeled_cart")), host.open(fmu("cart_controller"))
    for slave, name, value, reason in (
        (plant, "geometry.rear", 0.0, "must be greater than 0"),
        (plant, "wheel.mass", -1.0, "must be greater than 0"),
        (plant, "wheel.left_torque", float("nan"), "must be a finite number"),
        (controller, "geometry.rear", -0.1, "must be greater than 0"),
        (controller, "pose.x", float("nan"), "must be a finite number"),
        (controller, "obstacle[1].semi_axis_a", -0.1, "must be at least 0"),
    ):
        with pytest.raises(Refused, match=reason):
            slave.set({name: value})
