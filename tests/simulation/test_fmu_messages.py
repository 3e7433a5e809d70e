"""Messages of FMUs in a process that runs several of them."""

import gc
from pathlib import Path

import fmpy
import pytest

from mechfmu import LinkChain
from mechfmu.simulation.fmu_run import simulate_fmu


def test_messages_of_fmpy_s_own_runs_arrive_after_one_of_ours(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (file,) = LinkChain(links=1).build(tmp_path)
    simulate_fmu(file, stop=0.1, step=0.05)
    gc.collect()  # the run's logger is gone
    fmu = fmpy.instantiate_fmu(
        fmpy.extract(str(file), str(tmp_path / "unpacked")), fmpy.read_model_description(str(file)), "CoSimulation"
    )
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmu.setReal([10_000], [0.0])
    fmu.freeInstance()
    assert "there is no variable with value reference 10000" in capfd.readouterr().out
