"""D14: events, states and time of Model Exchange."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from ctypes import byref, c_double, c_int

from ..findings import Finding, Plot, rule
from .binding import ERROR, FATAL
from .compare import worst_difference
from .event_consistency import ConsistencyObserver
from .event_observers import EventObserver, ExternalEvents, Observer
from .instance import EVENT_MODE, CallFailed, EndlessEventIteration, FmuInstance, NotJudged, SimulationTerminated, same
from .integration import ExchangeRun, grid
from .loading import endless_iteration
from .model import ModelVariable
from .session import Session

GRID = 100  # intervals of the experiment
BUDGET = 0.7  # of the rule's time
RUN_SECONDS = 5.0  # of processor time for one run
OFF_GRID = 0.381966  # of an interval: events have their reasons at round times
INTEGRATION = ("fmi2GetDerivatives", "fmi2GetEventIndicators", "fmi2CompletedIntegratorStep")
NEAR = 1e-4  # of an interval: too near to an event
COMPLETED_STEPS, EVALUATION_STEP = 20, 1e-6  # steps; of the experiment's length
GUARD = 3  # elements past the end of an array, which the FMU must not touch
MARK = -1.2345678901234567e299  # value of an element that was not written
RESTARTS = 2e-3  # the same, where the solver starts anew without an event: the model amplifies small errors
EXTERNAL_EVENTS = 2e-2  # of a signal's range, mean over time: allowed effect of events that have no reason


@rule("D14", "events, states and time of Model Exchange", "3.2.1, 3.2.2", kinds=("ModelExchange",))
def exchange_events(s: Session) -> Iterator[Finding]:
    """Arrays have the declared sizes and the order of ModelStructure; nominal values are positive; values depend on
    time, states and inputs alone, not on the calls before; flags of fmi2NewDiscreteStates are true exactly when values
    have changed; the next event lies ahead; event indicators are finite and not 0 when the integration restarts; the
    event iteration ends; the FMU says why it ends the simulation; events that nobody announced change nothing."""
    for name, part in EventParts(s).by_name.items():
        if s.attempt(name):
            try:
                yield from part()
            except EndlessEventIteration:
                yield endless_iteration(s.kind)
                return
            except SimulationTerminated:
                s.not_judged(f"{name}: the FMU ended the simulation early")
            except NotJudged as reason:
                s.not_judged(f"{name}: {reason}")
            except CallFailed as error:
                reported = error.function in INTEGRATION and error.status in (ERROR, FATAL)  # by D13
                if reported or error.discarded:
                    s.not_judged(f"{name}: {error}")
                else:
                    yield Finding(error.function, str(error), "fmi2OK", sentence=error.sentence)
            s.free_all()


class EventParts:
    """The parts of the rule. The simulation of the first one is compared with that of the last one."""

    def __init__(self, s: Session):
        self.s = s
        self.times = grid(s.model.start_time, s.model.stop_time, GRID)
        self.plain: list[list[float]] = []
        self.hopeless = ""  # why a simulation would show nothing
        self.by_name: dict[str, Callable[[], Iterator[Finding]]] = {
            "arrays": self.arrays,
            "states": self.states,
            "fmi2CompletedIntegratorStep": self.completed_step,
            "flags": self.flags,
            "consistency": self.consistency,
            "unannounced events": self.unannounced,
        }

    def _started(self, observer: Observer) -> FmuInstance:
        """An instance at the start of a simulation, with an observer."""
        if self.hopeless:
            raise NotJudged(self.hopeless)
        self.s.log.clear()
        instance = self.s.new_instance().go_to(EVENT_MODE)
        observer.attach(instance)
        instance.enter_run_state()
        observer.start()
        return instance

    def _run(self, instance: FmuInstance, observer: Observer) -> ExchangeRun:
        return ExchangeRun(instance, on_event=observer.on_event, out_of_time=self.s.limit(BUDGET, RUN_SECONDS))

    def arrays(self) -> Iterator[Finding]:
        """Every element is written, and nothing past the end."""
        instance = self.s.new_instance().enter_run_state()
        n = len(self.s.model.states)
        sizes = {
            "fmi2GetContinuousStates": (n, "state-vector"),
            "fmi2GetDerivatives": (n, "derivatives-vector"),
            "fmi2GetNominalsOfContinuousStates": (n, "nominals"),
            "fmi2GetEventIndicators": (self.s.model.indicators, "indicators-vector"),
        }
        for name, (size, sentence) in sizes.items():
            values = (c_double * (size + GUARD))(*[MARK] * (size + GUARD))
            instance.call_checked(name, values, size)
            written = [i for i, x in enumerate(values) if x != MARK]
            if missing := sorted(set(range(size)) - set(written)):
                problem = f"it does not write element {missing[0] + 1} of {size}"
                yield Finding(name, problem, f"{size} values", sentence=sentence)
            if any(i >= size for i in written):
                problem = f"it writes past the end of the {size} elements"
                yield Finding(name, problem, f"{size} values", sentence=sentence)
        for i, x in enumerate(instance.nominals()):
            if not x > 0 or not math.isfinite(x):
                problem, expected = f"element {i + 1} is {x:g}", "greater than 0"
                yield Finding("fmi2GetNominalsOfContinuousStates", problem, expected, sentence="nominal-positive")

    def states(self) -> Iterator[Finding]:
        """The vectors have the order of ModelStructure, and states can be set. Otherwise there is no simulation."""
        observer = ConsistencyObserver(self.s)
        self._started(observer)
        observer.states_can_be_set()
        if observer.findings:
            self.hopeless = "the vectors of states and derivatives are wrong"
        yield from observer.findings

    def flags(self) -> Iterator[Finding]:
        """What fmi2NewDiscreteStates says, in the default experiment."""
        observer = EventObserver(self.s)
        try:
            self._run(self._started(observer), observer).run(self.times, observer.at)
            self.plain = observer.rows
        finally:
            yield from observer.findings

    def consistency(self) -> Iterator[Finding]:
        """Whether values depend on time, states and inputs alone."""
        observer = ConsistencyObserver(self.s)
        try:
            self._run(self._started(observer), observer).run(self.times, observer.at)
        finally:
            yield from observer.findings

    def unannounced(self) -> Iterator[Finding]:
        """The importer may enter event mode at any time. If that changes the result, the FMU has changed something that
        neither an event indicator nor a time event announced."""
        if not self.plain:
            return
        observer = self._interrupted(events=True)
        observer.judge()
        yield from observer.findings
        yield from self._compare(observer.rows)

    def _interrupted(self, events: bool) -> ExternalEvents:
        """A simulation in which the solver starts anew between the times, with or without an event there."""
        observer = ExternalEvents(self.s)
        instance = self._started(observer)
        run, h = self._run(instance, observer), self.times[1] - self.times[0]
        for t in self.times:
            run.run([t], observer.at)
            between = t + OFF_GRID * h
            if t < self.times[-1]:
                run.run([between], lambda t: None)
                if events and (instance.next_event is None or instance.next_event > between + NEAR * h):
                    observer.enter_event_mode()
        return observer

    def _compare(self, rows: list[list[float]]) -> Iterator[Finding]:
        """The signals with and without events that have no reason."""
        signals = self.s.model.signals
        worst = worst_difference(self.plain, rows, mean=True) if signals else None
        if worst is None or worst.relative <= EXTERNAL_EVENTS:
            return
        restarted = worst_difference(self.plain, self._interrupted(events=False).rows, mean=True)
        if restarted is not None and restarted.relative > RESTARTS:
            raise NotJudged(f"{signals[restarted.column].name} depends on where the solver starts anew")
        v = signals[worst.column]
        runs = {"events as announced": self.plain, "event mode at other times too": rows}
        lines = {label: tuple(r[worst.column] for r in run) for label, run in runs.items()}
        change = f"it differs by {worst.relative:.0%} of its range"
        problem = f"{change} when event mode is entered without an announced event"
        yield v.finding(problem, "the same result", sentence="indicator", plot=Plot(v.name, tuple(self.times), lines))

    # --- fmi2CompletedIntegratorStep ------------------------------------------------------------------------------

    def completed_step(self) -> Iterator[Finding]:
        """It reports a step and changes nothing: what is to change does so in event mode, for which it can ask."""
        s, where = self.s, "fmi2CompletedIntegratorStep"
        sentence = "discrete-me" if self._needed else "completed-not-needed"
        variables = self._unchanged
        instance = s.new_instance().enter_run_state()
        h = EVALUATION_STEP * (s.model.stop_time - s.model.start_time)
        idle = 0  # steps after which an event was asked for that changed nothing
        for _ in range(COMPLETED_STEPS):
            instance.set_time_and_states(instance.t + h, instance.states())
            before, event, end = instance.get(variables), c_int(0), c_int(0)
            instance.call_checked(where, 1, byref(event), byref(end))
            for name, value in (("enterEventMode", event.value), ("terminateSimulation", end.value)):
                if value not in (0, 1):
                    yield Finding(where, f"{name} is {value}", "0 or 1", sentence="boolean-values")
                    self.hopeless = "every step of a solver would be an event" if event.value not in (0, 1) else ""
                    return
            for v, a, b in zip(variables, before, instance.get(variables), strict=True):
                if not same(a, b):
                    problem = f"{where} changes it from {a!r} to {b!r}"
                    wanted = "no change outside of event mode"
                    yield v.finding(problem, wanted, sentence=sentence, cause="completed step")
                    return
            if end.value:
                raise SimulationTerminated
            if event.value:
                instance.event()
                idle += all(map(same, before, instance.get(variables)))
        if self._needed and idle == COMPLETED_STEPS:
            self.hopeless = "every step of a solver would be an event"
            problem = f"it asks for event mode after each of {idle} steps, and nothing changes there"
            yield Finding(where, problem, "events that have a reason, as they restart the integration")

    @property
    def _needed(self) -> bool:
        return not self.s.model.flag("ModelExchange", "completedIntegratorStepNotNeeded")

    @property
    def _unchanged(self) -> list[ModelVariable]:
        """What a completed step does not change: states and discrete variables, or everything if it has no effect."""
        m, states = self.s.model, set(self.s.model.states)
        discrete = [v for v in m.everything if v.variability == "discrete" and v.causality != "input"]
        return [v for v in m.everything if not self._needed or v.index in states or v in discrete]
