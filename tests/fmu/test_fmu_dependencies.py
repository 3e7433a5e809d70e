"""Declared dependencies, confirmed by perturbing the knowns of a running FMU: none missing, none superfluous."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.build import Build
from helpers.chains import general_parameters
from helpers.description import Description
from helpers.fmu_client import Host
from mechfmu import LinkChain

BASES = ("fixed", "moving")

# The base starts at rest, so the forces on it do no work there, whatever they depend on.
AT_REST = "der(energy.input)"


def general_start(base: str) -> dict[str, float]:
    """Every known away from the values at which it has no effect."""
    chain = LinkChain(links=3, base=base)
    random = np.random.default_rng(4)
    return general_parameters(chain, seed=4) | {s.name: float(random.uniform(1, 3)) for s in chain.table.of("input")}


@pytest.mark.parametrize("base", BASES)
def test_dependencies_of_the_outputs_on_the_inputs(fmu: Build, host: Host, base: str) -> None:
    file = fmu(links=3, base=base)
    description = Description(file)
    declared = description.unknowns("Outputs") | description.unknowns("Derivatives")
    inputs = [n for n, v in description.variables.items() if v.attrib["causality"] == "input"]
    start = general_start(base)
    slave = host.open(file).initialize(start)
    slave.step(0.05)
    unknowns = list(declared)
    before = np.array(slave.get(*unknowns))
    for name in inputs:
        slave.set({name: start[name] + 0.5})
        changed = {u for u, b, a in zip(unknowns, before, slave.get(*unknowns), strict=True) if a != b}
        slave.set({name: start[name]})
        listed = {u for u in unknowns if declared[u] is None or name in declared[u]}
        assert changed <= listed, name
        assert changed == listed, name
    assert np.array_equal(slave.get(*unknowns), before)


@pytest.mark.parametrize("base", BASES)
def test_initial_dependencies_on_parameters_and_inputs(fmu: Build, host: Host, base: str) -> None:
    file = fmu(links=3, base=base)
    description = Description(file)
    declared = description.unknowns("InitialUnknowns")
    knowns = [n for n, v in description.variables.items() if v.attrib["causality"] in ("parameter", "input")]
    start = general_start(base)
    slave = host.open(file).enter(start)
    unknowns = list(declared)
    before = np.array(slave.get(*unknowns))
    for name in knowns:
        value = slave[name]
        slave.set({name: value + 1e-3})
        changed = {u for u, b, a in zip(unknowns, before, slave.get(*unknowns), strict=True) if a != b}
        slave.set({name: value})
        undeclared = {u for u in changed if declared[u] is not None and name not in declared[u]}
        assert not undeclared, f"{name} changes {undeclared}"
        in_vain = {u for u in unknowns if declared[u] is not None and name in declared[u]} - changed - {AT_REST}
        assert not in_vain, f"{name} is declared for {in_vain} and changes nothing"
    assert np.array_equal(slave.get(*unknowns), before)
