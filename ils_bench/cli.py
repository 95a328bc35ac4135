"""`sitebench ils`: run, sweep, peak, ui, serve, seed, verify, schema and clean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from ils_bench.options import (
    IlsOptions,
    LoadTestOptions,
    LocustOptions,
    PeakOptions,
    RunOptions,
    SeedOptions,
    ServeOptions,
    SweepOptions,
    UiOptions,
)
from ils_bench.schema import FILES, text
from ils_bench.suite import SUITE
from sitebench.errors import BadInput
from sitebench.measure.options import run_file
from sitebench.options.convert import command_options, named
from sitebench.options.help import App
from sitebench.options.option import OneOf
from sitebench.suite_base import commands

app = App()

_OPERATION = commands.operation_argument(SUITE)
_OPERATIONS = commands.operations_option(SUITE)

_PAPER_OPERATIONS = "connect,add,lookup"
_PAPER_WARMUP_S, _PAPER_WINDOW_S = 10.0, 600.0
"""What the paper measured at each of its sizes: three operations, 600 seconds each (page 8)."""


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def run(
    options: RunOptions,
    operation: Annotated[str, _OPERATION] = "lookup",
) -> None:
    """Measure one operation at one size.

    sitebench ils run lookup --entries 100k --users 64

    sitebench ils run lookup --target ldap://127.0.0.1:389 --base ou=people,dc=example,dc=com
    --names 'uid=user.{i}' --entries 5k

    sitebench ils run lookup --rate 5k --objective 'p99<5ms,failures<0.1%' --junit run.xml

    sitebench ils run add --rate 5k --measure 30s --json

    sitebench ils run lookup --target ldap://127.0.0.1:389 --base ou=people,dc=example,dc=com
    """
    from ils_bench.targets.identity import password_asked

    name, options = commands.parse_operation(SUITE, operation), password_asked(options)
    _measure([options], (name,), options, default_out=None)


@app.command(rich_help_panel="Measure")
@command_options(SweepOptions)
def sweep(
    options: SweepOptions,
    sizes: commands.Sizes = None,
    operations: Annotated[str, _OPERATIONS] = _PAPER_OPERATIONS,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The 1997 paper's sweep: 600 s per point, sizes 500, 1,000, 5,000 and 10,000.",
            rich_help_panel="Load",
        ),
    ] = False,
) -> None:
    """Measure operations over directory sizes.

    sitebench ils sweep --entries 1k,10k,100k,1m

    sitebench ils sweep --entries 1k,10k --repeats 6

    sitebench ils sweep --target openldap --entries 1k,10k --out slapd.sitebench

    An interrupted sweep resumes where it stopped if repeated with the same --out.
    """
    from ils_bench.paper.printed import SIZES_1997
    from ils_bench.targets.identity import password_asked
    from sitebench.suite_base.points import at_size

    if paper:
        commands.refuse_measure(options, _PAPER_WINDOW_S)
        warmup = max(options.warmup, _PAPER_WARMUP_S)
        options = replace(options, warmup=warmup, measure=_PAPER_WINDOW_S)
    chosen = commands.sweep_sizes(sizes, SIZES_1997 if paper else None)
    found, options = commands.parse_operations(SUITE, operations), password_asked(options)
    each = [at_size(IlsOptions, options, size) for size in chosen]
    _measure(each, found, options, run_file("ils-sweep"))


def _measure(
    sizes: Sequence[IlsOptions],
    operations: tuple[str, ...],
    options: RunOptions | SweepOptions,
    default_out: str | None,
) -> None:
    from ils_bench import points
    from ils_bench.paper.tables import tables
    from sitebench.measure.command import measure

    measure(
        options,
        users=options.users,
        stages=lambda seeding: [points.stage(each, operations, seeding) for each in sizes],
        facts=lambda: points.manifest(options, [each.entries for each in sizes]),
        tables=tables,
        # As asked for; what changes the directory was measured last.
        order=lambda result: (result.spec.entries, operations.index(result.spec.operation)),
        default_out=default_out,
        afterwards=_reporting_leftovers(options),
    )


def _reporting_leftovers(options: LoadTestOptions) -> Callable[[], None]:
    """Return what reports people of the run that begins now and that stay in a user's directory.

    This process adds some of them, the processes of its points add the others.
    """
    import os

    from ils_bench.seeding import journal
    from ils_bench.targets.opening import OWN_TARGETS
    from sitebench.measure.command import say

    before = {each.id for each in journal.entries()}

    def report() -> None:
        if options.target in OWN_TARGETS:
            return
        new = [each for each in journal.entries() if each.id not in before]
        left = [each.target for each in new if each.abandoned or each.pid == os.getpid()]
        for target in dict.fromkeys(left):
            say(f"{target} still holds people of this run: `sitebench ils clean` removes them")

    return report


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def vary(
    options: RunOptions,
    asked: Annotated[list[str], commands.vary_option()],
    operation: Annotated[str, _OPERATION] = "lookup",
) -> None:
    """Vary one thing after another and hold the rest, as in the papers' tuning.

    sitebench ils vary lookup --vary processors=1,2 --vary threads=1,2 --vary keys=uniform,zipfian

    sitebench ils vary add --target openldap --vary disk=2mb/s,none --vary memory=64m --repeats 6

    processors, memory, network and disk limit a directory that is started here; what this machine
    does not allow is left out, with the reason. An interrupted run resumes with the same --out.
    """
    import tempfile
    from pathlib import Path

    from ils_bench import points
    from ils_bench.targets.identity import password_asked
    from sitebench.options.convert import narrowed
    from sitebench.suite_base.vary import VaryJob
    from sitebench.suite_base.vary import vary as measure_levels

    name, options = commands.parse_operation(SUITE, operation), password_asked(options)
    base = narrowed(IlsOptions, options)
    job = VaryJob(
        stage=lambda one, seeding: points.stage(one, [name], seeding),
        facts=lambda: points.manifest(base, [base.entries]),
        data=Path(tempfile.gettempdir()) if options.target == "openldap" else None,
        default_out="ils-vary",
        aliases={"workers": "target_threads"},
    )
    measure_levels(options, base, asked, job)


@app.command(rich_help_panel="Measure")
@command_options(PeakOptions)
def peak(
    options: PeakOptions,
    operation: Annotated[str, _OPERATION] = "lookup",
) -> None:
    """Find the highest rate of a directory.

    With each number of --clients in turn, as in the papers; each client starts its next operation
    when the last is answered:

    sitebench ils peak lookup --entries 100k

    sitebench ils peak connect --clients 1,2,4,8,16,32 --repeats 6 --foresee 64

    Or by a search for the highest rate that meets an objective, which is then confirmed:

    sitebench ils peak lookup --objective 'p99<5ms,failures<0.1%'

    sitebench ils peak lookup --objective 'p99<5ms' --target ldap://127.0.0.1:389
    --base ou=people,dc=example,dc=com --start 500

    An interrupted search resumes where it stopped if repeated with the same --out.
    """
    from ils_bench import points
    from ils_bench.targets.identity import password_asked
    from sitebench.suite_base.points import at_size

    name, options = commands.parse_operation(SUITE, operation), password_asked(options)
    one = at_size(IlsOptions, options, options.entries)
    commands.find_peak(
        SUITE,
        options,
        one,
        name,
        points,
        stage=lambda seeding: points.stage(one, (name,), seeding, reused=True),
        afterwards=_reporting_leftovers(options),
    )


@app.command(rich_help_panel="Measure")
@command_options(UiOptions)
def ui(options: UiOptions) -> None:
    """Test a directory from Locust's web UI; the options are the first values of its form.

    sitebench ils ui

    sitebench ils ui --entries 100k --users 64 --out tests.sitebench

    sitebench ils ui --web-host 0.0.0.0 --web-login --login-file login --no-browser
    """
    from ils_bench.targets.identity import password_asked
    from sitebench.locust.web_ui.starting import become_locust

    become_locust(SUITE.locustfile_path(), password_asked(options), LocustOptions)


@app.command(rich_help_panel="Directories")
@command_options(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve the embedded directory until Ctrl-C.

    sitebench ils serve --entries 1m

    sitebench ils serve --suffix dc=example,dc=com --ldif people.ldif --port 3389

    sitebench ils serve --profile ils --port 1002
    """
    from ils_bench.targets.ldap_directory import serve as serve_directory

    serve_directory(options, Console())


@app.command(rich_help_panel="Directories")
@command_options(SeedOptions)
def seed(
    options: SeedOptions,
    to: Annotated[
        str | None,
        typer.Option(
            help="LDIF file (- for standard output), ldap:// address, or slapd:/folder "
            "to fill (default: --target).",
            metavar="PLACE",
        ),
    ] = None,
) -> None:
    """Fill a running directory, make the folder of a slapd, or write an LDIF file.

    If it is interrupted, the same command resumes where it stopped.

    sitebench ils seed --to people.ldif --entries 1m

    sitebench ils seed --to ldap://127.0.0.1:389/ou=people,dc=example,dc=com --entries 10k

    sitebench ils seed --to slapd:/srv/people --entries 100k
    """
    from ils_bench.seeding.commands import seed_destination

    seed_destination(options, to or options.target)


@app.command(rich_help_panel="Directories")
@command_options(SeedOptions)
def verify(
    options: SeedOptions,
    place: Annotated[
        str | None,
        typer.Argument(
            help="LDIF file (- for standard input), ldap:// address, or slapd:/folder "
            "(default: --target).",
            metavar="PLACE",
        ),
    ] = None,
) -> None:
    """Check that a directory or file holds exactly the people that `seed` puts there.

    sitebench ils verify people.ldif --entries 1m

    sitebench ils verify ldap://127.0.0.1:389/ou=people,dc=example,dc=com --entries 10k
    """
    from ils_bench.seeding.commands import verify_destination

    verify_destination(options, place or options.target)


@app.command(rich_help_panel="Directories")
def schema(
    server: Annotated[
        str,
        typer.Argument(
            help="Format: openldap (for slapd.conf), config (OpenLDAP's cn=config) or 389ds.",
            autocompletion=lambda: list(FILES),
            metavar="FORMAT",
        ),
    ] = "openldap",
) -> None:
    """Print the schema of the people's entries, for your directory to load.

    sitebench ils schema openldap

    sitebench ils schema 389ds
    """
    print(text(named(OneOf(*FILES), "FORMAT")(server)), end="")


@app.command(rich_help_panel="Directories")
@command_options(SeedOptions)
def clean(
    options: SeedOptions,
    seeded: Annotated[
        bool,
        typer.Option("--seeded", help="Removal of the --entries people that `seed` added, too."),
    ] = False,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget",
            help="Forget what was left in --target, which is gone, without removing anything.",
        ),
    ] = False,
) -> None:
    """Remove entries that crashed runs left in your directories, or in that of --target.

    sitebench ils clean

    sitebench ils clean --forget --target ldap://gone:389

    sitebench ils clean --seeded --target ldap://127.0.0.1:389/ou=people,dc=example,dc=com
    --entries 10k
    """
    from ils_bench.seeding import commands

    if forget and seeded:
        raise BadInput("--forget removes nothing, so --seeded does not go with it", "leave one out")
    if forget:
        commands.forget(options)
    else:
        commands.clean_all(options, seeded=seeded)
