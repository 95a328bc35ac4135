from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from sitebench.errors import BadRunFile, printable
from sitebench.options.command import argument, command
from sitebench.options.spelling import gives, long_option, remove_option
from sitebench.system.programs import python_module

NOT_FROM_A_FILE = ("fail_log", "junit", "docroot", "cgi_program")
"""Options that write or run files: a run file from a stranger must not set them."""

_MOST_SHOWN = 10_000
"""Largest number of printed characters of a command."""


@command(None, argument("RUN", "Run file of an interrupted run.", parse=Path), panel="Results")
def resume(run: Path) -> None:
    """Resume an interrupted or killed run: measure the missing points.

    sitebench resume run.sitebench

    The command in the file is run again, with `--out RUN --resume`. A command that writes or runs
    other files (--fail-log, --junit, --docroot, --cgi-program) is only shown, for you to repeat.
    """
    from sitebench.measure.command import say
    from sitebench.runs.runfile import RunFile

    with RunFile(run) as opened:
        command: Any = opened.manifest().get("command")
    argv = again(command, run)
    if argv is None:
        raise BadRunFile(
            f"{run} has no sitebench command to resume",
            "if a Python program wrote it, run that program again, with the same out",
        )
    line = printable(shlex.join(["sitebench", *argv]), _MOST_SHOWN)
    if names := [long_option(name) for name in NOT_FROM_A_FILE if gives(argv, name)]:
        raise BadRunFile(
            f"the command in {run} has {' and '.join(names)}: a run file must not decide which "
            "files are written or run",
            f"if the command is yours, repeat it: {line}",
        )
    say(f"resuming with: {line}")
    # A new process measures, so that the run file records the first command, and not `resume`.
    python = python_module("sitebench.cli.main")
    os.execv(python[0], [*python, *argv])


def again(command: Any, run: Path) -> list[str] | None:
    """Return the arguments that resume a run file; None if it records no command."""
    if not isinstance(command, list) or command[:1] != ["sitebench"] or len(command) < 2:
        return None
    argv = [part for part in remove_option(command[1:], "out") if part != "--resume"]
    return [*argv, "--out", str(run), "--resume"]
