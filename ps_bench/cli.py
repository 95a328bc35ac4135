"""`sitebench ps`: run, sweep, peak, ui, serve and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
    TestOptions,
    UiOptions,
)
from ps_bench.suite import SUITE
from sitebench.measure.options import run_file
from sitebench.options.convert import command_options
from sitebench.options.help import App
from sitebench.suite_base import commands

app = App()

_OPERATION = commands.operation_argument(SUITE)


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def run(
    options: RunOptions,
    operation: Annotated[str, _OPERATION] = "scenario",
) -> None:
    """Measure the paper's scenario, or a single request, at one size.

    sitebench ps run --entries 100k --users 64

    sitebench ps run --target http://127.0.0.1:5000 --scenario site.toml --entries 1k

    sitebench ps run --rate 200 --measure 60s --objective 'p99<50ms,failures<0.1%' --junit run.xml

    sitebench ps run page --keepalive --json
    """
    _measure([options], commands.parse_operation(SUITE, operation), options, default_out=None)


@app.command(rich_help_panel="Measure")
@command_options(SweepOptions)
def sweep(
    options: SweepOptions,
    sizes: commands.Sizes = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The 1997 paper's sweep: 300 s of warm-up, 600 s measured, 1k to 1m people.",
            rich_help_panel="Load",
        ),
    ] = False,
) -> None:
    """Measure the scenario over sizes of the database.

    sitebench ps sweep --entries 1k,10k,100k,1m

    sitebench ps sweep --entries 1k,10k --repeats 6

    sitebench ps sweep --keepalive --entries 1k,1m --out kept.sitebench

    An interrupted sweep resumes where it stopped if repeated with the same --out.
    """
    from ps_bench.paper.printed import MEASURE_1997_S, SIZES_1997, WARMUP_1997_S
    from sitebench.suite_base.points import at_size

    if paper:
        commands.refuse_measure(options, MEASURE_1997_S)
        options = replace(options, warmup=WARMUP_1997_S, measure=MEASURE_1997_S)
    chosen = commands.sweep_sizes(sizes, SIZES_1997 if paper else None)
    each = [at_size(PsOptions, options, size) for size in chosen]
    _measure(each, "scenario", options, run_file("ps-sweep"))


def _say_what_is_sent(options: TestOptions) -> None:
    """Say which variables a scenario takes out of the environment: the file may be a stranger's."""
    if options.scenario is None:
        return
    from sitebench.http.scenario_file import variables
    from sitebench.measure.command import say

    if names := variables(options.scenario):
        shown = ", ".join(f"${name}" for name in names)
        say(f"{options.scenario} sends {shown} of this environment to {options.target}")


def _measure(
    sizes: Sequence[PsOptions],
    operation: str,
    options: RunOptions | SweepOptions,
    default_out: str | None,
) -> None:
    from ps_bench import points
    from ps_bench.paper.tables import tables
    from sitebench.measure.command import measure

    _say_what_is_sent(options)
    # Raises what is wrong with a scenario file before a run file is made.
    for each in sizes:
        points.point(each, operation)
    measure(
        options,
        users=options.users,
        stages=lambda seeding: [points.stage(each, operation, seeding) for each in sizes],
        facts=lambda: points.manifest(options, [each.entries for each in sizes]),
        tables=tables,
        default_out=default_out,
    )


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def vary(
    options: RunOptions,
    asked: Annotated[list[str], commands.vary_option()],
    operation: Annotated[str, _OPERATION] = "scenario",
) -> None:
    """Vary one thing after another and hold the rest, as in the papers' tuning.

    sitebench ps vary --vary processors=1,2 --vary workers=1,2 --vary keepalive=off,on

    sitebench ps vary page --vary network=10mbit,100mbit,none --vary row-cache=0,10000 --repeats 6

    processors, memory, network and disk limit a site that is started here; what this machine does
    not allow is left out, with the reason. An interrupted run resumes with the same --out.
    """
    from ps_bench import points
    from seeders.pools import cache_folder
    from sitebench.options.convert import narrowed
    from sitebench.suite_base.vary import VaryJob
    from sitebench.suite_base.vary import vary as measure_levels

    _say_what_is_sent(options)
    name = commands.parse_operation(SUITE, operation)
    base = narrowed(PsOptions, options)
    job = VaryJob(
        stage=lambda one, seeding: points.stage(one, name, seeding),
        facts=lambda: points.manifest(base, [base.entries]),
        data=cache_folder() if base.database is None else Path(base.database),
        default_out="ps-vary",
        aliases={"workers": "target_threads"},
    )
    measure_levels(options, base, asked, job)


@app.command(rich_help_panel="Measure")
@command_options(PeakOptions)
def peak(
    options: PeakOptions,
    operation: Annotated[str, _OPERATION] = "scenario",
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
    _say_what_is_sent(options)
    from ps_bench import points
    from sitebench.suite_base.points import at_size

    name = commands.parse_operation(SUITE, operation)
    one = at_size(PsOptions, options, options.entries)
    points.point(one, name)
    commands.find_peak(
        SUITE,
        options,
        one,
        name,
        points,
        stage=lambda seeding: points.stage(one, name, seeding),
    )


@app.command(rich_help_panel="Measure")
@command_options(UiOptions)
def ui(options: UiOptions) -> None:
    """Test a site from Locust's web UI; the options are the first values of its form.

    sitebench ps ui

    sitebench ps ui --entries 100k --users 64 --out tests.sitebench

    sitebench ps ui --target http://127.0.0.1:8000 --scenario site.toml --no-browser
    """
    from sitebench.locust.web_ui.starting import become_locust

    _say_what_is_sent(options)
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
    from sitebench.system.files import refuse_existing

    refuse_existing(file)
    people = UpdSpec(options.entries, options.seed, options.locales)
    with bar(f"writing {file}", people.size) as move:
        upd = build(people, file, lambda done, _: move(done))
    say(f"{people.size:,} people in {file}, {file.stat().st_size:,} bytes")
    say(f"digest {upd.manifest['digest']}")
