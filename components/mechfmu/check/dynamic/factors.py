"""D9: factors of knowns that dependenciesKind declares to be constant, fixed, tunable or discrete."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..findings import Finding
from .instance import CONTINUOUS_TIME
from .model import Model, ModelVariable, UnknownDependencies
from .probes import Bench, changes

LASTING = ("constant", "fixed")  # the factor is the same at all points of a simulation
ACCURACY = 1e-4  # relative; equations that are solved iteratively are not more accurate
ROUNDING = 1e-10  # of an unknown, relative

Unknown = tuple[str, UnknownDependencies, ModelVariable]  # element, dependencies, variable
Factor = tuple[float, float, str]  # value, uncertainty, place


class FactorCheck:
    """Compares the factors of all points."""

    def __init__(self, model: Model):
        self._model = model
        self._seen: dict[tuple[str, int, int], Factor] = {}
        self._reported: set[tuple[str, int, int]] = set()

    def examine(self, bench: Bench, unknowns: Sequence[Unknown], noise: dict[int, float]) -> Iterator[Finding]:
        """Measure the factors at one point with several changes of each known."""
        by_known: dict[int, list[tuple[Unknown, str]]] = {}
        for unknown in unknowns:
            for index, kind in _kinds(unknown):
                by_known.setdefault(index, []).append((unknown, kind))
        for known in bench.knowns:
            if known.type == "Real" and known.index in by_known:
                yield from self._examine(bench, known, by_known[known.index], noise)

    def _examine(
        self, bench: Bench, known: ModelVariable, declared: list[tuple[Unknown, str]], noise: dict[int, float]
    ) -> Iterator[Finding]:
        if bench.mode != CONTINUOUS_TIME:  # in other modes the factor of an event may change with the known
            declared = [(u, kind) for u, kind in declared if kind in LASTING]
        variables = [v for (_, _, v), _ in declared]
        here = float(bench.base[known.index])
        rows: list[tuple[float, list[float]]] = []
        before = bench.read(variables) if variables else []
        for value in changes(known, here, cautious=bench.is_state(known))[:4] if variables else []:
            after = bench.values_with({known: value}, variables)
            if after is not None:
                rows.append((float(value) - here, after))
        again = bench.read(variables) if variables else []
        for i, ((element, d, v), kind) in enumerate(declared):
            unsteady = max(noise.get(v.index, 0.0), abs(again[i] - before[i]))
            factors = [_factor(before[i], row[i], h, unsteady, bench.place) for h, row in rows]
            yield from self._compare(element, d, v, known, kind, factors)

    def _compare(
        self,
        element: str,
        d: UnknownDependencies,
        v: ModelVariable,
        known: ModelVariable,
        kind: str,
        factors: Sequence[Factor],
    ) -> Iterator[Finding]:
        pair = (element, d.index, known.index)
        usable = [f for f in factors if math.isfinite(f[0]) and math.isfinite(f[1])]
        if not usable or pair in self._reported:
            return
        best = min(usable, key=lambda f: f[1])
        reference = self._seen.get(pair, best) if kind in LASTING else best
        for value, uncertainty, place in (*usable, reference):
            limit = uncertainty + best[1] + ACCURACY * max(abs(value), abs(best[0]))
            if abs(value - best[0]) > limit:
                self._reported.add(pair)
                problem = (
                    f'its factor of "{known.name}" is {value:.6g} ({place}) and {best[0]:.6g} ({best[2]}), but it '
                    f"declares it as {kind}"
                )
                expected = f"a {kind} factor, or dependenciesKind = dependent"
                sentence = f"kind-{kind}"
                yield Finding(f"{v.where} in {element}", problem, expected, sentence=sentence, line=d.line)
                return
        if reference[1] >= best[1]:
            self._seen[pair] = best


def _kinds(unknown: Unknown) -> Iterator[tuple[int, str]]:
    """The knowns of a Real unknown with a factor."""
    _, d, v = unknown
    if v.type == "Real" and d.on is not None and d.kinds is not None and len(d.on) == len(d.kinds):
        yield from ((i, kind) for i, kind in zip(d.on, d.kinds, strict=True) if kind in FACTORS)


FACTORS = (*LASTING, "tunable", "discrete")


def _factor(before: float, after: float, h: float, noise: float, place: str) -> Factor:
    uncertainty = (50.0 * noise + ROUNDING * max(abs(before), abs(after))) / abs(h)
    return (after - before) / h, uncertainty, place
