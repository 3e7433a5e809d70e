"""Part of D2: the messages of the FMU to the logger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..findings import Finding
from . import binding
from .binding import ERROR, OK, STATUS, WARNING
from .instance import CallFailed, FmuInstance, NotJudged, SimulationTerminated
from .runs import run_steps
from .session import ENVIRONMENT, Message, Session

LONG_RUN = 300  # steps, to see the messages of events
PAST_STEPS = 2  # steps to a stop time, which the next one exceeds
# a conversion of printf: flags, length modifier, letter
CONVERSION = re.compile(
    r"%(?:\d+\$)?([-+ #0']*)(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|L|q|j|z|t|I64|I32|I)?(.)?", re.DOTALL
)
LETTERS, SIGNED = "diouxXeEfFgGaAcspnCSm%", "dieEfFgGaA"


def plain_run(s: Session, instance: FmuInstance, steps: int = 2, until_message: bool = False) -> int:
    """A legal run, up to the first message of status fmi2OK if that is wanted. Returns how many steps were made;
    whether they succeed is not the question here."""
    made = 0
    try:
        instance.enter_run_state()
        for h in s.steps(steps):
            if s.time_used(0.5) or (until_message and any(m.status == OK for m in s.log)):
                break
            run_steps(instance, [h], ())
            made += 1
    except (CallFailed, SimulationTerminated, NotJudged):
        pass
    return made


# --- one message ------------------------------------------------------------------------------------------------------


def message_findings(s: Session, m: Message, name: str) -> Iterator[Finding]:
    """What is wrong with a message of an instance with this name; its text is the format."""
    if m.environment != ENVIRONMENT:
        problem = f"it is called with the environment {m.environment}"
        expected = "componentEnvironment of the callback functions"
        yield Finding("logger", problem, expected, sentence="environment-passed")
    if m.instance != name:
        overwritten = m.instance and "X" * 10 in m.instance
        problem = f"it is called with the instance name {str(m.instance)[:60]!r}"
        expected = f"the name given to fmi2Instantiate, {name[:60]!r}"
        if overwritten:
            yield Finding("logger", "the instance name was not copied", expected, sentence="string-copied")
        else:
            yield Finding("logger", problem, expected, sentence="logger-name")
    yield from _text_findings(m.text)
    if s.model.categories and m.category not in s.model.categories:
        expected = f"one that is declared in LogCategories: {', '.join(s.model.categories)}"
        yield Finding("logger", f"category {m.category!r}", expected, sentence="log-categories")
    if not s.model.categories and m.category and not s.model.before_2_0_3:
        expected = "NULL, since no LogCategories are declared"
        cure = "declare the categories in LogCategories"
        problem = f"category {m.category!r}"
        yield Finding("logger", problem, expected, sentence="no-log-categories", suggestion=cure)


def _text_findings(text: str | None) -> Iterator[Finding]:
    if text is None:
        yield Finding("logger", "it is called without a message", "a text", sentence="logger-message")
        return
    if wrong := _wrong_conversion(text):
        problem = f"{wrong!r} in the message {text[:60]!r} is not a format of printf"
        expected, cure = "%% for a percent sign", 'pass the text as the argument of the format "%s"'
        yield Finding("logger", problem, expected, sentence="logger-format", suggestion=cure)


def _wrong_conversion(text: str) -> str:
    """The first percent sign that does not begin a conversion of printf, with what follows. A blank after it is a flag
    of numbers with a sign only, and "% full" is a word."""
    for match in CONVERSION.finditer(text):
        flags, letter = match[1], match[2] or ""
        word = re.match(r"[a-z]{2}", text[match.end() :]) is not None
        if not letter or letter not in LETTERS or (" " in flags and (letter not in SIGNED or word)):
            return text[match.start() : match.start() + 10]
    return ""


# --- logging on and off -----------------------------------------------------------------------------------------------


def switched_logging(s: Session) -> Iterator[Finding]:
    """loggingOn and fmi2SetDebugLogging are respected. A run with loggingOn shows when there is a message."""
    steps, logged = 2, False
    if s.attempt("logging switched on"):
        s.log.clear()
        instance = s.new_instance()
        first, s.log = s.log, []
        steps = max(steps, plain_run(s, instance, LONG_RUN, until_message=True))
        logged = any(m.status == OK for m in s.log)
        yield from _line_breaks([*first, *s.log])
        instance.free()
    if logged and s.attempt("debug logging switched on"):
        yield from _debug_logging_on(s, steps)
    if s.attempt("logging switched off"):
        yield from _logging_off(s, steps)
    if s.attempt("debug logging switched off"):
        yield from _debug_logging_off(s, steps)


def _line_breaks(messages: Sequence[Message]) -> Iterator[Finding]:
    for m in messages:
        if m.text is not None and m.text.endswith("\n"):
            yield Finding("logger", f"the message {m.text[:60]!r} ends with a line break", "a text without it")
            return


def _logging_off(s: Session, steps: int) -> Iterator[Finding]:
    s.log.clear()
    instance = s.instantiate(logging=False)
    if instance is None:
        return
    plain_run(s, instance, steps)
    if messages := [m for m in s.log if m.status == OK]:
        problem = f'a message although loggingOn is false: "{messages[0].text}"'
        yield Finding("logger", problem, "no debug messages", sentence="logging-off", cause="logging off")
    instance.free()


def _debug_logging_off(s: Session, steps: int) -> Iterator[Finding]:
    instance = s.new_instance()
    status = instance.call("fmi2SetDebugLogging", 0, 0, None)
    if status > WARNING:
        problem = f"it returns {STATUS[status]} to switch logging off"
        yield Finding("fmi2SetDebugLogging", problem, "fmi2OK", sentence="debug-logging")
    s.log.clear()
    plain_run(s, instance, steps)
    if messages := [m for m in s.log if m.status == OK]:
        problem = f'a message after fmi2SetDebugLogging(false): "{messages[0].text}"'
        yield Finding("logger", problem, "no debug messages", sentence="debug-logging", cause="debug logging off")
    instance.free()


def _debug_logging_on(s: Session, steps: int) -> Iterator[Finding]:
    """fmi2SetDebugLogging switches on what loggingOn has switched on in a run of the same length."""
    instance = s.instantiate(logging=False)
    if instance is None:
        return
    instance.call("fmi2SetDebugLogging", 1, 0, None)
    s.log.clear()
    plain_run(s, instance, steps, until_message=True)
    if not any(m.status == OK for m in s.log):
        problem = "no message after fmi2SetDebugLogging(true), although there is one with loggingOn"
        yield Finding("fmi2SetDebugLogging", problem, "messages", sentence="debug-logging")
    instance.free()


def categories(s: Session) -> Iterator[Finding]:
    """Each declared category can be switched on alone; then others stay silent, errors excepted."""
    reported = False
    for category in s.model.categories:
        instance = s.new_instance()
        instance.call("fmi2SetDebugLogging", 0, 0, None)
        status = instance.call("fmi2SetDebugLogging", 1, 1, binding.strings([category.encode()]))
        if status > WARNING:
            problem = f"{STATUS[status]} for the declared category {category!r}"
            yield Finding("fmi2SetDebugLogging", problem, "fmi2OK", sentence="debug-logging")
        s.log.clear()
        if category != "logAll" and not reported:
            plain_run(s, instance)
            if wrong := [m for m in s.log if m.category != category and m.status == OK]:
                problem = f"a message of category {wrong[0].category!r} although only {category!r} is switched on"
                yield Finding("logger", problem, f"messages of {category!r} only")
                reported = True
        instance.free()
        if s.time_used(0.8):
            s.not_judged("the time budget was used up before all log categories were tried")
            return


def error_logged(s: Session) -> Iterator[Finding]:
    """Co-Simulation: an error that the standard asks for, a step past the stop time, comes with a message. Whether it
    is returned is checked by D5."""
    instance = s.new_instance()
    h = s.model.step_size
    instance.stop_time = s.model.start_time + PAST_STEPS * h
    try:
        instance.enter_run_state()
        for _ in range(PAST_STEPS):
            instance.step(h)
    except (CallFailed, SimulationTerminated):
        return
    s.log.clear()
    if instance.try_step(h) == ERROR and not s.log:
        problem = "it returns fmi2Error without a message to the logger, past the stop time"
        yield Finding("fmi2DoStep", problem, "a message that says why", sentence="error-logged")
    instance.free()
