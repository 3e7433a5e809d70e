"""Features of a robot file that a tree does not support: named once with the line, and refused unless ignored.

Each kind has a word, which `--ignore WORD` takes. A reader collects everything that it meets and asks at the end, so
that one message names all kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....model.mechanism import UserError, did_you_mean
from .common import Fault, printable

MAX_KINDS = 4  # in one message


def ignored_words(ignore: Iterable[str], known: Mapping[str, str], kind_of_file: str) -> frozenset[str]:
    """Return the words to be ignored; UserError for one that this kind of file does not have."""
    words = frozenset(ignore)
    for word in sorted(words - known.keys()):
        has = f"it has: {', '.join(known)}" if known else "it has none"
        hint = did_you_mean(word, known)
        raise UserError(f"--ignore {printable(word)}: unknown for {kind_of_file}{hint} ({has})")
    return words


class Unsupported:
    """The elements of a file that a tree cannot have, by word, each with its text and line (0: unknown)."""

    def __init__(self, ignore: frozenset[str]):
        self.ignore = ignore
        self.found: dict[str, list[tuple[str, int]]] = {}

    def add(self, word: str, text: str, line: int = 0) -> None:
        if word not in self.ignore:
            self.found.setdefault(word, []).append((text, line))

    def check(self) -> None:
        """Raise a Fault that names the first element of each kind and how many more there are."""
        if not self.found:
            return
        parts = []
        for number, elements in enumerate(list(self.found.values())[:MAX_KINDS]):
            text, line = elements[0]
            place = f" (line {line})" if number and line else ""
            more = f" and {len(elements) - 1} more" if len(elements) > 1 else ""
            parts.append(f"{text}{place}{more}")
        flags = " ".join(f"--ignore {word}" for word in self.found)
        rest = "; ..." if len(self.found) > MAX_KINDS else ""
        first_line = next(iter(self.found.values()))[0][1]
        raise Fault(f"unsupported: {'; '.join(parts)}{rest}. To leave this out: {flags}", first_line)
