"""What a person should know of a run besides its signals: warnings of the FMUs, and flags among their outputs that were up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

FLAG = re.compile(r"1 (?:when|while) (.*), otherwise 0$")
TIME = re.compile(r"at t = \S+ s: ")


def raised_flags(descriptions: Mapping[str, str | None], t: np.ndarray, signals: Mapping[str, np.ndarray]) -> list[str]:
    """One line for each output whose description reads "1 when ..., otherwise 0" and that was 1: since when, and for how long in all."""
    found = []
    for name, values in signals.items():
        flag = FLAG.match(descriptions.get(name) or "")
        if flag is None or len(t) < 2 or not np.any(up := values > 0.5):
            continue
        whole = float(np.sum(np.diff(t)[up[:-1]]))
        found.append(f"{name}: {flag[1]}, first at t = {t[np.argmax(up)]:g} s, for {whole:g} s in all")
    return found


def first_of_each(texts: Iterable[str]) -> list[str]:
    """Messages that differ only in their time are told once, with the first time."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(TIME.sub("", text), text)
    return list(found.values())
