"""`sitebench resume`: repeats the command of a run to measure the points that are missing."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sitebench.errors import BadRunFile


def resume(
    run: Annotated[Path, typer.Argument(help="Run file of an interrupted run.", metavar="RUN")],
) -> None:
    """Resume a run that was interrupted or killed: measure the points that are missing.

    sitebench resume run.sitebench

    It runs the command recorded in the file, with `--out RUN --resume`.
    """
    from sitebench.measure.command import say
    from sitebench.runs.runfile import RunFile

    with RunFile(run) as opened:
        command: Any = opened.manifest().get("command")
    argv = again(command, run)
    if argv is None:
        raise BadRunFile(
            f"{run} does not hold a sitebench command that could resume it",
            "repeat the command that made it, with --out and the name of the file",
        )
    say(f"resuming with: {shlex.join(['sitebench', *argv])}")
    # A new process, so that the command it records is the first one, not `resume`.
    os.execv(sys.executable, [sys.executable, "-m", "sitebench.cli.main", *argv])


def again(command: Any, run: Path) -> list[str] | None:
    """Return the arguments that resume a run file, or None if it records no command."""
    if not isinstance(command, list) or command[:1] != ["sitebench"] or len(command) < 2:
        return None
    argv, value = [], False
    for part in command[1:]:
        if not (value or part in ("--out", "--resume") or part.startswith("--out=")):
            argv.append(part)
        value = part == "--out"
    return [*argv, "--out", str(run), "--resume"]
