"""Bad input to the library: a UserError that says what is wrong and what would be right."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

import mechfmu
from mechfmu import LinkChain
from mechfmu.mechanisms import make
from mechfmu.model import UserError
from mechfmu.simulation.engines import engine
from mechfmu.simulation.instance import CallError, Instance
from mechfmu.simulation.integration import IntegrationError
from mechfmu.simulation.simulate import simulate_fmu

OPTIONS = {
    "no links": (dict(links=0), "links=0: must be at least 1"),
    "negative links": (dict(links=-3), "links=-3: must be at least 1"),
    "links in words": (dict(links="two"), "links=two: must be a whole number"),
    "half a link": (dict(links=2.5), "links=2.5: must be a whole number"),
    "true links": (dict(links=True), "links=True: must be a whole number"),
    "no number of links": (dict(links=None), "links=None: must be a whole number"),
    "too many links": (dict(links=10**6), "links=1000000: must be at most"),
    "base on wheels": (dict(base="wheels"), "base=wheels: must be one of fixed, moving"),
    "no mass": (dict(mass=0), "mass=0: must be greater than 0"),
    "negative length": (dict(length=-1.0), "length=-1.0: must be greater than 0"),
    "NaN length": (dict(length=math.nan), "length=nan: must be finite"),
    "infinite mass": (dict(mass="inf"), "mass=inf: must be finite"),
    "unknown option": (dict(rods=3), "link_chain has no option rods; it has: links, base"),
}


@pytest.mark.parametrize(("options", "text"), OPTIONS.values(), ids=OPTIONS.keys())
def test_options(options: dict, text: str) -> None:
    with pytest.raises(UserError, match=f"^(option )?{text}"):
        LinkChain(**options)


def test_options_may_be_text_and_whole_floats() -> None:
    assert LinkChain(links="3").links == LinkChain(links=3.0).links == 3


VALUES = {
    "zero mass": ({"link[1].mass": 0}, r"link\[1\]\.mass = 0 kg: must be greater than 0"),
    "negative length": ({"link[2].length": -1}, r"link\[2\]\.length = -1 m: must be greater than 0"),
    "negative inertia": ({"link[1].inertia": -1}, r"link\[1\]\.inertia = -1 kg\.m2: must be at least 0"),
    "no inertia at the end": ({"link[2].com": 0, "link[2].inertia": 0}, "the last link has no inertia"),
    "NaN angle": ({"joint[1].angle_start": math.nan}, r"joint\[1\]\.angle_start = nan: must be a finite number"),
    "infinite torque": ({"joint[1].torque": math.inf}, r"joint\[1\]\.torque = inf: must be a finite number"),
    "words": ({"gravity": "much"}, "gravity = much: must be a number"),
    "nothing": ({"gravity": None}, "gravity = None: must be a number"),
    "unknown variable": (
        {"joint[1].angel_start": 1},
        r"LinkChain has no variable joint\[1\]\.angel_start; did you mean joint\[1\]\.angle_start\?",
    ),
    "joint of another chain": ({"joint[3].torque": 1}, r"LinkChain has no variable joint\[3\]\.torque"),
    "output": ({"tip.x": 1}, r"tip\.x cannot be set"),
}


@pytest.mark.parametrize(("values", "text"), VALUES.values(), ids=VALUES.keys())
@pytest.mark.parametrize("how", ("start", "simulate", "build"))
def test_start_values(values: dict, text: str, how: str, tmp_path: Path) -> None:
    chain = LinkChain(links=2)
    calls: dict[str, Callable[[], object]] = {
        "start": lambda: chain.start(values),
        "simulate": lambda: chain.simulate(stop=0.1, start=values),
        "build": lambda: chain.build(tmp_path, start=values),
    }
    with pytest.raises(UserError, match=text):
        calls[how]()
    assert not list(tmp_path.iterdir())


SIMULATIONS = {
    "stop before start": (dict(stop=-1), "stop time -1: must be after"),
    "no time": (dict(stop=0), "stop time 0: must be after"),
    "NaN stop": (dict(stop=math.nan), "stop time nan: must be a finite number"),
    "no step": (dict(stop=1, step=0), "step 0: must be greater than 0"),
    "negative step": (dict(stop=1, step=-0.1), "step -0.1: must be greater than 0"),
    "infinite step": (dict(stop=1, step=math.inf), "step inf: must be a finite number"),
    "unknown input": (dict(stop=1, inputs={"joint[9].torque": lambda t: 0.0}), r"no variable joint\[9\]\.torque"),
    "driven output": (dict(stop=1, inputs={"tip.x": lambda t: 0.0}), r"tip\.x cannot be set"),
    "NaN input": (
        dict(stop=1, inputs={"joint[1].torque": lambda t: math.nan}),
        r"joint\[1\]\.torque = nan: must be a finite number",
    ),
    "input in words": (
        dict(stop=1, inputs={"joint[1].torque": "much"}),
        r"input joint\[1\]\.torque: must be a number, a function of time, or a table",
    ),
    "table of one row": (
        dict(stop=1, inputs={"joint[1].torque": [1.0, 2.0, 3.0]}),
        "must be a number, a function of time, or a table",
    ),
    "table with a gap": (
        dict(stop=1, inputs={"joint[1].torque": ([0.0, 1.0], [1.0])}),
        "two rows of the same number of finite numbers",
    ),
    "table back in time": (dict(stop=1, inputs={"joint[1].torque": ([1.0, 0.0], [1.0, 2.0])}), "do not decrease"),
    "function of nothing": (
        dict(stop=1, inputs={"joint[1].torque": lambda t: None}),
        "its function returned None at t = 0 s, which is not a number",
    ),
    "driven parameter": (dict(stop=1, inputs={"gravity": lambda t: 9.81}), "gravity"),
    "negative tolerance": (dict(stop=1, tolerance=-1e-6), "tolerance -1e-06: must be greater than 0"),
    "unknown engine": (dict(stop=1, engine="steam"), "there is no engine steam; engines: numpy, casadi"),
}


@pytest.mark.parametrize(("how", "text"), SIMULATIONS.values(), ids=SIMULATIONS.keys())
def test_simulations(how: dict, text: str) -> None:
    with pytest.raises((UserError, CallError), match=text):
        LinkChain(links=2).simulate(**how)


def test_unknown_names() -> None:
    with pytest.raises(UserError, match="there is no mechanism link_chian; did you mean link_chain"):
        make("link_chian")
    with pytest.raises(AttributeError, match="LinkChian"):
        mechfmu.LinkChian  # noqa: B018
    with pytest.raises(UserError, match="there is no engine steam"):
        engine("steam", LinkChain(links=1))
    with pytest.raises(UserError, match=r"the result has no signal tip\.z; did you mean tip\.[xy]\?"):
        LinkChain(links=1).simulate(stop=0.01)["tip.z"]


def test_unknown_kind_of_fmu(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kind paper: "):
        LinkChain(links=1).build(tmp_path, kind="paper")


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file is not a folder")
    with pytest.raises(UserError, match="cannot write into the folder"):
        LinkChain(links=1).build(tmp_path / "file" / "out")


FILES = {
    "missing": (None, "there is no file"),
    "text": (b"this is not a zip file", "is not an FMU: it is not a zip file"),
    "empty": (b"", "is not an FMU: it is not a zip file"),
}


@pytest.mark.parametrize(("content", "text"), FILES.values(), ids=FILES.keys())
def test_files_that_are_no_fmu(content: bytes | None, text: str, tmp_path: Path) -> None:
    file = tmp_path / "some.fmu"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError, match=text):
        simulate_fmu(file)


# --- an instance in the wrong phase -----------------------------------------------------------------------------------


def running() -> Instance:
    instance = Instance(LinkChain(links=2))
    instance.initialize()
    return instance


@pytest.mark.parametrize(("t", "h"), ((0.0, 0.0), (0.0, -0.1), (0.0, math.nan), (math.nan, 0.1), (0.5, 0.1)))
def test_bad_steps(t: float, h: float) -> None:
    instance = running()
    before = instance.save()
    with pytest.raises(UserError, match="step"):
        instance.step(t, h)
    assert instance.save() == before


def test_calls_in_the_wrong_phase() -> None:
    instance = Instance(LinkChain(links=2))
    with pytest.raises(CallError, match="a step cannot be made: the instance is instantiated"):
        instance.step(0.0, 0.1)
    instance.initialize()
    with pytest.raises(CallError, match="initialization cannot begin"):
        instance.enter_initialization()
    with pytest.raises(CallError, match="gravity is a fixed parameter"):
        instance.set([instance.table.by_name["gravity"]], [1.0])
    instance.terminate()
    with pytest.raises(CallError, match="terminated"):
        instance.step(0.0, 0.1)


def test_a_state_of_another_mechanism() -> None:
    with pytest.raises(UserError, match=r"this state belongs to LinkChain\(links=3.*\), not to LinkChain\(links=2"):
        running().restore(Instance(LinkChain(links=3)).save())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's about the overflow that is the point of the test
def test_a_step_the_solver_cannot_make_leaves_the_instance_where_it_was() -> None:
    instance = running()
    instance.set([instance.table.by_name["joint[1].torque"]], [1e200])
    before = instance.save()
    with pytest.raises(IntegrationError, match="t = 0"):
        instance.step(0.0, 0.1)
    assert instance.save() == before
