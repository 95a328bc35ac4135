"""`sitebench ps`: run, sweep, vary, peak, ui, serve, seed, example and from-har."""

from __future__ import annotations

from pathlib import Path

from ps_bench.options import (
    HarOptions,
    PsOptions,
    SeedOptions,
    ServeOptions,
    SweepOptions,
    TestOptions,
)
from ps_bench.suite import SUITE
from sitebench.errors import BadFile
from sitebench.options.command import argument, command, option
from sitebench.suite_base.commands import TestCommands, one_operation
from sitebench.units import plural

_PANEL = "Sites"

_TESTS = TestCommands(
    suite=SUITE,
    default="scenario",
    operation=one_operation(SUITE),
    one=PsOptions,
    sweep=(SweepOptions, TestOptions),
    noun="site",
    measures="Measure the paper's scenario, or a single request, at one size.",
    sweeps="Measure the scenario over sizes of the database.",
    examples={
        "run": [
            "run --entries 100k --users 64",
            "run site.toml --target http://127.0.0.1:5000 --entries 1k",
            "run --rate 200 --measure 60s --objective 'p99<50ms,failures<0.1%' --junit run.xml",
            "run page --keepalive --json",
        ],
        "sweep": [
            "sweep --entries 1k,10k,100k,1m",
            "sweep --entries 1k,10k --repeats 6",
            "sweep --keepalive --entries 1k,1m --out kept.sitebench",
        ],
        "vary": [
            "vary --vary processors=1,2 --vary workers=1,2 --vary keepalive=off,on",
            "vary page --vary network=10mbit,100mbit,none --vary row-cache=0,10000 --repeats 6",
        ],
        "clients": [
            "peak --entries 100k",
            "peak page --keepalive --clients 1,2,4,8,16,32 --repeats 6 --foresee 64",
        ],
        "objective": [
            "peak --objective 'p99<50ms,failures<0.1%'",
            "peak site.toml --objective 'p90<1s' --target http://127.0.0.1:5000",
        ],
        "ui": [
            "ui",
            "ui --entries 100k --users 64 --out tests.sitebench",
            "ui --target http://127.0.0.1:8000 --scenario site.toml --no-browser",
        ],
    },
)


@command(ServeOptions, panel=_PANEL)
def serve(options: ServeOptions) -> None:
    """Serve the personalized site until Ctrl-C.

    sitebench site serve --entries 1m

    sitebench site serve --database people.sqlite --durability full --port 8081
    """
    from ps_bench.targets.personalized_site import serve as serve_site

    serve_site(options)


@command(SeedOptions, argument("FILE", "File to write.", parse=Path), panel=_PANEL)
def seed(options: SeedOptions, file: Path) -> None:
    """Write a user-property database: one SQLite file, one row per person.

    sitebench site seed people.sqlite --entries 1m
    """
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar
    from sitebench.seeders.upd import UpdSpec, build
    from sitebench.system.files import refuse_existing

    refuse_existing(file)
    people = UpdSpec(options.entries, options.seed, options.locales)
    with bar(f"writing {file}", people.size) as move:
        upd = build(people, file, lambda done, _: move(done))
    say(f"{plural(people.size, 'person', 'people')} in {file}, {file.stat().st_size:,} bytes")
    say(f"digest {upd.manifest['digest']}")


@command(None, panel=_PANEL)
def example() -> None:
    """Print a scenario file, to begin one for a site of your own.

    sitebench site example > site.toml
    """
    from sitebench.cli.docs import text
    from sitebench.system.output import print_lines

    print_lines([text("examples/flask_site/site.toml")])


@command(
    None,
    option("show", "Operation whose file is printed.", "NAME", words=tuple(SUITE.operations)),
    panel=_PANEL,
)
def operations(show: str | None) -> None:
    """List the operations, or print the scenario file of one.

    sitebench site operations

    sitebench site operations --show scenario
    """
    from ps_bench.operations import text_of
    from sitebench.suite_base.listing import show_operations

    show_operations(SUITE, text_of, show)


@command(HarOptions, argument("FILE", "HAR file.", parse=Path), name="from-har", panel=_PANEL)
def from_har(options: HarOptions, file: Path) -> None:
    """Make a scenario file of a browser's recording: its requests to one host.

    A value of an answer that is sent later is captured; passwords become columns of accounts.csv.
    What was left out, and what the file needs, is said.

    sitebench site from-har session.har --out session.toml
    """
    from sitebench.measure.command import say
    from sitebench.scenario.har import convert
    from sitebench.system.files import refuse_existing, write
    from sitebench.system.output import print_lines
    from sitebench.system.texts import read_text

    if options.out is not None:
        refuse_existing(Path(options.out))
    har = read_text(file, "the recording", BadFile, "name a readable HAR file")
    har = har.removeprefix("\ufeff")
    made = convert(har, file.name, options.host, think=options.think, pages_only=options.pages_only)
    if options.out is None:
        print_lines([made.text.removesuffix("\n")])
    else:
        write(Path(options.out), made.text)
    for line in made.notes:
        say(line)


COMMANDS = {
    **_TESTS.all(),
    "operations": operations,
    "serve": serve,
    "seed": seed,
    "example": example,
    "from-har": from_har,
}
