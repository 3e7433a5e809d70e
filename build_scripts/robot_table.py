"""Writes the table of docs/robots.md: which option each robot of the package example-robot-data needs, and how well its
accelerations agree with Pinocchio.

    .venv/bin/python build_scripts/robot_table.py [--states 10] [--fmus 20] [--check]

Every file is read, with the first options that work (tests/helpers/robot_choices.py). Its accelerations at random
states, by the library, and for some robots by the native FMU, are compared with Pinocchio's, mimic joints by projection
(tests/helpers/robot_reference.py). The exit status is 1 if a difference is above LIMIT or a file that has links cannot
be read. --check compares only, and leaves the page as it is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from helpers import needs  # noqa: E402
from helpers.robot_choices import Accelerations, by_library, first_that_works, reference_of, worst  # noqa: E402
from helpers.robot_reference import RobotState  # noqa: E402
from mechfmu.mechanisms.tree.model import Tree  # noqa: E402

PAGE = ROOT / "docs" / "robots.md"
BEGIN, END = "<!-- robots: begin -->\n", "<!-- robots: end -->\n"
LIMIT = 1e-9  # of the largest acceleration


@dataclass
class Compared:
    """A line of the table."""

    file: str
    options: str
    freedom: str = ""
    mimics: str = ""
    library: float | None = None
    fmu: float | None = None
    error: str = ""

    @property
    def fails(self) -> bool:
        return any(x is not None and not x < LIMIT for x in (self.library, self.fmu)) or (
            bool(self.error) and "has no link" not in self.error
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10, help="random states of each robot")
    parser.add_argument("--fmus", type=int, default=0, help="so many robots also through the native FMU")
    parser.add_argument("--check", action="store_true", help="compare, and leave the page as it is")
    parser.add_argument("--only", default="", help="files whose name contains this")
    options = parser.parse_args()
    folder = needs.robot_descriptions()
    files = [f for f in sorted(folder.rglob("*.urdf")) if options.only in f.name]
    through_fmu = {files[int(k)] for k in np.linspace(0, len(files) - 1, min(options.fmus, len(files)))}
    rows = []
    for file in files:
        row = compare(file, str(file.relative_to(folder)), options.states, file in through_fmu)
        rows.append(row)
        print(row.file, row.options, row.freedom, _number(row.library), _number(row.fmu), row.error, flush=True)
    if not options.check:
        write(rows)
    failed = [row.file for row in rows if row.fails]
    print(f"{len(rows)} files, {sum(row.fmu is not None for row in rows)} as FMUs, failed: {failed or 'none'}")
    return 1 if failed else 0


def compare(file: Path, name: str, states: int, with_fmu: bool) -> Compared:
    """Read one file and compare it."""
    choice, tree, error = first_that_works(file)
    if tree is None:
        return Compared(name, "-", error=error)
    reference = reference_of(file, choice, tree)
    points = [reference.state(seed) for seed in range(states)]
    row = Compared(name, " ".join(f"--{k} {v}" for k, v in choice.items()), str(tree.nv))
    row.mimics = str(len(tree.followers) or "")
    row.library = worst(points, by_library(tree, "casadi"))
    if with_fmu:
        with tempfile.TemporaryDirectory() as folder:
            row.fmu = worst(points, _by_fmu(tree, folder))
    return row


def _by_fmu(tree: Tree, folder: str) -> Accelerations:
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Slave

    (file,) = tree.build(folder)
    description = read_model_description(str(file))
    reference = {v.name: v.valueReference for v in description.modelVariables}
    unzipped = extract(str(file), unzipdir=str(Path(folder) / "fmu"))

    def accelerations(point: RobotState) -> list[float]:
        identifier = description.coSimulation.modelIdentifier
        slave = FMU2Slave(guid=description.guid, unzipDirectory=unzipped, modelIdentifier=identifier)
        slave.instantiate()
        slave.setupExperiment(startTime=0.0)
        slave.setReal([reference[name] for name in point.start], list(point.start.values()))
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        found = slave.getReal([reference[name] for name in point.wanted])
        slave.terminate()
        slave.freeInstance()
        return list(found)

    return accelerations


def write(rows: list[Compared]) -> None:
    """Replace the table of the page."""
    head, _, rest = PAGE.read_text().partition(BEGIN)
    tail = rest.partition(END)[2]
    lines = [
        "| file | option | degrees of freedom | mimic joints | library | native FMU |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        options = f"`{row.options}`" if row.options not in ("", "-") else row.options
        cells = [options, row.freedom, row.mimics, _number(row.library), _number(row.fmu)]
        if row.error and row.library is None:
            cells = [f"rejected: {row.error.partition(': ')[2]}", "", "", "", ""]
        lines.append(f"| {row.file} | {' | '.join(cells)} |")
    PAGE.write_text(head + BEGIN + "\n".join(lines) + "\n" + END + tail)


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.0e}"


if __name__ == "__main__":
    sys.exit(main())
