"""The command `mechfmu`. Each subcommand is a module in cli/commands with `add_parser` and `run`."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import argcomplete

from ..model import UserError
from ..model.extras import MissingPackage, missing_packages_named
from .parser import make_parser
from .terminal import OUT, REPORTER, print_error

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # the disk is full or read-only


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 success, 1 findings (check), 2 invalid input, 130 interrupted."""
    parser = make_parser()
    argcomplete.autocomplete(parser)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.parser_of(options.command).reject(unknown)
    if not hasattr(options, "run"):
        parser.print_help()
        return 0

    REPORTER.quiet, REPORTER.verbose = options.quiet, options.verbose
    prefix = f"mechfmu {options.command}:"

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        print_error(f"{prefix} warning: {message}")

    try:
        with warnings.catch_warnings(), missing_packages_named():
            warnings.simplefilter("default", RuntimeWarning)
            warnings.showwarning = show_warning
            status: int | None = options.run(options)
            OUT.flush()
    except UserError as error:
        if options.traceback:
            traceback.print_exception(error)
        text = f"mechfmu {options.command} {error.need}" if isinstance(error, MissingPackage) else f"{prefix} {error}"
        print_error(text)
        return 2
    except OSError as error:
        if error.errno not in DISK_ERRORS and "temporary directory" not in str(error):  # tempfile found no disk space
            raise
        where = f" {error.filename}" if error.filename else ""
        print_error(f"{prefix} cannot write{where}: {error.strerror or error}")
        return 2
    except KeyboardInterrupt:
        print_error(f"{prefix} interrupted")
        return 130
    return status or 0


def entry() -> NoReturn:
    """Run the console command and exit.

    The process ends without the interpreter's clean-up, in which the library of another tool's FMU may crash
    (pythonfmu's does).
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, which removes temporary files
    status = main()
    gc.collect()  # removes the folders of unpacked FMUs
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
