"""Frames of a tree: elementary motions in a row, and the parameters of the bodies fixed in the frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .elementary_motions import KINDS, Fixed

Array = Any
BASE = -1
MotionKind = Literal["fixed", "turn", "slide", "ball"]


@dataclass(frozen=True, eq=False)
class Frame:
    """One elementary motion (or none: fixed) and what is fixed in the frame after it. See separate_bodies.py."""

    parent: int  # the frame before it, or BASE
    R0: np.ndarray  # placement of the motion in the parent frame: rotation ...
    r: np.ndarray  # ... and point
    motion: MotionKind
    axis: int = 2
    q: int = 0  # first coordinate of the motion
    v: int = 0  # first rate
    body: int | None = None

    @cached_property
    def elementary(self) -> Fixed:
        """What the sweeps need of the motion."""
        return KINDS[self.motion](self.axis, self.q, self.v)

    @property
    def rates(self) -> int:
        return KINDS[self.motion].rates

    def rotation(self, q: Array) -> Array:
        """Frame components to placement components; None: the axes stay parallel."""
        return self.elementary.rotation(q)

    def rotation_to_parent(self, q: Array) -> Array:
        """Frame components to parent components."""
        R = self.rotation(q)
        return self.R0 if R is None else self.R0 @ R

    @property
    def skew(self) -> bool:
        """Whether no axis of the placement is parallel to one of the parent frame, more or less: R0 has few zeros."""
        return int(np.count_nonzero(self.R0)) > 5


@dataclass(frozen=True)
class Bodies:
    """Parameters of the bodies, one row each."""

    m: Array  # (n,) masses
    c: Array  # (n, 3) mass centres
    J: Array  # (n, 6) inertias: xx, yy, zz, xy, xz, yz
