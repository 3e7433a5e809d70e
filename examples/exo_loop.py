"""Common part of the exoskeleton examples: FMUs by name in FMPy, and a plant with a controller, run step by step."""

import shutil
import tempfile

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave

from mechfmu.simulation.result import Result, display_unit


class Unit:
    """An instance of a mechanism's FMU. It is used only through FMI, as any other simulation tool would."""

    def __init__(self, mechanism, start, tolerance=1e-6):
        with tempfile.TemporaryDirectory() as folder:
            fmu = str(mechanism.build(folder)[0])
            description, self.folder = read_model_description(fmu), extract(fmu)
        self.variables = {v.name: v for v in description.modelVariables}
        self.mechanism, self.start = mechanism, start
        self.fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=mechanism.key,
        )
        self.fmu.instantiate()
        self.set(start)
        self.fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, values):
        for name, value in values.items():
            kind = self.variables[name].type
            getattr(self.fmu, f"set{kind}")(
                [self.variables[name].valueReference], [float(value) if kind == "Real" else int(value)]
            )

    def get(self, names):
        found = {}
        for kind in ("Real", "Integer", "Boolean"):
            group = [n for n in names if self.variables[n].type == kind]
            found.update(
                zip(
                    group,
                    getattr(self.fmu, f"get{kind}")([self.variables[n].valueReference for n in group]),
                    strict=True,
                )
            )
        return [float(found[n]) for n in names]

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(plant, control, wires, references, stop, step=0.001, inputs=lambda t: {}, keep=10):
    """The plant under a PD controller (a PidController's FMU).

    Channel k drives wires[k] = (angle, rate, moment) after references(t), a pair of vectors. The controller sees the
    plant's outputs at a communication point and acts on it during the next step. `inputs(t)`: what else is set. Every
    `keep`-th step is kept in the result.
    """
    channels = range(1, len(wires) + 1)
    angles, rates, moments = zip(*wires, strict=True)
    kept, driving = ([v.name for v in plant.variables.values() if v.causality == c] for c in ("output", "input"))
    rows, times = [plant.get(kept + driving)], [0.0]
    for i in range(round(stop / step)):
        t = i * step
        wanted, wanted_rate = references(t)
        control.set(
            {f"reference[{k}]": r for k, r in zip(channels, wanted, strict=True)}
            | {f"reference_rate[{k}]": r for k, r in zip(channels, wanted_rate, strict=True)}
        )
        control.set({f"measurement[{k}]": v for k, v in zip(channels, plant.get(angles), strict=True)})
        control.set({f"measurement_rate[{k}]": v for k, v in zip(channels, plant.get(rates), strict=True)})
        plant.set(dict(zip(moments, control.get([f"output[{k}]" for k in channels]), strict=True)) | inputs(t))
        control.fmu.doStep(t, step)
        plant.fmu.doStep(t, step)
        if (i + 1) % keep == 0:
            rows.append(plant.get(kept + driving))
            times.append(t + step)
    table, constants = (
        plant.mechanism.table,
        {s.name: s.start for s in plant.mechanism.table.of("parameter")} | plant.start,
    )
    data = dict(zip(kept + driving, np.array(rows).T, strict=True))
    units = {name: display_unit(table.by_name[name].unit) for name in kept}
    plant.close()
    control.close()
    signals, inputs = ({name: data[name] for name in names} for names in (kept, driving))
    return Result(plant.mechanism.name, np.array(times), signals, units, constants, plant.mechanism, inputs)


def balance(result, member=""):
    """The largest gap in total = initial total + input - dissipated, J; of a member of a system, named with its dot."""
    total, work, loss = (result[f"{member}energy.{name}"] for name in ("total", "input", "dissipated"))
    return float(np.max(np.abs(total - total[0] - work + loss)))


def phase_changes(result):
    """Phases one after the other, and when they were first seen."""
    phase = result["phase"]
    return [(float(result.t[i]), int(phase[i])) for i in range(len(phase)) if i == 0 or phase[i] != phase[i - 1]]


# --- the 6-link model: two-link legs ----------------------------------------------------------------------------------

KNEE_1, KNEE_2, WAIST, HIP_1, HIP_2 = (
    ("link[2].hinge_angle", "link[2].hinge_rate", "link[2].moment"),
    ("link[3].hinge_angle", "link[3].hinge_rate", "link[3].moment"),
    ("link[6].hinge_angle", "link[6].hinge_rate", "link[6].moment"),
    ("hip.angle[1]", "hip.rate[1]", "hip.moment[1]"),
    ("hip.angle[2]", "hip.rate[2]", "hip.moment[2]"),
)
JOINTS = (KNEE_1, KNEE_2, WAIST, HIP_1, HIP_2)


def joint_angles(phi):
    """The angles that the five joint controllers see."""
    return np.array([phi[0] - phi[1], phi[3] - phi[2], phi[4] - phi[5], phi[1] - phi[4], phi[2] - phi[4]])


def with_rates(references, h=1e-4):
    """references(t) and its rate."""
    return lambda t: (references(t), (references(t + h) - references(t - h)) / (2 * h))
