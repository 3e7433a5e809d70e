"""A system of FMUs to look at: the drawings of its members, one over the other, in the names of the system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..model import Mechanism, UserError
from ..model.drawing import Drawing, overlaid


@dataclass(frozen=True)
class Scene:
    """The members of a system that mechfmu built, by their names in it."""

    members: Mapping[str, Mechanism | MissingMechanism]

    @property
    def title(self) -> str:
        return f"system of {', '.join(self.members)}"

    def drawing(self, value: Callable[[str], float]) -> Drawing:
        return overlaid([mechanism.drawing(_within(name, value)) for name, mechanism in self.members.items()])


@dataclass(frozen=True)
class MissingMechanism:
    """A mechanism that an FMU was built from but that cannot be had: why."""

    reason: str
    title: str = ""

    def drawing(self, value: Callable[[str], float]) -> Drawing:
        raise UserError(self.reason)


def _within(name: str, value: Callable[[str], float]) -> Callable[[str], float]:
    """The values of one member by its own names."""
    return lambda variable: value(f"{name}.{variable}")
