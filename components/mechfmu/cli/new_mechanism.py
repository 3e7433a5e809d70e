"""The skeleton of a new mechanism: a folder with a working example, and its tests."""

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

TEMPLATES = Path(__file__).parent / "templates"
KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def write_skeleton(key: str, parent: Path) -> list[Path]:
    """Write parent/key/ and parent/test_key.py and return the files written."""
    folder, test = parent / key, parent / f"test_{key}.py"
    _check_key(key)
    if folder.exists() or test.exists():
        raise UserError(f"{folder} or {test.name} already exists: nothing was written")
    if keyword.iskeyword(key) or importlib.util.find_spec(key):
        raise UserError(f"{key} is a Python keyword or the name of an installed module: choose another name")
    make_folder(parent)
    make_folder(folder)
    name = "".join(word.capitalize() for word in key.split("_"))
    words = {"key": key, "name": name, "title": key.replace("_", " ").capitalize()}
    templates = {test: "test.py.txt", folder / "model.py": "model.py.txt", folder / "about.html": "about.html.txt"}
    (folder / "__init__.py").touch()
    for file, template in templates.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        file.write_text(Template(text).substitute(words), encoding="utf-8")
    mechanisms.add_folder(folder)
    icon = draw_icon(mechanisms.make(key))
    return [folder / "__init__.py", *templates, folder / icon.name]


def _check_key(key: str) -> None:
    if not KEY.fullmatch(key):
        allowed = "lower-case letters, digits and single underscores"
        raise UserError(f"{key}: the name of a mechanism consists of {allowed}, like double_pendulum")
    if key in mechanisms.names():
        raise UserError(f"a mechanism {key} already exists: choose another name")
