"""A tree as lines with branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..console import Console, line_ranges

BRANCHES, ASCII_BRANCHES = ("├── ", "└── ", "│   "), ("+-- ", "`-- ", "|   ")


def tree_lines(
    texts: Mapping[str, str], children: Mapping[str, Sequence[str]], out: Console, node: str = ""
) -> Iterator[str]:
    """Return the lines of the tree below `node`, wrapped to the width of the console."""
    inner, last, through = BRANCHES if out.can_print("".join(BRANCHES)) else ASCII_BRANCHES

    def lines(node: str, first: str, further: str) -> Iterator[str]:
        text = texts[node]
        for number, (start, end) in enumerate(line_ranges(text, out.width and out.width - len(further))):
            yield (further if number else first) + text[start:end]
        for child in children[node]:
            ends = child == children[node][-1]
            yield from lines(child, further + (last if ends else inner), further + (" " * 4 if ends else through))

    return lines(node, "", "")
