"""How fine the picture of a page is: it follows the speed of the computer, on computers that are made up."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from helpers.needs import tool
from helpers.paths import ROOT

QUALITY = ROOT / "components" / "mechfmu" / "view" / "web" / "quality.js"
BUDGET, REFRESH = 1000 / 60, 1000 / 60  # ms
RUN = """
const { LEVELS, Quality } = await import(process.argv[1]);
const { costs, seconds, refresh, ...options } = JSON.parse(process.argv[2]);
const quality = new Quality(options), seen = [[0, quality.index]];
for (let now = 0; now < 1000 * seconds; ) {
  const cost = costs.findLast(({ from }) => now >= 1000 * from).times[quality.index];
  const gap = refresh * Math.ceil(cost / refresh - 1e-9); // the next refresh of the screen after the picture
  now += gap;
  if (quality.took(gap)) seen.push([now / 1000, quality.index]);
}
console.log(JSON.stringify({ seen, count: LEVELS.length, level: quality.level, finest: quality.finest }));
"""


def run(times: list[float], seconds: float, later: list[float] | None = None, **options: Any) -> Any:
    """Run on a computer that needs `times` [ms] for a picture of each level, `later` from half of the time on."""
    costs = [{"from": 0, "times": times}, {"from": seconds / 2, "times": later or times}]
    given = json.dumps({"costs": costs, "seconds": seconds, "refresh": REFRESH, **options})
    code = ["node", "--input-type=module", "-e", RUN, QUALITY.as_uri(), given]
    return json.loads(subprocess.run([tool("node"), *code[1:]], capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("enough", range(2, 7))
def test_the_quality_settles_where_60_pictures_per_second_are_drawn(enough: int) -> None:
    times = [9.0 * 2 ** (enough - k) for k in range(7)]  # the level `enough` is the first one within the budget
    found = run(times, 20)
    settled = [index for t, index in found["seen"] if t <= 2]
    assert times[settled[-1]] < BUDGET
    raised = [(t, index) for t, index in found["seen"] if index < enough]
    assert all(t < 2 or index == enough - 1 for t, index in raised), "a raise tries the next level only"
    assert len([t for t, _ in raised if t > 2]) <= 2, "raises that fail become rare"


def test_a_fast_computer_has_the_finest_picture_of_its_screen() -> None:
    for ratio, expected in ((1, 1), (1.5, 1.5), (2, 2), (3, 2)):
        found = run([4.0] * 7, 10, pixelRatio=ratio)
        assert found["level"]["ratio"] == expected and len(found["seen"]) == 1


def test_the_quality_returns_when_the_computer_is_free_again() -> None:
    found = run([30.0, 30.0, 30.0, 30.0, 30.0, 12.0, 12.0], 60, later=[5.0] * 7, pixelRatio=1)
    assert min(index for _, index in found["seen"][1:-3]) >= 2
    assert found["level"] == found["finest"]


def test_a_browser_that_draws_seldom_keeps_the_quality() -> None:
    """A phone that saves power draws 30 pictures per second, however simple they are."""
    found = run([25.0] * 7, 30)
    assert found["level"] == found["finest"]


def test_a_choice_of_the_user_stays() -> None:
    for wanted, shadows in (("high", True), ("low", False)):
        found = run([100.0] * 7, 5, wanted=wanted)
        assert len(found["seen"]) == 1 and (found["level"]["shadows"] > 0) is shadows
    assert len(run([100.0 - k for k in range(7)], 5, wanted="?")["seen"]) > 1


def test_without_a_graphics_card_it_begins_low() -> None:
    assert run([4.0] * 7, 1, software=True)["level"]["shadows"] == 0
