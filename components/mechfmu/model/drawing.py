"""The drawing of a mechanism at one time: lines, solids and arrows, in metres.

Points have two components (a planar mechanism: x to the right, y up) or three (z up), all points of one drawing the
same number. All drawings of one mechanism have the same parts in the same order, with as many points, at different
positions; what is not to be seen is drawn at one point. So a drawing is a vector of numbers (`drawn_numbers`), which
can be recorded like the equations: a drawing obeys their rules (np.stack instead of np.array, np.where instead of if).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

Array = Any


@dataclass(frozen=True)
class Solid:
    """A simple solid, centred at `position`; the columns of `rotation` are its axes. Only for drawings in space.

    box          size: lengths along x, y, z
    cylinder     size: radius, length along z
    sphere       size: radius
    mesh         size: lengths of its bounding box; surface: its vertices around the middle of the box, and triangles
    """

    kind: Literal["box", "cylinder", "sphere", "mesh"]
    size: tuple[float, ...]
    position: Array
    rotation: Array
    group: int = 0  # solids of one group have one colour; -1: what stands still
    real: bool = True  # False: it stands for a body whose shape is not known
    colour: str = ""  # "#rrggbb"; empty: that of the group
    surface: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Arrow:
    """A force in N that acts at a point: one from outside, or the reaction of a joint or the ground."""

    name: str
    kind: Literal["force", "reaction"]
    at: Array
    force: Array
    inner: bool = False  # within the mechanism: the reaction of a joint, the thrust of a link


@dataclass(frozen=True)
class Moment:
    """A moment in N m of a motor or a load, as it acts on the outer body.

    In the plane a number, positive counter-clockwise; in space a vector.
    """

    name: str
    at: Array
    moment: Array


@dataclass(frozen=True)
class Floor:
    """Even ground below a mechanism: a point of it near the mechanism, and its normal, a unit vector."""

    at: Array
    normal: Array
    reach: float = 1.0  # m, to both sides of `at`: what a video of a planar drawing shows of it


@dataclass(frozen=True)
class Drawing:
    lines: Sequence[Array] = ()  # polylines of the mechanism, one point per row: rods between joints
    ground: Sequence[Array] = ()  # polylines of what is around it, filled where they close
    floors: Sequence[Floor] = ()
    solids: Sequence[Solid] = ()
    arrows: Sequence[Arrow] = ()
    traced: Sequence[Array] = ()  # points that leave a trail; without any, the end of the first line does
    outlines: Sequence[
        Array
    ] = ()  # thin polylines of the mechanism, filled where they close: bodies of a planar drawing
    moments: Sequence[Moment] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to see."""
        return any(len(part) for part in (self.lines, self.outlines, self.ground, self.floors, self.solids))

    @property
    def dimension(self) -> int:
        """2 or 3, of a drawing that is not empty."""
        return 3 if self.solids else int(np.shape([*self.lines, *self.outlines, *self.ground][0])[-1])

    @property
    def trail_points(self) -> list[Array]:
        return list(self.traced) or [line[-1] for line in self.lines[:1]]

    @property
    def surroundings(self) -> list[Array]:
        """The polylines of the ground, those of the floors of a planar drawing included."""
        return [*self.ground, *(line for f in self.floors if len(f.at) == 2 for line in hatched_floor(f))]


def from_strokes(strokes: Sequence[tuple[Array, Array]]) -> Drawing:
    """The drawing of polylines (x, y)."""
    return Drawing([np.column_stack(stroke) for stroke in strokes])


def overlaid(drawings: Sequence[Drawing]) -> Drawing:
    """Several mechanisms in one drawing. If one is in space, planar ones are omitted: their plane is unknown."""
    seen = [d for d in drawings if d]
    dimension = max((d.dimension for d in seen), default=2)
    seen = [d for d in seen if d.dimension == dimension]
    parts = {f.name: [part for d in seen for part in getattr(d, f.name)] for f in fields(Drawing)}
    return Drawing(**parts | {"traced": [point for d in seen for point in d.trail_points]})


def joined(lines: Sequence[Array], dimension: int) -> np.ndarray:
    """Polylines one after the other, a row of NaN after each."""
    gap = np.full((1, dimension), np.nan)
    return np.concatenate(
        [np.zeros((0, dimension)), *(part for line in lines for part in (np.asarray(line, dtype=float), gap))]
    )


def support(at: Array, size: float) -> list[Array]:
    """A support of a planar mechanism: a short line, hatched on its lower side."""
    x, y = at
    return _hatched(x - size, x + size, y, x + size * np.linspace(-0.7, 1.0, 6), 0.3 * size)


def hatched_floor(floor: Floor) -> list[Array]:
    """A planar, level floor as polylines. It moves with its point, but its hatches stand still."""
    (x, y), reach = floor.at, floor.reach
    apart = reach / 8
    hatches = apart * np.arange(np.ceil((x - reach) / apart), (x + reach) / apart)
    return _hatched(x - reach, x + reach, y, hatches, 0.5 * apart)


def drawn_numbers(drawing: Drawing) -> list[Array]:
    """Return all numbers of a drawing that change with time, in an order that its parts determine.

    The points of lines, outlines and ground; of each floor the point and the normal; of each solid the position and the
    rotation (by rows); of each arrow the point and the force; of each moment the point and the moment; the points with
    a trail.
    """
    numbers: list[Array] = [*drawing.lines, *drawing.outlines, *drawing.ground]
    numbers += [part for f in drawing.floors for part in (f.at, f.normal)]
    numbers += [part for s in drawing.solids for part in (s.position, s.rotation)]
    numbers += [part for a in drawing.arrows for part in (a.at, a.force)]
    numbers += [part for m in drawing.moments for part in (m.at, m.moment)]
    return [*numbers, *drawing.trail_points]


def constant(value: Any, name: str) -> float:
    """Return the value of a parameter for a part of a drawing that cannot be recorded, such as the size of a solid.

    While a drawing is recorded this is the start value, so the part does not follow if the parameter is changed later.
    """
    number: float = getattr(value, "constant", value)(name)
    return number


def _hatched(left: float, right: float, y: float, hatches: Array, length: float) -> list[Array]:
    return [np.array([[left, y], [right, y]]), *(np.array([[x, y], [x - length, y - length]]) for x in hatches)]
