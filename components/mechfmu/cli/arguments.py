"""Arguments that several commands share, and shell completion of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..model import UserError
from ..model.units import in_unit, unit

PLOT_HELP = "draw the outputs into this file (html: an interactive page; png, svg, pdf)"


def seconds(text: str) -> float:
    """Read a time: 0.5, 500ms, 2min."""
    try:
        return in_unit(text, unit("s"))
    except UserError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None
    except ValueError:
        message = f"{text}: must be a number of seconds, or one with a unit such as 5ms"
        raise argparse.ArgumentTypeError(message) from None


def read_pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """Read ["a=1", "b=2"] as a dictionary."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UserError(f"{option} {text}: must look like name=value")
        found[name.strip()] = value.strip()
    return found


def read_names(text: str | None) -> list[str] | None:
    """Read the names of a comma-separated list; None when there are none."""
    return [name for part in (text or "").split(",") if (name := part.strip())] or None


def add_repeatable(parser: Any, flag: str, metavar: str, help: str) -> argparse.Action:
    """Add an option that may be repeated; its values are a list."""
    action: argparse.Action = parser.add_argument(
        flag, action="append", default=[], metavar=metavar, help=f"{help}; may be repeated"
    )
    return action


def add_realtime(parser: argparse.ArgumentParser) -> None:
    help = "not faster than real time, or than FACTOR times real time"
    parser.add_argument("--realtime", type=float, nargs="?", const=1.0, metavar="FACTOR", help=help)


def add_result_files(parser: argparse.ArgumentParser, signal: str, drawn: str) -> None:
    """Add the files that a simulation may write. In their help, `signal` stands for a name, `drawn` is animated."""
    parser.add_argument("-o", "--output", metavar="FILE", help="write all outputs to this file (csv, parquet, mat)")
    parser.add_argument("--plot", metavar="FILE", help=PLOT_HELP)
    help = "draw only these outputs, in the plot and beside the animation"
    parser.add_argument("--signals", metavar=f"{signal},...", help=help)
    help = f"draw the moving {drawn} into this file (html: a page with a 3-D view; gif, mp4)"
    parser.add_argument("--animate", metavar="FILE", help=help)


def complete_with(argument: argparse.Action, words: Callable[[str, argparse.Namespace], Iterable[str]]) -> None:
    """Let the shell complete a value: words(prefix, parsed arguments) are the candidates."""
    argument.completer = lambda prefix, parsed_args, **_: list(words(prefix, parsed_args))  # type: ignore[attr-defined]


def complete_choices(argument: argparse.Action, *choices: str) -> None:
    """Let the shell complete one of these words."""
    complete_with(argument, lambda *_: choices)
