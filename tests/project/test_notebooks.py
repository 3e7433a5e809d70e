"""The notebooks run from top to bottom, with the statements that their cells make, and are kept without outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers import needs
from helpers.paths import BUILD_SCRIPTS

needs.package("nbclient", whole_file=True)
sys.path.append(str(BUILD_SCRIPTS))
import nbformat  # noqa: E402
from notebooks import NOTEBOOKS, executed, page  # noqa: E402

each = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)


@each
def test_it_runs_and_its_page_shows_what_it_found(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MPLBACKEND", raising=False)  # show pictures in the notebook
    found = executed(notebook, tmp_path)
    text = page(found, notebook.stem, tmp_path)
    assert "![](" in text and len(list(tmp_path.glob("*.png"))) == text.count("![](") >= 1
    assert not any(
        output.get("name") == "stderr" for cell in found.cells for output in cell.get("outputs", ())
    )  # not even a warning


@each
def test_it_states_what_must_hold_and_keeps_no_outputs(notebook: Path) -> None:
    kept = nbformat.read(notebook, as_version=4)
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    assert any("assert " in cell.source for cell in code)
    assert all(cell.outputs == [] and cell.execution_count is None and not cell.metadata for cell in code)
