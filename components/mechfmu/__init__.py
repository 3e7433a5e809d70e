"""mechfmu: write a mechanism once, in plain NumPy; get FMUs that run everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import facade, mechanisms, model

__version__ = "0.1.0"
RELEASED = "2026-11-16T00:00:00Z"  # the generation date in FMUs: equal input gives equal bytes

if TYPE_CHECKING:  # the names that __getattr__ finds, with the methods of the facade
    from .mechanisms.cart_controller import model as cart_controller
    from .mechanisms.computed_torque import model as computed_torque
    from .mechanisms.exoskeleton import model as exoskeleton
    from .mechanisms.link_chain import model as link_chain
    from .mechanisms.pid_controller import model as pid_controller
    from .mechanisms.scenario import model as scenario
    from .mechanisms.spherical_arm import model as spherical_arm
    from .mechanisms.tree import model as tree
    from .mechanisms.walking_controller import model as walking_controller
    from .mechanisms.wheeled_cart import model as wheeled_cart

    class CartController(cart_controller.CartController, facade.MechanismMethods): ...

    class ComputedTorque(computed_torque.ComputedTorque, facade.MechanismMethods): ...

    class Exoskeleton(exoskeleton.Exoskeleton, facade.MechanismMethods): ...

    class LinkChain(link_chain.LinkChain, facade.MechanismMethods): ...

    class PidController(pid_controller.PidController, facade.MechanismMethods): ...

    class Scenario(scenario.Scenario, facade.MechanismMethods): ...

    class SphericalArm(spherical_arm.SphericalArm, facade.MechanismMethods): ...

    class Tree(tree.Tree, facade.MechanismMethods): ...

    class WalkingController(walking_controller.WalkingController, facade.MechanismMethods): ...

    class WheeledCart(wheeled_cart.WheeledCart, facade.MechanismMethods): ...


def __dir__() -> list[str]:
    return sorted([*globals(), *("".join(word.capitalize() for word in key.split("_")) for key in mechanisms.names())])


def __getattr__(name: str) -> type[model.Mechanism]:
    """`from mechfmu import LinkChain`: every mechanism under its class name, found from the folders."""
    for key in mechanisms.names():
        if key.replace("_", "") == name.lower():
            return mechanisms.find(key)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
