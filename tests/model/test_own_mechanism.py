"""A mechanism of one's own: any SI unit, and one line with file, line and cure for every mistake in its text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.description import Description
from helpers.paths import ROOT, TESTS
from helpers.tolerances import CLOSED_FORM
from mechfmu import mechanisms
from mechfmu.cli import main
from mechfmu.model import UserError
from mechfmu.model.units import in_unit, per_second, unit
from mechfmu.model.variables import Row
from mechfmu.simulation.engines import engine

EXAMPLE = ROOT / "examples" / "motor_pendulum"
KEY = EXAMPLE.name

Write = Callable[[str, str], list[str]]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put the example into the current folder, with one part of its text changed; its lines."""
    monkeypatch.chdir(tmp_path)

    def written(old: str, new: str) -> list[str]:
        shutil.copytree(EXAMPLE, tmp_path / KEY, ignore=shutil.ignore_patterns("__pycache__"))
        text = (tmp_path / KEY / "model.py").read_text(encoding="utf-8")
        assert old in text
        text = text.replace(old, new, 1)
        (tmp_path / KEY / "model.py").write_text(text, encoding="utf-8")
        return text.splitlines()

    return written


# --- units ------------------------------------------------------------------------------------------------------------

UNITS = {  # exponents of the base units, factor: the SI brochure's, written out by hand
    "V": ({"kg": 1, "m": 2, "s": -3, "A": -1}, 1.0),
    "A": ({"A": 1}, 1.0),
    "Ohm": ({"kg": 1, "m": 2, "s": -3, "A": -2}, 1.0),
    "mH": ({"kg": 1, "m": 2, "s": -2, "A": -2}, 1e-3),
    "uF": ({"kg": -1, "m": -2, "s": 4, "A": 2}, 1e-6),
    "N.m/A": ({"kg": 1, "m": 2, "s": -2, "A": -1}, 1.0),
    "K": ({"K": 1}, 1.0),
    "W/(m2.K)": ({"kg": 1, "s": -3, "K": -1}, 1.0),
    "MPa": ({"kg": 1, "m": -1, "s": -2}, 1e6),
    "kHz": ({"s": -1}, 1e3),
    "mm2": ({"m": 2}, 1e-6),
    "g/cm3": ({"kg": 1, "m": -3}, 1e3),
    "l/min": ({"m": 3, "s": -1}, 1e-3 / 60),
    "rpm": ({"rad": 1, "s": -1}, np.pi / 30),
    "N.s2/m": ({"kg": 1}, 1.0),
    "1": ({}, 1.0),
}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_any_product_of_si_units(name: str) -> None:
    exponents, factor = UNITS[name]
    assert unit(name).exponents == exponents
    assert unit(name).factor == pytest.approx(factor, rel=1e-15)


@pytest.mark.parametrize("name", [*UNITS, "rad/s", "J", "1/s2", "N.m.s/rad"])
def test_the_unit_of_a_rate_is_the_unit_per_second(name: str) -> None:
    rate, own = unit(per_second(name)), unit(name)
    assert {**rate.exponents, "s": rate.exponents.get("s", 0) + 1} == {**own.exponents, "s": own.exponents.get("s", 0)}
    assert rate.factor == pytest.approx(own.factor, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "words"),
    (
        ("Nm", "did you mean N.m?"), ("kWh", "did you mean kW.h?"), ("ohm", "did you mean Ohm?"), ("N*m", "N.m"),
        ("m^2", "kg.m2"), ("J/kg/K", "J/(kg.K)"), ("J/kg.K", "J/(kg.K)"), ("furlong", "there is no unit furlong"),
        ("N.", "a symbol is missing"), ("m0", "m0 is not a unit"), ("", "missing"),
    ),
)  # fmt: skip
def test_an_unknown_unit_is_an_error_with_a_hint(name: str, words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        unit(name)


def test_units_arrive_in_the_fmu(write: Write, tmp_path: Path) -> None:
    write("", "")
    assert main(["build", KEY, "-q", "--start", "motor.inductance=0.05H", "--start", "shaft.angle_start=30deg"]) == 0
    assert main(["check", "MotorPendulum.fmu", "--only", "S"]) == 0
    description = Description(tmp_path / "MotorPendulum.fmu")
    units = {u.get("name"): dict(u.find("BaseUnit").attrib) for u in description.root.findall("UnitDefinitions/Unit")}
    assert units["mH"] == {"kg": "1", "m": "2", "s": "-2", "A": "-2", "factor": "0.001"}
    assert units["N.m/A"] == {"kg": "1", "m": "2", "s": "-2", "A": "-1"}
    assert units["A/s"] == {"A": "1", "s": "-1"}
    assert description.typed["motor.inductance"]["unit"] == "mH" and float(
        description.typed["motor.inductance"]["start"]
    ) == pytest.approx(50.0)
    assert float(description.typed["shaft.angle_start"]["start"]) == pytest.approx(np.pi / 6)


def test_energy_of_the_example_is_kept(write: Write) -> None:
    """Electric power in, heat out: a wrong factor between mH and H, or between N.m/A and V.s/rad, would show."""
    write("", "")
    mechanism = mechanisms.make(mechanisms.add_folder(KEY))
    result = mechanism.simulate(stop=2.0, inputs={"motor.voltage": lambda t: 6.0 * np.sin(4.0 * t)}, tolerance=1e-10)
    kept = result["energy.total"] - result["energy.input"] + result["energy.dissipated"]
    assert np.ptp(kept) < CLOSED_FORM and result["energy.dissipated"][-1] > 1.0


# --- values with units on the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted", "number"),
    (
        ("0.5", "rad", 0.5), ("30deg", "rad", np.pi / 6), ("5 mm", "m", 0.005), ("2000rpm", "rad/s", 2000 * np.pi / 30),
        ("1e3mA", "A", 1.0), ("-2kN.m", "N.m", -2000.0), ("1.5H", "mH", 1500.0), ("90deg/s", "rad/s", np.pi / 2),
        ("36km/h", "m/s", 10.0), ("7V.s/rad", "N.m.s/(A.s.rad)", 7.0),
    ),
)  # fmt: skip
def test_a_value_is_converted_to_the_unit_of_its_variable(text: str, wanted: str, number: float) -> None:
    assert in_unit(text, unit(wanted)) == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    (
        ("5mm", "rad", "mm does not fit its unit, which is rad"),
        ("2000rpm", "Hz", "rpm does not fit its unit, which is Hz"),
        ("5mm", "1", "it has no unit: give a plain number"),
        ("5furlong", "m", "there is no unit furlong"),
    ),
)
def test_a_value_of_another_quantity_is_an_error(text: str, wanted: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        in_unit(text, unit(wanted))


# --- mistakes in the text ---------------------------------------------------------------------------------------------

PACK = "return self.table.x.pack(q=x.w, w=dw, i=di, work=u.V * x.i, loss=p.R * x.i**2 + p.damping * x.w**2)"
PLAIN_NUMBER = (
    "this converts a value to a number, but the value is not known when equations are recorded. "
    "Use np.sin instead of math.sin"
)
MISTAKES = {  # name: (text, its replacement, a part of the line to blame, what is said)
    "math.sin": ("np.sin(x.q)", "__import__('math').sin(x.q)", "sin(x.q)", PLAIN_NUMBER),
    "float()": ("np.sin(x.q)", "np.sin(float(x.q))", "float(x.q)", PLAIN_NUMBER),
    "a[i] =": (PACK, "a = np.zeros(5)\n        a[0] = x.w\n        return a", "a[0] =", PLAIN_NUMBER),
    "written NaN": ("np.sin(x.q)", "np.nan", "def rates", "rates: the recorded equations contain NaN"),
    "a decision": ("dw = (", "dw = 0.0 if x.q > 1 else (", "if x.q",
        "this decides by a value, which is not known when equations are recorded. Instead of if"),
    "too few numbers": (PACK, "return np.stack([x.w, dw])", "def rates",
        "instead of 5: return self.table.x.pack(q=..., w=..., i=..., work=..., loss=...)"),
    "no return": ("return self.table.y.pack", "self.table.y.pack", "def outputs",
        "outputs returns nothing: return self.table.y.pack(torque=..., "),
    "a list": (PACK, "return [x.w, dw, di, 0.0, 0.0]", "def rates",
        "rates returns a list, not an array: return self.table.x.pack(q=..."),
    "one of two results": ("loss=0.0), np.zeros(0)", "loss=0.0)", "def initial",
        "initial returns one result instead of two: return self.table.x.pack(q=..."),
    "a vector for a number": ("q=x.w,", "q=np.stack([x.w, x.w]),", "np.stack([x.w",
        "pack: q has 2 elements instead of 1"),
    "shapes that do not fit": ("dw = (", "dw = np.stack([x.q, x.w]) + np.stack([x.q, x.w, x.i]) + (", "np.stack([x.q",
        "the shapes do not fit"),
    "a part is missing": ("i=di, ", "", "pack(q=x.w", "pack: i is missing (it takes: q, w, i, work, loss)"),
    "a misspelt part": ("work=u.V", "wrok=u.V", "wrok",
        "pack: there is no wrok in this part of the table; did you mean work?"),
    "a misspelt symbol": ("p.gravity * p.l *", "p.gravty * p.l *", "gravty",
        "there is no gravty in this part of the table; did you mean gravity?"),
    "an undefined name": ("p.gravity * p.l *", "gravity * p.l *", " gravity",
        "gravity is not defined: a variable of the table is p.gravity"),
    "a misspelt function": ("np.sin(x.q)", "np.sinn(x.q)", "sinn", "numpy has no sinn; did you mean sin?"),
    "np.array of symbols": (PACK, "return np.array([x.w, dw, di, 0.0, 0.0])", "np.array([x.w",
        "np.array cannot hold symbols: use np.stack"),
    "a new axis": ("(1), L in mH", "(1)\n        di = np.stack([di])[None, :][0]", "None",
        "None and np.newaxis as an index are not followed: use np.reshape"),
    "a missing function": ("def outputs", "def output", "class Motor",
        "has no function outputs(self, t, x, d, u, p); did you mean output?"),
    "missing arguments": ("def outputs(self, t: Array, ", "def outputs(self, ", "def outputs",
        "must be outputs(self, t, x, d, u, p)"),
    "a syntax error": ("/ p.J  #", "/ p.J)  #", "/ p.J)", "unmatched ')': `dw = "),
    "a missing comma": ("above=0.0),\n", "above=0.0)\n", "motor.resistance",
        "invalid syntax. Perhaps you forgot a comma?"),
    "a misspelt import": ("Mechanism, Row", "Mechanism, Rwo", "Rwo", "model has no Rwo; did you mean Row?"),
    "an absolute import": ("from ...model", "from facade", "from facade",
        "No module named 'facade': write `from ...facade import ...`, with the dots"),
    "no class": ("(Mechanism)", "", "A pendulum on the", "there is no class derived from Mechanism: one is needed"),
    "another key": ('key = "motor', 'key = "moter', "class Motor",
        'key = "moter_pendulum": must be the name of the folder, "motor_pendulum"'),
    "no title": ("    title =", "    titel =", "class Motor", "class MotorPendulum has no title: write title = "),
    "no unit": ('winding", "Ohm"', 'winding"', "motor.resistance",
        'R: its unit is missing: write it after the description, "1" for a ratio'),
    "no description": ('"resistance of the winding", ', "", "motor.resistance",
        "R: its description is missing before the unit Ohm"),
    "a misspelt unit": ('"N.m/A"', '"Nm/A"', '"Nm/A"', "K: unit Nm/A: there is no unit Nm; did you mean N.m?"),
    "a misspelt role": ('"motor.voltage", "input"', '"motor.voltage", "imput"', "imput",
        "V: there is no role imput; did you mean input?"),
    "a misspelt field": ("above=0.0", "abvoe=0.0", "abvoe", "Row has no abvoe; did you mean above?"),
    "a start in quotes": ("start=0.3", 'start="0.3"', 'start="0.3"', "K: start = '0.3': must be a number"),
    "two equal names": ('"motor.inductance"', '"motor.resistance"', "def rows",
        "two variables have the name motor.resistance: names must differ"),
    "two equal symbols": ('Row("L"', 'Row("R"', "def rows",
        "there are two rows R of the role parameter: each needs a symbol of its own"),
    "a misspelt name in the drawing": ('("shaft.angle")', '("shaft.angel")', "shaft.angel",
        "there is no variable shaft.angel; did you mean shaft.angle?"),
    "a crooked stroke": ("[0.0, length * np.sin(q)]", "[length * np.sin(q)]", "def strokes",
        "stroke 1: must be a pair x, y of arrays of the same length"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_line_with_its_location_and_a_remedy(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str], mistake: str
) -> None:
    old, new, blamed, words = MISTAKES[mistake]
    lines = write(old, new)
    assert main(["build", KEY]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and words in said, said
    found = re.match(rf"mechfmu build: {KEY}[/\\]model\.py:(\d+): ", said)
    assert found and blamed in lines[int(found[1]) - 1], said
    assert not list(tmp_path.glob("*.fmu"))


def test_traceback_shows_the_rest(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("np.sin(x.q)", "np.sinn(x.q)")
    assert main(["build", KEY, "--traceback"]) == 2
    said = capsys.readouterr().err
    assert "Traceback" in said and "AttributeError: module 'numpy' has no attribute 'sinn'" in said
    assert said.splitlines()[-1].startswith("mechfmu build: motor_pendulum")


def test_a_fault_of_the_package_is_not_blamed_on_the_mechanism(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("", "")
    monkeypatch.setattr("mechfmu.codegen.recording.Recording._record", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["build", KEY])


def test_the_message_in_the_documentation_is_the_real_one(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """CONTRIBUTING.md quotes one of them; the others are above."""
    quoted = re.search(
        r"^mechfmu build: (motor_pendulum/model\.py:\d+: there is no gravty .*)$",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.M,
    )
    write(*MISTAKES["a misspelt symbol"][:2])
    assert main(["build", KEY]) == 2
    assert quoted and capsys.readouterr().err == f"mechfmu build: {quoted[1]}\n"


def test_an_integer_row_needs_no_unit() -> None:
    assert Row("n", "n", "parameter", "a count", kind="Integer").unit == "1"


# --- mistakes about events --------------------------------------------------------------------------------------------

BALL = TESTS / "extra_mechanisms" / "bouncing_ball"
NAMES = 'event_names = ("impact",)'
EVENT_MISTAKES = {  # name: (text, its replacement, a part of the line to blame, what is said)
    "a name in brackets": (NAMES, 'event_names = ("impact")', "event_names", 'must be a tuple, write ("impact",)'),
    "a number as a name": (NAMES, "event_names = (1,)", "event_names", "event_names: must be a tuple of names"),
    "two equal names": (NAMES, 'event_names = ("impact", "impact")', "event_names", "impact appears 2 times"),
    "no guards": ("def guards", "def borders", "event_names", "lists events, but there is no function guards("),
    "misspelt guards": ("def guards", "def gaurds", "gaurds", "gaurds is not part of a mechanism; did you mean"),
    "misspelt jump": ("def jump", "def jmp", "def jmp", "jmp is not part of a mechanism; did you mean jump?"),
    "no jump": ("def jump", "def reflect", "event_names", "the event impact has no effect: there is no function jump("),
    "misspelt names": ("event_names =", "event_name =", "event_name", "did you mean event_names?"),
    "too many guards": ("np.stack([self", "np.stack([1.0, self", "def guards", "guards returns 2 numbers instead of 1"),
    "a note of no event": (
        NAMES, NAMES + "\n    event_notes = {'impct': None}", "event_notes", "no event impct; did you mean impact?"),
    "a plain text as a note": (
        NAMES, NAMES + "\n    event_notes = {'impact': 'ouch'}", "event_notes", 'must be a Note, write Note("text")'),
    "notes in a tuple": (NAMES, NAMES + "\n    event_notes = ('ouch',)", "event_notes", "event_notes: must be a dict"),
    "texts of no requirements": (
        NAMES, NAMES + "\n    requirement_texts = ('x',)", "requirement_texts", "no function requirements(self, p)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", EVENT_MISTAKES)
def test_a_mistake_about_events_gets_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mistake: str
) -> None:
    monkeypatch.chdir(tmp_path)
    key = "hopping_ball"  # other tests import the ball under its own name
    shutil.copytree(BALL, tmp_path / key, ignore=shutil.ignore_patterns("__pycache__"))
    old, new, blamed, words = EVENT_MISTAKES[mistake]
    file = tmp_path / key / "model.py"
    text = file.read_text(encoding="utf-8").replace(BALL.name, key).replace(old, new, 1)
    file.write_text(text, encoding="utf-8")
    assert main(["build", key]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and words in said, said
    found = re.match(rf"mechfmu build: {key}[/\\]model\.py:(\d+): ", said)
    assert found and blamed in text.splitlines()[int(found[1]) - 1], said


def test_the_numpy_engine_finds_them_too() -> None:
    class Wrong(mechanisms.find("link_chain")):  # type: ignore[misc]
        event_names = "impact"

    with pytest.raises(UserError, match=r'write \("impact",\)'):
        engine("numpy", Wrong())


def test_a_folder_that_only_has_the_name_of_a_mechanism_is_not_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link_chain").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["list", "link_chain"]) == 0
