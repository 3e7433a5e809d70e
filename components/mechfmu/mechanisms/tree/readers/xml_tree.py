"""XML of robot descriptions: parsed without entities, network and other files, and access to elements with messages.

An element with a prefix belongs to somebody else's namespace and is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from .common import Fault, printable

PARSER_OPTIONS = {
    "resolve_entities": False,
    "load_dtd": False,
    "dtd_validation": False,
    "attribute_defaults": False,
    "no_network": True,
    "huge_tree": False,
    "recover": False,
    "remove_comments": True,
    "remove_pis": True,
    "collect_ids": False,
}

_VERSION = re.compile(rb"""\A((?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*["'])(?!1\.)[\d.]+(?=["'])""")

Element = Any  # lxml comes without types


def check_doctype(data: bytes) -> None:
    at = data.find(b"<!DOCTYPE")
    if at >= 0:
        raise Fault("a DOCTYPE is not allowed in a robot description", data.count(b"\n", 0, at) + 1)


def parsed(data: bytes, encoding: str | None) -> Element:
    """The root element; a document type is rejected before anything it declares can act.

    A declared version such as 0.0, which is in many files of PyBullet, is read as 1.0.
    """
    check_doctype(data)
    data = _VERSION.sub(rb"\g<1>1.0", data, count=1)
    parser = etree.XMLParser(encoding=encoding, **PARSER_OPTIONS)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        text = re.sub(r", line \d+, column \d+.*$", "", error.msg or "", flags=re.DOTALL)
        raise Fault(f"is not valid XML: {printable(text) or 'it is broken'}", error.lineno or 0) from None
    if root.getroottree().docinfo.doctype:  # in an encoding that hid it from the search above
        raise Fault("a DOCTYPE is not allowed in a robot description", 1)
    return root


def tag(element: Element) -> str:
    """The name of an element; one with a prefix keeps its namespace, so that <sensor:joint> is not a <joint>."""
    return str(etree.QName(element).localname if element.prefix is None else element.tag)


def local_tag(element: Element) -> str:
    """The name of an element without namespace and prefix, declared or not."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def all_of(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element.iterchildren(f"{{*}}{name}") if child.prefix is None)


def one(element: Element, name: str, what: str, needed: bool = False) -> Element:
    found = list(all_of(element, name))
    if len(found) > 1:
        raise Fault(f"{what}: there is a second <{name}>", found[1].sourceline)
    if needed and not found:
        raise Fault(f"{what}: <{tag(element)}> has no <{name}>", element.sourceline)
    return found[0] if found else None


def attribute(element: Element, name: str, what: str) -> str:
    value = element.get(name)
    if value is None:
        raise Fault(f"{what}: <{tag(element)}> has no {name}", element.sourceline)
    return str(value)
