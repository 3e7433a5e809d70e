"""What several rules do with an FMU: move it, and compare two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings import Finding, Plot
from .compare import first_difference, floats
from .model import Value, Var
from .session import Session
from .unit import Drive, Refused


def willing(s: Session, amplitude: float = 0.05) -> Drive | None:
    """Moving inputs, if the FMU takes them for some steps."""
    drive = s.drive(amplitude)
    if drive is None:
        return None
    unit = s.fresh()
    try:
        unit.run_state()
        unit.run(s.steps(3), (), drive)
    except Refused:
        return None
    finally:
        unit.free()
    return drive


def unlike(
    s: Session,
    variables: Sequence[Var],
    a: list[list[Value]],
    b: list[list[Value]],
    problem: str,
    names: tuple[str, str],
) -> Iterator[Finding]:
    """A finding when two runs are not the same to the last bit."""
    at = first_difference(a, b)
    if at is None:
        return
    row, column = at
    v = variables[column]
    t = tuple(s.model.start_time + i * s.model.step_size for i in range(len(a)))
    plot = (
        Plot(v.name, t, {names[0]: floats(a, column), names[1]: floats(b, column)})
        if len(a) > 1 and v.type != "String"
        else None
    )
    after = "at once" if row == 0 else f"after {row} steps"
    yield Finding(
        v.where,
        f"{problem}: {after} it is {b[row][column]!r}, not {a[row][column]!r}",
        "the same bits",
        line=v.line,
        plot=plot,
    )
