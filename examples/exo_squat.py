"""The 6-link exoskeleton stands on both feet and does squats.

The five joint controllers are an FMU of their own, wired to the plant's FMU by FMPy.
"""

import sys

import numpy as np
from exo_loop import JOINTS, Unit, balance, joint_angles, run, with_rates

from mechfmu import Exoskeleton, PidController
from mechfmu.mechanisms.exoskeleton.posture import posture_angles

STOP, PERIOD, HIGH, LOW = 8.0, 4.0, 0.86, 0.62  # s, s per squat, m: heights of the hip
FEET = ((-0.22, 0.0), (0.22, 0.0))


def posture(t):
    height = HIGH - (HIGH - LOW) * (1 - np.cos(2 * np.pi * t / PERIOD)) / 2 if t > 0 else HIGH
    depth = (HIGH - height) / (HIGH - LOW)
    return posture_angles(
        (-0.02 - 0.06 * depth, height), FEET, lean=0.35 * depth
    )  # the hip goes back, the body forward


def simulate(stop=STOP):
    start = {f"link[{i + 1}].angle_start": a for i, a in enumerate(posture(0.0))}
    start |= {"hip.x_start": -0.02, "hip.y_start": HIGH, "foot[1].pinned_start": 1, "foot[2].pinned_start": 1}
    gains = {f"gain.proportional[{k}]": 1500.0 for k in range(1, 6)} | {
        f"gain.derivative[{k}]": 60.0 for k in range(1, 6)
    }
    return run(
        Unit(Exoskeleton.six_link(), start),
        Unit(PidController(channels=5), gains),
        JOINTS,
        with_rates(lambda t: joint_angles(posture(t))),
        stop,
    )


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    result = simulate()
    wanted = np.array([posture(t) for t in result.t])
    error = max(np.max(np.abs(result[f"link[{i + 1}].angle"] - wanted[:, i])) for i in range(6))
    print(f"{STOP / PERIOD:.0f} squats: the hip between {result['hip.y'].min():.3f} and {result['hip.y'].max():.3f} m")
    print(f"largest error of an angle {np.degrees(error):.1f} deg, without feed-forward of the weight")
    reaction = result["foot[1].reaction_y"]
    print(f"reactions of {reaction.min():.0f} to {reaction.max():.0f} N, energy balance {balance(result):.1e} J")
    result.plot(
        ["hip.y", "head.y", "foot[1].reaction_y", "foot[2].reaction_y", "energy.input", "energy.dissipated"],
        f"{folder}/exo_squat.png",
    )
    result.animate(f"{folder}/exo_squat.gif", fps=12)
