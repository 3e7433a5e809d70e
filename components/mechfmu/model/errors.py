"""Errors in a user's input or in the source of a mechanism, and their messages.

A mistake in the source of a mechanism raises an exception anywhere below it, in NumPy, CasADi or this package.
`model_errors` finds the line of the mechanism in the traceback and raises a ModelError with one line: where, what is
wrong, and what would be right. The original exception is its cause.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent
MESSAGE_LENGTH = 200  # longest part of another library's message that is passed on
SHAPE_MESSAGES = re.compile(
    r"[Dd]imension mismatch|number of elements must remain|mismatched shape|shapes? .*not (aligned|match)"
    r"|could not (be )?broadcast|same shape"
)


class UserError(ValueError):
    """Invalid input; the message names it and, where possible, what is allowed."""


class ModelError(UserError):
    """A mistake in the source of a mechanism: file, line, what is wrong and what would be right."""


class Mistake(ValueError):
    """A mistake in a mechanism, raised below the line that causes it.

    `model_errors` adds this line to the message, or the first line of `function`.
    """

    def __init__(self, text: str, function: Callable[..., Any] | None = None):
        super().__init__(text)
        self.function = function


def did_you_mean(name: str, names: Any) -> str:
    """Return a hint at the closest name, e.g. "; did you mean joint[1].angle?", or an empty text."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


@contextmanager
def model_errors(owner: type) -> Iterator[None]:
    """Turn an exception below a line of the mechanism `owner` into a ModelError; others pass through unchanged."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        mistake = next((e for e in _chain(error) if isinstance(e, Mistake)), None)
        where = _location_in(mistake or error, owner) or _location_in(error, owner)
        if mistake is None and not where:
            raise
        raise ModelError(f"{where}{mistake or describe_error(error)}") from error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and its causes: NumPy raises its own when a conversion raises one of this package."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _location_in(error: BaseException, owner: type) -> str:
    """file:line of the innermost line in the mechanism's own folder."""
    home = getattr(sys.modules.get(owner.__module__), "__file__", None)
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if home:
        found = [f for f in frames if f[0].parent == Path(home).parent]
    else:  # a class defined in a notebook
        found = [f for f in frames if PACKAGE not in f[0].parents and not {"casadi", "numpy"} & set(f[0].parts)]
    if function := getattr(error, "function", None):
        code = getattr(function, "__func__", function).__code__
        return source_location(code.co_filename, code.co_firstlineno)
    return source_location(*found[-1]) if found else ""


def source_location(file: str | Path, line: int | None) -> str:
    """Return "file:line: ", relative to the current folder if the file is below it."""
    path = Path(file)
    here = Path.cwd()
    return f"{os.path.relpath(path) if here in path.parents else path}:{line}: "


def describe_error(error: BaseException) -> str:
    """Return one line: what is wrong, and what would be right."""
    text = _last_line(error)
    for describe in (_describe_symbolic, _describe_import, _describe_name, _describe_shape):
        if found := describe(error, text):
            return found
    return f"{type(error).__name__}: {text}"


def _describe_symbolic(error: BaseException, text: str) -> str | None:
    """Python code that cannot be recorded with symbols."""
    if "truth value" in text:
        return (
            "this decides by a value, which is not known when equations are recorded. Instead of if, and, or, min and "
            "max on values use np.where, np.logical_and, np.logical_or, np.minimum and np.maximum"
        )
    if "cannot convert symbolic" in text or "symbolic scalar" in text:
        return "np.array cannot hold symbols: use np.stack([a, b]) for numbers and np.concatenate([a, b]) for arrays"
    return None


def _describe_import(error: BaseException, text: str) -> str | None:
    """Files that cannot be read, modules that are not found."""
    if isinstance(error, SyntaxError):
        return f"{error.msg}: `{(error.text or '').strip()}`"
    if isinstance(error, ModuleNotFoundError):
        name = error.name or ""
        if name.split(".")[0] in {path.stem for path in PACKAGE.iterdir()}:
            return f"{text}: write `from ...{name} import ...`, with the dots"
        return f"{text}: install it, or correct the name"
    if isinstance(error, ImportError) and (wanted := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", text)):
        name, module = wanted[1], wanted[2]
        return f"{module.rpartition('.')[2]} has no {name}{did_you_mean(name, dir(sys.modules.get(module, None)))}"
    return None


def _describe_name(error: BaseException, text: str) -> str | None:
    """Names, attributes, keywords and keys that do not exist."""
    if isinstance(error, NameError):
        name = error.name
        return (
            f"{name or text} is not defined: a variable of the table is p.{name}, x.{name} or u.{name}; "
            "a module needs an import"
        )
    if isinstance(error, AttributeError) and error.name:
        owner = getattr(error.obj, "__name__", type(error.obj).__name__)
        return f"{owner} has no {error.name}{did_you_mean(error.name, dir(error.obj))}"
    unexpected = re.search(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", text)
    if isinstance(error, TypeError) and unexpected:
        owner, keyword = unexpected[1], unexpected[2]
        fields = {"Row": _fields("variables", "Row"), "Option": _fields("mechanism", "Option")}.get(owner, [])
        return f"{owner} has no {keyword}{did_you_mean(keyword, fields)}"
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r} here"
    return None


def _describe_shape(error: BaseException, text: str) -> str | None:
    """Arrays whose shapes do not fit, in the words of NumPy and CasADi."""
    if isinstance(error, IndexError) and "too many indices" in text:
        return f"{text}; None and np.newaxis as an index are not followed: use np.reshape"
    return f"the shapes do not fit: {text}" if SHAPE_MESSAGES.search(text) else None


def _last_line(error: BaseException) -> str:
    """The last line of a message, without CasADi's own source location."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    text = re.sub(r"^(Error in .* at )?\S*\.(cpp|hpp):\d+:\s*", "", lines[-1])
    return text if len(text) <= MESSAGE_LENGTH else f"{text[:MESSAGE_LENGTH]} ..."


def _fields(module: str, name: str) -> list[str]:
    return list(getattr(sys.modules[f"{__package__}.{module}"], name).__dataclass_fields__)
