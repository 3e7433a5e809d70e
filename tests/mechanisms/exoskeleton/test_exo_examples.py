"""The exoskeleton's examples: plant and controller as two FMUs. No pictures; test_walking.py tests walking."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np

from helpers.paths import EXAMPLES
from helpers.tolerances import COUPLED_ENERGY

SCRIPT = """
import json, sys
example = __import__(sys.argv[1])
from exo_loop import balance
result = example.simulate(float(sys.argv[2]))
names = ["phase", "events", "hip.x", "hip.y", "energy.dissipated", "impact_energy_loss"]
names += [f"foot[{b}].{name}" for b in (1, 2) for name in ("y", "reaction_y")]
values = {name: result[name] for name in names} | {"t": result.t}
print(json.dumps({name: list(map(float, v)) for name, v in values.items()} | {"balance": balance(result)}))
"""


def result(name: str, stop: float) -> dict[str, np.ndarray]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, name, str(stop)], cwd=EXAMPLES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: np.array(values) for name, values in json.loads(done.stdout.splitlines()[-1]).items()}


def test_a_squat_stays_on_both_feet() -> None:
    found = result("exo_squat", 4.0)
    assert set(found["phase"]) == {3.0} and found["events"][-1] == 0
    assert found["hip.y"].min() < 0.65 and abs(found["hip.y"][-1] - found["hip.y"][0]) < 0.03
    assert found["balance"] < COUPLED_ENERGY


def test_a_drop_ends_standing() -> None:
    found = result("exo_drop", 2.0)
    assert found["phase"][0] == 0 and found["phase"][-1] == 3
    landing = int(np.flatnonzero(found["phase"])[0])
    assert found["t"][landing - 1] <= np.sqrt(2 * 0.25 / 9.81) + 5e-3 and found["t"][landing] >= np.sqrt(
        2 * 0.25 / 9.81
    )
    weight = found["foot[1].reaction_y"] + found["foot[2].reaction_y"]
    assert abs(weight[-1] - 75 * 9.81) < 5 and weight.max() > 2000
    assert found["impact_energy_loss"].max() > 1 and found["balance"] < COUPLED_ENERGY
