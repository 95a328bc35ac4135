"""`sitebench ps seed`, `example` and `from-har`, which write files."""

from __future__ import annotations

from pathlib import Path

from ps_bench.options import HarOptions, SeedOptions
from sitebench.errors import BadFile
from sitebench.options.command import argument, command
from sitebench.units import plural

_PANEL = "Sites"


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
    """Print an example of a scenario file for a site of your own.

    sitebench site example > site.toml
    """
    from sitebench.cli.docs import text
    from sitebench.system.output import print_lines

    print_lines([text("examples/flask_site/site.toml")])


@command(HarOptions, argument("FILE", "HAR file.", parse=Path), name="from-har", panel=_PANEL)
def from_har(options: HarOptions, file: Path) -> None:
    """Make a scenario file from a browser's recording of requests to one host.

    A value in an answer is captured if a later request sends it. Passwords become columns of
    accounts.csv. Notes list the requests left out, and what to add to the file.

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
    scenario = convert(
        har, file.name, options.host, think=options.think, pages_only=options.pages_only
    )
    if options.out is None:
        print_lines([scenario.text.removesuffix("\n")])
    else:
        write(Path(options.out), scenario.text)
    for line in scenario.notes:
        say(line)
