"""The base installation: it is small, checks and simulates FMUs, and names the extra where something is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

from helpers.check_zoo import CLEAN, write_fmu
from helpers.paths import ROOT
from mechfmu.model.extras import EXTRAS, PACKAGES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MEGABYTES = 200  # of the base installation: 195; NumPy and the CMake that FMPy requires are 148 of them

WITHOUT_EXTRAS = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(PACKAGES)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from mechfmu.cli import main
sys.exit(main())
"""


def light(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that finds no package of an extra."""
    command = [sys.executable, "-c", WITHOUT_EXTRAS, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fmu(tmp_path_factory.mktemp("zoo"), CLEAN["both"])


def test_check_needs_no_extra(fmu: Path, tmp_path: Path) -> None:
    reports = [x for name in ("json", "junit", "html", "sarif") for x in (f"--{name}", tmp_path / name)]
    result = light("check", fmu, "--only", "S,D1,D11,D13", *reports)
    assert result.returncode == 0 and result.stderr == "", result.stdout + result.stderr
    assert re.search(r"passed .*S13.* D1 D11 D13", result.stdout)


def test_simulate_needs_no_extra(fmu: Path, tmp_path: Path) -> None:
    result = light("simulate", fmu, "--stop", "0.1", "-o", tmp_path / "r.csv")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "r.csv").read_text().startswith("time,")


def test_help_needs_no_extra() -> None:
    assert light("--help").returncode == 0


def test_the_list_says_what_is_missing() -> None:
    result = light("list")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("not installed: ")]
    assert result.returncode == 0 and line.endswith('pip install "mechfmu[native,plot,sweep,learn,robots]"')


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        ("build link_chain -o {out}", "CasADi", "native"),
        ("linearize link_chain", "CasADi", "native"),
        ("simulate {fmu} --plot {out}.png", "Matplotlib", "plot"),
        ("simulate {fmu} --animate {out}.html", "Matplotlib", "plot"),
        ("simulate {fmu} -o {out}.parquet", "pyarrow", "sweep"),
        ("sweep {fmu} {spec} -o {out}", "Dask", "sweep"),
        ("new my_mechanism", "Matplotlib", "plot"),
    ],
)
def test_a_missing_extra_is_one_line(arguments: str, package: str, extra: str, fmu: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text('[run]\nstop = 1.0\nrecord = ["x"]\n[vary]\nk = [1.0, 2.0]\n')
    words = [word.format(fmu=fmu, out=tmp_path / "x", spec=spec) for word in arguments.split()]
    result = light(*words)
    message = f'mechfmu {words[0]} needs {package}: pip install "mechfmu[{extra}]"\n'
    assert (result.returncode, result.stderr, result.stdout) == (2, message, "")


def test_methods_in_python_name_the_extra() -> None:
    code = WITHOUT_EXTRAS.replace(
        "from mechfmu.cli import main\nsys.exit(main())", "from mechfmu import LinkChain\nLinkChain(links=1).build('x')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'MissingPackage: this needs CasADi: pip install "mechfmu[native]"' in result.stderr


def test_extras_have_the_packages_that_messages_promise() -> None:
    groups = PROJECT["optional-dependencies"]

    def packages(extra: str) -> set[str]:
        found = set()
        for text in groups[extra]:
            needed = Requirement(text)
            found |= {p for e in needed.extras for p in packages(e)} if needed.name == "mechfmu" else {needed.name}
        return found

    names = {"PIL": "pillow", "dask": "distributed"}  # Dask comes with distributed
    base = {Requirement(text).name for text in PROJECT["dependencies"]}
    for module, (_, extra) in PACKAGES.items():
        name = names.get(module, module)
        assert name in packages(extra) and name in packages("all") and name not in base, module
    assert set(EXTRAS) <= set(groups)


def test_the_base_installation_is_small() -> None:
    """All files of the package, with its bytecode, and of those that come without extras, as installed here."""
    own = [f for folder in ("components/mechfmu", "fmu_src") for f in (ROOT / folder).rglob("*") if f.is_file()]
    own = [f for f in own if "__pycache__" not in f.parts]
    sizes = {"mechfmu": sum(f.stat().st_size * (2 if f.suffix == ".py" else 1) for f in own)}
    waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    while waiting:
        needed = waiting.pop()
        if needed.name.lower() in sizes or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        files = distribution(needed.name).files or []
        sizes[needed.name.lower()] = sum(f.locate().stat().st_size for f in files if f.locate().is_file())
        waiting += [Requirement(text) for text in requires(needed.name) or []]
    total = sum(sizes.values()) / 1e6
    assert len(sizes) > 5 and total < MEGABYTES, sorted(sizes.items(), key=lambda item: -item[1])[:8]
