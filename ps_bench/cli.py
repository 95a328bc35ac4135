"""`sitebench ps`: run, sweep, serve and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ps_bench.options import (
    LocustOptions,
    PeakOptions,
    PsOptions,
    RunOptions,
    SeedOptions,
    ServeOptions,
    SweepOptions,
    UiOptions,
)
from ps_bench.suite import SUITE
from sitebench import units
from sitebench.errors import UnknownValue
from sitebench.measure.options import DEFAULT_SIZES, SIZES_HELP, run_file, sizes_only
from sitebench.options.convert import command_options

app = typer.Typer(help="Measure, serve and fill a personalized site.", no_args_is_help=True)

OPERATIONS = tuple(SUITE.operations)


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def run(
    options: RunOptions,
    operation: Annotated[
        str,
        typer.Argument(
            help=f"One of {', '.join(OPERATIONS)}.", autocompletion=lambda: list(OPERATIONS)
        ),
    ] = "scenario",
) -> None:
    """Measure the paper's scenario, or a single request, at one size.

    sitebench ps run --entries 100k --users 64

    sitebench ps run page --keepalive --json

    sitebench ps run --rate 200 --measure 60s --objective 'p99<50ms,failures<0.1%' --junit run.xml

    sitebench ps run --target http://127.0.0.1:5000 --scenario site.toml --entries 1k
    """
    _measure([options], _known(operation), options, default_out=None)


def _known(operation: str) -> str:
    if operation not in OPERATIONS:
        raise UnknownValue(
            f"unknown operation {operation!r}", f"use one of {', '.join(OPERATIONS)}"
        )
    return operation


@app.command(rich_help_panel="Measure")
@command_options(SweepOptions)
def sweep(
    options: SweepOptions,
    sizes: Annotated[
        str | None,
        typer.Option(help=SIZES_HELP, metavar="LIST"),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The 1997 paper's sweep: 300 s of warm-up, 600 s measured, 1k to 1m people.",
        ),
    ] = False,
    _: Annotated[str | None, typer.Option("--entries", hidden=True, parser=sizes_only)] = None,
) -> None:
    """Measure the scenario over sizes of the database and print the paper's tables.

    sitebench ps sweep --sizes 1k,10k,100k,1m

    sitebench ps sweep --sizes 1k,10k --repeats 6

    sitebench ps sweep --keepalive --sizes 1k,1m --out kept.sitebench

    An interrupted sweep resumes where it stopped if repeated with the same --out.
    """
    from ps_bench.paper.tables import MEASURE_1997_S, SIZES_1997, WARMUP_1997_S
    from sitebench.suites.points import at_size

    if paper:
        options = replace(options, warmup=WARMUP_1997_S, measure=MEASURE_1997_S)
    default = SIZES_1997 if paper else DEFAULT_SIZES
    chosen = default if sizes is None else units.parse_sizes(sizes)
    each = [at_size(PsOptions, options, size) for size in dict.fromkeys(chosen)]
    _measure(each, "scenario", options, run_file("ps-sweep"))


def _measure(
    sizes: Sequence[PsOptions],
    operation: str,
    output: RunOptions | SweepOptions,
    default_out: str | None,
) -> None:
    from ps_bench import points
    from ps_bench.paper.tables import tables
    from sitebench.measure.command import Report, measure
    from sitebench.tables.bottlenecks import warnings
    from sitebench.tables.tables import footnotes

    # What is wrong with a scenario file is said before a run file is made.
    for each in sizes:
        points.point(each, operation)
    measure(
        output,
        users=output.users,
        stages=lambda seeding: [points.stage(each, operation, seeding) for each in sizes],
        facts=lambda: points.manifest(output, [each.entries for each in sizes]),
        report=lambda results: Report(tables(results), [*footnotes(results), *warnings(results)]),
        default_out=default_out,
    )


@app.command(rich_help_panel="Measure")
@command_options(PeakOptions)
def peak(
    options: PeakOptions,
    operation: Annotated[
        str,
        typer.Argument(
            help=f"One of {', '.join(OPERATIONS)}.", autocompletion=lambda: list(OPERATIONS)
        ),
    ] = "scenario",
) -> None:
    """Find the highest rate of a site.

    With each number of --clients in turn, as in the papers; each client starts its next operation
    when the last is answered:

    sitebench ps peak --entries 100k

    sitebench ps peak page --keepalive --clients 1,2,4,8,16,32 --repeats 6 --foresee 64

    Or by a search for the highest rate that meets an objective, which is then confirmed:

    sitebench ps peak --objective 'p99<50ms,failures<0.1%'

    sitebench ps peak --objective 'p90<1s' --target http://127.0.0.1:5000 --scenario site.toml

    An interrupted search resumes where it stopped if repeated with the same --out.
    """
    from ps_bench import points
    from sitebench.measure.peak.command import Job, find_peak
    from sitebench.suites.points import at_size

    name = _known(operation)
    each = at_size(PsOptions, options, options.entries)
    points.point(each, name)
    job = PeakJob(
        stage=lambda seeding: points.stage(each, name, seeding),
        point=lambda load: points.point(replace(each, **asdict(load)), name),
        facts=lambda: points.manifest(each, [each.entries]),
        window_s=each.measure or 0.0,
        default_out=run_file("ps-peak"),
    )
    find_peak(options, job)


@app.command(rich_help_panel="Measure")
@command_options(UiOptions)
def ui(options: UiOptions) -> None:
    """Test a site from Locust's web UI; the options are the first values of its form.

    sitebench ps ui

    sitebench ps ui --entries 100k --users 64 --out tests.sitebench

    sitebench ps ui --target http://127.0.0.1:8000 --scenario site.toml --no-browser
    """
    from sitebench.locust.web_ui.starting import become_locust

    become_locust(SUITE.locustfile_path(), options, LocustOptions)


@app.command(rich_help_panel="Sites")
@command_options(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve the personalized site until Ctrl-C.

    sitebench ps serve --entries 1m

    sitebench ps serve --database people.sqlite --durability full --port 8081
    """
    from ps_bench.targets.personalized_site import serve as serve_site

    serve_site(options, Console())


@app.command(rich_help_panel="Sites")
@command_options(SeedOptions)
def seed(
    options: SeedOptions,
    file: Annotated[Path, typer.Argument(help="File to write.", metavar="FILE")],
) -> None:
    """Write a user-property database: one SQLite file, one row per person.

    sitebench ps seed people.sqlite --entries 1m
    """
    from seeders.upd import UpdSpec, build
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar

    people = UpdSpec(options.entries, options.seed, options.locales)
    with bar(f"writing {file}", people.size) as move:
        upd = build(people, file, lambda done, _: move(done))
    say(f"{people.size:,} people in {file}, {file.stat().st_size:,} bytes")
    say(f"digest {upd.manifest['digest']}")
