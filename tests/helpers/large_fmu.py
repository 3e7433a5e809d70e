"""FMUs with many variables: tests/c/large_unit.c, in which the variables are parameters or inputs, and their outputs.

`python -m helpers.large_fmu FILE [COUNT] [--inputs] [--states N]` (in the folder tests) writes one.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from helpers.paths import ROOT, TESTS
from helpers.zoo_library import compiled_library

CAPABILITIES = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true"'


@dataclass(frozen=True)
class LargeFmu:
    """`count` parameters or inputs, an output of each, and states with their derivatives. `coupled`: the last output
    depends on the first of them too, which it does not declare."""

    count: int
    inputs: bool = False
    states: int = 1
    coupled: bool = False

    def description(self) -> str:
        n, m = self.count, self.states
        known = 'causality="input"' if self.inputs else 'causality="parameter" variability="fixed"'
        rows = [f'name="k[{i + 1}]" valueReference="{i}" {known}><Real start="1"/>' for i in range(n)]
        rows += [f'name="y[{i + 1}]" valueReference="{n + i}" causality="output"><Real/>' for i in range(n)]
        exact = 'initial="exact"><Real start="0"/>'
        rows += [f'name="x[{j + 1}]" valueReference="{2 * n + j}" {exact}' for j in range(m)]
        rows += [
            f'name="der(x[{j + 1}])" valueReference="{2 * n + m + j}"><Real derivative="{2 * n + j + 1}"/>'
            for j in range(m)
        ]
        variables = "\n".join(f"<ScalarVariable {row}</ScalarVariable>" for row in rows)
        own = [f'<Unknown index="{n + i + 1}" dependencies="{i + 1}"/>' for i in range(n)]
        none = [f'<Unknown index="{n + i + 1}" dependencies=""/>' for i in range(n)]
        slopes = [(2 * n + m + j + 1, j + 1 if self.inputs else 0, 2 * n + j + 1) for j in range(m)]
        derivatives = [f'<Unknown index="{i}" dependencies="{f"{k} " if k else ""}{x}"/>' for i, k, x in slopes]
        initial = [*own, *(f'<Unknown index="{i}" dependencies="{j + 1} {x}"/>' for j, (i, _, x) in enumerate(slopes))]
        parts = {"Outputs": own if self.inputs else none, "Derivatives": derivatives, "InitialUnknowns": initial}
        structure = "\n".join(f"<{name}>\n" + "\n".join(part) + f"\n</{name}>" for name, part in parts.items() if part)
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Large" guid="{{large}}" variableNamingConvention="structured">
<ModelExchange modelIdentifier="Large" {CAPABILITIES}/>
<CoSimulation modelIdentifier="Large" canHandleVariableCommunicationStepSize="true" {CAPABILITIES}/>
<LogCategories><Category name="logStatusError"/></LogCategories>
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.01"/>
<ModelVariables>
{variables}
</ModelVariables>
<ModelStructure>
{structure}
</ModelStructure>
</fmiModelDescription>
"""

    def write(self, file: Path, cache: Path) -> None:
        """Write the FMU; `cache` keeps the library."""
        header = Path(shutil.copy(ROOT / "fmu_src" / "fmi" / "fmi2.h", cache)).parent
        options = [f"-I{header}", f"-DCOUNT={self.count}", f"-DINPUTS={int(self.inputs)}", f"-DSTATES={self.states}"]
        options += ["-fvisibility=default", *(["-DCOUPLED"] if self.coupled else [])]
        library = compiled_library("large", [TESTS / "c" / "large_unit.c"], options, cache)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", self.description())
            archive.write(library, "binaries/linux64/Large.so")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an FMU with many variables.")
    parser.add_argument("file", type=Path)
    parser.add_argument("count", type=int, nargs="?", default=50_000)
    parser.add_argument("--inputs", action="store_true")
    parser.add_argument("--states", type=int, default=1)
    parser.add_argument("--coupled", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        LargeFmu(wanted.count, wanted.inputs, wanted.states, wanted.coupled).write(wanted.file, Path(cache))


if __name__ == "__main__":
    main()
