"""An FMU as a Gymnasium environment, for learning controllers.

env = FmuEnv("LinkChain.fmu", actions={"joint[1].torque": (-20, 20)}, observations=["joint[1].angle", "joint[1].rate"],
             reward=lambda seen, action: -seen["joint[1].angle"] ** 2, start={"joint[1].angle_start": (-1.0, 1.0)})
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model import UserError, did_you_mean
from ..model.extras import install
from ..simulation.description import constants_of, display_unit_of, read_description, start_value
from ..simulation.result import Result
from ..simulation.source_mechanism import drawable_mechanism
from ..simulation.time_grid import times
from ..sweep.runner import Runner

try:
    import gymnasium
except ImportError:
    raise ImportError(f"learning needs Gymnasium: {install('learn')}") from None

Seen = Mapping[str, float]


class FmuEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """An FMU as a Gymnasium environment. One episode is one run from 0 to `stop` in steps of `step`.

    fmu            the file
    actions        inputs and their limits, to which actions are clipped: `{"joint[1].torque": (-20, 20)}`
    observations   outputs, in the order of the observation array
    reward         function of the observation after a step, by name, and of the action that led there
    start          parameters and inputs: a number, or (low, high) to draw one at every reset
    ended          function of the observation: whether the task is over (success or a fall), which ends the episode
    record         keep all outputs of the present episode: `env.episode().animate("episode.html")`
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        fmu: str | Path,
        actions: Mapping[str, tuple[float, float]],
        observations: Sequence[str],
        reward: Callable[[Seen, np.ndarray], float],
        start: Mapping[str, Any] | None = None,
        ended: Callable[[Seen], bool] = lambda seen: False,
        stop: float = 10.0,
        step: float = 0.02,
        record: bool = False,
    ):
        self._fmu, self._description = fmu, read_description(fmu)
        self._start = dict(start or {})
        self._check_arguments(actions, observations)
        times(0.0, stop, step)
        self._runner = Runner(Path(fmu))
        variables = {v.name: v for v in self._description.modelVariables}
        real = [v for v in variables.values() if v.causality in ("output", "input") and v.type == "Real"]
        self._recorded = real if record else []
        self._rows: list[list[float]] = []
        self._actions = [variables[name].valueReference for name in actions]
        self._observations, self._names = [variables[name].valueReference for name in observations], list(observations)
        self._reward, self._ended, self._stop, self._step, self._t = reward, ended, stop, step, 0.0
        low, high = np.array(list(actions.values()), dtype=np.float64).reshape(-1, 2).T
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (len(self._names),), dtype=np.float64)

    def _check_arguments(self, actions: Mapping[str, tuple[float, float]], observations: Sequence[str]) -> None:
        variables = {v.name: v for v in self._description.modelVariables}
        for name in (*actions, *observations, *self._start):
            if name not in variables:
                raise UserError(f"{Path(self._fmu).name} has no variable {name}{did_you_mean(name, variables)}")
        for names, role, causality in ((actions, "an action", "input"), (observations, "an observation", "output")):
            for name in names:
                if variables[name].causality != causality or variables[name].type != "Real":
                    raise UserError(f"{name} cannot be {role}: it is not a Real {causality}")
        for name, value in self._start.items():
            start_value(variables[name], value[0] if isinstance(value, tuple) else value, variables)
        for name, limits in actions.items():
            if not (len(limits) == 2 and all(map(math.isfinite, limits)) and limits[0] < limits[1]):
                raise UserError(f"{name}: the limits of an action must be two finite numbers, the lower one first")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = {
            name: self.np_random.uniform(*value) if isinstance(value, tuple) else value
            for name, value in self._start.items()
        }
        self._runner.begin(drawn)
        self._t, self._drawn, self._rows = 0.0, drawn, []
        self._record()
        return self._observe(), {"time": 0.0, "start": drawn}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        fmu, limits = self._runner.fmu, self.action_space
        info: dict[str, Any] = {}
        wanted = np.asarray(action)
        if wanted.shape != limits.shape or not np.issubdtype(wanted.dtype, np.number) or not np.isfinite(wanted).all():
            count = len(self._actions)
            raise UserError(f"the action {action}: must be {count} finite number{'s' * (count > 1)}")
        fmu.setReal(self._actions, np.clip(wanted, limits.low, limits.high).tolist())  # type: ignore[attr-defined]
        try:
            fmu.doStep(self._t, self._step)
            self._t += self._step
            failed = False
            self._record()
        except Exception:  # the FMU cannot continue: the episode is over
            failed, info["reason"] = True, self._runner.last_error
        observation = self._observe()
        seen = dict(zip(self._names, observation.tolist(), strict=True))
        over = failed or bool(self._ended(seen))
        truncated = self._t >= self._stop - 1e-9 * self._step
        return observation, float(self._reward(seen, action)), over, truncated, {**info, "time": self._t}

    def _record(self) -> None:
        if self._recorded:
            self._rows.append([self._t, *self._runner.fmu.getReal([v.valueReference for v in self._recorded])])

    def episode(self) -> Result:
        """Return the present episode up to now."""
        if not self._rows:
            raise UserError("there is no episode: make the environment with record=True, and reset it")
        t, *columns = np.array(self._rows).T
        signals, inputs = (
            {v.name: c for v, c in zip(self._recorded, columns, strict=True) if v.causality == kind}
            for kind in ("output", "input")
        )
        units = {v.name: display_unit_of(v, self._description) for v in self._recorded}
        constants = constants_of(self._description, self._drawn)
        name, drawable = self._description.modelName, drawable_mechanism(self._fmu)
        return Result(name, t, signals, units, constants, drawable, inputs)

    def _observe(self) -> np.ndarray:
        return np.array(self._runner.fmu.getReal(self._observations), dtype=np.float64)

    def close(self) -> None:
        self._runner.close()
