"""The command line's root: it alone knows both halves.

Importing it must stay quick (completion runs it at every key): no Locust, no ldap3, no Faker.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ils_bench.calibrate import calibrate
from ils_bench.cli import app as ils
from ps_bench.cli import app as ps
from sitebench.cli.compare import compare
from sitebench.cli.export import export, import_run
from sitebench.cli.plan import app as plan
from sitebench.cli.report import report_command
from sitebench.cli.resume import resume
from sitebench.cli.worker import worker
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, leave

if TYPE_CHECKING:
    from sitebench.report.suite import ReportHalf

app = typer.Typer(
    help="Workload tester for sites of online users: directories (ils) and personalized pages "
    "(ps), measured so that the target, not the tester, is what the numbers are about.\n\n"
    "First steps: sitebench ils sweep --sizes 1k,10k   |   sitebench ps sweep --sizes 1k,10k   |   "
    "sitebench ps serve",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.add_typer(ils, name="ils")
app.add_typer(ps, name="ps")
app.add_typer(plan, name="plan")


def _report_halves() -> dict[str, ReportHalf]:
    from ils_bench.paper import report as directory
    from ps_bench.paper import report as site

    return {half.name: half for half in (directory.report_half(), site.report_half())}


app.command(rich_help_panel="This machine")(calibrate)
app.command(rich_help_panel="This machine")(worker)
app.command(rich_help_panel="Results")(compare)
app.command("report", rich_help_panel="Results")(report_command(_report_halves))
app.command(rich_help_panel="Results")(resume)
app.command(rich_help_panel="Results")(export)
app.command("import", rich_help_panel="Results")(import_run)


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
        leave(error)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
