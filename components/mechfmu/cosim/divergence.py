"""Signs that a communication step is too long: a coupling of FMUs whose inputs are held can diverge or oscillate though the whole would not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

import numpy as np

from .system import Port

PROBED_FIRST = 50  # steps are all made in two halves, too,
PROBED = 10  # then every tenth
COARSE = 0.3  # differences of all steps, relative to the range of a signal, that are worth a warning: most are forgotten on the way
DIVERGED = 0.3  # relative difference beyond which a result means nothing
IN_A_ROW = 3  # probes that must agree: a single jump, of a reference say, means nothing
FINE = 0.1  # the same for a step that is proposed
WINDOW = 12  # changes of a signal from step to step that are looked at together,
JUMPS = 4  # and of which at least so many are jumps when the steps do not resolve it:
JUMP = 0.4  # of its range in the window
NOTICEABLE = 1e-3  # of a signal's size: smaller changes do not matter
FIRST = 2  # changes that tell how fast a signal is at the start
GROWTH = 30.0  # by which changes have grown when the coupling diverges
GROWING, FASTER = 8, 1.5  # so many changes in a row, each so many times the one before: no step resolves that
SHORTER = 10.0  # times: the step that is proposed where nothing better is known


class StepTooLong(Exception):
    """The coupling diverges; `step` is one that might do."""

    def __init__(self, text: str, t: float, step: float):
        super().__init__(text)
        self.t, self.step = t, step


def rounded_down(step: float) -> float:
    """To one digit: 1, 2 or 5."""
    power = 10.0 ** floor(log10(step * (1 + 1e-6)))
    return next(digit * power for digit in (5, 2, 1) if digit * power <= step * (1 + 1e-6))


class Probes:
    """Steps made once whole and once in two halves: how far they are apart tells how much of a run is the step's doing."""

    def __init__(self, signals: Sequence[Port]):
        self.signals = signals
        self._apart = np.zeros(len(signals))  # summed over the steps, probed or not
        self._low, self._high = np.full(len(signals), np.inf), np.full(len(signals), -np.inf)
        self._diverged = 0
        self._step = 0.0

    def compare(self, number: int, t: float, h: float, whole: np.ndarray, halves: np.ndarray) -> None:
        """The signals after step `number`."""
        apart = np.abs(whole - halves)
        off = np.where(np.isfinite(apart), apart / (1.0 + np.minimum(np.abs(whole), np.abs(halves))), np.inf)
        k = int(np.argmax(off))
        if number % PROBED == 0:
            self._diverged = self._diverged + 1 if off[k] > DIVERGED else 0
        if self._diverged >= IN_A_ROW:
            raise StepTooLong(
                f"at t = {t:g} s {self.signals[k]} is {whole[k]:.3g} after a whole step and {halves[k]:.3g} after two halves",
                t,
                h,
            )
        self._apart += apart * (1 if number < PROBED_FIRST else PROBED)
        self._low, self._high = np.minimum(self._low, halves), np.maximum(self._high, halves)
        self._step = max(self._step, h)

    def complaints(self) -> Iterator[str]:
        share = (
            self._apart / np.maximum(self._high - self._low, 1e-9 * (1.0 + np.abs(self._high)))
            if np.isfinite(self._high).all()
            else np.zeros(0)
        )
        if share.size and share.max() > COARSE:
            k, h = int(np.argmax(share)), self._step
            better = rounded_down(h * FINE / float(share[k]))
            told = f"halving them changes {self.signals[k]} by {min(share[k], 1.0):.0%} of its range, summed up"
            yield f"steps of {h:g} s are long for this coupling: {told}; {better:g} s would do (--step {better:g})"


class Jumps:
    """Signals that jump from step to step, which is the step's doing, not the system's."""

    def __init__(self, signals: Sequence[Port]):
        self.signals = signals
        self._rows: list[np.ndarray] = []  # the last WINDOW + 1 values
        self._usual = np.zeros(
            len(signals)
        )  # change from step to step while a signal is smooth, and in the first steps
        self._steps = 0
        self._told = ""

    def look(self, t: float, h: float, bus: np.ndarray) -> None:
        self._steps += 1
        self._rows = [*self._rows[-WINDOW:], bus.copy()]
        if len(self._rows) <= FIRST:
            return
        changes = np.diff(np.array(self._rows), axis=0)
        if len(changes) > GROWING:
            last = np.abs(changes[-GROWING - 1 :])
            grows = np.all(last[1:] > FASTER * last[:-1], axis=0) & (
                last[-1] > NOTICEABLE * (1.0 + np.abs(self._rows[0]))
            )
            for k in np.flatnonzero(grows).tolist():
                raise StepTooLong(
                    f"{self.signals[k]} changes more and more from step to step, by {last[-1, k]:.3g} at t = {t:g} s",
                    t,
                    rounded_down(h / SHORTER),
                )
        largest = np.max(np.abs(changes), axis=0)
        if self._steps <= FIRST + 1:
            self._usual = largest
        if len(changes) < WINDOW:
            return
        size = np.abs(changes)
        jumps = np.sum(size > JUMP * np.ptp(self._rows, axis=0), axis=0)
        rough = (jumps >= JUMPS) & (largest > NOTICEABLE * (1.0 + np.max(np.abs(self._rows), axis=0)))
        self._usual = np.where(rough, self._usual, np.maximum(self._usual, np.median(size, axis=0)))
        for k in np.flatnonzero(rough).tolist():
            text = f"{self.signals[k]} jumps from step to step, by {largest[k]:.3g} at t = {t:g} s"
            step = rounded_down(h / SHORTER)
            if largest[k] > GROWTH * self._usual[k]:
                raise StepTooLong(text, t, step)
            self._told = (
                self._told
                or f"{text}: steps of {h:g} s may be too long for this coupling; try {step:g} s (--step {step:g})"
            )

    def complaints(self) -> Iterator[str]:
        if self._told:
            yield self._told
