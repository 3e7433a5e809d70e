"""Sweeps of FMUs that mechfmu did not build: the runs of `mechfmu simulate` bit for bit, and no run stops others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from helpers.check_zoo import Defect, write_fmu
from helpers.sweep_units import NewProcesses, write_unit
from helpers.tolerances import EULER_STEPS
from mechfmu.model import UserError
from mechfmu.simulation.simulate import simulate_fmu
from mechfmu.sweep import run_process
from mechfmu.sweep.folder import claim_folder, write_part
from mechfmu.sweep.run_process import Job, end_processes, run_chunk
from mechfmu.sweep.runner import Runner, check_spec
from mechfmu.sweep.specification import KEPT, Range, Spec, read_spec
from mechfmu.sweep.sweep import SweepResult, sweep

FINAL = Spec(vary={"u": [1.0, 2.0, 3.0]}, record=["x"], stop=1.0, step=0.1)
ALL = ("final", "min", "max", "mean")

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Make:
    folder = tmp_path_factory.mktemp("units")
    return lambda kind, **how: write_unit(folder, kind, **how)


def simulated(fmu: Path, spec: Spec, table: Path | None = None) -> np.ndarray:
    """What `mechfmu simulate` gives, run by run."""
    rows = []
    for case in zip(*(spec.shown(n, c) for n, c in zip(spec.names, spec.cases().T, strict=True)), strict=True):
        values = {n: v for n, v in {**spec.set, **dict(zip(spec.names, case, strict=True))}.items() if n != "inputs"}
        run = simulate_fmu(fmu, spec.stop, spec.step, values, table, spec.tolerance)
        rows.append([KEPT[what](run[name].reshape(1, -1))[0] for name in spec.record for what in spec.keep])
    return np.array(rows)


CHANGES: tuple[dict[str, Any], ...] = (
    dict(),
    dict(keep=ALL),
    dict(stop=1.03, keep=ALL),
    dict(step=0.3),
    dict(tolerance=1e-3),
    dict(stop=0.7, step=0.1, keep=ALL),
    dict(vary={"x_start": [1.0, 2.0], "k": [0.5, 3.0]}),
    dict(vary={"mode": ["slow", "fast"]}, set={"u": 1.0}),
)


@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize(
    ("kind", "state"),
    (("euler", True), ("euler", False), ("fixed", True), ("latch", True), ("experiment", True), ("sticky", True)),
)
def test_each_run_equals_that_of_simulate(unit: Make, kind: str, state: bool, change: dict[str, Any]) -> None:
    if (kind == "fixed" and change.get("stop") == 1.03) or change.get("step") == 0.3:
        change = {**change, "stop": 0.9}
    fmu, spec = unit(kind, state=state), replace(FINAL, **change)
    results, reasons = Runner(fmu).chunk(spec, spec.cases())
    assert not any(reasons) and np.array_equal(results, simulated(fmu, spec))


def test_euler_steps_and_latched_inputs_in_numbers(unit: Make) -> None:
    for kind, factor in (("euler", 1 - 0.9**10), ("latch", 1 + 0.9**10)):
        results, _ = Runner(unit(kind)).chunk(FINAL, FINAL.cases())
        assert results[:, 0] == pytest.approx(factor * np.array([1, 2, 3]), rel=EULER_STEPS)


def test_an_fmu_without_a_library_for_this_platform(unit: Make, tmp_path: Path) -> None:
    bare = tmp_path / "bare.fmu"
    with zipfile.ZipFile(unit("euler")) as full, zipfile.ZipFile(bare, "w") as archive:
        archive.writestr("modelDescription.xml", full.read("modelDescription.xml"))
    with pytest.raises(UserError, match="the FMU cannot run here: it has no library for"):
        sweep(bare, FINAL, tmp_path / "results", workers=1)


def test_a_fixed_step_must_fit(unit: Make) -> None:
    message = r"fixed communication step .* from 0 s to 1.03 s must be a multiple of the step 0.1 s"
    with pytest.raises(UserError, match=message):
        check_spec(replace(FINAL, stop=1.03), unit("fixed"))


def test_an_error_that_is_only_logged_fails_a_run_as_in_simulate(unit: Make) -> None:
    spec = replace(FINAL, vary={"k": [1.0, 60.0]}, step=0.01)
    _, reasons = Runner(unit("grumble")).chunk(spec, spec.cases())
    assert reasons == ["", "this is not right"]
    with pytest.raises(UserError, match="this is not right"):
        simulate_fmu(unit("grumble"), 1.0, 0.01, {"k": 60.0})


def test_inputs_over_time_for_each_run(unit: Make, tmp_path: Path) -> None:
    """A jump between two steps is a communication point, a Boolean changes at its time, other inputs stay as set."""
    (tmp_path / "ramp.csv").write_text("time,u\n0,0\n0.45,1\n0.45,3\n1,2\n")
    (tmp_path / "switch.csv").write_text("time,on\n0,1\n0.33,0\n0.7,1\n")
    (tmp_path / "cases.csv").write_text("k,inputs\n1,ramp.csv\n2,ramp.csv\n2,switch.csv\n")
    head = '[run]\nstop = 1\nstep = 0.1\nrecord = ["x"]\nkeep = ["final", "mean"]\n'
    (tmp_path / "cases.toml").write_text(head + '[sample]\nmethod = "csv"\nfile = "cases.csv"\n[set]\nx_start = 0.5\n')
    tables = 'inputs = ["ramp.csv", "switch.csv"]\n'
    (tmp_path / "grid.toml").write_text(head + tables + "[set]\nx_start = 0.5\n[vary]\nk = [1, 2]\n")
    listed, grid, fmu = read_spec(tmp_path / "cases.toml"), read_spec(tmp_path / "grid.toml"), unit("latch")
    check_spec(listed, fmu)
    for kind in ("latch", "latch fixed"):
        expected = {}
        for name in ("ramp.csv", "switch.csv"):
            for k in (1.0, 2.0):
                run = simulate_fmu(unit(kind), 1.0, 0.1, {"k": k, "x_start": 0.5}, tmp_path / name)
                expected[k, name] = [run["x"][-1], run["x"].mean()]
        assert len({x for x, _ in expected.values()}) == 4
        for spec in (listed, grid):
            results, _ = Runner(unit(kind)).chunk(spec, spec.cases())
            labels = spec.shown("inputs", spec.cases()[:, 1])
            assert results.tolist() == [expected[k, name] for k, name in zip(spec.cases()[:, 0], labels, strict=True)]
    with pytest.raises(UserError, match=r"inputs ramp\.csv: v is not an input"):
        check_spec(replace(grid, inputs={"ramp.csv": {"time": [0.0], "v": [1.0]}}), fmu)
    with pytest.raises(UserError, match=r"u is both varied and in the inputs ramp\.csv"):
        replace(grid, vary={"u": [1.0, 2.0]})


def test_a_heat_map_over_two_values(tmp_path: Path) -> None:
    """Each field has the colour of its run, whatever the order of the values; a failed run has none."""
    spec = Spec(vary={"k": [3.0, 1.0], "mode": ["slow", "fast", "off"]}, record=["x"], stop=1.0, step=0.1)
    claim_folder(tmp_path, spec, "", {}, restart=False)
    values = np.array([1.0, 2.0, np.nan, 4.0, 5.0, 6.0])
    write_part(tmp_path, spec, np.arange(6), spec.cases(), values.reshape(-1, 1), ["", "", "no", "", "", ""])
    figure = SweepResult(spec, tmp_path).plot()
    (heat,) = (c for cell in figure.axes[:4] for c in cell.collections)
    assert heat.get_array().filled(-1.0).tolist() == [[4.0, 1.0], [5.0, 2.0], [6.0, -1.0]]
    assert [t.get_text() for t in figure.axes[2].get_yticklabels()] == ["slow", "fast", "off"]


# --- processes --------------------------------------------------------------------------------------------------------


@pytest.fixture
def job(unit: Make) -> Any:
    """Makes jobs whose processes are ended after the test."""
    made: list[Job] = []
    started = NewProcesses()

    def make(kind: str, spec: Spec, timeout: float | None = None) -> Job:
        made.append(Job(unit(kind).read_bytes(), "fmu", spec, timeout))
        return made[-1]

    yield make
    for one in made:
        end_processes(one.token)
    assert not started.now()


def whole_chunk(job: Job) -> tuple[np.ndarray, list[str]]:
    """All runs, in as many chunks as it takes."""
    cases, results, reasons = job.spec.cases(), [], []
    while len(reasons) < len(cases):
        chunk = run_chunk(job, cases[len(reasons) :])
        results.append(chunk.results)
        reasons += chunk.reasons
    return np.concatenate(results), reasons


def test_an_fmu_for_one_run_per_process_has_a_process_for_each_run(unit: Make, job: Any) -> None:
    results, reasons = whole_chunk(job("latch once", FINAL))
    assert reasons == [""] * 3 and np.array_equal(results, simulated(unit("latch"), FINAL))


@pytest.mark.skipif(os.name != "posix", reason="names the signals of POSIX")
def test_hanging_and_crashing_runs_are_recorded_and_others_continue(unit: Make, tmp_path: Path) -> None:
    spec = replace(FINAL, vary={"k": [1.0, 100.0, 2.0, 200.0, 300.0, 3.0, -1.0, 4.0]}, set={"x_start": 1.0})
    told: list[str] = []
    result = sweep(unit("euler"), spec, tmp_path, workers=2, timeout=1.0, warn=told.append)
    reasons = result.table["reason"].to_pylist()
    hung = "the run took longer than 1 s"
    aborted, exited = (f"the FMU ended its process ({how})" for how in ("SIGABRT", "exit status 0"))
    assert reasons == ["", hung, "", aborted, exited, "", "the step from t = 0 s failed", ""]
    assert sorted(told) == [f"run {k}: {reason}" for k, reason in enumerate(reasons) if reason]
    good = [0, 2, 5, 7]
    alone = simulated(unit("euler"), replace(spec, vary={"k": [1.0, 2.0, 3.0, 4.0]}))
    assert np.array_equal(result["x"][good], alone[:, 0]) and np.isnan(np.delete(result["x"], good)).all()


def test_a_run_is_repeated_when_its_process_is_killed(unit: Make, job: Any) -> None:
    one = job("euler", replace(FINAL, vary={"k": Range(0.1, 1.0, 30), "u": [1.0, 2.0]}))
    started = NewProcesses()
    run_chunk(one, one.spec.cases()[:1])
    (process,) = started.now()
    process.kill()
    results, reasons = whole_chunk(one)
    assert not any(reasons) and np.array_equal(results, Runner(unit("euler")).chunk(one.spec, one.spec.cases())[0])


def test_long_chunks_are_returned_early(job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_process, "CHUNK_SECONDS", 0.0)
    one = job("euler", FINAL)
    assert [len(run_chunk(one, one.spec.cases()).reasons) for _ in range(2)] == [1, 1]


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_an_interrupted_sweep_of_runs_that_hang_ends_at_once(unit: Make, tmp_path: Path) -> None:
    """And so do its processes, whether the command is interrupted or killed. Loading takes less than 1 s of CPU."""
    (tmp_path / "hang.toml").write_text('[run]\nstop = 1\nrecord = ["x"]\n[vary]\nk = [100, 101]\n')
    command = [sys.executable, "-m", "mechfmu", "sweep", str(unit("euler")), "hang.toml", "--workers", "1"]
    for how, status in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        sweeping = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (hanging := psutil.Process(sweeping.pid).children()) or hanging[0].cpu_times().user < 1.0:
            assert time.monotonic() < deadline and sweeping.poll() is None
            time.sleep(0.05)
        sweeping.send_signal(how)
        assert sweeping.wait(30) == status
        assert not psutil.wait_procs(hanging, timeout=30)[1]


def test_texts_that_are_not_choices(unit: Make) -> None:
    with pytest.raises(UserError, match="mode = medium: must be one of slow, fast"):
        check_spec(replace(FINAL, vary={"mode": ["slow", "medium"]}), unit("euler"))
    with pytest.raises(UserError, match="its values must be finite numbers, or all of them texts"):
        replace(FINAL, vary={"mode": ["slow", 2]})


def test_a_recorded_variable_that_is_varied_keeps_both_columns() -> None:
    assert FINAL.columns == ["x"] and replace(FINAL, vary={"x": [1.0, 2.0]}).columns == ["x:final"]


def test_a_result_that_is_not_a_number_is_a_reason(tmp_path: Path) -> None:
    fmu = write_fmu(tmp_path, Defect("", "late-nan", "", "late-nan"))
    spec = Spec(vary={"k": [1.0, 2.0]}, record=["x"], stop=1.0, step=0.1)
    results, reasons = Runner(fmu).chunk(spec, spec.cases())
    assert np.all(np.isnan(results)) and reasons == ["x is nan"] * 2


def test_a_python_interpreter_inside_the_process_makes_one_run(tmp_path: Path) -> None:
    """pythonfmu's FMUs keep their modules; after `mechfmu portable` they have processes of their own."""

    def embedded(files: dict[str, bytes]) -> None:
        files["resources/slavemodule.txt"] = b"slave"

    plain = write_fmu(tmp_path, Defect("", "plain", ""))
    python = write_fmu(tmp_path, Defect("", "python", "", change=embedded))
    assert [Runner(fmu).once_per_process for fmu in (plain, python)] == [False, True]
