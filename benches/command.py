"""A developer's command: a function with options, run like the product's commands."""

from __future__ import annotations

import sys

import click

from sitebench.cli.usage import as_bad_input
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with
from sitebench.options.command import Command, invoke
from sitebench.system.interrupt import end_in_order


def run(command: Command, name: str) -> None:
    """Run a command with this process's arguments; print a known error as a line and its remedy."""
    end_in_order()
    try:
        sys.exit(invoke(command, f"python -m {name}", sys.argv[1:]))
    except SitebenchError as error:
        exit_with(error)
    except click.UsageError as error:
        exit_with(as_bad_input(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
