"""Writes fmu_src/fmi/event_limits.h from components/mechfmu/simulation/limits.py."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "components" / "mechfmu" / "simulation" / "limits.py"
HEADER = ROOT / "fmu_src" / "fmi" / "event_limits.h"


def header() -> str:
    """The text of the header: every constant of the module, after its description."""
    source = SOURCE.read_text(encoding="utf-8")
    body = ast.parse(source).body
    lines = [
        "/* Limits and tolerances of the event loop. Written by build_scripts/limits_header.py from",
        " * components/mechfmu/simulation/limits.py, which has the same numbers for Python: change them there. */",
        "#ifndef MECHFMU_EVENT_LIMITS_H",
        "#define MECHFMU_EVENT_LIMITS_H",
        "",
    ]
    for constant, description in pairwise(body):
        if isinstance(constant, ast.Assign):
            assert isinstance(description, ast.Expr), f"{ast.unparse(constant)}: its description is missing"
            name, value = ast.unparse(constant.targets[0]), str(ast.get_source_segment(source, constant.value))
            lines += [f"/* {ast.literal_eval(description.value)} */", f"#define {name} {value.replace('_', '')}", ""]
    return "\n".join([*lines, "#endif", ""])


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
