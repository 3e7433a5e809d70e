"""Notices about a run: flags among the outputs that were 1, and warnings of the FMUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

FLAG = re.compile(r"1 (?:when|while) (.*), otherwise 0$")
TIME = re.compile(r"at t = \S+ s: ")


def raised_flags(descriptions: Mapping[str, str | None], t: np.ndarray, signals: Mapping[str, np.ndarray]) -> list[str]:
    """Return a line for each output that was 1 and is described as "1 when ..., otherwise 0": first time, duration."""
    found = []
    for name, values in signals.items():
        flag = FLAG.match(descriptions.get(name) or "")
        if flag is None or len(t) < 2 or not np.any(raised := values > 0.5):
            continue
        duration = float(np.sum(np.diff(t)[raised[:-1]]))
        found.append(f"{name}: {flag[1]}, first at t = {t[np.argmax(raised)]:g} s, for {duration:g} s in total")
    return found


def first_of_each(texts: Iterable[str]) -> list[str]:
    """Return the messages without those that repeat an earlier one at another time."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(TIME.sub("", text), text)
    return list(found.values())
