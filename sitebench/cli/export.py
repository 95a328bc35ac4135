"""`sitebench export`: run files as text for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitebench.errors import BadInput, UnknownValue
from sitebench.system.files import cannot_write, whole

if TYPE_CHECKING:
    from sitebench.runs.runfile import RunFile

FORMATS = ("csv", "hlog")
WHAT = ("points", "steps", "timeline", "samples")


def export(
    run: Annotated[
        Path, typer.Argument(help="Run file; a run may still be writing it.", metavar="RUN")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv: figures. hlog: HdrHistogram's interval log.",
            autocompletion=lambda: list(FORMATS),
            metavar="|".join(FORMATS),
        ),
    ] = "csv",
    out: Annotated[
        str, typer.Option(help="File to write; - is standard output.", metavar="FILE")
    ] = "-",
    what: Annotated[
        str,
        typer.Option(
            help="Rows of the CSV: a point, a step's window, a drain, or a monitor's reading each.",
            autocompletion=lambda: list(WHAT),
            metavar="|".join(WHAT),
        ),
    ] = "points",
) -> None:
    """Write a run file as CSV or an HdrHistogram log.

    sitebench export run.sitebench > points.csv

    sitebench export run.sitebench --what timeline --out timeline.csv

    sitebench export run.sitebench --format hlog --out run.hlog
    """
    if form not in FORMATS:
        raise UnknownValue(f"unknown format {form!r}", f"use one of {', '.join(FORMATS)}")
    if what not in WHAT:
        raise UnknownValue(f"unknown rows {what!r}", f"use one of {', '.join(WHAT)}")
    if form != "csv" and what != "points":
        raise UnknownValue(
            f"--what is for CSV, not for {form}", "leave it out, or use --format csv"
        )
    from sitebench.runs.runfile import RunFile

    with RunFile(run) as opened:
        _write(as_text(opened, form, what), out, run)


def as_text(run: RunFile, form: str, what: str = "points") -> Iterator[str]:
    """Yield a run file as text, line by line."""
    from sitebench.runs.export import hlog, table

    with run.reading("a value"):
        if form == "csv":
            yield from table.write(table.ROWS[what](run))
        else:
            yield from hlog.write(run)


def _write(lines: Iterable[str], out: str, run: Path) -> None:
    if out == "-":
        _print(lines)
        return
    if Path(out).exists() and Path(out).samefile(run):
        raise BadInput(f"{out} is the run file itself", "name another file with --out")
    try:
        with whole(Path(out)) as fresh, fresh.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise cannot_write(out, error) from error


def _print(lines: Iterable[str]) -> None:
    try:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
