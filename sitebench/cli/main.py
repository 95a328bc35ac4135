"""The command line's root. What the suites add to it they say themselves (`sitebench.suite`).

Importing it must stay quick (completion runs it at every key): no Locust, no ldap3, no Faker, and
of a group only its name and its help until one of its commands is asked for.
"""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import MutableMapping
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from sitebench.cli.compare import compare
from sitebench.cli.export import export
from sitebench.cli.report import report
from sitebench.cli.resume import resume
from sitebench.cli.worker import worker
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with
from sitebench.suite import suites

_FIRST_STEPS = "   |   ".join(f"sitebench {each.name} sweep --sizes 1k,10k" for each in suites())

app = typer.Typer(
    help="Load tester for LDAP directories and web sites of online users. It measures so that the "
    f"numbers say what the target can do, not the tester.\n\nFirst steps: {_FIRST_STEPS}",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _imported_when_used(commands: str) -> type[TyperGroup]:
    """Return the class of a group whose commands are those of a `typer.Typer` elsewhere."""

    @functools.cache
    def loaded() -> MutableMapping[str, Any]:
        return get_group(resolve_name(commands)).commands

    class Group(TyperGroup):
        @property
        def commands(self) -> MutableMapping[str, Any]:
            return loaded()

        @commands.setter
        def commands(self, _: MutableMapping[str, Any]) -> None:
            """Take none: a group is given those of its own `typer.Typer`, which has none."""

    return Group


def _add_group(name: str, explanation: str, commands: str) -> None:
    group = typer.Typer(cls=_imported_when_used(commands), no_args_is_help=True)
    app.add_typer(group, name=name, help=explanation)


for _suite in suites():
    _add_group(_suite.name, _suite.help, _suite.commands)
    if _suite.calibrate is not None:
        app.command("calibrate", rich_help_panel="This machine")(resolve_name(_suite.calibrate))
_add_group(
    "plan", "Plan capacity: people per machine, machines per community.", "sitebench.cli.plan:app"
)
app.command(rich_help_panel="This machine")(worker)
app.command(rich_help_panel="Results")(compare)
app.command(rich_help_panel="Results")(report)
app.command(rich_help_panel="Results")(resume)
app.command(rich_help_panel="Results")(export)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"sitebench {version('sitebench')}")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Hold the options of every command."""


def main() -> None:
    """Run the command line; everything a person can mend is one line and its remedy."""
    # Whoever ends us wants what Ctrl-C gives a person: targets stopped, what was measured kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except SitebenchError as error:
        exit_with(error)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
