"""Two FMUs in a loop: the spherical-joint arm and its computed-torque controller, coupled step by step with FMPy.

With the accelerations that the controller asks for, every error decays like a critically damped oscillator of 10 rad/s;
their torques follow from inverse dynamics. The arm swings when the controller is switched on, and is at rest in the
wanted pose a second later.
"""

import shutil
import tempfile

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

from mechfmu import ComputedTorque, SphericalArm

STEP, STOP = 0.001, 1.2


def about_x(angle: float) -> list[float]:
    return [float(np.cos(angle / 2)), float(np.sin(angle / 2)), 0.0, 0.0]


BENT = np.pi / 2 + 0.5  # pi / 2 is straight: the joints are mounted so
REFERENCE = {"joint[1].quaternion": about_x(BENT), "joint[2].quaternion": about_x(BENT), "joint[3].angle": [0.8]}
RATES = {"joint[1].rate": 3, "joint[2].rate": 3, "joint[3].rate": 1}
TORQUES = {"joint[1].torque": 3, "joint[2].torque": 3, "joint[3].torque": 1}


class Unit:
    """An FMU that was built, unpacked and started."""

    def __init__(self, file: str):
        description, self.folder = read_model_description(file), extract(file)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=description.modelName,
        )
        self.slave.instantiate()
        self.slave.setupExperiment(tolerance=1e-6, startTime=0.0)

    def initialize(self) -> None:
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def get(self, names: list[str]) -> list[float]:
        return list(self.slave.getReal([self.references[n] for n in names]))

    def set(self, names: list[str], values: list[float]) -> None:
        self.slave.setReal([self.references[n] for n in names], values)

    def close(self) -> None:
        self.slave.terminate()
        self.slave.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def spread(names: dict[str, int]) -> list[str]:
    return [f"{name}[{k + 1}]" if count > 1 else name for name, count in names.items() for k in range(count)]


arm = SphericalArm()
with tempfile.TemporaryDirectory() as folder:
    plant, controller = (Unit(str(m.build(folder)[0])) for m in (arm, ComputedTorque(model=arm.tree.to_json())))
coordinates = {name: len(values) for name, values in REFERENCE.items()}
measured, motors = spread(coordinates) + spread(RATES), spread(TORQUES)
wanted = [value for values in REFERENCE.values() for value in values]
controller.set(
    [n.replace("quaternion", "quaternion_reference").replace("angle", "angle_reference") for n in spread(coordinates)],
    wanted,
)
plant.initialize()
controller.initialize()


def error() -> float:
    """The largest angle by which a joint is off, in degrees."""
    q = np.array(plant.get(spread(coordinates)))
    balls = [2 * np.arccos(min(1.0, abs(q[k : k + 4] @ wanted[k : k + 4]))) for k in (0, 4)]
    return float(np.degrees(max(*balls, abs(q[8] - wanted[8]))))


for i in range(round(STOP / STEP)):
    if i % 200 == 0:
        print(f"t = {i * STEP:3.1f} s   largest error of a joint {error():8.4f} deg")
    controller.set(measured, plant.get(measured))
    plant.set(motors, controller.get(motors))
    for unit in (plant, controller):
        unit.slave.doStep(currentCommunicationPoint=i * STEP, communicationStepSize=STEP)
print(f"t = {STOP:3.1f} s   largest error of a joint {error():8.4f} deg")
plant.close()
controller.close()
