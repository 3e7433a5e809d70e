"""A plugin of pytest for the tests of the native FMU; they name it in `pytest_plugins`."""

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
    """Runs a Windows program; everything Wine keeps is in a temporary folder."""
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
