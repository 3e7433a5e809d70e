"""Three rods stand upright on driven joints, are hit at the tip and recover.

First with a regulator in Python, then with the same law as an FMU.
"""

import tempfile

import numpy as np

from mechfmu import LinkChain
from mechfmu.analysis.linear import linearize, start_at, trim
from mechfmu.analysis.lqr import lqr_controller
from mechfmu.cosim.system import System

PERIOD, STOP, PUSH = 0.01, 3.0, 2.0  # s, s, N s: a short blow on the tip, to the right

chain = LinkChain(links=3)
upright = trim(chain, {"joint[1].angle_start": 1.5})
model = linearize(chain, point=upright)
blow = (
    PUSH * model.B[:, model.inputs.index("tip.force_x")]
)  # what it does to the states: the joints get their rates at once
start = start_at(chain, upright) | {
    f"{name}_start": float(x + dx) for name, x, dx in zip(model.states, model.x0, blow, strict=True)
}
Q = {name: 10.0 if name.endswith("angle") else 1.0 for name in model.states}
R = {f"joint[{k}].torque": 0.1 for k in (1, 2, 3)}

# in Python
law = model.lqr(Q, R, PERIOD)
left = chain.simulate(stop=1.0, start=start)
held = chain.simulate(stop=STOP, start=start, controller=law, period=PERIOD)
lowest, kept = left["tip.y"].min(), held["tip.y"].min()
print(f"without control the tip falls to {lowest:.3f} m; with it, it stays above {kept:.3f} m")
off = np.abs(held["tip.x"])
print(f"after the blow the tip is off by up to {off.max():.4f} m, at the end by {off[-1]:.6f} m")

# as two FMUs
controller, gains = lqr_controller(model, Q, R, PERIOD)
with tempfile.TemporaryDirectory() as folder:
    fmus = {"plant": chain.build(folder, start=start)[0], "control": controller.build(folder, start=gains)[0]}
    loop = System("upright", fmus, connect=law.connections("plant", "control"), stop=STOP, step=PERIOD)
    # no warning of long steps: the law is meant to be sampled
    coupled = loop.simulate(adaptive=False, warn=lambda text: None)
difference = max(np.abs(coupled[f"plant.{name}"] - held[name]).max() for name in model.states)
print(f"the FMUs differ from it by at most {difference:.1e} (rad, rad/s)")
