"""The root of the command line; suites add their commands through `sitebench.suite`.

Importing it must stay quick, because completion does so at every key: no Locust, no ldap3, no
Faker, and a suite's commands only when one of them is needed.
"""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import MutableMapping
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.main import get_group

from sitebench.cli.compare import compare
from sitebench.cli.export import export
from sitebench.cli.report import report
from sitebench.cli.resume import resume
from sitebench.cli.worker import worker
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with
from sitebench.suite import suites

_EXAMPLES = "\n\n".join(f"sitebench {each.name} sweep --sizes 1k,10k" for each in suites())

app = typer.Typer(
    help="Load tester for LDAP directories and web sites. It tells for every number whether the "
    f"target or the tester was the limit.\n\n{_EXAMPLES}",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _add_group(name: str, explanation: str, commands: str) -> None:
    """Add a group whose commands are those of a `typer.Typer` that is imported when it is used."""

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

    group = typer.Typer(cls=Group, no_args_is_help=True)
    app.add_typer(group, name=name, help=explanation)


for _suite in suites():
    _add_group(_suite.name, _suite.help, _suite.commands)
_add_group(
    "plan", "Plan capacity: people per machine, machines per community.", "sitebench.cli.plan:app"
)
app.command(rich_help_panel="Results")(report)
app.command(rich_help_panel="Results")(compare)
app.command(rich_help_panel="Results")(resume)
app.command(rich_help_panel="Results")(export)
for _suite in suites():
    if _suite.calibrate is not None:
        app.command("calibrate", rich_help_panel="This machine")(resolve_name(_suite.calibrate))
app.command(rich_help_panel="This machine")(worker)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"sitebench {version('sitebench')}")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Version of sitebench."),
    ] = False,
) -> None:
    """Take the options of every command."""


def _hide_types_of_flags() -> None:
    """Show flags without `<bool>`, also --help and --install-completion, which typer adds."""
    display = TyperOption.display_type_rich

    def display_value(self: TyperOption, ctx: Any) -> str | None:
        return None if self.is_flag else display(self, ctx)

    TyperOption.display_type_rich = display_value  # type: ignore[method-assign]


# Older versions of typer show no type of a flag.
if hasattr(TyperOption, "display_type_rich"):
    _hide_types_of_flags()


def main() -> None:
    """Run the command line; a SitebenchError is printed as one line and its remedy."""
    # SIGTERM does what Ctrl-C does: targets are stopped, results so far are kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except SitebenchError as error:
        exit_with(error)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
