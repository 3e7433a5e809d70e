"""Compare the FMUs of two versions of the project:   python build_scripts/compare_fmus.py OLD NEW

OLD and NEW are folders with FMUs of the same names, built by the two versions (`mechfmu build all --kind both -o OLD`).
Printed for each FMU are the number of variables, how many of them differ in anything but their description (name, value
reference, causality, variability, initial, type, unit, start value, limits), and how the trajectories of the default
experiment compare, all outputs included. The exit status is 1 when something differs.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from fmpy import extract, simulate_fmu

KINDS = ("CoSimulation", "ModelExchange")


@dataclass(frozen=True)
class Comparison:
    """What was found about one FMU."""

    name: str
    variables: int
    changed: list[str]  # names of variables
    largest: dict[str, float]  # interface type -> largest difference of a trajectory; 0: equal bit for bit
    samples: int

    @property
    def equal(self) -> bool:
        return not self.changed and not any(self.largest.values())


def variables(file: Path) -> dict[str, tuple[object, ...]]:
    """Everything but descriptions, by name; in the order of the file."""
    with zipfile.ZipFile(file) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    found: dict[str, tuple[object, ...]] = {}
    for position, node in enumerate(root.iterfind("ModelVariables/ScalarVariable")):
        attributes = {k: v for k, v in node.attrib.items() if k != "description"}
        typed = [(child.tag, sorted(child.attrib.items())) for child in node if child.tag != "Annotations"]
        found[node.attrib["name"]] = (position, sorted(attributes.items()), typed)
    return found


def trajectory(file: Path, kind: str) -> np.ndarray | None:
    """All outputs over the default experiment; None: the FMU does not have this interface type."""
    with zipfile.ZipFile(file) as archive:
        if f"<{kind}".encode() not in archive.read("modelDescription.xml"):
            return None
    folder = extract(str(file))
    try:
        return simulate_fmu(folder, fmi_type=kind)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference; NaN in one of them, other names or other times are an infinite one."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return np.inf
    worst = 0.0
    for name in a.dtype.names or ():
        if not np.array_equal(a[name], b[name], equal_nan=True):
            largest = np.max(np.abs(a[name].astype(float) - b[name].astype(float)))
            worst = max(worst, float(largest)) if np.isfinite(largest) else np.inf
    return worst


def compare(old: Path, new: Path) -> Comparison:
    a, b = variables(old), variables(new)
    changed = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    largest, samples = {}, 0
    for kind in KINDS:
        first, second = trajectory(old, kind), trajectory(new, kind)
        if first is not None or second is not None:
            both = first is not None and second is not None
            largest[kind] = difference(first, second) if both else np.inf
            samples += first.size * len(first.dtype.names) if first is not None else 0
    return Comparison(old.name, len(a), changed, largest, samples)


def main(old: Path, new: Path) -> int:
    names = sorted({f.name for folder in (old, new) for f in folder.glob("*.fmu")})
    equal = bool(names)
    for name in names:
        if not (old / name).exists() or not (new / name).exists():
            print(f"{name:28} only in {old if (old / name).exists() else new}")
            equal = False
            continue
        found = compare(old / name, new / name)
        motion = ", ".join(f"{kind} {'equal' if d == 0 else f'{d:.1e}'}" for kind, d in found.largest.items())
        changed = len(found.changed)
        print(f"{name:28} {found.variables:4} variables, {changed} changed; {found.samples:7} values: {motion}")
        equal = equal and found.equal
    return 0 if equal else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
