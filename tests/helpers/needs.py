"""What some tests need beside the project: programs and Python packages.

Where one is missing, the tests that use it are skipped and name it, with the way to install it. With the environment
variable CI set nothing may be missing, and they fail.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NoReturn

import pytest

PROGRAMS = {
    "gcc": "apt-get install gcc",
    "valgrind": "apt-get install valgrind libc6-dbg",
    "wine": "apt-get install --no-install-recommends wine wine64",
    "cmake": "apt-get install cmake make",
    "chromium": "apt-get install chromium",
    "chromedriver": "apt-get install chromium-driver",
    "firefox-esr": "apt-get install firefox-esr",
    "xvfb-run": "apt-get install xvfb xauth",
    "ffmpeg": "apt-get install ffmpeg",
    "ffprobe": "apt-get install ffmpeg",
    "node": "apt-get install nodejs",
}
PACKAGES = {  # module -> what pip calls it
    "pinocchio": "pin",
    "libcosimpy": "libcosimpy",
    "ecospy": "ecospy tbb",
    "selenium": "selenium",
    "websocket": "selenium",
    "gymnasium": "gymnasium",
    "mujoco": "mujoco",
    "xacro": "xacro",
    "distributed": "distributed",
    "pyarrow": "pyarrow",
    "nbclient": "nbclient ipykernel",
    "nbformat": "nbclient",
}


def tool(name: str) -> str:
    """The path of a program."""
    found = shutil.which(name)
    if not found:
        _missing(name, PROGRAMS[name])
    return str(found)


def package(name: str, whole_file: bool = False) -> None:
    """A Python package that the test, or a process that it starts, imports; or that a whole file of tests needs."""
    top = name.partition(".")[0]
    if importlib.util.find_spec(top) is None:
        _missing(top, f"pip install {PACKAGES[top]}", whole_file)


def robot_descriptions() -> Path:
    """The folder of URDF files that the package example-robot-data has installed."""
    try:
        place = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except PackageNotFoundError:
        _missing("example-robot-data", "pip install example-robot-data")
    return Path(str(place))


def master(name: str) -> None:
    """A program that runs FMUs, by its name in the tests; FMPy is always there."""
    if name != "fmpy":
        package({"libcosim": "libcosimpy", "ecos": "ecospy"}[name])


def module(name: str) -> Any:
    """A module to be used in tests. If it is missing, the test that uses it is skipped, others of its file are not."""
    found = importlib.util.find_spec(name.partition(".")[0])
    return importlib.import_module(name) if found or os.environ.get("CI") else _MissingModule(name)


class _MissingModule:
    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)  # pytest and Python look for these when they collect tests
        package(self._name)
        raise AssertionError(f"{self._name} was missing when this file was collected")


def _missing(name: str, how: str, whole_file: bool = False) -> NoReturn:
    reason = f"{name} is missing, so this is not tested here: {how}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=whole_file)
