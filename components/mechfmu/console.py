"""Text for terminals and pipes: lines with styles, and tables.

    out = Console()
    out.print(Styled("link_chain", "bold"), "  ", "Planar chain of rods")

    table = TextTable("output", "unit")
    table.add_row("joint[1].angle", "deg")
    out.print_table(table)

A terminal gets styles (unless NO_COLOR is set) and tables that fold long cells to its width; a pipe or a file gets
plain text and tables as wide as their contents. Control characters, which names and messages of FMUs may contain, are
printed as \\x1b, and characters that the encoding lacks as ?.

This module imports nothing of mechfmu, so that `check` can use it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TextIO

# numbers of the escape sequence "Select Graphic Rendition"
STYLES = {
    **{"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"},
    **{"pink": "38;5;197", "grey": "38;5;237"},  # the done and the open part of a progress bar
}
# C0 and C1 controls except tab and newline; marks that reverse the direction of the text or separate lines
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
WORD = re.compile(r"\S+")
TAB = "    "  # in tables
BOX = {  # left end, line, crossing, right end; and the line between cells
    "top": "┏━┳┓",
    "heading": "┃",
    "below heading": "┡━╇┩",
    "row": "│",
    "rule": "├─┼┤",
    "bottom": "└─┴┘",
}
ASCII_BOX = {part: "+-++" if len(characters) > 1 else "|" for part, characters in BOX.items()}


@dataclass(frozen=True)
class Styled:
    """A text with a style: words of STYLES, such as "bold red"."""

    text: str
    style: str


Part = str | Styled
Cell = str | Styled | tuple[Part, ...]
Spans = list[tuple[str, str]]  # (text, style), without control characters


class Console:
    """Prints to a stream, by default to the current standard output.

    A fixed width also applies to a stream that is not a terminal.
    """

    def __init__(self, file: TextIO | None = None, fixed_width: int | None = None):
        self.file, self.fixed_width = file, fixed_width

    @property
    def stream(self) -> TextIO:
        return self.file or sys.stdout

    @property
    def is_terminal(self) -> bool:
        return self.stream.isatty()

    @property
    def width(self) -> int | None:
        """The number of columns; None: not limited, because the output is not a terminal."""
        if self.fixed_width or not self.is_terminal:
            return self.fixed_width
        return shutil.get_terminal_size().columns - (sys.platform == "win32")  # a full line would break there

    @property
    def has_escapes(self) -> bool:
        """Whether the stream is a terminal that understands escape sequences."""
        return self.is_terminal and os.environ.get("TERM") != "dumb" and _windows_escapes()

    @property
    def has_styles(self) -> bool:
        return self.has_escapes and not os.environ.get("NO_COLOR")

    def can_print(self, text: str) -> bool:
        """Whether the encoding of the stream has these characters."""
        try:
            text.encode(self.stream.encoding or "utf-8")
        except UnicodeEncodeError:
            return False
        return True

    def print(self, *parts: Part) -> None:
        """Print one line, never wrapped."""
        self._print(_spans(parts))

    def print_wrapped(self, *parts: Part) -> None:
        """Print a line, in a terminal wrapped between words."""
        spans = _spans(parts)
        for start, end in line_ranges(_plain(spans), self.width):
            self._print(_slice(spans, start, end))

    def print_table(self, table: TextTable, indent: int = 0, pipe_width: int | None = None) -> None:
        """Print a table: as wide as the terminal, or in a pipe as wide as its contents, but at most `pipe_width`."""
        box = BOX if self.can_print("".join(BOX.values())) else ASCII_BOX
        width = self.width or pipe_width
        for spans in table.lines(width and width - indent, box):
            self._print([(" " * indent, ""), *spans])

    def write(self, text: str) -> None:
        """Write a text as it is, but for characters that the encoding lacks."""
        stream = self.stream
        with _open_pipe(stream):
            try:
                stream.write(text)
            except UnicodeEncodeError:
                stream.write(text.encode(stream.encoding, "replace").decode(stream.encoding))

    def flush(self) -> None:
        with _open_pipe(self.stream):
            self.stream.flush()

    def line(self, parts: Sequence[Part], width: int) -> str:
        """Return what to write for one line, cut off at this width."""
        spans = _spans(parts)
        text = _plain(spans).partition("\n")[0]
        return self._text(_slice(spans, 0, _fitting(text, width)))

    def _text(self, spans: Spans) -> str:
        if not self.has_styles:
            return _plain(spans)
        return "".join(
            f"\x1b[{';'.join(STYLES[word] for word in style.split())}m{text}\x1b[0m" if style and text else text
            for text, style in spans
        )

    def _print(self, spans: Spans) -> None:
        self.write(self._text(spans).rstrip(" ") + "\n")


class TextTable:
    """Rows under headings; the columns whose numbers are in `right` are aligned to the right."""

    def __init__(self, *headings: str, right: Collection[int] = ()):
        self.headings, self.right = headings, right
        self.rows: list[tuple[Cell, ...]] = []
        self.rules: set[int] = set()  # numbers of rows with a line above them

    def add_row(self, *cells: Cell) -> None:
        self.rows.append(cells)

    def add_rule(self) -> None:
        """Separate the rows so far from the following ones by a line."""
        self.rules.add(len(self.rows))

    def lines(self, width: int | None, box: dict[str, str]) -> Iterator[Spans]:
        """Lay the table out in `width` columns; None: as wide as its contents."""
        headings = tuple(Styled(heading, "bold") for heading in self.headings)
        rows = [[_spans(_parts(cell), TAB) for cell in row] for row in (headings, *self.rows)]
        columns = list(zip(*rows, strict=True))
        room = None if width is None else width - 3 * len(columns) - 1
        widths = _column_widths([max(map(_longest_line, column)) for column in columns], room)
        folded = [[_fold(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]

        def rule(part: str) -> Spans:
            left, line, crossing, right = tuple(box[part])
            return [(left + crossing.join(line * (width + 2) for width in widths) + right, "")]

        yield rule("top")
        yield from self._row(folded[0], widths, box["heading"])
        yield rule("below heading")
        for number, row in enumerate(folded[1:]):
            if number and number in self.rules:
                yield rule("rule")
            yield from self._row(row, widths, box["row"])
        yield rule("bottom")

    def _row(self, cells: list[list[Spans]], widths: list[int], edge: str) -> Iterator[Spans]:
        for number in range(max(map(len, cells))):
            line: Spans = [(edge, "")]
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                text = cell[number] if number < len(cell) else []
                space = " " * (width - text_width(_plain(text)))
                before, after = (space, "") if column in self.right else ("", space)
                line += [(f" {before}", ""), *text, (f"{after} {edge}", "")]
            yield line


@contextmanager
def _open_pipe(stream: TextIO) -> Iterator[None]:
    """Let the rest of the output go nowhere when the program that reads it has ended, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def clean(text: str) -> str:
    """Return the text with its control characters made visible."""
    return CONTROL.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


def text_width(text: str) -> int:
    """The number of columns that a text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


@cache
def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):  # combined with the character before
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _fitting(text: str, width: int) -> int:
    """The number of characters that fit into this width."""
    if text.isascii():
        return min(len(text), width)
    used = 0
    for number, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return number
    return len(text)


def line_ranges(text: str, width: int | None) -> list[tuple[int, int]]:
    """Return start and end of the lines: broken at newlines, between words, and inside words that are too long."""
    ranges, start = [], 0
    for line in text.split("\n"):
        end = start + len(line)
        if width is None or text_width(line) <= width:
            ranges.append((start, end))
        else:
            ranges += _wrap(text, start, end, max(width, 1))
        start = end + 1
    return ranges


def _wrap(text: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    last = start  # end of the last word in the line
    for word in WORD.finditer(text, start, end):
        if last > start and text_width(text[start : word.end()]) > width:
            yield start, last
            start = word.start()
        while text_width(text[start : word.end()]) > width:
            cut = start + max(_fitting(text[start : word.end()], width), 1)
            if cut >= word.end():  # one wide character in one column
                break
            yield start, cut
            start = cut
        last = word.end()
    yield start, last


def _parts(cell: Cell) -> tuple[Part, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _spans(parts: Sequence[Part], tab: str = "\t") -> Spans:
    pairs = ((part.text, part.style) if isinstance(part, Styled) else (part, "") for part in parts)
    return [(clean(text).replace("\t", tab), style) for text, style in pairs]


def _plain(spans: Spans) -> str:
    return "".join(text for text, _ in spans)


def _slice(spans: Spans, start: int, end: int) -> Spans:
    found, offset = [], 0
    for text, style in spans:
        found.append((text[max(start - offset, 0) : max(end - offset, 0)], style))
        offset += len(text)
    return found


def _fold(spans: Spans, width: int) -> list[Spans]:
    return [_slice(spans, start, end) for start, end in line_ranges(_plain(spans), width)]


def _longest_line(spans: Spans) -> int:
    return max(map(text_width, _plain(spans).split("\n")))


def _column_widths(widths: list[int], room: int | None) -> list[int]:
    """Narrow the widest columns until all fit; one column is left to each at least."""
    limit = max(widths, default=0)
    while room is not None and limit > 1 and sum(min(width, limit) for width in widths) > room:
        limit -= 1
    narrowed = [max(min(width, limit), 1) for width in widths]
    for column in reversed(range(len(widths))):  # what the last step has left over
        if room is not None and widths[column] > limit and sum(narrowed) < room:
            narrowed[column] += 1
    return narrowed


@cache
def _windows_escapes() -> bool:
    """Let the console of Windows interpret escape sequences; False: it is older than Windows 10."""
    if sys.platform != "win32":
        return True
    import ctypes

    kernel, mode, understood = ctypes.windll.kernel32, ctypes.c_ulong(), True
    kernel.GetStdHandle.restype = ctypes.c_void_p
    for number in (-11, -12):  # standard output and standard error
        handle = ctypes.c_void_p(kernel.GetStdHandle(number))
        if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            understood &= bool(kernel.SetConsoleMode(handle, mode.value | 4))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
    return understood
