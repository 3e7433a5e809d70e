"""D4 and D8: getting and setting values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial

from ..findings import Finding, rule
from .calculated import calculated_parameters
from .initial_values import AFTER, RESULT, InitialValues, defined_by_start, equal, finish
from .instance import INITIALIZATION
from .invariants import invariants
from .model import ModelVariable, Value
from .session import Session
from .snapshots import Reader, close
from .special_values import empty_strings, large_integers, many_at_once
from .stirring import RepeatableRun, Values, assign, grid_steps, run_parts
from .tuning import tuning

STEPS = 5
LARGEST_SINGLE = 3.4e38
DECIMALS = 1e-6  # relative: start values in the XML may be printed with few digits


@rule("D4", "getting and setting values", "2.1.7, 2.2.7")
def setting_values(s: Session) -> Iterator[Finding]:
    """Variables of each type keep what is set before initialization, in initialization mode and while running, also
    strings whose memory is reused, empty strings and large integers; several at once are like one by one, in any order,
    for reading too; what depends on them follows, calculated parameters too; aliases are equal; fixed variables and
    constants do not change, discrete ones of Model Exchange only at events."""
    initial = InitialValues(s)
    parts: dict[str, Callable[[], Iterator[Finding]]] = {
        "values set before initialization": initial.before,
        "values set in initialization mode": initial.during,
        "many values at once": partial(many_at_once, s),
        "calculated parameters": partial(calculated_parameters, s, initial),
        "empty strings": partial(empty_strings, s, initial),
        "large integers": partial(large_integers, s),
        "values in a run": partial(invariants, s, initial.wrong),
        "the order of reading": partial(_reading, s),
        "inputs and what depends on them": partial(_caching, s),
        "tunable parameters": partial(tuning, s),
    }
    yield from run_parts(s, parts, lambda error: False)


def _reading(s: Session) -> Iterator[Finding]:
    """Values are read in the order of the references: reversed, repeated, one by one, several at once."""
    instance = s.new_instance().enter_run_state()
    for h in grid_steps(s)[:STEPS]:
        RepeatableRun((h,)).step(instance, 0)
    variables = s.model.variables
    expected = Reader(variables).read(instance)
    values = expected.values()
    twice = [v for v in variables for _ in range(2)]
    ascending = sorted({(v.type, v.reference): v for v in variables}.values(), key=lambda v: v.reference)
    orders = {
        "in reversed order": variables[::-1],
        "in ascending order of their references": ascending,
        "in descending order of their references": ascending[::-1],
        "twice in one call": twice,
        "one by one": None,
    }
    wrong: set[ModelVariable] = set()
    for how, order in orders.items():
        if order is None:
            rows = [pair for v in variables for pair in zip([v], instance.get([v]), strict=True)]
        else:
            reader = Reader(order)
            rows = list(reader.unpack(reader.read(instance).parts))
        for v, x in rows:
            if not close(values[v], x, 0.0, 0.0) and v not in wrong:
                wrong.add(v)
                problem = f"it is {values[v]!r} if all variables are read at once, {x!r} if they are read {how}"
                yield v.finding(problem, "the same value", "get-actual")
    instance.free()
    known: dict[tuple[str, int], ModelVariable] = {}
    for v in variables:
        other = known.setdefault((v.type, v.reference), v)
        if not close(values[other], values[v], 0.0, 0.0) and v not in wrong:
            problem = f'it is {values[v]!r}, its alias "{other.name}" is {values[other]!r}'
            yield v.finding(problem, "the same value", "same-handle-same-value")


def _caching(s: Session) -> Iterator[Finding]:
    """Model Exchange: what was calculated for other inputs is calculated anew when the inputs change."""
    first, second = s.excitation(0.05), s.excitation(-0.08)
    if s.kind != "ModelExchange" or first is None or second is None:
        return
    reader, t = Reader(s.model.everything), s.model.start_time
    values = [{v: x for v, x in e(t).items() if not v.set_once} for e in (first, second)]
    rows = []
    for sequence in (values, values[1:]):
        instance = s.new_instance().enter_run_state()
        for inputs in sequence:
            assign(instance, inputs)
            row = reader.read(instance)
            if s.model.states:
                instance.derivatives()
        rows.append(row)
        instance.free()
    for v, x, y in rows[1].differences(rows[0]):
        if not close(x, y, RESULT, v.scale):
            problem = f"it is {x!r} for certain inputs, but {y!r} if it was read for other inputs before"
            yield v.finding(problem, "the value for the present inputs", "set-values")


# --- D8 ---------------------------------------------------------------------------------------------------------------


@rule("D8", "start values of XML and binary", "2.2.7")
def start_values(s: Session) -> Iterator[Finding]:
    """The binary has the start values of modelDescription.xml: directly after initialization, parameters, constants,
    inputs that were not set and all variables with initial = exact have these values; to set them explicitly changes
    nothing."""
    parts = {"start values": partial(_started, s), "start values set explicitly": partial(_explicit, s)}
    yield from run_parts(s, parts, lambda error: False)


def _started(s: Session) -> Iterator[Finding]:
    """One call for each variable: whether several can be read at once is checked by D4."""
    started = [v for v in s.model.variables if v.start is not None and v.initial not in ("approx", "calculated")]
    instance = s.new_instance().go_to(INITIALIZATION)
    outputs = [v for v in started if v.causality == "output" and not defined_by_start(s, v)]
    found = {v: instance.get([v])[0] for v in outputs}
    instance.go_to(AFTER[s.kind])
    found |= {v: instance.get([v])[0] for v in started if defined_by_start(s, v)}
    finish(instance)
    for v, value in found.items():
        if v.start is not None and (not equal(v, value, v.start, DECIMALS) or _single_precision(value, v.start)):
            sentence = "start-input" if v.causality == "input" else "start-exact"
            sentence = "constant-start" if v.variability == "constant" else sentence
            yield v.finding(f"it is {value!r} in the binary", f"{v.start!r}, its start value in the XML", sentence)


def _single_precision(value: Value, start: Value) -> bool:
    """Whether a value is the start value, rounded to single precision by the binary."""
    if not isinstance(value, float) or isinstance(start, str) or value == start or abs(start) > LARGEST_SINGLE:
        return False
    return bool(value == struct.unpack("f", struct.pack("f", start))[0])


def _explicit(s: Session) -> Iterator[Finding]:
    """A run in which all start values are set before initialization, against one in which none is."""
    wanted = [v for v in s.model.variables if v.variability != "constant" and v.start is not None]
    values: Values = {v: v.start for v in wanted if v.initial in ("exact", "approx") and v.start is not None}
    if not values:
        return
    reader, steps = Reader(s.model.everything), grid_steps(s)[:STEPS]
    rows = []
    for given in ({}, values):
        plan = RepeatableRun(steps, parameters=given)
        instance = plan.prepared(s.new_instance())
        row = [reader.read(instance)]
        plan.run(instance)
        rows.append([*row, reader.read(instance)])
        instance.free()
    listed = set(values)
    seen: set[ModelVariable] = set()
    for ours, theirs in zip(*rows, strict=True):
        for v, x, y in ours.differences(theirs):
            if v in listed or v in seen or close(x, y, 1e-4, v.scale):
                continue
            seen.add(v)
            problem = f"at t = {ours.t:g} it is {x!r}, but {y!r} if all start values of the XML are set explicitly"
            yield v.finding(problem, "the same: the binary has these start values", "start-stored")
