"""Parts of D14: observers of a run, which look at what fmi2NewDiscreteStates says and at events without a reason."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..findings import Finding
from .binding import OK, EventInfo
from .instance import FmuInstance, same
from .model import ModelVariable, Value
from .session import Session

FLAGS = (
    "newDiscreteStatesNeeded",
    "terminateSimulation",
    "nominalsOfContinuousStatesChanged",
    "valuesOfContinuousStatesChanged",
    "nextEventTimeDefined",
)
USUAL = 0.8  # share of the events without a reason: what changes so often does so at every event, which is allowed
OUTDATED, OFTEN = 1e-4, 5  # relative difference; events: a value that was not computed anew
NEGLIGIBLE = 1e-12  # of a variable's scale: what is left when terms cancel, or an iteration ends
NUMBER = re.compile(r"[-+]?\d[\w.+-]*")


class Observer:
    """Looks at a run: at its start, at times of a grid, before and after events."""

    def __init__(self, s: Session):
        self.s, self.findings = s, list[Finding]()
        self.instance: FmuInstance

    def attach(self, instance: FmuInstance) -> None:
        """The instance is in event mode for the first time."""
        self.instance = instance

    def start(self) -> None:
        """The instance has entered continuous-time mode for the first time."""

    def at(self, t: float) -> None:
        """The run has come to a time of the grid."""

    def on_event(self, when: str) -> None:
        """An event: `when` is "before", "after", or "external" after one without a reason."""

    def note(self, finding: Finding) -> None:
        if all(f.group != finding.group or f.where != finding.where for f in self.findings):
            self.findings.append(finding)


def discrete_variables(s: Session) -> list[ModelVariable]:
    """Those that the FMU computes."""
    return [v for v in s.model.variables if v.variability == "discrete" and v.causality != "input"]


class EventObserver(Observer):
    """What fmi2NewDiscreteStates says against what has changed. Records the signals at the times of the grid."""

    def __init__(self, s: Session):
        super().__init__(s)
        self.rows: list[list[float]] = []
        self._known: set[str] = set()  # messages of calls that did not end the simulation
        self._x: list[float] | None = None  # before the call; at the start of the simulation nothing is compared
        self._nominals: list[float] = []

    def attach(self, instance: FmuInstance) -> None:
        super().attach(instance)
        instance.observe_event = self._after_new_states
        self.s.log[:] = [message for message in self.s.log if message.status != OK]

    def start(self) -> None:
        self._next_event(self.instance.next_event)

    def at(self, t: float) -> None:
        self.rows.append(self.instance.numbers(self.s.model.signals))

    def on_event(self, when: str) -> None:
        if when == "before":
            self._x, self._nominals = self.instance.states(), self.instance.nominals()
            return
        self._next_event(self.instance.next_event)
        for i, z in enumerate(self.instance.indicators()):
            where = "fmi2GetEventIndicators"
            if z == 0.0:
                problem = f"element {i + 1} is 0 when the integration restarts at t = {self.instance.t:g}"
                self.note(Finding(where, problem, "another value", sentence="indicator-not-zero"))
            elif not math.isfinite(z):
                problem = f"element {i + 1} is {z} at t = {self.instance.t:g}"
                self.note(Finding(where, problem, "a finite value", sentence="indicator"))

    def _after_new_states(self, info: EventInfo) -> None:
        where, now = "fmi2NewDiscreteStates", f"at t = {self.instance.t:g}"
        for name in FLAGS:
            if (value := getattr(info, name)) not in (0, 1):
                self.note(Finding(where, f"{name} is {value} {now}", "0 or 1", sentence="boolean-values"))
        self._messages(info)
        if info.terminateSimulation:
            return
        x, nominals = self.instance.states(), self.instance.nominals()
        if self._x is not None:
            changed = [i for i, (a, b) in enumerate(zip(x, self._x, strict=True)) if not same(a, b)]
            self._compare_flags(info, bool(changed), nominals != self._nominals)
            self._compare_reinit(changed)
        for i, nominal in enumerate(nominals):
            if not nominal > 0:
                where = "fmi2GetNominalsOfContinuousStates"
                problem = f"element {i + 1} is {nominal:g} {now}"
                self.note(Finding(where, problem, "greater than 0", sentence="nominal-positive"))
        self._x = x if self._x is not None else None
        self._nominals = nominals

    def _compare_flags(self, info: EventInfo, states: bool, nominals: bool) -> None:
        """The two flags against whether states and nominal values have changed."""
        where, now = "fmi2NewDiscreteStates", f"at t = {self.instance.t:g}"
        if states and not info.valuesOfContinuousStatesChanged:
            problem = f"a continuous state has changed {now}, but valuesOfContinuousStatesChanged is false"
            self.note(Finding(where, problem, "true", sentence="values-changed-true"))
        if not states and info.valuesOfContinuousStatesChanged:
            problem = f"valuesOfContinuousStatesChanged is true {now}, but no continuous state has changed"
            self.note(Finding(where, problem, "false", sentence="values-changed"))
        if info.nominalsOfContinuousStatesChanged and not nominals:
            problem = f"nominalsOfContinuousStatesChanged is true {now}, but no nominal value has changed"
            self.note(Finding(where, problem, "false", sentence="nominals-changed"))
        if nominals and not info.nominalsOfContinuousStatesChanged:
            problem = f"a nominal value has changed {now}, but nominalsOfContinuousStatesChanged is false"
            self.note(Finding(where, problem, "true", sentence="nominals-changed"))

    def _compare_reinit(self, changed: Sequence[int]) -> None:
        """States that an event has changed against what is declared."""
        for i in changed if len(self.s.model.states) == len(self._x or ()) else ():
            v = self.s.model.by_index.get(self.s.model.states[i])
            if v is not None and not v.reinit:
                problem = f"an event has changed it at t = {self.instance.t:g}, but it has no reinit"
                self.note(v.finding(problem, 'reinit="true"', "reinit-false", cause="reinit"))

    def _messages(self, info: EventInfo) -> None:
        """Who ends the simulation says why: by a warning, or by a message that did not come with other events."""
        texts = {NUMBER.sub("#", message.text or "") for message in self.s.log}
        said = bool(texts - self._known) or any(message.status != OK for message in self.s.log)
        if info.terminateSimulation == 1 and not said:
            problem = f"it asks to end the simulation at t = {self.instance.t:g} without a message"
            self.note(Finding("fmi2NewDiscreteStates", problem, "a message with the reason"))
        self._known |= texts
        self.s.log.clear()

    def _next_event(self, t: float | None) -> None:
        if t is not None and not t > self.instance.t:
            problem = f"nextEventTime is {t:g} at t = {self.instance.t:g}"
            self.note(Finding("fmi2NewDiscreteStates", problem, "a later time", sentence="next-event-time"))
            self.instance.next_event = None


class ExternalEvents(Observer):
    """A run in which event mode is entered now and then without a reason. Records the signals, the discrete variables
    that such an event changes, and the signals that change although no discrete variable and no state does."""

    def start(self) -> None:
        self.rows: list[list[float]] = []
        self._discrete = discrete_variables(self.s)
        self._signals = [v for v in self.s.model.signals if v.variability == "continuous"]
        self._changed: dict[ModelVariable, list[str]] = {}
        self._stale: dict[ModelVariable, list[str]] = {}
        self._count = 0

    def at(self, t: float) -> None:
        self.rows.append(self.instance.numbers(self.s.model.signals))

    def enter_event_mode(self) -> None:
        """An event without a reason; if it changes something, another one. What changes again counts events."""
        before, x, signals = self.instance.get(self._discrete), self.instance.states(), self._values()
        self.instance.event()
        self._count += 1
        after = self.instance.get(self._discrete)
        changed = _different(before, after)
        if not changed:
            if not _different(x, self.instance.states()):
                self._compare_signals(signals)
            return
        self.instance.event()
        again = set(_different(after, self.instance.get(self._discrete)))
        for i in changed:
            if i not in again:
                text = f"it changes from {before[i]!r} to {after[i]!r} at t = {self.instance.t:g}"
                self._changed.setdefault(self._discrete[i], []).append(text)

    def _values(self) -> list[float]:
        return self.instance.numbers(self._signals)

    def _compare_signals(self, before: Sequence[float]) -> None:
        for v, a, b in zip(self._signals, before, self._values(), strict=True):
            if abs(a - b) > max(OUTDATED * max(abs(a), abs(b)), NEGLIGIBLE * v.scale):
                text = f"it is {a:.6g} at t = {self.instance.t:g}, and {b:.6g} after an event that changes nothing"
                self._stale.setdefault(v, []).append(text)

    def judge(self) -> None:
        """Note the variables that some of the events have changed."""
        for v, texts in self._stale.items():
            if len(texts) >= OFTEN:
                self.note(v.finding(texts[0], "the same value", sentence="set-time", cause="outdated"))
        for v, texts in self._changed.items():
            if len(texts) <= USUAL * self._count:
                problem = f"{texts[0]}, when event mode is entered without an announced event"
                self.note(v.finding(problem, "no change", sentence="indicator", cause="unannounced"))


def _different(a: Sequence[Value], b: Sequence[Value]) -> list[int]:
    return [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if not same(x, y)]
