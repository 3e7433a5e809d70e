"""How accurate simulations of the 10-link example are, against a reference trajectory computed with 128-bit numbers.

    python benchmarks/accuracy.py

Ten seconds, for several tolerances and communication steps. Largest error of any joint angle at 101 times, and largest
change of the energy, which nothing should change here.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mechfmu import LinkChain
from mechfmu.console import Console, TextTable

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "chain_example_n10.json"


def main() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    right = np.array(golden["reference"]["q"])
    table = TextTable("tolerance", "step, s", "error of angles, rad", "change of energy, J")
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        for step in (0.01, 0.1):
            result = LinkChain(links=10).simulate(stop=10, step=step, tolerance=tolerance)
            samples = np.searchsorted(result.t, np.array(golden["t"]) - 1e-9)
            found = np.stack([result[f"joint[{k}].angle"][samples] for k in range(1, 11)], axis=1)
            energy = result["energy.total"]
            table.add_row(
                f"{tolerance:g}",
                f"{step:g}",
                f"{np.max(np.abs(found - right)):.1e}",
                f"{np.max(np.abs(energy - energy[0])):.1e}",
            )
    Console().print_table(table)


if __name__ == "__main__":
    main()
