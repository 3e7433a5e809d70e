"""The notebooks in examples/notebooks: run in a kernel of this Python, and written as pages of the documentation."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
PATIENCE = 300  # s for a cell
# a page inside a notebook, as view/notebook.py packs it
PACKED = re.compile(r'srcdoc="[^"]*atob\(&quot;([\w+/=]+)&quot;\)[^"]*"')
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def executed(notebook: Path, folder: Path) -> Any:
    """Return the notebook with its outputs, run in folder/notebooks beside the files of examples/ that it reads."""
    here = folder / "notebooks"
    here.mkdir(parents=True, exist_ok=True)
    for robot in EXAMPLES.glob("*.urdf"):
        shutil.copy(robot, folder)
    found = nbformat.read(notebook, as_version=4)
    quiet = ["--log-level=ERROR"]
    NotebookClient(
        found,
        timeout=PATIENCE,
        kernel_name="python3",
        extra_arguments=quiet,
        resources={"metadata": {"path": str(here)}},
    ).execute()
    return found


def page(notebook: Any, name: str, folder: Path) -> str:
    """The executed notebook as Markdown; its pictures and the pages in it go into the folder."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            shown = output.get("data", {})
            if "image/png" in shown:
                picture = folder / f"{name}_{len(parts)}.png"
                picture.write_bytes(base64.b64decode(shown["image/png"]))
                parts.append(f"![]({picture.name})")
            elif "text/html" in shown:
                line = re.sub(r"\s*\n\s*", " ", shown["text/html"]).strip()  # Markdown leaves it as it is
                parts.append(unpacked(line, folder, f"{name}_{len(parts)}"))
            elif text := COLOURS.sub("", output.get("text", shown.get("text/plain", ""))).strip():
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def unpacked(html: str, folder: Path, name: str) -> str:
    """HTML in which a page is a file of its own, read when the reader comes to it."""

    def moved(found: re.Match[str]) -> str:
        (folder / f"{name}.html").write_bytes(gzip.decompress(base64.b64decode(found[1])))
        return f'src="{name}.html" loading="lazy"'

    return PACKED.sub(moved, html)
