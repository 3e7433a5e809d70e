"""Mistakes in the class of a mechanism, found before its equations run: missing functions, misspelt names, events."""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from .errors import Mistake, did_you_mean, model_errors
from .mechanism import Mechanism, Note

OPTIONAL = ("option_list", "stop_time", "step_size", "event_names", "event_notes", "requirement_texts")
OPTIONAL_FUNCTIONS = ("guards", "jump", "project", "requirements", "strokes", "drawing")
MISSPELT = 0.8  # similarity of a name with one of the contract from which it counts as a misspelling of it


def check_class(kind: type[Mechanism], key: str) -> None:
    """Raise ModelError if a class lacks functions, arguments, key or title of the mechanism in the folder `key`."""
    with model_errors(kind):
        for name in sorted(kind.__abstractmethods__):
            own = [n for n, f in vars(kind).items() if callable(f)]
            text = f"class {kind.__name__} has no function {_signature(name)}{did_you_mean(name, own)}"
            raise Mistake(text, _line_of(kind))
        for name, example in (("key", key), ("title", key.replace("_", " ").capitalize())):
            if not isinstance(getattr(kind, name, None), str):
                text = f'class {kind.__name__} has no {name}: write {name} = "{example}" into it'
                raise Mistake(text, _line_of(kind))
        if kind.key != key:
            raise Mistake(f'key = "{kind.key}": must be the name of the folder, "{key}"', _line_of(kind))
        for name, function in vars(kind).items():
            contract = getattr(Mechanism, name, None)
            if not (inspect.isfunction(function) and inspect.isfunction(contract)):
                continue
            if len(found := _arguments(function)) < len(_arguments(contract)):
                raise Mistake(f"def {name}({', '.join(found)}): must be {_signature(name)}", function)
        _check_spelling(kind)


def _check_spelling(kind: type[Mechanism]) -> None:
    """Raise Mistake for a name that looks like one of the contract which the class does not have."""
    missing = [name for name in (*OPTIONAL, *OPTIONAL_FUNCTIONS) if getattr(kind, name) is getattr(Mechanism, name)]
    for name in vars(kind):
        if not hasattr(Mechanism, name) and (close := difflib.get_close_matches(name, missing, 1, MISSPELT)):
            raise Mistake(f"{name} is not part of a mechanism; did you mean {close[0]}?", _line_of(kind, name))


def check_events(mechanism: Mechanism) -> None:
    """Raise Mistake when the names of events, their notes and their functions do not fit together."""
    kind, names, notes = type(mechanism), mechanism.event_names, mechanism.event_notes
    if isinstance(names, str):
        raise Mistake(f'event_names = "{names}": must be a tuple, write ("{names}",)', _line_of(kind, "event_names"))
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise Mistake("event_names: must be a tuple of names", _line_of(kind, "event_names"))
    for event, count in Counter(names).items():
        if count > 1:
            raise Mistake(
                f"event_names: {event} appears {count} times; every event needs its own name",
                _line_of(kind, "event_names"),
            )
    if names and kind.guards is Mechanism.guards:
        raise Mistake(
            f"event_names lists events, but there is no function {_signature('guards')}", _line_of(kind, "event_names")
        )
    if not isinstance(notes, Mapping):
        raise Mistake('event_notes: must be a dict, {"name of the event": Note("text")}', _line_of(kind, "event_notes"))
    for event, note in notes.items():
        if event not in names:
            raise Mistake(
                f"event_notes: there is no event {event}{did_you_mean(str(event), names)}",
                _line_of(kind, "event_notes"),
            )
        if not isinstance(note, Note):
            raise Mistake(f'event_notes: {event}: must be a Note, write Note("text")', _line_of(kind, "event_notes"))
    idle = [name for name in names if name not in notes]
    if idle and kind.jump is Mechanism.jump:
        reason = f"there is no function {_signature('jump')}, and event_notes does not name it"
        raise Mistake(f"the event {idle[0]} has no effect: {reason}", _line_of(kind, "event_names"))


def check_requirements(mechanism: Mechanism) -> None:
    """Raise Mistake when there are texts of requirements, but no requirements."""
    kind = type(mechanism)
    if mechanism.requirement_texts and kind.requirements is Mechanism.requirements:
        text = f"requirement_texts, but no function {_signature('requirements')}"
        raise Mistake(f"class {kind.__name__} has {text}", _line_of(kind, "requirement_texts"))


class _Line:
    """Stands for a line, as the `function` of a Mistake."""

    def __init__(self, file: str, line: int):
        self.__code__ = SimpleNamespace(co_filename=file, co_firstlineno=line)

    def __call__(self) -> None: ...


def _line_of(kind: type, name: str = "") -> _Line | None:
    """The line in which a class or a base of it defines an attribute, or in which the class begins; None: no source."""
    owner = next((base for base in kind.__mro__ if name in vars(base) and base is not Mechanism), kind)
    try:
        lines, first = inspect.getsourcelines(owner)
        (definition,) = ast.parse(textwrap.dedent("".join(lines))).body
        file = inspect.getfile(owner)
    except (OSError, TypeError, SyntaxError, ValueError):  # a class that was not read from a file
        return None
    nodes = (node for node in getattr(definition, "body", ()) if name in _defined_names(node))
    return _Line(file, first + next((node.lineno for node in nodes), 1) - 1)


def _defined_names(node: ast.AST) -> set[str]:
    """The names that a statement of a class defines."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _arguments(function: Callable[..., Any]) -> list[str]:
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]


def _signature(name: str) -> str:
    return f"{name}({', '.join(_arguments(getattr(Mechanism, name)))})"
