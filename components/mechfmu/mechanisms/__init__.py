"""The mechanisms.

Each is a folder here with a module `model` that defines one Mechanism; the folder's name is its key.
"""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from ..model.class_check import check_class
from ..model.errors import ModelError, UserError, describe_error, did_you_mean, source_location
from ..model.mechanism import Mechanism


def names() -> list[str]:
    """The keys of all mechanisms, found from the folders."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)


def find(key: str) -> type[Mechanism]:
    """The mechanism class of a key."""
    if key not in names():
        raise UserError(f"there is no mechanism {key}{did_you_mean(key, names())} (mechanisms: {', '.join(names())})")
    module = _load(key)
    found = [
        c
        for c in vars(module).values()
        if isinstance(c, type) and issubclass(c, Mechanism) and c.__module__ == module.__name__
    ]
    if len(found) != 1:
        listed = f"{len(found)} classes ({', '.join(c.__name__ for c in found)})" if found else "no class"
        raise ModelError(
            f"{source_location(str(module.__file__), 1)}there is {listed} derived from Mechanism: one is needed"
        )
    check_class(found[0], key)
    return found[0]


def _load(key: str) -> ModuleType:
    """The module of a mechanism; ModelError when its text cannot be read."""
    name = f"{__name__}.{key}.model"
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise ModelError(f"{source_location(error.filename or key, error.lineno)}{describe_error(error)}") from error
    except UserError:
        raise
    except Exception as error:
        folders = [Path(path) / key for path in __path__]
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent in folders]
        if not frames:
            raise
        raise ModelError(f"{source_location(frames[-1].filename, frames[-1].lineno)}{describe_error(error)}") from error


def add_folder(folder: str | Path) -> str:
    """Register a mechanism in another folder and return its key."""
    place = Path(folder).resolve()
    if not (place / "model.py").is_file():
        raise UserError(f"{folder} is not a mechanism: model.py is missing")
    if str(place.parent) not in __path__:
        if place.name in names():
            raise UserError(f"{folder}: a mechanism {place.name} already exists; rename the folder and its key")
        __path__.append(str(place.parent))
        importlib.invalidate_caches()
    if place.name not in names():
        raise UserError(f"{folder} is not a mechanism: __init__.py is missing (an empty file)")
    return place.name


def make(key: str, **options: Any) -> Mechanism:
    """Return the mechanism of a key with its options: `make("link_chain", links=3)`."""
    return find(key)(**options)
