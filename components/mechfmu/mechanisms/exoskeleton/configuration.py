"""The options of an exoskeleton as its equations need them."""

from __future__ import annotations

from dataclasses import dataclass

from .topology import Limbs


@dataclass(frozen=True)
class Configuration:
    limbs: Limbs
    contact: str  # automatic, flight, pinned, external
    inertia: str  # constant, prescribed, length
    prescribed: bool  # lengths can follow inputs
    pushed: bool  # there is an external force on the hip

    @property
    def grounded(self) -> bool:
        """Whether feet can be pinned."""
        return self.contact in ("automatic", "pinned")
