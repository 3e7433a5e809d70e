"""What several rules do with an FMU: move it, and compare two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings import Finding, Plot
from .compare import first_difference, floats
from .model import Value, ModelVariable
from .session import Session
from .instance import Excitation, CallFailed


def accepted_excitation(s: Session, amplitude: float = 0.05) -> Excitation | None:
    """Moving inputs, if the FMU takes them for some steps."""
    excitation = s.excitation(amplitude)
    if excitation is None:
        return None
    instance = s.new_instance()
    try:
        instance.enter_run_state()
        instance.run(s.steps(3), (), excitation)
    except CallFailed:
        return None
    finally:
        instance.free()
    return excitation


def compare_runs(
    s: Session,
    variables: Sequence[ModelVariable],
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
