"""What the documentation tells its readers to type works."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import needs
from helpers.fork_server import run
from helpers.paths import BUILD_SCRIPTS, ROOT

needs.package("nbclient", whole_file=True)  # gallery.py imports it
sys.path.append(str(BUILD_SCRIPTS))
from gallery import FIRST, benchmarks  # noqa: E402

from mechfmu.cli import main  # noqa: E402
from mechfmu.cosim.system import System  # noqa: E402
from mechfmu.simulation.simulate import simulate_fmu  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TYPED = [page for page in PAGES if re.search(r"^```(sh|python)$", page.read_text(encoding="utf-8"), re.MULTILINE)]

# what is typed but not run here, and why
ELSEWHERE = {
    "python3 build_scripts/": "the two commands of the project: CI is the second",
    "python3 -m pip install": "the environment of the tests was made with it",
    "pip install": "likewise",
    ".venv/bin/": "the tools of test_style.py, and mechfmu under another path",
    "cp -r examples": "would change the project",
    "dask ": "test_sweep.py starts a scheduler and workers",
    "OMSimulator": "is downloaded from elsewhere",
    "eval": "test_new.py asks for completions",
    "apt": "changes the machine",
    "unzip ": "test_wasm_module.py does it in Python, and runs the page and the programs of docs/wasm.md",
    "python3 -m http.server": "likewise",
    "python examples/": "test_examples.py, test_cart_figure.py and test_exo_examples.py run them",
    "python benchmarks/": "measurements",
    "python -m pytest test_my_mechanism.py": "test_new.py runs the tests of a new mechanism",
    "jupyter lab ": "opens a browser; test_notebooks.py runs the notebooks",
}


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """(language, text) of every code block."""
    yield from re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#.*$", "", line).strip()
        if command and not command.startswith("#"):
            yield from command.split(" && ")


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What readers have when they come to a page: an FMU of the chain, a robot, some inputs."""
    folder = tmp_path_factory.mktemp("reader")
    for key, option, place in (
        ("link_chain", "links=5", "out"),
        ("link_chain", "links=2", "parts"),
        ("pid_controller", "channels=2", "parts"),
    ):
        reader(["-m", "mechfmu", "build", key, "--option", option, "-o", folder / place], folder)
    (folder / "build").mkdir()
    for name in ("LinkChain.fmu", "MyModel.fmu", "build/MyModel.fmu"):
        shutil.copy(folder / "out" / "LinkChain.fmu", folder / name)
    (folder / "MyModel_in.csv").write_text('time,"joint[1].torque"\n0,0\n1,0.5\n2,0\n')
    names = ["--input", "MyModel_in.csv", "-o", "MyModel_ref.csv"]
    reader(["-m", "mechfmu", "simulate", "MyModel.fmu", "--stop", "2", "--step", "1ms", *names], folder)
    rules = '[tool.mechfmu.check]\nonly = ["S", "D1"]\n'  # all rules are applied in tests/check
    (folder / "pyproject.toml").write_text(rules)
    robot = (ROOT / "examples" / "three_link_robot.urdf").read_text()
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'  # so that the robot can float
    stand = f'<inertial><mass value="9"/>{inertia}</inertial>'
    (folder / "robot.urdf").write_text(robot.replace('<link name="stand"/>', f'<link name="stand">{stand}</link>'))
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def reader(command: list[object], folder: Path) -> None:
    """What a reader types: arguments of Python."""
    done = run(command, folder, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def shorten(file: Path) -> None:
    """Let a system run for a second at most: what it does in the end is shown by the tests of its mechanisms."""
    system = System.load(file)
    replace(system, stop=min(system.stop_time, 1.0)).save(file)


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_is_typed_works(page: Path, workplace: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workplace, tmp_path / "here")
    for number, (language, text) in enumerate(blocks(page)):
        name = re.match(r"# (\S+\.(?:toml|csv))\n", text)
        if language == "toml" and name:
            (folder / name[1]).write_text(text)
        elif language == "python":
            script = folder / f"block_{number}.py"
            script.write_text(text)
            reader([script.name], folder)
        elif language == "sh":
            for command in commands(text):
                if command.startswith("mechfmu "):
                    words = shlex.split(command)[1:]
                    files = [
                        name
                        for word in words
                        for name in (sorted(f.name for f in folder.glob(word)) if "*" in word else [word])
                    ]  # as a shell does
                    reader(["-m", "mechfmu", *files], folder)
                    if words[:2] == ["cosim", "new"]:
                        shorten(folder / words[2])
                else:
                    assert command.startswith(tuple(ELSEWHERE)), f"nothing runs: {command}"


def test_messages_in_the_readme_are_those_that_are_told(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workplace)
    shown = re.findall(
        r"^\$ mechfmu (.*)\n(mechfmu .*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(shown) >= 2
    for command, message in shown:
        assert main(shlex.split(command)) == 2
        assert capsys.readouterr().err == f"{message}\n"


def test_every_tutorial_ends_with_what_the_fmu_computes(workplace: Path) -> None:
    """So that readers can tell whether they did it right."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "tutorials").glob("*.md")]
    (command,) = {
        command
        for text in pages
        for command in re.findall(r"^mechfmu simulate out/LinkChain.fmu .*$", text, re.MULTILINE)
    }
    start = dict(re.findall(r'--set "(.+?)=(.+?)"', command))
    result = simulate_fmu(workplace / "out" / "LinkChain.fmu", stop=5.0, start=start)
    assert len(start) == 2 and "--stop 5 " in command
    assert [re.findall(r"^> `tip\.x` = \*\*(.+)\*\* m$", text, re.MULTILINE) for text in pages] == len(pages) * [
        [f"{result['tip.x'][-1]:.5f}"]
    ]


def test_every_mechanism_has_its_benchmarks_and_the_readme_agrees() -> None:
    tables = benchmarks()
    assert all("|---|" in tables[key] for key in FIRST)
    (row,) = re.findall(
        r"^\| time of mechfmu over that of Pinocchio \| (.*) \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    measured = [float(number) for number in re.findall(r"\| (\d+\.\d+) ", "".join(tables.values()))]
    known = {f"{ratio:.2f}" for number in measured for ratio in (number, 1 / number)}
    assert set(row.split(" | ")) <= known
