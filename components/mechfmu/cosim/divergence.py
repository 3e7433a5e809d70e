"""Detection of a communication step that is too long.

A coupling of FMUs whose inputs are held over a step can diverge or oscillate although the coupled system would not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

import numpy as np

from .connections import Port

COMPARED_AT_START = 50  # the first steps are all compared with two halves,
COMPARED_EVERY = 10  # then every tenth
COARSE = 0.3  # sum of the differences, relative to the range of a signal, worth a warning: most of it fades out
FINE = 0.1  # the same for a step that is proposed
DIVERGED = 0.3  # relative difference above which a result is meaningless,
DIVERGED_IN_A_ROW = 3  # in so many comparisons: a single jump, of a reference say, is not divergence
WINDOW = 12  # changes of a signal from step to step that are considered together
JUMP = 0.4  # of the range in the window: a change above it is a jump,
JUMPS = 4  # and with so many jumps in the window the steps do not resolve the signal
NOTICEABLE = 1e-3  # of a signal's size: smaller changes do not matter
FIRST = 2  # changes that show how fast a signal is at the start
DIVERGED_GROWTH = 30.0  # by which changes have grown when the coupling diverges
GROWING, GROWTH = 8, 1.5  # so many changes in a row, each so many times the one before: no step resolves that
SHORTER = 10.0  # times: the step that is proposed where nothing better is known


class StepTooLong(Exception):
    """The coupling diverges; `step` is one that might be short enough."""

    def __init__(self, text: str, t: float, step: float):
        super().__init__(text)
        self.t, self.step = t, step


def rounded_down(step: float) -> float:
    """To one digit: 1, 2 or 5."""
    power = 10.0 ** floor(log10(step * (1 + 1e-6)))
    return next(digit * power for digit in (5, 2, 1) if digit * power <= step * (1 + 1e-6))


def compared(number: int) -> bool:
    """Whether step `number` is compared with two halves."""
    return number < COMPARED_AT_START or number % COMPARED_EVERY == 0


class HalfStepComparison:
    """The differences of steps made once as a whole and once in two halves: the error of the step."""

    def __init__(self, signals: Sequence[Port]):
        self.signals = signals
        self._differences = np.zeros(len(signals))  # summed over the steps, compared or not
        self._low, self._high = np.full(len(signals), np.inf), np.full(len(signals), -np.inf)
        self._diverged = 0
        self._step = 0.0

    def add(self, number: int, t: float, h: float, whole: np.ndarray, halves: np.ndarray) -> None:
        """The signals after step `number`."""
        difference = np.abs(whole - halves)
        size = 1.0 + np.minimum(np.abs(whole), np.abs(halves))
        relative = np.where(np.isfinite(difference), difference / size, np.inf)
        k = int(np.argmax(relative))
        if number % COMPARED_EVERY == 0:
            self._diverged = self._diverged + 1 if relative[k] > DIVERGED else 0
        if self._diverged >= DIVERGED_IN_A_ROW:
            values = f"{whole[k]:.3g} after a whole step and {halves[k]:.3g} after two halves"
            raise StepTooLong(f"at t = {t:g} s {self.signals[k]} is {values}", t, h)
        self._differences += difference * (1 if number < COMPARED_AT_START else COMPARED_EVERY)
        self._low, self._high = np.minimum(self._low, halves), np.maximum(self._high, halves)
        self._step = max(self._step, h)

    def warnings(self) -> Iterator[str]:
        if not np.isfinite(self._high).all():
            return
        share = self._differences / np.maximum(self._high - self._low, 1e-9 * (1.0 + np.abs(self._high)))
        if share.size and share.max() > COARSE:
            k, h = int(np.argmax(share)), self._step
            better = rounded_down(h * FINE / float(share[k]))
            change = f"halving them changes {self.signals[k]} by {min(share[k], 1.0):.0%} of its range in total"
            yield f"steps of {h:g} s are long for this coupling: {change}; {better:g} s is better (--step {better:g})"


class JumpDetector:
    """Signals that jump from step to step because of the step, not of the system."""

    def __init__(self, signals: Sequence[Port]):
        self.signals = signals
        self._rows: list[np.ndarray] = []  # the last WINDOW + 1 values
        self._usual = np.zeros(len(signals))  # change from step to step at the start and while a signal is smooth
        self._steps = 0
        self._warning = ""

    def add(self, t: float, h: float, bus: np.ndarray) -> None:
        """The signals after a step."""
        self._steps += 1
        self._rows = [*self._rows[-WINDOW:], bus.copy()]
        if len(self._rows) <= FIRST:
            return
        changes = np.abs(np.diff(np.array(self._rows), axis=0))
        self._check_growth(t, h, changes)
        largest = np.max(changes, axis=0)
        if self._steps <= FIRST + 1:
            self._usual = largest
        if len(changes) == WINDOW:
            self._check_jumps(t, h, changes, largest)

    def _check_growth(self, t: float, h: float, changes: np.ndarray) -> None:
        if len(changes) <= GROWING:
            return
        last = changes[-GROWING - 1 :]
        noticeable = last[-1] > NOTICEABLE * (1.0 + np.abs(self._rows[0]))
        for k in np.flatnonzero(np.all(last[1:] > GROWTH * last[:-1], axis=0) & noticeable).tolist():
            text = f"{self.signals[k]} changes more and more from step to step, by {last[-1, k]:.3g} at t = {t:g} s"
            raise StepTooLong(text, t, rounded_down(h / SHORTER))

    def _check_jumps(self, t: float, h: float, changes: np.ndarray, largest: np.ndarray) -> None:
        jumps = np.sum(changes > JUMP * np.ptp(self._rows, axis=0), axis=0)
        rough = (jumps >= JUMPS) & (largest > NOTICEABLE * (1.0 + np.max(np.abs(self._rows), axis=0)))
        self._usual = np.where(rough, self._usual, np.maximum(self._usual, np.median(changes, axis=0)))
        for k in np.flatnonzero(rough).tolist():
            text = f"{self.signals[k]} jumps from step to step, by {largest[k]:.3g} at t = {t:g} s"
            step = rounded_down(h / SHORTER)
            if largest[k] > DIVERGED_GROWTH * self._usual[k]:
                raise StepTooLong(text, t, step)
            advice = f"steps of {h:g} s may be too long for this coupling; try {step:g} s (--step {step:g})"
            self._warning = self._warning or f"{text}: {advice}"

    def warnings(self) -> Iterator[str]:
        if self._warning:
            yield self._warning
