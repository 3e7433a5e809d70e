"""Steps of learning environments: FmuVectorEnv beside Gymnasium's vector of single FmuEnvs, in one thread.

    python benchmarks/learning.py [--envs 256]

Needs `pip install ".[native,learn]"`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

from gymnasium.vector import SyncVectorEnv, VectorEnv

from mechfmu import LinkChain
from mechfmu.analysis.learning import FmuEnv
from mechfmu.analysis.vector_learning import FmuVectorEnv

GIVEN: dict[str, Any] = dict(
    actions={"joint[1].torque": (-20.0, 20.0)},
    observations=["joint[1].angle", "joint[1].rate", "tip.x"],
    reward=lambda seen, action: -(seen["joint[1].angle"] ** 2),
    start={"joint[1].angle_start": (-1.0, 1.0)},
    stop=5.0,
    step=0.02,
)
STEPS, ROUNDS = 20, 3


def steps_per_second(envs: VectorEnv[Any, Any, Any]) -> float:
    """Of all environments together."""
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    began = time.perf_counter()
    for _ in range(STEPS):
        envs.step(actions)
    return STEPS * envs.num_envs / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time environments that step together.")
    parser.add_argument("--envs", type=int, default=256)
    count = parser.parse_args().envs
    with tempfile.TemporaryDirectory() as folder:
        (fmu,) = LinkChain(links=10).build(folder)
        together = FmuVectorEnv(fmu, count, **GIVEN)
        single = SyncVectorEnv([lambda: FmuEnv(fmu, **GIVEN)] * count)
        best = [max(steps_per_second(envs) for _ in range(ROUNDS)) for envs in (together, single)]
        single.close()
    print(f"steps a second of {count} environments, 10-link chain, 20 ms: FmuVectorEnv {best[0]:.0f}, "
          f"SyncVectorEnv of FmuEnv {best[1]:.0f}: {best[0] / best[1]:.1f} times")  # fmt: skip


if __name__ == "__main__":
    main()
