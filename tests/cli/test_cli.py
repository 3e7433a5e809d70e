"""The command line with valid input."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from helpers.build import Build
from helpers.command_line import done, mechfmu
from helpers.description import Description
from helpers.tolerances import CLOSED_FORM, COMMUNICATION_STEP, IMPORTERS, TIGHT, TIGHTEST
from mechfmu import LinkChain, __version__
from mechfmu.cli import main
from mechfmu.cli.progress import ProgressLines
from mechfmu.cli.result_files import print_final_values
from mechfmu.cli.variable_list import VariableLine, variable_lines
from mechfmu.mechanisms import find, names
from mechfmu.simulation.result import DisplayUnit


def read(file: Path) -> np.ndarray:
    return np.genfromtxt(file, delimiter=",", names=True, deletechars="")


def test_help_of_every_command_has_an_example(tmp_path: Path) -> None:
    general = done("--help", folder=tmp_path)
    assert "example: mechfmu " in general
    assert done(folder=tmp_path) == general
    commands = general.split("COMMAND\n")[1].split("example:")[0]
    found = [line.split()[0] for line in commands.splitlines() if line.startswith("    ") and line[4] != " "]
    assert {"list", "build", "simulate"} <= set(found)
    for command in found:
        assert f"example: mechfmu {command}" in done(command, "--help", folder=tmp_path)


HEAVY = {"casadi", "scipy", "fmpy", "matplotlib", "dask", "concurrent.futures.process", "asyncio", "ziglang"}
LIGHT_COMMANDS: tuple[list[str], ...] = ([], ["--help"], ["list"], ["list", "link_chain"], ["build", "--help"])


@pytest.mark.parametrize("arguments", LIGHT_COMMANDS, ids=" ".join)
def test_help_and_lists_import_no_large_package(arguments: list[str]) -> None:
    """Which takes half a second to seconds."""
    script = (
        "import sys; from mechfmu.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print('modules:', *sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    imported = set(ended.stdout.split("modules:")[1].split())
    assert "mechfmu.cli" in imported and not imported & HEAVY


def test_version(tmp_path: Path) -> None:
    assert done("--version", folder=tmp_path) == f"mechfmu {__version__}\n"


def test_list(tmp_path: Path) -> None:
    text = done("list", folder=tmp_path)
    assert all(key in text for key in names())
    for option in ("links=10", "base=fixed|moving", "length=1.0", "mass=10.0"):
        assert option in text
    assert not list(tmp_path.iterdir())


def test_list_fits_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechfmu.cli.terminal.OUT.fixed_width", 80)
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert all("|".join(o.choices) in text for key in names() for o in find(key).option_list)
    assert main(["list", "exoskeleton", "--option", "leg1=3"]) == 0
    text = capsys.readouterr().out
    for part in ("leg1    │ 3 ", "(default: 2)", "prescribed", "number of links in leg 1"):
        assert part in text
    assert max(map(len, text.partition("parameter\n")[0].splitlines())) <= 80
    assert main(["list", "--option", "leg1=3"]) == 2


@pytest.mark.parametrize("key", names())
def test_lists_of_variables_fit_80_columns_and_pipes_and_cut_no_word(key: str) -> None:
    table = find(key)().table
    rows = [
        VariableLine(s.name, s.role, s.unit, f"{s.start:g}", s.description)
        for s in table.of("parameter", "input", "state", "output")
    ]
    narrow, piped = variable_lines(rows, 80), variable_lines(rows, None)
    words = [word for row in rows for text in (row.name, row.unit, row.start, row.meaning) for word in text.split()]
    assert max(map(len, narrow)) <= 80
    expected = sorted([*words, *{r.causality for r in rows}])
    assert sorted(" ".join(narrow).split()) == sorted(" ".join(piped).split()) == expected
    assert len(piped) == len(rows) + len({r.causality for r in rows})


def test_a_pipe_gets_a_line_for_every_tenth_of_long_work() -> None:
    """The first half takes no time and prints no line; the second half is slow; the end is reported elsewhere."""
    now, told = [0.0], list[str]()
    lines = ProgressLines(told.append, "LinkChain", 20.0, "s", interval=20.0, clock=lambda: now[0])
    for step in range(1, 201):
        now[0] += step > 100
        lines(0.1 * step)
    assert told == [f"LinkChain: {t} of 20 s" for t in (12, 14, 16, 18)]


def test_a_table_in_a_pipe_is_as_wide_as_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    name = "system.of.many.parts." * 5 + "angle"
    result = replace(
        LinkChain(links=1).simulate(stop=0.1), signals={name: np.ones(11)}, shown={name: DisplayUnit("deg")}
    )
    print_final_values(result)
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "system" in line)
    assert name in row and "deg" in row and not row.endswith(" ")


@pytest.mark.parametrize("kind", ["native"])
def test_quiet_and_verbose(fmu: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["simulate", str(fmu(links=2)), "--stop", "500ms", "-o", str(tmp_path / "result.csv")]
    assert main(run) == 0
    usual = capsys.readouterr().out
    assert usual.splitlines() == ["LinkChain: 50 steps to t = 0.5 s", f"wrote {tmp_path / 'result.csv'}"]
    assert main([*run, "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*run, "-v"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line not in usual] == [
        f"LinkChain: {k / 20:g} of 0.5 s" for k in range(1, 10)
    ]


def test_a_result_in_a_notebook_is_one_plot_and_the_recording() -> None:
    html = LinkChain(links=3).simulate(stop=0.5)._repr_html_()
    assert html.count("<img") == html.count("<iframe") == 1
    assert len(html) < 4_000_000
    packed = re.search(r'atob\("([A-Za-z0-9+/=]+)"\)', unescape(html))
    assert packed and "class Recording" in gzip.decompress(b64decode(packed[1])).decode()
    without = replace(LinkChain(links=1).simulate(stop=0.1), mechanism=None)._repr_html_()
    assert "<img" in without and "<iframe" not in without


@pytest.mark.parametrize("kind", ["native"])
def test_list_of_an_fmu(fmu: Build, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(fmu(links=2))]) == 0
    text = capsys.readouterr().out
    for part in ("FMI 2.0, Co-Simulation and Model Exchange", "joint[2].angle_start", "N.m/rad", "local variables"):
        assert part in text
    assert main(["list", str(fmu(links=2)), "--option", "links=3"]) == 2
    (tmp_path / "text.fmu").write_text("hello")
    assert main(["list", str(tmp_path / "text.fmu")]) == 2
    assert "is not an FMU" in capsys.readouterr().err


def test_build(kind: str, tmp_path: Path) -> None:
    options = ["--option", "links=2", "--option", "base=moving"]
    options += ["--start", "joint[1].angle_start=0.5", "--start", "tip.force_x=2"]
    text = done("build", "link_chain", "-o", "folder", "--kind", kind, *options, folder=tmp_path)
    (file,) = (tmp_path / "folder").iterdir()
    assert file.name == {"native": "LinkChain.fmu", "python": "LinkChain.python.fmu"}[kind]
    assert f"wrote folder/{file.name}" in text.replace("\n", "")
    typed = Description(file).typed
    assert float(typed["joint[1].angle_start"]["start"]) == 0.5
    assert float(typed["tip.force_x"]["start"]) == 2.0
    assert "base.acceleration_x" in typed and "joint[3].angle" not in typed


def test_simulate_prints_the_end(fmu: Build, tmp_path: Path) -> None:
    text = done("simulate", fmu(links=2), "--stop", 0.5, folder=tmp_path)
    assert "LinkChain: 50 steps to t = 0.5 s" in text
    assert "joint[2].angle" in text and "deg" in text
    assert text.splitlines()[-1] == "shown in deg, deg/s, deg/s2; --set and files use rad, rad/s, rad/s2"
    assert not list(tmp_path.iterdir())


def test_simulate_writes_a_table_that_numpy_reads(fmu: Build, tmp_path: Path) -> None:
    experiment = ["--stop", 0.5, "--step", 0.05, "--tolerance", TIGHT]
    values = ["--set", "joint[1].angle_start=0.5", "--set", "joint[2].torque=1.5"]
    done("simulate", fmu(links=2), *experiment, *values, "-o", "out/result.csv", folder=tmp_path)
    data = read(tmp_path / "out" / "result.csv")
    start = {"joint[1].angle_start": 0.5, "joint[2].torque": 1.5}
    wanted = LinkChain(links=2).simulate(stop=0.5, step=0.05, start=start, tolerance=TIGHT)
    assert set(data.dtype.names) == {"time", *wanted.names}
    assert data["time"] == pytest.approx(wanted.t)
    for name in wanted.names:
        size = max(1.0, np.abs(wanted[name]).max())
        assert data[name] == pytest.approx(wanted[name], abs=COMMUNICATION_STEP * size), name


def test_simulate_with_inputs_from_a_table(fmu: Build, tmp_path: Path) -> None:
    """Against the library with the same inputs: a torque interpolated linearly in the table, sampled at every step."""
    rows = ["time,joint[1].torque,tip.force_y", "0,0,0", "0.2,4,-1", "0.5,-2,3"]
    (tmp_path / "inputs.csv").write_text("\n".join(rows) + "\n")
    experiment = ["--stop", 0.5, "--step", 0.01, "--tolerance", TIGHT]
    text = done("simulate", fmu(links=2), *experiment, "--input", "inputs.csv", "-o", "result.csv", folder=tmp_path)
    assert "Warning" not in text, "inputs that are not in the table keep their start values, without a warning"
    data = read(tmp_path / "result.csv")

    def sampled(values: list[float]):
        return lambda t: float(np.interp(t, [0, 0.2, 0.5], values))

    inputs = {"joint[1].torque": sampled([0, 4, -2]), "tip.force_y": sampled([0, -1, 3])}
    wanted = LinkChain(links=2).simulate(stop=0.5, step=0.01, inputs=inputs, tolerance=TIGHT)
    for name in ("joint[1].angle", "joint[2].rate", "energy.input"):
        assert data[name] == pytest.approx(wanted[name], abs=COMMUNICATION_STEP), name
    quiet = LinkChain(links=2).simulate(stop=0.5, step=0.01)
    assert np.abs(data["joint[1].angle"] - quiet["joint[1].angle"]).max() > 0.01


def test_tolerance_of_the_solver_can_be_set(fmu: Build, tmp_path: Path) -> None:
    """The parameter is the FMU's own tolerance: it applies when --tolerance is omitted."""

    def end(*arguments: object) -> np.ndarray:
        done("simulate", fmu(links=3), "--stop", 2, "--step", 1, *arguments, "-o", "result.csv", folder=tmp_path)
        data = read(tmp_path / "result.csv")
        return np.array([data[f"joint[{k}].angle"][-1] for k in (1, 2, 3)])

    reference = end("--tolerance", TIGHTEST)
    assert np.abs(end("--set", f"solver.relative_tolerance={TIGHTEST}") - reference).max() < CLOSED_FORM
    assert np.abs(end() - reference).max() > CLOSED_FORM


def test_plot_and_animation(fmu: Build, tmp_path: Path) -> None:
    files = ["--plot", "plot.png", "--signals", "tip.x, joint[1].angle", "--animate", "video.gif"]
    text = done("simulate", fmu(links=2), "--stop", 0.5, *files, folder=tmp_path)
    assert "wrote plot.png" in text and "wrote video.gif" in text and "not drawn" not in text
    with Image.open(tmp_path / "plot.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(maxcolors=1 << 24)) > 20
    with Image.open(tmp_path / "video.gif") as video:
        assert video.format == "GIF"
        assert video.n_frames == 13


def test_a_run_writes_nothing_to_standard_error(fmu: Build, tmp_path: Path) -> None:
    """Progress is for terminals; a log file or a pipe stays clean."""
    result = mechfmu("simulate", fmu(links=2), "--stop", 0.1, "--step", 0.1, "--plot", "plot.svg", folder=tmp_path)
    assert result.stderr.strip() == "" and "1 step to" in result.stdout
    assert "2 signals not drawn: tip.velocity_x, tip.velocity_y; choose with --signals" in result.stdout


def test_warnings_of_the_fmu_are_passed_on(fmu: Build, tmp_path: Path) -> None:
    result = mechfmu("simulate", fmu(links=2), "--stop", 0.1, "--set", "energy.input=5", folder=tmp_path)
    assert result.returncode == 0
    reason = "energy.input = 5 has no effect: its start follows from the parameters and is 0 J"
    assert result.stderr == f"mechfmu simulate: warning: {reason}\n"


def test_a_run_that_fails_leaves_its_results_up_to_there(fmu: Build, tmp_path: Path) -> None:
    files = ("-o", "result.csv", "--animate", "result.html")
    result = mechfmu("simulate", fmu("exoskeleton"), "--stop", 5, *files, folder=tmp_path)
    assert result.returncode == 2
    assert "it has fallen" in result.stderr and len(result.stderr.splitlines()) == 1
    times = np.genfromtxt(tmp_path / "result.csv", delimiter=",", names=True)["time"]
    assert f"stopped at t = {times[-1]:g} s" in result.stdout and 0.5 < times[-1] < 5
    assert (tmp_path / "result.html").stat().st_size > 0


def test_start_values_at_build_and_at_run_time_agree(fmu: Build, kind: str, tmp_path: Path) -> None:
    """--start and --set are two ways to the same motion."""
    options = ["--option", "links=2", "--start", "joint[2].rate_start=2"]
    done("build", "link_chain", "--kind", kind, *options, folder=tmp_path)
    (built,) = tmp_path.glob("*.fmu")
    done("simulate", built, "--stop", 0.2, "-o", "built.csv", folder=tmp_path)
    done("simulate", fmu(links=2), "--stop", 0.2, "--set", "joint[2].rate_start=2", "-o", "set.csv", folder=tmp_path)
    one, two = read(tmp_path / "built.csv"), read(tmp_path / "set.csv")
    assert one["tip.x"] == pytest.approx(two["tip.x"], abs=IMPORTERS)
    assert one["joint[2].rate"][0] == 2.0
