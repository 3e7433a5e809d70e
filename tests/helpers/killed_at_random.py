"""A host that kills the FMU's Python process many times, at random times: python killed_at_random.py FMU."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
from pathlib import Path

import fmpy
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave

FATAL = 4
KILLS = 40

file = sys.argv[1]
description, folder = fmpy.read_model_description(file), fmpy.extract(file)
references = {v.name: v.valueReference for v in description.modelVariables}
dice = random.Random(12)


def run() -> bool:
    """Run until the process dies; return whether the host got fmi2Fatal."""
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="a",
    )
    slave.instantiate(loggingOn=False)
    slave.setupExperiment()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    process = int(slave.getReal([references["process"]])[0])
    killer = threading.Timer(dice.uniform(0, 5e-3), os.kill, [process, signal.SIGKILL])
    killer.start()
    t = 0.0
    try:
        while True:
            slave.setInteger([references["trouble"]], [0])
            slave.doStep(t, 0.01)
            t += 0.01
            slave.getReal([references["total"]])
            state = slave.getFMUstate()
            slave.setFMUstate(state)
            slave.freeFMUstate(state)
    except FMICallException as error:
        fatal = error.status == FATAL
    killer.join()
    with contextlib.suppress(FMICallException):
        slave.terminate()
    slave.freeInstance()
    return fatal


count = sum(run() for _ in range(KILLS))
states = [s.read_text().rpartition(")")[2].split() for s in Path("/proc").glob("[0-9]*/stat") if s.exists()]
print(count, "fatal ends,", sum(s[0] == "Z" and int(s[1]) == os.getpid() for s in states), "zombies")
