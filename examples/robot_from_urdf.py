"""From a robot's URDF file to a native FMU, and what it does when its motors are switched off.

The same on the command line:

    mechfmu build examples/three_link_robot.urdf --option stops=elastic -o out
    mechfmu simulate out/three_link_robot.fmu
"""

import tempfile
from pathlib import Path

from fmpy import simulate_fmu

from mechfmu import Tree

robot = Tree.from_file(
    Path(__file__).with_name("three_link_robot.urdf"), stops="elastic"
)  # the limits of the joints push back
for joint, body in zip(robot.tree.joints, robot.tree.bodies, strict=True):
    print(f"{joint.name:10} {joint.kind:10} carries {body.name:10} {body.mass:4.1f} kg")
print(f"{robot.nv} degrees of freedom, {len(robot.table.scalars)} variables")

with tempfile.TemporaryDirectory() as folder:
    (fmu,) = robot.build(folder)
    print(f"{fmu.name}: {fmu.stat().st_size / 1000:.0f} kB")
    start = {
        "waist.rate_start": 2.0,
        "shoulder.angle_start": -0.8,
        "elbow.angle_start": 1.0,
    }  # names of the file, and of the FMU
    outputs = ["waist.angle", "shoulder.angle", "elbow.angle", "tip.z", "energy.total", "energy.dissipated"]
    result = simulate_fmu(str(fmu), stop_time=3.0, step_size=0.01, start_values=start, output=outputs)

for row in result[::50]:
    angles = "   ".join(f"{joint} {row[f'{joint}.angle']:6.3f}" for joint in ("waist", "shoulder", "elbow"))
    print(f"t = {row['time']:3.1f} s   {angles} rad")
balance = result["energy.total"] + result["energy.dissipated"]
error, lost = max(abs(balance - balance[0])), result["energy.dissipated"][-1]
print(f"the energy balance holds to {error:.1e} J, {lost:.1f} J were lost in the joints")
