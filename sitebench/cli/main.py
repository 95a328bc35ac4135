"""The root of the command line; suites add their commands through `sitebench.suite`.

Importing it must stay quick, because completion does so at every key: no Locust, no ldap3, no
Faker, and a suite's commands only when one of them is needed.
"""

from __future__ import annotations

import functools
import shlex
import signal
import sys
from collections.abc import Mapping, MutableMapping
from pkgutil import resolve_name
from typing import Annotated, Any, ClassVar

import typer
from typer.main import get_group

from sitebench.cli.compare import compare
from sitebench.cli.demo import demo
from sitebench.cli.export import export
from sitebench.cli.report import report
from sitebench.cli.resume import resume
from sitebench.cli.usage import UsageError, as_bad_input
from sitebench.cli.worker import worker
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with
from sitebench.options.help import App, Group
from sitebench.suite import suites

_EXAMPLES = "\n\n".join(
    [
        "sitebench demo",
        *(shlex.join(["sitebench", each.name, *each.demo.command]) for each in suites()),
    ]
)


class _OfSuites(Group):
    """A group whose commands are suites, some of them."""

    long_names: ClassVar[Mapping[str, str]] = {
        each.name: each.long_name for each in suites() if each.long_name
    }


app = App(
    cls=_OfSuites,
    help="Load tester for LDAP directories and web sites. It says for every number whether the "
    f"server or the load generator was the limit.\n\n{_EXAMPLES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _add_group(
    name: str, explanation: str, commands: str, panel: str, kind: type[Group] = Group
) -> None:
    """Add a group whose commands are those of a `typer.Typer` that is imported when it is used."""

    @functools.cache
    def loaded() -> MutableMapping[str, Any]:
        return get_group(resolve_name(commands)).commands

    class Loaded(kind):  # type: ignore[valid-type,misc]
        @property
        def commands(self) -> MutableMapping[str, Any]:
            return loaded()

        @commands.setter
        def commands(self, _: MutableMapping[str, Any]) -> None:
            """Take none: a group is given those of its own `typer.Typer`, which has none."""

    group = App(cls=Loaded, no_args_is_help=True)
    app.add_typer(group, name=name, help=explanation, rich_help_panel=panel)


app.command(rich_help_panel="Measure")(demo)
for _suite in suites():
    _add_group(_suite.name, _suite.help, _suite.commands, "Measure")
app.command(rich_help_panel="Results")(report)
app.command(rich_help_panel="Results")(compare)
app.command(rich_help_panel="Results")(resume)
app.command(rich_help_panel="Results")(export)
_add_group(
    "plan",
    "Plan capacity: people per machine, machines per community.",
    "sitebench.cli.plan:app",
    "Results",
    _OfSuites,
)
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
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Version of sitebench."
        ),
    ] = False,
) -> None:
    """Take the options of every command."""


def main() -> None:
    """Run the command line; a SitebenchError is printed as one line and its remedy."""
    # SIGTERM does what Ctrl-C does: targets are stopped, results so far are kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(app(prog_name="sitebench", standalone_mode=False))
    except SitebenchError as error:
        exit_with(error)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(error.exit_code)
        exit_with(as_bad_input(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except RuntimeError as error:
        # Python 3.11 makes this of a Ctrl-C within `__set_name__`, in a module that is imported.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
