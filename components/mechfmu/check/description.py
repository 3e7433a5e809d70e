"""modelDescription.xml, read for checking: nothing is taken for granted, and every element knows its line.

A hostile file is refused: entities, document types, network and recursion are not followed, and its size is limited. Attributes that cannot be read as
what they should be count as absent here; saying so is the schema's business (S2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from .findings import KINDS, Finding

SIZE_LIMIT = 64_000_000  # bytes
TYPES = ("Real", "Integer", "Boolean", "String", "Enumeration")

# (causality, variability) -> the values that `initial` may have, the default first (section 2.2.7); no value: the attribute is not allowed
INITIAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("parameter", "fixed"): ("exact",),
    ("parameter", "tunable"): ("exact",),
    ("calculatedParameter", "fixed"): ("calculated", "approx"),
    ("calculatedParameter", "tunable"): ("calculated", "approx"),
    ("input", "discrete"): (),
    ("input", "continuous"): (),
    ("output", "constant"): ("exact",),
    ("output", "discrete"): ("calculated", "exact", "approx"),
    ("output", "continuous"): ("calculated", "exact", "approx"),
    ("local", "constant"): ("exact",),
    ("local", "fixed"): ("calculated", "approx"),
    ("local", "tunable"): ("calculated", "approx"),
    ("local", "discrete"): ("calculated", "exact", "approx"),
    ("local", "continuous"): ("calculated", "exact", "approx"),
    ("independent", "continuous"): (),
}


def number(text: str | None) -> float | None:
    """xs:double, or None."""
    if text is None:
        return None
    text = text.strip()
    special = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
    if text in special:
        return special[text]
    try:
        return float(text) if text.isascii() and "_" not in text and text[-1:].isalpha() is False else None
    except ValueError:
        return None


def integer(text: str | None) -> int | None:
    try:
        return int(text) if text is not None and text.strip().isascii() and "_" not in text and len(text) < 30 else None
    except ValueError:
        return None


def truth(text: str | None) -> bool:
    return (text or "").strip() in ("true", "1")


@dataclass(frozen=True)
class Variable:
    """One ScalarVariable, with the defaults of the standard filled in."""

    index: int  # position in ModelVariables, from 1
    name: str
    reference: int | None
    type: str  # Real, Integer, Boolean, String, Enumeration, or "" when there is none
    causality: str
    variability: str
    given_initial: str | None
    own: dict[str, str]  # attributes of ScalarVariable
    attributes: dict[str, str]  # attributes of Real, Integer ...
    inherited: dict[str, str]  # attributes of the declared type
    line: int

    @property
    def where(self) -> str:
        return f'variable "{self.name}"'

    @property
    def initial(self) -> str | None:
        allowed = INITIAL.get((self.causality, self.variability), ())
        return self.given_initial or (allowed[0] if allowed else None)

    @property
    def start(self) -> str | None:
        return self.attributes.get("start")

    def limit(self, name: str) -> float | None:
        """min, max or nominal: its own, or that of its type."""
        return number(self.attributes.get(name, self.inherited.get(name)))

    @property
    def unit(self) -> str | None:
        return self.attributes.get("unit", self.inherited.get("unit"))

    @property
    def state_index(self) -> int | None:
        """For a derivative: the index of what it is the derivative of."""
        return integer(self.attributes.get("derivative"))

    @property
    def settable(self) -> bool:
        """Whether a host may set it at some time."""
        return self.causality in ("input", "parameter") or (
            self.variability != "constant" and self.initial in ("exact", "approx")
        )


@dataclass(frozen=True)
class Unknown:
    """An entry of ModelStructure."""

    index: int | None
    dependencies: tuple[int, ...] | None
    kinds: tuple[str, ...] | None
    line: int


@dataclass
class Description:
    """The model description; `problems` say why there is none."""

    root: Any = None
    problems: list[Finding] = field(default_factory=list)

    def all(self, path: str) -> list[Any]:
        """Elements by their path below the root."""
        return self.root.findall(path) if self.root is not None else []

    def attribute(self, name: str) -> str | None:
        return self.root.get(name) if self.root is not None else None

    @cached_property
    def interfaces(self) -> dict[str, Any]:
        return {kind: found[0] for kind in KINDS if (found := self.all(kind))}

    @cached_property
    def types(self) -> dict[str, Any]:
        """The element Real, Integer ... of every SimpleType, by its name."""
        return {
            t.get("name"): inner[0]
            for t in self.all("TypeDefinitions/SimpleType")
            if (inner := [e for e in t if e.tag in TYPES])
        }

    @cached_property
    def units(self) -> dict[str, set[str]]:
        """Unit name -> the names of its display units."""
        return {
            u.get("name"): {d.get("name") for d in u.findall("DisplayUnit")} for u in self.all("UnitDefinitions/Unit")
        }

    @cached_property
    def variables(self) -> list[Variable]:
        return [
            self._variable(i, element) for i, element in enumerate(self.all("ModelVariables/ScalarVariable"), start=1)
        ]

    def _variable(self, index: int, element: Any) -> Variable:
        inner = next((e for e in element if e.tag in TYPES), None)
        attributes = dict(inner.attrib) if inner is not None else {}
        declared = self.types.get(attributes.get("declaredType", ""))
        own = dict(element.attrib)
        return Variable(
            index, own.get("name", ""), integer(own.get("valueReference")), inner.tag if inner is not None else "", own.get("causality", "local"),
            own.get("variability", "continuous"), own.get("initial"), own, attributes, dict(declared.attrib) if declared is not None else {},
            element.sourceline or 0,
        )  # fmt: skip

    def variable(self, index: int | None) -> Variable | None:
        return self.variables[index - 1] if index is not None and 1 <= index <= len(self.variables) else None

    def unknowns(self, element: str) -> list[Unknown]:
        """Outputs, Derivatives or InitialUnknowns."""
        found = []
        for e in self.all(f"ModelStructure/{element}/Unknown"):
            words, kinds = e.get("dependencies"), e.get("dependenciesKind")
            numbers = None if words is None else tuple(n for w in words.split() if (n := integer(w)) is not None)
            found.append(
                Unknown(
                    integer(e.get("index")), numbers, None if kinds is None else tuple(kinds.split()), e.sourceline or 0
                )
            )
        return found

    @cached_property
    def state_indices(self) -> set[int]:
        """The continuous states: what the entries of Derivatives are derivatives of."""
        found = (self.variable(u.index) for u in self.unknowns("Derivatives"))
        return {v.state_index for v in found if v is not None and v.state_index is not None}

    def default_experiment(self) -> dict[str, float]:
        element = next(iter(self.all("DefaultExperiment")), None)
        if element is None:
            return {}
        return {
            k: v
            for k in ("startTime", "stopTime", "tolerance", "stepSize")
            if (v := number(element.get(k))) is not None
        }


def read_description(file: Path) -> Description:
    """Read the file; what makes that impossible is found by S2."""
    if not file.is_file():
        return Description()  # S1 says so
    size = file.stat().st_size
    if size > SIZE_LIMIT:
        return Description(problems=[Finding("modelDescription.xml", f"it has {size} bytes", f"at most {SIZE_LIMIT}")])
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
    )
    try:
        tree = etree.parse(str(file), parser)
    except (etree.XMLSyntaxError, OSError, ValueError, LookupError) as error:
        return Description(
            problems=[
                Finding(
                    "modelDescription.xml",
                    f"it is not well-formed ({error})",
                    "XML",
                    line=getattr(error, "lineno", None),
                )
            ]
        )
    problems = []
    if tree.docinfo.doctype:
        return Description(
            problems=[
                Finding(
                    "modelDescription.xml",
                    "it has a document type declaration",
                    "none: entities are not allowed",
                    line=1,
                )
            ]
        )
    if (tree.docinfo.encoding or "UTF-8").upper() not in ("UTF-8", "US-ASCII", "ASCII"):
        problems.append(Finding("modelDescription.xml", f"its encoding is {tree.docinfo.encoding}", "UTF-8", line=1))
    return Description(tree.getroot(), problems)
