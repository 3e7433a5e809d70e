"""The rehearsal: every host with every mechanism, against Co-Simulation of the same binary.

    PYTHONPATH=tests python -m helpers.rehearsal_hosts        the results as Markdown tables, for the documentation

The hosts are in rehearsal_model_exchange.py and rehearsal_co_simulation.py. They imitate tools that the tests cannot
install: they make the same calls in the same order and modes, with the same values.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import Protocol

from helpers.native_build import Native
from helpers.native_fmi import Refused
from helpers.paths import EXAMPLES
from helpers.rehearsal_co_simulation import MasterSim, OMSimulator, Simulink
from helpers.rehearsal_fmu import HostGaveUp, ImportedFmu
from helpers.rehearsal_job import PHASE, Job, Run, difference, job_of, ramps, reference, same_phases
from helpers.rehearsal_model_exchange import Euler, OpenModelica, VariableStep
from helpers.tolerances import (
    CO_SIMULATION,
    DEFAULT_TOLERANCE,
    EULER,
    HOST_GLOBAL_ERROR,
    IMPACT_LOSS,
    REFERENCE_ERROR,
    STEP_EVENTS_PER_SECOND,
)
from mechfmu import mechanisms
from mechfmu.mechanisms.tree.model import Tree
from mechfmu.model import Mechanism

ROBOT = EXAMPLES / "three_link_robot.urdf"
MECHANISMS = (*mechanisms.names(), ROBOT.stem)

EULER_STOP = 0.5  # s: the errors of the explicit Euler method grow with time
TOLERANCES = tuple(10.0**-k for k in range(4, 11))
EVENT_HOSTS: dict[str, Callable[[float], VariableStep]] = {
    "OpenModelica": lambda tolerance: OpenModelica("BDF", tolerance),
    "OpenModelica (LSODA)": lambda tolerance: OpenModelica("LSODA", tolerance),
    **{solver: partial(VariableStep, solver) for solver in HOST_GLOBAL_ERROR},
}


class Host(Protocol):
    """What all hosts have. `signal`: zero when inputs that are not connected are 0."""

    @property
    def name(self) -> str: ...
    @property
    def signal(self) -> str: ...
    def run(self, fmu: ImportedFmu, job: Job) -> Run: ...


HOSTS: tuple[Host, ...] = (
    OpenModelica(),
    *(VariableStep(solver) for solver in HOST_GLOBAL_ERROR),
    Euler(),
    Simulink(),
    OMSimulator(),
    MasterSim(),
)


def make(name: str) -> Mechanism:
    """A shipped mechanism with its default options, or the robot of the examples."""
    return Tree.from_file(ROBOT) if name == ROBOT.stem else mechanisms.make(name)


def load(native: Native, name: str) -> ImportedFmu:
    mechanism = make(name)
    return ImportedFmu(mechanism, native.binary(mechanism))


@dataclass(frozen=True)
class Outcome:
    """`violation` is empty when the host ended where Co-Simulation does."""

    host: str
    mechanism: str
    error: float
    violation: str

    @property
    def cell(self) -> str:
        return "fails" if self.violation else "exact" if self.error == 0 else f"{self.error:.0e}"


def job_for(host: Host, fmu: ImportedFmu) -> Job:
    """Co-Simulation masters hold the inputs, Model Exchange hosts follow them."""
    about = fmu.description
    signal = ramps(about) if host.signal == "ramp" else host.signal
    return job_of(
        about,
        signal,
        held=allowed(host) == CO_SIMULATION,
        **({"longest": EULER_STOP} if isinstance(host, Euler) else {}),
    )


def allowed(host: Host) -> float:
    """The largest error of a host."""
    if isinstance(host, VariableStep):
        return HOST_GLOBAL_ERROR[host.solver] * host.tolerance + REFERENCE_ERROR
    return EULER if isinstance(host, Euler) else CO_SIMULATION


def rehearse(host: Host, fmu: ImportedFmu, job: Job | None = None) -> Outcome:
    """Run a host and compare all outputs at the end with Co-Simulation."""
    job = job or job_for(host, fmu)
    try:
        run = host.run(fmu, job)
    except (Refused, HostGaveUp) as stopped:
        return Outcome(host.name, fmu.mechanism.name, inf, str(stopped))
    wanted = reference(fmu, job)
    found = difference(fmu, run, wanted)
    return Outcome(
        host.name,
        fmu.mechanism.name,
        found.error,
        "; ".join(_violations(host, job, run, wanted, found.error, found.worst, found.other)),
    )


def _violations(
    host: Host, job: Job, run: Run, wanted: Run, error: float, worst: str, other: Sequence[str]
) -> list[str]:
    found = list(other)
    if not same_phases(run, wanted):
        found.append(f"phases {run.phases}, not {wanted.phases}")
    if not error < allowed(host):
        found.append(f"{worst} is off by {error:.1e}, allowed are {allowed(host):.1e}")
    if isinstance(host, VariableStep) and run.step_events > ceil(
        STEP_EVENTS_PER_SECOND * job.stop
    ):  # Euler's steps leave every constraint
        found.append(f"{run.step_events} step events in {job.stop:g} s")
    return found


# --- events of the exoskeleton ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Events:
    """What a host has seen of the exoskeleton's default experiment."""

    host: str
    tolerance: float
    run: Run | None
    violation: str

    @property
    def cell(self) -> str:
        if self.run is None:
            return "fails"
        events, loss = self.run["events"], self.run["impact_energy_loss"]
        return f"{events:.0f} events, {loss:.3f} J{' (fails)' if self.violation else ''}"


def rehearse_events(name: str, tolerance: float, fmu: ImportedFmu) -> Events:
    """Phases, number of events and impact loss at one tolerance of the host."""
    host, job = EVENT_HOSTS[name](tolerance), job_of(fmu.description)
    try:
        run = host.run(fmu, job)
    except (Refused, HostGaveUp) as stopped:
        return Events(name, tolerance, None, str(stopped))
    wanted = reference(fmu, job)
    found = [f"{what} = {run[what]:g}, not {wanted[what]:g}" for what in (PHASE, "events") if run[what] != wanted[what]]
    if not same_phases(run, wanted):
        found.append(f"phases {run.phases}, not {wanted.phases}")
    loss, right = run["impact_energy_loss"], wanted["impact_energy_loss"]
    if not abs(loss - right) < (IMPACT_LOSS * tolerance + REFERENCE_ERROR) * right:
        found.append(f"impact loss {loss:.6g} J, not {right:.6g} J")
    if tolerance <= DEFAULT_TOLERANCE and run.step_events > ceil(STEP_EVENTS_PER_SECOND * job.stop):
        found.append(f"{run.step_events} step events in {job.stop:g} s")
    return Events(name, tolerance, run, "; ".join(found))


# --- tables -----------------------------------------------------------------------------------------------------------


def table(outcomes: Iterable[Outcome]) -> str:
    """A row per mechanism, a column per host: the largest relative error at the end, and below why a host failed."""
    found = list(outcomes)
    cells = {(o.mechanism, o.host): o.cell for o in found}
    hosts, rows = list(dict.fromkeys(o.host for o in found)), list(dict.fromkeys(o.mechanism for o in found))
    failed = [f"- {o.mechanism} in {o.host}: {o.violation}" for o in found if o.violation]
    grid = _markdown(["mechanism", *hosts], [[row, *(cells.get((row, host), "") for host in hosts)] for row in rows])
    return "\n".join([grid, *(["", *failed] if failed else [])]) + "\n"


def events_table(events: Iterable[Events]) -> str:
    """The exoskeleton: tolerances down, hosts across."""
    found = list(events)
    cells = {(e.tolerance, e.host): e.cell for e in found}
    hosts, rows = list(dict.fromkeys(e.host for e in found)), list(dict.fromkeys(e.tolerance for e in found))
    failed = [f"- {e.host} at {e.tolerance:.0e}: {e.violation}" for e in found if e.violation]
    grid = _markdown(
        ["tolerance", *hosts], [[f"{row:.0e}", *(cells.get((row, host), "") for host in hosts)] for row in rows]
    )
    return "\n".join([grid, *(["", *failed] if failed else [])]) + "\n"


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder))
        fmus = {name: load(native, name) for name in MECHANISMS}
        print(table(rehearse(host, fmu) for fmu in fmus.values() for host in HOSTS))
        print(
            events_table(
                rehearse_events(name, tolerance, fmus["exoskeleton"])
                for tolerance in TOLERANCES
                for name in EVENT_HOSTS
            )
        )


if __name__ == "__main__":
    main()
