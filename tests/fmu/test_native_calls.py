"""Every function of FMI 2.0 in every state of both interface types; messages and state of an instance after errors.

tests/c/call_table.c does the same in random order with bad arguments; here each pair is a test of its own.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p

import numpy as np
import pytest

from helpers.native_build import Native
from helpers.native_fmi import (
    ALL_FUNCTIONS,
    CO_SIMULATION,
    DISCARD,
    ERROR,
    FUNCTIONS,
    LOGGER,
    MODEL_EXCHANGE,
    OK,
    Callbacks,
    Component,
    EventInfo,
    Fmu,
    Refused,
    integers,
    reals,
    references,
)
from helpers.native_mechanisms import Driven
from mechfmu import LinkChain

pytest_plugins = ("helpers.native_fixtures",)


@pytest.fixture(scope="module")
def driven(native: Native) -> Fmu:
    """Has Real, Integer and Boolean variables, parameters, an input, states, an event."""
    return Fmu(Driven(), native.binary(Driven()))


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=2), native.binary(LinkChain(links=2)))


# --- the state tables -------------------------------------------------------------------------------------------------

STATES = {
    CO_SIMULATION: ("instantiated", "initialization", "step complete", "terminated"),
    MODEL_EXCHANGE: ("instantiated", "initialization", "event mode", "continuous time", "terminated"),
}
EVERYWHERE = "instantiated, initialization, step complete, event mode, continuous time, terminated"
READABLE = "initialization, step complete, event mode, continuous time, terminated"
BEFORE_THE_END = "instantiated, initialization, step complete, event mode, continuous time"

# FMI 2.0, state tables of Co-Simulation (4.2.4) and Model Exchange (3.2.3): where each function is allowed.
# CS, ME: in this interface type only.
ALLOWED = {
    "fmi2SetDebugLogging": EVERYWHERE,
    "fmi2SetupExperiment": "instantiated",
    "fmi2EnterInitializationMode": "instantiated",
    "fmi2ExitInitializationMode": "initialization",
    "fmi2Terminate": "step complete, event mode, continuous time",
    "fmi2Reset": EVERYWHERE,
    **{f"fmi2Get{kind}": READABLE for kind in ("Real", "Integer", "Boolean", "String")},
    "fmi2SetReal": BEFORE_THE_END,
    **{
        f"fmi2Set{kind}": "instantiated, initialization, step complete, event mode"
        for kind in ("Integer", "Boolean", "String")
    },
    **{
        f"fmi2{do}": EVERYWHERE
        for do in (
            "GetFMUstate",
            "SetFMUstate",
            "FreeFMUstate",
            "SerializedFMUstateSize",
            "SerializeFMUstate",
            "DeSerializeFMUstate",
        )
    },
    "fmi2GetDirectionalDerivative": READABLE,
    # Model Exchange
    "fmi2EnterEventMode": "ME: event mode, continuous time",
    "fmi2NewDiscreteStates": "ME: event mode",
    "fmi2EnterContinuousTimeMode": "ME: event mode",
    "fmi2CompletedIntegratorStep": "ME: continuous time",
    "fmi2SetTime": "ME: event mode, continuous time",
    "fmi2SetContinuousStates": "ME: event mode, continuous time",
    "fmi2GetEventIndicators": "ME: initialization, event mode, continuous time, terminated",
    "fmi2GetContinuousStates": "ME: initialization, event mode, continuous time, terminated",
    "fmi2GetDerivatives": "ME: event mode, continuous time, terminated",
    "fmi2GetNominalsOfContinuousStates": "ME: instantiated, event mode, continuous time, terminated",
    # Co-Simulation
    "fmi2SetRealInputDerivatives": "CS: instantiated, initialization, step complete",
    "fmi2GetRealOutputDerivatives": "CS: step complete, terminated",
    "fmi2DoStep": "CS: step complete",
    "fmi2CancelStep": "CS: ",
    **{
        f"fmi2Get{kind}Status": "CS: step complete, terminated" for kind in ("", "Real", "Integer", "Boolean", "String")
    },
}
MORE_GENEROUS = {("fmi2GetDerivatives", "initialization"), ("fmi2GetNominalsOfContinuousStates", "initialization")}
"""More than the standard allows: derivatives are initial unknowns, which fmi2GetReal must return in this state; nominal
values never change."""

LEADS_TO = {
    "fmi2EnterInitializationMode": "initialization",
    "fmi2Terminate": "terminated",
    "fmi2Reset": "instantiated",
    "fmi2EnterEventMode": "event mode",
    "fmi2EnterContinuousTimeMode": "continuous time",
}


def allowed(function: str, kind: int, state: str) -> bool:
    text = ALLOWED[function]
    if text.startswith("ME: " if kind == CO_SIMULATION else "CS: "):
        return False
    return state in text.removeprefix("ME: ").removeprefix("CS: ").split(", ")


def in_state(fmu: Fmu, kind: int, state: str) -> Component:
    instance = fmu.open(kind)
    if state == "instantiated":
        return instance
    instance.enter()
    if state == "initialization":
        instance.get(
            instance.fmu.mechanism.table.of("state")[0].name
        )  # makes the start state, which is otherwise left until it is needed
        return instance
    instance.do("fmi2ExitInitializationMode")
    if kind == CO_SIMULATION:
        instance.step(0.01)
    else:
        instance.do("fmi2NewDiscreteStates", byref(EventInfo()))
        if state == "continuous time":
            instance.do("fmi2EnterContinuousTimeMode")
    if state == "terminated":
        instance.do("fmi2Terminate")
    return instance


def good_arguments(instance: Component, function: str, state: str, saved: c_void_p) -> tuple:
    """Arguments that are right wherever the call is."""
    n = instance.fmu.mechanism.table.x.size
    refs = lambda *names: references(instance.refs(names))  # noqa: E731
    early = state in ("instantiated", "initialization")
    size = c_size_t()
    instance("fmi2SerializedFMUstateSize", saved, byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    instance("fmi2SerializeFMUstate", saved, buffer, size)
    known = "spring" if state == "initialization" else "position"
    return {
        "fmi2SetDebugLogging": (1, 0, None),
        "fmi2SetupExperiment": (1, 1e-6, 0.0, 0, 0.0),
        "fmi2GetReal": (refs("power"), 1, reals([0])),
        "fmi2GetInteger": (refs("gear"), 1, integers([0])),
        "fmi2GetBoolean": (refs("fast"), 1, integers([0])),
        "fmi2GetString": (None, 0, None),
        "fmi2SetReal": (refs("force"), 1, reals([0.5])),
        "fmi2SetInteger": (refs("gear"), 1, integers([1])) if early or state == "continuous time" else (None, 0, None),
        "fmi2SetBoolean": (refs("drive.on"), 1, integers([0]))
        if early or state == "continuous time"
        else (None, 0, None),
        "fmi2SetString": (None, 0, None),
        "fmi2GetFMUstate": (byref(saved),),
        "fmi2SetFMUstate": (saved,),
        "fmi2FreeFMUstate": (byref(c_void_p()),),
        "fmi2SerializedFMUstateSize": (saved, byref(size)),
        "fmi2SerializeFMUstate": (saved, buffer, size),
        "fmi2DeSerializeFMUstate": (buffer, size, byref(saved)),
        "fmi2GetDirectionalDerivative": (refs("power"), 1, refs(known), 1, reals([1.0]), reals([0.0])),
        "fmi2NewDiscreteStates": (byref(EventInfo()),),
        "fmi2CompletedIntegratorStep": (1, byref(c_int()), byref(c_int())),
        "fmi2SetTime": (0.02,),
        **{
            f: (reals([0.1] * n), n)
            for f in (
                "fmi2SetContinuousStates",
                "fmi2GetContinuousStates",
                "fmi2GetDerivatives",
                "fmi2GetNominalsOfContinuousStates",
            )
        },
        "fmi2GetEventIndicators": (reals([0.0]), 1),
        "fmi2SetRealInputDerivatives": (refs("force"), 1, integers([1]), reals([0.5])),
        "fmi2GetRealOutputDerivatives": (refs("power"), 1, integers([1]), reals([0.0])),
        "fmi2DoStep": (0.01, 0.01, 1),
        "fmi2GetStatus": (0, integers([0])),
        "fmi2GetRealStatus": (2, reals([0.0])),
        "fmi2GetIntegerStatus": (0, integers([0])),
        "fmi2GetBooleanStatus": (3, integers([0])),
        "fmi2GetStringStatus": (1, (c_char_p * 1)()),
    }.get(function, ())


NO_SUCH_STATUS = ("fmi2GetIntegerStatus", "fmi2GetStringStatus")  # allowed, but there is no such status
NOTHING_TO_SET = {("fmi2SetString", "continuous time")}  # with no elements it is a call without effect


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("kind", "state"),
    [(kind, state) for kind, states in STATES.items() for state in states],
    ids=lambda v: {0: "ME", 1: "CS"}.get(v, v),
)
def test_every_function_in_every_state(driven: Fmu, kind: int, state: str, function: str) -> None:
    """Allowed: it succeeds. Not allowed: fmi2Error with the reason; the instance is unchanged and remains usable."""
    instance = in_state(driven, kind, state)
    saved = c_void_p()
    instance.do("fmi2GetFMUstate", byref(saved))
    arguments, before = good_arguments(instance, function, state, saved), instance.bytes()
    status = instance(function, *arguments)
    said = instance.said
    if (allowed(function, kind, state) and function not in NO_SUCH_STATUS) or (
        (function, state) in MORE_GENEROUS | NOTHING_TO_SET and kind == MODEL_EXCHANGE
    ):
        assert status == OK, said
    else:
        assert status == (DISCARD if allowed(function, kind, state) else ERROR)
        assert said, "an error must have a message"
        assert instance.bytes() == before
        assert where(instance, kind) == state
        finish_run(instance, kind, state)
    if status == OK and function in LEADS_TO:
        assert where(instance, kind) == LEADS_TO[function]
    instance("fmi2FreeFMUstate", byref(saved))
    assert saved.value is None


def where(instance: Component, kind: int) -> str:
    """Return the state, from the calls that succeed."""
    copy = instance.fmu.open(kind)
    assert copy.restore(instance.bytes()) == OK
    if copy("fmi2EnterInitializationMode") == OK:
        return "instantiated"
    if copy("fmi2ExitInitializationMode") == OK:
        return "initialization"
    if kind == CO_SIMULATION:
        return "step complete" if copy("fmi2Terminate") == OK else "terminated"
    if copy("fmi2NewDiscreteStates", byref(EventInfo())) == OK:
        return "event mode"
    return "continuous time" if copy("fmi2Terminate") == OK else "terminated"


def finish_run(instance: Component, kind: int, state: str) -> None:
    """From any state to a finished run."""
    if state == "terminated":
        instance.do("fmi2Reset")
        state = "instantiated"
    if state == "instantiated":
        instance.do("fmi2SetupExperiment", 0, 0.0, 0.0, 0, 0.0)
        instance.do("fmi2EnterInitializationMode")
    if state in ("instantiated", "initialization"):
        instance.do("fmi2ExitInitializationMode")
    instance.t = instance.now()
    if kind == CO_SIMULATION:
        instance.step(0.01)
    elif state != "continuous time":
        instance.do("fmi2EnterContinuousTimeMode")
    if kind == MODEL_EXCHANGE:
        instance.set_states([0.3, 0.4])
        assert instance["position"] == 0.3
    instance.do("fmi2Terminate")


def test_the_table_is_complete() -> None:
    assert set(ALLOWED) == set(FUNCTIONS)
    assert len(ALL_FUNCTIONS) == 44


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_function_crashes_without_an_instance(driven: Fmu, function: str) -> None:
    zeros = [0 if a in (c_int, c_size_t) else 0.0 if a is ctypes.c_double else None for a in FUNCTIONS[function]]
    assert getattr(driven.library, function)(None, *zeros) == ERROR
    driven.library.fmi2FreeInstance(None)


# --- instances --------------------------------------------------------------------------------------------------------


def test_version_and_platform(driven: Fmu) -> None:
    assert driven.library.fmi2GetVersion() == b"2.0"
    assert driven.library.fmi2GetTypesPlatform() == b"default"


@pytest.mark.parametrize("guid", ("", "{00000000-0000-0000-0000-000000000000}", "another"))
@pytest.mark.parametrize("kind", (CO_SIMULATION, MODEL_EXCHANGE))
def test_a_wrong_guid_is_refused_with_a_message(driven: Fmu, kind: int, guid: str) -> None:
    with pytest.raises(Refused, match="the GUID is not that of this FMU"):
        driven.open(kind, guid=guid)


def test_the_guid_of_another_build_is_refused(driven: Fmu, chain: Fmu) -> None:
    assert driven.guid != chain.guid
    with pytest.raises(Refused, match="GUID"):
        driven.open(guid=chain.guid)


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    (("", CO_SIMULATION, "no name"), ("x", 7, "neither Co-Simulation nor Model Exchange"), ("x", -1, "neither")),
)
def test_bad_instances_are_refused_with_a_message(driven: Fmu, name: str, kind: int, text: str) -> None:
    with pytest.raises(Refused, match=text):
        driven.open(kind, name)


def test_the_instance_copies_its_name_and_its_callbacks(driven: Fmu) -> None:
    """The host may free both after the call."""
    said: list[tuple[int | None, bytes]] = []
    function = LOGGER(lambda environment, name, *rest: said.append((environment, name)))
    name = ctypes.create_string_buffer(b"the name")
    callbacks = Callbacks(logger=function, environment=4711)
    instance = driven.library.fmi2Instantiate(
        name, CO_SIMULATION, driven.guid.encode(), b"file:///somewhere", byref(callbacks), 0, 0
    )
    name.value = b"gone"
    ctypes.memset(byref(callbacks), 0, ctypes.sizeof(callbacks))
    assert driven.library.fmi2DoStep(instance, 0.0, 0.1, 1) == ERROR
    driven.library.fmi2FreeInstance(instance)
    assert said == [(4711, b"the name")]


def test_without_a_logger_there_is_no_instance_and_no_crash(driven: Fmu) -> None:
    assert not driven.library.fmi2Instantiate(b"x", CO_SIMULATION, driven.guid.encode(), None, byref(Callbacks()), 0, 0)
    assert not driven.library.fmi2Instantiate(b"x", CO_SIMULATION, driven.guid.encode(), None, None, 0, 0)


# --- messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ("100%s%n", "%", "%%", "%s" * 400, "x" * 470 + "%n%n%n%n%n%n"),
    ids=("short", "one", "two", "all", "at the end"),
)
def test_messages_are_formats_for_printf(driven: Fmu, name: str) -> None:
    """Loggers use the message as a format: a percent sign in a name must be doubled, or the host may crash."""
    instance = driven.open()
    assert instance("fmi2SetDebugLogging", 1, 1, (c_char_p * 1)(name.encode())) == ERROR
    assert "%" not in instance.said.replace("%%", ""), instance.said
    assert instance.said.replace("%%", "%")[:50] == f"there is no log category {name}"[:50]


def test_a_percent_sign_in_a_message_of_the_model(driven: Fmu) -> None:
    instance = driven.open().enter({"spring": 0.5})
    assert instance("fmi2ExitInitializationMode") == ERROR
    assert instance.said.replace("%%", "%") == Driven.requirement_texts[0]
    assert "%" in Driven.requirement_texts[0] and "%" not in instance.said.replace("%%", "")


def test_an_error_names_its_category(driven: Fmu) -> None:
    instance = driven.open(name="mine")
    instance("fmi2DoStep", 0.0, 0.1, 1)
    ((name, status, category, text),) = instance.log
    assert (name, status, category) == ("mine", ERROR, "logStatusError")
    assert text == "a step cannot be made: the instance is instantiated"


def test_a_discarded_step_names_its_category(chain: Fmu) -> None:
    instance = chain.open()
    instance.set_integer({"solver.method": 1})
    instance.initialize(
        {"joint[2].stiffness": 1e8, "link[2].inertia": 1e-6, "link[2].mass": 1e-3, "joint[2].angle_start": 0.1}
    )
    instance("fmi2DoStep", 0.0, 100.0, 1)
    ((_, status, category, text),) = instance.log
    assert (status, category) == (2, "logStatusDiscard")
    assert re.search(
        r"the step to t = 100 s stopped at t = \S+ s: 200000 evaluations of the equations were not enough", text
    )


@pytest.mark.parametrize(
    "names", ([], ["logAll"], ["logStatusError", "logStatusWarning"], ["logStatusDiscard", "logStatusFatal"])
)
def test_known_categories_are_accepted(driven: Fmu, names: list[str]) -> None:
    instance = driven.open()
    array = (c_char_p * max(1, len(names)))(*(n.encode() for n in names))
    for on in (0, 1):
        assert instance("fmi2SetDebugLogging", on, len(names), array) == OK


def test_an_unknown_category_is_refused(driven: Fmu) -> None:
    instance = driven.open()
    assert instance("fmi2SetDebugLogging", 1, 1, (c_char_p * 1)(b"nonsense")) == ERROR
    assert "nonsense" in instance.said


# --- states of FMUs ---------------------------------------------------------------------------------------------------


def test_a_state_belongs_to_its_interface_type(driven: Fmu) -> None:
    """A state of a Co-Simulation instance is an error in Model Exchange, and the instance remains usable."""
    stepped = driven.open(CO_SIMULATION).initialize()
    exchanged = driven.open(MODEL_EXCHANGE).continuous()
    before = exchanged.bytes()
    assert exchanged.restore(stepped.bytes()) == ERROR
    assert exchanged.bytes() == before
    exchanged.set_states([0.1, 0.2])


def test_a_state_of_another_fmu_is_refused(driven: Fmu, chain: Fmu) -> None:
    instance = driven.open().initialize()
    before = instance.bytes()
    assert instance.restore(chain.open().initialize().bytes()) == ERROR
    assert instance.bytes() == before


@pytest.mark.parametrize("change", ("shorter", "longer", "empty", "other header", "other guid"))
def test_bytes_that_are_not_a_state_are_refused(driven: Fmu, change: str) -> None:
    instance = driven.open().initialize()
    good = instance.bytes()
    bad = {
        "shorter": good[:-1],
        "longer": good + b"\0",
        "empty": b"",
        "other header": b"X" + good[1:],
        "other guid": good[:12] + b"X" + good[13:],
    }[change]
    assert instance.restore(bad) == ERROR
    assert "state" in instance.said
    assert instance.bytes() == good


def test_saving_into_an_existing_state_replaces_it(driven: Fmu) -> None:
    instance, saved = driven.open().initialize(), c_void_p()
    instance.do("fmi2GetFMUstate", byref(saved))
    place = saved.value
    instance.step(0.1)
    later = instance.bytes()
    instance.do("fmi2GetFMUstate", byref(saved))
    assert saved.value == place
    instance.step(0.1)
    instance.do("fmi2SetFMUstate", saved)
    assert instance.bytes() == later
    instance.do("fmi2FreeFMUstate", byref(saved))
    instance.do("fmi2FreeFMUstate", byref(saved))  # a second time it is NULL, which is allowed
    instance.do("fmi2FreeFMUstate", None)


def test_equal_instances_have_equal_bytes(driven: Fmu) -> None:
    """No padding, no pointers, nothing left over from other calls: a state can be compared and hashed."""
    a, b = driven.open(name="a").initialize(), driven.open(name="quite another name").initialize()
    b.get("power", "drive.force")
    b.directional(["power"], {"force": 1.0})
    for instance in (a, b):
        instance.step(0.1)
    assert a.bytes() == b.bytes()


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", (0.0, 3e-12, -3e-12, 9e-10))
def test_a_clock_that_is_off_by_rounding_is_accepted(chain: Fmu, off: float) -> None:
    instance = chain.open().initialize()
    instance.step(0.01)
    assert instance("fmi2DoStep", 0.01 + off, 0.01, 1) == OK
    assert instance.now() == 0.01 + off + 0.01


@pytest.mark.parametrize(
    ("t", "h"),
    (
        (0.02, 0.01),
        (-0.01, 0.01),
        (0.01, 0.0),
        (0.01, -0.01),
        (0.01, np.nan),
        (0.01, np.inf),
        (np.nan, 0.01),
        (np.inf, 0.01),
    ),
)
def test_a_step_from_another_time_or_without_size_is_refused(chain: Fmu, t: float, h: float) -> None:
    instance = chain.open().initialize()
    instance.step(0.01)
    before = instance.bytes()
    assert instance("fmi2DoStep", t, h, 1) == ERROR
    assert instance.bytes() == before
    instance.step(0.01)


@pytest.mark.parametrize("method", (1, 2, 3), ids=("explicit", "implicit", "automatic"))
@pytest.mark.parametrize("h", (1e-300, 1e-18, 1e-12))
def test_a_step_too_small_to_matter(chain: Fmu, method: int, h: float) -> None:
    """Greater than zero, so it must succeed, even where the clock cannot show it."""
    instance = chain.open()
    instance.set_integer({"solver.method": method})
    instance.initialize()
    instance.step(0.5)
    before = instance.get("joint[1].angle", "joint[2].rate")
    instance.do("fmi2DoStep", 0.5, h, 1)
    assert instance.get("joint[1].angle", "joint[2].rate") == pytest.approx(before, abs=1e-9)
