"""The embedded master of a system of FMUs, on FMPy's binding.

All FMUs make a step with their inputs held, then outputs are passed on to the inputs they feed, in the order of the
dependencies that the FMUs declare: an output that depends directly on an input is read after that input was set.

Where all FMUs can save their states the step adapts: every step is made once as a whole and, from the saved states,
once in two halves; the difference is the error of holding the inputs. With fixed steps some steps are compared in the
same way, to warn of a step that is too long.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import UserError
from ..simulation.flags import first_of_each
from ..simulation.fmu_origin import built_by_mechfmu
from ..simulation.result import Result
from ..simulation.slaves import IsolatedSlave, LocalSlave, Origin, Slave
from ..simulation.time_grid import Progress, times
from .connections import Port
from .divergence import HalfStepComparison, JumpDetector, StepTooLong, compared, rounded_down
from .exchange_order import declared_dependencies, exchange_order
from .system_result import Driven, component_and_kind, grouped, outputs_of, result_of

if TYPE_CHECKING:
    from .system import System

DEFAULT_TOLERANCE = 1e-4  # of adaptive steps
PROPOSAL_TOLERANCE = 1e-2  # of the fixed step that is proposed: stable, with the accuracy that fixed steps have
SMALLEST_STEP = 2**-12  # of the given step, below which an adaptive step is not divided
SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 4.0  # step-size control of second order: Hairer, Norsett, Wanner, II.4
SMALLEST_ERROR = 1e-4  # in units of the tolerance: keeps the growth finite
FEW_MISSES = 0.01  # of the steps: jumps of signals, where no step is short enough
WARNINGS_KEPT = 10_000  # of all FMUs


def simulate_in_master(
    system: System,
    driven: Driven,
    adaptive: float | bool | None,
    isolated: bool | None,
    progress: Progress,
    warn: Callable[[str], None],
) -> Result:
    """Simulate a system; see System.simulate."""
    no_rollback = [name for name, description in system.descriptions.items() if not _can_roll_back(description)]
    tolerance = _tolerance(adaptive, no_rollback)
    for loop in exchange_order(system.connections, declared_dependencies(system, "outputs"))[1]:
        warn(f"{' -> '.join(map(str, (*loop, loop[0])))} is an algebraic loop: its first signal lags behind by a step")
    with started(system, isolated, driven) as master:
        problem: StepTooLong | None = None
        found: list[str] = []
        try:
            if tolerance is not None:
                result, steps = master.adaptive_steps(tolerance, progress)
                found = master.missed_tolerance(len(steps))
            else:
                result, found = master.fixed_steps(progress, can_roll_back=not no_rollback)
        except StepTooLong as error:
            problem = error
    for text in (*first_of_each(master.warnings), *found):
        warn(text)
    if problem is None:
        return result
    if no_rollback:
        remedy = f"try --step {problem.step:g}"
    else:
        good = _stable_step(replace(system, stop=problem.t), isolated, driven)
        remedy = f"{good:g} s is short enough (--step {good:g}), or use adaptive steps (without --fixed)"
    raise UserError(f"the coupling diverges with steps of {system.step_size:g} s: {problem}; {remedy}")


def _can_roll_back(description: Any) -> bool:
    interface = description.coSimulation
    return bool(interface.canGetAndSetFMUstate and interface.canHandleVariableCommunicationStepSize)


def _tolerance(adaptive: float | bool | None, no_rollback: Sequence[str]) -> float | None:
    """Of adaptive steps; None: fixed ones."""
    if adaptive is None or adaptive is True:
        if adaptive and no_rollback:
            raise UserError(
                f"adaptive steps are not possible: {no_rollback[0]} cannot save its state or change its step"
            )
        return None if no_rollback else DEFAULT_TOLERANCE
    if adaptive is False:
        return None
    if not 0 < adaptive < 1:
        raise UserError(f"adaptive {adaptive:g}: must be between 0 and 1")
    return _tolerance(True, no_rollback) and adaptive


def _stable_step(system: System, isolated: bool | None, driven: Driven) -> float:
    """The typical step of adaptive control, up to where the fixed one was found to be too long."""
    with started(system, isolated, driven) as master:
        steps = master.adaptive_steps(PROPOSAL_TOLERANCE, lambda t: None)[1]
    return rounded_down(float(np.median(steps)))


@contextlib.contextmanager
def started(system: System, isolated: bool | None, driven: Driven) -> Iterator[Master]:
    """All FMUs of a system, initialized; freed at the end."""
    printed = io.StringIO()  # some Python FMUs write their messages to standard error of this process
    with contextlib.redirect_stderr(printed):
        master = Master(system, printed, isolated, driven)
        try:
            yield master
        finally:
            master.close()


class Master:
    """All FMUs of a system, initialized."""

    def __init__(
        self, system: System, printed: io.StringIO, isolated: bool | None = None, driven: Driven = MappingProxyType({})
    ):
        self.system, self.printed, self.driven = system, printed, driven
        self.failures: list[str] = []
        self.warnings: list[str] = []
        self.missed: list[float] = []  # times at which the smallest adaptive step did not keep the tolerance
        self.slaves: dict[str, Slave] = {}
        try:
            for name, file in system.fmus.items():
                self.slaves[name] = self._slave(
                    name, file, not built_by_mechfmu(file) if isolated is None else isolated
                )
            self.sources = list(dict.fromkeys(c.source for c in system.connections))
            self.bus = np.zeros(len(self.sources))
            self.exchange_actions = self.plan("outputs")
            self.outputs = outputs_of(system)
            self.output_readers = [self.reader(ports) for ports in grouped(system, self.outputs)]
            self.initialize()
        except BaseException as error:
            reason = self.reason(error, None)
            self.close()
            raise reason from None

    def _slave(self, name: str, file: Any, isolated: bool) -> Slave:
        description = self.system.descriptions[name]
        origin = Origin(name, str(file), description.guid, description.coSimulation.modelIdentifier)
        return (IsolatedSlave if isolated else LocalSlave)(
            origin, self.failures.append, partial(self._keep_warning, name)
        )

    def _keep_warning(self, name: str, text: str) -> None:
        if len(self.warnings) < WARNINGS_KEPT:
            self.warnings.append(f"{name}: {text}")

    def close(self) -> None:
        for slave in self.slaves.values():
            slave.free()

    def reason(self, error: BaseException, t: float | None) -> BaseException:
        """The FMU's own message about its failure, where there is one."""
        if isinstance(error, (UserError, StepTooLong)) or not isinstance(error, Exception):
            return error
        printed = [line.partition("] ")[2] for line in self.printed.getvalue().splitlines() if line.startswith("[")]
        where = "did not start" if t is None else f"stopped at t = {t:g} s"
        return UserError(f"the system {self.system.name} {where}: {(printed or self.failures or [str(error)])[-1]}")

    # --- signals ------------------------------------------------------------------------------------------------------

    def reader(self, ports: Sequence[Port]) -> Callable[[], np.ndarray]:
        return self.slaves[ports[0].component].reader(*self._kind_and_references(ports))

    def writer(self, ports: Sequence[Port]) -> Callable[[np.ndarray], None]:
        return self.slaves[ports[0].component].writer(*self._kind_and_references(ports))

    def _kind_and_references(self, ports: Sequence[Port]) -> tuple[str, list[int]]:
        variables = [self.system.variable(p) for p in ports]
        return variables[0].type, [v.valueReference for v in variables]

    def plan(self, structure: str) -> list[Callable[[], None]]:
        """The calls that carry all connected outputs to the inputs they feed, in order."""
        system, index = self.system, {port: i for i, port in enumerate(self.sources)}
        stages, _ = exchange_order(system.connections, declared_dependencies(system, structure))
        by_kind = partial(component_and_kind, system)
        actions = []
        for stage in stages:
            for ports in grouped(system, sorted(stage, key=by_kind)):
                actions.append(self.reading(self.reader(ports), np.array([index[p] for p in ports])))
            fed = sorted((c for c in system.connections if c.source in stage), key=lambda c: by_kind(c.target))
            for ports in grouped(system, (c.target for c in fed)):
                own = [c for c in fed if c.target in ports]
                at = np.array([index[c.source] for c in own])
                factor, offset = np.array([c.factor for c in own]), np.array([c.offset for c in own])
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
        for action in self.exchange_actions:
            action()

    def row(self, t: float) -> np.ndarray:
        """All outputs. UserError when one of them is not a number."""
        row = np.concatenate([read() for read in self.output_readers]) if self.output_readers else np.zeros(0)
        if not np.isfinite(row).all():
            bad = int(np.flatnonzero(~np.isfinite(row))[0])
            raise UserError(f"{self.outputs[bad]} is {row[bad]:g} at t = {t:g} s")
        return row

    # --- time ---------------------------------------------------------------------------------------------------------

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
        """One step of all FMUs; not final: it may be rolled back."""
        for slave in self.slaves.values():
            slave.step(t, h, final)
        self.drive(t + h)
        self.exchange()

    def fixed_steps(self, progress: Progress, can_roll_back: bool) -> tuple[Result, list[str]]:
        """Return the result with equal steps, and warnings about the step.

        Where the FMUs can roll back, some steps are tried in two halves before.
        """
        grid = times(0.0, self.system.stop_time, self.system.step_size)
        rows = [self.row(0.0)]
        comparison, jumps = HalfStepComparison(self.sources), JumpDetector(self.sources)
        for k, (t, t_next) in enumerate(pairwise(map(float, grid))):
            h = t_next - t
            try:
                halves = self.halved(t, h) if can_roll_back and compared(k) and self.sources else None
                self.advance(t, h)
                rows.append(self.row(t_next))
                if halves is not None:
                    comparison.add(k, t_next, h, self.bus, halves)
                if not can_roll_back:
                    jumps.add(t_next, h, self.bus)
            except Exception as error:
                raise self.reason(error, t) from None
            progress(t_next)
        return result_of(self.system, list(grid), rows, self.driven), [*comparison.warnings(), *jumps.warnings()]

    def halved(self, t: float, h: float) -> np.ndarray:
        """The connected signals after two halves of a step, which is then rolled back."""
        with self.saved() as roll_back:
            self.advance(t, h / 2, final=False)
            self.advance(t + h / 2, h / 2, final=False)
            halves = self.bus.copy()
            roll_back()
        return halves

    def adaptive_steps(self, tolerance: float, progress: Progress) -> tuple[Result, list[float]]:
        """Return the result at the points of the given step, divided where needed, and the steps that were taken."""
        grid = times(0.0, self.system.stop_time, self.system.step_size)
        largest = self.system.step_size
        h, smallest = largest, SMALLEST_STEP * largest
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
                    h = max(now * max(MIN_FACTOR, SAFETY / np.sqrt(error)), smallest)
                    continue
                if error > 1.0:
                    self.missed.append(t)
                steps.append(now / 2)
                t = t_end if last else t + now
                grown = max(now * min(MAX_FACTOR, SAFETY / np.sqrt(max(error, SMALLEST_ERROR))), smallest)
                h = min(max(h, grown) if last else grown, largest)  # a last step was cut to fit: h remains valid
            rows.append(self.row(t_end))
            progress(t_end)
        return result_of(self.system, list(grid), rows, self.driven), steps

    def missed_tolerance(self, steps: int) -> list[str]:
        """A warning, unless the smallest step was too long at a few jumps only."""
        if len(self.missed) <= FEW_MISSES * steps:
            return []
        where = f"{len(self.missed)} of {steps} steps, first at t = {self.missed[0]:g} s"
        return [f"the tolerance was not kept in {where}: signals jump there, or the loop has direct feedthrough"]

    def try_step(self, t: float, h: float, tolerance: float, anyway: bool) -> float:
        """Make a step in two halves and return its error in units of the tolerance.

        With an error above 1 the step is rolled back, unless it is to be made `anyway`.
        """
        if not self.sources:
            self.advance(t, h)
            return 0.0
        with self.saved() as roll_back:
            self.advance(t, h, final=False)
            full_step = self.bus.copy()
            roll_back()
            self.advance(t, h / 2, final=False)
            self.advance(t + h / 2, h / 2, final=False)
            relative = np.abs(full_step - self.bus) / (tolerance * (1.0 + np.abs(self.bus)))
            error = float(np.max(np.where(np.isfinite(relative), relative, np.inf)))
            if error > 1.0 and not anyway:
                roll_back()
        return error

    @contextlib.contextmanager
    def saved(self) -> Iterator[Callable[[], None]]:
        """A function that rolls all FMUs and signals back to their present state."""
        bus = self.bus.copy()
        states = {name: slave.save() for name, slave in self.slaves.items()}

        def roll_back() -> None:
            for name, state in states.items():
                self.slaves[name].restore(state)
            self.bus[:] = bus

        try:
            yield roll_back
        finally:
            for name, state in states.items():
                self.slaves[name].forget(state)
