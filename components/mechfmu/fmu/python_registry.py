"""The registered Python: the one that portable FMUs use in hosts that are not Python programs themselves."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def registry_file() -> Path:
    """Return the file with the path of the registered Python, which the library reads (`registered_python` in C)."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        default = home / ("Library/Application Support" if sys.platform == "darwin" else ".config")
        base = Path(os.environ.get("XDG_CONFIG_HOME") or default)
    return base / "mechfmu" / "python"


def register_python() -> None:
    """Register this Python. Failures are ignored: the library then searches for a Python."""
    with suppress(OSError, RuntimeError):  # RuntimeError: there is no home folder
        file = registry_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sys.executable + "\n", encoding="utf-8")
