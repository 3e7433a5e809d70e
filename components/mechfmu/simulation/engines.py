"""The engines: different ways to evaluate a mechanism's functions. They agree to rounding.

numpy     the mechanism itself; its functions called as they are
casadi    the functions recorded once as CasADi graphs and evaluated by CasADi's virtual machine
c         the same graphs as C, compiled once for this computer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..codegen.recording import CasadiEngine
from ..model import Mechanism, UserError
from ..model.engine import Engine
from .instance import Instance

if TYPE_CHECKING:
    from .compiled import CompiledInstance

NAMES = ("numpy", "casadi", "c")


def engine(name: str, mechanism: Mechanism) -> Engine:
    """The engine of that name for a mechanism."""
    if name == "numpy":
        return mechanism
    if name == "casadi":
        return CasadiEngine(mechanism)
    if name == "c":
        from .compiled import CEngine  # needs a compiler, which the other engines do not

        return CEngine(mechanism)
    raise UserError(f"there is no engine {name}; engines: {', '.join(NAMES)}")


def make_instance(
    mechanism: Mechanism, start: Mapping[str, float | str] | None = None, engine_name: str = "casadi"
) -> Instance | CompiledInstance:
    """A mechanism to be simulated by an engine; the c engine brings its own solver."""
    if engine_name != "c":
        return Instance(mechanism, start, engine(engine_name, mechanism))
    from .compiled import CompiledInstance

    return CompiledInstance(mechanism, start)
