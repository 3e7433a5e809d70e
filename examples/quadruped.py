"""A quadruped on the ground: Solo 12, from its URDF file, stands, is pushed, and marches on the spot.

Two FMUs in a loop, coupled every millisecond with FMPy: the robot, whose base floats and whose feet touch the ground
(mechfmu build solo12.urdf --base free --contact FL_FOOT:0.015 ...), and a PD controller for its twelve joints.
The file is that of the package example-robot-data: python3 -m pip install example-robot-data
"""

import shutil
import tempfile
from importlib.metadata import distribution

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

from mechfmu import PidController, Tree

FILE = "cmeel.prefix/share/example-robot-data/robots/solo_description/robots/solo12.urdf"
STEP, STAND, PUSH, MARCH, STOP = 0.001, 1.0, 0.1, 2.0, 5.0
FORCE = 10.0  # N, sideways on the base, from STAND for the time PUSH
RHYTHM, LIFT = 2.5, 0.2  # steps per second, and how far a hip turns to lift its foot, rad
LEGS = {"FL": 1, "FR": 1, "HL": -1, "HR": -1}  # knees of the front legs point backwards, of the hind legs forwards
JOINTS = [f"{leg}_{joint}" for leg in LEGS for joint in ("HAA", "HFE", "KFE")]
STANCE = np.array([angle * sign for sign in LEGS.values() for angle in (0.0, 0.8, -1.6)])
CHANNELS = range(1, len(JOINTS) + 1)
KP, KD, STRONGEST = 15.0, 0.3, 2.7  # N m/rad, N m s/rad, N m
GAINS = {f"gain.proportional[{k}]": KP for k in CHANNELS} | {f"gain.derivative[{k}]": KD for k in CHANNELS}
LIMITS = {f"limit.{side}[{k}]": sign * STRONGEST for k in CHANNELS for side, sign in (("lower", -1), ("upper", 1))}
START = {f"{joint}.angle_start": float(angle) for joint, angle in zip(JOINTS, STANCE, strict=True)}
START["base.position_start[3]"] = 0.24


class Unit:
    """An FMU that was built, unpacked and started."""

    def __init__(self, file: str, start: dict[str, float]):
        description, self.folder = read_model_description(file), extract(file)
        self.references = {v.name: v.valueReference for v in description.modelVariables}
        self.slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=description.modelName,
        )
        self.slave.instantiate()
        self.slave.setupExperiment(startTime=0.0)
        self.set(list(start), list(start.values()))
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def get(self, names: list[str]) -> np.ndarray:
        return np.array(self.slave.getReal([self.references[n] for n in names]))

    def set(self, names: list[str], values: list[float]) -> None:
        self.slave.setReal([self.references[n] for n in names], [float(v) for v in values])

    def close(self) -> None:
        self.slave.terminate()
        self.slave.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def reference(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the joints and their rates: the stance, and from MARCH on two legs across lifted in turn."""
    if t < MARCH:
        return STANCE, np.zeros(len(JOINTS))
    phase = np.pi * RHYTHM * (t - MARCH)
    angles, rates = STANCE.copy(), np.zeros(len(JOINTS))
    for k, (leg, sign) in enumerate(LEGS.items()):
        side = 1 if leg in ("FL", "HR") else -1
        if side * np.sin(phase) > 0:
            bend, rate = np.sin(phase) ** 2, np.sin(2 * phase) * np.pi * RHYTHM
            angles[3 * k + 1 : 3 * k + 3] += LIFT * sign * bend * np.array([1.0, -2.0])
            rates[3 * k + 1 : 3 * k + 3] = LIFT * sign * rate * np.array([1.0, -2.0])
    return angles, rates


def solo12() -> Tree:
    """The robot on its four feet, its base free."""
    file = distribution("example-robot-data").locate_file(FILE)
    return Tree.from_file(file, base="free", contacts=[f"{leg}_FOOT:0.015" for leg in LEGS])


def main() -> None:
    robot = solo12()
    with tempfile.TemporaryDirectory() as folder:
        plant = Unit(str(robot.build(folder)[0]), START)
        controller = Unit(str(PidController(channels=len(JOINTS)).build(folder)[0]), GAINS | LIMITS)

    measured = [f"{joint}.{word}" for word in ("angle", "rate") for joint in JOINTS]
    wanted = [f"{word}[{k}]" for word in ("reference", "reference_rate") for k in CHANNELS]
    inputs = [f"{word}[{k}]" for word in ("measurement", "measurement_rate") for k in CHANNELS]
    feet = [f"{leg}_FOOT.{word}" for word in ("force_z", "depth") for leg in LEGS]
    seen = [f"base.position[{k}]" for k in (1, 2, 3)] + feet
    rows = []
    for i in range(round(STOP / STEP)):
        t = i * STEP
        controller.set(wanted + inputs, [*np.concatenate(reference(t)), *plant.get(measured)])
        plant.set([f"{joint}.torque" for joint in JOINTS], list(controller.get([f"output[{k}]" for k in CHANNELS])))
        plant.set(["base.force[2]"], [FORCE if STAND <= t < STAND + PUSH else 0.0])
        for unit in (plant, controller):
            unit.slave.doStep(currentCommunicationPoint=t, communicationStepSize=STEP)
        rows.append(plant.get(seen))
    plant.close()
    controller.close()

    table, times = np.array(rows), STEP * np.arange(1, len(rows) + 1)
    weight = 9.81 * sum(body.mass for body in robot.tree.bodies)
    at_rest, marching = round(STAND / STEP) - 1, times > MARCH
    carried = table[at_rest, 3:7].sum()
    print(f"stands:  the feet carry {carried:.4f} N of {weight:.4f} N, base {1000 * table[at_rest, 2]:.1f} mm high")
    sideways = table[(times > STAND) & ~marching, 1] - table[at_rest, 1]
    print(f"pushed:  moves {1000 * sideways.max():.1f} mm sideways, {1000 * sideways[-1]:.1f} mm when it is over")
    lifted = -1000 * table[marching, 7:11].min(axis=0)
    steps = [int(np.sum(np.diff((table[marching, 7 + k] < -0.002).astype(int)) > 0)) for k in range(4)]
    print(f"marches: lifts its feet {steps} times, by {lifted.min():.0f} to {lifted.max():.0f} mm")
    drift = 1000 * np.linalg.norm(table[-1, :2] - table[round(MARCH / STEP), :2])
    lowest, highest = 1000 * table[marching, 2].min(), 1000 * table[marching, 2].max()
    print(f"         base {lowest:.1f} to {highest:.1f} mm high, {drift:.0f} mm from where it began")


if __name__ == "__main__":
    main()
