"""`--ref` and `--in`: the result files of the FMI cross-check."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from scipy.integrate import solve_ivp

from helpers.check_zoo import CLEAN, write_fmu
from mechfmu.check.cannot_check import CannotCheck
from mechfmu.check.dynamic.model import ModelVariable
from mechfmu.check.dynamic.recorded import RecordedInputs
from mechfmu.check.reference import MAX_ROWS, read_reference, read_table
from mechfmu.cli import main


def fields_of(name: str, type: str, causality: str, variability: str = "continuous") -> tuple[Any, ...]:
    """The fields of a variable of the model; those that a reference does not need are empty."""
    given = dict(name=name, type=type, causality=causality, variability=variability)
    return tuple(given.get(f.name) for f in fields(ModelVariable))


VARIABLES = [
    fields_of("time", "Real", "independent"),
    fields_of("h.m", "Real", "output"),
    fields_of("u", "Real", "input"),
    fields_of("on", "Boolean", "input", "discrete"),
    fields_of("count", "Integer", "output", "discrete"),
    fields_of("gain", "Real", "parameter", "tunable"),
    fields_of("mass", "Real", "parameter", "fixed"),
]


def write(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def test_headers_may_be_quoted_and_times_repeat_at_events(tmp_path: Path) -> None:
    ref = write(tmp_path / "a_ref.csv", '"time","h.m"\n0,1\n0.5,2\n0.5,3\n1, 4\n')
    inputs = write(tmp_path / "a_in.csv", "\ufeffTime, u, on\n0,1,0\n0.5,1,0\n0.5,2,true\n1,2,1\n")
    data = read_reference(ref, inputs, 1e-3).model_data(VARIABLES)
    assert (data["file"], data["tolerance"]) == ("a_ref.csv", 1e-3)
    assert (data["t"], data["signals"]) == ([0.0, 0.5, 1.0], {"h.m": [1.0, 3.0, 4.0]})
    t = data["inputs"].pop("time")
    assert t[1] < t[2] == 0.5 and t[2] - t[1] < 1e-12  # a jump
    assert data["inputs"] == {"u": [1.0, 1.0, 2.0, 2.0], "on": [0.0, 0.0, 1.0, 1.0]}


def test_inputs_may_be_in_the_reference(tmp_path: Path) -> None:
    ref = write(tmp_path / "a_ref.csv", "time,u,h.m\n0,1,5\n1,2,6\n")
    data = read_reference(ref, None).model_data(VARIABLES)
    assert data["signals"] == {"h.m": [5.0, 6.0]} and data["inputs"] == {"time": [0.0, 1.0], "u": [1.0, 2.0]}


def test_signals_may_be_discrete_and_inputs_tunable(tmp_path: Path) -> None:
    ref = write(tmp_path / "a_ref.csv", "time,count\n0,1\n1,2\n")
    inputs = write(tmp_path / "a_in.csv", "time,on,gain\n0,1,3\n1,0,4\n")
    data = read_reference(ref, inputs).model_data(VARIABLES)
    assert data["signals"] == {"count": [1.0, 2.0]}
    assert data["inputs"] == {"time": [0.0, 1.0], "on": [1.0, 0.0], "gain": [3.0, 4.0]}


def test_a_long_reference_is_thinned_out(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i}" for i in range(3 * MAX_ROWS))
    data = read_reference(write(tmp_path / "a.csv", f"time,h.m\n{rows}\n"), None).model_data(VARIABLES)
    assert len(data["t"]) == MAX_ROWS and data["t"][0] == 0 and data["t"][-1] == 3 * MAX_ROWS - 1
    assert data["signals"]["h.m"] == data["t"]
    inputs = write(tmp_path / "a_in.csv", "time,u\n0,0\n1,1\n")
    data = read_reference(tmp_path / "a.csv", inputs).model_data(VARIABLES)
    assert len(data["t"]) == 3 * MAX_ROWS, "inputs may change at every row"


def test_inputs_are_interpolated_up_to_a_jump() -> None:
    variables = {v.name: v for v in (ModelVariable(*f) for f in VARIABLES)}
    table = {"time": [0.0, 1.0, math.nextafter(2.0, 0.0), 2.0, 3.0], "u": [0, 2, 4, 0, 0], "on": [0, 1, 1, 1, 1]}
    inputs = RecordedInputs(table, variables)
    u, on = variables["u"], variables["on"]
    assert inputs(0.5) == {u: 1.0, on: 0} and inputs(1.0) == {u: 2.0, on: 1} and inputs(2.0) == {u: 0.0, on: 1}
    before = inputs.continuous_until(2.0)
    assert before(0.5) == {u: 1.0} and before(2.0)[u] == pytest.approx(4.0), "the value before the jump"
    assert inputs.jumps == [1.0, 2.0], "a discrete input, and two rows"
    assert inputs.merged([0.0, 0.5, 3.0], inputs.jumps) == [0.0, 0.5, 1.0, 2.0, 3.0]
    assert inputs.merged([0.0, 0.5, 2.0 + 1e-12, 3.0], inputs.steps) == [0.0, 0.5, 1.0, 2.0 + 1e-12, 3.0]


def test_few_rows_of_inputs_and_of_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A spring whose force rises and then jumps between two rows of the reference, solved by SciPy."""
    monkeypatch.chdir(tmp_path)

    def force(t: float) -> float:
        return 20 * t if t < 0.7 else -5.0

    def rates(t: float, x: list[float]) -> list[float]:
        return [x[1], -4 * x[0] - 0.3 * x[1] + force(t)]

    solved = solve_ivp(
        rates, (0, 1.5), [1.0, 0.0], rtol=1e-10, atol=1e-10, max_step=1e-3, t_eval=[0, 0.4, 0.8, 1.2, 1.5]
    )
    rows = [f"{t!r},{x!r},{x + 2 * force(t)!r},0" for t, x in zip(solved.t.tolist(), solved.y[0].tolist(), strict=True)]
    write(tmp_path / "s_ref.csv", "\n".join(["time,x,sensor.y[1],hits", *rows]) + "\n")
    write(tmp_path / "s_in.csv", "time,u\n0,0\n0.7,14\n0.7,-5\n1.5,-5\n")
    fmu = str(write_fmu(tmp_path, CLEAN["model-exchange"]))
    exact = ["--ref", "s_ref.csv", "--in", "s_in.csv", "--ref-tolerance", "1e-5"]
    assert main(["check", fmu, "--only", "D12", *exact]) == 0, capsys.readouterr().out
    write(tmp_path / "s_ref.csv", "time,hits\n0,0\n0.5,1\n1,1\n1.5,1\n")
    assert main(["check", fmu, "--only", "D12", *exact]) == 1, "a discrete signal"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'the first column must be "time"'),
        ("x,time\n0,0\n", 'the first column must be "time", not "x"'),
        ("time,a,a\n0,0,0\n", 'two columns are called "a"'),
        ("time,a\n0,1\n1\n", "row 3: it has 1 values, the heading 2"),
        ("time,a\n0,1\n1,x\n", 'row 3, a: "x" is not a number'),
        ("time,a\n0,nan\n", "row 2, a: nan is not a finite number"),
        ("time,a\n1,0\n0,0\n", "row 3: the time 0 comes after 1"),
    ],
)
def test_a_mistake_in_a_file_names_its_row(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotCheck, match=message):
        read_table(write(tmp_path / "a.csv", text))


@pytest.mark.parametrize(
    ("ref", "inputs", "message"),
    [
        ("time,h.m,speed\n0,1,1\n1,1,1\n", None, 'a_ref.csv: the FMU has no variable "speed"'),
        ("time,h.m\n0,1\n1,1\n", "time,v\n0,1\n", 'a_in.csv: the FMU has no variable "v"'),
        ("time,h.m\n0,1\n1,1\n", "time,h.m\n0,1\n", "a_in.csv: h.m is not an input"),
        ("time,h.m\n0,1\n1,1\n", "time,mass\n0,1\n", "a_in.csv: mass is not an input or tunable parameter"),
        ("time,u\n0,1\n1,1\n", None, "no column is a variable of the FMU that could be compared"),
    ],
)
def test_columns_must_be_variables_of_the_fmu(ref: str, inputs: str | None, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a_ref.csv", ref)
    with pytest.raises(CannotCheck, match=message):
        read_reference(file, write(tmp_path / "a_in.csv", inputs) if inputs else None).model_data(VARIABLES)


def test_mistakes_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fmu = str(write_fmu(tmp_path, CLEAN["both"]))
    write(tmp_path / "x_ref.csv", "time,x\n0,0\n1,0\n")
    write(tmp_path / "y_ref.csv", "time,nothing\n0,0\n1,0\n")
    (tmp_path / "other.fmu").write_bytes(Path(fmu).read_bytes())
    for arguments, message in (
        ([fmu, "other.fmu", "--ref", "x_ref.csv"], "one FMU, but 2"),
        ([fmu, "--in", "x_ref.csv"], "need --ref"),
        ([fmu, "--ref", "missing.csv"], "there is no file missing.csv"),
        ([fmu, "--ref", "x_ref.csv", "--ref-tolerance", "0"], "--ref-tolerance 0: must be greater than 0"),
        ([fmu, "--ref", "y_ref.csv", "--only", "D12"], 'the FMU has no variable "nothing"'),
    ):
        assert main(["check", *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_the_deviation_of_each_signal_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A constant far away from the signal, and a tolerance that allows even that."""
    monkeypatch.chdir(tmp_path)
    fmu = str(write_fmu(tmp_path, CLEAN["both"]))
    write(tmp_path / "x_ref.csv", '"time","x"\n0,50\n0.5,60\n1,70\n')
    assert main(["check", fmu, "--only", "D12", "--ref", "x_ref.csv", "--json", "r.json"]) == 1
    fmus = json.loads(Path("r.json").read_text(encoding="utf-8"))["fmus"]
    rows = fmus[0]["reference"]
    assert {(r["signal"], r["kind"], r["passed"]) for r in rows} == {
        ("x", "CoSimulation", False),
        ("x", "ModelExchange", False),
    }
    assert all(r["largest"] >= r["mean"] > r["tolerance"] == 0.01 for r in rows)
    assert "x_ref.csv" in fmus[0]["findings"][0]["text"]
    assert "deviation from the reference result" in capsys.readouterr().out
    loose = ["--ref", "x_ref.csv", "--ref-tolerance", "100"]
    assert main(["check", fmu, "--only", "D12", *loose, "--json", "r.json"]) == 0
    rows = json.loads(Path("r.json").read_text(encoding="utf-8"))["fmus"][0]["reference"]
    assert [r["passed"] for r in rows] == [True, True]
