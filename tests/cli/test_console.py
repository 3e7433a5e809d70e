"""Lines, tables and progress in terminals and pipes."""

from __future__ import annotations

import io
import os
import re
import sys
import time

import pytest

from mechfmu.cli.live_line import ERASE, SHOW_CURSOR, bar
from mechfmu.cli.progress import Reporter
from mechfmu.console import Console, Part, Styled, TextTable, clean, line_ranges, text_width

TEXT = "a force on the hip from outside: none, or inputs"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def options() -> TextTable:
    table = TextTable("option", "meaning")
    table.add_row("push", TEXT)
    return table


def shown(table: TextTable, file: io.StringIO) -> str:
    Console(file).print_table(table)
    return file.getvalue()


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_a_table_folds_to_the_width_of_a_terminal() -> None:
    columns = 40 - (sys.platform == "win32")
    lines = without_styles(shown(options(), Terminal())).splitlines()
    assert {len(line) for line in lines} == {columns} and len(lines) == 6
    assert lines[3] == f"{'│ push   │ a force on the hip from':{columns - 2}} │"
    assert lines[4] == f"{'│        │ outside: none, or inputs':{columns - 2}} │"


def test_a_table_in_a_pipe_is_as_wide_as_its_contents() -> None:
    assert shown(options(), io.StringIO()).splitlines() == [
        f"┏━━━━━━━━┳━━{'━' * len(TEXT)}┓",
        f"┃ option ┃ {'meaning':{len(TEXT)}} ┃",
        f"┡━━━━━━━━╇━━{'━' * len(TEXT)}┩",
        f"│ push   │ {TEXT} │",
        f"└────────┴──{'─' * len(TEXT)}┘",
    ]


def test_columns_to_the_right_and_rules_between_rows() -> None:
    table = TextTable("n", "s", right=[1])
    for row in (("1", "0.5"), ("10", "12.25")):
        table.add_rule()
        table.add_row(*row)
    assert shown(table, io.StringIO()).splitlines()[3:6] == ["│ 1  │   0.5 │", "├────┼───────┤", "│ 10 │ 12.25 │"]


def test_long_words_are_broken_and_others_are_not() -> None:
    text = "a  system.of.many.parts b\nc"
    assert [text[a:b] for a, b in line_ranges(text, 8)] == ["a", "system.o", "f.many.p", "arts b", "c"]
    assert [text[a:b] for a, b in line_ranges(text, None)] == ["a  system.of.many.parts b", "c"]


def test_wide_characters_take_two_columns_and_combining_ones_none() -> None:
    assert [text_width(text) for text in ("deg", "角度", "e\u0301", "°")] == [3, 4, 1, 1]
    assert ["角度角度"[a:b] for a, b in line_ranges("角度角度", 5)] == ["角度", "角度"]
    table = TextTable("name")
    table.add_row("角度")
    assert {text_width(line) for line in shown(table, io.StringIO()).splitlines()} == {8}
    assert list(line_ranges("角", 1)) == [(0, 1)]


@pytest.mark.parametrize("variable, value", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_styles_are_for_terminals_that_want_them(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(file: io.StringIO) -> str:
        Console(file).print(Styled("error", "bold red"), " S1")
        return file.getvalue()

    assert printed(Terminal()) == "\x1b[1;31merror\x1b[0m S1\n"
    assert printed(io.StringIO()) == "error S1\n"
    monkeypatch.setenv(variable, value)
    assert printed(Terminal()) == "error S1\n"


def test_control_characters_of_an_fmu_are_harmless() -> None:
    name = "x[1] [red] \x1b[31m\x1b]0;title\x07 \r\b\x9b2J\u202e"
    harmless = r"x[1] [red] \x1b[31m\x1b]0;title\x07 \r\x08\x9b2J\u202e"
    assert clean(name) == harmless and clean("two\r\nlines\t") == "two\nlines\t"
    table = TextTable("name")
    table.add_row(name)
    assert f"│ {harmless} │" in shown(table, io.StringIO())
    terminal = Terminal()
    Console(terminal).print(Styled(name, "bold"))
    assert terminal.getvalue() == f"\x1b[1m{harmless}\x1b[0m\n"


def test_an_encoding_without_box_drawing_gets_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), "ascii", newline="\n")
    out, table = Console(file), TextTable("angle")
    table.add_row("1 µrad \udc80")
    out.print_table(table)
    file.flush()
    lines = ["+----------+", "| angle    |", "+----------+", "| 1 ?rad ? |", "+----------+"]
    assert file.buffer.getvalue().decode().splitlines() == lines


def test_a_reader_that_ends_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as file:  # noqa: PTH123
        out = Console(file)
        for _ in range(3):
            out.print("x" * 10_000)
        out.flush()


def test_lines_are_wrapped_only_where_asked_for() -> None:
    terminal = Terminal()
    Console(terminal).print(TEXT)
    Console(terminal).print_wrapped(Styled("push", "bold"), f"  {TEXT}")
    assert terminal.getvalue().splitlines() == [
        TEXT,
        "\x1b[1mpush\x1b[0m  a force on the hip from outside:",
        "none, or inputs",
    ]


def test_a_spinner_vanishes_and_what_is_printed_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    out, errors = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", errors)
    with Reporter().status("reading") as update:
        print("a line")
        print("no newline", end="")
        update(f"compiling {'x' * 80}")
        time.sleep(0.25)
    assert out.getvalue() == "a line\nno newline" and sys.stdout is out and sys.stderr is errors
    drawn = errors.getvalue()
    assert "reading" in drawn and drawn.endswith(ERASE + SHOW_CURSOR) and "\n" not in drawn
    assert f"compiling {'x' * 20}" in drawn and "x" * 40 not in drawn, "one line, cut off"


@pytest.mark.parametrize("reporter", [Reporter(quiet=True), Reporter(verbose=True)])
def test_quiet_and_verbose_draw_nothing(reporter: Reporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", errors := Terminal())
    with reporter.status("reading"), reporter.bar("run", 1.0, "s") as advance:
        advance(1.0)
    assert errors.getvalue() == ""


def test_the_bar_shows_the_share_and_the_time_that_remains() -> None:
    def text(parts: list[Part]) -> str:
        return "".join(part.text if isinstance(part, Styled) else part for part in parts)

    out = Console(Terminal())
    assert text(bar("run", 0.0, 5.0, "s", 1.0, out)) == f"run {'━' * 40} 0 of 5 s -:--:--"
    assert text(bar("run", 1.25, 5.0, "s", 60.0, out)) == f"run {'━' * 10}╺{'━' * 29} 1.25 of 5 s 0:03:00"
    assert text(bar("run", 5.0, 5.0, "s", 60.0, out)) == f"run {'━' * 40} 5 of 5 s 0:00:00"
    assert text(bar("run", 0.19, 5.0, "s", 1.0, Console(io.StringIO()))) == f"run ━╸{' ' * 38} 0.19 of 5 s 0:00:25"
