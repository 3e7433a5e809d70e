"""The subcommands of `mechfmu`, one module each: `add_parser` declares the arguments, `run` executes the command.

A `run` returns the exit status, or None for 0. It imports what it needs when it is called, so that the help and shell
completion start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    Commands = argparse._SubParsersAction[Any]
else:
    Commands = Any
