"""A mechanism of your own: the folder cart_pendulum beside this file, simulated, built as an FMU and run.

Copied to components/mechfmu/mechanisms/ the folder would be a mechanism like any other (see CONTRIBUTING.md); here it
is registered where it is, and nothing is copied.
"""

from pathlib import Path

import numpy as np

from mechfmu import mechanisms
from mechfmu.simulation.simulate import simulate_fmu

key = mechanisms.add_folder(Path(__file__).parent / "cart_pendulum")

cart = mechanisms.make(key, length=0.8)
alone = cart.simulate(stop=5, inputs={"cart.force": lambda t: 2.0 * np.sin(3.0 * t)})
print(f"pushed to and fro for 5 s, the cart is at {alone['cart.position'][-1]:.3f} m")

for fmu in cart.build(".", kind="both"):
    inside = simulate_fmu(fmu, stop=5)
    same = cart.simulate(stop=5)
    difference = np.max(np.abs(inside["hinge.angle"] - same["hinge.angle"]))
    print(f"{fmu.name}: the angle of the rod differs by {difference:.0e} rad from the simulation without an FMU")
