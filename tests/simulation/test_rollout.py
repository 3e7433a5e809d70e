"""Many runs at once: each has the bits of a run of its own, whatever its neighbours do."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from helpers.exo_golden import drop
from mechfmu import CartController, Exoskeleton, LinkChain, SphericalArm, Tree, WheeledCart
from mechfmu.model import Mechanism, UserError
from mechfmu.multibody.attachments import ContactSphere
from mechfmu.multibody.tree import Body, BodyTree, Joint
from mechfmu.simulation.batch import Batch, instruction_set
from mechfmu.simulation.integration import IntegrationError
from mechfmu.simulation.rollout import Rollout

RUNS, STOP, STEP = 13, 0.3, 0.02  # 13: not a multiple of the lanes
BOX = BodyTree(
    "Box",
    (Body("box", 2.0, inertia=(0.008, 0.008, 0.0133, 0.0, 0.0, 0.0)),),
    (Joint("free", "free", "box"),),
    contacts=tuple(ContactSphere(f"corner{i}", "box", (0.1 * x, 0.1, 0.04)) for i, x in enumerate((-1, 1))),
)


def random_starts(mechanism: Mechanism, seed: int = 1) -> dict[str, np.ndarray]:
    """Start values of the states around their defaults, where the mechanism lets them be chosen freely."""
    random = np.random.default_rng(seed)
    names = [s.name for s in mechanism.table.of("parameter") if s.name.endswith(("angle_start", "velocity_start"))]
    return {name: random.uniform(-0.5, 0.5, RUNS) for name in names}


def drops() -> tuple[Mechanism, dict[str, Any]]:
    """The exoskeleton falls from different heights and hits the ground with one foot after the other."""
    _, start = drop()
    heights = start["hip.y_start"] + np.linspace(0.0, 0.05, RUNS)
    return Exoskeleton(leg1=1, leg2=1, body=1), {**start, "hip.y_start": heights}


def boxes() -> tuple[Mechanism, dict[str, Any]]:
    """A box falls on two of its corners."""
    starts = {"free.position_start[3]": np.linspace(0.05, 0.2, RUNS), "free.rate_start[1]": np.linspace(-1, 1, RUNS)}
    return Tree(model=BOX.to_json()), starts


CASES = {
    "link_chain": lambda: (LinkChain(links=3), random_starts(LinkChain(links=3))),
    "spherical_arm": lambda: (SphericalArm(), random_starts(SphericalArm())),
    "wheeled_cart": lambda: (WheeledCart(), random_starts(WheeledCart())),
    "cart_controller": lambda: (CartController(), {"target.velocity_x": np.linspace(0, 1, RUNS)}),
    "exoskeleton": drops,
    "box": boxes,
}


# in steps of 2 ms the solver's own span several communication steps
@pytest.mark.parametrize(
    ("case", "step"), [*((case, STEP) for case in CASES), ("link_chain", 0.002), ("exoskeleton", 0.002)]
)
def test_every_run_has_the_bits_of_simulate(case: str, step: float) -> None:
    mechanism, starts = CASES[case]()
    found = mechanism.rollout(starts, stop=STOP, step=step)
    assert not any(found.reasons) and np.isfinite(found.values).all()
    assert len({row.tobytes() for row in found.values}) == RUNS
    for k in range(0, RUNS, 4):
        own = {name: float(np.broadcast_to(values, RUNS)[k]) for name, values in starts.items()}
        alone = mechanism.simulate(STOP, step, own, engine="c")
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


def test_inputs_change_at_the_communication_points() -> None:
    """A course for each run, one for all runs, and a constant; each value is held until the next one."""
    chain, t = LinkChain(links=3), np.arange(16) * STEP
    torques = np.random.default_rng(3).normal(size=(RUNS, len(t)))
    inputs = {"joint[1].torque": torques, "joint[2].torque": np.sin(t), "tip.moment": 0.5}
    found = chain.rollout(inputs=inputs, stop=STOP, step=STEP)
    for k in (0, 5, RUNS - 1):
        own = {"joint[1].torque": (found.t, torques[k]), "joint[2].torque": (found.t, np.sin(t)), "tip.moment": 0.5}
        alone = chain.simulate(STOP, STEP, inputs=own, engine="c")  # type: ignore[arg-type]
        assert all(np.array_equal(alone[name], found[name][k]) for name in found.names)


def test_runs_with_different_methods_and_costs() -> None:
    """Those with the implicit method are calculated alone; stiff runs take many more steps than others."""
    chain = LinkChain(links=3)
    methods = ["explicit", "implicit", "automatic"] * 3
    damping = np.repeat([0.0, 10.0, 1e4], 3)
    found = chain.rollout(parameters={"solver.method": methods, "joint[1].damping": damping}, stop=STOP, step=STEP)
    assert not any(found.reasons)
    for k, method in enumerate(methods):
        own = {"solver.method": method, "joint[1].damping": damping[k]}
        alone = chain.simulate(STOP, STEP, own, engine="c")  # type: ignore[arg-type]
        assert all(np.array_equal(alone[name], found[name][k]) for name in found.names)


def assert_runs_alone_agree(found: Rollout, starts: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> None:
    """Each run, or its error and what it reached before."""
    for k in range(len(found)):
        own = {name: float(values[k]) for name, values in starts.items()}
        courses = {name: (found.t, values[k]) for name, values in inputs.items()}
        reached = int(np.isfinite(found.values[k]).all(axis=1).sum())
        assert np.isnan(found.values[k, reached:]).all()
        if found.reasons[k]:
            with pytest.raises((IntegrationError, UserError)) as failure:
                found.mechanism.simulate(found.t[-1], STEP, own, courses, engine="c")  # type: ignore[arg-type]
            assert found.reasons[k] == str(failure.value)
        if reached > 1:
            stop = found.t[reached - 1]
            alone = found.mechanism.simulate(stop, STEP, own, courses, engine="c")  # type: ignore[arg-type]
            assert all(np.array_equal(alone[name], found.run(k)[name]) for name in found.names)


@pytest.mark.parametrize("simd", ["plain", "avx2", "avx512"])
def test_a_run_that_fails_leaves_the_others_untouched(simd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every instruction set: one run explodes on the way, and one gets an input that is not a number."""
    order = ["plain", "avx2", "avx512"]
    if order.index(simd) > order.index(instruction_set()):
        pytest.skip(f"this processor has no {simd}")
    monkeypatch.setenv("MECHFMU_SIMD", simd)
    chain, torque = LinkChain(links=3), np.tile(np.linspace(-1, 1, RUNS)[:, None], (1, 16))
    torque[4, 7:], torque[9, 3:] = 1e300, np.nan
    found = chain.rollout(random_starts(chain), inputs={"joint[1].torque": torque}, stop=STOP, step=STEP)
    assert np.flatnonzero(found.failed).tolist() == [4, 9]
    assert "internal step size became too small" in found.reasons[4]
    assert found.reasons[9] == "joint[1].torque = nan: must be a finite number"
    keep = ~found.failed
    kept = {name: values[keep] for name, values in random_starts(chain).items()}
    others = chain.rollout(kept, inputs={"joint[1].torque": torque[keep]}, stop=STOP, step=STEP)
    assert np.array_equal(others.values, found.values[keep])
    assert np.isnan(found.values[4, 8:]).all() and np.isfinite(found.values[4, :8]).all()


def test_events_that_end_a_run() -> None:
    """A body that becomes too short ends a simulation by an event; feet below the ground are an error at the start."""
    exoskeleton, start = drops()
    heights, rates = np.array(start["hip.y_start"]), np.linspace(-30, 0, RUNS)
    heights[2] = 0.5
    starts = {**{n: np.full(RUNS, v) for n, v in start.items() if np.ndim(v) == 0}, "hip.y_start": heights}
    starts["link[3].length_start"] *= 0.25
    starts["link[3].length_rate_start"] = rates
    found = exoskeleton.rollout(starts, stop=0.1, step=STEP)
    assert "starts below the ground" in found.reasons[2] and not found.reasons[-1]
    assert "link[3].length falls below" in found.reasons[0]
    assert_runs_alone_agree(found, starts, {})


def test_a_value_beyond_its_limits_is_the_reason_of_its_run_alone() -> None:
    chain = LinkChain(links=3)
    masses = np.array([1.0, -1.0, 2.0, np.nan])
    found = chain.rollout(parameters={"link[1].mass": masses}, stop=STOP, step=STEP)
    assert found.reasons[1] == "link[1].mass = -1 kg: must be greater than 0"
    assert "must be a finite number" in found.reasons[3]
    assert found.failed.tolist() == [False, True, False, True]
    alone = chain.rollout(parameters={"link[1].mass": [1.0, 2.0]}, stop=STOP, step=STEP)
    assert np.array_equal(found.values[[0, 2]], alone.values) and np.isnan(found.values[[1, 3]]).all()


def test_an_interruption_ends_all_threads() -> None:
    """Ctrl-C arrives between two looks at the progress."""

    def interrupt(done: int, total: int) -> None:
        seen.append((done, total))
        raise KeyboardInterrupt

    seen: list[tuple[int, int]] = []
    chain, before = LinkChain(links=3), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        chain.rollout(
            {"joint[1].angle_start": np.zeros(200)}, stop=1e5, outputs=["tip.x"], step=1e3, progress=interrupt
        )
    assert threading.active_count() == before and seen[0][1] == 200


def test_mistakes_in_names_and_shapes() -> None:
    chain = LinkChain(links=2)
    with pytest.raises(UserError, match=r"no variable joint\[1\]\.angel_start.*joint\[1\]\.angle_start"):
        chain.rollout({"joint[1].angel_start": 0.5})
    with pytest.raises(UserError, match=r"tip\.x cannot be set"):
        chain.rollout({"tip.x": 0.5})
    with pytest.raises(UserError, match=r"solver\.method has the value 1\.5: must be a whole number"):
        chain.rollout({"solver.method": [1.5, 1.0]})
    with pytest.raises(UserError, match=r"has the shape \(2, 7\): must be a number, an array of 11 times"):
        chain.rollout(inputs={"joint[1].torque": np.zeros((2, 7))}, stop=1.0, step=0.1)
    with pytest.raises(UserError, match="values for 3 runs, gravity for 2"):
        chain.rollout({"joint[1].angle_start": [0.1, 0.2, 0.3], "gravity": [9.81, 1.62]})
    with pytest.raises(UserError, match=r"link\[1\]\.mass = -1 kg: must be greater than 0"):
        chain.rollout({"link[1].mass": -1.0})
