"""The command line, in a fork that has imported it and what its commands import."""

from pkgutil import resolve_name

import sitebench.measure.command
import sitebench.measure.progress
import sitebench.report.printed
import sitebench.tables.screen  # noqa: F401
from sitebench.cli.main import main as run_command
from sitebench.suite import suites
from tests.support.warm import begin

for _suite in suites():
    resolve_name(_suite.commands)
    resolve_name(_suite.points)


def main() -> None:
    """Run a command."""
    begin()
    run_command()
