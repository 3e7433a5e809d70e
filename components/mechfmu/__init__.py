"""mechfmu: write a mechanism once, in plain NumPy; get FMUs that run everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import mechanisms

__version__ = "0.1.0"
RELEASED = "2026-11-16T00:00:00Z"  # stands as generation date in the FMUs, so that equal input gives equal bytes

if TYPE_CHECKING:
    from .mechanisms.cart_controller.model import CartController as CartController
    from .mechanisms.computed_torque.model import ComputedTorque as ComputedTorque
    from .mechanisms.exoskeleton.model import Exoskeleton as Exoskeleton
    from .mechanisms.link_chain.model import LinkChain as LinkChain
    from .mechanisms.pid_controller.model import PidController as PidController
    from .mechanisms.scenario.model import Scenario as Scenario
    from .mechanisms.spherical_arm.model import SphericalArm as SphericalArm
    from .mechanisms.tree.model import Tree as Tree
    from .mechanisms.walking_controller.model import WalkingController as WalkingController
    from .mechanisms.wheeled_cart.model import WheeledCart as WheeledCart


def __dir__() -> list[str]:
    return sorted([*globals(), *("".join(word.capitalize() for word in key.split("_")) for key in mechanisms.names())])


def __getattr__(name: str) -> type[mechanisms.Mechanism]:
    """`from mechfmu import LinkChain`: every mechanism under its class name, found from the folders."""
    for key in mechanisms.names():
        if key.replace("_", "") == name.lower():
            return mechanisms.find(key)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
