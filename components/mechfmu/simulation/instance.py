"""One running mechanism: what an FMU instance is, without FMI around it.

An instance owns the numbers (t, x, d, u, p, the solver's memory), knows in which phase of its life it is, and refuses what that
phase does not allow. Its whole state is a `Snapshot`; restoring one and stepping on repeats the same bits.
"""

from __future__ import annotations

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
from .integration import Budget, IntegrationError, Memory, integrate

TIME_TOLERANCE = 1e-9  # relative: a host's time may differ from ours by rounding, not by more
GUESS_TOLERANCE = 1e-9  # relative: hosts print and read the start values of the description
EVENT_LIMIT = 1000  # events within one communication step
EVENT_ROUNDS = 100  # of the event iteration in one moment

Warn = Callable[[str], None]

INSTANTIATED, INITIALIZING, STEPPING, TERMINATED = "instantiated", "in initialization", "stepping", "terminated"


class CallError(RuntimeError):
    """A call that the instance's phase does not allow."""


@dataclass(frozen=True)
class Snapshot:
    """Everything that makes an instance's future: plain numbers, so that it can be kept, sent and compared."""

    model: str
    phase: str
    t: float
    x: tuple[float, ...]
    d: tuple[float, ...]
    u: tuple[float, ...]
    p: tuple[float, ...]
    g: tuple[float, ...]  # guards at the end of the last step
    memory: Memory
    tolerance: float | None

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()  # repr of a float is exact, so the round trip is too

    @staticmethod
    def from_bytes(data: bytes) -> Snapshot:
        fields = json.loads(data)
        fields.update({k: tuple(fields[k]) for k in ("x", "d", "u", "p", "g")}, memory=Memory(**fields["memory"]))
        return Snapshot(**fields)


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
        self.memory = Memory()
        self.tolerance: float | None = None
        self._x = np.zeros(self.table.x.size)
        self._d = np.zeros(self.table.d.size)
        self._g = np.zeros(len(mechanism.event_names))
        self._stale = True  # before initialization ends, x and d follow the parameters
        self._y: np.ndarray | None = None
        self._dx: np.ndarray | None = None
        for scalar, value in mechanism.settings(start or {}):
            self._array(scalar)[scalar.index] = value

    # --- values -------------------------------------------------------------------------------------------------------

    def set(self, scalars: Sequence[Scalar], values: Sequence[float]) -> None:
        """All of the values, or none of them and a UserError or CallError."""
        if (
            self.phase == INSTANTIATED
        ):  # the start of a state follows from the parameters: what a host sets is a guess (initial="approx")
            pairs = list(zip(scalars, values, strict=True))
            for s, v in pairs:
                if s.role == "state" and not np.isclose(
                    v, start := self.x[s.index], rtol=GUESS_TOLERANCE, atol=GUESS_TOLERANCE
                ):
                    self._warn(
                        f"{s.name} = {v:g} has no effect: its start follows from the parameters and is {start:g}{s.row.unit and ' ' + s.row.unit}"
                    )
            scalars, values = [s for s, _ in pairs if s.role != "state"], [v for s, v in pairs if s.role != "state"]
        for scalar, value in zip(scalars, values, strict=True):
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
            self._stale = self._stale or scalar.role == "parameter"
        self._y = self._dx = None

    def get(self, scalars: Sequence[Scalar]) -> list[float]:
        return [float(self._array(s)[s.index]) for s in scalars]

    def _array(self, scalar: Scalar) -> np.ndarray:
        match scalar.role:
            case "parameter":
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
        self._freshen()
        return self._x

    @property
    def d(self) -> np.ndarray:
        self._freshen()
        return self._d

    def _freshen(self) -> None:
        """Outputs must be right in initialization too, so the start state is made whenever it is asked for."""
        if self._stale:
            x, d = self.engine.initial(self.p)
            self._x, self._d = np.asarray(x, dtype=float), np.asarray(d, dtype=float)
            self._stale = False

    # --- life ---------------------------------------------------------------------------------------------------------

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
        """Checks the parameters, so that the first step does not meet a nonsensical model."""
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
                    self._tell(note, self.t, UserError)
            self._g = g
        self.phase = STEPPING

    def initialize(self, start_time: float = 0.0, tolerance: float | None = None) -> None:
        """The three calls above in a row."""
        self.setup(start_time, tolerance)
        self.enter_initialization()
        self.exit_initialization()

    def step(self, t: float, h: float) -> None:
        """From t to t + h. IntegrationError leaves the instance where it was before the step."""
        self._expect("a step cannot be made", STEPPING)
        if not (np.isfinite(t) and np.isfinite(h)) or h <= 0:
            raise UserError(f"step of size {h:g} at t = {t:g}: the size must be greater than 0")
        if abs(t - self.t) > TIME_TOLERANCE * max(1.0, abs(self.t)):
            raise UserError(f"step from t = {t!r}: the simulation is at t = {self.t!r}")
        now, x, d, memory = self.t, self.x, self.d, self.memory
        p = self.table.p(self.p)
        rtol = max(self.tolerance or p.rtol, 1e-13)
        g = self._g
        if g.size:  # an input that has jumped since the last step can make guards fall
            x, d = self._iterate_events(now, x, d, g)
        budget = Budget()
        for _ in range(EVENT_LIMIT):
            rates = partial(self._call, self.engine.rates, d)
            guards = partial(self._call, self.engine.guards, d) if g.size else None
            arrival = integrate(rates, now, t + h, x, memory, rtol, p.max_step, guards, int(p.method), budget)
            now, x, memory = arrival.t, arrival.x, arrival.memory
            if arrival.event is None:
                break
            last = self.mechanism.event_names[arrival.event]
            assert arrival.standing is not None
            x, d = self._iterate_events(now, x, d, arrival.standing, arrival.fallen)
        else:
            raise IntegrationError(
                f"more than {EVENT_LIMIT} events between t = {t:g} s and {t + h:g} s: the last was {last}"
            )
        if g.size:
            self._g = np.asarray(self.engine.guards(now, x, d, self.u, self.p))
        self._x, self._d = np.asarray(self.engine.project(x, d, self.p)), np.asarray(d)
        self.t, self.memory = t + h, memory
        self._y = self._dx = None

    def _iterate_events(
        self, t: float, x: np.ndarray, d: np.ndarray, standing: np.ndarray, located: Sequence[int] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Guards that stood and have fallen do what they do, then those that fall because of that, until none falls; `located` have fallen in any case."""
        for iteration in range(EVENT_ROUNDS):
            g = np.asarray(self.engine.guards(t, x, d, self.u, self.p))
            falls = (standing > 0) & (g <= 0)
            if iteration == 0:
                falls[list(located)] = True
            if not falls.any():
                return x, d
            standing = np.where(falls, -1.0, g)
            x, d = self._fire(np.flatnonzero(falls), t, x, d)
        raise IntegrationError(f"at t = {t:g} s: events follow each other without end in one moment (chattering)")

    def _fire(self, fallen: Iterable[int], t: float, x: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the guards that have fallen in one moment do, one after the other."""
        for k in fallen:
            event = self.mechanism.event_names[k]
            if (note := self.mechanism.event_notes.get(event)) and not note.only_at_start:
                self._tell(note, t, IntegrationError)
            x, d = self.engine.jump(t, x, d, self.u, self.p, event)
        return x, d

    def _tell(self, note: Note, t: float, error: type[Exception]) -> None:
        if note.stop:
            raise error(f"at t = {t:g} s: {note.text}")
        self._warn(f"at t = {t:g} s: {note.text}")

    def _call(self, function: Callable[..., np.ndarray], d: np.ndarray, t: float, x: np.ndarray) -> np.ndarray:
        return function(t, x, d, self.u, self.p)

    def terminate(self) -> None:
        self._expect("it cannot be terminated", STEPPING)
        self.phase = TERMINATED

    def _expect(self, what: str, *phases: str) -> None:
        if self.phase not in phases:
            raise CallError(f"{what}: the instance is {self.phase}")

    # --- the whole state ----------------------------------------------------------------------------------------------

    @property
    def fingerprint(self) -> str:
        """A state fits only an instance of the same mechanism with the same options."""
        return repr(self.mechanism)

    def save(self) -> Snapshot:
        x, d, u, p, g = (tuple(float(v) for v in array) for array in (self.x, self.d, self.u, self.p, self._g))
        return Snapshot(self.fingerprint, self.phase, self.t, x, d, u, p, g, self.memory, self.tolerance)

    def restore(self, s: Snapshot) -> None:
        if s.model != self.fingerprint:
            raise UserError(f"this state belongs to {s.model}, not to {self.fingerprint}")
        self.phase, self.t, self.memory, self.tolerance = s.phase, s.t, s.memory, s.tolerance
        self._x, self._d, self.u, self.p, self._g = (np.array(v, dtype=float) for v in (s.x, s.d, s.u, s.p, s.g))
        self._stale = s.phase in (INSTANTIATED, INITIALIZING)
        self._y = self._dx = None
