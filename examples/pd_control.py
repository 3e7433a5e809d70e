"""An FMU of a three-link chain and a controller outside it, coupled step by step with FMPy.

The controller holds a pose: motor moment = kp (target - angle) - kd rate + the weight's moment in the target pose. It
sees the chain only through the FMU, as a controller in any other simulation tool would.
"""

import shutil
import tempfile

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

from mechfmu import LinkChain

STEP, STOP = 0.002, 3.0
TARGET = np.array([0.5, -0.8, -0.6])  # rad: the chain held out to the right, bending down
KP, KD = np.array([400.0, 150.0, 40.0]), np.array([50.0, 12.0, 2.0])


def weight_moments(chain: LinkChain) -> np.ndarray:
    """The motor moments that carry the chain's weight in the target pose."""
    p = chain.table.p(chain.start()[4])
    cos = np.cos(np.cumsum(TARGET))
    joints = np.concatenate([[0.0], np.cumsum(p.l * cos)])
    centres = joints[:-1] + p.lc * cos
    return np.array([np.sum((p.m * p.gravity * (centres - joints[k]))[k:]) for k in range(chain.links)])


chain = LinkChain(links=3)
with tempfile.TemporaryDirectory() as folder:
    fmu = str(chain.build(folder)[0])
    description, unpacked = read_model_description(fmu), extract(fmu)
reference = {v.name: v.valueReference for v in description.modelVariables}
angles, rates, torques = ([reference[f"joint[{k}].{what}"] for k in (1, 2, 3)] for what in ("angle", "rate", "torque"))

plant = FMU2Slave(
    guid=description.guid,
    unzipDirectory=unpacked,
    modelIdentifier=description.coSimulation.modelIdentifier,
    instanceName="chain",
)
plant.instantiate()
plant.setupExperiment(tolerance=1e-6, startTime=0.0)
plant.enterInitializationMode()
plant.exitInitializationMode()
carry = weight_moments(chain)
for i in range(round(STOP / STEP)):
    q, dq = np.array(plant.getReal(angles)), np.array(plant.getReal(rates))
    if i % 250 == 0:
        print(f"t = {i * STEP:3.1f} s   largest error of an angle {np.degrees(np.max(np.abs(TARGET - q))):8.4f} deg")
    plant.setReal(torques, list(KP * (TARGET - q) - KD * dq + carry))
    plant.doStep(currentCommunicationPoint=i * STEP, communicationStepSize=STEP)
error = np.degrees(np.max(np.abs(TARGET - np.array(plant.getReal(angles)))))
print(f"t = {STOP:3.1f} s   largest error of an angle {error:8.4f} deg")
plant.terminate()
plant.freeInstance()
shutil.rmtree(unpacked, ignore_errors=True)
