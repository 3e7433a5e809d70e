"""A Python FMU bundles the modules that its mechanism imports, and no others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.paths import PACKAGE, ROOT
from mechfmu import mechanisms
from mechfmu.codegen.sources import fmu_source
from mechfmu.fmu.bundle import bundled_files

SHARED = {  # mechanism -> other mechanisms whose modules its own modules import
    "cart_controller": {"scenario", "wheeled_cart"},
    "computed_torque": {"tree"},
    "spherical_arm": {"tree"},
}
# imported by Tree.from_file, which a slave does not call: the FMU contains the tree
LAZY = ("mechanisms/tree/readers/", "model/extras.py")
ENGINE = ("model", "simulation", "codegen")  # the folders that evaluate and integrate the equations

INSTANTIATE_ALL = """
import importlib, json, pathlib, sys

def modules(package):
    return {name for name in sys.modules if name.startswith(package + ".") or name == package}

found = {}
for folder in map(pathlib.Path, sys.argv[1:]):
    sys.path.insert(0, str(folder))
    slave = importlib.import_module(f"slave_{folder.name}").MechanismSlave(instance_name="test")
    slave.setup_experiment(0.0, None, None)
    slave.enter_initialization_mode()
    slave.exit_initialization_mode()
    package = f"bundle_{folder.name}"
    found[folder.name] = sorted(modules(package))
    for file in (folder / package).rglob("*.py"):  # every module can be imported, the lazy ones included
        parts = file.relative_to(folder).with_suffix("").parts
        importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
assert not modules("mechfmu")  # nothing came from an installation
print(json.dumps(found))
"""


def module_name(package: str, path: Path) -> str:
    """mechanisms/__init__.py -> package.mechanisms"""
    parts = path.with_suffix("").parts
    return ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


@pytest.fixture(scope="module")
def bundles() -> dict[str, dict[Path, bytes]]:
    return {key: bundled_files(mechanisms.make(key)) for key in mechanisms.names()}


@pytest.mark.parametrize("key", mechanisms.names())
def test_no_module_of_another_mechanism(key: str, bundles: dict[str, dict[Path, bytes]]) -> None:
    folders = {path.parts[1] for path in bundles[key] if path.parts[0] == "mechanisms" and len(path.parts) > 2}
    assert folders == {key} | SHARED.get(key, set())


def test_the_chain_bundles_its_own_modules_and_the_engine(bundles: dict[str, dict[Path, bytes]]) -> None:
    bundle = bundles["link_chain"]
    needed = [p for p in bundle if p.parts[0] in ENGINE or p.parts[:2] == ("mechanisms", "link_chain")]
    assert sum(len(bundle[path]) for path in needed) > 0.9 * sum(map(len, bundle.values()))


def test_a_slave_imports_every_bundled_module(bundles: dict[str, dict[Path, bytes]], tmp_path: Path) -> None:
    """The real slave of every mechanism, in a fresh interpreter, each on its own copy of the bundle."""
    for key, bundle in bundles.items():
        folder, package = tmp_path / key, f"bundle_{key}"
        for path, content in bundle.items():
            (folder / package / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / package / path).write_bytes(content)
        shutil.copy(fmu_source("python/mechanism_slave.py"), folder / f"slave_{key}.py")
        model = dict(name=key, mechanism=key, options=mechanisms.make(key).options, start={}, package=package)
        (folder / "model.json").write_text(json.dumps(model))
    command = [sys.executable, "-c", INSTANTIATE_ALL, *(str(tmp_path / key) for key in bundles)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    imported = json.loads(done.stdout)
    for key, bundle in bundles.items():
        expected = {module_name(f"bundle_{key}", path) for path in bundle if not path.as_posix().startswith(LAZY)}
        assert set(imported[key]) == expected, key


PRINT_GUID = """
import re, sys, zipfile
import mechfmu
(file,) = mechfmu.LinkChain(links=1).build(sys.argv[1], kind="python")
print(mechfmu.__file__)
print(re.search(rb'guid="([^"]+)"', zipfile.ZipFile(file).read("modelDescription.xml"))[1].decode())
"""


def guid(checkout: Path, folder: Path) -> str:
    """Build the link chain's Python FMU with the package of a checkout and return its GUID."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "components")}
    command = [sys.executable, "-c", PRINT_GUID, str(folder)]
    done = subprocess.run(command, env=environment, cwd=checkout, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    file, found = done.stdout.split()
    assert Path(file).is_relative_to(checkout)
    return found


def test_the_guid_depends_on_the_bundled_modules_only(tmp_path: Path) -> None:
    """A comment in the exoskeleton does not change the GUID of the link chain, a comment in its equations does."""
    package = tmp_path / "components" / "mechfmu"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "fmu_src", tmp_path / "fmu_src")
    shutil.copy(ROOT / "LICENSE", tmp_path / "LICENSE")

    def edit(folder: str, pattern: str) -> None:
        files = list((package / "mechanisms" / folder).glob(pattern))
        assert files
        for file in files:
            file.write_text(file.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")

    before = guid(tmp_path, tmp_path / "before")
    edit("exoskeleton", "*.py")
    assert guid(tmp_path, tmp_path / "other_edited") == before
    edit("link_chain", "equations.py")
    assert guid(tmp_path, tmp_path / "own_edited") != before
