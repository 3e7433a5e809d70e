"""The host survives the end of an FMU's Python process, gets a message, and can start again; the process ends with the
host."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from helpers.fmu_client import Host, Refused
from helpers.paths import TESTS
from helpers.processes import alive, children, within
from helpers.slave_cases import Portable
from mechfmu.fmu.portable import make_portable

pytest_plugins = ["helpers.slave_fixtures"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched in /proc")

ERROR, FATAL = 3, 4
EXIT_TIMEOUT = 1.0  # s in which a process ends after its host
RAISES, RECURSES, EXITS, DIES, CRASHES, PRINTS, FLOODS, SHOUTS = range(1, 9)
SLEEPS, SPINS, CLOSES, INTERRUPTED, BLOCKS, FORKS, MUMBLES, MUTE = range(9, 17)


@pytest.fixture
def troubled(portable: Portable, host: Host):
    """An instance of the troublesome slave, stepping."""
    return host.open(portable("troublesome")).initialize()


# --- errors that the process survives ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (RAISES, r"ValueError: a hundred per cent: 100 %s %n \(troublesome\.py, line \d+\)"),
        (RECURSES, r"RecursionError: maximum recursion depth exceeded"),
        (EXITS, r"SystemExit: 3"),
        (INTERRUPTED, r"KeyboardInterrupt"),
        (MUTE, r"Mute: a message that cannot be shown"),
    ],
)
def test_an_exception_is_an_error_and_the_instance_remains_usable(troubled, trouble: int, message: str) -> None:
    troubled.set({"trouble": trouble})
    with pytest.raises(Refused, match=rf"\[status {ERROR}\] \[instance\] {message}"):
        troubled.step(0.1)
    troubled.set({"trouble": 0})
    troubled.step(0.1)
    assert troubled["total"] == 0.1


def test_what_is_printed_is_logged(troubled, host: Host) -> None:
    troubled.set({"trouble": PRINTS})
    troubled.step(0.1)
    lines = host.said.removeprefix("[instance] ").splitlines()
    assert sorted(lines) == ["from another program", "past Python", "to standard error", "to standard output"]
    assert troubled["total"] == 0.1 and host.said == ""


def test_ten_megabytes_printed_and_a_gigabyte_logged(troubled, host: Host) -> None:
    for trouble, letter in {FLOODS: "x", SHOUTS: "y"}.items():
        troubled.set({"trouble": trouble})
        troubled.step(0.1)
        assert letter * 100 in host.said and len(host.said) < 30_000


def test_a_long_text_is_returned_complete(troubled) -> None:
    text = "Ä" * 20_000_000
    troubled.call("setString", [troubled.references["text"]], [text])
    assert troubled["length"] == len(text)
    assert troubled.call("getString", [troubled.references["echo"]]) == [text]


# --- the end of the process -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "report"),
    [
        (DIES, "exit status 4"),
        (CRASHES, "I cannot go on.*ended by signal 11"),
        (CLOSES, "exit status 0"),
        (FORKS, "I leave a child behind.*exit status 14"),
        (MUMBLES, r"the reason, with a byte \? that is not UTF-8.*exit status 15"),
    ],
)
def test_a_process_that_ends_is_fatal_for_its_instances_alone(
    portable: Portable, host: Host, trouble: int, report: str
) -> None:
    one, two = (host.open(portable("troublesome"), name).initialize() for name in ("one", "two"))
    other = host.open(portable("divider"), "other").initialize()
    assert one["process"] == two["process"], "one process serves all instances of an FMU"
    one.set({"trouble": trouble})
    with pytest.raises(
        Refused, match=rf"(?s)\[status {FATAL}\] \[one\] the Python process of this FMU has ended: .*{report}"
    ):
        one.step(0.1)
    for call in (lambda: two.step(0.1), lambda: two["total"], lambda: two.set({"trouble": 0}), two.save, two.reset):
        with pytest.raises(Refused, match=rf"\[status {FATAL}\] \[two\]"):
            call()
    other.step(0.1)
    again = host.open(portable("troublesome"), "again").initialize()
    again.step(0.1)
    assert again["total"] == 0.1
    for slave in (one, two, again):
        slave.free()


def test_a_process_that_ended_between_two_calls_is_replaced(portable: Portable, host: Host) -> None:
    old = host.open(portable("troublesome"), "old").initialize()
    process = int(old["process"])
    os.kill(process, signal.SIGKILL)
    assert within(EXIT_TIMEOUT, lambda: not alive(process))
    new = host.open(portable("troublesome"), "new").initialize()
    new.step(0.1)
    with pytest.raises(Refused, match=rf"\[status {FATAL}\] \[old\].*ended by signal 9"):
        old.step(0.1)


def test_a_process_killed_at_many_random_moments(portable: Portable, tmp_path: Path) -> None:
    script = TESTS / "helpers" / "killed_at_random.py"
    done = subprocess.run(
        [sys.executable, script, portable("troublesome")], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "40 fatal ends, 0 zombies"


@pytest.mark.parametrize(
    ("trouble", "kill"),
    [
        (0, signal.SIGKILL),
        (SLEEPS, signal.SIGKILL),
        (SPINS, signal.SIGKILL),
        (BLOCKS, signal.SIGKILL),
        (SPINS, signal.SIGTERM),
        (0, None),
    ],
    ids=["idle", "asleep", "busy", "holding the lock", "terminated", "ended"],
)
def test_the_process_ends_with_its_host(portable: Portable, tmp_path: Path, trouble: int, kill: int | None) -> None:
    host = Host(tmp_path)
    try:
        slave = host.open(portable("troublesome")).initialize()
        process = int(slave["process"])
        if trouble:
            slave.set({"trouble": trouble})
            host.ask_in_vain("call", slave=0, function="doStep", arguments=[0.0, 0.1])
            time.sleep(0.1)
        assert alive(process)
        if kill is None:
            host.close()
        else:
            os.kill(host.pid, kill)
        assert within(EXIT_TIMEOUT, lambda: not alive(process))
    finally:
        host.kill()


def test_a_call_can_have_a_time_limit(in_process: Portable, host: Host, tmp_path: Path) -> None:
    file = make_portable(in_process("troublesome"), tmp_path, call_timeout=0.5)
    slave = host.open(file).initialize()
    slave.set({"trouble": SPINS})
    begun = time.monotonic()
    with pytest.raises(Refused, match=rf"\[status {FATAL}\].*exceeded the time limit"):
        slave.step(0.1)
    assert 0.5 <= time.monotonic() - begun < 2.5
    host.open(file, "again").initialize().step(0.1)


# --- folders of the FMU -----------------------------------------------------------------------------------------------

PLACES = {
    "with spaces": "a folder with spaces",
    "non-ASCII": "Übung № 1 ä%20ö#ü",
    "long": "x" * 200,
    "percent": "50%41",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_any_folder(portable: Portable, fresh_host: Host, tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    with zipfile.ZipFile(portable("spring")) as archive:
        archive.extractall(folder)
    before = {p.name for p in folder.rglob("*")}
    slave = fresh_host.open(folder, "Ärger in 50 %").initialize()
    slave.step(0.1)
    assert slave["position"] != 0
    assert {p.name for p in folder.rglob("*")} == before, "nothing is written beside the FMU"


def test_a_folder_that_cannot_be_written_and_then_disappears(
    portable: Portable, fresh_host: Host, tmp_path: Path
) -> None:
    folder = tmp_path / "fmu"
    with zipfile.ZipFile(portable("spring")) as archive:
        archive.extractall(folder)
    subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
    slave = fresh_host.open(folder).initialize()
    slave.step(0.1)
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
    shutil.rmtree(folder)
    slave.step(0.1)
    slave.free()


def test_nothing_is_left_behind(portable: Portable, tmp_path: Path) -> None:
    """Neither files nor descriptors nor processes."""
    host = Host(tmp_path)
    try:
        before = None
        for _ in range(5):
            slave = host.open(portable("divider")).initialize()
            slave.step(0.1)
            slave.free()
            open_files = len(list(Path(f"/proc/{host.pid}/fd").iterdir()))
            before = before or open_files
            assert open_files == before and not children(host.pid), "FMPy unloads the library with its last instance"
    finally:
        host.kill()
