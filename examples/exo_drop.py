"""The 6-link exoskeleton falls 25 cm, lands on bent legs, absorbs the fall and comes to stand.

The joint controllers are an FMU of their own.
"""

import sys

import numpy as np
from exo_loop import JOINTS, Unit, balance, joint_angles, phase_changes, run

from mechfmu import Exoskeleton, PidController
from mechfmu.mechanisms.exoskeleton.posture import posture_angles

STOP, HEIGHT, FALL = 2.0, 0.80, 0.25  # s, m: hip above the ground in the landing posture, fall
FEET = ((-0.22, 0.0), (0.22, 0.0))


def simulate(stop=STOP):
    landing = posture_angles((-0.03, HEIGHT), FEET, lean=0.15)
    start = {f"link[{i + 1}].angle_start": a for i, a in enumerate(landing)} | {
        "hip.x_start": -0.03,
        "hip.y_start": HEIGHT + FALL,
    }
    gains = {f"gain.proportional[{k}]": 1200.0 for k in range(1, 6)} | {
        f"gain.derivative[{k}]": 90.0 for k in range(1, 6)
    }
    return run(
        Unit(Exoskeleton.six_link(), start, tolerance=1e-8),
        Unit(PidController(channels=5), gains),
        JOINTS,
        lambda t: (joint_angles(landing), np.zeros(5)),
        stop,
        keep=5,
    )


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    result = simulate()
    print("phases:", ", ".join(f"{phase} from {t:.3f} s" for t, phase in phase_changes(result)))
    print(f"first touch-down after {np.sqrt(2 * FALL / 9.81):.3f} s on paper; {result['events'][-1]:.0f} events")
    print(f"{result['impact_energy_loss'].max():.1f} J lost in the hardest impact")
    weight = result["foot[1].reaction_y"] + result["foot[2].reaction_y"]
    reaction = f"ground reaction up to {weight.max():.0f} N, at the end {weight[-1]:.0f} N (weight 736 N)"
    print(f"{reaction}; lowest hip {result['hip.y'].min():.3f} m")
    print(f"energy balance {balance(result):.1e} J of {result['energy.dissipated'][-1]:.0f} J dissipated")
    result.plot(
        ["hip.y", "com.y", "foot[1].reaction_y", "foot[2].reaction_y", "phase", "energy.dissipated"],
        f"{folder}/exo_drop.png",
    )
    result.animate(f"{folder}/exo_drop.gif", fps=25, speed=0.5)
