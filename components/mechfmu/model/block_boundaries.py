"""Boundaries between the blocks of a long computation: the values computed for one body, before the next one begins.

An engine that records the equations collects them. It can then keep the operations of each body together, and detect
that the blocks of two bodies are alike. While the equations run with numbers, boundaries have no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_recorded: ContextVar[list[Any] | None] = ContextVar("block_boundaries", default=None)


def block_boundary(*values: Any) -> None:
    """Mark these values (arrays, numbers, lists of them) as the results of a block."""
    recorded = _recorded.get()
    if recorded is not None:
        recorded.append(values)


@contextmanager
def recorded_boundaries() -> Iterator[list[Any]]:
    """Collect all boundaries passed inside, in order."""
    recorded: list[Any] = []
    token = _recorded.set(recorded)
    try:
        yield recorded
    finally:
        _recorded.reset(token)
