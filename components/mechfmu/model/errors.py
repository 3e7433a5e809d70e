"""What a user is told who gave something wrong, or wrote something wrong into a mechanism.

A mistake in the text of a mechanism shows as an exception anywhere below it, in NumPy, CasADi or our own code. `explained` finds the line of the
mechanism in the traceback and says in one line what is wrong there and what would be right; the exception itself stays behind as the cause.
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
SHORT = 200  # characters of a foreign message that are passed on


class UserError(ValueError):
    """Something the user gave is wrong; the message says what and, where possible, what would be right."""


class ModelError(UserError):
    """A mistake in the text of a mechanism: its file, its line, what is wrong and what would be right."""


class Mistake(ValueError):
    """What is wrong, raised below the line of the mechanism that is to blame; `explained` adds the line, or takes that of `function`."""

    def __init__(self, text: str, function: Callable[..., Any] | None = None):
        super().__init__(text)
        self.function = function


def did_you_mean(name: str, names: Any) -> str:
    """A hint at what was probably meant, e.g. "; did you mean joint[1].angle?"."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


@contextmanager
def explained(owner: type) -> Iterator[None]:
    """A ModelError instead of any exception that a line of the mechanism `owner` leads to. Others pass: they are not the author's."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        mistake = next((e for e in _chain(error) if isinstance(e, Mistake)), None)
        where = _place(mistake or error, owner) or _place(error, owner)
        if mistake is None and not where:
            raise
        raise ModelError(f"{where}{mistake or explanation(error)}") from error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those it came from: NumPy raises its own when one of ours comes out of a conversion."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _place(error: BaseException, owner: type) -> str:
    """file:line of the innermost line of the mechanism: in its own folder."""
    home = getattr(sys.modules.get(owner.__module__), "__file__", None)
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if home:
        found = [f for f in frames if f[0].parent == Path(home).parent]
    else:  # a class of a notebook
        found = [f for f in frames if PACKAGE not in f[0].parents and not {"casadi", "numpy"} & set(f[0].parts)]
    if function := getattr(error, "function", None):
        code = getattr(function, "__func__", function).__code__
        return place(code.co_filename, code.co_firstlineno)
    return place(*found[-1]) if found else ""


def place(file: str | Path, line: int | None) -> str:
    """file:line as an editor finds it from the current folder."""
    path = Path(file)
    here = Path.cwd()
    return f"{os.path.relpath(path) if here in path.parents else path}:{line}: "


def explanation(error: BaseException) -> str:
    """One line: what is wrong, and what would be right."""
    text = _last_words(error)
    if isinstance(error, SyntaxError):
        return f"{error.msg}: `{(error.text or '').strip()}`"
    if "truth value" in text:
        return (
            "this decides by a value, which is not known when equations are recorded. "
            "Instead of if, and, or, min and max on values use np.where, np.logical_and, np.logical_or, np.minimum and np.maximum"
        )
    if "cannot convert symbolic" in text or "symbolic scalar" in text:
        return "np.array cannot hold symbols: use np.stack([a, b]) for numbers and np.concatenate([a, b]) for arrays"
    if isinstance(error, NameError):
        return f"{error.name or text} is not defined: a variable of the table is p.{error.name}, x.{error.name} or u.{error.name}; a module needs an import"
    if isinstance(error, ModuleNotFoundError):
        ours = {place.stem for place in PACKAGE.iterdir()}
        cure = (
            f"write `from ...{error.name} import ...`, with the dots"
            if (error.name or "").split(".")[0] in ours
            else "install it, or correct the name"
        )
        return f"{text}: {cure}"
    if isinstance(error, ImportError) and (wanted := re.match(r"cannot import name '(\w+)' from '([\w.]+)'", text)):
        return f"{wanted[2].rpartition('.')[2]} has no {wanted[1]}{did_you_mean(wanted[1], dir(sys.modules.get(wanted[2], None)))}"
    if isinstance(error, AttributeError) and error.name:
        owner = getattr(error.obj, "__name__", type(error.obj).__name__)
        return f"{owner} has no {error.name}{did_you_mean(error.name, dir(error.obj))}"
    if isinstance(error, TypeError) and (
        wanted := re.search(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", text)
    ):
        fields = {"Row": _fields("variables", "Row"), "Option": _fields("mechanism", "Option")}.get(wanted[1], [])
        return f"{wanted[1]} has no {wanted[2]}{did_you_mean(wanted[2], fields)}"
    if isinstance(error, IndexError) and "too many indices" in text:
        return f"{text}; None and np.newaxis as an index are not followed: use np.reshape"
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r} here"
    if re.search(
        r"[Dd]imension mismatch|number of elements must remain|mismatched shape|shapes? .*not (aligned|match)|could not (be )?broadcast|same shape",
        text,
    ):
        return f"the shapes do not fit: {text}"
    return f"{type(error).__name__}: {text}"


def _last_words(error: BaseException) -> str:
    """The line of a message that says most: CasADi's errors end with it, behind the place in CasADi's own text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    text = re.sub(r"^(Error in .* at )?\S*\.(cpp|hpp):\d+:\s*", "", lines[-1])
    return text if len(text) <= SHORT else f"{text[:SHORT]} ..."


def _fields(module: str, name: str) -> list[str]:
    return list(getattr(sys.modules[f"{__package__}.{module}"], name).__dataclass_fields__)
