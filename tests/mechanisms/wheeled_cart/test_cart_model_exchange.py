"""Cart and controller in Model Exchange.

A host's solver integrates the closed loop, and an obstacle that is entered later is not an error.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.cart_cases import CART_NAMES, LIMITLESS, NU, TORQUES, Q, named, scenario_inputs, starts
from helpers.cart_controller_cases import CART, GAINS, GUIDANCE, LOOP, SCENARIOS
from helpers.native_build import Native
from helpers.native_fmi import MODEL_EXCHANGE, WARNING, Fmu, Refused
from helpers.tolerances import CART_SOLVER, CART_TRAJECTORY
from mechfmu import CartController, WheeledCart

pytest_plugins = ("helpers.native_fixtures",)


@pytest.fixture(scope="module")
def controller(native: Native) -> Fmu:
    return Fmu(CartController(), native.binary(CartController()))


def test_ten_seconds_of_the_closed_loop(native: Native, controller: Fmu) -> None:
    samples, scenario = LOOP["samples"], SCENARIOS[LOOP["scenario"]]
    start = CART | starts(Q, samples[0]["q"]) | starts(NU["rigid"], samples[0]["nu"])
    plant = Fmu(WheeledCart(), native.binary(WheeledCart())).open(MODEL_EXCHANGE).continuous(start)
    control = controller.open(MODEL_EXCHANGE).continuous(
        named(CART_NAMES, LOOP["parameters"]) | GUIDANCE | GAINS | LIMITLESS
    )
    measured = (*Q[:4], *NU["rigid"])

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        plant.do("fmi2SetTime", t)
        plant.set_states(x.tolist())
        control.set(dict(zip(measured, plant.get(*measured), strict=True)) | scenario_inputs(scenario, t))
        plant.set(dict(zip(TORQUES, control.get(*TORQUES), strict=True)))
        return plant.derivatives()

    found = solve_ivp(
        rates,
        (0.0, 10.0),
        plant.states(),
        "DOP853",
        t_eval=[s["t"] for s in samples],
        rtol=CART_SOLVER,
        atol=CART_SOLVER,
    )
    wanted = np.array([[*s["q"], *s["nu"], s["work"]] for s in samples])
    assert found.success
    assert np.max(np.abs(found.y.T[:, :10] - wanted)) < CART_TRAJECTORY


def test_an_obstacle_entered_later_is_an_event_with_a_warning(controller: Fmu) -> None:
    instance = controller.open(MODEL_EXCHANGE).continuous()
    assert np.all(instance.indicators() > 0)
    instance.set({"pose.x": -2.2, "pose.y": 0.1})
    assert instance.indicators()[0] < 0
    instance.do("fmi2EnterEventMode")
    with pytest.raises(Refused) as refused:
        instance.new_discrete_states()
    assert refused.value.status == WARNING
    instance.do("fmi2EnterContinuousTimeMode")
    assert instance["inside_obstacle"] == 1.0


def test_at_the_start_it_is_an_error(controller: Fmu) -> None:
    with pytest.raises(Refused, match="the cart starts inside an obstacle"):
        controller.open(MODEL_EXCHANGE).initialize({"pose.x": -2.2, "pose.y": 0.1})
