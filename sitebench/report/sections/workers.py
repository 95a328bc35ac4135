"""The workers of a distributed test: one row per worker and point."""

from __future__ import annotations

from sitebench.counts.worker_seen import WorkerSeen
from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.runs.point import PointResult
from sitebench.tables.html import to_html
from sitebench.tables.table import NOTHING, Cell, Mark, Row, Table
from sitebench.units import format_ns, format_rate

_COLUMNS = (
    *("Point", "Worker", "At", "Client", "Ended"),
    *("operations/s", "failed", "CPU cores", "round trip", "clock skew"),
)


def tables(report: Report) -> list[Table]:
    return [table for run in report.runs if (table := _workers(report, run)).rows]


def section(report: Report) -> Section | None:
    body = "".join(map(to_html, tables(report)))
    return Section("workers", "Who made the load", body, short="Workers") if body else None


def _workers(report: Report, run: Run) -> Table:
    rows = [
        _row(report.distinct_name(series.spec, run), result, worker)
        for series in run.series
        for result in series.results
        for worker in result.workers
    ]
    notes = [
        "Operations: all steps within the measured window. CPU: of the worker's own threads. "
        "Skew: the worker's wall clock minus the master's; timelines do not depend on it."
    ]
    return Table(report.title_for("Workers", run), _COLUMNS, rows, left=5, notes=notes)


def _row(point: str, result: PointResult, worker: WorkerSeen) -> Row:
    seconds = worker.seconds or result.spec.measure_s
    ended = Cell(worker.ended, Mark.INVALID) if worker.ended else "with the test"
    return [
        point,
        f"{worker.index}",
        f"{worker.host}, {worker.address}",
        worker.client,
        ended,
        format_rate(worker.operations / seconds),
        f"{worker.failures:,}",
        f"{sum(worker.cpu_s) / seconds:.2f}",
        _time(worker.round_trip_s),
        _time(worker.skew_s),
    ]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return NOTHING
    sign = "-" if seconds < 0 else ""
    return sign + format_ns(abs(seconds) * 1e9)
