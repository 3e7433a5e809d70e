"""The 6-link exoskeleton walks from rest, is pushed, and walks on.

Exoskeleton and walking controller are two FMUs, wired together and run step by step. The controller steps to where the
capture point will be; docs/exoskeleton.md has its equations. The same from the command line:

    mechfmu cosim new walk.ssp --ready walk
    mechfmu cosim walk.ssp --animate walk.html --signals exo.hip.x,control.step.length
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from exo_loop import balance

from mechfmu.cosim.builtin import build_builtin

PUSH, AT, LASTING = 600.0, 6.0, 0.1  # N, s, s: forwards, on the hip


def push(t):
    return PUSH if AT <= t < AT + LASTING else 0.0


def simulate(stop=12.0):
    with tempfile.TemporaryDirectory() as folder:
        return build_builtin("walk", Path(folder)).simulate(stop=stop, inputs={"exo.push.force_x": push})


def step_lengths(result):
    """The lengths of the steps, one after the other."""
    began = np.flatnonzero(np.diff(result["control.steps"])) + 1
    return result["control.step.length"][began]


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    result = simulate()
    lengths = step_lengths(result)
    walked = f"{result['exo.hip.x'][-1]:.2f} m in {len(lengths)} steps and {result.t[-1]:.0f} s"
    print(f"{walked}; pushed by {PUSH:g} N for {LASTING:g} s at t = {AT:g} s")
    print("step lengths [m]:", " ".join(f"{length:.2f}" for length in lengths))
    lean = 90 - np.degrees(result["exo.link[5].angle"])
    lowest = min(result[f"exo.foot[{b}].y"].min() for b in (1, 2))
    print(f"the body leans by {lean.min():.1f} to {lean.max():.1f} deg; lowest foot {lowest:.1e} m")
    work, lost = result["exo.energy.input"][-1], result["exo.energy.dissipated"][-1]
    print(f"energy: {work:.1f} J put in, {lost:.1f} J dissipated, balance {balance(result, 'exo.'):.1e} J")
    result.plot(
        ["exo.hip.x", "exo.hip.velocity_x", "exo.phase", "control.step.length", "control.hip.moment[1]"],
        f"{folder}/exo_walk.png",
    )
    result.animate(f"{folder}/exo_walk.gif", fps=20)
