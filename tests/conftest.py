"""Fixtures of all tests: FMUs built once, processes to run them in, the tests' own mechanisms."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import matplotlib
import pytest

from helpers.build import Build
from helpers.fmu_client import Host
from helpers.lanes import longest_files_first, mark_lanes
from helpers.paths import TESTS
from mechfmu import mechanisms
from mechfmu.cosim.builtin import build_builtin
from mechfmu.cosim.system import System
from mechfmu.fmu.build import KINDS, build

matplotlib.use("Agg")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_lanes(items)
    longest_files_first(items)


def pytest_collection_finish() -> None:
    """Looking again and again at what was imported and collected took a tenth of the processor time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Building a Python FMU registers the Python that did it: here not in the user's configuration folder."""
    folder = tmp_path_factory.mktemp("configuration")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def only_own_mechanisms() -> Iterator[None]:
    """A mechanism that a test adds from a folder is forgotten afterwards, for another test may use its name."""
    package, known = mechanisms.__name__, list(mechanisms.__path__)
    yield
    added = {
        Path(path).name for folder in mechanisms.__path__ if folder not in known for path in Path(folder).glob("*/")
    }
    mechanisms.__path__[:] = known
    for key in added:
        vars(mechanisms).pop(key, None)
        for name in [n for n in sys.modules if f"{n}.".startswith(f"{package}.{key}.")]:
            del sys.modules[name]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Every FMU test runs for every kind of FMU."""
    return request.param


@pytest.fixture(scope="session")
def fmu_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where built FMUs are kept for the whole run, shared by its workers."""
    own = tmp_path_factory.getbasetemp()
    store = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "fmus"
    store.mkdir(exist_ok=True)
    return store


@pytest.fixture
def fmu(kind: str, fmu_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """fmu(links=3): the FMU file of a link chain of this kind, built when first asked for. Not to be changed."""

    def get(key: str = "link_chain", start: Mapping[str, float] | None = None, **options: object) -> Path:
        label = "-".join([kind, key, *(f"{k}={v}" for k, v in {**options, **(start or {})}.items())])
        place = fmu_store / label
        if not place.exists():
            fresh = tmp_path_factory.mktemp("fmu")
            build(mechanisms.make(key, **options), fresh, kind=kind, start=start)
            try:
                fresh.rename(place)
            except OSError:  # another worker was faster
                assert place.exists()
        (file,) = place.iterdir()
        return file

    return get


@pytest.fixture(scope="session")
def ready(fmu_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], System]:
    """ready("walk"): a ready system, its FMUs built when first asked for."""

    def get(name: str) -> System:
        kept = fmu_store.parent / f"{fmu_store.name}_ready" / f"{name}.ssp"
        if not kept.exists():
            folder = tmp_path_factory.mktemp(name)
            kept.parent.mkdir(exist_ok=True)
            build_builtin(name, folder).save(folder / kept.name).replace(kept)
        return System.load(kept)

    return get


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Host]]:
    """The processes that ran the FMUs of a module; the last one is in use, the ones before it died."""
    hosts = [Host(tmp_path_factory.mktemp("host"))]
    try:
        yield hosts
        if not hosts[-1].died:
            hosts[-1].close()
    finally:
        for host in hosts:
            host.kill()


@pytest.fixture
def host(hosts: list[Host], tmp_path: Path) -> Iterator[Host]:
    """A process for FMUs, shared by the tests of a module until one of them makes it crash."""
    if hosts[-1].died:
        hosts.append(Host(tmp_path))
    yield hosts[-1]
    if not hosts[-1].died:
        hosts[-1].free_all()


@pytest.fixture
def fresh_host(tmp_path: Path) -> Iterator[Host]:
    """A process of one's own, for tests of what FMUs do to each other in it; it must end well."""
    host = Host(tmp_path)
    try:
        yield host
        if not host.died:
            host.close()
    finally:
        host.kill()


@pytest.fixture
def extra_mechanisms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mechanisms of the tests stand beside those of the library, found from their folders like them."""
    monkeypatch.setattr(mechanisms, "__path__", [*mechanisms.__path__, str(TESTS / "extra_mechanisms")])
