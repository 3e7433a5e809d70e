"""documentation/index.html of an FMU: the mechanism's own text and drawing (about.html), its options and its variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from .. import __version__
from ..model import Mechanism
from ..model.units import unit as unit_of
from ..model.variables import Role, Scalar

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b2733; }
h1 { margin-bottom: 0; } .sub { color: #5b6b7a; margin-top: 0.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; margin-bottom: 2rem; }
th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #d8e0e7; vertical-align: top; }
th { background: #f2f6f9; } code { background: #f2f6f9; padding: 0 0.2rem; } td.n { white-space: nowrap; font-family: monospace; }
svg { max-width: 100%; height: auto; } .eq { margin-left: 2rem; font-family: serif; font-style: italic; }
"""

SECTIONS: tuple[tuple[str, tuple[Role, ...]], ...] = (
    ("Parameters", ("parameter",)),
    ("Inputs", ("input",)),
    ("Outputs", ("state", "discrete", "output")),
)


def index_html(mechanism: Mechanism, starts: Mapping[str, float]) -> str:
    options = ", ".join(f"{k} = {v}" for k, v in mechanism.options.items() if k != "model") or "no options"
    about = (mechanism.folder / "about.html").read_text(encoding="utf-8")
    tables = "".join(_table(title, mechanism.table.of(*roles), starts) for title, roles in SECTIONS)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{mechanism.name}</title><style>{STYLE}</style></head><body>\n'
        f'<h1>{mechanism.name}</h1><p class="sub">{escape(mechanism.title)}. Built with {escape(options)} by mechfmu {__version__}.</p>\n'
        f"{about}\n<h2>Variables</h2>\n<p>SI units; angles are shown in degrees by tools that honour display units. Parameters are fixed once "
        f"initialization ends. The first second of the default experiment is in <code>reference_result.csv</code>.</p>\n{tables}</body></html>\n"
    )


def _table(title: str, scalars: Iterable[Scalar], starts: Mapping[str, float]) -> str:
    rows = "".join(_row(s, starts.get(s.name, s.start)) for s in scalars)
    return f"<h3>{title}</h3>\n<table><tr><th>name</th><th>unit</th><th>start</th><th>limits</th><th>meaning</th></tr>\n{rows}</table>\n"


def _row(scalar: Scalar, start: float) -> str:
    row = scalar.row
    shown = f"{start:g}" if scalar.role in ("parameter", "input") else ""
    limits = [
        f"&gt; {row.above:g}" if row.above is not None else "",
        f"&ge; {row.min:g}" if row.min is not None else "",
        f"&le; {row.max:g}" if row.max is not None else "",
    ]
    display = unit_of(row.unit).preferred_display
    unit = "" if row.unit == "1" else row.unit + (f" ({display})" if display else "")
    cells = (scalar.name, unit, shown)
    if row.items:
        limits = [", ".join(f"{number} = {item}" for number, item in enumerate(row.items, start=1))]
    return (
        f'<tr><td class="n">{escape(cells[0])}</td><td>{escape(cells[1])}</td><td>{cells[2]}</td>'
        f"<td>{' '.join(filter(None, limits))}</td><td>{escape(scalar.description)}</td></tr>\n"
    )
