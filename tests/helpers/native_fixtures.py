"""Fixtures for the tests of native FMUs, which name this module in `pytest_plugins`."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from helpers.native_build import Native, run
from helpers.needs import tool


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Builds FMUs and C programs; shared by the workers of a run."""
    own = tmp_path_factory.getbasetemp()
    store = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "native"
    store.mkdir(exist_ok=True)
    return Native(store)


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory):
    """A function that runs a Windows program under Wine, whose files are in a temporary folder."""
    program = tool("wine")
    environment = {
        **os.environ,
        "WINEPREFIX": str(tmp_path_factory.mktemp("wine")),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "DISPLAY": "",
    }
    try:
        yield lambda *command: run([program, *command], env=environment, timeout=300)
    finally:
        if server := shutil.which("wineserver"):
            subprocess.run([server, "-k"], env=environment, capture_output=True, timeout=60)
