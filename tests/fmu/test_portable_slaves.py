"""Any slave as a portable FMU: its results are those of pythonfmu, bit for bit."""

from __future__ import annotations

import filecmp
import shutil
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest

from helpers.command_line import done, refused
from helpers.fmu_client import Host, Refused, Slave
from helpers.slave_cases import FILES, SLAVES, Portable

pytest_plugins = ["helpers.slave_fixtures"]
RUNS = {
    "divider": (["voltage", "current", "loss"], {"source": np.linspace(4.0, 6.0, 50)}),
    "every_kind": (["real"], {}),
    "spring": (["position"], {"push": np.sin(np.arange(50.0))}),
}


@pytest.fixture
def beside(tmp_path: Path):
    """A host for an FMU that pythonfmu has built; it is killed at the end."""
    host = Host(tmp_path)
    yield host
    host.kill()


def opened(file: Path, host: Host) -> Slave:
    return host.open(file).initialize()


@pytest.mark.parametrize("name", RUNS)
def test_the_same_bits_as_in_process(
    name: str, portable: Portable, in_process: Portable, host: Host, beside: Host
) -> None:
    outputs, inputs = RUNS[name]
    one, two = opened(portable(name), host), opened(in_process(name), beside)
    rows = [slave.run([0.01] * 50, outputs, inputs) for slave in (one, two)]
    assert np.array_equal(*rows) and np.ptp(rows[0][:, 0]) > 0


def test_values_of_every_kind(portable: Portable, in_process: Portable, host: Host, beside: Host) -> None:
    names = ["gain", "count", "switch", "box.width", "box.inner.depth", "real", "integer", "boolean"]
    slaves = [opened(portable("every_kind"), host), opened(in_process("every_kind"), beside)]
    for slave in slaves:
        slave.set({"gain": 0.1, "count": 4, "switch": 1, "box.inner.depth": -2})
        slave.call("setString", [slave.references["word"]], ["Größe 100 %"])
        for _ in range(3):
            slave.step(0.1)
    assert slaves[0].get(*names) == slaves[1].get(*names)
    assert slaves[0].get("integer", "boolean") == [-24, 1]
    texts = [slave.call("getString", [slave.references[n] for n in ("word", "text")]) for slave in slaves]
    assert texts[0] == texts[1] == ["Größe 100 %", "Größe 100 % -24"]


def test_messages_of_a_slave_reach_the_host_with_their_status(portable: Portable, host: Host) -> None:
    file = portable("every_kind")
    loud, quiet = host.open(file, "loud").initialize(), host.open(file, "quiet", logging=False).initialize()
    loud.step(0.1)
    assert host.said == "[loud] at 0.100 we are 100% sure\n[loud] this may go wrong"
    quiet.step(0.1)
    assert host.said == ""


def test_a_state_that_the_slave_keeps_by_itself(portable: Portable, host: Host) -> None:
    slave = opened(portable("spring"), host)
    slave.run([0.01] * 20, ["position"])
    state = slave.save()
    ahead = slave.run([0.01] * 20, ["position"])
    slave.restore(state)
    assert np.array_equal(slave.run([0.01] * 20, ["position"]), ahead)
    other = opened(portable("spring"), host)
    other.restore(other.from_bytes(slave.to_bytes(state), state[1]))
    assert np.array_equal(other.run([0.01] * 20, ["position"]), ahead)


def test_a_slave_can_end_the_simulation(portable: Portable, host: Host) -> None:
    slave = opened(portable("spring"), host)
    slave.step(4.0)
    with pytest.raises(Refused) as refusal:
        slave.step(2.0)
    assert refusal.value.status == 2 and slave.discarded() == (4.0, True)


def test_reset_restarts(portable: Portable, host: Host) -> None:
    slave = opened(portable("spring"), host)
    first = slave.run([0.01] * 20, ["position"])
    slave.reset()
    assert np.array_equal(slave.initialize().run([0.01] * 20, ["position"]), first)


def test_the_rules_of_fmi_for_values(portable: Portable, host: Host) -> None:
    slave = host.open(portable("every_kind"))
    slave.set({"box.width": 2.0})
    slave.initialize()
    slave.set({"gain": 2.0})
    for name, why in {"box.width": "fixed parameter", "real": "cannot be set after initialization"}.items():
        with pytest.raises(Refused, match=rf"\[status 3\] .*{name}.*{why}"):
            slave.set({name: 1.0})
    with pytest.raises(Refused, match="there is no variable with value reference 99"):
        slave.call("getReal", [99])
    with pytest.raises(Refused, match="not of type Integer"):
        slave.call("getInteger", [slave.references["gain"]])
    slave.step(0.1)
    assert slave["gain"] == 2.0


# --- the command ------------------------------------------------------------------------------------------------------


def test_from_a_slaves_file(tmp_path: Path, host: Host) -> None:
    command = ("portable", SLAVES / "spring.py", *(SLAVES / f for f in FILES["spring"]), "--call-timeout", "30")
    text = done(*command, "-o", "out", folder=tmp_path)
    assert text.startswith("wrote out/Spring.fmu")
    with zipfile.ZipFile(tmp_path / "out" / "Spring.fmu") as archive:
        libraries = {n for n in archive.namelist() if n.startswith("binaries/")}
    assert libraries == {"binaries/linux64/Spring.so", "binaries/win64/Spring.dll", "binaries/darwin64/Spring.dylib"}
    assert opened(tmp_path / "out" / "Spring.fmu", host)["position"] == 0.1
    done(*command, "-o", "again", folder=tmp_path)
    files = (tmp_path / folder / "Spring.fmu" for folder in ("out", "again"))
    assert filecmp.cmp(*files, shallow=False), "the same input gives the same bytes"


def test_the_original_is_not_overwritten(tmp_path: Path, in_process: Portable) -> None:
    original = tmp_path / "Divider.fmu"
    shutil.copy(in_process("divider"), original)
    before = original.read_bytes()
    assert "wrote Divider.portable.fmu" in done("portable", "Divider.fmu", folder=tmp_path)
    assert original.read_bytes() == before
    description = fmpy.read_model_description(str(tmp_path / "Divider.portable.fmu"))
    assert (
        description.coSimulation.needsExecutionTool is False
        and description.guid == fmpy.read_model_description(str(original)).guid
    )
    first = (tmp_path / "Divider.portable.fmu").read_bytes()
    done("portable", "Divider.portable.fmu", "-o", "again", folder=tmp_path)
    assert (tmp_path / "again" / "Divider.portable.fmu").read_bytes() == first


def test_what_cannot_be_made_portable(tmp_path: Path, in_process: Portable) -> None:
    (tmp_path / "text.fmu").write_text("hello")
    (tmp_path / "empty.py").write_text("x = 1\n")
    shutil.copy(in_process("divider"), tmp_path / "Divider.fmu")
    with zipfile.ZipFile(tmp_path / "Divider.fmu") as old, zipfile.ZipFile(tmp_path / "other.fmu", "w") as new:
        new.writestr("modelDescription.xml", old.read("modelDescription.xml"))
    refused("portable", "none.fmu", folder=tmp_path, words=("there is no file none.fmu",))
    refused("portable", "text.fmu", folder=tmp_path, words=("text.fmu cannot be read as an FMU",))
    refused("portable", "other.fmu", folder=tmp_path, words=("was not made with pythonfmu", "slavemodule.txt"))
    refused("portable", "empty.py", folder=tmp_path, words=("pythonfmu cannot build empty.py", "Fmi2Slave"))
    refused("portable", "Divider.fmu", "helper.py", folder=tmp_path, words=("slave's file",))
    refused(
        "portable",
        "Divider.fmu",
        "--call-timeout",
        "-1",
        folder=tmp_path,
        words=("call timeout -1 s", "greater than 0"),
    )
    shutil.copy(tmp_path / "empty.py", tmp_path / "mechfmu_child.py")
    refused(
        "portable",
        "mechfmu_child.py",
        folder=tmp_path,
        words=("mechfmu_child.py cannot go into a portable FMU", "rename"),
    )
