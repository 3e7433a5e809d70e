"""A new mechanism to start from: a folder that works, and its tests."""

from __future__ import annotations

import importlib.util
import keyword
import re
from pathlib import Path
from string import Template

from .. import mechanisms
from ..fmu.archive import make_folder
from ..model import UserError
from ..view.icon import draw_icon

HERE = Path(__file__).parent / "templates"


def write_skeleton(key: str, parent: Path) -> list[Path]:
    """Write parent/key/ and parent/test_key.py; the files written."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key):
        raise UserError(
            f"{key}: the name of a mechanism is made of small letters, digits and single underscores, like double_pendulum"
        )
    if key in mechanisms.names():
        raise UserError(f"there is a mechanism {key} already: choose another name")
    folder = parent / key
    if folder.exists() or (parent / f"test_{key}.py").exists():
        raise UserError(f"{folder} or test_{key}.py exists already: nothing was written")
    if keyword.iskeyword(key) or importlib.util.find_spec(key):
        raise UserError(f"{key} means something else in Python already: choose another name")
    make_folder(parent)
    make_folder(folder)
    name = "".join(word.capitalize() for word in key.split("_"))
    words = {"key": key, "name": name, "title": key.replace("_", " ").capitalize()}
    files = {
        folder / "__init__.py": "",
        parent / f"test_{key}.py": "test.py.txt",
        folder / "model.py": "model.py.txt",
        folder / "about.html": "about.html.txt",
    }
    for file, template in files.items():
        file.write_text(
            Template((HERE / template).read_text(encoding="utf-8")).substitute(words) if template else "",
            encoding="utf-8",
        )
    mechanisms.add_folder(folder)
    return [*files, draw_icon(mechanisms.make(key))]
