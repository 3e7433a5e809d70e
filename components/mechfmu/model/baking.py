"""Which parameters of a mechanism become constants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .errors import UserError, did_you_mean
from .variables import Scalar, Table

ALL = "all"
SOLVER = "solver."
START = re.compile(r"_start(\[|$)")  # of an initial condition: joint[1].angle_start, joint[2].quaternion_start[1]


def parameters_named(table: Table, names: str | Iterable[str]) -> list[Scalar]:
    """Return the parameters of these names, in which * stands for any text: `link[*].mass`.

    `all` stands for all but those of the solver and of initial conditions. UserError: a name fits no parameter.
    """
    names = [names] if isinstance(names, str) else list(names)
    found: dict[str, Scalar] = {}
    for name in names:
        found |= {s.name: s for s in (_all(table) if name == ALL else _fitting(table, name))}
    return [s for s in table.scalars if s.name in found]


def _all(table: Table) -> list[Scalar]:
    return [s for s in table.of("parameter") if not s.name.startswith(SOLVER) and not START.search(s.name)]


def _fitting(table: Table, name: str) -> Sequence[Scalar]:
    pattern = re.compile(".*".join(map(re.escape, name.split("*"))))
    fitting = [s for s in table.scalars if pattern.fullmatch(s.name)]
    found = [s for s in fitting if s.role in ("parameter", "constant")]
    own = [s for s in found if not s.name.startswith(SOLVER)]
    if not own and found:
        raise UserError(f"{name} cannot be a constant: it is a parameter of the solver, not of the equations")
    if not own and fitting:
        raise UserError(f"{name} cannot be a constant: only parameters can, and it is of the kind {fitting[0].role}")
    if not own:
        known = [s.name for s in table.of("parameter")]
        raise UserError(f"there is no parameter {name}{did_you_mean(name, known)}")
    return own
