"""Part of D14: the vectors of Model Exchange against the variables, and whether values depend on time, states and
inputs alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..findings import Finding
from .event_observers import NEGLIGIBLE, Observer, discrete_variables
from .instance import CallFailed, same

JUMP, JUMP_BISECTIONS = 1e-2, 40  # relative size of a jump; halvings of an interval to tell it from a slope
TURNS = (2 * math.pi, 360.0)  # an angle may jump by a full turn
READ = 1e-9  # relative: rounding
PATH = 1e-6  # relative: an equation that is solved by iteration has this tolerance
STALE = 0.1  # of the effect of a change that is seen in another way
SEPARATE_EVERY = 10  # times of the grid at which states and time are changed one without the other
SMALL = 1e-3  # relative change of states and inputs
INPUTS = 10  # of an FMU that are changed one by one


class ConsistencyObserver(Observer):
    """Vectors against variables, and whether values depend on the calls before. `intervals`: those of the grid."""

    intervals = 100

    def start(self) -> None:
        by_index = self.s.model.by_index
        self._states = [by_index[i] for i in self.s.model.states if i in by_index]
        self._rates = [by_index[d.index] for d in self.s.model.derivatives if d.index in by_index]
        self._signals = self.s.model.signals
        n, nz = len(self.s.model.states), self.s.model.indicators
        rates = [v.scale for v in self._rates] if len(self._rates) == n else [1.0] * n
        self._floors = [NEGLIGIBLE * x for x in (*rates, *[1.0] * nz, *(v.scale for v in self._signals))]
        self._discrete = discrete_variables(self.s)
        self._held = self.instance.get(self._discrete)
        self._looks = 0
        self._compare_order()

    def on_event(self, when: str) -> None:
        if when == "before":
            self._compare_held()
        elif when == "after":
            self._held = self.instance.get(self._discrete)
            self._compare_order()
            self._there_and_back()

    def at(self, t: float) -> None:
        independent = self.s.model.independent
        if independent is not None and abs(self.instance.numbers([independent])[0] - t) > READ * max(1.0, abs(t)):
            problem = f"it is not {t:g} after fmi2SetTime"
            self.note(independent.finding(problem, "the time that was set", sentence="independent-value"))
        self._compare_order()
        self._compare_held()
        self._repeat()
        if self._looks % SEPARATE_EVERY == 0:
            self._separately()
            self._inputs_alone()
        self._looks += 1
        self._look_ahead()

    def _compare_held(self) -> None:
        for v, held, now in zip(self._discrete, self._held, self.instance.get(self._discrete), strict=True):
            if not same(held, now):
                problem = f"it changes from {held!r} to {now!r} by t = {self.instance.t:g}, without an event"
                self.note(v.finding(problem, "no change between events", sentence="discrete-me"))

    def _compare_order(self) -> None:
        pairs = (
            ("fmi2GetContinuousStates", self.instance.states, self._states, "state-vector"),
            ("fmi2GetDerivatives", self.instance.derivatives, self._rates, "derivative-order"),
        )
        for name, vector, variables, sentence in pairs:
            values, again = vector(), vector()
            scale = 0.0 if sentence == "state-vector" else 1.0  # derivatives are calculated anew
            if changed := [i for i, (x, y) in enumerate(zip(values, again, strict=True)) if _differ(x, y, scale)]:
                i = changed[0]
                problem = f"element {i + 1} is {values[i]:.12g}, and {again[i]:.12g} when it is read again"
                self.note(Finding(name, problem, "the same value", sentence="get-actual"))
                continue
            if len(variables) != len(values):
                continue  # found by S10
            wanted = self.instance.numbers(variables)
            if any(_differ(x, y, scale) for x, y in zip(sorted(values), sorted(wanted), strict=True)):
                sentence = "derivatives-current" if sentence == "derivative-order" else sentence  # not another order
            for i, (v, x, y) in enumerate(zip(variables, values, wanted, strict=True)):
                if _differ(x, y, scale):
                    problem = f"element {i + 1} of {name} is {x:.12g}, the variable {y:.12g}"
                    self.note(v.finding(problem, "the same value", sentence=sentence))

    def states_can_be_set(self) -> None:
        """Set other states, and compare the vectors with the variables; then as before."""
        x = self.instance.states()
        if x:
            moved = self._nearby()[1]
            self.instance.set_states(moved)
            if not all(map(same, self.instance.states(), moved)):
                problem, expected = "it does not return the states that were set", "the same values"
                self.note(Finding("fmi2GetContinuousStates", problem, expected, sentence="set-states"))
            self._compare_order()
            self.instance.set_states(x)

    # --- jumps ----------------------------------------------------------------------------------------------------

    def _look_ahead(self) -> None:
        """Jumps of derivatives and outputs on the way to the next time of the grid, as a solver's trial steps see it.
        One that neither an event indicator nor a time event announces is an event that importers miss."""
        instance, h = self.instance, (self.s.model.stop_time - self.s.model.start_time) / self.intervals
        t, x, dx = instance.t, instance.states(), instance.derivatives()
        if instance.next_event is not None:
            h = min(h, 0.999 * (instance.next_event - t))
        if h <= 0 or not all(map(math.isfinite, dx)):
            return

        def at(s: float) -> tuple[list[float], list[bool]]:
            instance.set_time_and_states(t + s * h, [xi + s * h * di for xi, di in zip(x, dx, strict=True)])
            return [*instance.derivatives(), *instance.numbers(self._signals)], [z > 0 for z in instance.indicators()]

        try:
            self._find_jump(at, t, h)
        except CallFailed as error:
            if not error.discarded:  # as an FMU may do with states that no solution reaches
                raise
        finally:
            instance.set_time_and_states(t, x)

    def _find_jump(self, at: Callable[[float], tuple[list[float], list[bool]]], t: float, h: float) -> None:
        (low, domains), (high, other) = at(0.0), at(1.0)
        if domains != other:
            return  # an announced event lies ahead
        gaps = [abs(a - b) for a, b in zip(low, high, strict=True)]
        sizes = [max(abs(a), abs(b), 1e-6) for a, b in zip(low, high, strict=True)]
        suspects = [i for i, (gap, size) in enumerate(zip(gaps, sizes, strict=True)) if gap > JUMP * size]
        if not suspects:
            return
        i = max(suspects, key=lambda i: gaps[i] / sizes[i])
        a, b, left, right = 0.0, 1.0, low[i], high[i]
        for _ in range(JUMP_BISECTIONS):
            middle = 0.5 * (a + b)
            values, now = at(middle)
            if now != domains:
                return
            if abs(values[i] - left) > abs(right - values[i]):
                b, right = middle, values[i]
            else:
                a, left = middle, values[i]
            if abs(right - left) < 0.5 * JUMP * sizes[i]:
                return  # continuous
        self._note_jump(i, left, right, t + a * h)

    def _note_jump(self, i: int, left: float, right: float, t: float) -> None:
        """A derivative that jumps is an error. An output may belong to nothing that anybody integrates: a warning; and
        an angle may begin a new turn."""
        n = len(self.s.model.states)
        state = i < n or self._signals[i - n] in self._rates
        if not state and any(abs(abs(right - left) - turn) < 1e-3 * turn for turn in TURNS):
            return
        where = f"derivative {i + 1}" if i < n else self._signals[i - n].where
        problem = f"it jumps from {left:.6g} to {right:.6g} at t = {t:.6g}, and no event indicator changes its sign"
        self.note(Finding(where, problem, "an event", sentence="continuous-functions" if state else "", cause="jump"))

    # --- the calls before -------------------------------------------------------------------------------------------

    def _values(self) -> list[float]:
        reals = self.instance.numbers(self._signals)
        return [*self.instance.derivatives(), *self.instance.indicators(), *reals]

    def _repeat(self) -> None:
        """Reading twice gives the same values, and so does setting the same time and states again."""
        first = self._values()
        self._expect(first, self._values(), "it differs when it is read twice", "get-actual", READ)
        self.instance.set_time_and_states(self.instance.t, self.instance.states())
        problem = "it differs after the same time and states were set again"
        self._expect(first, self._values(), problem, "set-states", PATH)

    def _nearby(self) -> tuple[float, list[float]]:
        """A slightly later time, before the next event, and slightly different states."""
        instance, h = self.instance, 1e-3 * self.s.model.step_size
        t = instance.t
        later = t + h if instance.next_event is None else min(t + h, 0.5 * (t + instance.next_event))
        return later, [xi + SMALL * (abs(xi) or 1.0) for xi in instance.states()]

    def _there_and_back(self) -> None:
        """Forward in time with other states and back again, as a solver does within a step that it rejects."""
        instance, t, x = self.instance, self.instance.t, self.instance.states()
        later, moved = self._nearby()
        first = self._values()
        instance.set_time_and_states(later, moved)
        if not all(map(same, instance.states(), moved)):
            problem, expected = "it does not return the states that were set", "the same values"
            self.note(Finding("fmi2GetContinuousStates", problem, expected, sentence="set-states"))
        self._values()
        instance.set_time_and_states(t, x)
        problem = "it differs after time and states were changed and set back"
        self._expect(first, self._values(), problem, "set-time", PATH)

    def _separately(self) -> None:
        """States that change without the time, and the time without the states."""
        instance, t, x = self.instance, self.instance.t, self.instance.states()
        later, moved = self._nearby()
        first = self._values()
        if x:
            instance.set_states(moved)
            alone = self._values()
            self._compare_order()
            instance.set_time_and_states(later, x)
            self._values()
            instance.set_time_and_states(t, moved)
            self._expect_effect(first, self._values(), alone, "only the states were set", "set-states")
        instance.set_time_and_states(t, x)
        self._values()
        instance.set_time(later)
        alone = self._values()
        instance.set_time_and_states(t, moved)
        self._values()
        instance.set_time_and_states(later, x)
        self._expect_effect(first, self._values(), alone, "only the time was set", "set-time")
        instance.set_time_and_states(t, x)

    def _inputs_alone(self) -> None:
        """Inputs that change without time and states."""
        instance, t, x = self.instance, self.instance.t, self.instance.states()
        later, moved = self._nearby()
        inputs = [v for v in self.s.model.of("input") if v.variability == "continuous" and instance.settable(v)]
        for v in inputs[:INPUTS]:
            before, other = instance.numbers([v])[0], v.other_value(SMALL)
            if other is None:
                continue
            first = self._values()
            instance.set({v: other})
            alone = self._values()
            instance.set_time_and_states(later, moved)
            self._values()
            instance.set_time_and_states(t, x)
            self._expect_effect(first, self._values(), alone, f"only {v.name} was set", "set-values")
            instance.set({v: before})

    def _expect_effect(
        self, first: Sequence[float], both: Sequence[float], alone: Sequence[float], what: str, sentence: str
    ) -> None:
        """The effect of a change is the same whether time and states were set, or the one that changes alone."""
        for i, (a, b, c, floor) in enumerate(zip(first, both, alone, self._floors, strict=True)):
            if abs(b - c) > max(STALE * abs(b - a), PATH * max(abs(b), abs(c)), floor):
                text = f"if {what} it is {c:.9g}, after other calls {b:.9g} (t = {self.instance.t:g})"
                self.note(Finding(self._where(i), text, "the same value", sentence=sentence, cause=what))
                return

    def _where(self, i: int) -> str:
        n, nz = len(self.s.model.states), self.s.model.indicators
        if i < n:
            return f"derivative {i + 1}"
        return f"event indicator {i - n + 1}" if i < n + nz else self._signals[i - n - nz].where

    def _expect(
        self, before: Sequence[float], after: Sequence[float], problem: str, sentence: str, tolerance: float
    ) -> None:
        for i, (a, b, floor) in enumerate(zip(before, after, self._floors, strict=True)):
            if same(a, b) or abs(a - b) <= max(tolerance * max(abs(a), abs(b)), floor):
                continue
            text = f"{problem} (t = {self.instance.t:g}: {a:.9g}, then {b:.9g})"
            self.note(Finding(self._where(i), text, "the same value", sentence=sentence, cause=problem))
            return


def _differ(x: float, y: float, scale: float = 0.0) -> bool:
    return not same(x, y) and abs(x - y) > max(READ * max(abs(x), abs(y)), NEGLIGIBLE * scale)
