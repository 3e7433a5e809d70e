"""`mechfmu list`: the mechanisms and their options, or the variables of one mechanism or FMU."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import mechanisms
from ...console import Styled, TextTable
from ...model import Mechanism, UserError
from ...model.extras import EXTRAS, install, missing_extras
from ..arguments import read_pairs
from ..mechanism_argument import (
    OPTIONS_OF_AN_FMU,
    FileOptions,
    add_file_options,
    add_mechanism,
    add_mechanism_options,
    load_mechanism,
)
from ..terminal import MAX_TABLE_ROWS, OUT, count, print_columns, shorten
from ..tree_lines import tree_lines
from ..variable_list import VariableLine, variable_lines, wrap_behind
from . import Commands

if TYPE_CHECKING:
    from ...mechanisms.tree.base import TreeMechanism

DEFAULT_WIDTH = 80  # columns of a tree in a pipe
REAL_TYPES = ("Real", "Float64", "Float32")


def add_parser(commands: Commands) -> None:
    c = commands.add_parser(
        "list",
        help="the mechanisms, with their options",
        description="List the mechanisms, or the options and variables of one of them.",
        epilog="example: mechfmu list link_chain --option links=3",
    )
    help = "show one mechanism, the tree in a robot file, or any FMU, with its variables"
    add_mechanism(c, "NAME|FILE", help, nargs="?")
    add_file_options(c)
    add_mechanism_options(c)
    c.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    given = read_pairs(options.option, "--option")
    flag = "--option" if given else FileOptions.of(options).given
    if not options.name:
        if flag:
            raise UserError(f"{flag} is for one mechanism: mechfmu list NAME {flag} ...")
        _list_all()
    elif options.name.lower().endswith(".fmu"):
        if flag:
            raise UserError(OPTIONS_OF_AN_FMU.replace("--option", flag))
        _list_fmu(options.name)
    else:
        _list_mechanism(load_mechanism(options.name, given, FileOptions.of(options)))


def _list_all() -> None:
    """List all mechanisms with their options, narrow enough for any terminal."""
    for key in mechanisms.names():
        mechanism = mechanisms.find(key)
        _print_title(key, mechanism.title)
        values = {o.name: f"{o.name}={'|'.join(o.choices) or shorten(o.default)}" for o in mechanism.option_list}
        widest = max(map(len, values.values()), default=0)
        for o in mechanism.option_list:
            default = f" (default: {o.default})" if o.choices else ""
            for line in wrap_behind(f"    {values[o.name]:{widest}}  ", f"{o.description}{default}", OUT.width):
                OUT.print(line)
    OUT.print("mechfmu list NAME shows a mechanism's variables")
    if missing := missing_extras():
        parts = ", ".join(f"{extra} ({EXTRAS[extra]})" for extra in missing)
        OUT.print(f"not installed: {parts}; {install(','.join(missing))}")


def _list_fmu(file: str) -> None:
    """List the interface types of any FMU and its variables, except local ones."""
    from ...simulation.description import read_description, unit_name

    description = read_description(file)
    kinds = {"Co-Simulation": description.coSimulation, "Model Exchange": description.modelExchange}
    _print_title(description.modelName, description.description or "")
    interfaces = " and ".join(name for name, kind in kinds.items() if kind is not None)
    OUT.print(f"FMI {description.fmiVersion}, {interfaces}")
    rows = []
    for v in description.modelVariables:
        if v.causality not in ("local", "independent"):
            unit = unit_name(v) if v.type in REAL_TYPES else v.type
            rows.append((v.name, v.causality, unit, str(v.start or ""), v.description or ""))
    _print_variables(rows)
    local = sum(v.causality == "local" for v in description.modelVariables)
    if local:
        OUT.print(f"and {count(local, 'local variable')}")


def _list_mechanism(mechanism: Mechanism) -> None:
    """List the options of a mechanism, its tree if it is one, and its variables."""
    from ...mechanisms.tree.base import TreeMechanism

    _print_title(mechanism.key, mechanism.title)
    if mechanism.option_list:
        table = TextTable("option", "value", "choices", "meaning")
        for o in mechanism.option_list:
            value = mechanism.options[o.name]
            default = "" if value == o.default else f" (default: {shorten(o.default)})"
            table.add_row(o.name, shorten(value), ", ".join(o.choices), f"{o.description}{default}")
        OUT.print_table(table)
    if isinstance(mechanism, TreeMechanism):
        _print_tree(mechanism)
    rows = []
    for scalar in mechanism.table.of("parameter", "input", "state", "discrete", "output"):
        role = {"state": "output (state)", "discrete": "output"}.get(scalar.role, scalar.role)
        start = f"{scalar.start:g}" if scalar.role in ("parameter", "input") else ""
        rows.append((scalar.name, role, "" if scalar.unit == "1" else scalar.unit, start, scalar.description))
    _print_variables(rows)


def _print_title(name: str, text: str) -> None:
    OUT.print_wrapped(Styled(name, "bold"), f"  {text}")


def _print_tree(mechanism: TreeMechanism) -> None:
    branches: dict[str, list[str]] = {"": []}
    depth, texts, plain = {"": 0}, {"": f"{mechanism.name}: base"}, []
    for joint, body in zip(mechanism.tree.joints, mechanism.tree.bodies, strict=True):
        kind = f"{joint.kind}, follows {joint.mimic}" if joint.mimic else joint.kind
        text = f"{joint.name} ({kind}) - {body.name}, {body.mass:g} kg"
        branches[joint.parent].append(body.name)
        branches[body.name], texts[body.name] = [], text
        depth[body.name] = depth[joint.parent] + 1
        plain.append((f"{joint.parent or 'base'} -", text))
    if (
        len(plain) > MAX_TABLE_ROWS or 4 * max(depth.values()) > (OUT.width or DEFAULT_WIDTH) // 2
    ):  # too deep for branches
        print_columns([(f"{mechanism.name}:",), *plain])
    else:
        for line in tree_lines(texts, branches, OUT):
            OUT.print(line)


def _print_variables(rows: Sequence[tuple[str, str, str, str, str]]) -> None:
    if len(rows) > MAX_TABLE_ROWS:
        print_columns([("variable", "causality", "unit", "start", "meaning"), *rows])
        return
    for line in variable_lines([VariableLine(*row) for row in rows], OUT.width):
        OUT.print(line)
