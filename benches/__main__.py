"""`python -m benches`: all ratios in one run."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benches import ils, ils_limits, ils_others, ils_tls, pairs, ps, report, rows, scenarios, web
from benches.command import run
from benches.ratios import Outcome, Row, Series, judge, run_trials, tables
from sitebench.errors import EXIT_FAILED, UnknownValue
from sitebench.options import option
from sitebench.options.command import command
from sitebench.tables.terminal import show

GROUPS = (
    (ils.ROWS, ils.IlsBench),
    (ils_tls.ROWS, ils_tls.TlsBench),
    (ils_limits.ROWS, ils_limits.LimitsBench),
    (ils_others.ROWS, ils_others.OthersBench),
    (ps.ROWS, ps.SiteBench),
    (web.ROWS, web.WebBench),
    (report.ROWS, report.ReportBench),
    (rows.ROWS, rows.RowsBench),
    (scenarios.ROWS, scenarios.ScenarioBench),
)
ROWS: tuple[Row, ...] = (*pairs.ROWS, *(row for rows, _ in GROUPS for row in rows))


@dataclass(frozen=True)
class _BenchOptions:
    rows: str | None = option.text(
        None,
        f"Rows to measure (default: all): some of {', '.join(row.key for row in ROWS)}.",
        "LIST",
    )
    pairs: int = option.count(14, "Pairs of slices of 0.4 s.", at_least=7)
    against: str | None = option.text(
        None,
        "Another checkout, built, whose sides of these rows are compared with this one's.",
        "FOLDER",
    )
    repeats: int = option.count(5, "Interleaved repeats of rows without pairs.")
    window: float = option.duration(2.0, "Length of one measurement of these.")
    json: bool = option.flag("JSON instead of a table.")


@command(_BenchOptions, panel="Measure")
def bench(options: _BenchOptions) -> None:
    """Measure the ratios that sitebench promises: against this machine's floor, slapd, nginx.

    python -m benches --rows lookup,cpu,connect --json
    python -m benches --against ../sitebench-before
    """
    status = Console(stderr=True).status("")
    chosen = choose(ROWS, options.rows)
    if options.against is not None:
        build = Path(options.against)
        with status:
            measured = pairs.measure_against(build, chosen, options.pairs, status.update)
        show([pairs.figures_table(measured, options.pairs)])
        return
    paired = [row for row in chosen if row in pairs.ROWS]
    apart = [row for row in chosen if row not in paired]
    with status:
        outcomes, measured = pairs.measure_rows(paired, options.pairs, status.update)
        others, series = _measure_trials(options, apart, status.update)
    if options.json:
        document = {
            "pairs": options.pairs,
            "repeats": options.repeats,
            "rows": [outcome.to_json() for outcome in (*outcomes, *others)],
            "slices": {title: slices._asdict() for title, slices in measured.items()},
            "values": series.values,
        }
        print(json.dumps(document, indent=2))
    else:
        shown = []
        if outcomes:
            shown += [pairs.figures_table(measured, options.pairs), *tables(outcomes, "Pairs")]
        if others:
            shown += tables(others, f"Medians of {options.repeats} repeats")
        show(shown)
    if any(outcome.state == "FAIL" for outcome in (*outcomes, *others)):
        sys.exit(EXIT_FAILED)


def _measure_trials(
    options: _BenchOptions, rows: Sequence[Row], progress: Callable[[str], object]
) -> tuple[list[Outcome], Series]:
    """Measure rows whose sides are not open at the same time."""
    needed = {name for row in rows for name in row.trials}
    with contextlib.ExitStack() as stack:
        trials = []
        for group_rows, bench_of in GROUPS:
            if any(row in rows for row in group_rows):
                opened = bench_of(options.window)
                stack.enter_context(opened.stack)
                trials += [trial for trial in opened.trials() if trial.name in needed]
        series = run_trials(trials, options.repeats, progress)
    return judge(rows, series), series


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
