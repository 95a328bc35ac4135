"""`python -m benches.soak`: a long run of the embedded directory."""

from __future__ import annotations

from typing import Annotated

import typer

from benches.command import run
from benches.soak.run import soak
from sitebench import units
from sitebench.measure.options import run_file


def command(
    entries: Annotated[str, typer.Option(help="People in the directory.", metavar="SIZE")] = "100k",
    measure: Annotated[
        str, typer.Option(help="Length of the measured window.", metavar="TIME")
    ] = "2m",
    users: Annotated[int, typer.Option(help="Lanes.", min=16, metavar="N")] = 64,
    out: Annotated[
        str | None,
        typer.Option(help="Run file (default: a name with the time in it).", metavar="FILE"),
    ] = None,
) -> None:
    """Work the embedded directory for a long time, and compare the end with the beginning.

    python -m benches.soak --entries 1m --measure 1h

    Lookups at full rate; people who register, change, leave and expire; lanes that reconnect. It
    fails when memory grows on either side, when an operation takes more CPU time at the end than
    at the beginning, or when lanes and directory have not counted the same.
    """
    size, length = units.parse_size(entries), units.parse_duration(measure)
    soak(size, length, users, out or run_file("ils-soak"))


if __name__ == "__main__":
    run(command, "benches.soak")
