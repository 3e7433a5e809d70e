"""The kind of an XML file by its root element."""

from __future__ import annotations

import re

_SKIPPED = re.compile(rb"<!--.*?-->|<\?.*?\?>|<![^>]*>|\s+|\xef\xbb\xbf", re.DOTALL)
_TAG = re.compile(rb"<([A-Za-z_][\w.:-]*)")


def root_element(data: bytes) -> str:
    """The name of the root element; empty if the data do not begin like an XML file of one byte per character."""
    at = 0
    while found := _SKIPPED.match(data, at):
        at = found.end()
    tag = _TAG.match(data, at)
    return tag[1].decode("ascii", errors="replace") if tag else ""
