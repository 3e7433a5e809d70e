"""The picture of figure 2: true to size no part of a cart touches an obstacle.

Steps from 1 to 100 ms keep M off the obstacles; the example runs.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from helpers.cart_cases import GUIDANCE_NAMES, golden, named, scenario_inputs
from helpers.cart_monte_carlo import Scenarios, drive
from helpers.fork_server import run
from helpers.paths import EXAMPLES
from mechfmu import CartController
from mechfmu.control.guidance import Obstacle, Target, distances
from mechfmu.mechanisms.scenario.variables import OBSTACLES, TARGET

EXAMPLE = EXAMPLES / "cart_figure2.py"
specification = importlib.util.spec_from_file_location("cart_figure2", EXAMPLE)
figure = importlib.util.module_from_spec(specification)
specification.loader.exec_module(figure)


@pytest.mark.parametrize("start", (0, 3))
def test_true_to_size_no_part_of_the_cart_touches_an_obstacle(start: int) -> None:
    """Corners and wheels of the cart against the ellipses as they are, not inflated; 40 s."""
    case = figure.CASES["cart"]
    driven = figure.drive(case, case.starts[start])
    closest = np.inf
    for k in range(0, len(driven["time"]), 5):
        obstacles = figure.obstacles(driven, k)
        for x, y in figure.cart(driven, k):
            closest = min(closest, float(np.min(distances(x, y, obstacles))))
    assert 0.0 < closest < 1.0
    assert np.hypot(driven["pose.x"][-1] - driven["target.x"][-1], driven["pose.y"][-1] - driven["target.y"][-1]) < 0.2
    assert not np.any(driven["inside_obstacle"])


@pytest.mark.parametrize(("h", "stop"), ((0.001, 10.0), (0.01, 23.0), (0.1, 23.0)))
def test_steps_from_1_to_100_ms_keep_off_the_obstacles(h: float, stop: float) -> None:
    """All starts of figure 2 at once, from rest.

    The shortest step for as long as it takes to pass the obstacles, the others to the target.
    """
    starts = np.array(figure.CASES["point"].starts).T
    n = starts.shape[1]
    right = [OBSTACLES[0], OBSTACLES[1]._replace(side=-1.0)]
    target, obstacles = (
        Target(*(v * np.ones(n) for v in TARGET)),
        [Obstacle(*(v * np.ones(n) for v in o)) for o in right],
    )
    settings = named(GUIDANCE_NAMES, golden("closed_loop_rigid")["guidance"])
    clearance, miss, _ = drive(
        Scenarios(starts[0], starts[1], target, obstacles), settings, starts[2], 0 * starts[0], stop, h
    )
    assert np.min(clearance) > 0.0
    assert stop < 20.0 or np.max(miss) < 0.02


def test_the_default_scenario_is_that_of_the_golden_data() -> None:
    inputs = scenario_inputs(golden("guidance_field")["scenarios"][0])
    defaults = {s.name: s.start for s in CartController().table.of("input")}
    assert {name: defaults[name] for name in inputs} == inputs


def test_the_example_draws_picture_and_animation(tmp_path: Path) -> None:
    done = run([EXAMPLE, "point"], tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    misses = [float(m) for m in re.findall(r"([\d.]+) mm off the target", done.stdout)]
    assert len(misses) == 5 and max(misses) < 10
    for suffix, magic in (("png", b"\x89PNG"), ("gif", b"GIF8")):
        assert (tmp_path / f"cart_figure2_point.{suffix}").read_bytes()[:4] == magic
    wrong = run([EXAMPLE, "square"], tmp_path, timeout=300)
    assert wrong.returncode != 0 and "there is no case square; cases: point, cart" in wrong.stderr


def test_the_chain_follows_its_line(tmp_path: Path) -> None:
    done = run([EXAMPLE.with_name("chain_on_a_line.py")], tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    heights = [abs(float(h)) for h in re.findall(r"over the line +(\S+) mm", done.stdout)]
    assert heights[0] > 100 and heights[-1] < 1
