"""S10: ModelStructure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..description import Description, ScalarVariable, Unknown
from ..findings import Finding, rule
from .unpacked import UnpackedFmu

KINDS_OF_DEPENDENCY = ("dependent", "constant", "fixed", "tunable", "discrete")
ONCE = {"Outputs": "outputs-only", "Derivatives": "derivatives-count", "InitialUnknowns": "initial-once"}


@rule("S10", "model structure", "2.2.7, 2.2.8")
def model_structure(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Outputs lists all outputs; Derivatives are derivatives of continuous states, each of another one; InitialUnknowns
    is exactly the required set, ascending; indices are in range; dependencies are ascending knowns; dependenciesKind
    has one legal kind for each of them."""
    d = fmu.description
    structure = next(iter(d.all("ModelStructure")), None)
    if structure is None:
        return  # found by S2
    for element in ("Outputs", "Derivatives", "InitialUnknowns"):
        yield from _indices(d, element)
        known = _knowns(d, element)
        for u in d.unknowns(element):
            yield from _dependencies(d, element, u, known)
            yield from _dependency_kinds(d, element, u)
    yield from _derivative_indices(d)
    yield from _derivatives(d)
    if d.valid_indices:  # otherwise it is not known what is listed
        yield from _outputs(d, structure.sourceline)
        yield from _initial_unknowns(d, structure.sourceline)


def _where(d: Description, element: str, u: Unknown) -> str:
    v = d.variable(u.index)
    return f'{element}/Unknown {u.index} ("{v.name}")' if v else f"{element}/Unknown {u.index}"


def _indices(d: Description, element: str) -> Iterator[Finding]:
    """Each index is that of a variable, and occurs once."""
    seen: dict[int, int] = {}
    for u in d.unknowns(element):
        if u.index is None:
            continue
        if d.variable(u.index) is None:
            expected = f"an index from 1 to {len(d.variables)}"
            yield Finding(_where(d, element, u), "there is no such variable", expected, "unknown-index", line=u.line)
        elif u.index in seen:
            problem = f"it is listed twice (line {seen[u.index]})"
            yield Finding(_where(d, element, u), problem, "each unknown once", ONCE[element], line=u.line)
        seen[u.index] = u.line


def _knowns(d: Description, element: str) -> set[int]:
    """Indices that dependencies may have: the knowns, and variables with the value reference of one. Indices of
    parameters and constants, which do not change then, are superfluous but harmless."""
    initial = element == "InitialUnknowns"

    def is_known(v: ScalarVariable) -> bool:
        if v.causality in ("input", "independent") or v.variability in ("constant", "fixed", "tunable"):
            return True
        return v.initial == "exact" if initial else v.index in d.state_indices

    found = {v.index for v in d.variables if is_known(v)}
    for alias in d.alias_sets:
        if any(v.index in found for v in alias):
            found.update(v.index for v in alias)
    return found


def _dependencies(d: Description, element: str, u: Unknown, knowns: set[int]) -> Iterator[Finding]:
    what = "variables with initial exact" if element == "InitialUnknowns" else "continuous states"
    for i in u.dependencies or ():
        if i in knowns:
            continue
        known = d.variable(i)
        if known is None:
            problem, expected = (
                f"it depends on {i}, but there is no such variable",
                f"indices from 1 to {len(d.variables)}",
            )
            yield Finding(_where(d, element, u), problem, expected, "known-index", line=u.line)
        elif d.valid_indices:  # no sentence forbids it, but importers do not learn on which knowns the unknown depends
            problem = f'it depends on "{known.name}", which is not a known here'
            expected = f"inputs, {what}, the independent variable"
            yield Finding(_where(d, element, u), problem, expected, line=u.line)
    steps = list(pairwise(u.dependencies or ()))
    if any(a > b for a, b in steps):
        problem, expected = "its dependencies are not ascending", "the smallest index first"
        yield Finding(_where(d, element, u), problem, expected, "dependencies-order", line=u.line)
    elif any(a == b for a, b in steps):
        yield Finding(_where(d, element, u), "a dependency is listed twice", "each index once", line=u.line)


def _dependency_kinds(d: Description, element: str, u: Unknown) -> Iterator[Finding]:
    if u.kinds is None:
        return
    where = _where(d, element, u)
    if u.dependencies is None:
        problem = "it has dependenciesKind but no dependencies"
        yield Finding(where, problem, "both or none", "dependency-kinds", line=u.line)
        return
    if len(u.kinds) != len(u.dependencies):
        problem = f"it has {len(u.kinds)} dependenciesKind for {len(u.dependencies)} dependencies"
        yield Finding(where, problem, "as many kinds as dependencies", "dependency-kinds", line=u.line)
        return
    unknown = d.variable(u.index)
    for kind in sorted(set(u.kinds) & set(KINDS_OF_DEPENDENCY) - {"dependent"}):  # others are found by S2
        if unknown is not None and unknown.type not in ("Real", ""):
            problem = f'dependenciesKind {kind}, but "{unknown.name}" is of type {unknown.type}'
            expected = "dependent: the others are for Real unknowns"
            yield Finding(where, problem, expected, "kind-real", line=u.line, cause="kind")
        elif element == "InitialUnknowns" and kind != "constant":
            expected = "dependent or constant among the initial unknowns"
            yield Finding(where, f"dependenciesKind {kind}", expected, "kind-initial", line=u.line)


def _outputs(d: Description, line: int) -> Iterator[Finding]:
    listed = {u.index: u.line for u in d.unknowns("Outputs")}
    for v in d.variables:
        if v.causality == "output" and v.index not in listed:
            expected = f"an Unknown with index {v.index} in Outputs (line {line})"
            yield v.finding("it is an output, but not listed in Outputs", expected, "outputs-all")
        elif v.causality != "output" and v.index in listed:
            problem = f"it is listed in Outputs, but its causality is {v.causality}"
            yield Finding(v.where, problem, "outputs only", "outputs-only", line=listed[v.index])


def _derivative_indices(d: Description) -> Iterator[Finding]:
    """The attribute derivative of any variable is the index of another one."""
    for v in d.variables:
        if "derivative" in v.attributes and v.state_index is not None and d.variable(v.state_index) is None:
            problem = f"it is the derivative of {v.attributes['derivative']}, but there is no such variable"
            yield v.finding(problem, f"an index from 1 to {len(d.variables)}", "derivative-index")


def _derivatives(d: Description) -> Iterator[Finding]:
    first: dict[int, ScalarVariable] = {}
    for u in d.unknowns("Derivatives"):
        v = d.variable(u.index)
        if v is None:
            continue
        if "derivative" not in v.attributes:
            problem = "it is listed in Derivatives, but has no attribute derivative"
            yield v.finding(problem, "the index of its state in derivative", "derivative-attribute")
            continue
        state = d.variable(v.state_index)
        if state is None:
            continue  # found above
        same = first.setdefault(state.index, v)
        if same.index != v.index:
            problem = f'it is the derivative of "{state.name}", and so is "{same.name}"'
            yield v.finding(problem, "one derivative of each state", "derivative-attribute")
        if _exposes_states(d):
            yield from _state(v, state)


def _state(derivative: ScalarVariable, state: ScalarVariable) -> Iterator[Finding]:
    if state.type != "Real" or state.variability != "continuous":
        problem = f'it is the derivative of "{state.name}", which is {state.variability} {state.type}'
        yield derivative.finding(problem, "a continuous Real as state", "state-derivative")
    elif state.causality not in ("local", "output"):
        problem = f"it is a continuous state, and its causality is {state.causality}"
        yield state.finding(problem, "local or output", "state-causality")
    if derivative.variability != "continuous":
        problem = f"it is listed in Derivatives, but is {derivative.variability}"
        yield derivative.finding(problem, "a continuous variable", "state-derivative")


def _exposes_states(d: Description) -> bool:
    """For Co-Simulation, Derivatives are ignored unless the FMU provides directional derivatives."""
    return "ModelExchange" in d.interfaces or d.flag("CoSimulation", "providesDirectionalDerivative")


def _initial_unknowns(d: Description, line: int) -> Iterator[Finding]:
    """States and derivatives that are ignored may be listed, but need not."""
    exposed = _exposes_states(d)
    states = {u.index for u in d.unknowns("Derivatives")} | d.state_indices
    listed = {u.index: u.line for u in d.unknowns("InitialUnknowns")}
    for v in d.variables:
        computed = v.initial in ("approx", "calculated")
        allowed = v.causality == "calculatedParameter" or (computed and (v.causality == "output" or v.index in states))
        needed = allowed and (exposed or v.causality in ("output", "calculatedParameter"))
        if needed and v.index not in listed:
            role = "an output" if v.causality == "output" else "a state or derivative"
            what = "a calculated parameter" if v.causality == "calculatedParameter" else f"{role}, initial {v.initial}"
            expected = f"an Unknown with index {v.index} there (line {line})"
            yield v.finding(f"it is {what}, but not listed in InitialUnknowns", expected, "initial-unknowns")
        elif v.index in listed and not allowed:
            problem = f"it is listed in InitialUnknowns, but is {v.causality} with initial {v.initial}"
            expected = "only the unknowns of initialization"
            yield Finding(v.where, problem, expected, "initial-unknowns", line=listed[v.index])
    for before, u in pairwise(d.unknowns("InitialUnknowns")):
        if before.index is not None and u.index is not None and u.index < before.index:
            where, problem = _where(d, "InitialUnknowns", u), f"it is listed after {before.index}"
            yield Finding(where, problem, "ascending indices", "initial-order", line=u.line)
            return
