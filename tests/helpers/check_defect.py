"""The model description of the zoo (check_zoo.py), and defects as changes of an FMU."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from helpers.paths import TESTS

XML = (TESTS / "helpers" / "check_zoo.xml").read_text(encoding="utf-8")
EXCHANGE = XML[XML.index("  <ModelExchange") : XML.index("  <CoSimulation")]
SIMULATION = XML[XML.index("  <CoSimulation") : XML.index("  <UnitDefinitions")]


def variable(name: str, attributes: str, inner: str) -> tuple[str, str]:
    """A replacement that appends a variable."""
    return (
        "  </ModelVariables>",
        f'    <ScalarVariable name="{name}" {attributes}>{inner}</ScalarVariable>\n  </ModelVariables>',
    )


@dataclass(frozen=True)
class Defect:
    """An FMU of the zoo; without a rule it is correct."""

    rule: str
    name: str
    what: str
    binary: str = ""
    xml: tuple[tuple[str, str], ...] = ()
    change: Callable[[dict[str, bytes]], None] | None = None  # of the files
    pack: Callable[[zipfile.ZipFile], None] | None = None  # of the archive
    patch: Callable[[bytes], bytes] | None = None  # of the archive as bytes
    kinds: str = "both"  # or CoSimulation, ModelExchange: one kind makes the test faster, where it shows the defect


def put(name: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    """A change of the files that adds or replaces one."""
    return lambda files: files.__setitem__(name, content)
