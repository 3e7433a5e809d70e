"""modelDescription.xml, as the tests read it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree


class Description:
    """The XML of an FMU, with its variables by name and the typed element of each (Real, Integer, Enumeration, ...)."""

    def __init__(self, file: Path):
        with zipfile.ZipFile(file) as archive:
            self.root = ElementTree.fromstring(archive.read("modelDescription.xml"))
            self.files = archive.namelist()
        self.nodes = list(self.root.iterfind("ModelVariables/ScalarVariable"))
        self.variables = {node.attrib["name"]: node for node in self.nodes}
        self.typed = {
            node.attrib["name"]: next(c for c in node if c.tag != "Annotations").attrib for node in self.nodes
        }

    def position(self, name: str) -> int:
        return self.nodes.index(self.variables[name]) + 1

    def unknowns(self, element: str) -> dict[str, list[str] | None]:
        """Return the unknowns of a part of ModelStructure with the names they depend on; None: all."""
        found: dict[str, list[str] | None] = {}
        for node in self.root.iterfind(f"ModelStructure/{element}/Unknown"):
            listed = node.attrib.get("dependencies")
            names = None if listed is None else [self.nodes[int(i) - 1].attrib["name"] for i in listed.split()]
            found[self.nodes[int(node.attrib["index"]) - 1].attrib["name"]] = names
        return found
