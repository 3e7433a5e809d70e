"""One running mechanism: an FMU instance without FMI around it.

An instance owns the numbers (t, x, d, u, p, the state of the solver) and the phase of its lifecycle, and rejects calls
that the phase does not allow. Its complete state is a `Snapshot`; restoring one and stepping on gives the same bits.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from ..codegen.recording import CasadiEngine
from ..model import Mechanism, Note, UserError
from ..model.engine import Engine
from ..model.variables import Scalar
from .integration import Budget, IntegrationError, SolverState, integrate
from .limits import EVENT_LIMIT, EVENT_ROUNDS, MIN_TOLERANCE, START_VALUE_TOLERANCE, TIME_TOLERANCE

Warn = Callable[[str], None]

INSTANTIATED, INITIALIZING, STEPPING, TERMINATED = "instantiated", "in initialization", "stepping", "terminated"


class CallError(RuntimeError):
    """A call that the instance's phase does not allow."""


@dataclass(frozen=True)
class Snapshot:
    """The complete state of an instance as plain numbers, which can be stored, sent and compared."""

    model: str
    phase: str
    t: float
    x: tuple[float, ...]
    d: tuple[float, ...]
    u: tuple[float, ...]
    p: tuple[float, ...]
    g: tuple[float, ...]  # guards at the end of the last step
    solver: SolverState
    tolerance: float | None

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()  # repr of a float is exact, so the round trip is too

    @staticmethod
    def from_bytes(data: bytes) -> Snapshot:
        fields = json.loads(data)
        vectors = {k: tuple(fields[k]) for k in ("x", "d", "u", "p", "g")}
        return Snapshot(**{**fields, **vectors, "solver": SolverState(**fields["solver"])})


class Instance:
    """A mechanism being simulated: set, initialize, step, get."""

    def __init__(
        self,
        mechanism: Mechanism,
        start: Mapping[str, float | str] | None = None,
        engine: Engine | None = None,
        warn: Warn | None = None,
    ):
        self.mechanism = mechanism
        self._warn = warn or (lambda text: warnings.warn(text, RuntimeWarning, stacklevel=3))
        self.table = mechanism.table
        self.engine = engine or CasadiEngine(mechanism)
        self.phase = INSTANTIATED
        self.t = 0.0
        self.u, self.p = self.table.defaults("input"), self.table.defaults("parameter")
        self._solver = SolverState()
        self.tolerance: float | None = None
        self._x = np.zeros(self.table.x.size)
        self._d = np.zeros(self.table.d.size)
        self._g = np.zeros(len(mechanism.event_names))
        self._start_state_dirty = True  # until initialization ends, x and d follow from the parameters
        self._y: np.ndarray | None = None
        self._dx: np.ndarray | None = None
        for scalar, value in mechanism.settings(start or {}):
            self._array(scalar)[scalar.index] = value

    # --- values -------------------------------------------------------------------------------------------------------

    def set(self, scalars: Sequence[Scalar], values: Sequence[float]) -> None:
        """Set all values; after a UserError or CallError none is set."""
        if self.phase == INSTANTIATED:
            scalars, values = self._without_states(scalars, values)
        for scalar, value in zip(scalars, values, strict=True):
            if scalar.constant:
                raise UserError(f"{scalar.name} cannot be set: it is a constant")
            if scalar.role not in ("parameter", "input"):
                raise UserError(f"{scalar.name} cannot be set: only parameters and inputs can")
            if self.phase == TERMINATED:
                raise CallError(f"{scalar.name} cannot be set: the simulation is terminated")
            if scalar.role == "parameter" and self.phase == STEPPING:
                raise CallError(f"{scalar.name} is a fixed parameter: it cannot be set after initialization")
            if complaint := scalar.violation(float(value)):
                raise UserError(complaint)
        for scalar, value in zip(scalars, values, strict=True):
            self._array(scalar)[scalar.index] = float(value)
            self._start_state_dirty = self._start_state_dirty or scalar.role == "parameter"
        self._y = self._dx = None

    def _without_states(self, scalars: Sequence[Scalar], values: Sequence[float]) -> tuple[list[Scalar], list[float]]:
        """The start of a state follows from the parameters: what a host sets is a guess (initial="approx")."""
        pairs = list(zip(scalars, values, strict=True))
        tolerance = START_VALUE_TOLERANCE
        for s, v in pairs:
            if s.role == "state" and not np.isclose(v, start := self.x[s.index], rtol=tolerance, atol=tolerance):
                unit = s.row.unit and " " + s.row.unit
                self._warn(
                    f"{s.name} = {v:g} has no effect: its start follows from the parameters and is {start:g}{unit}"
                )
        return [s for s, _ in pairs if s.role != "state"], [v for s, v in pairs if s.role != "state"]

    def get(self, scalars: Sequence[Scalar]) -> list[float]:
        return [float(self._array(s)[s.index]) for s in scalars]

    def _array(self, scalar: Scalar) -> np.ndarray:
        match scalar.role:
            case "parameter" | "constant":
                return self.p
            case "input":
                return self.u
            case "state":
                return self.x
            case "discrete":
                return self.d
            case "output":
                if self._y is None:
                    self._y = np.asarray(self.engine.outputs(self.t, self.x, self.d, self.u, self.p))
                return self._y
            case "derivative":
                if self._dx is None:
                    self._dx = np.asarray(self.engine.rates(self.t, self.x, self.d, self.u, self.p))
                return self._dx

    @property
    def x(self) -> np.ndarray:
        self._update_start_state()
        return self._x

    @property
    def d(self) -> np.ndarray:
        self._update_start_state()
        return self._d

    def _update_start_state(self) -> None:
        """Outputs must be right during initialization too, so the start state is computed whenever it is used."""
        if self._start_state_dirty:
            x, d = self.engine.initial(self.p)
            self._x, self._d = np.asarray(x, dtype=float), np.asarray(d, dtype=float)
            self._start_state_dirty = False

    # --- lifecycle ----------------------------------------------------------------------------------------------------

    def setup(self, start_time: float = 0.0, tolerance: float | None = None) -> None:
        self._expect("the experiment cannot be set up", INSTANTIATED)
        if not np.isfinite(start_time):
            raise UserError(f"start time {start_time}: must be a finite number")
        if tolerance is not None and not tolerance > 0:
            raise UserError(f"tolerance {tolerance}: must be greater than 0")
        self.t, self.tolerance = start_time, tolerance

    def enter_initialization(self) -> None:
        self._expect("initialization cannot begin", INSTANTIATED)
        self.phase = INITIALIZING

    def exit_initialization(self) -> None:
        """Check the parameters and the start state before the first step."""
        self._expect("initialization cannot end", INITIALIZING)
        for text in self.mechanism.check_parameters(self.p, self.engine.requirements(self.p)):
            self._warn(text)
        if not np.all(np.isfinite(self.engine.rates(self.t, self.x, self.d, self.u, self.p))):
            raise UserError("the accelerations at the start are not finite: check masses, inertias and lengths")
        if self.mechanism.event_names:
            g = np.asarray(self.engine.guards(self.t, self.x, self.d, self.u, self.p))
            guards = dict(zip(self.mechanism.event_names, g, strict=True))
            for event, note in self.mechanism.event_notes.items():
                if guards[event] <= 0:
                    self._report(note, self.t, UserError)
            self._g = g
        self.phase = STEPPING

    def initialize(self, start_time: float = 0.0, tolerance: float | None = None) -> None:
        """Call the three methods above."""
        self.setup(start_time, tolerance)
        self.enter_initialization()
        self.exit_initialization()

    def step(self, t: float, h: float) -> None:
        """Step from t to t + h. After an IntegrationError the instance is unchanged."""
        self._expect("a step cannot be made", STEPPING)
        if not (np.isfinite(t) and np.isfinite(h)) or h <= 0:
            raise UserError(f"step of size {h:g} at t = {t:g}: the size must be greater than 0")
        if abs(t - self.t) > TIME_TOLERANCE * max(1.0, abs(self.t)):
            raise UserError(f"step from t = {t!r}: the simulation is at t = {self.t!r}")
        now, x, d, solver = self.t, self.x, self.d, self._solver
        p = self.table.p(self.p)
        rtol = max(self.tolerance or p.rtol, MIN_TOLERANCE)
        g = self._g
        if g.size:  # an input that has changed since the last step can cause events
            x, d = self._iterate_events(now, x, d, g)
        budget = Budget()
        for count in itertools.count():
            rates = partial(self._call, self.engine.rates, d)
            guards = partial(self._call, self.engine.guards, d) if g.size else None
            end = integrate(rates, now, t + h, x, solver, rtol, p.max_step, guards, int(p.method), budget)
            now, x, solver, event = end.t, end.x, end.solver, end.event
            if event is None:
                break
            if count == EVENT_LIMIT:
                last = self.mechanism.event_names[event.first]
                interval = f"between t = {t:g} s and {t + h:g} s"
                raise IntegrationError(f"more than {EVENT_LIMIT} events {interval}: the last was {last}")
            x, d = self._iterate_events(now, x, d, event.guards_before, event.guards)
        if g.size:
            self._g = np.asarray(self.engine.guards(now, x, d, self.u, self.p))
        self._x, self._d = np.asarray(self.engine.project(x, d, self.p)), np.asarray(d)
        self.t, self._solver = t + h, solver
        self._y = self._dx = None

    def _iterate_events(
        self, t: float, x: np.ndarray, d: np.ndarray, before: np.ndarray, located: Sequence[int] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply the events of guards that were positive and no longer are, then the events that follow from them, until
        there are none.

        before    the guards before
        located   guards whose zero crossing was found at t
        """
        for iteration in range(EVENT_ROUNDS):
            g = np.asarray(self.engine.guards(t, x, d, self.u, self.p))
            crossed = (before > 0) & (g <= 0)
            if iteration == 0:
                crossed[list(located)] = True
            if not crossed.any():
                return x, d
            before = np.where(crossed, -1.0, g)
            x, d = self._apply_jumps(np.flatnonzero(crossed), t, x, d)
        raise IntegrationError(f"at t = {t:g} s: events follow each other without end in one moment (chattering)")

    def _apply_jumps(
        self, crossed: Iterable[int], t: float, x: np.ndarray, d: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Apply the jumps of the guards that have crossed zero at one time, one after the other."""
        for k in crossed:
            event = self.mechanism.event_names[k]
            if (note := self.mechanism.event_notes.get(event)) and not note.only_at_start:
                self._report(note, t, IntegrationError)
            x, d = self.engine.jump(t, x, d, self.u, self.p, event)
        return x, d

    def _report(self, note: Note, t: float, error: type[Exception]) -> None:
        if note.stop:
            raise error(f"at t = {t:g} s: {note.text}")
        self._warn(f"at t = {t:g} s: {note.text}")

    def _call(self, function: Callable[..., np.ndarray], d: np.ndarray, t: float, x: np.ndarray) -> np.ndarray:
        return function(t, x, d, self.u, self.p)

    def terminate(self) -> None:
        self._expect("the instance cannot be terminated", STEPPING)
        self.phase = TERMINATED

    def _expect(self, what: str, *phases: str) -> None:
        if self.phase not in phases:
            raise CallError(f"{what}: the instance is {self.phase}")

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def fingerprint(self) -> str:
        """Snapshots can be restored only into an instance of the same mechanism with the same options."""
        return repr(self.mechanism)

    def save(self) -> Snapshot:
        x, d, u, p, g = (tuple(float(v) for v in array) for array in (self.x, self.d, self.u, self.p, self._g))
        return Snapshot(self.fingerprint, self.phase, self.t, x, d, u, p, g, self._solver, self.tolerance)

    def restore(self, s: Snapshot) -> None:
        if s.model != self.fingerprint:
            raise UserError(f"this state belongs to {s.model}, not to {self.fingerprint}")
        self.phase, self.t, self._solver, self.tolerance = s.phase, s.t, s.solver, s.tolerance
        self._x, self._d, self.u, self.p, self._g = (np.array(v, dtype=float) for v in (s.x, s.d, s.u, s.p, s.g))
        self._start_state_dirty = s.phase in (INSTANTIATED, INITIALIZING)
        self._y = self._dx = None
