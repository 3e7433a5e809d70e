"""The parser of the command line, assembled from the subcommands in cli/commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import __version__
from ..model import did_you_mean
from .commands import build, check, convert, cosim, linearize, live, new, portable, simulate, sweep
from .commands import list as list_mechanisms


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports invalid input in one line instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parser_of(self, command: str | None) -> Parser:
        """Return the parser of a subcommand."""
        found = [a.choices[command] for a in self._actions if isinstance(a.choices, dict) and command in a.choices]
        return found[0] if found else self

    def reject(self, unknown: Sequence[str]) -> NoReturn:
        """Report unknown arguments."""
        hint = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        hint = did_you_mean(value, action.choices)
        if action.dest == "command":
            self.error(f"there is no command {value}{hint}")
        choices = ", ".join(map(str, action.choices))
        raise argparse.ArgumentError(action, f"there is no {value}{hint} (choose from {choices})")


class CommandParser(Parser):
    """The parser of a subcommand, with the flags that all of them have."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self.add_argument("-q", "--quiet", action="store_true", help="print only results and errors")
        self.add_argument("-v", "--verbose", action="store_true", help="print every step and how long it took")
        self.add_argument("--traceback", action="store_true", help="print the Python traceback of an error")


def make_parser() -> Parser:
    """Return the parser of `mechfmu` with all subcommands."""
    parser = Parser(
        prog="mechfmu",
        description="Mechanism models as FMI units.",
        epilog="example: mechfmu build link_chain --option links=3 -o out",
    )
    parser.add_argument("--version", action="version", version=f"mechfmu {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=CommandParser)
    for command in (list_mechanisms, build, check, portable, simulate, live, cosim, sweep, linearize, convert, new):
        command.add_parser(commands)
    return parser
