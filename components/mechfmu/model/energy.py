"""The energies that a mechanism counts: the option to omit them, and their rows of the table."""

from __future__ import annotations

from .mechanism import Option
from .variables import Row

ENERGY = Option("energy", "on", "off: energies, work and losses are not computed", choices=("on", "off"))
ENERGY_STATES = (
    Row("work", "energy.input", "state", "work done by all inputs since the start", "J"),
    Row("loss", "energy.dissipated", "state", "energy lost in dampers and friction since the start", "J"),
)
ENERGY_OUTPUTS = (
    Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
    Row("potential", "energy.potential", "output", "potential energy of weight and springs", "J"),
    Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
)
