"""documentation/index.html of an FMU: the mechanism's description and drawing (about.html), options and variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from .. import __version__
from ..model import Mechanism
from ..model.units import unit as unit_of
from ..model.variables import Role, Row, Scalar

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b2733; }
h1 { margin-bottom: 0; } .sub { color: #5b6b7a; margin-top: 0.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; margin-bottom: 2rem; }
th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #d8e0e7; vertical-align: top; }
th { background: #f2f6f9; } code { background: #f2f6f9; padding: 0 0.2rem; }
td.n { white-space: nowrap; font-family: monospace; }
svg { max-width: 100%; height: auto; } .eq { margin-left: 2rem; font-family: serif; font-style: italic; }
@media (max-width: 700px) {
  table { display: block; overflow-x: auto } pre { overflow-x: auto } code { overflow-wrap: anywhere }
  td code { overflow-wrap: normal }
}
"""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><style>{style}</style></head><body>
<h1>{name}</h1><p class="sub">{title}. Built with {options} by mechfmu {version}.</p>
{about}
<h2>Variables</h2>
<p>SI units; tools that support display units show angles in degrees. Parameters are fixed once initialization ends.
The first second of the default experiment is in <code>reference_result.csv</code>.</p>
{tables}</body></html>
"""
TABLE = """<h3>{title}</h3>
<table><tr><th>name</th><th>unit</th><th>start</th><th>limits</th><th>meaning</th></tr>
{rows}</table>
"""

SECTIONS: tuple[tuple[str, tuple[Role, ...]], ...] = (
    ("Parameters", ("parameter",)),
    ("Constants", ("constant",)),
    ("Inputs", ("input",)),
    ("Outputs", ("state", "discrete", "output")),
)


def index_html(mechanism: Mechanism, starts: Mapping[str, float]) -> str:
    """Return the page of a mechanism with these start values."""
    options = ", ".join(f"{k} = {v}" for k, v in mechanism.options.items() if k != "model") or "no options"
    return PAGE.format(
        name=mechanism.name,
        style=STYLE,
        title=escape(mechanism.title),
        options=escape(options),
        version=__version__,
        about=(mechanism.folder / "about.html").read_text(encoding="utf-8"),
        tables="".join(
            _table(title, mechanism.table.of(*roles), starts)
            for title, roles in SECTIONS
            if title != "Constants" or mechanism.constants
        ),
    )


def _table(title: str, scalars: Iterable[Scalar], starts: Mapping[str, float]) -> str:
    return TABLE.format(title=title, rows="".join(_row(s, starts.get(s.name, s.start)) for s in scalars))


def _row(scalar: Scalar, start: float) -> str:
    row = scalar.row
    shown = f"{start:g}" if scalar.role in ("parameter", "constant", "input") else ""
    display = unit_of(row.unit).preferred_display
    unit = "" if row.unit == "1" else row.unit + (f" ({display})" if display else "")
    return (
        f'<tr><td class="n">{escape(scalar.name)}</td><td>{escape(unit)}</td><td>{shown}</td>'
        f"<td>{_limits(row)}</td><td>{escape(scalar.description)}</td></tr>\n"
    )


def _limits(row: Row) -> str:
    if row.items:
        return ", ".join(f"{number} = {item}" for number, item in enumerate(row.items, start=1))
    limits = {"&gt;": row.above, "&ge;": row.min, "&le;": row.max}
    return " ".join(f"{sign} {value:g}" for sign, value in limits.items() if value is not None)
