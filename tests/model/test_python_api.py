"""The Python API: first steps, and the methods of a result."""

from __future__ import annotations

import csv
import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mechfmu
from helpers.tolerances import COMMUNICATION_STEP, DEFAULT
from mechfmu import LinkChain, Tree
from mechfmu.model import UserError
from mechfmu.simulation.engines import NAMES


def test_five_lines(tmp_path: Path) -> None:
    chain = LinkChain(links=3)
    result = chain.simulate(stop=1, start={"joint[1].angle_start": 0.5})
    result.plot(["tip.x", "tip.y"], file=tmp_path / "tip.png")
    result.to_csv(tmp_path / "result.csv")
    files = chain.build(tmp_path)

    assert result["joint[1].angle"][0] == 0.5
    assert len(result.t) == len(result["tip.x"]) == 101
    assert (tmp_path / "tip.png").stat().st_size > 1000
    assert [f.suffix for f in files] == [".fmu"]
    assert all(f.exists() for f in files)


def test_mechanism_functions_are_plain() -> None:
    chain = LinkChain(links=3)
    t, x, d, u, p = chain.start({"gravity": 1.62})
    assert chain.rates(t, x, d, u, p).shape == x.shape
    assert chain.outputs(t, x, d, u, p).shape == (chain.table.y.size,)
    assert repr(chain) == "LinkChain(links=3, base='fixed', length=1.0, mass=10.0, energy='on')"


def test_options_describe_the_uniform_chain() -> None:
    chain = LinkChain(links=4, length=2.0, mass=8.0)
    p = chain.table.p(chain.start()[4])
    assert p.l == pytest.approx([0.5] * 4)
    assert p.m == pytest.approx([2.0] * 4)
    assert list(p.J) == pytest.approx([2.0 * 0.25 / 12] * 4)


def test_result_by_name() -> None:
    result = LinkChain(links=2).simulate(stop=0.1, step=0.05)
    assert result.t == pytest.approx([0, 0.05, 0.1])
    assert "joint[2].reaction_y" in result.names
    assert result.at(-1)("tip.x") == result["tip.x"][-1]
    assert result.at(0)("link[1].length") == 0.5
    with pytest.raises(UserError, match="no signal"):
        result["tip.q"]


def test_what_is_printed_fits_a_line() -> None:
    result = LinkChain(links=2).simulate(stop=0.1, step=0.05)
    assert repr(result) == f"<Result of LinkChain: 3 points to t = 0.1 s, {len(result.names)} signals>"
    arm = Tree().tree
    assert repr(arm) == "<Tree ExampleTree: 3 bodies, 6 degrees of freedom, 0 shapes>"
    brief, other = repr(Tree()), repr(Tree(model=dataclasses.replace(arm, name="ExampleTree2").to_json()))
    assert len(brief) < 120 and brief != other


def test_what_the_editor_offers() -> None:
    assert {"LinkChain", "WheeledCart", "Tree", "PidController", "mechanisms"} <= set(dir(mechfmu))
    assert all(hasattr(mechfmu, name) for name in dir(mechfmu))
    known = [list(inspect.signature(f).parameters)[1:] for f in (LinkChain.simulate, LinkChain.build)]
    assert known == [
        ["stop", "step", "start", "inputs", "tolerance", "engine", "progress", "controller", "period"],
        ["folder", "kind", "start", "platforms", "compiler", "progress", "bake"],
    ]


def test_inputs_as_numbers_functions_and_tables() -> None:
    def driven(given: object) -> np.ndarray:
        return (
            LinkChain(links=1).simulate(stop=0.3, step=0.1, inputs={"joint[1].torque": given}).inputs["joint[1].torque"]
        )

    assert driven(3) == pytest.approx([3.0] * 4)
    for slope in (lambda t: 2 * t, ([0.0, 1.0], [0.0, 2.0])):
        assert driven(slope) == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert driven(np.array([[0.1, 0.2], [1.0, 2.0]])) == pytest.approx([1.0, 1.0, 2.0, 2.0])


def test_csv_reads_back_to_the_same_bits(tmp_path: Path) -> None:
    result = LinkChain(links=2).simulate(stop=0.5, step=0.1)
    file = result.to_csv(tmp_path / "result.csv")
    with file.open() as stream:
        header, *rows = csv.reader(stream)
    data = np.array(rows, dtype=float)
    assert header == ["time", *result.names]
    assert np.array_equal(data[:, 0], result.t)
    assert all(np.array_equal(data[:, i], result[name]) for i, name in enumerate(result.names, 1))
    read = np.genfromtxt(file, delimiter=",", names=True, deletechars="")
    assert np.array_equal(read["tip.x"], result["tip.x"])


def test_last_step_is_shorter_when_the_span_is_not_a_multiple() -> None:
    assert LinkChain(links=1).simulate(stop=0.25, step=0.1).t == pytest.approx([0, 0.1, 0.2, 0.25])


def test_inputs_are_held_over_each_step() -> None:
    """A torque that switches on at 0.1 s moves the chain as a constant one does from there."""
    calm = {"gravity": 0.0, "joint[1].angle_start": 0.0}
    late = LinkChain(links=1).simulate(
        stop=0.3, step=0.1, start=calm, inputs={"joint[1].torque": lambda t: 1.0 if t > 0.05 else 0.0}
    )
    soon = LinkChain(links=1).simulate(stop=0.2, step=0.1, start=calm | {"joint[1].torque": 1.0})
    assert late["joint[1].angle"][1:] == pytest.approx(soon["joint[1].angle"], abs=COMMUNICATION_STEP)
    assert late["joint[1].acceleration"][:2] == pytest.approx([0.0, soon["joint[1].acceleration"][0]])


@pytest.mark.parametrize("name", NAMES)
def test_engines_by_name(name: str) -> None:
    result = LinkChain(links=2).simulate(stop=0.2, engine=name)
    assert result["energy.total"] == pytest.approx(result["energy.total"][0], rel=DEFAULT)


def test_animation(tmp_path: Path) -> None:
    result = LinkChain(links=2, base="moving").simulate(stop=0.5, start={"base.acceleration_x": 1.0})
    result.animate(tmp_path / "film.gif", fps=10)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 6
    assert result.animate(tmp_path / "film.html") == tmp_path / "film.html"  # what it shows: view/test_pages.py


def test_default_plot_has_one_panel_per_unit(tmp_path: Path) -> None:
    figure = LinkChain(links=2).simulate(stop=0.1).plot(file=tmp_path / "all.svg")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[:3] == ["[deg]", "[deg/s]", "[J]"]
    assert "<svg" in (tmp_path / "all.svg").read_text()


def test_a_result_in_other_formats(tmp_path: Path) -> None:
    from pyarrow import parquet
    from scipy.io import loadmat

    result = LinkChain(links=1).simulate(stop=0.1)
    table, mat = parquet.read_table(result.save(tmp_path / "r.parquet")), loadmat(result.save(tmp_path / "r.mat"))
    assert table.column_names == ["time", *result.names] and np.array_equal(
        np.asarray(table["joint[1].angle"]), result["joint[1].angle"]
    )
    assert (
        np.array_equal(mat["joint_1_angle"].ravel(), result["joint[1].angle"])
        and mat["names"].ravel()[1].item() == result.names[0]
    )
    assert result.save(tmp_path / "r.csv").read_text().startswith("time,joint[1].angle")
    with pytest.raises(UserError, match=r"must end in \.csv or \.parquet or \.mat"):
        result.save(tmp_path / "r.xlsx")
    with pytest.raises(UserError, match="cannot write"):
        result.save(tmp_path / "none" / "r.mat")
