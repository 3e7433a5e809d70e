"""Many runs at once: each has the bits of a run of its own, whatever its neighbours do."""

from __future__ import annotations

import numpy as np
import pytest

from mechfmu import LinkChain, SphericalArm, WheeledCart
from mechfmu.model import Mechanism, UserError
from mechfmu.simulation.batch import Batch

RUNS, STOP, STEP = 13, 0.3, 0.02  # 13: not a multiple of the lanes


def random_starts(mechanism: Mechanism, seed: int = 1) -> dict[str, np.ndarray]:
    """Start values of the states around their defaults, where the mechanism lets them be chosen freely."""
    random = np.random.default_rng(seed)
    names = [s.name for s in mechanism.table.of("parameter") if s.name.endswith(("angle_start", "velocity_start"))]
    return {name: random.uniform(-0.5, 0.5, RUNS) for name in names}


@pytest.mark.parametrize("mechanism", [LinkChain(links=3), SphericalArm(), WheeledCart()], ids=lambda m: m.key)
def test_every_run_has_the_bits_of_simulate(mechanism: Mechanism) -> None:
    starts = random_starts(mechanism)
    found = mechanism.rollout(starts, stop=STOP, step=STEP)
    assert not any(found.reasons) and np.isfinite(found.values).all()
    for k in range(RUNS):
        own = {name: float(values[k]) for name, values in starts.items()}
        alone = mechanism.simulate(STOP, STEP, own, engine="c")
        assert all(np.array_equal(alone[name], found[name][k]) for name in found.names)


def test_the_order_of_the_runs_does_not_matter() -> None:
    chain, order = LinkChain(links=3), np.random.default_rng(2).permutation(RUNS)
    starts = random_starts(chain)
    found = chain.rollout(starts, stop=STOP, step=STEP)
    shuffled = chain.rollout({name: values[order] for name, values in starts.items()}, stop=STOP, step=STEP)
    assert np.array_equal(shuffled.values, found.values[order])


def test_a_batch_steps_and_resets_single_instances() -> None:
    chain, names = LinkChain(links=3), ["joint[1].angle", "tip.x", "energy.total"]
    batch = Batch(chain, 5)
    for _ in range(4):
        batch.step(STEP, {"joint[1].torque": np.arange(5.0)})
    batch.reset([1, 3], {"joint[1].angle_start": [0.5, -0.5]})
    assert batch.get(["joint[1].angle"], [1, 3]).ravel().tolist() == [0.5, -0.5]
    for _ in range(2):
        batch.step(STEP, {"joint[1].torque": np.arange(5.0)})
    runs = chain.rollout({"joint[1].torque": np.arange(5.0)}, stop=6 * STEP, step=STEP, outputs=names)
    reset = chain.rollout(
        {"joint[1].torque": [1.0, 3.0], "joint[1].angle_start": [0.5, -0.5]}, stop=2 * STEP, step=STEP, outputs=names
    )
    found = batch.get(names)
    assert found[[0, 2, 4]] == pytest.approx(runs.values[[0, 2, 4], -1], rel=1e-12)
    assert found[[1, 3]] == pytest.approx(reset.values[:, -1], rel=1e-12)


def test_a_value_beyond_its_limits_is_the_reason_of_its_run_alone() -> None:
    chain = LinkChain(links=3)
    masses = np.array([1.0, -1.0, 2.0, np.nan])
    found = chain.rollout(parameters={"link[1].mass": masses}, stop=STOP, step=STEP)
    assert found.reasons[1] == "link[1].mass = -1 kg: must be greater than 0"
    assert "must be a finite number" in found.reasons[3]
    assert found.failed.tolist() == [False, True, False, True]
    alone = chain.rollout(parameters={"link[1].mass": [1.0, 2.0]}, stop=STOP, step=STEP)
    assert np.array_equal(found.values[[0, 2]], alone.values) and np.isnan(found.values[[1, 3]]).all()


def test_mistakes_in_names_and_shapes() -> None:
    chain = LinkChain(links=2)
    with pytest.raises(UserError, match=r"no variable joint\[1\]\.angel_start.*joint\[1\]\.angle_start"):
        chain.rollout({"joint[1].angel_start": 0.5})
    with pytest.raises(UserError, match=r"tip\.x cannot be set"):
        chain.rollout({"tip.x": 0.5})
    with pytest.raises(UserError, match="values for 3 runs, gravity for 2"):
        chain.rollout({"joint[1].angle_start": [0.1, 0.2, 0.3], "gravity": [9.81, 1.62]})
    with pytest.raises(UserError, match=r"link\[1\]\.mass = -1 kg: must be greater than 0"):
        chain.rollout({"link[1].mass": -1.0})
