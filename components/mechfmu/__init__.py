"""mechfmu: write a mechanism once, in plain NumPy; get FMUs that run everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import mechanisms

__version__ = "0.1.0"
RELEASED = "2026-11-16T00:00:00Z"  # stands as generation date in the FMUs, so that equal input gives equal bytes

if TYPE_CHECKING:
    from .mechanisms.link_chain.model import LinkChain as LinkChain


def __getattr__(name: str) -> type[mechanisms.Mechanism]:
    """`from mechfmu import LinkChain`: every mechanism under its class name, found from the folders."""
    for key in mechanisms.names():
        if key.replace("_", "") == name.lower():
            return mechanisms.find(key)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
