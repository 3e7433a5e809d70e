"""Many environments of one mechanism that step together, in SIMD lanes.

envs = FmuVectorEnv("LinkChain.fmu", 256, actions={"joint[1].torque": (-20, 20)}, observations=["joint[1].angle"],
                    reward=lambda seen, actions: -seen["joint[1].angle"] ** 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Mechanism, UserError, did_you_mean
from ..model.extras import install
from ..simulation.batch import Batch
from ..simulation.time_grid import times
from ..sweep.batch_runner import equations_of

try:
    import gymnasium
    from gymnasium.utils.seeding import np_random
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise ImportError(f"learning needs Gymnasium: {install('learn')}") from None

Seen = Mapping[str, np.ndarray]
Steps = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


class FmuVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many environments of a mechanism, or of an FMU that mechfmu built, that step together.

    Each has the episodes of an `FmuEnv` of the native FMU with the same seed and actions, to the last bit; the seed of
    environment k is that of `reset` plus k.

    fmu              a mechanism, or the file of an FMU
    num_envs         how many
    actions          inputs and their limits, to which actions are clipped: `{"joint[1].torque": (-20, 20)}`
    observations     outputs, in the order of the observation array
    reward           function of the observations after a step, by name, and of the actions: arrays with a value, or a
                     row, for each environment; returns a number for each
    start            parameters and inputs: a number, or (low, high) to draw one at every reset
    ended            function of the observations: in which environments the task is over, a mask
    autoreset_mode   when an environment whose episode is over begins the next one: NEXT_STEP, SAME_STEP, or DISABLED,
                     with which `reset(options={"reset_mask": mask})` does it; see
                     https://farama.org/Vector-Autoreset-Mode
    """

    def __init__(
        self,
        fmu: str | Path | Mechanism,
        num_envs: int,
        actions: Mapping[str, tuple[float, float]],
        observations: Sequence[str],
        reward: Callable[[Seen, np.ndarray], np.ndarray],
        start: Mapping[str, Any] | None = None,
        ended: Callable[[Seen], np.ndarray] | None = None,
        stop: float = 10.0,
        step: float = 0.02,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    ):
        mechanism, self._built_with = (fmu, {}) if isinstance(fmu, Mechanism) else equations_of(fmu)
        self._start = dict(start or {})
        _check_arguments(mechanism, actions, observations, self._start)
        times(0.0, stop, step)
        self._batch = Batch(mechanism, num_envs)
        self._actions, self._names = list(actions), list(observations)
        self._reward, self._ended, self._stop, self._step = reward, ended, stop, step
        self._t, self._over = np.zeros(num_envs), np.zeros(num_envs, dtype=bool)
        self._random = [np_random()[0] for _ in range(num_envs)]
        self.num_envs, self.render_mode = num_envs, None
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode(autoreset_mode)}
        low, high = np.array(list(actions.values()), dtype=np.float64).reshape(-1, 2).T
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self._names),), dtype=np.float64)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: in all environments, or in those of the mask `options["reset_mask"]`."""
        wanted = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if wanted.shape != (self.num_envs,) or wanted.dtype != bool or not wanted.any():
            raise UserError(f"reset_mask: must be {self.num_envs} truth values, at least one of them true")
        seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed or [None] * self.num_envs
        if len(seeds) != self.num_envs:
            raise UserError(f"{len(seeds)} seeds: there must be {self.num_envs}, one for each environment")
        for k in np.flatnonzero(wanted).tolist():
            if (own := seeds[k]) is not None:
                self._random[k] = np_random(own)[0]
        info = self._begin(wanted)
        self._over = self._over & ~wanted
        return self._observe(), {"time": self._t.copy(), "_time": wanted.copy(), **info}

    def step(self, actions: np.ndarray) -> Steps:
        """Make a step with all environments; with NEXT_STEP, those whose episode is over begin the next one instead."""
        mode, over = self.metadata["autoreset_mode"], self._over
        if mode == AutoresetMode.DISABLED and over.any():
            raise UserError(f"environment {np.argmax(over)}: its episode is over; reset it, see reset_mask")
        given = self._checked(actions, ~over)
        limits = self.single_action_space
        clipped = np.clip(given, limits.low, limits.high)[~over]  # type: ignore[attr-defined]
        self._batch.step(self._step, dict(zip(self._actions, clipped.T, strict=True)), ~over)
        failed = self._batch.failed & ~over
        self._t[~over & ~failed] += self._step
        observed = self._observe()
        seen = dict(zip(self._names, observed.T.copy(), strict=True))
        rewards = np.where(over, 0.0, self._one_each("reward", self._reward(seen, given)))
        ended = self._one_each("ended", self._ended(seen)).astype(bool) if self._ended else failed
        terminated, truncated = (failed | ended) & ~over, (self._t >= self._stop - 1e-9 * self._step) & ~over
        self._over = terminated | truncated
        info = self._reasons(failed)
        if mode == AutoresetMode.SAME_STEP and self._over.any():
            over = self._over
            last = np.full(self.num_envs, None, dtype=object)
            for k in np.flatnonzero(over):
                last[k] = observed[k].copy()
            final = {"time": np.where(over, self._t, 0.0), "_time": over, **info}
            info = {"final_obs": last, "_final_obs": over, "final_info": final, "_final_info": over}
            self._over = np.zeros(self.num_envs, dtype=bool)
        if over.any():
            info |= self._begin(over)
            observed[over] = self._observe(over)
        info |= {"time": self._t.copy(), "_time": np.ones(self.num_envs, dtype=bool)}
        return observed, rewards, terminated, truncated, info

    def _reasons(self, failed: np.ndarray) -> dict[str, Any]:
        """Why environments cannot continue, as info."""
        if not failed.any():
            return {}
        reasons = np.full(self.num_envs, None, dtype=object)
        reasons[failed] = np.array(self._batch.errors, dtype=object)[failed]
        return {"reason": reasons, "_reason": failed}

    def _begin(self, wanted: np.ndarray) -> dict[str, Any]:
        """Begin episodes; return their start values as info."""
        places = np.flatnonzero(wanted)
        drawn: dict[str, Any] = {name: [] for name in self._start}
        for k in places:  # in the order of FmuEnv
            for name, value in self._start.items():
                drawn[name].append(self._random[k].uniform(*value) if isinstance(value, tuple) else value)
        own = {name: np.array(values) for name, values in drawn.items()}
        self._batch.reset(places, {**self._built_with, **own})
        self._t[places] = 0.0
        errors = self._batch.errors
        if failed := [k for k in places.tolist() if errors[k]]:
            raise UserError(f"environment {failed[0]} cannot start: {errors[failed[0]]}")
        start: dict[str, Any] = {}
        for name, values in own.items():
            start[name] = np.zeros(self.num_envs, dtype=values.dtype)
            start[name][places] = values
            start[f"_{name}"] = wanted.copy()
        return {"start": start, "_start": wanted.copy()} if start else {}

    def _observe(self, which: np.ndarray | None = None) -> np.ndarray:
        return self._batch.get(self._names, which)

    def _checked(self, actions: np.ndarray, used: np.ndarray) -> np.ndarray:
        """The actions as numbers; UserError unless all that are used are finite."""
        given, size = np.asarray(actions), len(self._actions)
        if given.shape != (self.num_envs, size) or given.dtype.kind not in "biuf":
            raise UserError(f"actions of the shape {given.shape}: must be {self.num_envs} x {size} numbers")
        wrong = used & ~np.isfinite(given).all(axis=1)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise UserError(f"environment {k}, the action {given[k]}: must be {size} finite number{'s' * (size > 1)}")
        return given

    def _one_each(self, function: str, values: Any) -> np.ndarray:
        found = np.asarray(values)
        if found.shape != (self.num_envs,):
            raise UserError(f"{function} returns the shape {found.shape}: must be a value for each of {self.num_envs}")
        return found


def _check_arguments(
    mechanism: Mechanism,
    actions: Mapping[str, tuple[float, float]],
    observations: Sequence[str],
    start: Mapping[str, Any],
) -> None:
    variables = mechanism.table.by_name
    for name in (*actions, *observations, *start):
        if name not in variables:
            raise UserError(f"{mechanism.name} has no variable {name}{did_you_mean(name, variables)}")
    for names, what, roles in (
        (actions, "an action: it is not a Real input", ("input",)),
        (observations, "an observation: it is not a Real output", ("state", "discrete", "output")),
    ):
        for name in names:
            if variables[name].role not in roles or variables[name].row.kind != "Real":
                raise UserError(f"{name} cannot be {what}")
    for name, value in start.items():
        mechanism.settings({name: value[0] if isinstance(value, tuple) else value})
    for name, limits in actions.items():
        if not (len(limits) == 2 and all(map(math.isfinite, limits)) and limits[0] < limits[1]):
            raise UserError(f"{name}: the limits of an action must be two finite numbers, the lower one first")
