"""The error for whatever cannot be checked."""

from __future__ import annotations


class CannotCheck(Exception):
    """An FMU or a file given with it cannot be used; the message is one line with the reason."""
