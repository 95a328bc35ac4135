"""A developer's command: a function with options, run as the product's commands are."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

import typer

from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with


def run(function: Callable[..., Any], name: str, epilog: str = "") -> None:
    """Run it with the arguments of this process: a known error is one line and its remedy."""
    app = typer.Typer(
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(epilog=epilog)(function)
    # SIGTERM does what Ctrl-C does: targets are stopped, and what was measured is kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app(prog_name=f"python -m {name}")
    except SitebenchError as error:
        exit_with(error)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
