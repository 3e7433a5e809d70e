"""Live pages: one self-contained file in which a mechanism, or a system of mechanisms, runs as WebAssembly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic_file import atomic_write
from ..cosim.exchange_order import declared_dependencies, exchange_order
from ..cosim.system import System
from ..model import Mechanism, UserError
from ..simulation.source_mechanism import built_mechanism
from ..view.bundle import PAGE_STYLES, page_of
from ..view.scene_data import limits_with_room, scene_of
from .member import LiveMember, is_drawn, member_of

MAX_BYTES = 2_000_000  # of a page of a mechanism that mechfmu ships
ENTRY, STYLES = "live/web/main.js", (*PAGE_STYLES, "live/web/live.css")
HEIGHT = 640  # px, in a notebook
FRAME_STEP = 1 / 120  # s: the longest communication step of a mechanism alone, two for each picture

Progress = Callable[[str], None]


@dataclass(frozen=True)
class LivePage:
    """A live page. A notebook displays it."""

    html: str

    def save(self, file: str | Path) -> Path:
        """Write the page and return its path; UserError if it cannot be written."""
        target = Path(file)
        try:
            with atomic_write(target) as unfinished:
                unfinished.write_text(self.html, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {file}: {error.strerror or error}") from None
        return target

    def _repr_html_(self) -> str:
        from ..view.notebook import framed

        return framed(self.html, "a mechanism to play with", HEIGHT)


def live_mechanism(
    mechanism: Mechanism, start: Mapping[str, float | str] | None = None, progress: Progress = lambda text: None
) -> str:
    """Return the page of a mechanism with some start values changed."""
    if not is_drawn(mechanism, start or {}):
        raise UserError(f"{mechanism.key} has no drawing: a live page shows mechanisms that can be drawn")
    progress(f"{mechanism.name}: compiling for the page")
    member = member_of("", mechanism, start or {})
    step = min(FRAME_STEP, mechanism.step_size)
    data = {"title": mechanism.name, "subtitle": mechanism.title, "step": step, "tolerance": None}
    return live_page([member], {**data, "exchange": NO_EXCHANGE, "values": []})


def live_system(system: System, title: str = "", progress: Progress = lambda text: None) -> str:
    """Return the page of a system whose FMUs mechfmu built."""
    members = []
    for name, file in system.fmus.items():
        mechanism, starts = built_mechanism(file)
        progress(f"{name}: compiling for the page")
        members.append(member_of(name, mechanism, starts))
    if not any(member.drawing for member in members):
        raise UserError(f"nothing in the system {system.name} can be drawn: a live page shows what moves")
    values = [[port.component, port.variable, float(value)] for port, value in system.values.items()]
    data = {"title": system.name, "subtitle": title, "step": system.step_size, "tolerance": None}
    return live_page(members, {**data, "exchange": exchange_data(system), "values": values})


NO_EXCHANGE: dict[str, Any] = {"sources": [], "running": [], "initial": [], "connections": []}


def exchange_data(system: System) -> dict[str, Any]:
    """The connections of a system, and in which stages the connected outputs are read and passed on."""
    sources = list(dict.fromkeys(c.source for c in system.connections))
    place = {port: k for k, port in enumerate(sources)}
    stages = {
        key: [
            [place[port] for port in stage]
            for stage in exchange_order(system.connections, declared_dependencies(system, structure))[0]
        ]
        for key, structure in (("running", "outputs"), ("initial", "initialUnknowns"))
    }
    connections = [
        [place[c.source], c.target.component, c.target.variable, c.factor, c.offset] for c in system.connections
    ]
    return {"sources": [[p.component, p.variable] for p in sources], **stages, "connections": connections}


def live_page(members: list[LiveMember], data: dict[str, Any], library: str = "") -> str:
    """Return the page of some members; library: as in view/bundle.py."""
    drawings = {m.name: m.drawing for m in members}
    low, high, size = limits_with_room(list(drawings.values()))
    scene = scene_of(drawings, low, high, size)
    seen = {part["name"] for part in scene["members"]}
    contents = [m.data(m.name in seen) for m in members]
    return page_of(data["title"], ENTRY, STYLES, {**data, "scene": scene, "members": contents}, library)
