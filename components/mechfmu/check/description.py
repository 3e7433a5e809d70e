"""Reads modelDescription.xml for checking, without assuming that it is valid; every element has its line number.

The file is not trusted: entities, document types and network access are disabled, and its size is limited. An attribute
that cannot be converted to its type counts as absent here; the schema (S2) reports it. A limit of the reader is not the
FMU's fault: `not_judged`.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from .findings import KINDS, Finding

SIZE_LIMIT = 64_000_000  # bytes
HEAD = 65_536  # bytes in which a document type declaration is looked for
ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["'][^>]*\?>""")
LIMITS = re.compile(
    r"XML_PARSE_HUGE|[Hh]uge|too long|[Ll]imit|Excessive|[Mm]emory"
)  # libxml2's words for its own limits
MOST_EVENT_INDICATORS = 1_000_000  # no FMU needs more, but importers allocate memory for them
TYPES = ("Real", "Integer", "Boolean", "String", "Enumeration")

# (causality, variability) -> allowed values of `initial`, the default first (section 2.2.7); empty: must not be given
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


def finite(text: str | None) -> float | None:
    """A finite xs:double, or None."""
    value = number(text)
    return value if value is not None and math.isfinite(value) else None


def integer(text: str | None) -> int | None:
    try:
        return int(text) if text is not None and text.strip().isascii() and "_" not in text and len(text) < 30 else None
    except ValueError:
        return None


def unsigned(text: str | None) -> int | None:
    """xs:unsignedInt, or None."""
    value = integer(text)
    return value if value is not None and 0 <= value < 1 << 32 else None


def truth(text: str | None) -> bool:
    return (text or "").strip() in ("true", "1")


@dataclass(frozen=True)
class ScalarVariable:
    """A ScalarVariable with the defaults of the standard filled in."""

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
    def base_type(self) -> str:
        """The type in the C interface."""
        return "Integer" if self.type == "Enumeration" else self.type

    def finding(self, problem: str, expected: str, sentence: str = "", cause: str = "") -> Finding:
        """A finding about this variable."""
        return Finding(self.where, problem, expected, sentence, line=self.line, cause=cause)

    @property
    def initial(self) -> str | None:
        allowed = INITIAL.get((self.causality, self.variability), ())
        return self.given_initial or (allowed[0] if allowed else None)

    @property
    def start(self) -> str | None:
        return self.attributes.get("start")

    def limit(self, name: str) -> float | None:
        """min, max or nominal, of the variable or else of its declared type."""
        return finite(self.attributes.get(name, self.inherited.get(name)))

    @property
    def unit(self) -> str | None:
        return self.attributes.get("unit", self.inherited.get("unit"))

    @property
    def state_index(self) -> int | None:
        """For a derivative: the index of its state."""
        return unsigned(self.attributes.get("derivative"))

    @property
    def settable(self) -> bool:
        """Whether an importer may set it in some state."""
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
    """The model description. Without a root, `problems` give the reason."""

    root: Any = None
    problems: list[Finding] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)
    _unknowns: dict[str, list[Unknown]] = field(default_factory=dict)

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
        """Name of a SimpleType -> its element Real, Integer ..."""
        return {
            t.get("name"): inner[0]
            for t in self.all("TypeDefinitions/SimpleType")
            if (inner := [e for e in t if e.tag in TYPES])
        }

    @cached_property
    def units(self) -> dict[str, set[str]]:
        """Unit name -> the names of its display units."""
        units = self.all("UnitDefinitions/Unit")
        return {u.get("name"): {d.get("name") for d in u.findall("DisplayUnit")} for u in units}

    @cached_property
    def variables(self) -> list[ScalarVariable]:
        elements = self.all("ModelVariables/ScalarVariable")
        return [self._variable(i, element) for i, element in enumerate(elements, start=1)]

    def _variable(self, index: int, element: Any) -> ScalarVariable:
        inner = next((e for e in element if e.tag in TYPES), None)
        attributes = dict(inner.attrib) if inner is not None else {}
        declared = self.types.get(attributes.get("declaredType", ""))
        own = dict(element.attrib)
        return ScalarVariable(
            index=index,
            name=own.get("name", ""),
            reference=unsigned(own.get("valueReference")),
            type=inner.tag if inner is not None else "",
            causality=own.get("causality", "local"),
            variability=own.get("variability", "continuous"),
            given_initial=own.get("initial"),
            own=own,
            attributes=attributes,
            inherited=dict(declared.attrib) if declared is not None else {},
            line=element.sourceline or 0,
        )

    def variable(self, index: int | None) -> ScalarVariable | None:
        return self.variables[index - 1] if index is not None and 1 <= index <= len(self.variables) else None

    def unknowns(self, element: str) -> list[Unknown]:
        """The entries of Outputs, Derivatives or InitialUnknowns."""
        if element not in self._unknowns:
            self._unknowns[element] = self._read_unknowns(element)
        return self._unknowns[element]

    def _read_unknowns(self, element: str) -> list[Unknown]:
        found = []
        for e in self.all(f"ModelStructure/{element}/Unknown"):
            words, kinds_text = e.get("dependencies"), e.get("dependenciesKind")
            numbers = None if words is None else tuple(unsigned(word) for word in words.split())
            kinds = None if kinds_text is None else tuple(kinds_text.split())
            if numbers is not None and None in numbers:
                numbers = kinds = None  # reported by S2
            found.append(Unknown(unsigned(e.get("index")), numbers, kinds, e.sourceline or 0))  # type: ignore[arg-type]
        return found

    @cached_property
    def state_indices(self) -> set[int]:
        """Indices of the continuous states: those whose derivatives are listed in Derivatives."""
        found = (self.variable(u.index) for u in self.unknowns("Derivatives"))
        return {v.state_index for v in found if v is not None and v.state_index is not None}

    @cached_property
    def valid_indices(self) -> bool:
        """Whether all indices of ModelStructure and of the attribute derivative are numbers; S2 reports the others."""
        lists = (self.unknowns(element) for element in ("Outputs", "Derivatives", "InitialUnknowns"))
        derivatives = all(v.state_index is not None for v in self.variables if "derivative" in v.attributes)
        return derivatives and all(u.index is not None for unknowns in lists for u in unknowns)

    @cached_property
    def alias_sets(self) -> list[list[ScalarVariable]]:
        """Variables with a common value reference of one base type, two or more of each."""
        sets: dict[tuple[str, int], list[ScalarVariable]] = defaultdict(list)
        for v in self.variables:
            if v.reference is not None and v.type:
                sets[v.base_type, v.reference].append(v)
        return [alias for alias in sets.values() if len(alias) > 1]

    def flag(self, kind: str, name: str) -> bool:
        """A capability flag of an interface type."""
        return kind in self.interfaces and truth(self.interfaces[kind].get(name))

    @property
    def event_indicators(self) -> int | None:
        """Their number, or None if it is not a number or an absurd one, which S2 reports."""
        text = self.attribute("numberOfEventIndicators")
        count = 0 if text is None else unsigned(text)
        return count if count is not None and count <= MOST_EVENT_INDICATORS else None

    def default_experiment(self) -> dict[str, float]:
        element = next(iter(self.all("DefaultExperiment")), None)
        if element is None:
            return {}
        names = ("startTime", "stopTime", "tolerance", "stepSize")
        return {name: value for name in names if (value := number(element.get(name))) is not None}


def read_description(file: Path) -> Description:
    """Read the file. If that is not possible, the reason is a finding of S2 or, for a limit of the reader,
    in `not_judged`."""

    def problem(text: str, expected: str, sentence: str = "", line: int | None = None) -> Finding:
        return Finding("modelDescription.xml", text, expected, sentence, line=line)

    if not file.is_file():
        return Description()  # found by S1
    size = file.stat().st_size
    if size > SIZE_LIMIT:
        return Description(not_judged=[f"modelDescription.xml has {size} bytes; up to {SIZE_LIMIT} are read"])
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    doctype = problem("it has a document type declaration", "none: entities can grow without bounds", line=1)
    if b"<!DOCTYPE" in head:
        return Description(problems=[doctype])
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False
    )
    try:
        tree = etree.parse(str(file), parser)
    except (etree.XMLSyntaxError, OSError, ValueError, LookupError) as error:
        if LIMITS.search(str(error)):
            return Description(not_judged=[f"modelDescription.xml cannot be read here ({error})"])
        line = getattr(error, "lineno", None)
        return Description(problems=[problem(f"it is not well-formed ({error})", "XML", "xml", line)])
    if tree.docinfo.doctype:
        return Description(problems=[doctype])
    declared = ENCODING.match(head)
    encoding = declared[1].decode("ascii", "replace") if declared else None
    problems = []
    if encoding is None:
        problems.append(problem("its first line does not name the encoding", 'encoding="UTF-8"', "encoding", 1))
    elif encoding.upper() != "UTF-8":
        problems.append(problem(f"its encoding is {encoding}", "UTF-8", "encoding", 1))
    return Description(tree.getroot(), problems)
