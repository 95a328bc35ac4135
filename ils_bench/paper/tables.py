"""The paper's Tables 4 to 9 filled with today's numbers; 1997's follow where sizes match."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

from ils_bench.paper.printed import SIZES_1997, TABLES_1997
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.tables import (
    around,
    by_size,
    latency_table,
    measurement_rows,
    new_table,
    of_operation,
    rate_mark,
    rate_of,
    repeat_rows,
    setup,
    titled,
)
from sitebench.units import format_people, format_rate

NAMES = {
    "connect": ("Connect Operation", "Connect Ops/sec"),
    "add": ("Add Operation", "Add Ops/sec"),
    "lookup": ("Direct Lookup Operation", "Search Ops/sec"),
    "ils-user": ("ILS User Scenario (Table 3)", "Users' passes/sec"),
}
"""The paper's names of an operation and of its row of operations per second."""

_NO_NUMBER = "-"


def tables(results: Sequence[PointResult]) -> list[Group]:
    """Return every table of a sweep: one per operation, summary, latencies, bottlenecks."""
    operations = list(dict.fromkeys(result.spec.operation for result in results))
    measured = [_measurements(each, of_operation(results, each)) for each in operations]
    return [*measured, summary(results), latency_table(results), *bottleneck_tables(results)]


def _measurements(operation: str, found: Sequence[Series]) -> Group:
    title, rate = NAMES.get(operation, (f"{operation} sequence", "Ops/sec"))
    sizes = [each.spec.entries for each in found]
    rows = measurement_rows(found, rate) | repeat_rows(found, rate)
    ends = [each.results[-1].figures for each in found]
    if all("entries_end" in each for each in ends):
        rows["Entries, window's start to end"] = [
            f"{each['entries_start']:,} - {each['entries_end']:,}" for each in ends
        ]
    for machine in TABLES_1997.get(operation, {}):
        cells = [rate_1997(operation, machine, size) for size in sizes]
        if any(cells):
            rows[f"{rate}, {machine}, 1997"] = [cell or _NO_NUMBER for cell in cells]
    variants = [each.spec.variant for each in found]
    table = by_size(f"{title}: measurements ({setup(found)})", sizes, rows, variants=variants)
    return Group(table, *remarks(found))


def remarks(found: Sequence[Series]) -> list[str]:
    """Return in what an operation is another than the paper's, whose figures stand beside it."""
    spec = found[0].spec
    profile = spec.settings.get("profile")
    if spec.operation != "add" or profile in (None, "small"):
        return []
    # Tables 5 and 8: 91 to 171 KB/s received, by 718 to 1,360 adds.
    said = f"In 1997 an add had 126 bytes, as with --profile small; with {profile} it has more."
    return [said]


def rate_1997(operation: str, machine: str, size: int) -> str:
    """Return the paper's operations per second, or an empty text where it has no figure."""
    if size not in SIZES_1997 or operation not in TABLES_1997:
        return ""
    return f"{TABLES_1997[operation][machine]['ops_per_s'][SIZES_1997.index(size)]:,}"


def summary(results: Sequence[PointResult]) -> Group:
    """Lay out operations per second, one operation per row and one size per column."""
    of = {(result.spec.entries, result.spec.variant): None for result in results}
    columns = sorted(of, key=lambda column: column[0])
    names = (format_people(size, "entries") + variant for size, variant in columns)
    table = new_table("Operation", *names)
    for operation in dict.fromkeys(result.spec.operation for result in results):
        series = of_operation(results, operation)
        found = {(each.spec.entries, each.spec.variant): each for each in series}
        table.add_row(operation, *(_rate(found.get(column)) for column in columns))
    return titled("Operations per second by directory size", table)


def _rate(each: Series | None) -> str:
    if each is None:
        return _NO_NUMBER
    colour = "red" if not each.usable or each.failures else "yellow"
    mark = "" if each.valid and not each.failures else f" [{colour}]*[/]"
    bounds = f" ({around(each, rate_of, format_rate)})" if each.n > 1 else ""
    return rate_mark(each) + bounds + mark
