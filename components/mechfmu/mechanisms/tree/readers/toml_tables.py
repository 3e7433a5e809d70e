"""Tables of a TOML file with checked values, and messages with lines.

The TOML parser of Python gives no line numbers once a file is read, so the lines of tables and keys are found in the
text, from which strings and comments have been blanked out. This text also shows what would make the parser slow or
overrun its stack: deep nesting and endless dotted keys.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from ....model.mechanism import did_you_mean
from ....multibody.rotations import from_quaternion
from .common import Fault, check_name, from_rpy, in_range, legal_name, printable, tidy

MAX_DEPTH = 8  # of brackets; the format needs 3
MAX_DOTS = 3  # in a key; the format needs 1

TABLES = ("body", "joint", "shape", "frame", "contact")
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
ROTATIONS = ("rpy", "quaternion", "matrix")

_HIDDEN = re.compile(  # strings and comments, each in one step, closed or not
    r'"""(?:\\.|[^\\])*?(?:"""|\\?\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:\\[^\n]|[^"\\\n])*"?' r"|'[^'\n]*'?" r"|#[^\n]*",
    re.DOTALL,
)
_TABLE = re.compile(r"\[\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\]\]")
_KEY = re.compile(r"\[?[ \t]*(?:joint|body|shape|frame|contact)?[ \t]*\.?[ \t]*([A-Za-z0-9_-]+)[ \t]*[.=\]]")


def parsed_toml(text: str) -> dict[str, Any]:
    """The contents of a file; a Fault for what is not TOML, or would take too long."""
    hidden = _blanked(text)
    depth = 0
    for found in re.finditer(r"[\[\]{}]", hidden):
        depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            raise Fault("brackets are nested too deeply", hidden.count("\n", 0, found.start()) + 1)
    line = 1
    for piece in re.split(r"([^\w\-. \t])", hidden):  # a dotted key is one piece
        line += piece.count("\n")
        if piece.count(".") > MAX_DOTS:
            raise Fault("a key has too many parts", line)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also from int(), for a number of 5000 digits
        message = str(error)
        place = re.search(r" ?\(at (?:line (\d+), column \d+|end of document)\)", message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 0
        raise Fault(f"is not valid TOML: {printable(message[: place.start()] if place else message)}", line) from None


def _blanked(text: str) -> str:
    """The text with strings and comments made letters: as long, and with the same lines."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", "s" if found[0][0] != "#" else " ", found[0]), text)


class LineNumbers:
    """The lines of the tables and keys of a file."""

    def __init__(self, text: str, given: dict[str, Any]):
        self.tables: dict[str, list[int]] = {"": [0]}
        self.keys: dict[tuple[str, int, str], int] = {}
        kind, index = "", 0
        for number, line in enumerate(_blanked(text).split("\n"), 1):
            line = line.strip()
            if table := _TABLE.match(line):
                kind = table[1]
                self.tables.setdefault(kind, []).append(number)
                index = len(self.tables[kind]) - 1
            elif key := _KEY.match(line):
                self.keys.setdefault((kind, index, key[1]), number)
        for kind in TABLES:  # written in a way that this class does not understand
            if not isinstance(given.get(kind), list) or len(given[kind]) != len(self.tables.get(kind, [])):
                self.tables[kind] = []

    def of_table(self, kind: str, index: int) -> int:
        table = self.tables.get(kind, [])
        return table[index] if index < len(table) else self.keys.get(("", 0, kind), 0)

    def of_key(self, kind: str, index: int, key: str) -> int:
        if index < len(self.tables.get(kind, [])) and (kind, index, key) in self.keys:
            return self.keys[kind, index, key]
        return self.of_table(kind, index) if kind else self.of_table(key, 0)


class TomlTable:
    """One [[body]], [[joint]] or other table: its checked values, and messages about it."""

    def __init__(self, kind: str, index: int, given: Any, lines: LineNumbers, keys: tuple[str, ...]):
        self.kind, self.index, self.lines = kind, index, lines
        self.line = lines.of_table(kind, index)
        self.what = f"{kind} {index + 1}"
        if not isinstance(given, dict):
            raise Fault(f"{self.what}: must be a table", self.line)
        self.given = given
        if "name" in keys:
            self._read_name()
        check_keys(given, keys, self.what, self.line_of)

    def _read_name(self) -> None:
        name = check_name(self.text("name"), self.what, self.line_of("name"))
        if legal_name(name) != name:
            rule = "a name is made of letters, digits and _ and does not begin with a digit"
            raise Fault(f"{self.kind} {printable(name)}: {rule}", self.line_of("name"))
        self.name, self.what = name, f"{self.kind} {printable(name)}"

    def line_of(self, key: str) -> int:
        return self.lines.of_key(self.kind, self.index, key)

    def fault(self, key: str, message: str) -> Fault:
        return Fault(f"{self.what}: {message}", self.line_of(key))

    def text(self, key: str, default: str | None = None) -> str:
        value = self.given.get(key, default)
        if value is None:
            raise Fault(f"{self.what}: needs a {key}", self.line)
        if not isinstance(value, str):
            raise self.fault(key, f"{key} must be a text in quotation marks")
        return value

    def number(self, key: str, default: float = 0.0) -> float:
        return self._number(key, self.given.get(key, default), key)

    def optional(self, key: str) -> float | None:
        return self.number(key) if key in self.given else None

    def vector(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        return self._vector(key, self.given.get(key, list(default)), key, len(default))

    def _number(self, key: str, value: Any, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fault(key, f"{what} must be a number")
        try:
            return in_range(float(value), f"{self.what}: {what}", self.line_of(key))
        except OverflowError:
            raise self.fault(key, f"{what} is too large") from None

    def _vector(self, key: str, value: Any, what: str, count: int) -> tuple[float, ...]:
        if not isinstance(value, list) or len(value) != count:
            raise self.fault(key, f"{what} must be a list of {count} numbers")
        return tuple(self._number(key, v, what) for v in value)

    def inertia(self) -> tuple[float, ...]:
        given = self.given["inertia"]
        if not isinstance(given, dict):
            return self._vector("inertia", given, "inertia", 6)
        check_keys(given, INERTIA, f"{self.what}: inertia", lambda _: self.line_of("inertia"))
        for key in INERTIA[:3]:
            if key not in given:
                raise self.fault("inertia", f"inertia needs {key}")
        return tuple(self._number("inertia", given.get(key, 0.0), f"inertia {key}") for key in INERTIA)

    def rotation(self, key: str) -> np.ndarray:
        """A rotation matrix. Rounded numbers are made a rotation again; anything worse is an error."""
        given = self.given.get(key, {"rpy": [0, 0, 0]})
        if not isinstance(given, dict) or len(given) != 1:
            forms = ", ".join(f"{{ {form} = [...] }}" for form in ROTATIONS)
            raise self.fault(key, f"{key} must be one of {forms}")
        check_keys(given, ROTATIONS, f"{self.what}: {key}", lambda _: self.line_of(key))
        ((form, value),) = given.items()
        if form == "rpy":
            return from_rpy(self._vector(key, value, f"{key} rpy", 3))
        if form == "quaternion":
            e = np.array(self._vector(key, value, f"{key} quaternion", 4))
            length = float(np.linalg.norm(e))
            if not abs(length - 1) < 1e-6:
                raise self.fault(key, f"{key}: the quaternion's length is {length:g}, not 1")
            return tidy(np.asarray(from_quaternion(e / length)))
        if not isinstance(value, list) or len(value) != 3:
            raise self.fault(key, f"{key} matrix must be a list of 3 rows")
        R = np.array([self._vector(key, row, f"{key} matrix: each row", 3) for row in value])
        if not np.max(np.abs(R @ R.T - np.eye(3))) < 1e-6 or not np.linalg.det(R) > 0:
            raise self.fault(key, f"{key}: the matrix is not a rotation")
        U, _, V = np.linalg.svd(R)
        return tidy(R if np.max(np.abs(R @ R.T - np.eye(3))) < 1e-14 else U @ V)


def check_keys(given: Iterable[str], known: tuple[str, ...], what: str, line_of: Any) -> None:
    for key in given:
        if key not in known:
            hint = f"{did_you_mean(key, known)} (known: {', '.join(known)})"
            raise Fault(f"{what}: unknown key {printable(key)}{hint}", line_of(key))
