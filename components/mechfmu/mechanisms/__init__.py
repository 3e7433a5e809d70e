"""The mechanisms. Each is a folder here with a module `model` that defines one Mechanism; the folder's name is its key."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

from .contract import Caution, Mechanism, Note, UserError, near

__all__ = ["Caution", "Mechanism", "Note", "UserError", "add_folder", "find", "make", "names", "near"]


def names() -> list[str]:
    """The keys of all mechanisms, found from the folders."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)


def find(key: str) -> type[Mechanism]:
    """The mechanism class of a key."""
    if key not in names():
        raise UserError(f"there is no mechanism {key}{near(key, names())} (mechanisms: {', '.join(names())})")
    module = importlib.import_module(f".{key}.model", __name__)
    (found,) = (c for c in vars(module).values() if isinstance(c, type) and issubclass(c, Mechanism) and c.__module__ == module.__name__)
    return found


def add_folder(folder: str | Path) -> str:
    """Make a mechanism known whose folder lies elsewhere; its key."""
    place = Path(folder).resolve()
    if not (place / "model.py").is_file():
        raise UserError(f"{folder} is no mechanism: it has no file model.py")
    if str(place.parent) not in __path__:
        if place.name in names():
            raise UserError(f"{folder}: there is a mechanism {place.name} already")
        __path__.append(str(place.parent))
        importlib.invalidate_caches()
    if place.name not in names():
        raise UserError(f"{folder} is no mechanism: it has no file __init__.py")
    return place.name


def make(key: str, **options: Any) -> Mechanism:
    """The mechanism of a key with its options: make("link_chain", links=3)."""
    return find(key)(**options)
