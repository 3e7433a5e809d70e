"""The engines: different ways to evaluate a mechanism's functions. They agree to rounding.

numpy     the mechanism itself; its functions called as they are
casadi    the functions recorded once as CasADi graphs and evaluated by CasADi's virtual machine
c         the same graphs as C, compiled once for this computer
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..mechanisms import Mechanism, UserError
from .tracing import CasadiEngine


class Engine(Protocol):
    """The pure functions of the contract, on numbers."""

    def initial(self, p: Any) -> tuple[Any, Any]: ...
    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray: ...
    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray: ...
    def guards(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> np.ndarray: ...
    def jump(self, t: Any, x: Any, d: Any, u: Any, p: Any, k: int) -> tuple[Any, Any]: ...
    def project(self, x: Any, d: Any, p: Any) -> np.ndarray: ...
    def requirements(self, p: Any) -> np.ndarray: ...


NAMES = ("numpy", "casadi", "c")


def engine(name: str, mechanism: Mechanism) -> Engine:
    """The engine of that name for a mechanism."""
    if name == "numpy":
        return mechanism
    if name == "casadi":
        return CasadiEngine(mechanism)
    if name == "c":
        from .compiled import CEngine  # the compiler, which nobody else needs

        return CEngine(mechanism)
    raise UserError(f"there is no engine {name}; engines: {', '.join(NAMES)}")
