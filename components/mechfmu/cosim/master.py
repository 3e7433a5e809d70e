"""Running a system of FMUs: the embedded master, on FMPy's binding.

All FMUs make a step with their inputs held, then outputs are passed on to the inputs they feed, in the order of the dependencies that the
FMUs declare: an output that depends directly on an input is read after that input was set. Where all FMUs can save their states the step adapts: every
step is made once whole and, from the saved states, once in two halves; the difference is the error of holding the inputs. With fixed steps
the same is done now and then, to tell the user when the step is too long.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from ..model import UserError
from ..simulation.flags import first_of_each
from ..simulation.result import Result
from ..simulation.scene import MissingMechanism, Scene
from ..simulation.simulate import Input, Progress, display_unit_of, drawable_mechanism, over_time, times
from ..simulation.slaves import KINDS, IsolatedSlave, LocalSlave, Origin, Slave
from ..sweep.runner import is_ours
from .divergence import PROBED, PROBED_FIRST, Jumps, Probes, StepTooLong, rounded_down
from .system import Connection, Port, System

Driven = Mapping[Port, Callable[[float], float]]  # unconnected inputs over time
SMALLEST = 2**-12  # of the given step, below which an adaptive step is no longer halved
RARE = 0.01  # of the steps: jumps of signals, where no step is short enough
USUAL = 1e-4  # tolerance of adaptive steps unless another is given
WARNINGS_KEPT = 10_000  # of all FMUs
PROPOSED = 1e-2  # that of the fixed step that is proposed: stable, with the accuracy that fixed steps have


def simulate_system(
    system: System, stop: float | None = None, step: float | None = None, set: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Input] | None = None, adaptive: float | bool | None = None, isolated: bool | None = None,
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
        if adaptive:
            raise UserError("libcosim has no adaptive steps; use the master fmpy")
        return simulate_in_libcosim(chosen, progress)
    if master != "fmpy":
        raise UserError(f"master {master}: must be fmpy or libcosim")
    rigid = [name for name, description in chosen.descriptions.items() if not _can_go_back(description)]
    tolerance = _tolerance(adaptive, rigid)
    for loop in waves(chosen.connections, declared(chosen, "outputs"))[1]:
        warn(f"{' -> '.join(map(str, (*loop, loop[0])))} is an algebraic loop: its first signal lags behind by a step")
    with started(chosen, isolated, driven) as run:
        problem: StepTooLong | None = None
        complaints: list[str] = []
        try:
            if tolerance is not None:
                result, steps = run.adaptive(tolerance, progress)
                complaints = run.unkept_errors(len(steps))
            else:
                result, complaints = run.fixed(progress, probed=not rigid)
        except StepTooLong as found:
            problem = found
    for text in (*first_of_each(run.warnings), *complaints):
        warn(text)
    if problem is None:
        return result
    good = problem.step if rigid else _step_that_does(replace(chosen, stop=problem.t), isolated, driven)
    cure = (
        f"try --step {good:g}"
        if rigid
        else f"{good:g} s would do (--step {good:g}), or steps that adapt (without --fixed)"
    )
    raise UserError(f"the coupling diverges with steps of {chosen.step_size:g} s: {problem}; {cure}")


def _can_go_back(description: Any) -> bool:
    return bool(
        description.coSimulation.canGetAndSetFMUstate
        and description.coSimulation.canHandleVariableCommunicationStepSize
    )


def _tolerance(adaptive: float | bool | None, rigid: Sequence[str]) -> float | None:
    """Of adaptive steps; None: fixed ones."""
    if adaptive is None or adaptive is True:
        if adaptive and rigid:
            raise UserError(f"adaptive steps are not possible: {rigid[0]} cannot save its state or change its step")
        return None if rigid else USUAL
    if adaptive is False:
        return None
    if not 0 < adaptive < 1:
        raise UserError(f"adaptive {adaptive:g}: must be between 0 and 1")
    return _tolerance(True, rigid) and adaptive


def _step_that_does(system: System, isolated: bool | None, driven: Driven) -> float:
    """What adaptive control takes for a typical step, up to where the fixed one was found to be too long."""
    with started(system, isolated, driven) as run:
        steps = run.adaptive(PROPOSED, lambda t: None)[1]
    return rounded_down(float(np.median(steps)))


@contextlib.contextmanager
def started(system: System, isolated: bool | None, driven: Driven) -> Iterator[Master]:
    """All FMUs of a system, initialized; closed at the end."""
    said = io.StringIO()  # some Python FMUs write their messages to standard error of this process
    with contextlib.redirect_stderr(said):
        run = Master(system, said, isolated, driven)
        try:
            yield run
        finally:
            run.close()


def outputs_of(system: System) -> list[Port]:
    return [
        Port(c, v.name)
        for c, variables in system.variables.items()
        for v in variables.values()
        if v.causality == "output" and v.type in KINDS
    ]


def result_of(
    system: System, t: Sequence[float], rows: Sequence[np.ndarray], driven: Driven = MappingProxyType({})
) -> Result:
    ports = outputs_of(system)
    how = {str(p): display_unit_of(system.variable(p), system.descriptions[p.component]) for p in ports}
    signals = dict(zip(map(str, ports), np.array(rows).T, strict=True))
    given = {
        Port(c, v.name): v
        for c, variables in system.variables.items()
        for v in variables.values()
        if v.type == "Real" and v.start is not None
    }
    values = {(str(p), v.causality): float(system.values.get(p, v.start)) for p, v in given.items()}
    constants = {name: value for (name, causality), value in values.items() if causality == "parameter"}
    inputs = {name: np.full(len(t), value) for (name, causality), value in values.items() if causality == "input"}
    inputs |= {str(port): np.array([value(at) for at in t]) for port, value in driven.items()}
    inputs |= {str(c.target): c.factor * signals[str(c.source)] + c.offset for c in system.connections}
    members = {
        name: mechanism for name, file in system.fmus.items() if (mechanism := drawable_mechanism(file)) is not None
    }
    here = {name: mechanism for name, mechanism in members.items() if not isinstance(mechanism, MissingMechanism)}
    return Result(system.name, np.array(t), signals, how, constants, Scene(here or members), inputs)


# --- the order of passing on ----------------------------------------------------------------------------------------------


def waves(
    connections: Iterable[Connection], depends: Callable[[Port, Port], bool]
) -> tuple[list[list[Port]], list[tuple[Port, ...]]]:
    """Connected outputs in the order in which they can be read, and the loops in which that is impossible.

    depends(output, input): does that output depend directly on that input of the same FMU?
    """
    connections = list(connections)
    sources = list(dict.fromkeys(c.source for c in connections))
    before = {
        s: {c.source for c in connections if c.target.component == s.component and depends(s, c.target)}
        for s in sources
    }
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


class Master:
    """All FMUs of a system, initialized."""

    def __init__(
        self, system: System, said: io.StringIO, isolated: bool | None = None, driven: Driven = MappingProxyType({})
    ):
        self.system, self.said, self.driven = system, said, driven
        self.complaints: list[str] = []
        self.warnings: list[str] = []
        self.unkept: list[float] = []  # times at which the smallest adaptive step was not accurate enough
        self.slaves: dict[str, Slave] = {}
        try:
            for name, file in system.fmus.items():
                apart = not is_ours(file) if isolated is None else isolated
                description = system.descriptions[name]
                origin = Origin(name, str(file), description.guid, description.coSimulation.modelIdentifier)
                self.slaves[name] = (IsolatedSlave if apart else LocalSlave)(
                    origin, self.complaints.append, partial(self.warned, name)
                )
            self.sources = list(dict.fromkeys(c.source for c in system.connections))
            self.bus = np.zeros(len(self.sources))
            self.pass_on = self.plan("outputs")
            self.outputs = outputs_of(system)
            self.recorded = [self.reader(ports) for ports in self.grouped(self.outputs)]
            self.initialize()
        except BaseException as error:
            reason = self.reason(error, None)
            self.close()
            raise reason from None

    def warned(self, name: str, text: str) -> None:
        if len(self.warnings) < WARNINGS_KEPT:
            self.warnings.append(f"{name}: {text}")

    def close(self) -> None:
        for slave in self.slaves.values():
            slave.free()

    def reason(self, error: BaseException, t: float | None) -> BaseException:
        """An FMU's own words about why it failed, where it has some."""
        if isinstance(error, (UserError, StepTooLong)) or not isinstance(error, Exception):
            return error
        printed = [line.partition("] ")[2] for line in self.said.getvalue().splitlines() if line.startswith("[")]
        where = "did not start" if t is None else f"stopped at t = {t:g} s"
        return UserError(f"the system {self.system.name} {where}: {(printed or self.complaints or [str(error)])[-1]}")

    # --- signals ----------------------------------------------------------------------------------------------------------

    def grouped(self, ports: Iterable[Port]) -> list[list[Port]]:
        """Runs of ports of the same FMU and kind."""
        return [
            list(group)
            for _, group in groupby(ports, key=lambda p: (p.component, KINDS[self.system.variable(p).type][0]))
        ]

    def reader(self, ports: Sequence[Port]) -> Callable[[], np.ndarray]:
        return self.slaves[ports[0].component].reader(*self._wires(ports))

    def writer(self, ports: Sequence[Port]) -> Callable[[np.ndarray], None]:
        return self.slaves[ports[0].component].writer(*self._wires(ports))

    def _wires(self, ports: Sequence[Port]) -> tuple[str, list[int]]:
        variables = [self.system.variable(p) for p in ports]
        return variables[0].type, [v.valueReference for v in variables]

    def plan(self, structure: str) -> list[Callable[[], None]]:
        """The readings and writings that carry all connected outputs to the inputs they feed, in order."""
        order, _ = waves(self.system.connections, declared(self.system, structure))
        index = {port: i for i, port in enumerate(self.sources)}
        by_kind = lambda p: (p.component, KINDS[self.system.variable(p).type][0])  # noqa: E731
        actions = []
        for wave in order:
            for ports in self.grouped(sorted(wave, key=by_kind)):
                actions.append(self.reading(self.reader(ports), np.array([index[p] for p in ports])))
            fed = sorted((c for c in self.system.connections if c.source in wave), key=lambda c: by_kind(c.target))
            for ports in self.grouped(c.target for c in fed):
                own = [c for c in fed if c.target in ports]
                at, factor, offset = (
                    np.array([index[c.source] for c in own]),
                    np.array([c.factor for c in own]),
                    np.array([c.offset for c in own]),
                )
                actions.append(self.writing(self.writer(ports), at, factor, offset))
        return actions

    def reading(self, read: Callable[[], np.ndarray], at: np.ndarray) -> Callable[[], None]:
        def action() -> None:
            self.bus[at] = read()

        return action

    def writing(
        self, write: Callable[[np.ndarray], None], at: np.ndarray, factor: np.ndarray, offset: np.ndarray
    ) -> Callable[[], None]:
        plain = bool(np.all(factor == 1.0) and np.all(offset == 0.0))

        def action() -> None:
            write(self.bus[at] if plain else factor * self.bus[at] + offset)

        return action

    def exchange(self) -> None:
        for action in self.pass_on:
            action()

    def row(self, t: float) -> np.ndarray:
        """All outputs. UserError when one of them is not a number."""
        row = np.concatenate([read() for read in self.recorded]) if self.recorded else np.zeros(0)
        if not np.isfinite(row).all():
            bad = int(np.flatnonzero(~np.isfinite(row))[0])
            raise UserError(f"{self.outputs[bad]} is {row[bad]:g} at t = {t:g} s")
        return row

    # --- time -------------------------------------------------------------------------------------------------------------

    def drive(self, t: float) -> None:
        for port, value in self.driven.items():
            self.slaves[port.component].set("Real", self.system.variable(port).valueReference, value(t))

    def initialize(self) -> None:
        for port, value in self.system.values.items():
            variable = self.system.variable(port)
            self.slaves[port.component].set(variable.type, variable.valueReference, value)
        self.drive(0.0)
        for slave in self.slaves.values():
            slave.enter_initialization()
        for action in self.plan("initialUnknowns"):
            action()
        for slave in self.slaves.values():
            slave.exit_initialization()
        self.exchange()

    def advance(self, t: float, h: float, final: bool = True) -> None:
        """One step of all FMUs; not final: it may be taken back."""
        for slave in self.slaves.values():
            slave.step(t, h, final)
        self.drive(t + h)
        self.exchange()

    def fixed(self, progress: Progress, probed: bool) -> tuple[Result, list[str]]:
        """Equal steps; the result, and what is to be said of the step. Where the FMUs can go back, some steps are tried in two halves before."""
        grid = times(0.0, self.system.stop_time, self.system.step_size)
        rows = [self.row(0.0)]
        probes, jumps = Probes(self.sources), Jumps(self.sources)
        for k, (t, t_next) in enumerate(pairwise(map(float, grid))):
            try:
                halves = (
                    self.halved(t, t_next - t)
                    if probed and (k < PROBED_FIRST or k % PROBED == 0) and self.sources
                    else None
                )
                self.advance(t, t_next - t)
                rows.append(self.row(t_next))
                if halves is not None:
                    probes.compare(k, t_next, t_next - t, self.bus, halves)
                if not probed:
                    jumps.look(t_next, t_next - t, self.bus)
            except Exception as error:
                raise self.reason(error, t) from None
            progress(t_next)
        return result_of(self.system, list(grid), rows, self.driven), [*probes.complaints(), *jumps.complaints()]

    def halved(self, t: float, h: float) -> np.ndarray:
        """The connected signals after two halves of a step, which is then taken back."""
        with self.saved() as go_back:
            self.advance(t, h / 2, final=False)
            self.advance(t + h / 2, h / 2, final=False)
            halves = self.bus.copy()
            go_back()
        return halves

    def adaptive(self, tolerance: float, progress: Progress) -> tuple[Result, list[float]]:
        """Results at the points of the given step, which is divided where that is needed; and the steps that were taken."""
        grid = times(0.0, self.system.stop_time, self.system.step_size)
        largest = self.system.step_size
        h, smallest = largest, SMALLEST * largest
        rows, steps = [self.row(0.0)], []
        for t_start, t_end in pairwise(map(float, grid)):
            t = t_start
            while t < t_end:
                last = h >= (t_end - t) * (1 - 1e-9)
                now = t_end - t if last else h
                try:
                    error = self.try_step(t, now, tolerance, now <= smallest)
                except Exception as problem:
                    raise self.reason(problem, t) from None
                if error > 1.0 and now > smallest:
                    h = max(now * max(0.2, 0.9 / np.sqrt(error)), smallest)
                    continue
                if error > 1.0:
                    self.unkept.append(t)
                steps.append(now / 2)
                t = t_end if last else t + now
                longer = now * min(4.0, 0.9 / np.sqrt(max(error, 1e-4)))
                h = min(
                    max(h, longer, smallest) if last else max(longer, smallest), largest
                )  # a step cut to fit says little
            rows.append(self.row(t_end))
            progress(t_end)
        return result_of(self.system, list(grid), rows, self.driven), steps

    def unkept_errors(self, steps: int) -> list[str]:
        """A complaint, unless the smallest step was too long at some jumps only."""
        if len(self.unkept) <= RARE * steps:
            return []
        where = f"{len(self.unkept)} of {steps} steps, first at t = {self.unkept[0]:g} s"
        return [f"the error could not be kept in {where}: the coupling jumps there, or reacts to itself without delay"]

    def try_step(self, t: float, h: float, tolerance: float, anyway: bool) -> float:
        """A step in two halves, and its error in units of the tolerance. With an error above 1 it is taken back, unless it is to be made `anyway`."""
        if not self.sources:
            self.advance(t, h)
            return 0.0
        with self.saved() as go_back:
            self.advance(t, h, final=False)
            whole = self.bus.copy()
            go_back()
            self.advance(t, h / 2, final=False)
            self.advance(t + h / 2, h / 2, final=False)
            off = np.abs(whole - self.bus) / (tolerance * (1.0 + np.abs(self.bus)))
            error = float(np.max(np.where(np.isfinite(off), off, np.inf)))
            if error > 1.0 and not anyway:
                go_back()
        return error

    @contextlib.contextmanager
    def saved(self) -> Iterator[Callable[[], None]]:
        """A function that takes all FMUs and signals back to where they are now."""
        bus = self.bus.copy()
        states = {name: slave.save() for name, slave in self.slaves.items()}

        def go_back() -> None:
            for name, state in states.items():
                self.slaves[name].restore(state)
            self.bus[:] = bus

        try:
            yield go_back
        finally:
            for name, state in states.items():
                self.slaves[name].forget(state)
