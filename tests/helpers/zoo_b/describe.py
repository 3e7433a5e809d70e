"""Model descriptions of the units, written from small tables: one row per variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

GUID = "{5d2f7c1e-9a44-4b0e-8f57-2c6ad8e40b13}"
IDENTIFIER = "tankpair"


@dataclass(frozen=True)
class Row:
    """One variable: key in the tables of dependencies, value reference, type and attributes."""

    key: str
    name: str
    vr: int
    type: str
    causality: str = ""
    variability: str = ""
    initial: str = ""
    start: str = ""
    more: str = ""
    derivative: str = ""


@dataclass(frozen=True)
class Description:
    """All that a modelDescription.xml needs."""

    model: str
    rows: tuple[Row, ...]
    outputs: dict[str, str] = field(default_factory=dict)
    derivatives: dict[str, str] = field(default_factory=dict)
    initial: dict[str, str] = field(default_factory=dict)
    experiment: str = 'startTime="0" stopTime="20" tolerance="1e-6" stepSize="0.1"'
    indicators: int = 0
    exchange: str = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
    slave: str = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
    types: str = ""

    def index(self, key: str) -> int:
        for number, row in enumerate(self.rows, 1):
            if row.key == key:
                return number
        raise KeyError(key)

    def _unknowns(self, name: str, table: dict[str, str], ordered: bool = False) -> str:
        if not table:
            return ""
        keys = sorted(table, key=self.index) if ordered else list(table)
        lines = [f"    <{name}>"]
        for key in keys:
            words, _, kinds = table[key].partition("|")
            if words == "*":
                lines.append(f'      <Unknown index="{self.index(key)}"/>')
                continue
            numbers = " ".join(str(n) for n in sorted(self.index(word) for word in words.split()))
            kind = f' dependenciesKind="{kinds}"' if kinds else ""
            lines.append(f'      <Unknown index="{self.index(key)}" dependencies="{numbers}"{kind}/>')
        return "\n".join([*lines, f"    </{name}>", ""])

    def _variable(self, row: Row) -> str:
        attributes = f'name={quoteattr(row.name)} valueReference="{row.vr}"'
        for name in ("causality", "variability", "initial"):
            if getattr(row, name):
                attributes += f' {name}="{getattr(row, name)}"'
        inner = row.more
        if row.start or (row.type == "String" and row.initial == "exact"):
            inner += f" start={quoteattr(row.start)}"
        if row.derivative:
            inner += f' derivative="{self.index(row.derivative)}"'
        body = f"<{row.type} {inner.strip()}/>" if inner else f"<{row.type}/>"
        return f"    <ScalarVariable {attributes}>{body}</ScalarVariable>\n"

    def xml(self) -> str:
        own = 'canNotUseMemoryManagementFunctions="true"'
        kinds = [
            f'  <{element} modelIdentifier="{IDENTIFIER}" {own} {flags}/>\n'
            for element, flags in (("ModelExchange", self.exchange), ("CoSimulation", self.slave))
            if flags != "REMOVE"
        ]
        experiment = f"  <DefaultExperiment {self.experiment}/>\n" if self.experiment else ""
        structure = self._unknowns("Outputs", self.outputs) + self._unknowns("Derivatives", self.derivatives)
        structure += self._unknowns("InitialUnknowns", self.initial, ordered=True)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<fmiModelDescription fmiVersion="2.0" modelName="{self.model}" guid="{GUID}"'
            ' generationTool="Hand-written units" generationDateAndTime="2024-05-06T07:08:09Z"'
            f' variableNamingConvention="structured" numberOfEventIndicators="{self.indicators}">\n'
            f"{''.join(kinds)}"
            f"{self.types}{LOGGING}{experiment}"
            f"  <ModelVariables>\n{''.join(map(self._variable, self.rows))}  </ModelVariables>\n"
            f"  <ModelStructure>\n{structure}  </ModelStructure>\n</fmiModelDescription>\n"
        )


LOGGING = (
    "  <LogCategories>\n"
    '    <Category name="logEvents"/>\n    <Category name="logStatusWarning"/>\n'
    '    <Category name="logStatusDiscard"/>\n    <Category name="logStatusError"/>\n    <Category name="logAll"/>\n'
    "  </LogCategories>\n"
)

TYPES = """  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/></Unit>
    <Unit name="m3/s"><BaseUnit m="3" s="-1"/></Unit>
    <Unit name="s"><BaseUnit s="1"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Level"><Real quantity="Length" unit="m" min="-0.5" max="50"/></SimpleType>
    <SimpleType name="Fluid"><Enumeration>
      <Item name="water" value="1"/><Item name="oil" value="2"/><Item name="glycol" value="3"/>
    </Enumeration></SimpleType>
    <SimpleType name="PumpMode"><Enumeration>
      <Item name="off" value="1"/><Item name="manual" value="2"/><Item name="auto" value="3"/>
    </Enumeration></SimpleType>
    <SimpleType name="Regime"><Enumeration>
      <Item name="normal" value="1"/><Item name="low" value="2"/><Item name="overflow" value="3"/>
      <Item name="leak" value="4"/>
    </Enumeration></SimpleType>
  </TypeDefinitions>
"""


def _fixed(key: str, name: str, vr: int, start: str, kind: str = "Real", more: str = "") -> Row:
    return Row(key, name, vr, kind, "parameter", "fixed", "exact", start, more)


def _tuned(key: str, name: str, vr: int, start: str, kind: str = "Real", more: str = "") -> Row:
    return Row(key, name, vr, kind, "parameter", "tunable", "exact", start, more)


def _out(key: str, name: str, vr: int, kind: str = "Real", variability: str = "discrete", more: str = "") -> Row:
    return Row(key, name, vr, kind, "output", variability, "calculated", more=more)


def _local(key: str, name: str, vr: int, kind: str = "Real", variability: str = "discrete") -> Row:
    return Row(key, name, vr, kind, "local", variability, "calculated")


LEVEL = ' declaredType="Level"'
TANK_ROWS = (
    Row("time", "time", 100, "Real", "independent", "continuous", more=' unit="s"'),
    _fixed("area1", "tank1.A", 101, "1.0", more=' min="0.01"'),
    _fixed("area2", "tank2.A", 102, "0.8", more=' min="0.01"'),
    _fixed("k_valve", "valve.k", 103, "0.6"),
    _fixed("k_drain", "drain.k", 104, "0.25"),
    _fixed("k_leak", "leak.k", 105, "0.15"),
    _fixed("k_over", "overflow.k", 106, "0.2"),
    _fixed("q_max", "pump.q_max", 107, "0.5"),
    _fixed("lag", "pump.lag", 108, "0.7", more=' min="0.01"'),
    _fixed("h_over", "overflow.h", 109, "1.6"),
    _fixed("h_low", "alarm.h_low", 110, "0.9"),
    _fixed("h_high", "alarm.h_high", 111, "1.3"),
    _fixed("v_pulse", "meter.v_pulse", 112, "0.3", more=' min="0.001" max="1000"'),
    _fixed("period", "control.period", 113, "0.4", more=' min="0.001"'),
    _fixed("t_leak", "leak.t", 114, "14.1"),
    _fixed("rain_amp", "rain.amp", 115, "0.02"),
    _fixed("rain_omega", "rain.omega", 116, "0.7"),
    _fixed("gain_set", "control.gain_set", 117, "100.0"),
    _fixed("w_start", "pump.w_start", 118, "0.4"),
    _tuned("kp", "control.kp", 119, "0.9"),
    _fixed("ti", "control.ti", 120, "2.5", more=' min="0.01"'),
    _tuned("manual", "control.manual", 121, "0.4"),
    Row("volume_max", "tank1.volume_max", 130, "Real", "calculatedParameter", "fixed", "calculated"),
    Row("ki", "control.ki", 131, "Real", "calculatedParameter", "tunable", "calculated"),
    Row("u_valve", "valve.u", 140, "Real", "input", "continuous", start="0.5"),
    Row("u_inflow", "inflow", 141, "Real", "input", "continuous", start="0.0", more=' unit="m3/s"'),
    Row("setpoint", "setpoint", 142, "Real", "input", "discrete", start="1.2"),
    Row("h1", "tank1.h", 150, "Real", "local", "continuous", "exact", "1.0", LEVEL),
    Row("h2", "tank2.h", 151, "Real", "output", "continuous", "exact", "0.8", LEVEL),
    Row("w", "pump.w", 152, "Real", "local", "continuous", "calculated"),
    Row("vol", "meter.vol", 153, "Real", "local", "continuous", "exact", "0.0", ' reinit="true" nominal="0.1"'),
    Row("level", "tank2.level", 151, "Real", "local", "continuous", "calculated", more=LEVEL),
    Row("der_h1", "der(tank1.h)", 160, "Real", "local", "continuous", "calculated", derivative="h1"),
    Row("der_h2", "der(tank2.h)", 161, "Real", "local", "continuous", "calculated", derivative="h2"),
    Row("der_w", "der(pump.w)", 162, "Real", "local", "continuous", "calculated", derivative="w"),
    Row("der_vol", "der(meter.vol)", 163, "Real", "local", "continuous", "calculated", derivative="vol"),
    _out("q_valve", "q_valve", 170, variability="continuous", more=' unit="m3/s"'),
    _out("q_over", "q_over", 171, variability="continuous", more=' unit="m3/s"'),
    _out("power", "power", 172, variability="continuous", more=' min="-100" max="200"'),
    _out("stored", "stored", 173, variability="continuous"),
    _out("rain", "rain_flow", 174, variability="continuous", more=' unit="m3/s"'),
    _out("command", "pump.command", 175),
    _out("set_scaled", "set_scaled", 176),
    _local("q_drain", "drain.q", 180, variability="continuous"),
    _local("integral", "control.integral", 181),
    Row("gravity", "gravity", 182, "Real", "local", "constant", "exact", "9.81"),
    _fixed("boost_max", "control.boost_max", 200, "3", "Integer"),
    _tuned("alarm_delay", "alarm.delay", 201, "1", "Integer", ' min="0"'),
    Row("pulse_ml", "meter.pulse_ml", 202, "Integer", "calculatedParameter", "fixed", "calculated"),
    Row("u_boost", "boost", 203, "Integer", "input", "discrete", start="0"),
    Row("pulses", "meter.pulses", 204, "Integer", "output", "discrete", "exact", "0"),
    _local("samples", "control.samples", 205, "Integer"),
    _local("events", "events", 206, "Integer"),
    _fixed("fluid", "fluid", 207, "1", "Enumeration", ' declaredType="Fluid"'),
    _tuned("mode", "pump.mode", 208, "3", "Enumeration", ' declaredType="PumpMode"'),
    _out("regime", "regime", 209, "Enumeration", more=' declaredType="Regime"'),
    _fixed("has_rain", "rain.present", 300, "true", "Boolean"),
    _tuned("mute", "alarm.mute", 301, "false", "Boolean"),
    Row("u_enable", "enable", 302, "Boolean", "input", "discrete", start="true"),
    _out("alarm_on", "alarm.on", 303, "Boolean"),
    _local("overflow", "overflow.active", 304, "Boolean"),
    _out("running", "pump.running", 305, "Boolean"),
    _local("leaking", "leak.active", 306, "Boolean"),
    _fixed("label", "label", 400, "TP-01", "String"),
    _tuned("operator", "operator", 401, "anna", "String"),
    Row("u_tag", "tag", 402, "String", "input", "discrete", start="-"),
    _out("alarm", "alarm.text", 403, "String"),
    _local("last_event", "last_event", 404, "String"),
    Row("revision", "revision", 405, "String", "local", "constant", "exact", "rev C"),
)

TANK = Description(
    "TankPair",
    TANK_ROWS,
    outputs={
        "h2": "h2|constant",
        "q_valve": "u_valve h1 h2",
        "q_over": "h1",
        "power": "w h1",
        "stored": "h1 h2",
        "rain": "time",
        "command": "",
        "set_scaled": "setpoint|fixed",
        "pulses": "",
        "regime": "",
        "alarm_on": "",
        "running": "u_enable",
        "alarm": "",
    },
    derivatives={
        "der_h1": "w u_inflow u_valve h1 h2",
        "der_h2": "u_valve h1 h2 time",
        "der_w": "w|fixed",
        "der_vol": "h2",
    },
    initial={
        "volume_max": "area1 h_over",
        "ki": "kp ti",
        "w": "w_start",
        "der_h1": "area1 k_valve k_over q_max h_over w_start u_valve u_inflow h1 h2 fluid",
        "der_h2": "area2 k_valve k_drain rain_amp rain_omega u_valve h1 h2 time fluid has_rain",
        "der_w": "lag w_start manual",
        "der_vol": "k_drain h2 fluid",
        "q_valve": "k_valve u_valve h1 h2 fluid",
        "q_over": "k_over h_over h1",
        "power": "q_max w_start h1",
        "stored": "area1 area2 h1 h2",
        "rain": "rain_amp rain_omega time has_rain",
        "command": "manual",
        "set_scaled": "gain_set setpoint",
        "pulse_ml": "v_pulse",
        "regime": "h_over h_low h1 h2",
        "alarm_on": "h_high alarm_delay h2",
        "running": "mode u_enable",
        "alarm": "h_high alarm_delay h2 mute label operator",
    },
    indicators=4,
    exchange='canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"',
    slave='canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true" maxOutputDerivativeOrder="1" '
    'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"',
    types=TYPES,
)

CLOCK = Description(
    "Clock",
    (
        Row("time", "time", 1, "Real", "independent", "continuous"),
        Row("wave", "wave", 2, "Real", "output", "discrete", "exact", "0"),
        _fixed("rate", "rate", 3, "0.25"),
        Row("ticks", "ticks", 1, "Integer", "output", "discrete", "exact", "0"),
        Row("enable", "enable", 1, "Boolean", "input", "discrete", start="true"),
    ),
    outputs={"wave": "", "ticks": ""},
)

RELAY = Description(
    "Relay",
    (
        Row("time", "time", 1, "Real", "independent", "continuous"),
        Row("x", "heater.T", 2, "Real", "output", "continuous", "exact", "1.0"),
        Row("der", "der(heater.T)", 3, "Real", "local", "continuous", "calculated", derivative="x"),
        _fixed("power", "heater.power", 4, "4.0", more=' min="3" max="6"'),
        Row("load", "load", 5, "Real", "input", "continuous", start="2.0", more=' min="1" max="2.5"'),
        Row("on", "heater.on", 1, "Boolean", "output", "discrete", "exact", "true"),
        Row("switches", "switches", 1, "Integer", "output", "discrete", "exact", "0"),
    ),
    outputs={"x": "x", "on": "", "switches": ""},
    derivatives={"der": "load"},
    initial={"der": "power load on"},
    indicators=1,
)

STIFF = Description(
    "Stiff",
    (
        Row("time", "time", 1, "Real", "independent", "continuous"),
        Row("fast", "fast", 2, "Real", "output", "continuous", "exact", "0.5"),
        Row("slow", "slow", 3, "Real", "output", "continuous", "exact", "0.5"),
        Row("der_fast", "der(fast)", 4, "Real", "local", "continuous", "calculated", derivative="fast"),
        Row("der_slow", "der(slow)", 5, "Real", "local", "continuous", "calculated", derivative="slow"),
        Row("u", "u", 6, "Real", "input", "continuous", start="1.0"),
    ),
    outputs={"fast": "fast", "slow": "slow"},
    derivatives={"der_fast": "fast slow", "der_slow": "slow u"},
    initial={"der_fast": "fast slow", "der_slow": "slow u"},
    experiment='startTime="0" stopTime="5" tolerance="1e-6" stepSize="0.05"',
)

ONLY_TIME = Description("OnlyTime", (Row("time", "time", 0, "Real", "independent", "continuous"),))

NOISE = Description(
    "Noise",
    (
        Row("time", "time", 1, "Real", "independent", "continuous"),
        _out("noise", "noise", 2),
        _local("sum", "sum", 3),
        _fixed("seed", "seed", 1, "12345", "Integer"),
    ),
    outputs={"noise": ""},
    initial={"noise": "seed"},
    experiment='startTime="0" stopTime="10" stepSize="0.05"',
)

GEARS = Description(
    "Gears",
    (
        Row("time", "time", 1, "Real", "independent", "continuous"),
        Row("speed", "speed", 2, "Real", "output", "continuous", "exact", "0.0"),
        Row("der", "der(speed)", 3, "Real", "local", "continuous", "calculated", derivative="speed"),
        Row("throttle", "throttle", 4, "Real", "input", "continuous", start="0.8"),
        _fixed("ratio", "ratio", 5, "3.0"),
        _out("torque", "torque", 6, variability="continuous"),
        Row("gear", "gear", 1, "Enumeration", "output", "discrete", "exact", "1", ' declaredType="Gear"'),
    ),
    outputs={"speed": "speed", "torque": "throttle speed", "gear": ""},
    derivatives={"der": "throttle speed"},
    initial={"der": "throttle speed ratio gear", "torque": "throttle speed ratio gear"},
    indicators=2,
    types="""  <TypeDefinitions>
    <SimpleType name="Gear"><Enumeration>
      <Item name="first" value="1"/><Item name="second" value="2"/><Item name="third" value="3"/>
    </Enumeration></SimpleType>
  </TypeDefinitions>
""",
)

MANY = Description(
    "Many",
    (
        Row("time", "time", 4294967295, "Real", "independent", "continuous"),
        Row("u", "u", 0, "Real", "input", "continuous", start="1.0"),
        *(_fixed(f"p{i}", f"p[{i + 1}]", 2147483648 + i, repr(1.0 + 0.001 * i)) for i in range(1000)),
        *(_out(f"y{i}", f"y[{i + 1}]", 4294960000 + i, variability="continuous") for i in range(1000)),
    ),
    outputs={f"y{i}": "u|fixed" for i in range(1000)},
    initial={f"y{i}": f"u p{i}" for i in range(1000)},
)

BASES = {
    "tank": TANK,
    "clock": CLOCK,
    "relay": RELAY,
    "stiff": STIFF,
    "time": ONLY_TIME,
    "noise": NOISE,
    "gears": GEARS,
    "many": MANY,
}
