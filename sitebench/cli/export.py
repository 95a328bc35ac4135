from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from sitebench.errors import BadInput, printable
from sitebench.options import option
from sitebench.options.command import argument, command
from sitebench.system.files import atomic_write, cannot_write
from sitebench.system.output import print_lines

if TYPE_CHECKING:
    from sitebench.runs.runfile import RunFile


FORMATS = {"csv": ("points", "steps", "spans", "timeline", "samples"), "hlog": ("points",)}
"""Kinds of rows by format. `sitebench.runs.export.FORMAT` (a module) has a function for each."""


@dataclass(frozen=True)
class _ExportOptions:
    format: str = option.choice(
        "csv",
        "Format: csv (figures) or hlog (HdrHistogram's interval log).",
        *FORMATS,
        panel="Output",
    )
    out: str = option.text("-", "File to write; - for standard output.", "FILE", panel="Output")
    what: str = option.choice(
        "points",
        "Rows of the CSV: points, steps in their measured windows, minutes (spans) of stages, "
        "intervals of the timeline, or samples of the monitor.",
        *FORMATS["csv"],
        panel="Output",
    )


@command(
    _ExportOptions,
    argument("RUN", "Run file, finished or in progress.", parse=Path),
    panel="Results",
)
def export(options: _ExportOptions, run: Path) -> None:
    """Write a run file as CSV or an HdrHistogram log.

    sitebench export run.sitebench > points.csv

    sitebench export run.sitebench --what timeline --out timeline.csv

    sitebench export run.sitebench --format hlog --out run.hlog
    """
    if options.what not in FORMATS[options.format]:
        raise BadInput(
            f"--what applies to CSV, not to {options.format}", "leave it out, or use --format csv"
        )
    from sitebench.runs.runfile import RunFile

    with RunFile(run) as opened:
        if options.what == "spans" and not any(point.spec.stages for point in opened.points()):
            raise BadInput(
                f"{run} has no point in stages, which only have spans",
                "measure with --stages, or use --what timeline",
            )
        _write(as_text(opened, options.format, options.what), options.out, run)


def as_text(run: RunFile, form: str, rows: str = "points") -> Iterator[str]:
    lines: Callable[[RunFile], Iterator[str]]
    lines = resolve_name(f"sitebench.runs.export.{form}:{rows}")
    with run.reading("a value"):
        yield from lines(run)


def _write(lines: Iterable[str], out: str, run: Path) -> None:
    if out == "-":
        if sys.stdout.isatty():
            # A run file from a stranger can contain control characters for the terminal.
            lines = (printable(line, len(line)) for line in lines)
        print_lines(lines)
        return
    if Path(out).exists() and Path(out).samefile(run):
        raise BadInput(f"{out} is the run file itself", "name another file with --out")
    try:
        with atomic_write(Path(out)) as fresh, fresh.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise cannot_write(out, error) from error
