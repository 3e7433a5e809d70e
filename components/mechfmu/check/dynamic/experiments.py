"""Steps that several rules share: exciting the FMU through its inputs, and comparing two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings import Finding, Plot
from .compare import first_difference, floats
from .instance import CallFailed, Excitation
from .model import ModelVariable, Value
from .runs import run_steps
from .session import Session


def accepted_excitation(s: Session, amplitude: float = 0.05) -> Excitation | None:
    """The session's excitation, or None if the FMU does not run with it for a few steps."""
    excitation = s.excitation(amplitude)
    if excitation is None:
        return None
    instance = s.new_instance()
    try:
        instance.enter_run_state()
        run_steps(instance, s.steps(3), (), excitation)
    except CallFailed:
        return None
    finally:
        instance.free()
    return excitation


def compare_runs(
    s: Session,
    variables: Sequence[ModelVariable],
    expected: list[list[Value]],
    found: list[list[Value]],
    problem: str,
    labels: tuple[str, str],
) -> Iterator[Finding]:
    """A finding if two runs are not bit-identical."""
    difference = first_difference(expected, found)
    if difference is None:
        return
    row, column = difference
    v, plot = variables[column], None
    if len(expected) > 1 and v.type != "String":
        t = tuple(s.model.start_time + i * s.model.step_size for i in range(len(expected)))
        plot = Plot(v.name, t, {labels[0]: floats(expected, column), labels[1]: floats(found, column)})
    after = "at once" if row == 0 else f"after {row} steps"
    text = f"{problem}: {after} it is {found[row][column]!r}, not {expected[row][column]!r}"
    yield Finding(v.where, text, "the same bits", line=v.line, plot=plot)
