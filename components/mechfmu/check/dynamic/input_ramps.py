"""D15: fmi2SetRealInputDerivatives. A step with the derivative of an input is compared with one in which the input is
constant, and with short steps in which the input follows the same line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..findings import Finding
from . import binding
from .binding import WARNING
from .instance import STEP_COMPLETE, CallFailed, FmuInstance, NotJudged, SimulationTerminated, status_name
from .model import ModelVariable, Value
from .probes import input_values
from .session import Session

BUDGET = 0.9  # fraction of the rule's time
PLACES = (0.1, 0.5)  # of the experiment, as fractions
MAX_STEPS = 60  # before a place
SHORT_STEPS = 20  # in place of one step
SHORTER_STEPS = 200  # that must confirm it before a finding: of many signals, some only seem to converge
CLEAR = 1e-6  # relative effect of a ramp that is more than an error of the solver
NO_EFFECT = 1e-3  # effect of the derivative that is none, relative to that of short steps
# the effect of the derivative relative to that of short steps; internal solvers with few steps are inaccurate
LEAST, MOST, MOST_AT_ONCE = -0.2, 3.0, 1.4
CONVERGED = 0.1  # difference between short steps and twice as long ones, relative to their effect
SEEN_IN_JUMP = 0.1  # effect of a jump of the input, relative to that of short steps
AT_ONCE = (1e-2, 1e-3)  # lengths of steps: an output that changes as much in both depends on the input directly


class RampFailed(Exception):
    """fmi2SetRealInputDerivatives did not succeed."""


class Invisible(Exception):
    """An input has no effect that could be seen."""


def input_derivatives(s: Session) -> Iterator[Finding]:
    """Each continuous Real input alone, then all together."""
    inputs = [v for v in s.model.of("input", types=("Real",)) if v.variability == "continuous"]
    references = {v.reference for v in inputs}
    reals = [v for v in s.model.everything if v.type == "Real" and v.variability == "continuous"]
    signals = [v for v in reals if v.causality not in ("input", "independent") and v.reference not in references]
    if not inputs or not signals:
        return
    count = len(s.steps(10**9))
    runs = [Ramps(s, signals, steps) for steps in dict.fromkeys(min(MAX_STEPS, int(f * count)) for f in PLACES)]
    try:
        for n, u in enumerate(inputs):
            if s.time_used(BUDGET):
                s.not_judged(f"derivatives of {len(inputs) - n} of {len(inputs)} inputs (time budget)")
                return
            for run in runs:
                findings = _guarded(s, u.name, run.examine(u))
                if findings is not None:
                    yield from findings
                    break
        if len(inputs) > 1:
            yield from _guarded(s, "several inputs", runs[0].together(inputs)) or ()
    except RampFailed as error:
        yield Finding("fmi2SetRealInputDerivatives", str(error), "fmi2OK", sentence="input-derivatives")


def _guarded(s: Session, what: str, findings: Iterator[Finding]) -> list[Finding] | None:
    """The findings; None if the input has no effect at this place that could be seen."""
    try:
        return list(findings)
    except Invisible:
        return None
    except (CallFailed, SimulationTerminated) as error:
        s.not_judged(f'derivatives of "{what}" ({str(error) or "the FMU ended the simulation"})')
    except NotJudged as error:
        s.not_judged(f'derivatives of "{what}" ({error})')
    return []


class Ramps:
    """Steps from one place with different inputs."""

    def __init__(self, s: Session, signals: Sequence[ModelVariable], steps: int):
        self.s, self.signals, self.steps = s, signals, steps
        self.inputs: dict[ModelVariable, Value] = input_values(s, 1, 0.3)
        self.h = s.model.step_size
        self.variable = s.model.flag(s.kind, "canHandleVariableCommunicationStepSize")
        self._constant: list[float] | None = None
        self._short: list[float] | None = None

    def here(self, u: ModelVariable) -> float:
        return float(self.inputs.get(u, u.start or 0.0))

    def examine(self, u: ModelVariable) -> Iterator[Finding]:
        """One input. Raises Invisible if it has no effect here that could be seen."""
        rise = _rise(u, self.here(u))
        constant = self.constant()
        short = self._short_constant(u) if self.variable else constant
        follow = self._follow(u, rise, SHORT_STEPS) if self.variable else self._step({u: rise}, {})
        coarse = self._follow(u, rise, SHORT_STEPS // 2) if self.variable else follow
        jump = self._step({u: rise}, {}) if self.variable else follow
        rows = [constant, self._step({}, {u: rise / self.h}), self._step({}, {u: 0.0}), short, follow, coarse, jump]
        effects = [
            _Effect(v, a, b - a, z - a, c - a0)
            for v, a, b, z, a0, c, c0, j in zip(self.signals, *rows, strict=True)
            if math.isfinite(a + b + c + z)
            and max(abs(c - c0), abs(a - a0)) <= CONVERGED * abs(c - a0)
            and abs(j - a) > SEEN_IN_JUMP * abs(c - a0)  # otherwise it is an effect of the short steps alone
        ]
        clear = [e for e in effects if abs(e.follow) > CLEAR * max(abs(e.value), 1e-3 * e.v.scale)]
        if not clear:
            raise Invisible
        yield from self._judge(u, clear, rise)

    def constant(self) -> list[float]:
        """Without derivatives. Raises NotJudged if a repetition differs."""
        if self._constant is None:
            first, self._constant = self._step({}, {}), self._step({}, {})
            if first != self._constant:
                raise NotJudged("two equal simulations differ")
        return self._constant

    def _short_constant(self, u: ModelVariable) -> list[float]:
        """Constant inputs in short steps, which shows what short steps alone change."""
        if self._short is None:
            self._short = self._follow(u, 0.0, SHORT_STEPS)
        return self._short

    def together(self, inputs: Sequence[ModelVariable]) -> Iterator[Finding]:
        """The derivatives of all inputs, set in one call and in one call for each."""
        slopes = {u: _rise(u, self.here(u)) / self.h for u in inputs}
        constant, single = self.constant(), self._step({}, slopes)
        backwards = dict(reversed(slopes.items()))
        several = self._step({}, backwards, at_once=True)
        for v, a, b, c in zip(self.signals, constant, single, several, strict=True):
            if abs(b - a) > CLEAR * max(abs(a), 1e-3 * v.scale) and not abs(c - b) <= 1e-3 * abs(b - a):
                problem = f"derivatives of {len(inputs)} inputs change it by {c - a:.6g}, if they are set in one call"
                yield v.finding(problem, f"{b - a:.6g}, as with one call for each", sentence="set-input-derivatives")
                return

    def _judge(self, u: ModelVariable, effects: Sequence[_Effect], rise: float) -> Iterator[Finding]:
        if all(abs(e.ramp) <= NO_EFFECT * abs(e.follow) for e in effects):
            problem = f"its derivative has no effect on the {len(effects)} variables that it influences within a step"
            yield u.finding(problem, "an effect, as canInterpolateInputs is true", sentence="input-derivatives")
            return
        for e in effects:
            if abs(e.zero) > 0.1 * abs(e.follow):
                problem = f'"{e.v.name}" changes by {e.zero:.6g} if the derivative of "{u.name}" is set to 0'
                yield u.finding(problem, "no change, as the input is constant", sentence="set-input-derivatives")
                return
        suspects = [e for e in effects if self.variable and not LEAST <= e.ramp / e.follow <= MOST_AT_ONCE]
        direct = self._direct(u, rise) if suspects else set()
        for e in self._confirmed(u, rise, suspects):
            if not LEAST <= e.ramp / e.follow <= (MOST_AT_ONCE if e.v in direct else MOST):
                problem = f'its derivative changes "{e.v.name}" by {e.ramp:.6g} within a step'
                expected = f"about {e.follow:.6g}, as with short steps in which the input follows the same line"
                yield u.finding(problem, expected, sentence="set-input-derivatives")
                return

    def _confirmed(self, u: ModelVariable, rise: float, suspects: Sequence[_Effect]) -> list[_Effect]:
        """Those that have the same effect with still shorter steps."""
        if not suspects:
            return []
        shortest = dict(zip(self.signals, self._follow(u, rise, SHORTER_STEPS), strict=True))
        still = dict(zip(self.signals, self._follow(u, 0.0, SHORTER_STEPS), strict=True))
        return [e for e in suspects if abs(shortest[e.v] - still[e.v] - e.follow) <= CONVERGED * abs(e.follow)]

    # --- runs -----------------------------------------------------------------------------------------------------

    def _start(self) -> FmuInstance:
        instance = self.s.new_instance().go_to(STEP_COMPLETE)
        for _ in range(self.steps):
            instance.set(self.inputs)
            instance.step(self.h)
        return instance

    def _end(self, instance: FmuInstance) -> list[float]:
        found = instance.numbers(self.signals)
        instance.free()
        return found

    def _step(
        self,
        jumps: dict[ModelVariable, float],
        slopes: dict[ModelVariable, float],
        at_once: bool = False,
        length: float = 1.0,
    ) -> list[float]:
        """The signals after a step in which inputs are shifted and have derivatives."""
        instance = self._start()
        instance.set({**self.inputs, **{u: self.here(u) + jump for u, jump in jumps.items()}})
        for group in [slopes] if at_once else [{u: slope} for u, slope in slopes.items()]:
            _set_slopes(instance, group)
        instance.step(self.h * length)
        return self._end(instance)

    def _follow(self, u: ModelVariable, rise: float, count: int) -> list[float]:
        """The signals after short steps, in the middle of each of which the input is on the line."""
        instance = self._start()
        for i in range(count):
            instance.set({**self.inputs, u: self.here(u) + rise * (i + 0.5) / count})
            instance.step(self.h / count)
        return self._end(instance)

    def _direct(self, u: ModelVariable, rise: float) -> set[ModelVariable]:
        """The signals that follow a jump of the input within a very short step, however short it is."""
        effects = []
        for length in AT_ONCE:
            rows = [self._step({u: jump}, {}, length=length) for jump in (0.0, rise)]
            effects.append([b - a for a, b in zip(*rows, strict=True)])
        return {v for v, a, b in zip(self.signals, *effects, strict=True) if abs(b) > 0.8 * abs(a) > 0}


@dataclass(frozen=True)
class _Effect:
    """What a signal does more than with a constant input: with the derivative, with the derivative 0, and with short
    steps."""

    v: ModelVariable
    value: float
    ramp: float
    zero: float
    follow: float


def _rise(u: ModelVariable, value: float) -> float:
    """The change of the input within a step, to a legal value."""
    size = 0.5 * max(u.scale, abs(value))
    for rise in (size, -size, 0.1 * size, -0.1 * size):
        if u.inside(value + rise):
            return rise
    return 1e-3 * size


def _set_slopes(instance: FmuInstance, slopes: dict[ModelVariable, float]) -> None:
    references, n = binding.references([u.reference for u in slopes]), len(slopes)
    values = binding.reals(list(slopes.values()))
    status = instance.call("fmi2SetRealInputDerivatives", references, n, binding.integers([1] * n), values)
    if status > WARNING:
        names = ", ".join(f'"{u.name}"' for u in list(slopes)[:3])
        raise RampFailed(f"it returned {status_name(status)} for {names}{instance.session.reason()}")
