"""The paper's Tables 13 and 14 filled with today's numbers; 1997's follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group

from ps_bench.paper.figures import figure_of, off_by
from ps_bench.paper.printed import SIZES_1997, TABLES_1997
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Series, series
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.tables import (
    by_size,
    latency_table,
    measurement_rows,
    medians,
    new_table,
    of_operation,
    rate_mark,
    repeat_rows,
    setup,
    titled,
)
from sitebench.units import format_ns, format_size

ROWS = tuple(TABLES_1997["Table 13: ProLiant 2500"])
_NO_NUMBER = "-"


def tables(results: Sequence[PointResult]) -> list[Group]:
    """Return every table of a sweep: measurements, 1997's figures, mix, latencies, bottlenecks."""
    operations = list(dict.fromkeys(result.spec.operation for result in results))
    made = [_measurements(each, of_operation(results, each)) for each in operations]
    if any(as_1997(result.spec) for result in results):
        made += _in_1997([each.spec.entries for each in of_operation(results, "scenario")])
    return [*made, _mixes(results), latency_table(results), *bottleneck_tables(results)]


def _measurements(operation: str, found: Sequence[Series]) -> Group:
    title = "PS user scenario" if operation == "scenario" else f"{operation} alone"
    spec = found[0].spec
    kept = spec.settings.get("keepalive") == "true"
    how = "one connection per user" if kept else "one connection per request"
    sizes = [each.spec.entries for each in found]
    rows = measurements(found) | repeat_rows(found, counted_as(found))
    return by_size(f"{title}: measurements ({setup(found)}, {how})", sizes, rows)


def counted_as(found: Sequence[Series]) -> str:
    """Return what an operation is to the paper; of a scenario from a file, nothing of its own."""
    return "Operations/sec" if any(own(each.spec) for each in found) else "ASP requests/sec"


def measurements(found: Sequence[Series]) -> dict[str, list[str]]:
    """Return the eight rows of Tables 13 and 14, in that order; of a file's, those that it has."""
    rate = counted_as(found)
    rows = {
        **measurement_rows(found, rate),
        "Web pages requested/sec": [
            rate_mark(each, figure_of("web_pages_per_s")) for each in found
        ],
        "Average Connect Time": medians(
            found, figure_of("connect_s"), lambda seconds: format_ns(seconds * 1e9)
        ),
        "ASP requests/sec": [rate_mark(each, figure_of("asp_requests_per_s")) for each in found],
        "UPD reads/sec": [rate_mark(each, figure_of("upd_reads_per_s")) for each in found],
    }
    if rate != "ASP requests/sec":
        unknown = ("Web pages requested/sec", "ASP requests/sec", "UPD reads/sec")
        return {name: cells for name, cells in rows.items() if name not in unknown}
    return {name: rows[name] for name in ROWS}


def own(spec: PointSpec) -> bool:
    """Return whether a point has a scenario from a file."""
    return spec.settings.get("scenario") is not None


def as_1997(spec: PointSpec) -> bool:
    """Return whether a point has the paper's scenario: not one from a file, nor a part of it."""
    return spec.operation == "scenario" and not own(spec)


def _in_1997(sizes: Sequence[int]) -> list[Group]:
    if not any(size in SIZES_1997 for size in sizes):
        return []
    return [
        by_size(
            f"In 1997: {name}",
            sizes,
            {row: [_then(cells, size) for size in sizes] for row, cells in rows.items()},
        )
        for name, rows in TABLES_1997.items()
    ]


def _then(cells: Sequence[str], size: int) -> str:
    return cells[SIZES_1997.index(size)] if size in SIZES_1997 else _NO_NUMBER


def _mixes(results: Sequence[PointResult]) -> Group:
    """Lay out the mix of operations, and by how much it differs from the scenario's.

    Every deck (the paper's is a hundred) is exact; a window cuts through one deck per thread at
    each of its ends. Of repeats, the one that differs most is shown.
    """
    table = new_table("Operation", "Size", "Mix", "off by", left=3)
    for each in series(results):
        for found in max(
            (result.figures.get("mix", {}) for result in each.results), key=_missed
        ).values():
            table.add_row(
                each.spec.operation,
                format_size(each.spec.entries),
                ", ".join(_share(name, each) for name, each in found.items()),
                f"{off_by(found):.1f} operations",
            )
    return titled("Request mix, exact in every deck of its shares", table)


def _missed(by_scenario: Mapping[str, Any]) -> float:
    return max((off_by(found) for found in by_scenario.values()), default=0.0)


def _share(name: str, found: Mapping[str, Any]) -> str:
    return f"{name} {found['percent']:.2f}% of {found['asked_percent']:g}% ({found['count']:,})"
