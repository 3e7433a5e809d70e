"""A hanging chain on a base that is shaken sideways, with motors, springs and dampers: inputs as functions of time.

The work of the inputs, the losses and the energy of the chain must balance, whatever drives it.
"""

import numpy as np

from mechfmu import LinkChain

LINKS = 4
chain = LinkChain(links=LINKS, base="moving")
start = {"joint[1].angle_start": -np.pi / 2}  # hanging straight down
for k in range(1, LINKS + 1):
    start |= {f"joint[{k}].damping": 0.02, f"joint[{k}].friction": 0.01}
for k in range(2, LINKS + 1):
    start[f"joint[{k}].stiffness"] = 2.0

inputs = {
    "base.acceleration_x": lambda t: 4.0 * np.cos(5.0 * t),
    "joint[2].torque": lambda t: 0.5 if 2.0 <= t < 2.5 else 0.0,
}
result = chain.simulate(stop=8, step=0.01, start=start, inputs=inputs)

change = result["energy.total"] - result["energy.total"][0]
balance = change - result["energy.input"] + result["energy.dissipated"]
work, lost = result["energy.input"][-1], result["energy.dissipated"][-1]
print(f"the inputs did {work:.3f} J of work, {lost:.3f} J were lost, {change[-1]:.3f} J are in the chain")
print(f"the balance is right to {np.max(np.abs(balance)):.0e} J")
result.plot(["base.x", "tip.x", "joint[1].angle", "energy.input", "energy.dissipated"], "shaken_chain.png")
