"""modelDescription.xml against the contract that users wire their systems to, and against the rules of FMI 2.0."""

from __future__ import annotations

import re
import zipfile

import pytest

from helpers.build import Build
from helpers.description import Description
from helpers.fmu_client import Host
from helpers.tolerances import SAME_NUMBER

LINKS = 3
EACH = range(1, LINKS + 1)

LINK_PARAMETERS = dict(length="m", com="m", mass="kg", inertia="kg.m2")
JOINT_PARAMETERS = dict(
    stiffness="N.m/rad",
    rest_angle="rad",
    damping="N.m.s/rad",
    friction="N.m",
    friction_speed="rad/s",
    angle_start="rad",
    rate_start="rad/s",
)
PARAMETERS = {
    **{"gravity": "m/s2", "solver.relative_tolerance": None, "solver.max_step": "s"},
    **{f"link[{k}].{name}": unit for k in EACH for name, unit in LINK_PARAMETERS.items()},
    **{f"joint[{k}].{name}": unit for k in EACH for name, unit in JOINT_PARAMETERS.items()},
}
INPUTS = {**{f"joint[{k}].torque": "N.m" for k in EACH}, "tip.force_x": "N", "tip.force_y": "N", "tip.moment": "N.m"}
BASE_INPUTS = {"base.acceleration_x": "m/s2", "base.acceleration_y": "m/s2", "base.angular_acceleration": "rad/s2"}
OUTPUTS = {
    **{
        f"joint[{k}].{name}": unit
        for k in EACH
        for name, unit in dict(angle="rad", rate="rad/s", acceleration="rad/s2", reaction_x="N", reaction_y="N").items()
    },
    "tip.x": "m",
    "tip.y": "m",
    "tip.angle": "rad",
    "tip.velocity_x": "m/s",
    "tip.velocity_y": "m/s",
    **{f"energy.{name}": "J" for name in ("kinetic", "potential", "total", "input", "dissipated")},
}
DISPLAY = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}


@pytest.fixture(params=("fixed", "moving"))
def base(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def description(fmu: Build, base: str) -> Description:
    return Description(fmu(links=LINKS, base=base))


def test_the_contract_of_the_link_chain(description: Description, base: str) -> None:
    """Names, units and causalities: renaming one breaks the systems of others."""
    contract = {"parameter": PARAMETERS, "input": INPUTS | (BASE_INPUTS if base == "moving" else {}), "output": OUTPUTS}
    for causality, names in contract.items():
        for name, unit in names.items():
            assert description.variables[name].attrib["causality"] == causality, name
            assert description.variables[name].find("Real") is not None, name
            assert description.typed[name].get("unit") == unit, name
            assert description.typed[name].get("displayUnit") == DISPLAY.get(unit), name


def test_only_a_moving_base_has_base_inputs(description: Description, base: str) -> None:
    inputs = {n for n, v in description.variables.items() if v.attrib["causality"] == "input"}
    assert inputs == set(INPUTS | (BASE_INPUTS if base == "moving" else {}))


def test_default_values_of_the_contract(fmu: Build) -> None:
    """The lecture's chain: total length 1 m, total mass 10 kg, uniform rods, the first 1 rad below the horizontal."""
    start = {
        name: float(typed["start"]) for name, typed in Description(fmu(links=10)).typed.items() if "start" in typed
    }
    assert start["gravity"] == 9.81
    assert start["solver.relative_tolerance"] == 1e-6
    for k in range(1, 11):
        assert start[f"link[{k}].length"] == pytest.approx(0.1)
        assert start[f"link[{k}].com"] == pytest.approx(0.05)
        assert start[f"link[{k}].mass"] == pytest.approx(1.0)
        assert start[f"link[{k}].inertia"] == pytest.approx(0.01 / 12)
        assert start[f"joint[{k}].angle_start"] == (-1.0 if k == 1 else 0.0)
        assert start[f"joint[{k}].rate_start"] == 0.0


def test_every_variable_is_described(description: Description) -> None:
    for name, node in description.variables.items():
        assert node.attrib.get("description", "").strip(), name
        assert node.attrib.get("variability"), name


def test_units_are_defined_with_si_exponents_and_degrees(description: Description) -> None:
    units = {u.attrib["name"]: u for u in description.root.iterfind("UnitDefinitions/Unit")}
    used = {r.attrib["unit"] for r in description.root.iter("Real") if "unit" in r.attrib}
    assert used <= units.keys()
    assert all(u.find("BaseUnit") is not None for u in units.values())
    assert units["N.m"].find("BaseUnit").attrib == {"kg": "1", "m": "2", "s": "-2"}
    degree = units["rad"].find("DisplayUnit")
    assert degree.attrib["name"] == "deg"
    assert float(degree.attrib["factor"]) == pytest.approx(57.29577951308232, rel=SAME_NUMBER)


def test_limits_are_declared(description: Description) -> None:
    for name in (
        "link[1].mass",
        "link[1].length",
        "link[1].inertia",
        "joint[1].damping",
        "joint[1].friction_speed",
        "solver.max_step",
    ):
        assert float(description.typed[name]["min"]) == 0.0, name


def test_model_structure_is_complete_and_ascending(description: Description) -> None:
    outputs = {n for n, v in description.variables.items() if v.attrib["causality"] == "output"}
    derivatives = {n for n, typed in description.typed.items() if "derivative" in typed}
    assert description.unknowns("Outputs").keys() == outputs
    assert description.unknowns("Derivatives").keys() == derivatives
    states = {description.nodes[int(description.typed[n]["derivative"]) - 1].attrib["name"] for n in derivatives}
    # the standard: outputs whose start is not exact, calculated states and derivatives, calculated parameters
    required = {
        n
        for n in outputs | states | derivatives
        if description.variables[n].attrib.get("initial") in ("approx", "calculated")
    }
    assert description.unknowns("InitialUnknowns").keys() == required
    for element in ("Outputs", "Derivatives", "InitialUnknowns"):
        indices = [int(n.attrib["index"]) for n in description.root.iterfind(f"ModelStructure/{element}/Unknown")]
        assert indices == sorted(set(indices)), element


def test_positions_and_velocities_have_no_feed_through_but_accelerations_have(
    description: Description, base: str
) -> None:
    """What keeps plant-controller loops free of false algebraic loops."""
    inputs = set(INPUTS | (BASE_INPUTS if base == "moving" else {}))
    outputs = description.unknowns("Outputs")
    for name in (
        "tip.x",
        "tip.y",
        "tip.angle",
        "tip.velocity_x",
        "joint[1].angle",
        "joint[2].rate",
        "energy.total",
        "energy.input",
    ):
        assert outputs[name] is not None, name
        assert not inputs & set(outputs[name] or ()), name
    assert inputs <= set(outputs["joint[1].acceleration"] or ())
    for name in (
        "joint[3].acceleration",
        "joint[1].reaction_x",
        "joint[2].reaction_y",
    ):  # the base turns about joint 1, which nothing else feels
        assert inputs - {"base.angular_acceleration"} == inputs & set(outputs[name] or ()), name
    derivatives = description.unknowns("Derivatives")
    assert derivatives["der(joint[2].angle)"] == ["joint[2].rate"]
    assert set(INPUTS) <= set(derivatives["der(joint[2].rate)"] or ())


def test_start_values_in_the_file_equal_those_in_the_binary(fmu: Build, host: Host, base: str) -> None:
    start = {"joint[2].angle_start": 0.1 + 0.2, "link[1].mass": 1 / 3, "tip.force_x": 1e-7}
    file = fmu(links=LINKS, base=base, start=start)
    declared = {n: float(typed["start"]) for n, typed in Description(file).typed.items() if "start" in typed}
    assert {n: declared[n] for n in start} == start
    assert dict(zip(declared, host.open(file).enter().get(*declared), strict=True)) == declared


def test_what_the_file_says_of_itself(description: Description) -> None:
    root = description.root.attrib
    assert root["fmiVersion"] == "2.0"
    assert root["modelName"] == "LinkChain"
    assert root["variableNamingConvention"] == "structured"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", root["generationDateAndTime"])
    assert re.fullmatch(r"\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}", root["guid"])
    simulation = description.root.find("CoSimulation").attrib
    assert simulation["modelIdentifier"] == "LinkChain"
    for ability in ("canHandleVariableCommunicationStepSize", "canGetAndSetFMUstate", "canSerializeFMUstate"):
        assert simulation[ability] == "true"
    assert simulation.get("needsExecutionTool", "false") == "false"
    experiment = description.root.find("DefaultExperiment").attrib
    assert (float(experiment["startTime"]), float(experiment["stopTime"]), float(experiment["stepSize"])) == (
        0.0,
        10.0,
        0.01,
    )


def test_what_is_in_the_file(description: Description) -> None:
    assert {
        "modelDescription.xml",
        "model.png",
        "documentation/index.html",
        "documentation/reference_result.csv",
    } <= set(description.files)
    assert "binaries/linux64/LinkChain.so" in description.files
    assert not any("\\" in name or name.startswith(("/", "..")) for name in description.files)
    assert len(set(description.files)) == len(description.files)


def test_documentation_lists_every_variable(fmu: Build) -> None:
    file = fmu(links=LINKS, start={"joint[2].angle_start": 0.25})
    with zipfile.ZipFile(file) as archive:
        page, icon = archive.read("documentation/index.html").decode(), archive.read("model.png")
    assert icon.startswith(b"\x89PNG")
    assert "<svg" in page
    for name in PARAMETERS | INPUTS | OUTPUTS:
        assert f">{name}<" in page, name
    row = next(line for line in page.splitlines() if ">joint[2].angle_start<" in line)
    assert "0.25" in row and "rad (deg)" in row
