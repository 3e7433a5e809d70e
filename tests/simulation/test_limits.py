"""The limits of the event loop: the same numbers in Python and in C."""

from __future__ import annotations

import sys

from helpers.paths import BUILD_SCRIPTS

sys.path.append(str(BUILD_SCRIPTS))
from limits_header import HEADER, header


def test_the_header_has_the_limits_of_python() -> None:
    """After a change of limits.py: python3 build_scripts/limits_header.py"""
    assert HEADER.read_text(encoding="utf-8") == header()
