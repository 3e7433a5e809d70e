"""Equal input gives equal bytes, anywhere and at any time; unequal input gives another GUID."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from helpers.build import Build
from helpers.description import Description
from helpers.paths import ROOT
from mechfmu import LinkChain


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def guid(file: Path) -> str:
    return Description(file).root.attrib["guid"]


def test_built_again_in_the_same_process(fmu: Build, kind: str, tmp_path: Path) -> None:
    (again,) = LinkChain(links=2).build(tmp_path, kind=kind)
    assert digest(again) == digest(fmu(links=2))


def test_built_by_the_command_line_in_another_folder_at_another_time(fmu: Build, kind: str, tmp_path: Path) -> None:
    """The bytes do not depend on the folder, the clock, the hash seed, or the order of files in a folder."""
    folder = tmp_path / "a folder, with a space"
    folder.mkdir()
    environment = os.environ | {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LANG": "C"}
    command = [sys.executable, "-m", "mechfmu", "build", "link_chain", "--kind", kind, "--option", "links=2"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)
    (again,) = folder.iterdir()
    assert digest(again) == digest(fmu(links=2))


def test_no_trace_of_the_builder_in_the_file(fmu: Build) -> None:
    """No path of the machine that built it, in any of its files."""
    paths = [f"{place}/".encode() for place in (ROOT, Path.home(), tempfile.gettempdir())]
    with zipfile.ZipFile(fmu(links=2)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert not [path for path in paths if path in content], name


CHANGES = {
    "links": dict(links=3),
    "base": dict(links=2, base="moving"),
    "mass": dict(links=2, mass=11.0),
    "start": dict(links=2, start={"gravity": 9.8}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_the_guid_changes_with_the_options(fmu: Build, change: dict) -> None:
    assert guid(fmu(**change)) != guid(fmu(links=2))


def test_kinds_do_not_share_a_guid(tmp_path: Path, kind: str, fmu: Build) -> None:
    others = {k: LinkChain(links=2).build(tmp_path, kind=k)[0] for k in ("native", "python") if k != kind}
    assert all(guid(file) != guid(fmu(links=2)) for file in others.values())
