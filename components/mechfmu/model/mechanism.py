"""The contract of a mechanism: options, a table of variables, and pure functions of flat NumPy arrays.

    initial(p)                  -> x, d     the start state, from the start parameters
    rates(t, x, d, u, p)        -> dx/dt
    outputs(t, x, d, u, p)      -> y
    guards(t, x, d, u, p)       -> g        one number per event: the event is its zero crossing from + to -
    jump(t, x, d, u, p, event)  -> x, d     the state after the event of that name
    project(x, d, p)            -> x        back onto the constraints
    requirements(p)             -> r        one number per text in `requirement_texts`: a number that is not positive is
                                            an error with this text, or a warning if the text is a `Caution`

The functions are called with numbers by one engine and with symbols by another, so they contain no `if` on a value (use
`np.where`), no assignment into arrays, and no `math.` functions. They do not depend on engines or packagers.
"""

from __future__ import annotations

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from .baking import parameters_named
from .drawing import Drawing, from_strokes
from .errors import Mistake, model_errors
from .errors import UserError as UserError  # mechanisms take it from here
from .errors import did_you_mean as did_you_mean
from .units import in_unit, unit
from .variables import Row, Scalar, Table

Identity = tuple[type["Mechanism"], tuple[tuple[str, Any], ...], tuple[tuple[str, float], ...]]

M = TypeVar("M", bound="Mechanism")

TRUTH = {"true": 1, "false": 0}  # values of a Boolean

Array = Any  # a NumPy array, or the symbolic array that stands for one while an engine records the equations


class Caution(str):
    """A requirement that need not be met: when it is not, the text is a warning."""


@dataclass(frozen=True)
class Option:
    """A choice made when a mechanism is built (it changes the equations), unlike a parameter (it changes numbers)."""

    name: str
    default: Any
    description: str
    choices: tuple[str, ...] = ()
    above: float | None = None
    min: int | None = None
    max: int | None = None

    def read(self, value: Any) -> Any:
        """Return `value` (perhaps text from a command line) as this option's type; UserError if it is not allowed."""
        if self.choices:
            if value not in self.choices:
                raise self._error(value, f"one of {', '.join(self.choices)}")
            return value
        if isinstance(self.default, str):
            return str(value)
        number = self._number(value)
        self._check_limits(value, number)
        return number

    def _number(self, value: Any) -> Any:
        kind = type(self.default)
        if isinstance(value, bool) or (kind is int and isinstance(value, float) and not value.is_integer()):
            raise self._error(value, _NUMBER_KINDS[kind])
        try:
            number = kind(value)
        except (TypeError, ValueError):
            raise self._error(value, _NUMBER_KINDS[kind]) from None
        if not np.isfinite(number):
            raise self._error(value, "finite")
        return number

    def _check_limits(self, value: Any, number: Any) -> None:
        if self.min is not None and number < self.min:
            raise self._error(value, f"at least {self.min}")
        if self.max is not None and number > self.max:
            raise self._error(value, f"at most {self.max}")
        if self.above is not None and number <= self.above:
            raise self._error(value, f"greater than {self.above:g}")

    def _error(self, value: Any, allowed: str) -> UserError:
        return UserError(f"option {self.name}={value}: must be {allowed}")


@dataclass(frozen=True)
class Note:
    """The message of an event.

    stop             the simulation cannot continue: an error; otherwise a warning
    only_at_start    checked when initialization ends, not later
    """

    text: str
    stop: bool = False
    only_at_start: bool = False


_NUMBER_KINDS = {int: "a whole number", float: "a number"}

SOLVER_ROWS = (
    Row("rtol", "solver.relative_tolerance", "parameter",
        "relative tolerance of the internal solver; the experiment's tolerance overrides it",
        "1", start=1e-6, min=1e-13, max=1e-2),
    Row("method", "solver.method", "parameter",
        "explicit: for smooth motion; implicit: for stiff mechanisms; automatic: explicit until stiffness shows",
        start=3, min=1, max=3, kind="Integer", items=("explicit", "implicit", "automatic")),
    Row("max_step", "solver.max_step", "parameter",
        "largest internal step; 0 leaves it to the error control", "s", min=0.0),
)  # fmt: skip


class Mechanism(ABC):
    """Base of all mechanisms. A subclass has its own folder under `mechanisms/`, named like its `key`."""

    key: ClassVar[str]  # link_chain: the folder, and the name on the command line
    title: ClassVar[str]  # one line for lists and the FMU's description
    option_list: ClassVar[tuple[Option, ...]] = ()
    stop_time: ClassVar[float] = 10.0  # default experiment
    step_size: ClassVar[float] = 0.01
    requirement_texts: tuple[str, ...] = ()
    constants: Mapping[str, float] = {}  # parameters that are constants, see `baked`

    def __init__(self, **options: Any):
        known = {o.name: o for o in self.option_list}
        for name in options:
            if name not in known:
                raise UserError(f"{self.key} has no option {name}; it has: {', '.join(known) or 'none'}")
        self.options = {name: option.read(options.get(name, option.default)) for name, option in known.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={_brief(v)}' for k, v in self.shown_options.items())})"

    @property
    def shown_options(self) -> Mapping[str, Any]:
        """The options that `repr` shows."""
        return self.options

    @property
    def name(self) -> str:
        """The FMU's model name and identifier."""
        return type(self).__name__

    @property
    def identity(self) -> Identity:
        """What the equations depend on: mechanisms of the same identity have the same."""
        return type(self), tuple(self.options.items()), tuple(self.constants.items())

    def baked(self: M, names: str | Iterable[str], values: Mapping[str, float | str] | None = None) -> M:
        """Return the mechanism with parameters that are constants: `chain.baked("all", {"gravity": 1.62})`.

        Every engine and FMU of it computes with these numbers, and omits what they make superfluous.

        names    of parameters; * stands for any text (`link[*].mass`), `all` for all but those of the solver and of
                 initial conditions
        values   of the constants, where they differ from the defaults
        """
        chosen = parameters_named(self.table, names)
        given = {scalar.name: number for scalar, number in self.settings(values or {})}
        made = copy(self)
        made.constants = {**self.constants, **{s.name: given.pop(s.name, s.start) for s in chosen}}
        made.__dict__.pop("table", None)
        if given:
            raise UserError(f"{next(iter(given))} has a value, but is not one of the constants")
        return made

    @cached_property
    def table(self) -> Table:
        with model_errors(type(self)):
            rows = self.rows()
            if not isinstance(rows, (tuple, list)) or not all(isinstance(row, Row) for row in rows):
                raise Mistake("rows must return a tuple of Row", self.rows)
            try:
                return Table((*rows, *SOLVER_ROWS), self.constants)
            except Mistake as mistake:
                raise Mistake(str(mistake), self.rows) from None

    @cached_property
    def folder(self) -> Path:
        """The folder of the mechanism's own files (about.html, icon.png)."""
        return Path(str(sys.modules[type(self).__module__].__file__)).parent

    # --- required functions -------------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """The rows of its table."""

    @abstractmethod
    def initial(self, p: Array) -> tuple[Array, Array]: ...

    @abstractmethod
    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array: ...

    @abstractmethod
    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array: ...

    # --- optional functions: events, constraints, requirements, drawing -----------------------------------------------

    event_names: tuple[str, ...] = ()  # one per guard, in their order: "touch_down[1]"
    event_notes: Mapping[str, Note] = {}  # by name

    def guards(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        return np.zeros(0)

    def jump(self, t: Array, x: Array, d: Array, u: Array, p: Array, event: str) -> tuple[Array, Array]:
        return x, d

    def project(self, x: Array, d: Array, p: Array) -> Array:
        return x

    def requirements(self, p: Array) -> Array:
        return np.zeros(0)

    def strokes(self, value: Any) -> list[tuple[Array, Array]]:
        """Return polylines (x, y) in metres, from `value(name) -> number`. Empty: there is no drawing."""
        return []

    def drawing(self, value: Any) -> Drawing:
        """Return the full drawing: in space, with solids and forces. The default is that of `strokes`."""
        strokes = self.strokes(value)
        for k, stroke in enumerate(strokes, start=1):
            shapes = [np.shape(coordinates) for coordinates in stroke]
            vectors = all(len(shape) == 1 or shape[1:] == (1,) for shape in shapes)  # symbols may come as a column
            if len(stroke) != 2 or not vectors or np.size(stroke[0]) != np.size(stroke[1]):
                raise Mistake(f"stroke {k}: must be a pair x, y of arrays of the same length", self.strokes)
        return from_strokes(strokes)

    @property
    def input_limits(self) -> Mapping[str, float]:
        """Inputs that have no further effect beyond a size: a motor that gives no more."""
        return {}

    @property
    def live_start(self) -> Mapping[str, float]:
        """Values of parameters and inputs with which a live page begins, where the defaults show little."""
        return {}

    # --- numbers ------------------------------------------------------------------------------------------------------

    def start(
        self, values: Mapping[str, float | str] | None = None
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return t, x, d, u, p at the start, with some parameters or inputs changed: `m.start({"gravity": 0})`."""
        u, p = self.table.defaults("input"), self.table.defaults("parameter")
        for scalar, number in self.settings(values or {}):
            (u if scalar.role == "input" else p)[scalar.index] = number
        with model_errors(type(self)):
            self.check_parameters(p)
            x, d = self.initial(p)
        return 0.0, np.asarray(x, float), np.asarray(d, float), u, p

    def settings(self, values: Mapping[str, float | str]) -> list[tuple[Scalar, float]]:
        """Return the parameters and inputs that `values` names with their numbers; UserError if one is not allowed."""
        found = []
        for name, value in values.items():
            scalar = self.table.by_name.get(name)
            if scalar is None:
                raise UserError(f"{self.name} has no variable {name}{did_you_mean(name, self.table.by_name)}")
            if scalar.constant:
                raise UserError(f"{name} cannot be set: it is a constant")
            if scalar.role not in ("parameter", "input"):
                raise UserError(f"{name} cannot be set: only parameters and inputs can")
            number = _number(scalar, value)
            if complaint := scalar.violation(number):
                raise UserError(complaint)
            found.append((scalar, number))
        return found

    def check_drawing(self, values: Mapping[str, float | str] | None = None) -> None:
        """Raise ModelError if the drawing at the start cannot be made, for instance because of a misspelt name."""
        known = self.start_values(values)
        with model_errors(type(self)):
            self.drawing(lambda name: look_up(known, name))

    def start_values(self, values: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """Return the value of every variable at the start, derivatives excepted, by name."""
        t, x, d, u, p = self.start(values)
        with model_errors(type(self)):
            y = self.outputs(t, x, d, u, p)
        flat = {"parameter": p, "constant": p, "input": u, "state": x, "discrete": d, "output": y}
        return {s.name: float(flat[s.role][s.index]) for s in self.table.scalars if s.role in flat}

    def check_parameters(self, p: np.ndarray, requirements: np.ndarray | None = None) -> list[str]:
        """Raise UserError if a parameter is outside its limits or a requirement is not met.

        Return the texts of the cautions that are not met.
        """
        for scalar in self.table.of("parameter", "constant"):
            if complaint := scalar.violation(float(p[scalar.index])):
                raise UserError(complaint)
        values = self.requirements(p) if requirements is None else requirements
        unmet = [text for value, text in zip(values, self.requirement_texts, strict=True) if not value > 0]
        for text in unmet:
            if not isinstance(text, Caution):
                raise UserError(text)
        return unmet


def mechanism_of_identity(identity: Identity) -> Mechanism:
    """Return a mechanism of this identity."""
    mechanism_type, options, constants = identity
    made = mechanism_type(**dict(options))
    made.constants = dict(constants)
    return made


def _number(scalar: Scalar, value: float | str) -> float:
    """Return a value as a number in the unit of its variable: 0.5, "30 deg", "true", or the name of an item."""
    items, boolean = scalar.row.items, scalar.row.kind == "Boolean"
    if value in items:
        value = 1 + items.index(str(value))
    try:
        if boolean:
            value = TRUTH.get(str(value).lower(), value)
        return in_unit(value, unit(scalar.unit)) if isinstance(value, str) else float(value)
    except UserError as error:
        raise UserError(f"{scalar.name} = {value}: {error}") from None
    except (TypeError, ValueError):
        allowed = f"one of {', '.join(items)}" if items else "true or false" if boolean else "a number"
        raise UserError(f"{scalar.name} = {value}: must be {allowed}") from None


def look_up(values: Mapping[str, Any], name: str) -> Any:
    """Return values[name] for a drawing; raise Mistake if there is no such variable."""
    if name not in values:
        raise Mistake(f"there is no variable {name}{did_you_mean(name, values)}")
    return values[name]


def _brief(value: Any) -> str:
    """The repr of an option, shortened to its beginning and a hash if it is long, such as a tree in JSON."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:30]}...' #{hashlib.sha256(text.encode()).hexdigest()[:12]}"
