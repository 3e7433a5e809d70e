"""The whole state of an FMU: what is saved and restored repeats the same bits, solver memory included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.build import Build
from helpers.fmu_client import Host, Refused, Slave

OUTPUTS = (
    "joint[1].angle",
    "joint[2].rate",
    "joint[2].acceleration",
    "tip.x",
    "energy.input",
    "energy.dissipated",
    "energy.total",
)
START = {"joint[1].angle_start": 0.4, "joint[2].rate_start": 1.5, "joint[1].damping": 0.1, "joint[2].stiffness": 3.0}
STIFF = {
    "joint[1].stiffness": 1e6,
    "joint[2].stiffness": 1e6,
    "joint[1].damping": 20.0,
    "joint[2].damping": 20.0,
    "joint[1].angle_start": 0.1,
}
STEPS = [0.01, 0.037, 0.01, 0.05, 0.013, 0.02]
TORQUES = {"joint[1].torque": [0.0, 1.0, -2.0, 0.5, 3.0, -1.0]}


def go_on(slave: Slave) -> np.ndarray:
    return slave.run(STEPS, OUTPUTS, TORQUES)


def started(host: Host, file: Path, start: dict[str, float], steps: int = 7) -> Slave:
    slave = host.open(file).initialize(start)
    slave.run([0.01] * steps, OUTPUTS)
    return slave


@pytest.mark.parametrize("start", (START, STIFF), ids=("smooth", "stiff"))
def test_restored_state_repeats_the_same_bits(fmu: Build, host: Host, start: dict[str, float]) -> None:
    slave = started(host, fmu(links=2), start)
    state = slave.save()
    once = go_on(slave)
    slave.restore(state)
    again = go_on(slave)
    assert np.array_equal(once, again)
    assert len(np.unique(once, axis=0)) == len(STEPS), "nothing moved, so nothing was proved"


@pytest.mark.parametrize("start", (START, STIFF), ids=("smooth", "stiff"))
def test_a_step_does_not_need_what_was_computed_before(fmu: Build, host: Host, start: dict[str, float]) -> None:
    """Cached derivatives and outputs equal computed ones: discarding them, as restoring does, changes no bit."""
    remembering, forgetful = started(host, fmu(links=2), start), started(host, fmu(links=2), start)
    rows = []
    for step in [0.01, 0.01, 0.003, 0.01, 0.001, 0.001]:
        forgetful.restore(forgetful.save())
        rows.append(forgetful.run([step], OUTPUTS)[-1])
    assert np.array_equal(remembering.run([0.01, 0.01, 0.003, 0.01, 0.001, 0.001], OUTPUTS), rows)


def test_outputs_are_restored_before_the_next_step(fmu: Build, host: Host) -> None:
    slave = started(host, fmu(links=2), START)
    state, before = slave.save(), slave.get(*OUTPUTS)
    go_on(slave)
    slave.restore(state)
    assert slave.get(*OUTPUTS) == before


def test_inputs_belong_to_the_state(fmu: Build, host: Host) -> None:
    slave = started(host, fmu(links=2), START)
    slave.set({"joint[1].torque": 4.0})
    state = slave.save()
    once = slave.run([0.1], OUTPUTS)
    slave.set({"joint[1].torque": -7.0})
    slave.restore(state)
    assert slave["joint[1].torque"] == 4.0
    assert np.array_equal(slave.run([0.1], OUTPUTS), once)


def test_nested_states(fmu: Build, host: Host) -> None:
    """Several states at once, restored in any order and more than once; freeing one leaves the others."""
    slave = started(host, fmu(links=2), START)
    first = slave.save()
    from_first = go_on(slave)
    second = slave.save()
    from_second = go_on(slave)
    slave.restore(first)
    assert np.array_equal(go_on(slave), from_first)
    slave.restore(second)
    assert np.array_equal(go_on(slave), from_second)
    slave.forget(second)
    slave.restore(first)
    assert np.array_equal(go_on(slave), from_first)


@pytest.mark.parametrize("start", (START, STIFF), ids=("smooth", "stiff"))
def test_serialized_into_a_second_instance(fmu: Build, host: Host, start: dict[str, float]) -> None:
    one = started(host, fmu(links=2), start)
    state = one.save()
    data = one.to_bytes(state)
    wanted = go_on(one)
    two = host.open(fmu(links=2), "second").initialize()
    two.restore(two.from_bytes(data, state[1]))
    assert np.array_equal(go_on(two), wanted)


def test_serialized_into_another_process(fmu: Build, host: Host, tmp_path: Path) -> None:
    one = started(host, fmu(links=2), START)
    state = one.save()
    data, wanted = one.to_bytes(state), go_on(one)
    other = Host(tmp_path)
    try:
        two = other.open(fmu(links=2)).initialize()
        two.restore(two.from_bytes(data, state[1]))
        assert np.array_equal(go_on(two), wanted)
        other.close()
    finally:
        other.kill()


def test_state_saved_before_initialization_ends(fmu: Build, host: Host) -> None:
    """A state holds the phase too: restored into Initialization Mode, parameters can be set again."""
    slave = host.open(fmu(links=2)).enter(START)
    state = slave.save()
    slave.set({"link[1].mass": 2.0})
    slave.call("exitInitializationMode")
    heavier = go_on(slave)
    slave.restore(state)
    slave.set({"link[1].mass": 2.0})
    slave.call("exitInitializationMode")
    assert np.array_equal(go_on(slave), heavier)


def test_reset_equals_a_fresh_instance(fmu: Build, host: Host) -> None:
    used = started(host, fmu(links=2), START | {"gravity": 3.0})
    used.set({"joint[1].torque": 2.0})
    used.reset()
    fresh = host.open(fmu(links=2), "fresh")
    names = list(fresh.references)
    assert used.enter().get(*names) == fresh.enter().get(*names)
    used.call("exitInitializationMode")
    fresh.call("exitInitializationMode")
    assert np.array_equal(go_on(used), go_on(fresh))


def test_two_instances_are_independent(fmu: Build, host: Host) -> None:
    """Interleaved steps with different parameters and inputs give what each gives alone."""
    alone = [go_on(host.open(fmu(links=2), f"alone {m}").initialize(START | {"link[2].mass": m})) for m in (1.0, 4.0)]
    pair = [host.open(fmu(links=2), f"pair {m}").initialize(START | {"link[2].mass": m}) for m in (1.0, 4.0)]
    rows: list[list[np.ndarray]] = [[], []]
    for i, h in enumerate(STEPS):
        for slave, found in zip(pair, rows, strict=True):
            found.append(slave.run([h], OUTPUTS, {"joint[1].torque": [TORQUES["joint[1].torque"][i]]})[0])
    assert np.array_equal(rows[0], alone[0])
    assert np.array_equal(rows[1], alone[1])
    assert not np.array_equal(alone[0], alone[1])


def test_instances_come_and_go(fmu: Build, host: Host) -> None:
    wanted = go_on(host.open(fmu(links=2)).initialize(START))
    for i in range(20):
        slave = host.open(fmu(links=2), f"number {i}").initialize(START)
        slave.free()
    assert np.array_equal(go_on(host.open(fmu(links=2), "last").initialize(START)), wanted)


def test_a_state_of_another_model_is_refused(fmu: Build, host: Host) -> None:
    two, three = host.open(fmu(links=2), "two").initialize(), host.open(fmu(links=3), "three").initialize()
    data = two.to_bytes(two.save())
    before = three["joint[3].angle"]
    with pytest.raises(Refused, match="state"):
        three.restore(three.from_bytes(data, 0.0))
    assert three["joint[3].angle"] == before
    three.step(0.01)


def test_bytes_that_are_no_state_are_refused(fmu: Build, host: Host) -> None:
    slave = started(host, fmu(links=2), START)
    before = slave.get(*OUTPUTS)
    with pytest.raises(Refused, match=r"(?i)\bstate\b"):
        slave.restore(slave.from_bytes(b"these bytes are something else".hex(), slave.t))
    assert slave.get(*OUTPUTS) == before
    slave.step(0.01)
