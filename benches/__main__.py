"""`python -m benches`: every ratio in one run."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from benches import ils, ils_limits, ils_others, ils_tls, ps, report, rows, scenarios, web
from benches.command import run
from benches.ratios import Row, judge, run_trials, tables
from sitebench.errors import EXIT_FAILED, UnknownValue
from sitebench.options import option
from sitebench.options.command import command
from sitebench.tables.console import show

GROUPS = (
    (ils.ROWS, ils.DirectoryBench),
    (ils_tls.ROWS, ils_tls.TlsBench),
    (ils_limits.ROWS, ils_limits.LimitsBench),
    (ils_others.ROWS, ils_others.OthersBench),
    (ps.ROWS, ps.SiteBench),
    (web.ROWS, web.WebBench),
    (report.ROWS, report.ReportBench),
    (rows.ROWS, rows.RowsBench),
    (scenarios.ROWS, scenarios.ScenarioBench),
)
ROWS: tuple[Row, ...] = tuple(row for rows, _ in GROUPS for row in rows)


@dataclass(frozen=True)
class _BenchOptions:
    """What `python -m benches` takes."""

    rows: str | None = option.text(
        None,
        f"Rows to measure (default: all): some of {', '.join(row.key for row in ROWS)}.",
        "LIST",
    )
    repeats: int = option.count(5, "Interleaved repeats.")
    window: float = option.duration(2.0, "Length of one measurement.")
    json: bool = option.flag("JSON instead of a table.")


@command(_BenchOptions, panel="Measure")
def bench(options: _BenchOptions) -> None:
    """Measure the ratios that sitebench promises: against this machine's floor, slapd, nginx.

    python -m benches --rows lookup,cpu,connect --repeats 5 --json
    """
    chosen = choose(ROWS, options.rows)
    needed = {name for row in chosen for name in row.trials}
    repeats = options.repeats
    with contextlib.ExitStack() as stack:
        trials = []
        for its_rows, bench_of in GROUPS:
            if any(row in chosen for row in its_rows):
                opened = bench_of(options.window)
                stack.enter_context(opened.stack)
                trials += [trial for trial in opened.trials() if trial.name in needed]
        with Console(stderr=True).status("") as status:
            series = run_trials(trials, repeats, status.update)
    outcomes = judge(chosen, series)
    if options.json:
        document = {
            "repeats": repeats,
            "rows": [outcome.to_json() for outcome in outcomes],
            "values": series.values,
        }
        print(json.dumps(document, indent=2))
    else:
        show(tables(outcomes, repeats))
    if any(outcome.state == "FAIL" for outcome in outcomes):
        sys.exit(EXIT_FAILED)


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
    run(bench, "benches")
