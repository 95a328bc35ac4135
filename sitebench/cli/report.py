from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from sitebench.options import option
from sitebench.options.command import argument, command
from sitebench.system.files import make_folder, write


@dataclass(frozen=True)
class _ReportOptions:
    out: str | None = option.file("HTML page to write (default: beside RUN).", panel="Output")
    title: str | None = option.text(
        None, "Heading of the page (default: the target's name).", "TEXT", panel="Output"
    )
    figures: str | None = option.text(
        None, "Folder to write every figure to.", "FOLDER", panel="Output"
    )
    format: str = option.choice("svg", "Format of --figures.", *("svg", "png"), panel="Output")
    markdown: str | None = option.file(
        "Markdown file to write the tables to; - for standard output.", panel="Output"
    )
    open: bool = option.flag("Opens the page in the browser.", panel="Output")


@command(
    _ReportOptions,
    argument("RUN...", "Run files.", parse=Path, several=True),
    panel="Results",
)
def report(options: _ReportOptions, run: Sequence[Path]) -> None:
    """Make one HTML page from run files: verdict, figures, tables, planner. It needs no network.

    sitebench report ils-sweep.sitebench

    sitebench report before.sitebench after.sitebench --out both.html --open

    sitebench report sweep.sitebench --figures img --format png --markdown tables.md
    """
    from sitebench.compare.page import comparison_section
    from sitebench.report import build, images
    from sitebench.report.bundle import load_vl_convert
    from sitebench.report.model import load
    from sitebench.runs.runfile import showing

    if options.figures is not None:
        load_vl_convert("figures")
    with showing(run):
        loaded = load(run)
        sections = build.sections(loaded)
        if (compared := comparison_section(loaded)) is not None:
            sections.insert(1, compared)
        html = build.html(loaded, sections, options.title)
        markdown = build.markdown(loaded, options.title)
    # A file name has 255 bytes at most, so the names of several runs are cut.
    name = run[0].stem if len(run) == 1 else "+".join(path.stem for path in run)[:60]
    page = run[0].with_name(f"{name}.html") if options.out is None else Path(options.out)
    write(page, html)
    if options.markdown == "-":
        print(markdown, end="")
    elif options.markdown is not None:
        write(Path(options.markdown), markdown)
    if options.figures is not None:
        folder = Path(options.figures)
        make_folder(folder)
        click.echo(f"writing figures to {folder}; each takes a second or more", err=True)
        for name, content in images.images(sections, options.format):
            write(folder / name, content)
    click.echo(f"report: {page}", err=True)
    if options.open:
        click.launch(page.resolve().as_uri())
