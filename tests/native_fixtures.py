"""A plugin of pytest for the tests of the native FMU; they name it in `pytest_plugins`."""

from __future__ import annotations

import os

import pytest
from native_build import Native


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Native:
    """Builds FMUs and C programs; shared by the workers of a run."""
    own = tmp_path_factory.getbasetemp()
    store = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "native"
    store.mkdir(exist_ok=True)
    return Native(store)
