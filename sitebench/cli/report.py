"""`sitebench report`: run files in, one HTML page out; figures and tables apart where asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sitebench.errors import BadInput, UnknownValue
from sitebench.system.files import write

FORMATS = ("svg", "png")


def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Run files, as --out wrote them.", metavar="RUN...")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page; default: beside RUN.", metavar="FILE"),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Also write every figure into this folder.", metavar="DIR"),
    ] = None,
    image: Annotated[
        str,
        typer.Option("--format", help=f"Of the figures: {' or '.join(FORMATS)}."),
    ] = "svg",
    markdown: Annotated[
        str | None,
        typer.Option(
            help="Also write the tables as Markdown; - is standard output.", metavar="FILE"
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Make one HTML page of run files: verdict, figures, tables, planner; it needs no network.

    sitebench report ils-sweep.sitebench

    sitebench report before.sitebench after.sitebench --out both.html --open

    sitebench report sweep.sitebench --figures img --format png --markdown tables.md
    """
    if image not in FORMATS:
        raise UnknownValue(f"unknown format {image!r}", f"use {' or '.join(FORMATS)}")
    from sitebench.report import build, images
    from sitebench.report.model import load

    loaded = load(runs)
    made = build.sections(loaded)
    page = out or runs[0].with_suffix(".html")
    write(page, build.html(loaded, made))
    if markdown == "-":
        print(build.markdown(loaded), end="")
    elif markdown is not None:
        write(Path(markdown), build.markdown(loaded))
    if figures is not None:
        _folder(figures)
        for name, content in images.images(made, image):
            write(figures / name, content)
    typer.echo(f"report: {page}", err=True)
    if show:
        typer.launch(page.resolve().as_uri())


def _folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"cannot make folder {path}: {error.strerror}", "name a folder that you may write"
        ) from error
