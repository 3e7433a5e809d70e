"""NumPy code is recorded without changes, or is an error: code that would leave NaN behind is not accepted."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from helpers.tolerances import SAME_NUMBER
from mechfmu import LinkChain
from mechfmu.codegen.recording import numpy_mode, recording_of
from mechfmu.model import Mechanism, ModelError
from mechfmu.model.variables import Row
from mechfmu.simulation.engines import engine


class Small(Mechanism):
    """x' = f(x), with f to be written well or badly."""

    key = "small"
    title = "A mechanism with one state"

    def rows(self) -> tuple[Row, ...]:
        return (Row("s", "s", "state", "the state", "m"), Row("y", "y", "output", "the output", "m"))

    def initial(self, p: Any) -> tuple[Any, Any]:
        return self.table.x.pack(s=0.3), np.zeros(0)

    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        return np.stack([np.sin(x[0])])

    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        return np.stack([x[0] ** 2])


class AssignsIntoAnArray(Small):
    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        a = np.zeros(1)
        a[0] = x[0]
        return a


class UsesMath(Small):
    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        return np.stack([math.sin(x[0]) + x[0]])


class Decides(Small):
    def rates(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        return np.stack([-x[0] if x[0] > 1 else x[0]])


class HasNaN(Small):
    def outputs(self, t: Any, x: Any, d: Any, u: Any, p: Any) -> Any:
        return np.stack([x[0] * math.nan])


@pytest.fixture(autouse=True)
def restored_numpy_mode():
    before = casadi.GlobalOptions.getNumpyMode()
    yield
    casadi.GlobalOptions.setNumpyMode(before)


def test_good_code_is_recorded() -> None:
    found = engine("casadi", Small()).rates(
        0.0, np.array([0.3]), np.zeros(0), np.zeros(0), Small().table.defaults("parameter")
    )
    assert found == pytest.approx([math.sin(0.3)], rel=SAME_NUMBER)


@pytest.mark.parametrize(
    ("bad", "line"),
    (
        (AssignsIntoAnArray, r"a\[0\] = x\[0\]"),
        (UsesMath, r"math\.sin\(x"),
        (HasNaN, r"def outputs"),
        (Decides, r"if x\[0\] > 1"),
    ),
)
def test_code_that_would_leave_nan_behind_is_an_error_that_names_its_line(bad: type[Small], line: str) -> None:
    with pytest.raises(ModelError, match=r"test_recording\.py:\d+: ") as error:
        engine("casadi", bad())
    number = int(str(error.value).split(":")[1])
    assert re.search(line, Path(__file__).read_text(encoding="utf-8").splitlines()[number - 1])


@pytest.mark.parametrize("before", (0, 1))
@pytest.mark.parametrize("mechanism", (Small, UsesMath))
def test_numpy_mode_is_put_back(before: int, mechanism: type[Small]) -> None:
    """The switch is process-wide and the host may use CasADi itself; also after an error."""
    casadi.GlobalOptions.setNumpyMode(before)
    never_recorded = type("Fresh", (mechanism,), {})
    try:
        engine("casadi", never_recorded())
    except ModelError:
        assert mechanism is UsesMath
    assert casadi.GlobalOptions.getNumpyMode() == before


def test_numpy_mode_is_put_back_after_any_error() -> None:
    casadi.GlobalOptions.setNumpyMode(0)
    with pytest.raises(KeyError), numpy_mode():
        assert casadi.GlobalOptions.getNumpyMode() == 1
        raise KeyError
    assert casadi.GlobalOptions.getNumpyMode() == 0


def test_equal_mechanisms_share_their_recording() -> None:
    assert recording_of(LinkChain(links=3)) is recording_of(LinkChain(links=3))
    assert recording_of(LinkChain(links=3)) is not recording_of(LinkChain(links=3, base="moving"))


def test_two_engines_of_one_mechanism_do_not_share_buffers() -> None:
    """Two FMU instances of one model run side by side on the same recording."""
    chain = LinkChain(links=2)
    t, x, d, u, p = chain.start()
    one, two = engine("casadi", chain), engine("casadi", chain)
    first = one.rates(t, x, d, u, p)
    kept = first.copy()
    two.rates(t, x + 1.0, d, u, p)
    one.rates(t, x + 2.0, d, u, p)
    assert np.array_equal(first, kept)
    assert np.array_equal(one.rates(t, x, d, u, p), kept)
