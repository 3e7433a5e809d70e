"""The descriptions of the small units with exact solutions (unit_lab.c)."""

from __future__ import annotations

from .description import LAB_GUID

PARAMETERS, OUTPUTS = 1000, 998


def variable(name: str, reference: int, head: str, kind: str = "Real", own: str = "") -> str:
    return f'    <ScalarVariable name="{name}" valueReference="{reference}" {head}><{kind}{own}/></ScalarVariable>\n'


TIME = variable("time", 0, 'causality="independent"')
INPUT = variable("u", 5, 'causality="input"', own=' start="0"')


def state(k: int, start: str, causality: str = "output") -> str:
    return variable(f"x{k}", k, f'causality="{causality}" initial="exact"', own=f' start="{start}"')


def rate(k: int, index: int) -> str:
    return variable(f"dx{k}", k + 2, 'causality="local"', own=f' derivative="{index}"')


def listed(element: str, unknowns: list[tuple[int, str]]) -> str:
    if not unknowns:
        return ""
    rows = "".join(f'      <Unknown index="{index}" dependencies="{d}"/>\n' for index, d in unknowns)
    return f"    <{element}>\n{rows}    </{element}>\n"


def structure(outputs: list[tuple[int, str]], rates: list[tuple[int, str]], initial: list[tuple[int, str]]) -> str:
    return listed("Outputs", outputs) + listed("Derivatives", rates) + listed("InitialUnknowns", initial)


def lab(kind: str) -> str:
    """The description for one kind of unit_lab.c."""
    experiment = 'startTime="0" stopTime="10" stepSize="0.1"'
    indicators = 0
    counter = variable("count", 0, 'causality="output" variability="discrete" initial="exact"', "Integer", ' start="0"')
    if kind == "lab_time_only":
        variables, parts = TIME, ""
    elif kind in ("lab_events", "lab_every_step"):
        variables, parts = TIME + counter, structure([(2, "")], [], [])
    elif kind == "lab_stiff":
        variables = TIME + INPUT + state(1, "1") + state(2, "1") + rate(1, 3) + rate(2, 4)
        parts = structure([(3, "3"), (4, "4")], [(5, "3 4"), (6, "2 4")], [(5, "3 4"), (6, "2 4")])
    elif kind == "lab_relay":
        count = variable("count", 0, 'causality="output" variability="discrete"', "Integer")
        variables = TIME + INPUT + state(1, "0") + rate(1, 3) + count
        parts = structure([(3, "3"), (5, "")], [(4, "")], [(4, ""), (5, "")])
        experiment, indicators = 'startTime="0" stopTime="4" stepSize="0.03"', 1
    elif kind == "lab_many":
        variables = TIME + INPUT + state(1, "1") + rate(1, 3)
        fixed = 'causality="parameter" variability="fixed"'
        for k in range(PARAMETERS):
            variables += variable(f"p[{k + 1}]", 1000 + k, fixed, own=f' start="{k + 1}"')
        for k in range(OUTPUTS):
            variables += variable(f"y[{k + 1}]", 3000 + k, 'causality="output"')
        first = 5 + PARAMETERS
        outputs = [(3, "3")] + [(first + k, "3") for k in range(OUTPUTS)]
        initial = [(4, "2 3")] + [(first + k, f"3 {5 + k}") for k in range(OUTPUTS)]
        parts = structure(outputs, [(4, "2 3")], initial)
    else:
        variables = TIME + INPUT + state(1, "1") + rate(1, 3)
        parts = structure([(3, "3")], [(4, "2 3")], [(4, "2 3")])
        if kind == "lab_long":
            experiment = 'startTime="0" stopTime="1e7" stepSize="5e4"'
        elif kind == "lab_short":
            experiment = 'startTime="0" stopTime="2e-6" stepSize="1e-8"'
        else:
            raise ValueError(kind)
    flags = 'modelIdentifier="Lab" canNotUseMemoryManagementFunctions="true"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<fmiModelDescription fmiVersion="2.0" modelName="Lab" guid="{LAB_GUID}" '
        f'variableNamingConvention="flat" numberOfEventIndicators="{indicators}">\n'
        f'  <ModelExchange {flags}/>\n  <CoSimulation {flags} canHandleVariableCommunicationStepSize="true"/>\n'
        f"  <DefaultExperiment {experiment}/>\n"
        f"  <ModelVariables>\n{variables}  </ModelVariables>\n  <ModelStructure>\n{parts}  </ModelStructure>\n"
        "</fmiModelDescription>\n"
    )
