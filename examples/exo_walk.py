"""The 3-link exoskeleton walks: legs that shorten and swing in turn, by a clock. Many touch-downs and lift-offs, and an energy balance that holds through all.

The lengths of the legs are prescribed; two hip controllers in an FMU of their own swing the legs. Nothing balances the body: the stance is wide, and every
landing takes away what would make it fall.
"""

import sys

import numpy as np
from exo_loop import Unit, balance, phase_changes, run

from mechfmu import Exoskeleton, PidController

PERIOD, LIFT, STRIDE, SPREAD, LEG = 0.5, 0.03, 0.1, 0.25, 0.9274  # s, m, rad, rad, m
HIPS = tuple((f"hip.angle[{b}]", f"hip.rate[{b}]", f"hip.moment[{b}]") for b in (1, 2))


def swing(t, b):
    """0 on the ground, 1 in the middle of the swing of leg b; the first period is for standing."""
    part = (t / PERIOD + b / 2) % 1.0
    return np.sin(2 * np.pi * part) ** 2 if part < 0.5 and t > PERIOD else 0.0


def simulate(stop=10.0):
    start = {"hip.y_start": LEG * np.cos(SPREAD), "foot[1].pinned_start": 1, "foot[2].pinned_start": 1, "prescribed.bandwidth": 80.0}
    start |= {f"link[{b}].prescribed": 1 for b in (1, 2)}
    gains = {f"gain.proportional[{b}]": 2000.0 for b in (1, 2)} | {f"gain.derivative[{b}]": 60.0 for b in (1, 2)}
    return run(
        Unit(Exoskeleton.three_link(lengths="prescribed"), start), Unit(PidController(channels=2), gains), HIPS,
        references=lambda t: (np.array([-SPREAD + STRIDE * swing(t, 0), SPREAD + STRIDE * swing(t, 1)]), np.zeros(2)),
        inputs=lambda t: {f"link[{b + 1}].length_input": LEG - LIFT * swing(t, b) for b in range(2)},
        stop=stop,
    )  # fmt: skip


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    result = simulate()
    changes, lowest = len(phase_changes(result)) - 1, min(result["foot[1].y"].min(), result["foot[2].y"].min())
    print(f"{result['hip.x'][-1]:.2f} m in {result.t[-1]:.0f} s, {result['events'][-1]:.0f} events, {changes} changes of phase seen every 10 ms")
    print(f"energy: {result['energy.input'][-1]:.1f} J put in, {result['energy.dissipated'][-1]:.1f} J dissipated, balance {balance(result):.1e} J")
    print(f"the body leans by up to {np.degrees(np.max(np.abs(result['link[3].angle'] - np.pi / 2))):.0f} deg; lowest foot {lowest:.1e} m")
    result.plot(["hip.x", "foot[1].x", "foot[2].x", "phase", "energy.input", "energy.dissipated"], f"{folder}/exo_walk.png")
    result.animate(f"{folder}/exo_walk.gif", fps=20)
