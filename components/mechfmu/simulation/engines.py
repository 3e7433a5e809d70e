"""The engines: different ways to evaluate a mechanism's functions. Their results agree up to rounding.

numpy     the mechanism itself
casadi    the functions recorded as CasADi graphs and evaluated by CasADi's virtual machine
c         the same graphs as C, compiled for this computer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..codegen.recording import CasadiEngine
from ..model import Mechanism, UserError
from ..model.class_check import check_events
from ..model.engine import Engine
from ..model.errors import model_errors
from .instance import Instance

if TYPE_CHECKING:
    from .compiled import CompiledInstance

NAMES = ("numpy", "casadi", "c")


def engine(name: str, mechanism: Mechanism) -> Engine:
    """Return what evaluates the equations of a mechanism: its functions `rates`, `outputs` and so on.

    name   numpy: the functions as they are written; casadi: recorded once; c: recorded and compiled
    """
    if name == "numpy":
        with model_errors(type(mechanism)):
            check_events(mechanism)
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
    """Return a mechanism that is simulated step by step, as an FMU is; the engine c has its own solver."""
    if engine_name != "c":
        return Instance(mechanism, start, engine(engine_name, mechanism))
    from .compiled import CompiledInstance

    return CompiledInstance(mechanism, start)
