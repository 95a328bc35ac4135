"""`sitebench bench`: the ratios of every half in one run."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol

import typer
from rich.console import Console
from typer.core import TyperCommand

from sitebench import units
from sitebench.errors import EXIT_FAILED, UnknownValue

if TYPE_CHECKING:
    from sitebench.calibrate.ratios import Row, Trial


class Harness(Protocol):
    """What a half's trials share while they run."""

    @property
    def stack(self) -> contextlib.ExitStack: ...  # noqa: D102
    def trials(self) -> list[Trial]: ...  # noqa: D102


@dataclass(frozen=True)
class Half:
    """One half's rows, and how to make its harness for windows of so many seconds."""

    rows: Sequence[Row]
    harness: Callable[[float], Harness]


def tell(text: str) -> None:
    """Show what is going on, on a line that the next one replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def told() -> None:
    """Clear that line."""
    tell("")


def names_rows(halves: Callable[[], Sequence[Half]]) -> type[TyperCommand]:
    """Make the class of a command whose help ends with the rows, imported when that is shown."""

    class NamesRows(TyperCommand):
        @property
        def epilog(self) -> str | None:
            return f"Rows: {', '.join(row.key for half in halves() for row in half.rows)}."

        @epilog.setter
        def epilog(self, _: str | None) -> None:
            """Take none: every command is given one when it is made."""

    return NamesRows


def bench_command(halves: Callable[[], Sequence[Half]]) -> Callable[..., None]:
    """Make the command; the halves are imported when it runs, not when the shell completes."""

    def bench(
        rows: Annotated[
            str | None,
            typer.Option(
                help="Rows to measure, separated by commas; all unless told otherwise.",
                metavar="LIST",
            ),
        ] = None,
        repeats: Annotated[int, typer.Option(help="Interleaved repeats.", min=1, metavar="N")] = 5,
        window: Annotated[
            str, typer.Option(help="Length of one measurement.", metavar="TIME")
        ] = "2s",
        as_json: Annotated[
            bool, typer.Option("--json", help="Print JSON instead of a table.")
        ] = False,
    ) -> None:
        """Measure the ratios that sitebench promises: against this machine's floor, slapd, nginx.

        sitebench bench

        sitebench bench --rows lookup,cpu,connect --repeats 5 --json
        """
        _run(halves(), rows, repeats, units.parse_duration(window), as_json=as_json)

    return bench


def _run(
    halves: Sequence[Half], rows: str | None, repeats: int, window_s: float, *, as_json: bool
) -> None:
    from sitebench.calibrate.ratios import judge, run, table

    chosen = choose([row for half in halves for row in half.rows], rows)
    needed = {name for row in chosen for name in row.trials}
    with contextlib.ExitStack() as stack:
        trials = []
        for half in halves:
            if any(row in chosen for row in half.rows):
                harness = half.harness(window_s)
                stack.enter_context(harness.stack)
                trials += [trial for trial in harness.trials() if trial.name in needed]
        series = run(trials, repeats, tell)
    told()
    outcomes = judge(chosen, series)
    if as_json:
        document = {
            "repeats": repeats,
            "rows": [outcome.to_json() for outcome in outcomes],
            "values": series.values,
        }
        print(json.dumps(document, indent=2))
    else:
        Console().print(table(outcomes, repeats))
    if any(outcome.state == "FAIL" for outcome in outcomes):
        raise typer.Exit(EXIT_FAILED)


def choose(rows: Sequence[Row], wanted: str | None) -> list[Row]:
    """Return the rows whose keys are listed, or all."""
    if wanted is None:
        return list(rows)
    keys = [part.strip() for part in wanted.split(",") if part.strip()]
    for key in keys:
        if key not in {row.key for row in rows}:
            known = ", ".join(row.key for row in rows)
            raise UnknownValue(f"unknown row {key!r}", f"use some of {known}")
    return [row for row in rows if row.key in keys]
