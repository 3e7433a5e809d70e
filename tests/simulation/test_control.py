"""simulate(controller=..., period=...): a controller written in Python, for mechanisms and for FMUs."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.build import Build
from helpers.slave_cases import Portable
from helpers.tolerances import HELD_TORQUE
from mechfmu import Exoskeleton, LinkChain
from mechfmu.model import UserError
from mechfmu.simulation.result import Result
from mechfmu.simulation.simulate import simulate_fmu

pytest_plugins = ("helpers.slave_fixtures",)

Simulate = Callable[..., Result]
TORQUE, ANGLE, RATE = "joint[1].torque", "joint[1].angle", "joint[1].rate"
SAME = 1e-8  # two solvers at a relative tolerance of 1e-10, over a second
FREE = {"gravity": 0.0, "joint[1].angle_start": 0.0}
INERTIA = 10.0 / 3  # kg m2, of a uniform rod of 10 kg and 1 m about its end


@pytest.fixture
def kind() -> str:
    """The FMUs of this file are native."""
    return "native"


@pytest.fixture(params=("mechanism", "fmu"))
def simulate(request: pytest.FixtureRequest, fmu: Build) -> Simulate:
    """A rod, as a mechanism and as an FMU."""
    if request.param == "mechanism":
        return LinkChain(links=1).simulate
    file = fmu(links=1)
    return lambda **arguments: simulate_fmu(file, **arguments)


def spring(t: float, y: Mapping[str, float]) -> dict[str, float]:
    return {TORQUE: -50.0 * y[ANGLE] - 10.0 * y[RATE]}


def test_inputs_are_held_from_call_to_call(simulate: Simulate) -> None:
    """Closed form: a rod without weight, torques constant over each period, a period that does not fit the step."""
    period, calls = 0.03, []

    def law(t: float, y: Mapping[str, float]) -> dict[str, float]:
        assert all(type(value) is float for value in y.values()) and {
            ANGLE,
            RATE,
            "tip.x",
            "joint[1].acceleration",
            "energy.total",
        } <= set(y)
        calls.append(t)
        return {TORQUE: 5.0 if len(calls) % 2 else -3.0}

    result = simulate(stop=0.1, step=0.02, start=FREE, controller=law, period=period, tolerance=1e-10)
    assert calls == pytest.approx([0.0, 0.03, 0.06, 0.09], abs=1e-15) and calls[0] == 0.0
    torque = np.array([5.0, -3.0, 5.0, -3.0])
    spent = np.clip(
        result.t.reshape(-1, 1) - period * np.arange(4), 0.0, period
    )  # in each period, until each time of the result
    assert result[RATE] == pytest.approx(spent @ torque / INERTIA, abs=HELD_TORQUE)
    assert result.t == pytest.approx(np.arange(6) * 0.02) and result.inputs[TORQUE] == pytest.approx(
        [5.0, 5.0, -3.0, 5.0, 5.0, -3.0]
    )
    assert result["joint[1].acceleration"] == pytest.approx(result.inputs[TORQUE] / INERTIA)


@pytest.mark.parametrize(("step", "period", "count"), ((0.01, 0.1, 4), (0.1, 0.01, 31), (0.1, None, 4), (0.3, 1.0, 1)))
def test_the_controller_is_called_once_per_period(
    simulate: Simulate, step: float, period: float | None, count: int
) -> None:
    """From the start to the end, both included, whatever the rounding of multiples."""
    calls: list[float] = []
    simulate(stop=0.3, step=step, controller=lambda t, y: calls.append(t) or {}, period=period)
    assert calls == pytest.approx(np.linspace(0.0, 0.3, count) if count > 1 else [0.0], abs=1e-12)


def test_mechanism_engine_and_fmus_agree(fmu: Build) -> None:
    rods = LinkChain(links=1)
    how: dict[str, Any] = dict(stop=1.0, step=0.02, controller=spring, period=0.013, tolerance=1e-10)
    here = rods.simulate(**how)
    assert here[ANGLE].min() < -0.5 < 0.1 < np.ptp(here[ANGLE]), "it moves"
    for other in (rods.simulate(**how, engine="c"), simulate_fmu(fmu(links=1), **how)):
        assert other.signals.keys() == here.signals.keys()
        assert (
            max(np.abs(other[name] - here[name]).max() for name in here.signals) < SAME * 100
        )  # N, J: reactions of 100 N
        assert other.inputs[TORQUE] == pytest.approx(here.inputs[TORQUE], abs=SAME * 50)


def test_other_inputs_are_driven_at_the_same_time(fmu: Build, tmp_path: Path) -> None:
    """By functions or tables of time; an input has one master."""
    (tmp_path / "push.csv").write_text("time,tip.force_x\n0,0\n0.2,4\n")
    how: dict[str, Any] = dict(stop=0.2, step=0.01, start=FREE, tolerance=1e-10)
    rod, file = LinkChain(links=1), fmu(links=1)
    here = rod.simulate(**how, inputs={"tip.force_x": lambda t: 20.0 * t}, controller=spring, period=0.01)
    there = simulate_fmu(file, **how, input_csv=tmp_path / "push.csv", controller=spring, period=0.01)
    assert here.inputs["tip.force_x"] == pytest.approx(there.inputs["tip.force_x"]) and here.inputs["tip.force_x"][
        -1
    ] == pytest.approx(4.0)
    assert here[ANGLE] == pytest.approx(there[ANGLE], abs=SAME)
    push = {"controller": lambda t, y: {"tip.force_x": 1.0}}
    for run in (
        lambda: rod.simulate(inputs={"tip.force_x": 1.0}, **push),
        lambda: simulate_fmu(file, input_csv=tmp_path / "push.csv", **push),
    ):
        with pytest.raises(
            UserError, match=r"^the controller sets tip\.force_x at t = 0 s: it is already driven by an input signal$"
        ):
            run()


UNKNOWN_OUTPUT = r"failed at t = 0 s: there is no output tip\.angel; did you mean tip\.angle\? \(HERE\)"
UNKNOWN_INPUT = r"LinkChain has no such input; did you mean joint\[1\]\.torque\?"
SETS = r"sets joint\[1\]\.torque"
FINITE = "at t = 0 s: must be a finite number"
ARGUMENTS = r"TypeError: .* takes 1 positional argument but 2 were given"

BAD: dict[str, tuple[Any, str]] = {  # HERE: the line of the controller
    "output": (lambda t, y: {TORQUE: y["tip.angel"]}, UNKNOWN_OUTPUT),
    "input": (lambda t, y: {"joint[1].torqe": 1.0}, rf"sets joint\[1\]\.torqe at t = 0 s: {UNKNOWN_INPUT}"),
    "not an input": (
        lambda t, y: {"gravity": 1.0},
        r"sets gravity at t = 0 s: it is not an input of LinkChain \(causality: parameter\)",
    ),
    "name": (lambda t, y: {1: 1.0}, r"sets 1 at t = 0 s: LinkChain has no such input"),
    "later": (
        lambda t, y: {TORQUE: 1 / (0.02 - t)},
        r"failed at t = 0\.02 s: ZeroDivisionError: (float )?division by zero \(HERE\)",
    ),
    "library": (
        lambda t, y: {TORQUE: np.ones(2) @ np.linalg.inv(np.zeros((2, 2)))},
        r"failed at t = 0 s: LinAlgError: Singular matrix \(HERE\)",
    ),
    "lines": (
        lambda t, y: (_ for _ in ()).throw(ValueError("one\n two")),
        r"failed at t = 0 s: ValueError: one two \(HERE\)",
    ),
    "signature": (lambda t: {}, rf"failed at t = 0 s: {ARGUMENTS} \(HERE\)"),
    "nothing": (lambda t, y: None, r"returned None at t = 0 s: must be a dict of inputs by name"),
    "nan": (lambda t, y: {TORQUE: np.nan}, rf"{SETS} = nan {FINITE}"),
    "text": (lambda t, y: {TORQUE: "1"}, rf"{SETS} = '1' {FINITE}"),
    "array": (lambda t, y: {TORQUE: np.ones(1)}, rf"{SETS} = an array of shape \(1,\) {FINITE}"),
}


@pytest.mark.parametrize(("law", "message"), BAD.values(), ids=BAD.keys())
def test_mistakes_of_controllers(simulate: Simulate, law: Any, message: str) -> None:
    line = re.escape(f"test_control.py:{law.__code__.co_firstlineno}")
    with pytest.raises(UserError, match=f"^the controller {message.replace('HERE', line)}$"):
        simulate(stop=0.05, step=0.01, controller=law)


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        ({"controller": 7}, "^controller 7: must be a function of time and outputs that returns a dict of inputs$"),
        ({"controller": spring, "period": 0}, "^period 0: must be a finite number of seconds, greater than 0$"),
        ({"controller": spring, "period": "a"}, "^period a: must be a finite number"),
        ({"period": 0.1}, r"^period 0\.1: only with a controller$"),
    ),
)
def test_mistakes_of_calls(simulate: Simulate, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        simulate(stop=0.05, **arguments)


def test_limits_of_inputs_hold() -> None:
    with pytest.raises(
        UserError, match=r"^the controller sets at t = 0 s: link\[1\]\.inertia_input = -1 kg\.m2: must be at least 0$"
    ):
        Exoskeleton(leg1=1, leg2=1, body=1, inertia="prescribed").simulate(
            stop=0.01, engine="numpy", controller=lambda t, y: {"link[1].inertia_input": -1.0}
        )


def test_an_fmu_of_another_maker_with_inputs_of_every_kind(
    portable: Portable, capsys: pytest.CaptureFixture[str]
) -> None:
    oven = portable("oven")

    def law(t: float, y: Mapping[str, float]) -> dict[str, Any]:
        print("seen", file=sys.stderr)  # a controller's own prints are seen
        return {"switch": y["heat"] < 21.0, "stage": 4, "opening": 0.5}

    result = simulate_fmu(oven, stop=1.0, step=0.1, controller=law, period=0.2)
    assert (
        result["heat"] == pytest.approx([20.0, 20.35, 20.7, 21.05, 21.4, 21.35, 21.3, 21.25, 21.2, 21.15, 21.1])
        and "text" not in result.signals
    )
    assert result["changes"] == pytest.approx(range(11)) and result["warm"] == pytest.approx(
        (result["heat"] > 21.0) * 1.0
    )
    assert capsys.readouterr().err == "seen\n" * 6
    for value, message in (
        ({"stage": 1.5}, "stage = 1.5 .* whole number"),
        ({"switch": 2}, "switch = 2 .* truth value"),
        ({"label": "a"}, "texts cannot be set"),
    ):
        with pytest.raises(UserError, match=message):
            simulate_fmu(oven, stop=1.0, step=0.1, controller=lambda t, y, value=value: value)


def changed(fmu: Path, file: Path, pattern: bytes) -> Path:
    """A copy of an FMU without something in its description."""
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(
                name,
                re.sub(pattern, b"", old.read(name), flags=re.DOTALL)
                if name == "modelDescription.xml"
                else old.read(name),
            )
    return file


def test_an_fmu_that_needs_equal_steps_gets_them(fmu: Build, tmp_path: Path) -> None:
    rigid = changed(fmu(links=1), tmp_path / "Rigid.fmu", rb'canHandleVariableCommunicationStepSize="true"')
    for period in (0.005, 0.02):
        assert len(simulate_fmu(rigid, stop=0.1, step=0.01, controller=spring, period=period).t) == 11
    with pytest.raises(
        UserError, match=r"^Rigid\.fmu needs equal steps: choose a period that is a multiple of the step or divides it"
    ):
        simulate_fmu(rigid, stop=0.1, step=0.01, controller=spring, period=0.015)


def test_an_fmu_that_cannot_be_stepped_has_no_controller(fmu: Build, tmp_path: Path) -> None:
    exchange = changed(fmu(links=1), tmp_path / "Exchange.fmu", rb"<CoSimulation.*?</CoSimulation>")
    with pytest.raises(
        UserError, match=r"^Exchange\.fmu cannot have a controller: it is not an FMI 2\.0 FMU for Co-Simulation$"
    ):
        simulate_fmu(exchange, stop=0.1, controller=spring)
