"""Report of the directory suite: Figures 1 and 2 and Tables 10 and 11 of the paper.

Figures are drawn from Tables 4 to 9. Bottlenecks are from pages 11 and 12, with comments in our
words.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ils_bench.login.costs import login_costs
from ils_bench.paper.printed import PAPER
from ils_bench.suite import SUITE
from sitebench.report.paper import PaperTable, compare_with_paper
from sitebench.report.suite import (
    Printed,
    RateFigure,
    ReportSuite,
    besides_1997,
    bottlenecks,
)
from sitebench.runs.repeats import Series
from sitebench.tables.table import Cell, Mark, Table
from sitebench.tables.tables import measurement_rows, ops_per_s, repeat_rows

_NAMES = {
    "connect": ("Connect Operation", "Connect Ops/sec"),
    "add": ("Add Operation", "Add Ops/sec"),
    "lookup": ("Direct Lookup Operation", "Search Ops/sec"),
    "ils-user": ("ILS User Scenario (Table 3)", "Users' passes/sec"),
}
"""The paper's titles of operations, and of their rows of operations per second."""

_TITLES = {
    "connect": "Connect",
    "add": "Add",
    "lookup": "Lookup",
    "retrieve": "Retrieve",
    "ils-user": "ILS user",
    "register": "Register",
}

_UNKNOWABLE = "Cannot be determined without knowing the inside of ILS"
_BOTTLENECKS: Sequence[tuple[str, Cell, str]] = (
    ("CPU", Cell("Primary", Mark.PRIMARY), "Used in full"),
    ("Network", Cell("No", Mark.NO), "Less than 3 % of the bandwidth used"),
    ("Memory", Cell("No", Mark.NO), "Few page faults"),
    ("Operating system", Cell("Not enough information", Mark.UNKNOWN), _UNKNOWABLE),
    ("ILS software", Cell("Not enough information", Mark.UNKNOWN), _UNKNOWABLE),
    ("Disk subsystem", Cell("No", Mark.NO), "Almost no paging, few other accesses"),
)


def _figure(operation: str) -> RateFigure:
    printed = [
        Printed(f"{machine}, 1997", PAPER.sizes, table["ops_per_s"])
        for machine, table in PAPER.tables[operation].items()
    ]
    return RateFigure(operation, _NAMES[operation][0], operation, ops_per_s, printed)


def _paper_table(points: Sequence[Series]) -> Table:
    operation = points[0].spec.operation
    title, rate = _NAMES.get(operation, (_TITLES.get(operation, operation), "Ops/sec"))
    rows = measurement_rows(points, rate) | repeat_rows(points, rate)
    ends = [point.results[-1].figures for point in points]
    if all("entries_end" in figures for figures in ends):
        rows["Entries, window's start to end"] = [
            f"{figures['entries_start']:,} - {figures['entries_end']:,}" for figures in ends
        ]
    printed = [
        PaperTable(
            f"{machine}, Table {table['number']}",
            PAPER.sizes,
            {**table["rows"], rate: [f"{rate_1997:,}" for rate_1997 in table["ops_per_s"]]},
        )
        for machine, table in PAPER.tables.get(operation, {}).items()
    ]
    table = compare_with_paper(title, points, rows, printed)
    profile = points[0].spec.settings.get("profile")
    if operation != "add" or profile in (None, "small"):
        return table
    # 126 bytes follow from Tables 5 and 8: 718 to 1,360 adds a second caused 91 to 171 KB/s.
    larger = f"In 1997 an add had 126 bytes, as with --profile small; with {profile} it has more."
    return structs.replace(table, notes=[*table.notes, larger])


REPORT = ReportSuite(
    name=SUITE.name,
    title=SUITE.title,
    size_title="Entries in the directory",
    people="entries",
    rates=[_figure(operation) for operation in PAPER.tables],
    operations=_TITLES,
    paper_table=_paper_table,
    costs=login_costs,
    printed_1997=[besides_1997(PAPER)],
    bottlenecks_1997=[
        bottlenecks(
            10,
            "ProLiant 2500, all operations",
            _BOTTLENECKS,
            "By Table 6, lookups use 10.4 % of the network's 100 Mbit/s.",
        ),
        bottlenecks(
            11,
            "ProLiant 7000, all operations",
            _BOTTLENECKS,
            "By Table 9, lookups use 8.2 % of two networks' 200 Mbit/s; by Table 8, adds to 10,000 "
            "people use 76 % of the processors.",
        ),
    ],
)
