"""Part of D4: tunable parameters have an effect when they are set while the FMU is running."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from ..findings import Finding
from .instance import FmuInstance
from .model import ModelVariable, Value
from .session import Session
from .snapshots import Reader, ValueSnapshot, close
from .stirring import FAILURES, PLAIN, RepeatableRun, Values, assign, change, other_values, repeatable_run

READ = 1e-6
CLEAR = 1e-9  # relative change that is more than rounding
SHARE = 0.7  # of the time budget


def tuning(s: Session) -> Iterator[Finding]:
    """Tunable parameters, one by one: what depends on them alone has the same value whether they were set before
    initialization or later; what they change from the beginning, they also change later."""
    values = other_values([v for v in s.model.of("parameter") if v.variability == "tunable"])
    if not values:
        return
    runs = _Tuning(s, repeatable_run(s, PLAIN))
    left = 0
    for v, value in values.items():
        if s.time_used(SHARE):
            left += 1
            continue
        try:
            yield from runs.findings(v, value)
        except FAILURES:
            continue  # the FMU does not accept this value
        finally:
            s.free_all()
    if left:
        s.not_judged(f"the effect of {left} tunable parameters: the time budget was used up")


class _Tuning:
    """Runs with one parameter changed, before initialization or at the start time, against a plain run."""

    def __init__(self, s: Session, plan: RepeatableRun):
        self.s, self.plan = s, replace(plan, reads=plan.reads | {0})
        self.exchange = s.kind == "ModelExchange"
        self.reader = Reader(s.model.everything)
        self.states = {s.model.by_index[i] for i in s.model.states if i in s.model.by_index}
        self.reported: set[ModelVariable] = set()
        instance = self.plan.prepared(s.new_instance())
        self.x0 = instance.states() if self.exchange and s.model.states else []
        self.start = self.reader.read(instance)
        self.plain = self.plan.run(instance, self.reader)
        if self.exchange:
            self.plain.insert(0, self.start)
        instance.free()

    def findings(self, v: ModelVariable, value: Value) -> Iterator[Finding]:
        """Set before initialization, and set at the start time."""
        at_start, early = self._early({v: value})
        late = self._late({v: value})
        first = next(late)
        yield from self._calculated(early, first, v)
        affected = self._affected(at_start, early)
        if not affected:
            return
        for row, plain in zip(itertools.chain([first], late), self.plain, strict=False):
            if any(x.causality != "parameter" for x, _, _ in plain.differences(row)):
                return
        problem = (
            f"set to {value!r} while running, it has no effect; set before initialization, it changes "
            f'"{affected[0].name}"'
        )
        yield v.finding(problem, "an effect on the equations", "set-tunable")

    def _early(self, values: Values) -> tuple[ValueSnapshot, ValueSnapshot]:
        """The values at the start, and those to be compared: in Model Exchange with the states of the plain run, in
        Co-Simulation after a step."""
        instance = self.s.new_instance()
        assign(instance, values)
        at_start = self.reader.read(instance.enter_run_state())
        self._go(instance)
        row = self.reader.read(instance)
        instance.free()
        return at_start, row

    def _go(self, instance: FmuInstance) -> None:
        if not self.exchange:
            self.plan.step(instance, 0)
        elif self.x0:
            instance.set_time_and_states(instance.t, self.x0)

    def _late(self, values: Values) -> Iterator[ValueSnapshot]:
        instance = self.s.new_instance().enter_run_state()
        change(instance, values)
        self._go(instance)
        yield self.reader.read(instance)
        for k in range(0 if self.exchange else 1, len(self.plan.steps)):
            self.plan.step(instance, k)
            if k in self.plan.reads:
                yield self.reader.read(instance)

    def _calculated(self, early: ValueSnapshot, late: ValueSnapshot, parameter: ModelVariable) -> Iterator[Finding]:
        """What depends on tunable parameters alone."""
        before = self.start.values()
        for v, x, y in early.differences(late):
            if v.variability != "tunable" or v.causality not in ("calculatedParameter", "local") or v in self.reported:
                continue
            if not close(x, y, READ, 1e-6 * v.scale):
                self.reported.add(v)
                problem = (
                    f'it is {y!r} after "{parameter.name}" was set while running, {x!r} if it was set before '
                    f"initialization, {before[v]!r} if it was not set"
                )
                yield v.finding(problem, f"{x!r}", "tunable-computed")

    def _affected(self, at_start: ValueSnapshot, early: ValueSnapshot) -> list[ModelVariable]:
        """The continuous variables that change with a parameter set before initialization, provided that discrete
        variables and, in Co-Simulation, states do not: then they depend on the parameter itself."""
        if not self.exchange and not self.states:
            return []
        for v, x, y in self.start.differences(at_start):
            state = v in self.states and not self.exchange
            kept = v.causality != "parameter" and (v.variability in ("discrete", "fixed") or state)
            if kept and not close(x, y, CLEAR, 1e-6 * v.scale):
                return []
        changed = [v for v, x, y in self.plain[0].differences(early) if not close(x, y, CLEAR, 1e-6 * v.scale)]
        return [v for v in changed if v.variability == "continuous" and v.causality in ("local", "output")]
