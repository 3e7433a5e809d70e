"""The choice of the Python that runs the FMU, in a host that is not Python, and the message when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fmpy import read_model_description

from helpers.build import Build
from helpers.fmu_client import Host
from helpers.native_build import Native, once
from helpers.slave_cases import Portable

pytest_plugins = ["helpers.slave_fixtures", "helpers.native_fixtures"]
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the host is compiled for Linux; Windows has a test of its own"
)

GOOD = sys.executable


@pytest.fixture
def bare(fmu_store: Path) -> Path:
    """A Python 3 without packages."""

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)

    return once(fmu_store, "bare-python", make) / "bin"


class Bare:
    """tests/c/host.c with an FMU, in an environment of the test's variables only."""

    def __init__(self, program: Path, folder: Path):
        self.program, self.folder = program, folder

    def __call__(self, **environment: str) -> subprocess.CompletedProcess[str]:
        (library,) = (self.folder / "binaries" / "linux64").iterdir()
        description = read_model_description(str(self.folder))
        angle = next((str(v.valueReference) for v in description.modelVariables if v.name == "joint[1].angle"), "0")
        command = [self.program, library, description.guid, "0.01", "2", "1e-6", angle]
        return subprocess.run(
            command,
            env={"HOME": str(self.folder), **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def chain(native: Native, fmu: Build, fmu_store: Path, tmp_path: Path) -> Bare:
    """The chain in the host, which prints its first angle."""
    program = native.host()
    with zipfile.ZipFile(fmu(links=2)) as archive:
        archive.extractall(tmp_path / "fmu")
    return Bare(program, tmp_path / "fmu")


only_python = pytest.mark.parametrize("kind", ["python"])


def ran(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    first, second = (float(v) for v in done.stdout.split())
    assert 0.0 > first > second, "it falls from the horizontal"


def configured(folder: Path, python: str) -> str:
    (folder / "mechfmu").mkdir(parents=True)
    (folder / "mechfmu" / "python").write_text(f"{python}\n")
    return str(folder)


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    file.chmod(0o755)
    return file


@only_python
def test_each_source_is_enough(chain: Bare, tmp_path: Path) -> None:
    ran(chain(MECHFMU_PYTHON=GOOD))
    ran(chain(VIRTUAL_ENV=sys.prefix))
    ran(chain(XDG_CONFIG_HOME=configured(tmp_path / "configuration", GOOD)))
    ran(chain(PATH=str(Path(GOOD).parent)))
    ran(chain(MECHFMU_PYTHON=Path(GOOD).name, PATH=str(Path(GOOD).parent)))


@only_python
def test_the_environment_of_another_python_does_no_harm(chain: Bare) -> None:
    ran(chain(MECHFMU_PYTHON=GOOD, PYTHONHOME="/nowhere", __PYVENV_LAUNCHER__="/nowhere"))


@only_python
def test_a_script_that_starts_python(chain: Bare, tmp_path: Path) -> None:
    script = program(tmp_path / "site", "python3", f'#!/bin/sh\n{GOOD} "$@"\n')
    ran(chain(MECHFMU_PYTHON=str(script)))


@only_python
def test_a_python_that_is_not_ready_in_time(chain: Bare, tmp_path: Path) -> None:
    hanging = program(tmp_path / "hanging", "python3", "#!/bin/sh\nexec /bin/sleep 100\n")
    done = chain(MECHFMU_PYTHON=str(hanging), MECHFMU_CALL_TIMEOUT="0.5", PATH="/nowhere")
    assert done.returncode == 1 and "was not ready in the time that MECHFMU_CALL_TIMEOUT allows" in done.stderr
    assert "must be a number of seconds" in chain(MECHFMU_PYTHON=GOOD, MECHFMU_CALL_TIMEOUT="soon").stderr


@only_python
def test_the_first_that_has_the_packages_is_taken(chain: Bare, bare: Path) -> None:
    ran(chain(PATH=f"{bare}:{Path(GOOD).parent}"))


@only_python
def test_a_named_python_that_does_not_suit_is_reported(chain: Bare, bare: Path) -> None:
    done = chain(MECHFMU_PYTHON=str(bare / "python3"), VIRTUAL_ENV=sys.prefix)
    ran(done)
    assert f"[1, logStatusWarning]: {bare}/python3 (MECHFMU_PYTHON): Python 3." in done.stderr
    assert f"lacks numpy, scipy, casadi; taken instead: {sys.prefix}/bin/python" in done.stderr


@only_python
def test_without_a_suitable_python_the_message_lists_the_candidates(chain: Bare, bare: Path, tmp_path: Path) -> None:
    old = program(
        tmp_path / "old",
        "python3",
        f"""#!/bin/sh\nshift\nexec {GOOD} -c "import sys, runpy
sys.version_info, sys.argv = (2, 7, 18, 'final', 0), sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition('/')[0])
runpy.run_path(sys.argv[0], run_name='__main__')" "$@"\n""",
    )
    silent = program(tmp_path / "silent", "python3", "#!/bin/sh\nexit 7\n")
    nonsense = program(tmp_path / "nonsense", "python3", "not a program")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "python3").write_text("a file that cannot be run")
    done = chain(
        MECHFMU_PYTHON="/nowhere/python",
        PATH=":".join(str(p) for p in (old.parent, silent.parent, nonsense.parent, tmp_path / "text", bare)),
    )
    assert done.returncode == 1 and "fmi2Instantiate failed" in done.stderr and done.stdout == ""
    (message,) = (line for line in done.stderr.splitlines() if line.startswith("host [3, logStatusError]"))
    for part in (
        "/nowhere/python (MECHFMU_PYTHON): cannot be started: No such file or directory",
        f"{old} (on the path): Python 2.7 is too old: 3.10 or newer is needed",
        f"{silent} (on the path): it ended without a message (exit status 7)",
        f"{nonsense} (on the path): ",
        f"{bare}/python3 (on the path): Python 3.",
        "lacks numpy, scipy, casadi",
        "MECHFMU_PYTHON",
    ):
        assert part in message, (part, message)
    assert str(tmp_path / "text") not in message
    assert "none was found" in chain(PATH="/nowhere").stderr


def broken(source: Path, target: Path, old: str, new: str) -> Path:
    """A portable FMU whose slave's file is changed."""
    with zipfile.ZipFile(source) as archive:
        archive.extractall(target)
    slave = target / "resources" / "troublesome.py"
    slave.write_text(slave.read_text().replace(old, new, 1))
    return target


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import nowhere_to_be_found", "lacks nowhere_to_be_found"),
        ("raise ValueError('not today')", "cannot load the slave: ValueError: not today (troublesome.py, line 3)"),
        ("def f(:", "cannot load the slave: "),
        ("import sys; sys.exit(5)", "SystemExit: 5 (troublesome.py, line 3)"),
        ("import os; os.write(2, b'farewell\\n'); os._exit(5)", "farewell"),
    ],
)
def test_a_slave_that_cannot_be_loaded_is_reported(
    portable: Portable, native: Native, tmp_path: Path, statement: str, message: str
) -> None:
    folder = broken(portable("troublesome"), tmp_path / "fmu", "import ctypes\n", f"{statement}\n")
    host = native.host()
    done = Bare(host, folder)(MECHFMU_PYTHON=GOOD)
    assert done.returncode == 1 and message in done.stderr, done.stderr


def test_an_exception_while_instantiating_is_reported(portable: Portable, native: Native, tmp_path: Path) -> None:
    folder = broken(
        portable("troublesome"), tmp_path / "fmu", "self.trouble, self.total", "self.trouble, self.total = 1 / 0, 0  #"
    )
    host = native.host()
    done = Bare(host, folder)(MECHFMU_PYTHON=GOOD)
    assert done.returncode == 1 and "ZeroDivisionError: division by zero (troublesome.py, line 15)" in done.stderr, (
        done.stderr
    )


def test_a_python_host_provides_the_interpreter(
    portable: Portable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: Path
) -> None:
    """With its virtual environment, in spite of the path and the registration."""
    monkeypatch.setenv("PATH", f"{bare}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", configured(tmp_path / "configuration", str(bare / "python3")))
    host = Host(tmp_path)
    try:
        slave = host.open(portable("troublesome")).initialize()
        assert slave.call("getString", [slave.references["python"]]) == [sys.executable]
        host.close()
    finally:
        host.kill()
