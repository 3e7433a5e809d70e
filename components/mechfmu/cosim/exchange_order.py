"""The order in which connected outputs are read and passed on to the inputs they feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .connections import Connection, Port

if TYPE_CHECKING:
    from .system import System

Depends = Callable[[Port, Port], bool]


def exchange_order(
    connections: Iterable[Connection], depends: Depends
) -> tuple[list[list[Port]], list[tuple[Port, ...]]]:
    """Return the connected outputs in stages, in the order in which they can be read, and the algebraic loops.

    depends(output, input): whether that output depends directly on that input of the same FMU
    """
    connections = list(connections)
    sources = list(dict.fromkeys(c.source for c in connections))
    needed = {
        s: {c.source for c in connections if c.target.component == s.component and depends(s, c.target)}
        for s in sources
    }
    stages: list[list[Port]] = []
    loops = []
    done: set[Port] = set()
    while left := [s for s in sources if s not in done]:
        stage = [s for s in left if needed[s] <= done]
        if not stage:  # all that are left wait for another one: a walk backwards ends in a loop
            path = [left[0]]
            while (earlier := next(s for s in left if s in needed[path[-1]] - done)) not in path:
                path.append(earlier)
            loop = tuple(reversed(path[path.index(earlier) :]))
            loops.append(loop)
            stage = [loop[0]]
        stages.append(stage)
        done.update(stage)
    return stages, loops


def declared_dependencies(system: System, structure: str) -> Depends:
    """`depends` as declared in the model structures (outputs or initialUnknowns); undeclared means dependent."""
    known: dict[Port, set[str] | None] = {}
    for component, description in system.descriptions.items():
        for unknown in getattr(description, structure):
            own = unknown.dependencies
            known[Port(component, unknown.variable.name)] = None if own is None else {v.name for v in own}

    def depends(output: Port, target: Port) -> bool:
        found = known.get(output)
        return found is None or target.variable in found

    return depends
