"""The section [tool.mechfmu.check] of the nearest pyproject.toml."""

from __future__ import annotations

import difflib
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cannot_check import CannotCheck

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECTION = "tool.mechfmu.check"


@dataclass(frozen=True)
class ProjectSettings:
    """Settings of a project; None or empty where it has none."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    robustness: bool | None = None
    strict: bool | None = None
    baseline: Path | None = None
    call_timeout: float | None = None
    time_budget: float | None = None
    jobs: int | None = None
    file: Path | None = None


def find_configuration(folder: Path) -> ProjectSettings:
    """Read the nearest pyproject.toml that has the section, in `folder` or above it."""
    folder = folder.resolve()
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file() and (section := _section(file)) is not None:
            return _configuration(file, section)
    return ProjectSettings()


def _section(file: Path) -> Any:
    """The content of the section, or None."""
    try:
        data: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CannotCheck(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise CannotCheck(f"{file} is not valid TOML: {error}") from None
    for key in SECTION.split("."):
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _configuration(file: Path, section: Any) -> ProjectSettings:
    if not isinstance(section, dict):
        raise CannotCheck(f"{file}: {SECTION} must be a table")
    found: dict[str, Any] = {}
    for key, value in section.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f": did you mean {near[0]}?" if near else f" (there are {', '.join(KEYS)})"
            raise CannotCheck(f"{file}: [{SECTION}] has no key {key}{hint}")
        reader, expected = KEYS[key]
        read = reader(value)
        if read is None:
            raise CannotCheck(f"{file}: [{SECTION}] {key} = {_shown(value)}: must be {expected}")
        found[key.replace("-", "_")] = read
    if baseline := found.get("baseline"):
        found["baseline"] = file.parent / baseline
    return ProjectSettings(**found, file=file)


def _shown(value: Any) -> str:
    """The value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _rules(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _file(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and value > 0 and math.isfinite(value) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


KEYS = {
    "only": (_rules, 'a list of rules such as ["S", "D6"]'),
    "skip": (_rules, 'a list of rules such as ["S", "D6"]'),
    "robustness": (_truth, "true or false"),
    "strict": (_truth, "true or false"),
    "baseline": (_file, "the name of a file"),
    "call-timeout": (_seconds, "a number of seconds greater than 0"),
    "time-budget": (_seconds, "a number of seconds greater than 0"),
    "jobs": (_count, "a whole number, 0 for one per processor"),
}
