"""The error of an impossible tree."""

from __future__ import annotations


class TreeError(ValueError):
    """An impossible tree; the message names the element."""
