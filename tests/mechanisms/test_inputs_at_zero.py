"""Hosts such as OpenModelica leave unconnected inputs at 0, whatever their start value.

Every mechanism starts and runs with that.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.cart_cases import evaluated
from helpers.trees import random_tree
from mechfmu import CartController, Exoskeleton, Scenario, mechanisms
from mechfmu.model import Mechanism
from mechfmu.multibody.rotations import unit_quaternion
from mechfmu.simulation.engines import NAMES, engine, make_instance

DRIVEN = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "euler_zxz",
    "cardan_xyz",
    "spherical",
)  # joints that a controller can drive
ROBOT = random_tree(np.random.default_rng(3), DRIVEN).to_json()
THREE_LINK = {"leg1": 1, "leg2": 1, "body": 1}

CASES: dict[str, list[dict[str, object]]] = {
    "link_chain": [{}, {"links": 3, "base": "moving"}],
    "spherical_arm": [{}, {"state": "euler", "base": "moving"}],
    "tree": [{}, {"base": "moving", "stops": "elastic"}],
    "exoskeleton": [
        {},
        *(
            THREE_LINK | options
            for options in (
                {"contact": "flight", "inertia": "length"},
                {"contact": "external"},
                {"inertia": "prescribed", "lengths": "prescribed"},
                {"contact": "pinned", "inertia": "prescribed", "lengths": "prescribed", "push": "hip"},
            )
        ),
    ],
    "wheeled_cart": [{}, {"front": "free"}, {"front": "viscous"}],
    "cart_controller": [
        {},
        {"front": "free", "obstacles": 1},
        {"guidance": "article"},
        {"guidance": "article", "front": "free", "obstacles": 4},
    ],
    "scenario": [{}],
    "walking_controller": [{}],
    "computed_torque": [{}, {"model": ROBOT}, {"model": ROBOT, "law": "gravity"}],
    "pid_controller": [{}, {"rate": "filtered"}, {"law": "state_feedback", "channels": 2}],
}

every_case = pytest.mark.parametrize(
    ("key", "options"),
    [(key, options) for key, cases in CASES.items() for options in cases],
    ids=lambda v: v if isinstance(v, str) else _label(v),
)


def _label(options: dict[str, object]) -> str:
    return ",".join(f"{k}={v}" if len(str(v)) < 20 else k for k, v in options.items())


def zero_inputs(mechanism: Mechanism) -> dict[str, float]:
    return {s.name: 0.0 for s in mechanism.table.of("input")}


def test_no_mechanism_is_left_out() -> None:
    assert set(CASES) == set(mechanisms.names())


@pytest.mark.parametrize("name", ("casadi", "c"))  # c: equations and runtime of the native FMU
@every_case
def test_the_default_experiment_runs_with_all_inputs_at_zero(key: str, options: dict[str, object], name: str) -> None:
    mechanism = mechanisms.make(key, **options)
    result = mechanism.simulate(start=zero_inputs(mechanism), step=mechanism.stop_time / 20, engine=name)
    assert result.t[-1] == mechanism.stop_time
    assert [signal for signal in result.names if not np.all(np.isfinite(result[signal]))] == []


@every_case
def test_derivatives_are_finite_with_all_inputs_at_zero(key: str, options: dict[str, object]) -> None:
    """The native FMU's directional derivatives, along every input."""
    mechanism = mechanisms.make(key, **options)
    t, x, d, u, p = mechanism.start(zero_inputs(mechanism))
    native = engine("c", mechanism)
    for direction in np.eye(len(u)):
        rates, outputs = native.tangent(t, x, d, u, p, 0.0, 0.0 * x, direction, 0.0 * p)
        assert np.all(np.isfinite(rates)) and np.all(np.isfinite(outputs))


# --- what 0 means -----------------------------------------------------------------------------------------------------

NO_SIZE = {"a": (0.0, 0.5), "b": (0.5, 0.0), "both": (0.0, 0.0)}
PLACES = {
    "at the cart": (-4.5, 0.8),
    "at the target": (0.0, 0.0),
    "at the other obstacle": (1.0, 1.5),
    "far away": (1e200, -1e200),
}


def first_obstacle(x: float, y: float, a: float, b: float, active: float = 1.0) -> dict[str, float]:
    """Obstacle 1 with this size at this place; it moves and turns."""
    values = {
        "x": x,
        "y": y,
        "velocity_x": 0.3,
        "velocity_y": -0.2,
        "angle": 0.4,
        "rotation_rate": 0.5,
        "semi_axis_a": a,
        "semi_axis_b": b,
        "active": active,
    }
    return {f"obstacle[1].{name}": value for name, value in values.items()} | {"guidance.footprint": 0.1}


CONTROLLERS = {"rigid": {}, "free": {"front": "free"}, "article": {"guidance": "article"}}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", CONTROLLERS.values(), ids=CONTROLLERS)
def test_an_obstacle_of_size_0_is_not_an_obstacle(options: dict[str, object], name: str) -> None:
    """Bit for bit the outputs that the controller has when the obstacle is switched off."""
    controller = CartController(**options)
    off = evaluated(controller, first_obstacle(-3.0, 0.4, 1.0, 1.0, active=0.0), name)
    for a, b in NO_SIZE.values():
        for place in PLACES.values():
            assert evaluated(controller, first_obstacle(*place, a, b), name) == off
    near = evaluated(controller, first_obstacle(-3.6, 0.4, 0.5, 0.5), name)
    assert near["wheel.left_torque_requested"] != off["wheel.left_torque_requested"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("front", ("rigid", "free"))
def test_an_obstacle_of_size_0_acts_like_one_that_is_very_far_away(front: str, name: str) -> None:
    controller = CartController(front=front)
    far, none = (
        evaluated(controller, first_obstacle(*place), name) for place in ((1e5, 1e5, 0.5, 0.5), (-4.5, 0.8, 0.0, 0.0))
    )
    assert none["clearance[1]"] == 1e6
    seen = (
        "clearance[1]",
        "guidance.influence_needed",
        "influence_short",
    )  # these count a moving obstacle wherever it is
    assert {k: v for k, v in none.items() if k not in seen} == {k: v for k, v in far.items() if k not in seen}


@pytest.mark.parametrize("name", ("casadi", "c"))
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_an_obstacle_of_size_0_is_accepted(place: tuple[float, float], name: str) -> None:
    make_instance(CartController(), first_obstacle(*place, 0.0, 0.0), name).initialize()
    at_start = {f"obstacle[1].{axis}_start": value for axis, value in zip("xy", place, strict=True)}
    make_instance(Scenario(), at_start | {"obstacle[1].semi_axis_a_start": 0.0}, name).initialize()


def test_a_torque_limit_of_0_is_no_limit() -> None:
    asked = {"pose.heading": 2.0, "steering.rate": 3.0, "front.speed": 2.0}
    found = evaluated(CartController(), asked | {"limit.wheel_torque": 0.0, "limit.steering_torque": 0.0})
    assert found == evaluated(CartController(), asked | {"limit.wheel_torque": 1e9, "limit.steering_torque": 1e9}) | {
        "guidance.influence_needed": 0.0
    }
    assert evaluated(CartController(), asked)["saturated"] == 1.0 and found["saturated"] == 0.0


def test_without_damping_steering_rests_where_the_field_vanishes() -> None:
    controller = CartController()
    found = evaluated(controller, zero_inputs(controller) | {"constraint.damping": 0.0})
    assert found["constraint.theta3"] == 0.0 and found["steering.torque"] == 0.0


def test_a_quaternion_of_zeros_is_no_rotation() -> None:
    assert np.array_equal(unit_quaternion(np.zeros(4)), [1.0, 0.0, 0.0, 0.0])
    assert np.allclose(unit_quaternion(np.array([0.0, 3.0, 0.0, -4.0])), [0.0, 0.6, 0.0, -0.8], rtol=1e-15)
    controller = mechanisms.make("computed_torque", model=ROBOT)
    upright = {f"j8.quaternion{which}[1]": 1.0 for which in ("", "_reference")}
    _, x, d, zeros, p = controller.start(zero_inputs(controller))
    _, _, _, ones, _ = controller.start(zero_inputs(controller) | upright)
    assert np.array_equal(controller.outputs(0.0, x, d, zeros, p), controller.outputs(0.0, x, d, ones, p))


def test_prescribed_inertia_and_length_of_0_are_those_of_the_parameters() -> None:
    """As if the inputs had the values of the parameters."""
    mechanism = Exoskeleton.three_link(inertia="prescribed", lengths="prescribed", contact="flight")
    parameters = {
        "prescribed.bandwidth": 20.0,
        **{f"link[{k}].prescribed": 1.0 for k in (1, 2, 3)},
        "link[1].length_start": 0.8,
        "link[1].rate_start": 2.0,
    }
    P = mechanism.table.p(mechanism.start()[-1])
    equal = {
        f"link[{k}].{name}": float(values[k - 1])
        for k in (1, 2, 3)
        for name, values in (("inertia_input", P.I0), ("length_input", P.l0))
    }
    at_zero = mechanism.simulate(start=parameters | zero_inputs(mechanism) | {"link[1].inertia_rate_input": 0.7})
    wanted = mechanism.simulate(start=parameters | zero_inputs(mechanism) | equal)
    assert all(np.array_equal(at_zero[name], wanted[name]) for name in wanted.names)
    assert abs(at_zero["link[1].length"][-1] - P.l0[0]) < 1e-3 < abs(at_zero["link[1].length"][0] - P.l0[0])
