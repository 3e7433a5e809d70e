"""D9: the dependencies declared in ModelStructure, checked by varying the knowns where reading is legal."""

from __future__ import annotations

import importlib
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..findings import Finding, rule
from .factors import FactorCheck
from .instance import CONTINUOUS_TIME, CallFailed
from .model import Model, ModelVariable, UnknownDependencies, Value
from .open_states import OpenStates
from .probes import AMPLITUDES, Bench, changes, initial_bench, initial_knowns, journey, leave_initialization, stirred
from .session import Session

FEW_POINTS = (0.0, 0.03, 0.09, 0.17, 0.26, 0.34, 0.43, 0.51, 0.6, 0.68, 0.77, 0.86, 0.985)
MANY_POINTS = 60
MANY_SECONDS = 2.0  # of processor time for many points; fewer, if this is not enough
FEW_KNOWNS = 60  # up to here each known is varied alone, else groups of them
MANY_KNOWNS, MANY_UNKNOWNS = 1000, 10_000  # from here on, there are fewer points
FEW_LISTS, LONG_LIST = 10, 32  # for few or long lists, all knowns but the listed ones make a group
MISSED = 0.02  # probability that the random groups of one point miss an undeclared pair; there are many points
MISSED_OF_MANY = 0.1
MAX_BREAKAGES = 3  # errors after which states are only changed a little
STIRRED_POINTS = 7  # sets of start values in initialization mode
INITIAL_BUDGET = 0.25  # fraction of the rule's time for initialization mode
BUDGET = 0.6  # fraction of the rule's time
MIN_CHANGE = 1e-8  # relative change of an unknown that is more than rounding
NOISE_FACTOR = 100.0
TIME_STEPS = (1e-6, 1e-3)  # changes of time, relative to the experiment
REPRODUCED = 0.3  # two nearly equal changes of a known: their effects agree up to this fraction


@dataclass(frozen=True, eq=False)
class Watched:
    """An unknown with declared dependencies."""

    element: str
    d: UnknownDependencies
    v: ModelVariable
    declared: frozenset[int]  # indices of the knowns that it may depend on

    def finding(self, known: ModelVariable, place: str, before: float, after: float) -> Finding:
        values = "" if self.v.type == "String" else f": {before:.9g} -> {after:.9g}"
        problem = f'it changes with "{known.name}", which is not in its dependencies ({place}{values})'
        expected = f"{known.index} in its dependencies"
        sentence = "dependencies-listed" if self.d.on else "dependencies-none"
        where = f"{self.v.where} in {self.element}"
        return Finding(where, problem, expected, sentence=sentence, line=self.d.line)


@dataclass
class Search:
    """What was found so far."""

    s: Session
    random: random.Random = field(default_factory=lambda: random.Random(1))
    reported: set[tuple[str, int, int]] = field(default_factory=set)  # (element, unknown, known)
    fragile: set[tuple[int, int]] = field(default_factory=set)  # (known, round) after which a call failed
    noise: dict[int, float] = field(default_factory=dict)  # by index of the unknown, at the present point
    base: dict[int, float] = field(default_factory=dict)
    changes: dict[int, list[Value]] = field(default_factory=dict)  # of the knowns, at the present point
    breakages: int = 0  # points that were left because a change led to an error

    def open(self, w: Watched, known: ModelVariable) -> bool:
        return known.index not in w.declared and (w.element, w.d.index, known.index) not in self.reported


@rule("D9", "dependencies", "2.2.8")
def dependencies(s: Session) -> Iterator[Finding]:
    """No unknown changes with a known that is not in its dependencies: in initialization mode and, in Model Exchange,
    in event mode and continuous-time mode, at many times of the default experiment. Factors that dependenciesKind
    declares as constant, fixed, tunable or discrete are such. An output that is a state does not list inputs."""
    search = Search(s)
    initial = _initial_watched(s.model)
    if initial and s.attempt("initialization mode"):
        yield from _initialization(search, initial)
    if s.kind != "ModelExchange":
        return
    watched = [*_watched(s.model, "Outputs", s.model.outputs), *_watched(s.model, "Derivatives", s.model.derivatives)]
    if watched and s.attempt("simulation"):
        yield from _whole_simulation(search, watched)
    yield from _states_that_list_inputs(s.model)
    once = [v for v in s.model.of("input") if v.set_once]
    if once and watched:
        s.not_judged(f"dependencies on {len(once)} inputs with canHandleMultipleSetPerTimeInstant = false")


# --- what is watched ------------------------------------------------------------------------------------------------


def _watched(model: Model, element: str, unknowns: Sequence[UnknownDependencies]) -> list[Watched]:
    """The unknowns that have the attribute dependencies. An alias of a listed known counts as listed; a state may be
    listed as an output without a dependency on itself."""
    indices: dict[tuple[str, int], list[int]] = {}
    for v in model.variables:
        indices.setdefault((v.type, v.reference), []).append(v.index)
    found = []
    for d in unknowns:
        v = model.by_index[d.index]
        if d.on is None:
            continue
        listed = [model.by_index[i] for i in d.on if i in model.by_index]
        allowed = {i for k in listed for i in indices[k.type, k.reference]} | {d.index}
        allowed |= {i for i in indices[v.type, v.reference] if i in model.state_positions}
        found.append(Watched(element, d, v, frozenset(allowed)))
    return found


def _initial_watched(model: Model) -> list[Watched]:
    """The InitialUnknowns. If the lists of all outputs are empty in an FMU for Co-Simulation, this means that loops are
    not supported in initialization mode (2.2.8), so that nothing can be said about its values."""
    watched = _watched(model, "InitialUnknowns", model.initial_unknowns)
    outputs = [w for w in watched if w.v.causality == "output"]
    if "CoSimulation" in model.interfaces and outputs and not any(w.d.on for w in outputs):
        return [w for w in watched if w.d.on]
    return watched


def _states_that_list_inputs(model: Model) -> Iterator[Finding]:
    """An input cannot change a state at once, if there are no events that could."""
    if model.indicators:
        return
    inputs = {v.index for v in model.of("input")}
    for d in model.outputs:
        listed = inputs & set(d.on or ())
        if d.index in model.state_positions and listed:
            problem = f"it is a continuous state, but lists {len(listed)} inputs in its dependencies"
            expected = "dependencies without inputs, as they make false algebraic loops"
            yield Finding(f"{model.by_index[d.index].where} in Outputs", problem, expected, line=d.line)


# --- where it is watched --------------------------------------------------------------------------------------------


def _initialization(search: Search, watched: Sequence[Watched]) -> Iterator[Finding]:
    """With the start values, and with others. Parameters are varied if the FMU lists any: it need not, if it does not
    support iterations over parameters (2.2.8)."""
    s = search.s
    parameters = {v.index for v in s.model.of("parameter")}
    listed = any(parameters & set(w.d.on or ()) for w in watched)
    knowns = [v for v in initial_knowns(s.model) if listed or v.causality != "parameter"]
    if not knowns:
        return
    bench: Bench | None = None
    for i in range(STIRRED_POINTS + 1 if len(knowns) <= FEW_KNOWNS else 2):
        try:
            bench = bench or initial_bench(s, knowns)
        except CallFailed as error:
            s.not_judged(f"initialization mode with the start values set ({error})")
            return
        try:
            if i > 0:
                bench.base = stirred(knowns, search.random)
                bench.restore(knowns)
            yield from _examine(search, bench, watched, FactorCheck(s.model))
        except CallFailed:  # values that do not fit together
            bench.broken = True
        if bench.broken or s.time_used(INITIAL_BUDGET):
            bench.instance.free()
            bench = None
        if s.time_used(INITIAL_BUDGET):
            break
    if bench is not None:
        leave_initialization(bench)
    search.breakages = 0


def _whole_simulation(search: Search, watched: Sequence[Watched]) -> Iterator[Finding]:
    """A few points with varied inputs; then many points of the default experiment as it is, if that is quick."""
    s = search.s
    factors = FactorCheck(s.model)
    many = len(s.model.of("input")) + len(s.model.states) > MANY_KNOWNS or len(watched) > MANY_UNKNOWNS
    few = FEW_POINTS[::3] if many else FEW_POINTS
    importlib.import_module("fmpy.sundials")  # its time does not count
    began = time.process_time()
    yield from _simulation(search, watched, factors, few, AMPLITUDES)
    seconds = time.process_time() - began
    count = min(MANY_POINTS, int(MANY_SECONDS * len(few) / max(seconds, 1e-3)))
    if count >= len(few):
        yield from _simulation(search, watched, factors, [(i + 0.5) / count for i in range(count)], (0.0,))
        outputs = [(w.v, w.declared, w.finding) for w in watched if w.element == "Outputs"]
        yield from OpenStates(s, outputs).search()


def _simulation(
    search: Search,
    watched: Sequence[Watched],
    factors: FactorCheck,
    fractions: Sequence[float],
    amplitudes: Sequence[float],
) -> Iterator[Finding]:
    for bench in journey(search.s, fractions, BUDGET, amplitudes):
        yield from _examine(search, bench, watched, factors)
        if bench.mode == CONTINUOUS_TIME and not bench.broken:
            yield from _examine_time(search, bench, watched)


def _examine(search: Search, bench: Bench, watched: Sequence[Watched], factors: FactorCheck) -> Iterator[Finding]:
    """Vary the knowns at one point."""
    try:
        _measure_noise(search, bench, watched)
        for group, concerned in _tests(search, bench, watched):
            if search.s.time_used(BUDGET):
                search.s.not_judged(f"some dependencies at t = {bench.t:.6g} (time budget)")
                return
            yield from _vary(search, bench, group, concerned)
        yield from factors.examine(bench, [(w.element, w.d, w.v) for w in watched], search.noise)
    except CallFailed:
        bench.broken = True
        search.breakages += 1


def _measure_noise(search: Search, bench: Bench, watched: Sequence[Watched]) -> None:
    """Read twice, with the same values of the knowns."""
    search.changes.clear()
    variables = [w.v for w in watched]
    first = bench.read(variables)
    bench.restore(bench.knowns)
    second = bench.read(variables)
    search.base = {v.index: b for v, b in zip(variables, second, strict=True)}
    search.noise = {v.index: abs(a - b) for v, a, b in zip(variables, first, second, strict=True)}


Test = tuple[list[ModelVariable], list[Watched]]


def _tests(search: Search, bench: Bench, watched: Sequence[Watched]) -> Iterator[Test]:
    """Groups of knowns, each with the unknowns that may depend on none of them. Together they cover all pairs."""
    knowns = bench.knowns
    if len(knowns) <= FEW_KNOWNS:
        for k in knowns:
            concerned = [w for w in watched if search.open(w, k)]
            if concerned:
                yield [k], concerned
        return
    varied = {k.index for k in knowns}
    few = FEW_LISTS if len(knowns) > MANY_KNOWNS else FEW_KNOWNS
    by_size: dict[int, dict[frozenset[int], list[Watched]]] = {}  # lists of 0, 1, 2 to 3, 4 to 7 knowns ...
    for w in watched:
        listed = w.declared & varied
        by_size.setdefault(len(listed).bit_length(), {}).setdefault(listed, []).append(w)
    for size, by_list in sorted(by_size.items()):
        longest = 2**size - 1
        if len(by_list) > few and longest < LONG_LIST:
            yield from _random_groups(search.random, knowns, [w for ws in by_list.values() for w in ws], longest)
            continue
        for listed, concerned in by_list.items():
            group = [k for k in knowns if k.index not in listed]
            if group:
                yield group, concerned


def _random_groups(
    generator: random.Random, knowns: Sequence[ModelVariable], watched: Sequence[Watched], n: int
) -> Iterator[Test]:
    """A pair (unknown, known) is covered by a group that contains the known, but nothing that the unknown lists. With
    at most n listed knowns and groups in which each known is with the probability p = 1 / (n + 1), this happens with
    the probability p (1 - p)^n or more."""
    p = 1.0 / (n + 1)
    covered = p * (1.0 - p) ** n
    missed = MISSED_OF_MANY if len(knowns) > MANY_KNOWNS else MISSED
    count = math.ceil(math.log(missed) / math.log(1.0 - covered))
    for _ in range(count):
        group = [k for k in knowns if generator.random() < p]
        inside = {k.index for k in group}
        concerned = [w for w in watched if not w.declared & inside]
        if group and concerned:
            yield group, concerned


# --- one group of knowns --------------------------------------------------------------------------------------------


def _vary(search: Search, bench: Bench, group: list[ModelVariable], watched: list[Watched]) -> Iterator[Finding]:
    rounds = len(_changes(search, bench, group[0])) if len(group) == 1 else 1
    for i in range(rounds):
        values = _values(search, bench, group, i)
        while values:
            after = _read_with(search, bench, values, watched, i)
            changed = (w for w, y in zip(watched, after, strict=True) if _changed(search, w, y))
            hit = next(changed, None)
            if hit is None:
                break
            known = _culprit(search, bench, values, hit)
            finding = _confirmed(bench, hit, known, values[known]) if search.open(hit, known) else None
            if finding is None:  # not reproducible, or the effect of several knowns together
                watched = [w for w in watched if w is not hit]
                continue
            search.reported.add((hit.element, hit.d.index, known.index))
            yield finding
            if len(group) == 1:
                watched = [w for w in watched if w is not hit]
            else:
                del values[known]


def _changes(search: Search, bench: Bench, k: ModelVariable) -> list[Value]:
    """Far states may be errors to an FMU; if there are several, they are no longer tried."""
    found = search.changes.get(k.index)
    if found is None:
        cautious = search.breakages >= MAX_BREAKAGES and bench.is_state(k)
        found = search.changes[k.index] = changes(k, bench.base[k.index], cautious)
    return found


def _values(search: Search, bench: Bench, group: Sequence[ModelVariable], i: int) -> dict[ModelVariable, Value]:
    """Values for the i-th round. In a group, each is changed by another amount, so that effects do not cancel."""
    values: dict[ModelVariable, Value] = {}
    single = len(group) == 1
    for k in group:
        candidates = _changes(search, bench, k)
        if not candidates or (single and i >= len(candidates)) or (k.index, i) in search.fragile:
            continue
        value = candidates[i if single else search.random.randrange(len(candidates))]
        if k.type == "Real" and not single:
            here = float(bench.base[k.index])
            value = here + (float(value) - here) * (0.7 + 0.3 * search.random.random())
        values[k] = value
    return values


def _read_with(
    search: Search, bench: Bench, values: dict[ModelVariable, Value], watched: Sequence[Watched], i: int
) -> list[float]:
    """The unknowns with these values of the knowns. A change that the FMU refuses is not repeated."""
    try:
        found = bench.values_with(values, [w.v for w in watched])
    except CallFailed:
        search.fragile |= {(k.index, i) for k in values}
        raise
    if found is None:
        search.fragile |= {(k.index, i) for k in values}
        return [math.nan] * len(watched)
    return found


def _changed(search: Search, w: Watched, y: float) -> bool:
    before = search.base[w.v.index]
    if y == before or not (math.isfinite(before) and math.isfinite(y)):
        return False
    rounding = max(MIN_CHANGE * max(abs(before), abs(y)), 1e-12 * (w.v.nominal or 1.0))
    return abs(y - before) > max(rounding, NOISE_FACTOR * search.noise[w.v.index])


def _culprit(search: Search, bench: Bench, values: dict[ModelVariable, Value], w: Watched) -> ModelVariable:
    """The known that changes the unknown, found by bisection."""
    knowns = list(values)
    while len(knowns) > 1:
        half = knowns[: len(knowns) // 2]
        after = bench.values_with({k: values[k] for k in half}, [w.v])
        knowns = half if after and _changed(search, w, after[0]) else knowns[len(knowns) // 2 :]
    return knowns[0]


def _confirmed(bench: Bench, w: Watched, known: ModelVariable, value: Value) -> Finding | None:
    """A finding if the effect is gone without the change, comes back with it, and is nearly the same for a nearly equal
    change, which rounding and other noise are not."""
    here = bench.base[known.index]
    values = [value]
    if known.type == "Real":
        values += [float(here) + (float(value) - float(here)) * f for f in (0.998, 0.999)]
    before, effects = [], []
    for other in values:
        bench.restore([known])
        before += bench.read([w.v])
        bench.put({known: other})
        effects += [y - before[0] for y in bench.read([w.v])]
    bench.restore([known])
    before += bench.read([w.v])
    change = abs(effects[0])
    numeric = w.v.type == "Real"
    spread = max(abs(e - effects[0]) for e in effects) if numeric else 0.0
    drift = max(abs(b - before[0]) for b in before)
    if not change > 0 or not spread <= REPRODUCED * change or not drift <= 0.01 * change:
        return None
    return w.finding(known, bench.place, before[0], before[0] + effects[0])


def _examine_time(search: Search, bench: Bench, watched: Sequence[Watched]) -> Iterator[Finding]:
    """The independent variable is a known if it is declared. For Co-Simulation without directional derivatives, it is
    not listed (2.2.8)."""
    m = search.s.model
    k = m.independent
    only_exchange = "CoSimulation" not in m.interfaces or m.flag("CoSimulation", "providesDirectionalDerivative")
    concerned = [w for w in watched if k is not None and only_exchange and search.open(w, k)]
    if k is None or not concerned:
        return
    limit = bench.instance.next_event
    later = [bench.t + f * (m.stop_time - m.start_time) for f in TIME_STEPS]
    for t in later:
        if limit is not None and t >= limit:
            continue
        try:
            after = _read_with(search, bench, {k: t}, concerned, 0)
            for w, y in zip(list(concerned), after, strict=True):
                if _changed(search, w, y) and (finding := _confirmed(bench, w, k, t)):
                    search.reported.add((w.element, w.d.index, k.index))
                    concerned.remove(w)
                    yield finding
        except CallFailed:
            bench.broken = True
            return
