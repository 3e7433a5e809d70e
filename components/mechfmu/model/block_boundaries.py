"""Block boundaries of a long computation: the values computed for one body before the work on the next one begins.

An engine that records the equations collects them. It can then keep the work on each body together, and detect that the
work on two bodies is the same. Without a recorder they have no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_recorder: ContextVar[list[Any] | None] = ContextVar("block_boundaries", default=None)


def block_boundary(*values: Any) -> None:
    """Mark that these values (arrays, numbers, lists of them) have been computed."""
    recorder = _recorder.get()
    if recorder is not None:
        recorder.append(values)


@contextmanager
def recorded_boundaries() -> Iterator[list[Any]]:
    """Collect all block boundaries passed inside, in order."""
    boundaries: list[Any] = []
    token = _recorder.set(boundaries)
    try:
        yield boundaries
    finally:
        _recorder.reset(token)
