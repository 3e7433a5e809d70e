"""S10 and S11: ModelStructure and DefaultExperiment."""

from __future__ import annotations

from collections.abc import Iterator

from ..description import Description, ScalarVariable, Unknown
from ..findings import Finding, rule
from .unpacked import UnpackedFmu

KINDS_OF_DEPENDENCY = ("dependent", "constant", "fixed", "tunable", "discrete")


@rule("S10", "model structure", "2.2.8")
def model_structure(fmu: UnpackedFmu) -> Iterator[Finding]:
    """Outputs lists all outputs; Derivatives are derivatives of Real variables; InitialUnknowns is
    exactly the required set, ascending; indices are in range; dependencies are ascending knowns;
    dependenciesKind has one legal kind for each of them."""
    d = fmu.description
    structure = next(iter(d.all("ModelStructure")), None)
    if structure is None:
        return  # found by S2
    for element in ("Outputs", "Derivatives", "InitialUnknowns"):
        seen: dict[int, int] = {}
        for u in d.unknowns(element):
            if u.index is None:
                continue
            where = _where(d, element, u)
            if d.variable(u.index) is None:
                expected = f"an index from 1 to {len(d.variables)}"
                yield Finding(where, "there is no such variable", expected, line=u.line)
            elif u.index in seen:
                yield Finding(where, f"it is listed twice (line {seen[u.index]})", "each unknown once", line=u.line)
            seen[u.index] = u.line
            yield from _dependencies(d, element, u)
            yield from _dependency_kinds(d, element, u)
    yield from _outputs(d, structure.sourceline)
    yield from _derivatives(d)
    yield from _initial_unknowns(d, structure.sourceline)


def _where(d: Description, element: str, u: Unknown) -> str:
    v = d.variable(u.index)
    return f'{element}/Unknown {u.index} ("{v.name}")' if v else f"{element}/Unknown {u.index}"


def _dependencies(d: Description, element: str, u: Unknown) -> Iterator[Finding]:
    where = _where(d, element, u)
    knowns = "variables with initial exact" if element == "InitialUnknowns" else "continuous states"
    for i in u.dependencies or ():
        known = d.variable(i)
        if known is None:
            problem = f"it depends on {i}, but there is no such variable"
            yield Finding(where, problem, f"indices from 1 to {len(d.variables)}", line=u.line)
        elif not _is_known(d, element, known):
            problem = f'it depends on "{known.name}", which is not a known here'
            expected = f"inputs, {knowns}, the independent variable"
            yield Finding(where, problem, expected, severity="warning", line=u.line)
    if u.dependencies and list(u.dependencies) != sorted(set(u.dependencies)):
        expected = "each index once, the smallest first"
        yield Finding(where, "its dependencies are not ascending", expected, severity="warning", line=u.line)


def _dependency_kinds(d: Description, element: str, u: Unknown) -> Iterator[Finding]:
    where = _where(d, element, u)
    if u.kinds is None:
        return
    if u.dependencies is None:
        yield Finding(where, "it has dependenciesKind but no dependencies", "both or none", line=u.line)
        return
    if len(u.kinds) != len(u.dependencies):
        problem = f"it has {len(u.kinds)} dependenciesKind for {len(u.dependencies)} dependencies"
        yield Finding(where, problem, "as many of both", line=u.line)
        return
    unknown = d.variable(u.index)
    for i, kind in zip(u.dependencies, u.kinds, strict=True):
        known = d.variable(i)
        if kind not in KINDS_OF_DEPENDENCY or known is None or unknown is None:
            continue  # found by S2 or above
        if element == "InitialUnknowns" and kind not in ("dependent", "constant"):
            expected = "dependent or constant among the initial unknowns"
            yield Finding(where, f"dependenciesKind {kind}", expected, severity="warning", line=u.line)
        elif kind != "dependent" and (unknown.type != "Real" or known.type != "Real"):
            other = unknown if unknown.type != "Real" else known
            problem = f'dependenciesKind {kind}, but "{other.name}" is of type {other.type}'
            yield Finding(where, problem, "dependent: the others are for Real variables", line=u.line)


def _is_known(d: Description, element: str, v: ScalarVariable) -> bool:
    if v.causality in ("input", "independent"):
        return True
    return v.initial == "exact" if element == "InitialUnknowns" else v.index in d.state_indices


def _outputs(d: Description, line: int) -> Iterator[Finding]:
    listed = {u.index: u.line for u in d.unknowns("Outputs")}
    for v in d.variables:
        if v.causality == "output" and v.index not in listed:
            expected = f"an Unknown with index {v.index} in Outputs (line {line})"
            yield v.finding("it is an output, but not listed in Outputs", expected)
        elif v.causality != "output" and v.index in listed:
            problem = f"it is listed in Outputs, but its causality is {v.causality}"
            yield Finding(v.where, problem, "outputs only", line=listed[v.index])


def _derivatives(d: Description) -> Iterator[Finding]:
    for u in d.unknowns("Derivatives"):
        v = d.variable(u.index)
        if v is None:
            continue
        if "derivative" not in v.attributes:
            problem = "it is listed in Derivatives, but has no attribute derivative"
            yield v.finding(problem, "the index of its state in derivative")
            continue
        state = d.variable(v.state_index)
        if state is None:
            problem = f"it is the derivative of {v.attributes['derivative']}, but there is no such variable"
            yield v.finding(problem, f"an index from 1 to {len(d.variables)}")
        elif state.type != "Real" or state.variability != "continuous":
            problem = f'it is the derivative of "{state.name}", which is {state.variability} {state.type}'
            yield v.finding(problem, "a continuous Real as state")


def _initial_unknowns(d: Description, line: int) -> Iterator[Finding]:
    states = {u.index for u in d.unknowns("Derivatives")} | d.state_indices
    listed = {u.index: u.line for u in d.unknowns("InitialUnknowns")}
    for v in d.variables:
        computed = v.initial in ("approx", "calculated") and (v.causality == "output" or v.index in states)
        needed = v.causality == "calculatedParameter" or computed
        if needed and v.index not in listed:
            role = "an output" if v.causality == "output" else "a state or derivative"
            what = "a calculated parameter" if v.causality == "calculatedParameter" else f"{role}, initial {v.initial}"
            expected = f"an Unknown with index {v.index} there (line {line})"
            yield v.finding(f"it is {what}, but not listed in InitialUnknowns", expected)
        elif v.index in listed and not needed:
            problem = f"it is listed in InitialUnknowns, but is {v.causality} with initial {v.initial}"
            yield Finding(v.where, problem, "only the unknowns of initialization", line=listed[v.index])
    order = [u.index for u in d.unknowns("InitialUnknowns") if u.index is not None]
    for before, u in zip(order, d.unknowns("InitialUnknowns")[1:], strict=False):
        if u.index is not None and u.index < before:
            where = _where(d, "InitialUnknowns", u)
            yield Finding(where, f"it is listed after {before}", "ascending indices", line=u.line)
            return


@rule("S11", "default experiment", "2.2.5")
def default_experiment(fmu: UnpackedFmu) -> Iterator[Finding]:
    """stopTime > startTime, tolerance > 0, 0 < stepSize < stopTime - startTime."""
    experiment = fmu.description.default_experiment()
    line = next((e.sourceline for e in fmu.description.all("DefaultExperiment")), None)
    start, stop = experiment.get("startTime", 0.0), experiment.get("stopTime")
    tolerance, step = experiment.get("tolerance"), experiment.get("stepSize")
    if stop is not None and not stop > start:
        problem = f"stopTime is {stop:g} and startTime is {start:g}"
        yield Finding("DefaultExperiment", problem, "stopTime > startTime", line=line)
    if tolerance is not None and not tolerance > 0:
        yield Finding("DefaultExperiment", f"tolerance is {tolerance:g}", "greater than 0", line=line)
    if step is not None and not step > 0:
        yield Finding("DefaultExperiment", f"stepSize is {step:g}", "greater than 0", line=line)
    elif step is not None and stop is not None and stop > start and not step < stop - start:
        yield Finding("DefaultExperiment", f"stepSize is {step:g}", f"less than the span, {stop - start:g}", line=line)
