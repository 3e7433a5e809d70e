"""The meshes of a robot as shapes of its tree: at most so many triangles for each link and for the robot.

A shape is made in two steps. While the file is read, its `mesh` is a number for what was read; when all meshes are
known they are simplified to their shares, and the number is replaced by the text of the surface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from .....multibody.surface import surface_text
from .....multibody.tree import BodyShape
from ..common import Placed, Report, flat, printable
from .dae import read_dae
from .folders import NOT_FOUND, OUTSIDE, MeshFolders, contents
from .obj import read_obj
from .piece import MeshError, Piece
from .simplify import shares, simplified
from .stl import read_stl

LINK_TRIANGLES = 1500  # of one link in the drawing
ROBOT_TRIANGLES = 12_000  # of all links together: about 150 kB in the FMU
MAX_READ = 300_000_000  # bytes of all meshes of a robot
MAX_TOTAL = 3_000_000  # triangles of all meshes of a robot, before they are simplified
NAMED = 5  # missing meshes in the message


class Meshes:
    """Reads and remembers the meshes of one robot file."""

    def __init__(self, file: Path, package_paths: Sequence[str | Path], report: Report):
        self.folders, self.report = MeshFolders(file, package_paths), report
        self.files: dict[str, list[Piece]] = {}  # by name
        self.pieces: list[Piece] = []
        self.missing: dict[str, str] = {}  # name -> reason
        self.bytes = self.triangles = 0

    def shapes(self, body: str, name: str, scale: Sequence[float], pose: Placed, colour: str) -> list[BodyShape]:
        """Return the unfinished shapes of a mesh on a body; none if it cannot be read.

        colour: of what has none of its own.
        """
        order = slice(None, None, -1 if np.prod(scale) < 0 else 1)  # a mirror turns triangles inside out

        def scaled() -> list[Piece]:
            read = self._read(name)
            return [Piece(p.vertices * np.array(scale), p.triangles[:, order], p.colour) for p in read]

        return self.collected(name, body, scaled, pose, colour)

    def collected(
        self, name: str, body: str, read: Callable[[], list[Piece]], pose: Placed, colour: str
    ) -> list[BodyShape]:
        """Return the unfinished shapes of pieces on a body; likewise. name: for the message."""
        R, position = pose
        found = []
        try:
            for piece in read():
                self.triangles += len(piece.triangles)
                if self.triangles > MAX_TOTAL:
                    raise MeshError(f"is too much: the robot has more than {MAX_TOTAL:,} triangles")
                self.pieces.append(piece)
                look = (piece.colour or colour, str(len(self.pieces) - 1))
                found.append(BodyShape(body, "mesh", (0.0,) * 3, flat(position), flat(R), *look))
        except MeshError as error:
            self.missing.setdefault(name, str(error))
            return []
        return found

    def finished(self, shapes: Sequence[BodyShape]) -> list[BodyShape]:
        """Return the shapes with simplified meshes, and report those that are missing.

        Only a robot with meshes has colours: without them a drawing is coloured by bodies.
        """
        if self.missing:
            self.report(self._message(), 0)
        waiting = [shape for shape in shapes if shape.kind == "mesh"]
        if not waiting:
            return [replace(shape, colour="") for shape in shapes]
        counts = {shape: len(self.pieces[int(shape.mesh)].triangles) for shape in waiting}
        bodies = list(dict.fromkeys(shape.body for shape in waiting))
        links = [sum(n for shape, n in counts.items() if shape.body == body) for body in bodies]
        allowed: dict[BodyShape, int] = {}
        for body, share in zip(bodies, shares(links, ROBOT_TRIANGLES, LINK_TRIANGLES), strict=True):
            own = [shape for shape in waiting if shape.body == body]
            allowed |= dict(zip(own, shares([counts[shape] for shape in own], share, share), strict=True))
        made = [self._finished(shape, allowed[shape]) if shape in allowed else shape for shape in shapes]
        return [shape for shape in made if shape is not None]

    def _finished(self, shape: BodyShape, allowed: int) -> BodyShape | None:
        piece = self.pieces[int(shape.mesh)]
        vertices, triangles = simplified(piece.vertices, piece.triangles, allowed)
        if not len(triangles):
            return None
        used, triangles = np.unique(triangles, return_inverse=True)
        text, size, middle = surface_text(vertices[used], np.reshape(triangles, (-1, 3)))
        position = np.array(shape.position) + np.reshape(shape.rotation, (3, 3)) @ middle
        return replace(shape, size=flat(size), position=flat(position), mesh=text)

    def _read(self, name: str) -> list[Piece]:
        if name not in self.files:
            path = self.folders.find(name)
            kind = path.suffix.lower()
            if kind not in (".stl", ".obj", ".dae"):
                raise MeshError("is not an STL, OBJ or DAE file")
            data = self._contents(path)
            with np.errstate(all="ignore"):  # what is not finite is found by piece_of
                pieces = (
                    read_stl(data) if kind == ".stl" else read_dae(data) if kind == ".dae" else self._obj(data, name)
                )
            self.files[name] = [piece for piece in pieces if len(piece.triangles)]
        return self.files[name]

    def _contents(self, path: Path) -> bytes:
        data = contents(path)
        self.bytes += len(data)
        if self.bytes > MAX_READ:
            raise MeshError(f"is too much: the meshes of the robot have more than {MAX_READ / 1e6:g} MB")
        return data

    def _obj(self, data: bytes, name: str) -> list[Piece]:
        def library(file: str) -> bytes:
            try:
                path = self.folders.find(name[: name.rfind("/") + 1] + file)
            except MeshError:
                return b""
            return self._contents(path)

        return read_obj(data, library)

    def _message(self) -> str:
        texts = [f"{_short(name)} {reason}" for name, reason in list(self.missing.items())[:NAMED]]
        more = f", and {len(self.missing) - NAMED} more" if len(self.missing) > NAMED else ""
        helps = {NOT_FOUND, OUTSIDE} & set(self.missing.values())
        hint = "; --package-path DIR names the folder of a package" if helps else ""
        return f"meshes that are not drawn: {', '.join(texts)}{more}{hint}"


def _short(name: str) -> str:
    """A name for a message: its beginning and its end."""
    return printable(name if len(name) <= 60 else f"{name[:20]}...{name[-37:]}")
