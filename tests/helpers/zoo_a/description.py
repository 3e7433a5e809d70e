"""The descriptions (modelDescription.xml) of the units, and edits of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

GUID = "{5d2f6c1e-7b0a-4c52-9a55-3e8f1b7a90c4}"
LAB_GUID = "{lab-7c1d}"
HUGE = 4_000_000_000

Edit = tuple[str, str]


@dataclass(frozen=True)
class Variable:
    """One ScalarVariable: `own` are attributes of the element of its type."""

    name: str
    kind: str
    reference: int
    causality: str = ""
    variability: str = ""
    initial: str = ""
    start: str | None = None
    own: dict[str, str] = field(default_factory=dict)

    def xml(self, base: int) -> str:
        head = {"name": self.name, "valueReference": str(self.reference + base)}
        for key in ("causality", "variability", "initial"):
            if getattr(self, key):
                head[key] = getattr(self, key)
        own = dict(self.own)
        if self.start is not None:
            own["start"] = self.start
        return f"    <ScalarVariable{attributes(head)}>\n      <{self.kind}{attributes(own)}/>\n    </ScalarVariable>\n"


def attributes(values: dict[str, str]) -> str:
    return "".join(f" {key}={quoteattr(value)}" for key, value in values.items())


def limits(low: float, high: float, **more: str) -> dict[str, str]:
    return {"min": f"{low:g}", "max": f"{high:g}", **more}


def parameter(name: str, kind: str, reference: int, start: str, tunable: bool = False, **own: str) -> Variable:
    return Variable(name, kind, reference, "parameter", "tunable" if tunable else "fixed", "", start, own)


K = "degC"
VARIABLES: tuple[Variable, ...] = (
    Variable("time", "Real", 0, "independent", own={"unit": "s"}),
    parameter("heater.P_max", "Real", 1, "20", unit="W", min="1", max="1000"),
    parameter("heater.C", "Real", 2, "2", min="0.5", max="100"),
    parameter("room.C", "Real", 3, "8", min="1", max="1000"),
    parameter("heater.G", "Real", 4, "1.5", min="0.1", max="10"),
    parameter("room.G_loss", "Real", 5, "0.5", True, min="0.01", max="5"),
    parameter("thermostat.band", "Real", 6, "1", min="0.1", max="5"),
    parameter("schedule.T_comfort", "Real", 7, "21", True, unit=K, min="10", max="30"),
    parameter("schedule.T_night", "Real", 8, "17", True, unit=K, min="5", max="30"),
    parameter("schedule.day", "Real", 9, "20", unit="s", min="1", max="100000"),
    parameter("service.time", "Real", 10, "45", unit="s", min="0", max="1000000"),
    parameter("sensor.weight", "Real", 11, "0.7", min="0", max="1"),
    parameter("alarm.T_max", "Real", 12, "22.25", True, unit=K, min="10", max="60"),
    parameter("sensor.offset", "Real", 31, "0.25", min="-5", max="5"),
    parameter("heater.stages", "Integer", 0, "2", min="1", max="4"),
    parameter("room.guests", "Integer", 1, "0", True, min="0", max="50"),
    parameter("noise.seed", "Integer", 2, "70001"),
    parameter("room.curve", "Enumeration", 9, "1", declaredType="Curve"),
    parameter("schedule.profile", "Enumeration", 10, "2", True, declaredType="Profile"),
    parameter("heater.enabled", "Boolean", 0, "true", True),
    parameter("alarm.present", "Boolean", 1, "true"),
    parameter("room.name", "String", 0, "room-1"),
    parameter("room.note", "String", 1, "none", True),
    Variable("room.tau", "Real", 13, "calculatedParameter", "tunable", own={"unit": "s"}),
    Variable("heater.P_rel", "Real", 14, "calculatedParameter", "fixed"),
    Variable("schedule.slots", "Integer", 4, "calculatedParameter", "fixed"),
    Variable("heater.oversized", "Boolean", 5, "calculatedParameter", "fixed"),
    Variable("room.label", "String", 3, "calculatedParameter", "fixed"),
    Variable("T_amb", "Real", 15, "input", "continuous", start="5", own=limits(-60, 60, unit=K)),
    Variable("Q_sun", "Real", 16, "input", "continuous", start="0.5", own=limits(0, 50, unit="W")),
    Variable("price", "Real", 17, "input", "discrete", start="0.3", own=limits(0, 100)),
    Variable("persons", "Integer", 3, "input", "discrete", start="1", own=limits(0, 50)),
    Variable("window", "Boolean", 2, "input", "discrete", start="false"),
    Variable("request", "Enumeration", 11, "input", "discrete", start="0", own={"declaredType": "Request"}),
    Variable("remark", "String", 2, "input", "discrete", start=""),
    Variable("room.T", "Real", 19, "output", "continuous", "exact", "18", limits(-100, 300, unit=K, nominal="20")),
    Variable(
        "energy", "Real", 20, "output", "continuous", "exact", "0", {"unit": "J", "nominal": "100", "reinit": "true"}
    ),
    Variable("heater.T", "Real", 18, "local", "continuous", "exact", "20", limits(-100, 500, unit=K, nominal="40")),
    Variable("der(room.T)", "Real", 22, "local", "continuous", own={"derivative": "@room.T"}),
    Variable("der(heater.T)", "Real", 21, "local", "continuous", own={"derivative": "@heater.T"}),
    Variable("der(energy)", "Real", 23, "local", "continuous", own={"derivative": "@energy"}),
    Variable("T_sensor", "Real", 24, "output", "continuous", own=limits(-105, 305, unit=K)),
    Variable("T_felt", "Real", 25, "output", "continuous", own={"unit": K}),
    Variable("Q_out", "Real", 26, "output", "continuous", own={"unit": "W"}),
    Variable("P", "Real", 27, "output", "discrete", own={"unit": "W"}),
    Variable("cost", "Real", 28, "output", "continuous"),
    Variable("switches", "Integer", 5, "output", "discrete"),
    Variable("phase", "Enumeration", 12, "output", "discrete", own={"declaredType": "Phase"}),
    Variable("alarm", "Boolean", 4, "output", "discrete"),
    Variable("status", "String", 4, "output", "discrete"),
    Variable("thermostat.setpoint", "Real", 29, "local", "discrete", own={"unit": K}),
    Variable("thermostat.relay", "Boolean", 3, "local", "discrete"),
    Variable("schedule.events", "Integer", 6, "local", "discrete"),
    Variable("schedule.day_number", "Integer", 7, "local", "discrete"),
    Variable("room.T_wall", "Real", 32, "local", "continuous", "approx", "15", limits(-100, 300, unit=K)),
    Variable("water.c", "Real", 30, "local", "constant", start="4.186"),
    Variable("revision", "Integer", 8, "local", "constant", start="7"),
    Variable("maker", "String", 5, "local", "constant", start="zoo"),
    Variable("display.T", "Real", 24, "local", "continuous", own={"unit": K}),
)

INDEX = {v.name: k for k, v in enumerate(VARIABLES, 1)}

OUTPUTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("T_sensor", ("room.T",)),
    ("T_felt", ("T_amb", "room.T")),
    ("Q_out", ("T_amb", "window", "room.T")),
    ("P", ("request",)),
    ("cost", ("price", "energy")),
    ("room.T", ("room.T",)),
    ("energy", ("energy",)),
    ("switches", ()),
    ("phase", ()),
    ("alarm", ()),
    ("status", ("remark",)),
)
DERIVATIVES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("der(heater.T)", ("request", "room.T", "heater.T")),
    ("der(room.T)", ("T_amb", "Q_sun", "persons", "window", "room.T", "heater.T")),
    ("der(energy)", ("request",)),
)
INITIAL: dict[str, tuple[str, ...] | None] = {
    "room.tau": ("room.C", "room.G_loss"),
    "heater.P_rel": ("heater.P_max", "heater.C"),
    "schedule.slots": ("schedule.day",),
    "heater.oversized": ("heater.P_max", "heater.stages"),
    "room.label": ("room.name",),
    "der(room.T)": None,
    "der(heater.T)": None,
    "der(energy)": None,
    "T_sensor": ("sensor.offset", "room.T"),
    "T_felt": ("sensor.weight", "T_amb", "room.T"),
    "Q_out": None,
    "P": None,
    "cost": ("price", "energy"),
    "switches": (),
    "phase": None,
    "alarm": None,
    "status": None,
}

UNITS = """\
  <UnitDefinitions>
    <Unit name="s"><BaseUnit s="1"/></Unit>
    <Unit name="W"><BaseUnit kg="1" m="2" s="-3"/></Unit>
    <Unit name="J"><BaseUnit kg="1" m="2" s="-2"/><DisplayUnit name="kWh" factor="2.777777777777778e-7"/></Unit>
    <Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Curve">
      <Enumeration>
        <Item name="linear" value="1"/>
        <Item name="quadratic" value="2"/>
        <Item name="cubic" value="3"/>
      </Enumeration>
    </SimpleType>
    <SimpleType name="Profile">
      <Enumeration>
        <Item name="flat" value="1"/>
        <Item name="day" value="2"/>
        <Item name="late" value="3"/>
      </Enumeration>
    </SimpleType>
    <SimpleType name="Request">
      <Enumeration>
        <Item name="off" value="-1"/>
        <Item name="auto" value="0"/>
        <Item name="boost" value="5"/>
      </Enumeration>
    </SimpleType>
    <SimpleType name="Phase">
      <Enumeration>
        <Item name="fresh" value="1"/>
        <Item name="serviced" value="2"/>
      </Enumeration>
    </SimpleType>
  </TypeDefinitions>
"""
CATEGORIES = """\
  <LogCategories>
    <Category name="logEvents"/>
    <Category name="logStatusWarning"/>
    <Category name="logStatusDiscard"/>
    <Category name="logStatusError"/>
  </LogCategories>
"""
ME = (
    '  <ModelExchange modelIdentifier="Thermostat" canNotUseMemoryManagementFunctions="true" '
    'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"/>\n'
)
CS = (
    '  <CoSimulation modelIdentifier="Thermostat" canHandleVariableCommunicationStepSize="true" '
    'canInterpolateInputs="true" maxOutputDerivativeOrder="1" canNotUseMemoryManagementFunctions="true" '
    'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"/>\n'
)
EXPERIMENT = '  <DefaultExperiment startTime="0" stopTime="60" tolerance="1e-6" stepSize="0.25"/>\n'


def unknown(name: str, dependencies: tuple[str, ...] | None) -> str:
    listed = ""
    if dependencies is not None:
        listed = ' dependencies="' + " ".join(str(k) for k in sorted(INDEX[d] for d in dependencies)) + '"'
    return f'      <Unknown index="{INDEX[name]}"{listed}/>\n'


def thermostat(huge: bool = False) -> str:
    """The description of the base unit."""
    base = HUGE if huge else 0
    variables = "".join(v.xml(base) for v in VARIABLES)
    for name, index in INDEX.items():
        variables = variables.replace(f'"@{name}"', f'"{index}"')
    initial = "".join(unknown(name, INITIAL[name]) for name in sorted(INITIAL, key=INDEX.__getitem__))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<fmiModelDescription fmiVersion="2.0" modelName="Rooms.Thermostat" guid="{GUID}" '
        'description="A room with a heater and a thermostat" version="1.2" generationTool="zoo" '
        'generationDateAndTime="2024-03-01T08:00:00Z" variableNamingConvention="structured" '
        'numberOfEventIndicators="2">\n'
        + ME
        + CS
        + UNITS
        + CATEGORIES
        + EXPERIMENT
        + "  <ModelVariables>\n"
        + variables
        + "  </ModelVariables>\n"
        + "  <ModelStructure>\n    <Outputs>\n"
        + "".join(unknown(n, d) for n, d in OUTPUTS)
        + "    </Outputs>\n    <Derivatives>\n"
        + "".join(unknown(n, d) for n, d in DERIVATIVES)
        + "    </Derivatives>\n    <InitialUnknowns>\n"
        + initial
        + "    </InitialUnknowns>\n  </ModelStructure>\n</fmiModelDescription>\n"
    )


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    """Each edit replaces the first occurrence of a text, which must exist; '*' before it replaces all."""
    for old, new in edits:
        everywhere = old.startswith("*")
        old = old.removeprefix("*")
        if old not in text:
            raise ValueError(f"nothing to replace: {old!r}")
        text = text.replace(old, new) if everywhere else text.replace(old, new, 1)
    return text
