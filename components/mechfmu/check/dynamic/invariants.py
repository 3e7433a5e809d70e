"""Part of D4: what must hold for values throughout a run."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from ..findings import Finding
from .instance import FmuInstance
from .model import ModelVariable, Value
from .session import Session
from .snapshots import Reader, ValueSnapshot, close
from .stirring import Values, repeatable_run

READ = 1e-9  # relative: rounding


def invariants(s: Session, reported: Set[ModelVariable]) -> Iterator[Finding]:
    """A stirred run: parameters and inputs keep what is set, fixed variables and constants do not change, tunable ones
    only when a parameter is set, discrete ones of Model Exchange only at events; Boolean values are 0 or 1, strings are
    UTF-8. Variables that are reported already are left out."""
    plan = replace(repeatable_run(s), overwrite=True)
    watch = _Watch(s, plan.prepared(s.new_instance()), plan.parameters, reported)
    for k in range(len(plan.steps)):
        change, inputs = plan.changes.get(k, {}), plan.inputs(watch.instance, k)
        watch.expected |= {**change, **inputs}
        watch.tuned = watch.tuned or bool(change)
        plan.step(watch.instance, k, watch.on_event if s.kind == "ModelExchange" else None)
        if s.kind == "ModelExchange":
            watch.compare_discrete()
        if k in plan.reads:
            watch.check()
    watch.instance.free()
    yield from watch.findings


class _Watch:
    """The values that are expected in a run, and what was found instead."""

    def __init__(self, s: Session, instance: FmuInstance, parameters: Values, reported: Set[ModelVariable]):
        self.s, self.instance = s, instance
        self.reader = Reader(s.model.variables)
        self.findings: list[Finding] = []
        self.reported = set(reported)
        row = self.reader.read(instance)
        first = row.values()
        self.expected: Values = {}  # parameters, inputs, constants, and what is fixed
        for v in s.model.variables:
            if v.variability in ("constant", "fixed") or v.causality in ("parameter", "input"):
                self.expected[v] = first[v]
        self.expected |= parameters
        self.tunable = {v: first[v] for v in s.model.of("calculatedParameter", "local") if v.variability == "tunable"}
        self.tuned = False  # a parameter was set since the last look
        discrete = [v for v in s.model.everything if v.variability == "discrete"]
        self.discrete = Reader(discrete) if discrete and s.kind == "ModelExchange" else None
        self.since_event = self._discrete()
        self._wellformed(row)
        self._compare(first)

    def _discrete(self) -> ValueSnapshot | None:
        return self.discrete.read(self.instance) if self.discrete else None

    def on_event(self, when: str) -> None:
        if when == "before":
            self.compare_discrete()
        else:
            self.since_event = self._discrete()

    def compare_discrete(self) -> None:
        """Between events, discrete variables do not change."""
        if self.since_event is None or (row := self._discrete()) is None:
            return
        for v, x, y in self.since_event.differences(row):
            problem = f"it changes from {x!r} to {y!r} in continuous-time mode (t = {self.instance.t:g})"
            self._report(v, problem, "no change between events", "discrete-me")

    def check(self) -> None:
        row = self.reader.read(self.instance)
        self._wellformed(row)
        values = row.values()
        self._compare(values)
        for v, before in self.tunable.items():
            if not self.tuned and not close(before, values[v], READ, 1e-6 * v.scale):
                problem = f"it changes from {before!r} to {values[v]!r} although no parameter was set"
                self._report(v, problem, "no change", "tunable")
            self.tunable[v] = values[v]
        self.tuned = False

    def _compare(self, values: dict[ModelVariable, Value]) -> None:
        for v, wanted in self.expected.items():
            found = values[v]
            wanted = float(wanted) if isinstance(found, float) and not isinstance(wanted, str) else wanted
            if not close(found, wanted, READ, 1e-6 * v.scale):
                self._report(v, *self._reason(v, wanted, found))

    def _reason(self, v: ModelVariable, wanted: Value, found: Value) -> tuple[str, str, str]:
        at = f"at t = {self.instance.t:g}"
        if v.causality == "input" or (v.causality == "parameter" and v.variability == "tunable"):
            sentence = "set-tunable" if v.causality == "parameter" else "set-values"
            return f"{at} it is {found!r}, although {wanted!r} was set last", "the value that was set", sentence
        sentence = "constant" if v.variability == "constant" else "fixed"
        return f"{at} it is {found!r}, before it was {wanted!r}", f"no change: it is {v.variability}", sentence

    def _wellformed(self, row: ValueSnapshot) -> None:
        for v, value in row.values().items():
            if v.type == "Boolean" and not isinstance(value, bool):
                self._report(v, f"its value is {value!r}", "0 or 1", "boolean-values")
        for part in row.parts:
            if isinstance(part, tuple) and None in part:
                strings = [v for v in self.reader.variables if v.type == "String"]
                for v, text in zip(strings, part, strict=True):
                    if text is None:
                        self._report(v, "fmi2GetString returns a NULL pointer for it", "a string", "string-type")

    def _report(self, v: ModelVariable, problem: str, expected: str, sentence: str) -> None:
        if v not in self.reported:
            self.reported.add(v)
            self.findings.append(v.finding(problem, expected, sentence))
