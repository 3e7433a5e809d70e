"""A mechanism with events, added as one folder: impacts located inside the steps, counted in an Integer output."""

from __future__ import annotations

import fmpy.validation
import numpy as np
import pytest

from helpers.bouncing_ball import impacts, on_paper
from helpers.build import Build
from helpers.description import Description
from helpers.fmu_client import Host, Refused
from helpers.tolerances import EVENT_TIME, IMPACT_STATE

pytestmark = pytest.mark.usefixtures("extra_mechanisms")

VALUES = ("ball.height", "ball.velocity", "ball.bounces")


@pytest.mark.parametrize("step", (0.01, 0.07, 0.3, 1.1))
@pytest.mark.parametrize("restitution", (0.5, 0.8))
def test_the_ball_bounces_as_on_paper(fmu: Build, host: Host, restitution: float, step: float) -> None:
    slave = host.open(fmu("bouncing_ball", restitution=restitution)).initialize()
    for i in range(1, int(1.43 / step) + 1):
        slave.step(step, (i - 1) * step)
        if np.abs(impacts(restitution, 10) - i * step).min() > EVENT_TIME:
            assert slave.get(*VALUES) == pytest.approx(on_paper(restitution, i * step), abs=IMPACT_STATE), (
                f"t = {i * step}"
            )


def test_the_file_of_a_mechanism_with_events(fmu: Build) -> None:
    file = fmu("bouncing_ball")
    description = Description(file)
    assert fmpy.validation.validate_fmu(str(file)) == []
    assert description.root.attrib["modelName"] == "BouncingBall"
    bounces = description.variables["ball.bounces"]
    assert bounces.find("Integer") is not None
    assert (bounces.attrib["causality"], bounces.attrib["variability"]) == ("output", "discrete")


def test_a_restored_state_repeats_the_impacts(fmu: Build, host: Host) -> None:
    """The discrete state is part of the FMU state."""
    slave = host.open(fmu("bouncing_ball", restitution=0.8)).initialize()
    slave.step(0.6)
    assert slave["ball.bounces"] == 1
    state = slave.save()

    def go_on() -> list[list[float]]:
        rows = []
        for _ in range(4):
            slave.step(0.25)
            rows.append(slave.get(*VALUES))
        return rows

    once = go_on()
    assert once[-1][2] == 2
    slave.restore(state)
    assert slave["ball.bounces"] == 1
    assert go_on() == once


def test_a_step_with_too_many_impacts_is_refused(fmu: Build, host: Host) -> None:
    hop = {"ball.height_start": 1e-6, "solver.max_step": 2e-4}
    slave = host.open(fmu("bouncing_ball", restitution=1.0)).initialize(hop)
    with pytest.raises(Refused, match="events"):
        slave.call("doStep", 0.0, 1.0)
    assert slave.discarded()[0] == 0.0
    slave.step(0.01)
    assert slave["ball.bounces"] > 5
