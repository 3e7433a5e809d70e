"""Runs an FMU in a host other than FMPy, in a process without mechfmu, and prints its trajectory as JSON.

    python other_hosts.py libcosim|ecos FMU JOB

JOB: {"start": {name: value}, "step": h, "count": n, "outputs": [names]}
"""

from __future__ import annotations

import ctypes
import json
import sys
from importlib.metadata import files
from typing import Any

sys.modules["mechfmu"] = None  # type: ignore[assignment]  # importing it raises ImportError

NANOSECONDS = 1e9


def libcosim(fmu: str, job: dict[str, Any]) -> list[list[float]]:
    """Simulate with OSP's libcosim, whose time is in whole nanoseconds."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_step_size(round(job["step"] * NANOSECONDS))
    local = CosimLocalSlave(fmu_path=fmu, instance_name="model")
    slave = execution.add_local_slave(local)
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    references = {v.name.decode(): v.reference for v in execution.slave_variables(slave)}
    for name, value in job["start"].items():
        set_value = execution.integer_initial_value if isinstance(value, int) else execution.real_initial_value
        set_value(slave, references[name], value)
    rows = []
    for _ in range(job["count"]):
        assert execution.step()
        rows.append(list(observer.last_real_values(slave, [references[n] for n in job["outputs"]])))
    return rows


def ecos(fmu: str, job: dict[str, Any]) -> list[list[float]]:
    """Simulate with Ecos, which needs libtbb without containing it: loaded from the package tbb."""
    (tbb,) = (f for f in files("tbb") or () if f.name == "libtbb.so.12")
    ctypes.CDLL(str(tbb.locate()), ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation, EcosSimulationStructure

    structure = EcosSimulationStructure()
    structure.add_model("model", fmu)
    structure.add_parameter_set("start", {f"model::{name}": float(value) for name, value in job["start"].items()})
    simulation = EcosSimulation(job["step"], structure=structure)
    simulation.init(parameter_set="start")
    rows = []
    for _ in range(job["count"]):
        simulation.step()
        rows.append([simulation.get_real(f"model::{name}") for name in job["outputs"]])
    simulation.terminate()
    return rows


if __name__ == "__main__":
    name, fmu, job = sys.argv[1:]
    print(json.dumps({"libcosim": libcosim, "ecos": ecos}[name](fmu, json.loads(job))))
