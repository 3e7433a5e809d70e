"""Initialization Mode: outputs are right as soon as it is entered, and follow what is set until it ends."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.build import Build
from helpers.fmu_client import Host, Refused
from helpers.tolerances import IDENTITY
from mechfmu import LinkChain

OUTPUTS = [s.name for s in LinkChain(links=2).table.of("state", "output")]


def wanted(start: dict[str, float]) -> list[float]:
    """What the library says of the same start."""
    chain = LinkChain(links=2)
    t, x, d, u, p = chain.start(start)
    values = dict(zip([s.name for s in chain.table.of("output")], chain.outputs(t, x, d, u, p), strict=True))
    values |= dict(zip([s.name for s in chain.table.of("state")], x, strict=True))
    return [float(values[n]) for n in OUTPUTS]


def test_outputs_right_after_entering(fmu: Build, host: Host) -> None:
    assert host.open(fmu(links=2)).enter().get(*OUTPUTS) == pytest.approx(wanted({}), rel=IDENTITY, abs=IDENTITY)


def test_outputs_follow_parameters_and_inputs_before_initialization_ends(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).enter()
    start: dict[str, float] = {}
    for change in (
        {"joint[1].angle_start": 0.7},
        {"link[2].mass": 2.5, "joint[2].rate_start": -1.0},
        {"joint[2].torque": 3.0, "tip.force_y": -4.0},
    ):
        slave.set(change)
        start |= change
        assert slave.get(*OUTPUTS) == pytest.approx(wanted(start), rel=IDENTITY, abs=IDENTITY)
    before = slave.get(*OUTPUTS)
    slave.call("exitInitializationMode")
    assert slave.get(*OUTPUTS) == before


def test_values_can_be_set_before_initialization_mode(fmu: Build, host: Host) -> None:
    start = {"joint[1].angle_start": 0.7, "link[2].mass": 2.5, "tip.moment": 1.0}
    slave = host.open(fmu(links=2))
    slave.set(start)
    slave.initialize()
    assert slave.get(*start) == list(start.values())
    assert slave.get(*OUTPUTS) == pytest.approx(wanted(start), rel=IDENTITY, abs=IDENTITY)


def test_parameters_are_fixed_after_initialization(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).initialize()
    before = slave["link[1].mass"]
    with pytest.raises(Refused, match=r"link\[1\]\.mass"):
        slave.set({"link[1].mass": 3.0})
    assert slave["link[1].mass"] == before
    slave.set({"joint[1].torque": 3.0})
    slave.step(0.01)
    assert slave["joint[1].torque"] == 3.0


def test_accelerations_follow_an_input_between_steps(fmu: Build, host: Host) -> None:
    """A controller that reads the acceleration sees its own torque at once, without a step."""
    slave = host.open(fmu(links=2)).initialize()
    slave.step(0.01)
    angle, acceleration = slave.get("joint[1].angle", "joint[1].acceleration")
    slave.set({"joint[1].torque": 10.0})
    assert slave["joint[1].angle"] == angle
    assert slave["joint[1].acceleration"] > acceleration + 1.0


def test_all_variables_can_be_read_from_initialization_to_the_end(fmu: Build, host: Host) -> None:
    slave = host.open(fmu(links=2)).enter()
    names = list(slave.references)
    assert np.all(np.isfinite(slave.get(*names)))
    slave.call("exitInitializationMode")
    assert np.all(np.isfinite(slave.get(*names)))
    slave.step(0.1)
    last = slave.get(*names)
    slave.call("terminate")
    assert slave.get(*names) == last
