"""The drawing of a system of FMUs: the drawings of its members over each other, with the names of the system."""

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
        return overlaid(list(self.drawings(value).values()))

    def drawings(self, value: Callable[[str], float]) -> dict[str, Drawing]:
        """Return the drawings of the members by their names."""
        return {name: member.drawing(_member_values(name, value)) for name, member in self.members.items()}


@dataclass(frozen=True)
class MissingMechanism:
    """Stands for the mechanism that an FMU was built from when it cannot be loaded; drawing it raises the reason."""

    reason: str
    title: str = ""

    def drawing(self, value: Callable[[str], float]) -> Drawing:
        raise UserError(self.reason)


def _member_values(name: str, value: Callable[[str], float]) -> Callable[[str], float]:
    """The values of one member by its own names."""
    return lambda variable: value(f"{name}.{variable}")
