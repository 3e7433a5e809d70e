"""The scenario: target and obstacles move uniformly; starts that no controller can solve are rejected."""

from __future__ import annotations

import pytest

from helpers.build import Build
from helpers.cart_cases import evaluated, scenario_inputs
from helpers.cart_controller_cases import SCENARIOS
from helpers.description import Description
from helpers.tolerances import ROUNDING
from mechfmu import CartController, Scenario
from mechfmu.model import UserError
from mechfmu.simulation.engines import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_uniform_motion(name: str) -> None:
    """Its outputs are the controller's inputs, by name and value, at any time."""
    scenario = SCENARIOS[1]
    start = {f"{k}_start": v for k, v in scenario_inputs(scenario).items()}
    found = evaluated(Scenario(obstacles=3), start, name, t=2.7)
    wanted = scenario_inputs(scenario, 2.7)
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, abs=ROUNDING), key
    assert set(wanted) <= {s.name for s in CartController(obstacles=3).table.of("input")}


def test_outputs_depend_on_time_only(fmu: Build) -> None:
    assert all(known == [] for known in Description(fmu("scenario")).unknowns("Outputs").values())


@pytest.mark.parametrize(
    ("changes", "reason"),
    (
        (
            {"obstacle[2].x_start": -1.0, "obstacle[2].y_start": 0.9},
            r"obstacle\[1\] and obstacle\[2\] overlap at the start",
        ),
        ({"target.x_start": 1.0, "target.y_start": 1.4}, r"the target lies inside obstacle\[2\] at the start"),
        ({"obstacle[1].semi_axis_b_start": -0.1}, r"obstacle\[1\].semi_axis_b_start = -0.1 m: must be at least 0"),
        ({"obstacle[1].x_start": float("nan")}, r"obstacle\[1\].x_start = nan: must be a finite number"),
    ),
    ids=("overlap", "target", "axis", "nan"),
)
def test_a_start_that_cannot_be_solved_is_rejected(changes: dict[str, float], reason: str) -> None:
    with pytest.raises(UserError, match=f"^{reason}$"):
        Scenario().start(changes)
