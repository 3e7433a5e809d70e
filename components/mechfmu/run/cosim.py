"""Running a system of FMUs: the embedded master, on FMPy's binding.

All FMUs make a step with their inputs held, then outputs are passed on to the inputs they feed, in the order of the dependencies that the
FMUs declare: an output that depends directly on an input is read after that input was set. With an error tolerance the step adapts: every
step is made once whole and, from the saved states of all FMUs, once in two halves; the difference is the error of holding the inputs.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Any

import fmpy
import numpy as np
from fmpy import fmi2

from ..mechanisms import UserError
from .listening import listener
from .result import Result
from .scene import Absent, Scene
from .simulate import Input, Progress, over_time, seen_mechanism, shown_as, times
from .system import Connection, Port, System

KINDS: dict[str, tuple[str, Any]] = {  # of variables: their functions, their C type
    "Real": ("Real", ctypes.c_double), "Integer": ("Integer", ctypes.c_int), "Enumeration": ("Integer", ctypes.c_int), "Boolean": ("Boolean", ctypes.c_int),
}  # fmt: skip
Driven = Mapping[Port, Callable[[float], float]]  # unconnected inputs over time
SMALLEST = 2**-12  # of the given step, below which an adaptive step is no longer halved


def simulate_system(
    system: System, stop: float | None = None, step: float | None = None, set: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Input] | None = None, adaptive: float | None = None,
    master: str = "fmpy", progress: Progress = lambda t: None, warn: Callable[[str], None] = lambda text: None,
) -> Result:  # fmt: skip
    """Simulate a system; see System.simulate."""
    chosen = System(
        system.name, system.fmus, system.connect, {**system.set, **(set or {})}, system.stop_time if stop is None else stop,
        system.step_size if step is None else step, system.transforms, system.keep,
    )  # fmt: skip
    driven = {chosen.free_input(name): over_time(name, given) for name, given in (inputs or {}).items()}
    if master == "libcosim":
        from .libcosim import simulate_in_libcosim

        if driven:
            raise UserError("libcosim is given no inputs over time here; use the master fmpy")
        if adaptive is not None:
            raise UserError("libcosim has no adaptive steps; use the master fmpy")
        return simulate_in_libcosim(chosen, progress)
    if master != "fmpy":
        raise UserError(f"master {master}: must be fmpy or libcosim")
    if adaptive is not None:
        _refuse_rigid(chosen, adaptive)
    for loop in waves(chosen.connections, declared(chosen, "outputs"))[1]:
        warn(f"{' -> '.join(map(str, (*loop, loop[0])))} is an algebraic loop: its first signal lags behind by a step")
    said = io.StringIO()  # Python FMUs write their messages to standard error of this process
    with contextlib.redirect_stderr(said), Master(chosen, said, driven) as run:
        return run.fixed(progress) if adaptive is None else run.adaptive(adaptive, progress)


def _refuse_rigid(system: System, tolerance: float) -> None:
    if not 0 < tolerance < 1:
        raise UserError(f"adaptive {tolerance:g}: must be between 0 and 1")
    for name, description in system.descriptions.items():
        kind = description.coSimulation
        if not (kind.canGetAndSetFMUstate and kind.canHandleVariableCommunicationStepSize):
            raise UserError(f"adaptive steps are not possible: {name} cannot save its state or change its step")


def outputs_of(system: System) -> list[Port]:
    return [Port(c, v.name) for c, variables in system.variables.items() for v in variables.values() if v.causality == "output" and v.type in KINDS]


def result_of(system: System, t: Sequence[float], rows: Sequence[np.ndarray], driven: Driven = MappingProxyType({})) -> Result:
    ports = outputs_of(system)
    how = {str(p): shown_as(system.variable(p), system.descriptions[p.component]) for p in ports}
    signals = dict(zip(map(str, ports), np.array(rows).T, strict=True))
    given = {Port(c, v.name): v for c, variables in system.variables.items() for v in variables.values() if v.type == "Real" and v.start is not None}
    values = {(str(p), v.causality): float(system.values.get(p, v.start)) for p, v in given.items()}
    constants = {name: value for (name, causality), value in values.items() if causality == "parameter"}
    inputs = {name: np.full(len(t), value) for (name, causality), value in values.items() if causality == "input"}
    inputs |= {str(port): np.array([value(at) for at in t]) for port, value in driven.items()}
    inputs |= {str(c.target): c.factor * signals[str(c.source)] + c.offset for c in system.connections}
    members = {name: mechanism for name, file in system.fmus.items() if (mechanism := seen_mechanism(file)) is not None}
    here = {name: mechanism for name, mechanism in members.items() if not isinstance(mechanism, Absent)}
    return Result(system.name, np.array(t), signals, how, constants, Scene(here or members), inputs)


# --- the order of passing on ----------------------------------------------------------------------------------------------


def waves(connections: Iterable[Connection], depends: Callable[[Port, Port], bool]) -> tuple[list[list[Port]], list[tuple[Port, ...]]]:
    """Connected outputs in the order in which they can be read, and the loops in which that is impossible.

    depends(output, input): does that output depend directly on that input of the same FMU?
    """
    connections = list(connections)
    sources = list(dict.fromkeys(c.source for c in connections))
    before = {s: {c.source for c in connections if c.target.component == s.component and depends(s, c.target)} for s in sources}
    order: list[list[Port]] = []
    loops = []
    done: set[Port] = set()
    while left := [s for s in sources if s not in done]:
        ready = [s for s in left if before[s] <= done]
        if not ready:  # every one left waits for another: somewhere there is a loop, found by going back and back
            path = [left[0]]
            while (earlier := next(s for s in left if s in before[path[-1]] - done)) not in path:
                path.append(earlier)
            loop = tuple(reversed(path[path.index(earlier) :]))
            loops.append(loop)
            ready = [loop[0]]
        order.append(ready)
        done.update(ready)
    return order, loops


def declared(system: System, structure: str) -> Callable[[Port, Port], bool]:
    """`depends` as the model structures say, outputs or initialUnknowns; what is not said counts as dependent."""
    known: dict[Port, set[str] | None] = {}
    for component, description in system.descriptions.items():
        for unknown in getattr(description, structure):
            own = unknown.dependencies
            known[Port(component, unknown.variable.name)] = None if own is None else {v.name for v in own}

    def depends(output: Port, target: Port) -> bool:
        found = known.get(output)
        return found is None or target.variable in found

    return depends


# --- the master -----------------------------------------------------------------------------------------------------------


class Slave:
    """One FMU of the system."""

    def __init__(self, system: System, name: str, complaints: list[str]):
        description = system.descriptions[name]
        self.folder = fmpy.extract(str(system.fmus[name]))
        self.fmu = fmi2.FMU2Slave(
            guid=description.guid, unzipDirectory=self.folder, modelIdentifier=description.coSimulation.modelIdentifier, instanceName=name
        )
        self.callbacks = listener(complaints.append)
        self.fmu.instantiate(callbacks=self.callbacks, loggingOn=True)
        self.running = False

    def set(self, kind: str, reference: int, value: Any) -> None:
        getattr(self.fmu, f"set{'Integer' if kind == 'Enumeration' else kind}")([reference], [value])

    def free(self) -> None:
        with contextlib.suppress(Exception):
            if self.running:
                self.fmu.terminate()
        with contextlib.suppress(Exception):
            self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class Wires:
    """Variables of one kind of one FMU, ready to be read or written in one call; `values` is the C array behind the NumPy array `view`."""

    slave: Slave
    kind: str
    references: Any
    values: Any
    view: np.ndarray

    @staticmethod
    def of(slave: Slave, variables: Sequence[Any]) -> Wires:
        kind, c_type = KINDS[variables[0].type]
        values = (c_type * len(variables))()
        return Wires(slave, kind, (ctypes.c_uint * len(variables))(*(v.valueReference for v in variables)), values, np.ctypeslib.as_array(values))

    def get(self) -> np.ndarray:
        getattr(self.slave.fmu, f"fmi2Get{self.kind}")(self.slave.fmu.component, self.references, len(self.references), self.values)
        return self.view

    def set(self, values: np.ndarray) -> None:
        self.view[:] = values
        getattr(self.slave.fmu, f"fmi2Set{self.kind}")(self.slave.fmu.component, self.references, len(self.references), self.values)


class Master:
    """All FMUs of a system, initialized; closed at the end."""

    def __init__(self, system: System, said: io.StringIO, driven: Driven):
        self.system, self.said, self.driven, self.complaints, self.slaves = system, said, driven, [], {}  # type: ignore[var-annotated]
        try:
            for name in system.fmus:
                self.slaves[name] = Slave(system, name, self.complaints)
            self.sources = list(dict.fromkeys(c.source for c in system.connections))
            self.bus = np.zeros(len(self.sources))
            self.pass_on = self.plan("outputs")
            self.recorded = [(self.wires(ports), len(ports)) for ports in self.grouped(outputs_of(system))]
            self.initialize()
        except BaseException as error:
            reason = self.reason(error, None)
            self.close()
            raise reason from None

    def __enter__(self) -> Master:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        for slave in self.slaves.values():
            slave.free()

    def reason(self, error: BaseException, t: float | None) -> BaseException:
        """An FMU's own words about why it failed, where it has some."""
        if isinstance(error, UserError) or not isinstance(error, Exception):
            return error
        printed = [line.partition("] ")[2] for line in self.said.getvalue().splitlines() if line.startswith("[")]
        where = "did not start" if t is None else f"stopped at t = {t:g} s"
        return UserError(f"the system {self.system.name} {where}: {(printed or self.complaints or [str(error)])[-1]}")

    def grouped(self, ports: Iterable[Port]) -> list[list[Port]]:
        """Runs of ports of the same FMU and kind."""
        return [list(group) for _, group in groupby(ports, key=lambda p: (p.component, KINDS[self.system.variable(p).type][0]))]

    def wires(self, ports: Sequence[Port]) -> Wires:
        return Wires.of(self.slaves[ports[0].component], [self.system.variable(p) for p in ports])

    def plan(self, structure: str) -> list[Callable[[], None]]:
        """The readings and writings that carry all connected outputs to the inputs they feed, in order."""
        order, _ = waves(self.system.connections, declared(self.system, structure))
        index = {port: i for i, port in enumerate(self.sources)}
        by_kind = lambda p: (p.component, KINDS[self.system.variable(p).type][0])  # noqa: E731
        actions = []
        for wave in order:
            for ports in self.grouped(sorted(wave, key=by_kind)):
                actions.append(self.reading(self.wires(ports), np.array([index[p] for p in ports])))
            fed = sorted((c for c in self.system.connections if c.source in wave), key=lambda c: by_kind(c.target))
            for ports in self.grouped(c.target for c in fed):
                own = [c for c in fed if c.target in ports]
                at, factor, offset = np.array([index[c.source] for c in own]), np.array([c.factor for c in own]), np.array([c.offset for c in own])
                actions.append(self.writing(self.wires(ports), at, factor, offset))
        return actions

    def reading(self, wires: Wires, at: np.ndarray) -> Callable[[], None]:
        def action() -> None:
            self.bus[at] = wires.get()

        return action

    def writing(self, wires: Wires, at: np.ndarray, factor: np.ndarray, offset: np.ndarray) -> Callable[[], None]:
        plain = bool(np.all(factor == 1.0) and np.all(offset == 0.0))

        def action() -> None:
            wires.set(self.bus[at] if plain else factor * self.bus[at] + offset)

        return action

    def exchange(self) -> None:
        for action in self.pass_on:
            action()

    def drive(self, t: float) -> None:
        for port, value in self.driven.items():
            self.slaves[port.component].set("Real", self.system.variable(port).valueReference, value(t))

    def initialize(self) -> None:
        for port, value in self.system.values.items():
            variable = self.system.variable(port)
            self.slaves[port.component].set(variable.type, variable.valueReference, value)
        self.drive(0.0)
        for slave in self.slaves.values():
            slave.fmu.setupExperiment(startTime=0.0)
            slave.fmu.enterInitializationMode()
        for action in self.plan("initialUnknowns"):
            action()
        for slave in self.slaves.values():
            slave.fmu.exitInitializationMode()
            slave.running = True
        self.exchange()

    def row(self) -> np.ndarray:
        return np.concatenate([wires.get() for wires, _ in self.recorded]) if self.recorded else np.zeros(0)

    def advance(self, t: float, h: float, final: bool = True) -> None:
        """One step of all FMUs; not final: it may be taken back."""
        for slave in self.slaves.values():
            slave.fmu.doStep(t, h, noSetFMUStatePriorToCurrentPoint=fmi2.fmi2True if final else fmi2.fmi2False)
        self.drive(t + h)
        self.exchange()

    def fixed(self, progress: Progress) -> Result:
        grid = times(0.0, self.system.stop_time, self.system.step_size)
        rows = [self.row()]
        for t, t_next in pairwise(grid):
            try:
                self.advance(float(t), float(t_next - t))
                rows.append(self.row())
            except Exception as error:
                raise self.reason(error, float(t)) from None
            progress(float(t_next))
        return result_of(self.system, list(grid), rows, self.driven)

    def adaptive(self, tolerance: float, progress: Progress) -> Result:
        stop, largest = self.system.stop_time, self.system.step_size
        t, h = 0.0, largest / 16
        grid, rows = [t], [self.row()]
        while t < stop - 1e-9 * largest:
            h = min(h, largest, stop - t)
            try:
                with self.saved() as go_back:
                    self.advance(t, h, final=False)
                    whole = self.bus.copy()
                    go_back()
                    self.advance(t, h / 2, final=False)
                    middle = self.row()
                    self.advance(t + h / 2, h / 2, final=False)
                    error = float(np.max(np.abs(whole - self.bus) / (tolerance * (1.0 + np.abs(self.bus))), initial=0.0))
                    if error > 1.0 and h > SMALLEST * largest:
                        go_back()
                        h *= max(0.2, 0.9 / np.sqrt(error))
                        continue
            except Exception as problem:
                raise self.reason(problem, t) from None
            grid += [t + h / 2, t + h]
            rows += [middle, self.row()]
            t += h
            progress(t)
            h *= min(4.0, 0.9 / np.sqrt(max(error, 1e-4)))
        return result_of(self.system, grid, rows, self.driven)

    @contextlib.contextmanager
    def saved(self) -> Any:
        """A function that takes all FMUs and signals back to where they are now."""
        bus = self.bus.copy()
        states = {name: slave.fmu.getFMUstate() for name, slave in self.slaves.items()}

        def go_back() -> None:
            for name, state in states.items():
                self.slaves[name].fmu.setFMUstate(state)
            self.bus[:] = bus

        try:
            yield go_back
        finally:
            for name, state in states.items():
                self.slaves[name].fmu.freeFMUstate(state)
