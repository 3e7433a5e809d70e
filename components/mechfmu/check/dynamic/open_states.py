"""D9: discrete outputs that change with a state in event mode. States cannot be set there, so each change needs a new
simulation, which ends with it and enters event mode."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from ..findings import Finding
from . import binding
from .model import ModelVariable, Value
from .probes import AMPLITUDES, TRAVEL_ERRORS, Travel, time_of
from .session import Session

POINTS = (0.03, 0.4, 0.9)
SIZE = 1e-3  # change of a state, relative to its magnitude: small, so that no event is crossed
MIN_CHANGE = 1e-7  # relative change of an output
BUDGET = 0.6  # fraction of the rule's time

Report = Callable[[ModelVariable, str, float, float], Finding]
Output = tuple[ModelVariable, frozenset[int], Report]


class OpenStates:
    """The discrete outputs and the states that they do not list."""

    def __init__(self, s: Session, outputs: Sequence[Output]):
        self.s, self.random = s, random.Random(3)
        states = [s.model.by_index[i] for i in s.model.state_positions]
        discrete = [o for o in outputs if o[0].variability == "discrete" and o[0].type != "String"]
        self.groups: dict[frozenset[int], list[Output]] = {}
        for output in discrete:
            group = frozenset(v.index for v in states if v.index not in output[1])
            if group:
                self.groups.setdefault(group, []).append(output)

    def search(self) -> Iterator[Finding]:
        reported: set[int] = set()
        for fraction in POINTS if self.groups else ():
            t = time_of(self.s, fraction)
            try:
                for group, outputs in self.groups.items():
                    left = [o for o in outputs if o[0].index not in reported]
                    if self.s.time_used(BUDGET):
                        self.s.not_judged(f"discrete outputs in event mode from t = {t:.6g} on (time budget)")
                        return
                    for finding, output in self._search(t, sorted(group), left):
                        reported.add(output[0].index)
                        yield finding
            except TRAVEL_ERRORS:
                continue

    def _search(self, t: float, group: list[int], outputs: list[Output]) -> Iterator[tuple[Finding, Output]]:
        if not outputs:
            return
        before, again, after = self._read(t, [], outputs), self._read(t, [], outputs), self._read(t, group, outputs)
        for i, output in enumerate(outputs):
            if before is None or after is None or before != again or not _differ(before[i], after[i]):
                continue
            knowns = group
            while len(knowns) > 1:
                half = knowns[: len(knowns) // 2]
                found = self._read(t, half, [output])
                knowns = half if found and _differ(before[i], found[0]) else knowns[len(knowns) // 2 :]
            found = self._read(t, knowns, [output])
            if found and _differ(before[i], found[0]):
                known = self.s.model.by_index[knowns[0]]
                yield output[2](known, f"event mode, t = {t:.6g}", float(before[i]), float(found[0])), output

    def _read(self, t: float, changed: Sequence[int], outputs: Sequence[Output]) -> list[Value] | None:
        """The outputs in event mode after a simulation with these states changed at its end; None if this would be
        another event."""
        m = self.s.model
        instance = Travel(self.s, AMPLITUDES[1], BUDGET).arrive(t)
        x = instance.states()
        signs = [z > 0 for z in instance.indicators()] if m.indicators else []
        for index in changed:
            i = m.state_positions[index]
            x[i] += SIZE * max(m.by_index[index].scale, abs(x[i])) * self.random.uniform(0.5, 1.0)
        instance.call_checked("fmi2SetContinuousStates", binding.reals(x), len(x))
        crossed = bool(m.indicators) and signs != [z > 0 for z in instance.indicators()]
        if not crossed:
            instance.enter_event_mode()
        values = None if crossed else instance.get([v for v, _, _ in outputs])
        instance.free()
        return values


def _differ(a: Value, b: Value) -> bool:
    a, b = float(a), float(b)
    return abs(a - b) > MIN_CHANGE * max(abs(a), abs(b))
