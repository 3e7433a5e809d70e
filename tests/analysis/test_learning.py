"""The Gymnasium environment: by that library's own checker, and against the FMU run by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import needs
from helpers.tolerances import ARITHMETIC
from mechfmu import LinkChain
from mechfmu.fmu.build import build
from mechfmu.model import UserError

needs.package("gymnasium", whole_file=True)
from gymnasium.utils.env_checker import check_env  # noqa: E402

from mechfmu.analysis.learning import FmuEnv  # noqa: E402

ACTIONS = {"joint[1].torque": (-20.0, 20.0), "joint[2].torque": (-5.0, 5.0)}
SEEN = ["joint[1].angle", "joint[2].angle", "joint[1].rate", "joint[2].rate"]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (file,) = build(LinkChain(links=2), tmp_path_factory.mktemp("learned"))
    return file


def environment(chain: Path, **changes: Any) -> FmuEnv:
    given = dict(
        actions=ACTIONS,
        observations=SEEN,
        reward=lambda seen, action: -(seen["joint[1].angle"] ** 2) - 1e-3 * float(action @ action),
        start={"joint[1].angle_start": (-1.0, 1.0), "gravity": 1.62},
        stop=0.5,
    )
    return FmuEnv(chain, **{**given, **changes})


@pytest.mark.filterwarnings("ignore:.*Box observation space m.* value is.*infinity")  # angles and rates have no limits
@pytest.mark.filterwarnings("ignore:.*we recommend using a symmetric and normalized space")  # torques keep their units
@pytest.mark.filterwarnings("ignore:.*not having a spec")  # made directly, not by gymnasium.make
@pytest.mark.filterwarnings("ignore:.*precision lowered")
def test_the_checker_of_gymnasium(chain: Path) -> None:
    env = environment(chain)
    check_env(env, skip_render_check=True)
    env.close()


def test_an_episode_is_a_run_of_the_fmu(chain: Path) -> None:
    """Torques held over each step, from the start that was drawn."""
    env = environment(chain)
    seen, info = env.reset(seed=3)
    random = np.random.default_rng(0)
    torques = random.uniform(-2, 2, (25, 2))
    rows, over = [seen], []
    for torque in torques:
        seen, reward, ended, truncated, told = env.step(torque)
        assert reward == -(seen[0] ** 2) - 1e-3 * float(torque @ torque) and not ended
        rows.append(seen)
        over.append(truncated)
    assert over == [False] * 24 + [True] and told["time"] == pytest.approx(0.5)
    held = {f"joint[{k + 1}].torque": (lambda t, k=k: torques[min(round(t / 0.02), 24), k]) for k in range(2)}
    same = LinkChain(links=2).simulate(stop=0.5, step=0.02, start=info["start"], inputs=held, engine="c")
    assert np.allclose(np.array(rows), np.array([same[name] for name in SEEN]).T, rtol=ARITHMETIC, atol=ARITHMETIC)
    env.close()


def test_starts_are_drawn_anew_and_follow_the_seed(chain: Path) -> None:
    env = environment(chain)
    first, again, other = env.reset(seed=1)[1]["start"], env.reset(seed=1)[1]["start"], env.reset()[1]["start"]
    assert first == again != other and first["gravity"] == 1.62
    assert all(-1 <= s["joint[1].angle_start"] <= 1 for s in (first, other))
    env.close()


def test_an_episode_ends_when_the_task_is_over_or_the_fmu_fails(chain: Path) -> None:
    env = environment(chain, ended=lambda seen: seen["joint[1].angle"] < -0.5, start={"joint[1].angle_start": -0.45})
    env.reset()
    ends = [env.step(np.array([-20.0, 0.0]))[2] for _ in range(10)]
    assert ends[-1] and not ends[0]
    env.close()
    env = environment(chain, actions={"joint[1].torque": (-1e300, 1e300)}, reward=lambda seen, action: 0.0)
    env.reset(seed=0)
    for _ in range(3):
        *_, ended, _, info = env.step(np.array([1e300]))
        if ended:
            break
    assert ended and info["reason"]
    assert np.all(np.isfinite(env.reset(seed=0)[0]))
    env.close()


def test_a_recorded_episode_can_be_animated(chain: Path, tmp_path: Path) -> None:
    env = environment(chain, record=True)
    _, info = env.reset(seed=1)
    seen = [env.step(np.array([1.0, -1.0]))[0] for _ in range(5)]
    episode = env.episode()
    assert len(episode.t) == 6 and np.array_equal(episode["joint[1].angle"][1:], np.array(seen)[:, 0])
    assert set(episode.inputs["joint[1].torque"][1:]) == {1.0}
    assert episode.constants["gravity"] == 1.62
    assert episode.constants["joint[1].angle_start"] == info["start"]["joint[1].angle_start"]
    assert episode.animate(tmp_path / "episode.html").stat().st_size > 10_000
    env.close()
    with pytest.raises(UserError, match="record=True"):
        environment(chain).episode()


@pytest.mark.parametrize("action", (["a", "b"], [1.0], [np.nan, 0.0]), ids=str)
def test_an_invalid_action(chain: Path, action: Any) -> None:
    env = environment(chain)
    env.reset(seed=0)
    with pytest.raises(UserError, match="must be 2 finite numbers"):
        env.step(action)
    env.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    (
        (dict(actions={"joint[1].torqe": (-1, 1)}), "did you mean joint"),
        (dict(actions={"gravity": (-1, 1)}), "gravity cannot be an action: it is not a Real input"),
        (dict(actions={"joint[1].torque": (1, -1)}), "the lower one first"),
        (dict(actions={"joint[1].torque": (-np.inf, 1)}), "two finite numbers"),
        (dict(observations=["gravity"]), "cannot be an observation"),
        (dict(start={"tip.x": 1.0}), "cannot be set"),
        (dict(step=0.0), "must be greater than 0"),
    ),
)
def test_mistakes(chain: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        environment(chain, **changes)
