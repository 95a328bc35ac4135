"""`python -m benches`: every ratio in one run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from benches import ils, ils_limits, ils_tls, ps, report, web
from benches.command import run
from benches.ratios import Row, judge, run_trials, table
from sitebench import units
from sitebench.errors import EXIT_FAILED, UnknownValue

GROUPS = (
    (ils.ROWS, ils.DirectoryBench),
    (ils_tls.ROWS, ils_tls.TlsBench),
    (ils_limits.ROWS, ils_limits.LimitsBench),
    (ps.ROWS, ps.SiteBench),
    (web.ROWS, web.WebBench),
    (report.ROWS, report.ReportBench),
)
ROWS: tuple[Row, ...] = tuple(row for rows, _ in GROUPS for row in rows)


def bench(
    rows: Annotated[
        str | None,
        typer.Option(help="Rows to measure, separated by commas (default: all).", metavar="LIST"),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Interleaved repeats.", min=1, metavar="N")] = 5,
    window: Annotated[str, typer.Option(help="Length of one measurement.", metavar="TIME")] = "2s",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Measure the ratios that sitebench promises: against this machine's floor, slapd, nginx.

    python -m benches --rows lookup,cpu,connect --repeats 5 --json
    """
    chosen = choose(ROWS, rows)
    needed = {name for row in chosen for name in row.trials}
    window_s = units.parse_duration(window)
    with contextlib.ExitStack() as stack:
        trials = []
        for its_rows, bench_of in GROUPS:
            if any(row in chosen for row in its_rows):
                opened = bench_of(window_s)
                stack.enter_context(opened.stack)
                trials += [trial for trial in opened.trials() if trial.name in needed]
        with Console(stderr=True).status("") as status:
            series = run_trials(trials, repeats, status.update)
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


if __name__ == "__main__":
    run(bench, "benches", epilog=f"Rows: {', '.join(row.key for row in ROWS)}.")
