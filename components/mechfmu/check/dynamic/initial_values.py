"""Part of D4: values set before initialization and in initialization mode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from ..findings import Finding
from .instance import EVENT_MODE, INITIALIZATION, INSTANTIATED, STEP_COMPLETE, FmuInstance, SimulationTerminated
from .model import ModelVariable, Value
from .session import Session
from .snapshots import Reader, ValueSnapshot, close
from .stirring import FAILURES, Values, accepted_parameters, assign, other_values

READ = 1e-9  # relative: rounding, for example of a value that is kept in other units
RESULT = 1e-6  # relative, of what the FMU calculates
SMALL = 1e-6  # of a variable's scale: the size of a value whose relative error is still looked at
EFFECT = 0.1  # of the change of a variable: a larger difference between two ways to make the change is no rounding
SHARE = 0.4  # of the time budget, after which nothing is repeated in another order
AFTER = {"CoSimulation": STEP_COMPLETE, "ModelExchange": EVENT_MODE}  # directly after initialization


class Initialized(NamedTuple):
    """What an instance shows in initialization mode, and directly after it."""

    during: ValueSnapshot
    after: ValueSnapshot


def defined_by_start(s: Session, v: ModelVariable) -> bool:
    """Whether a variable with initial = exact, or an input, has its start value after initialization. In Co-Simulation
    there may have been events at the start time, which change discrete variables."""
    return v.causality in ("parameter", "input") or s.kind == "ModelExchange" or v.variability != "discrete"


def like(found: Value, value: Value) -> Value:
    """The value in the type of the one that was read."""
    return float(value) if isinstance(found, float) and not isinstance(value, str) else value


def equal(v: ModelVariable, found: Value, wanted: Value, tolerance: float = READ) -> bool:
    return close(found, like(found, wanted), tolerance, SMALL * v.scale)


def finish(instance: FmuInstance) -> None:
    """Free an instance, from a state in which other rules free theirs as well."""
    with contextlib.suppress(*FAILURES, SimulationTerminated):
        instance.enter_run_state()
    instance.free()


class InitialValues:
    """The runs up to the end of initialization that are compared."""

    def __init__(self, s: Session):
        self.s = s
        self.reader = Reader(s.model.everything)
        self.initial = Reader([v for v in s.model.initial_readable if v.variability != "constant"])
        self.wrong: set[ModelVariable] = set()

    @cached_property
    def accepted(self) -> Values:
        """Other values of what is initialized with its start value."""
        exact = [v for v in self.s.model.variables if v.initial == "exact" and v.variability != "constant"]
        return accepted_parameters(self.s, exact)

    def initialized(
        self, values: Values, state: str = INSTANTIATED, one_by_one: bool = False, again: bool = False
    ) -> Initialized:
        """Initialize a new instance; the values are set in this state, in initialization mode after reading. `again`:
        after the start values were set."""
        instance = self.s.new_instance().go_to(state)
        if again:
            assign(instance, {v: v.start for v in values if v.start is not None}, overwrite=True)
        if state == INITIALIZATION:
            self.initial.read(instance)
        if values:
            assign(instance, values, one_by_one, overwrite=True)
        during = self.initial.read(instance.go_to(INITIALIZATION))
        after = self.reader.read(instance.go_to(AFTER[self.s.kind]))
        finish(instance)
        return Initialized(during, after)

    @cached_property
    def plain(self) -> Initialized:
        return self.initialized({})

    @cached_property
    def early(self) -> Initialized:
        return self.initialized(self.accepted)

    # --- the parts of D4 ----------------------------------------------------------------------------------------------

    def before(self) -> Iterator[Finding]:
        """Values set before initialization are kept; several at once are like one by one in another order."""
        if not self.accepted:
            return
        yield from self._kept(self.early.after, self.accepted, "before initialization", "set-before")
        if self.s.time_used(SHARE):
            self.s.not_judged("values set in another order: the time budget was used up")
            return
        backward = dict(reversed(self.accepted.items()))
        for one_by_one, how in ((True, "one by one"), (False, "in reversed order, after the start values,")):
            row = self.initialized(backward, INSTANTIATED, one_by_one, again=not one_by_one).after
            yield from self._kept(row, backward, f"{how} before initialization", "set-before")
            for v, x, y in self.early.after.differences(row):
                if not self.wrong and not close(x, y, RESULT, v.scale):
                    problem = f"it is {x!r} if start values are set at once, {y!r} if they are set {how}"
                    yield v.finding(problem, "the same value", "set-values")
        items = list(self.accepted.items())
        for some in (items[::2], [x for i, x in enumerate(items) if i // 2 % 2]):  # exchanged values are noticed
            row = self.initialized(dict(some)).after
            yield from self._kept(row, dict(some), "before initialization", "set-before")

    def during(self) -> Iterator[Finding]:
        """Values set in initialization mode, after reading, are kept and have the effect that they have before it."""
        if self.accepted:
            late = self.initialized(self.accepted, INITIALIZATION)
            yield from self._kept(late.after, self.accepted, "in initialization mode", "set-during")
            if not self.wrong:
                rows = zip(self.plain, self.early, late, strict=True)
                for when, row in zip(("in initialization mode", "after initialization"), rows, strict=True):
                    yield from _same_effect(*row, when)
        inputs = other_values(self.s.model.of("input"))
        if not inputs:
            return
        try:
            found = self.initialized(inputs, INITIALIZATION)
        except FAILURES:
            self.s.not_judged("inputs set in initialization mode: the FMU refuses the values")
            return
        yield from self._kept(found.after, inputs, "in initialization mode", "set-during")

    def _kept(self, row: ValueSnapshot, values: Values, when: str, sentence: str) -> Iterator[Finding]:
        """Values that were set are there, and the other ones did not change."""
        found, before = row.values(), self.plain.after.values()
        for v, value in values.items():
            if v not in self.wrong and defined_by_start(self.s, v) and not equal(v, found[v], value):
                self.wrong.add(v)
                yield v.finding(f"set to {value!r} {when}, it is {found[v]!r}", "the value that was set", sentence)
        aliases = {(v.type, v.reference) for v in values}
        for v, x in found.items():
            if v.initial != "exact" or (v.type, v.reference) in aliases or v in self.wrong:
                continue
            if defined_by_start(self.s, v) and not equal(v, x, before[v]):
                self.wrong.add(v)
                problem = f"it changes from {before[v]!r} to {x!r} when other variables are set {when}"
                yield v.finding(problem, "no change: it was not set", sentence)


def _same_effect(plain: ValueSnapshot, early: ValueSnapshot, late: ValueSnapshot, when: str) -> Iterator[Finding]:
    """What was set before initialization and in initialization mode has the same effect."""
    base = plain.values()
    for v, x, y in early.differences(late):
        if close(x, y, RESULT, v.scale):
            continue
        if isinstance(x, float) and isinstance(y, float):
            before = float(base[v])
            if abs(x - y) <= EFFECT * max(abs(x - before), abs(y - before)):
                continue  # an equation solved iteratively, from another guess
        problem = f"{when} it is {x!r} if start values are set before, {y!r} if they are set in initialization mode"
        yield v.finding(problem, "the same effect", "set-values")
