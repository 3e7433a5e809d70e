"""S2 and S3: the XML document as a whole; version, identifiers and date of the FMU."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped]

from ..findings import Finding, rule
from .unpacked import UnpackedFmu

C_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")
MAX_SCHEMA_ERRORS = 20  # that are listed one by one


@cache
def _schema() -> etree.XMLSchema:
    spec = importlib.util.find_spec("fmpy")
    assert spec is not None and spec.origin is not None
    return etree.XMLSchema(etree.parse(str(Path(spec.origin).parent / "schema" / "fmi2" / "fmi2ModelDescription.xsd")))


@rule("S2", "XML schema", "2.2")
def schema(fmu: UnpackedFmu) -> Iterator[Finding]:
    """modelDescription.xml is well-formed UTF-8 without a document type, and valid against the schema of FMI 2.0."""
    yield from fmu.description.problems
    root = fmu.description.root
    if root is None or _schema().validate(root):
        return
    errors = [e for e in _schema().error_log if "attribute 'fmiVersion'" not in e.message]  # checked by S3
    for error in errors[:MAX_SCHEMA_ERRORS]:
        element = (error.path or "modelDescription.xml").rsplit("/", 1)[-1]
        problem = re.sub(r"\{[^}]*\}", "", error.message).rstrip(".")
        yield Finding(f"element {element}", problem, "what the schema of FMI 2.0 allows", line=error.line or None)
    if (more := len(errors) - MAX_SCHEMA_ERRORS) > 0:
        yield Finding("modelDescription.xml", f"{more} more violations of the schema", "none")


@rule("S3", "version, interface types, identifiers, date", "2.2.1, 3.3.1, 4.3.1")
def identity(fmu: UnpackedFmu) -> Iterator[Finding]:
    """fmiVersion is 2.0; there is ModelExchange or CoSimulation; modelIdentifier is a C identifier; there is a guid;
    generationDateAndTime has the format YYYY-MM-DDThh:mm:ssZ."""
    root = fmu.description.root
    if root is None:
        return
    top, line = "fmiModelDescription", root.sourceline
    if root.tag != top:
        yield Finding(f"element {root.tag}", "it is the top element", top, line=line)
        return
    version = root.get("fmiVersion")
    if version != "2.0":
        yield Finding(top, f"fmiVersion is {version!r}", "2.0", line=line)
    if not fmu.description.interfaces:
        yield Finding(top, "there is neither ModelExchange nor CoSimulation", "at least one of them", line=line)
    for kind, element in fmu.description.interfaces.items():
        identifier = element.get("modelIdentifier") or ""
        if not C_IDENTIFIER.fullmatch(identifier):
            expected = "a C identifier: letters, digits and _, not a digit first"
            yield Finding(kind, f'modelIdentifier is "{identifier}"', expected, line=element.sourceline)
    if not (root.get("guid") or "").strip():
        yield Finding(top, "the guid is empty", "a string that only this model and its binary share", line=line)
    date = root.get("generationDateAndTime")
    if date is not None and not DATE.fullmatch(date):
        problem = f'generationDateAndTime is "{date}"'
        yield Finding(top, problem, "YYYY-MM-DDThh:mm:ssZ", severity="warning", line=line)
