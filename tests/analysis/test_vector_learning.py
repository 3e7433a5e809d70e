"""Environments that step together: against Gymnasium's own vector of single ones, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from mechfmu import LinkChain
from mechfmu.fmu.build import build
from mechfmu.model import UserError

needs.package("gymnasium", whole_file=True)
import gymnasium  # noqa: E402
from gymnasium.envs.registration import EnvSpec  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv  # noqa: E402
from gymnasium.wrappers import vector as wrappers  # noqa: E402

from mechfmu.analysis.learning import FmuEnv  # noqa: E402
from mechfmu.analysis.vector_learning import FmuVectorEnv  # noqa: E402

ACTIONS = {"joint[1].torque": (-20.0, 20.0), "joint[2].torque": (-5.0, 5.0)}
SEEN = ["joint[1].angle", "joint[2].angle", "joint[1].rate", "joint[2].acceleration"]
COUNT, STEPS = 5, 40
GIVEN: dict[str, Any] = dict(
    actions=ACTIONS,
    observations=SEEN,
    start={"joint[1].angle_start": (-1.0, 1.0), "gravity": 1.62, "link[2].mass": (0.5, 2.0)},
    stop=0.3,
)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (file,) = build(LinkChain(links=2), tmp_path_factory.mktemp("learned"), start={"joint[2].angle_start": 0.2})
    return file


def reward(seen: Any, actions: Any) -> Any:
    return -(seen["joint[1].angle"] ** 2) - 1e-3 * actions[..., 0]


def ended(seen: Any) -> Any:
    return seen["joint[1].angle"] > 0.9


def together(fmu: Any, **changes: Any) -> FmuVectorEnv:
    return FmuVectorEnv(fmu, COUNT, **{**GIVEN, "reward": reward, "ended": ended, **changes})


def equal(a: Any, b: Any) -> bool:
    """Also of nested infos."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if a.dtype == object:
        return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b)


def random_actions() -> np.ndarray:
    """Beyond the limits at times, where they are clipped."""
    return np.random.default_rng(0).uniform(-25, 25, (STEPS, COUNT, 2))


@pytest.mark.parametrize("mode", (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP))
def test_it_is_gymnasiums_vector_of_single_environments(chain: Path, mode: AutoresetMode) -> None:
    """Observations, rewards, ends and infos, over some episodes that end at different times."""
    make: Callable[[], FmuEnv] = lambda: FmuEnv(chain, **GIVEN, reward=reward, ended=ended)  # noqa: E731
    single, envs = SyncVectorEnv([make] * COUNT, autoreset_mode=mode), together(chain, autoreset_mode=mode)
    (a, told_a), (b, told_b) = single.reset(seed=3), envs.reset(seed=3)
    assert np.array_equal(a, b) and equal(told_a, told_b)
    ends = []
    for actions in random_actions():
        *found_a, info_a = single.step(actions)
        *found_b, info_b = envs.step(actions)
        assert all(np.array_equal(x, y) for x, y in zip(found_a, found_b, strict=True))
        assert equal(info_a, info_b)
        ends.append(found_b[2] | found_b[3])
    assert np.sum(ends) > 2 * COUNT
    assert single.action_space == envs.action_space and single.observation_space == envs.observation_space
    single.close()
    envs.close()


def test_the_wrappers_and_make_vec_of_gymnasium(chain: Path) -> None:
    spec = EnvSpec("Chain-v0", vector_entry_point=FmuVectorEnv, kwargs=dict(fmu=chain, reward=reward, **GIVEN))
    made = gymnasium.make_vec(spec, num_envs=COUNT, vectorization_mode="vector_entry_point")
    envs: VectorEnv[Any, Any, Any] = wrappers.NormalizeReward(
        wrappers.NormalizeObservation(wrappers.ClipAction(wrappers.RecordEpisodeStatistics(made)))
    )
    envs.reset(seed=1)
    lengths: list[int] = []
    for _ in range(STEPS):
        observed, *_, info = envs.step(envs.action_space.sample())
        assert observed.shape == envs.observation_space.shape and np.isfinite(observed).all()
        if "episode" in info:
            lengths += info["episode"]["l"][info["_episode"]].tolist()
    assert lengths == [15] * (2 * COUNT)  # of 0.3 s


def test_single_environments_are_reset_by_hand(chain: Path) -> None:
    envs = together(chain, autoreset_mode=AutoresetMode.DISABLED, ended=None, stop=0.04)
    first, _ = envs.reset(seed=0)
    actions = np.ones((COUNT, 2))
    envs.step(actions)
    mask = np.array([True, False, False, True, False])
    again, info = envs.reset(seed=0, options={"reset_mask": mask})
    assert np.array_equal(np.all(again == first, axis=1), mask) and np.array_equal(info["time"] == 0, mask)
    *_, truncated, _ = envs.step(actions)
    assert np.array_equal(truncated, ~mask)
    with pytest.raises(UserError, match="environment 1: its episode is over"):
        envs.step(actions)
    with pytest.raises(UserError, match="reset_mask: must be 5 truth values"):
        envs.reset(options={"reset_mask": [1, 2]})


def test_an_environment_that_fails_is_terminated_and_leaves_the_others_alone(chain: Path) -> None:
    huge: Any = dict(actions={"joint[1].torque": (-1e300, 1e300)}, ended=None)
    envs, others = together(chain, **huge), together(chain, **huge)
    envs.reset(seed=0)
    others.reset(seed=0)
    actions = np.zeros((COUNT, 1))
    actions[2] = 1e300
    for _ in range(3):
        observed, _, terminated, _, info = envs.step(actions)
        same, *_ = others.step(np.zeros((COUNT, 1)))
        if terminated.any():
            break
    assert np.flatnonzero(terminated).tolist() == [2] and info["reason"][2] and info["reason"][0] is None
    assert np.array_equal(np.delete(observed, 2, axis=0), np.delete(same, 2, axis=0))
    observed, _, terminated, _, info = envs.step(actions)
    assert not terminated.any() and np.isfinite(observed).all() and info["time"][2] == 0


def test_an_action_that_is_not_a_number_names_its_environment(chain: Path) -> None:
    envs, actions = together(chain), np.zeros((COUNT, 2))
    envs.reset(seed=0)
    actions[3, 1] = np.nan
    with pytest.raises(UserError, match=r"environment 3, the action \[ ?0\. nan\]: must be 2 finite numbers"):
        envs.step(actions)
    with pytest.raises(UserError, match=r"actions of the shape \(2,\): must be 5 x 2 numbers"):
        envs.step(actions[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    (
        (dict(actions={"gravity": (-1, 1)}), "gravity cannot be an action: it is not a Real input"),
        (dict(actions={"joint[1].torque": (1, -1)}), "the lower one first"),
        (dict(observations=["gravity"]), "cannot be an observation"),
        (dict(start={"gravty": 1.0}), "no variable gravty.*did you mean gravity"),
        (dict(start={"tip.x": 1.0}), "tip.x"),
        (dict(start={"link[1].mass": -1.0}), r"link\[1\].mass = -1 kg: must be greater than 0"),
        (dict(step=0.0), "must be greater than 0"),
    ),
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        together(LinkChain(links=2), **changes)


def test_a_reward_for_all_in_one() -> None:
    envs = together(LinkChain(links=2), reward=lambda seen, actions: -1.0)
    envs.reset(seed=0)
    with pytest.raises(UserError, match=r"reward returns the shape \(\): must be a value for each of 5"):
        envs.step(np.zeros((COUNT, 2)))
