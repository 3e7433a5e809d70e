"""The files that simulations write: checked before a run, written after it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..console import TextTable
from ..model import UserError, did_you_mean
from ..model.extras import require
from .arguments import read_names
from .terminal import OUT, REPORTER, count

PICTURES = (".png", ".svg", ".pdf")
PLOTS = (*PICTURES, ".html")
MAX_NAMES = 8  # names that one message lists


def check_writable(file: str | None) -> None:
    """Raise a UserError when a file cannot be written."""
    if file:
        from ..fmu.archive import make_folder

        make_folder(Path(file).parent)
        if Path(file).is_dir():
            raise UserError(f"cannot write {file}: it is a folder")


def check_ending(file: str | None, endings: tuple[str, ...], action: str) -> None:
    """Raise a UserError when a file that is given does not have one of these endings."""
    if file and not file.endswith(endings):
        raise UserError(f"cannot {action} {file}: the file must end in {' or '.join(endings)}")


def check_result_files(options: argparse.Namespace) -> None:
    """Raise a UserError when the result of a run could not be written, before the run starts."""
    from ..simulation.result import check_table_file

    if options.output:
        check_table_file(options.output)
    for file in (options.output, options.plot, options.animate):
        check_writable(file)
    check_ending(options.plot, PLOTS, "draw into")
    if options.plot:
        require("matplotlib", *(["plotly"] if options.plot.endswith(".html") else []))
    if options.animate:
        from ..view.animate import check_animation_file

        check_animation_file(options.animate)


def selected_signals(options: argparse.Namespace, outputs: Sequence[str]) -> list[str] | None:
    """Return the signals of --signals, all of them outputs; None: not given."""
    names = read_names(options.signals)
    for name in names or ():
        if name not in outputs:
            raise UserError(f"there is no output {name} to plot{did_you_mean(name, outputs)}")
    return names


def write_result_files(result: Any, options: argparse.Namespace, signals: Sequence[str] | None) -> None:
    """Write the files that were asked for; without any, print the final values."""
    if options.output:
        result.save(options.output)
    if options.plot:
        from ..view.plot import signals_without_plot

        result.plot(signals, options.plot)
        if missing := signals_without_plot(result, signals):
            names = ", ".join(missing[:MAX_NAMES]) + (", ..." if len(missing) > MAX_NAMES else "")
            REPORTER.info(f"{count(len(missing), 'signal')} not drawn: {names}; choose with --signals")
    if options.animate:
        _animate(result, options.animate, signals)
    files = list(filter(None, (options.output, options.plot, options.animate)))
    for file in files:
        REPORTER.info(f"wrote {file}")
    if not files:
        print_final_values(result)


def _animate(result: Any, file: str, signals: Sequence[str] | None) -> None:
    from ..view.animate import FPS, animate, samples_of

    if file.endswith(".html"):
        with REPORTER.status(f"drawing {file}"):
            animate(result, file, signals=signals)
        return
    with REPORTER.bar(f"drawing {file}", len(samples_of(result, FPS, 1.0)), "frames") as show:
        animate(result, file, progress=lambda done, total: show(done))


def print_final_values(result: Any) -> None:
    """Print the last value of every signal in its display unit."""
    table = TextTable("output", "unit", "at the end")
    for name in result.names:
        how = result.shown[name]
        table.add_row(name, how.unit, f"{how.factor * result[name][-1] + how.offset:.6g}")
    OUT.print_table(table)
    other = {how.unit: how.own for how in result.shown.values() if how.own}
    if other:
        OUT.print(f"shown in {', '.join(other)}; --set and files use {', '.join(other.values())}")


def report_flags(descriptions: Mapping[str, str | None], result: Any) -> None:
    """Report the outputs described as "1 when ..., otherwise 0" that were 1 during the run."""
    from ..simulation.flags import raised_flags

    for line in raised_flags(descriptions, result.t, result.signals):
        REPORTER.info(line)
