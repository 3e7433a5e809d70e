"""A run of an instance over given steps, in both kinds of FMU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .instance import Excitation, FmuInstance
from .integration import advance
from .model import ModelVariable, Value


def run_steps(
    instance: FmuInstance,
    steps: Iterable[float],
    variables: Sequence[ModelVariable],
    excitation: Excitation | None = None,
) -> list[list[Value]]:
    """The values of the variables before the first step and after each step. In Model Exchange the steps are those of
    a simple integration, which is the same in every run."""
    rows = [instance.get(variables)]
    for h in steps:
        if excitation:
            instance.set(dict(excitation(instance.t)))
        if instance.kind == "CoSimulation":
            instance.step(h)
        else:
            advance(instance, h)
        rows.append(instance.get(variables))
    return rows
