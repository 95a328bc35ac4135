"""Tables of the four papers, with today's figures beside the printed figures.

Tables of configurations are shown as printed. Cells of workloads that were not measured are empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from sitebench.counts.metrics import LATENCY
from sitebench.report.printed import PrintedTable, statements_table
from sitebench.report.suite import Folded
from sitebench.runs.repeats import Of, Series
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.tables.tables import processors, setup
from sitebench.units import format_bytes, format_rate, plural
from sitebench.verdict.verdict import Quoted
from web_bench.paper.analysis import efficiencies, of_schedule, peak_of
from web_bench.paper.arithmetic import LINE_EFFICIENCY, MBIT, WEBSTONE_MBIT, line_capacity
from web_bench.paper.figures import figure_of, latency_s
from web_bench.paper.printed import PAPERS, WEBBENCH, WEBSTONE, Paper
from web_bench.paper.tables import at_clients, by_target, by_workload, class_counts

_NOTHING = ""
_SPI = {
    "servlet": "inprocess",
    "cgi": "cgi",
    "jsp": "template",
    "shtml": "page",
    "static": "static",
}
"""Our kinds of programs, by programming interface in the paper of 2000."""

_MIXES = {
    "Distribution of Sample Files": "webbench1-static",
    "CGI/HTML File Distribution": "cgi-html",
    "Webstone File Distribution": "silicon-surf",
    "Large Filemix File Distribution": "large-filemix",
}
"""Workloads by the title of the table with their classes."""

_LINES = {"100BaseT or FDDI": 100e6, "10BaseT": 10e6, "T1": 1.544e6, "ISDN (BRI)": 128e3}
_LINES_1996 = {
    name: bits * (1.024 if bits < MBIT else WEBSTONE_MBIT / MBIT) for name, bits in _LINES.items()
}
"""Bits/s in the table of 1996, where a megabit has 2^20 bits and a kilobit has 2^10 bits."""


_FOUR, _ONE = re.compile(r"4.CPU|Four-Processor"), re.compile(r"1.CPU|Uniprocessor|1 processor")


def _processors(text: str) -> int | None:
    """Return the number of processors in a title or row of the papers."""
    return 4 if _FOUR.search(text) else 1 if _ONE.search(text) else None


class _Today(msgspec.Struct, frozen=True):
    """Results by workload; `count` is the number of processors of the printed table or row."""

    workloads: Mapping[str, Sequence[Series]]
    count: int | None = None

    def of_processors(self, *texts: str) -> _Today:
        """Return the results with the number of processors in a text; all results if none match."""
        count = next(filter(None, map(_processors, texts)), None)
        matching = {
            name: [point for point in points if processors(point) == count]
            for name, points in self.workloads.items()
        }
        return _Today(matching if any(matching.values()) else self.workloads, count)

    def processors_note(self, point: Series) -> str:
        n = processors(point)
        if self.count in (None, n):
            return _NOTHING
        return f", {plural(n, 'processor')}" if n else ", on another machine"

    def best(self, workload: str, figure: str = "requests_per_s") -> Series | None:
        return peak_of(self.workloads.get(workload, ()), figure)

    def peak(self, workload: str, figure: Of, show: Callable[[float], str]) -> str:
        best = self.best(workload)
        value = None if best is None else best.median(figure)
        if best is None or value is None:
            return _NOTHING
        means = (result.clocks[LATENCY].at_least for result in best.results)
        waited = figure is latency_s and any("mean" in at_least for at_least in means)
        place = f" @ {best.spec.users:,}{self.processors_note(best)}"
        if best.grade == Quoted.AT_LEAST:
            # If the load generator was the limit, the rate is a lower bound and the latency an
            # upper bound.
            bound = "<=" if figure is latency_s else ">="
            return f"{bound} {show(value)}{place}" if not waited else _NOTHING
        is_bound = waited or (figure is not latency_s and of_schedule(best))
        return f"{'>= ' if is_bound else ''}{show(value)}{place}"

    def peak_at(self, workload: str, figure: str, scale: float = 1.0) -> str:
        best = self.best(workload, figure)
        getter = figure_of(figure)
        if best is None:
            return _NOTHING
        return at_clients(best, getter, scale) + self.processors_note(best)

    def efficiency(self, workload: str) -> tuple[str, str]:
        program = efficiencies(self.workloads).get(workload)
        if program is None:
            return _NOTHING, _NOTHING
        note = self.processors_note(self.workloads[workload][0])
        peaks = program.own_peaks
        return f"{peaks.request:.1%}{note}", f"{peaks.latency:.1%}{note}"

    def shares(self, workload: str) -> list[str]:
        sums = class_counts(self.workloads.get(workload, ()))
        total = sum(counts["count"] for counts in sums.values())
        return [f"{100 * c['count'] / total:.2f}%" for c in sums.values()] if total else []


def paper_tables(points: Sequence[Series]) -> list[Folded]:
    targets = by_target(points)
    return [
        Folded(
            f"1996-2000 beside {target if len(targets) > 1 else 'today'}: "
            f"{paper.tool}, {paper.author}, {paper.date}",
            [
                *(_table(paper, table, _Today(by_workload(of_target))) for table in paper.tables),
                statements_table(paper.statements),
            ],
            folded=True,
        )
        for target, of_target in targets.items()
        for paper in PAPERS.values()
    ]


def _table(paper: Paper, table: PrintedTable, today: _Today) -> Table:
    rows: list[Row] = [[row[0], *(Cell(text, Mark.THEN) for text in row[1:])] for row in table.rows]
    columns = table.columns
    added = _columns(paper, table, today)
    columns = (*columns, *added)
    rows = [
        [*_pad(row, len(table.columns)), *(cells[n] for cells in added.values())]
        for n, row in enumerate(rows)
    ]
    rows += [_pad(row, len(columns)) for row in _rows(table, today)]
    width = len(columns)
    cells = [cell for row in table.rows for cell in row[1:]]
    text_columns = 1 if any(cell[:1].isdigit() for cell in cells) else width
    notes = (*table.notes, f"{paper.title}; {table.where}.")
    return Table(table.citation, columns, rows, text_columns, notes)


def _pad(row: Row, width: int) -> Row:
    """Return a row with empty cells at its end, where the paper leaves out cells."""
    return [*row, *([_NOTHING] * (width - len(row)))]


def _columns(paper: Paper, table: PrintedTable, today: _Today) -> dict[str, list[str]]:
    row_names = [row[0] for row in table.rows]
    if table.title in _MIXES:
        shares = today.shares(_MIXES[table.title])
        cells = (
            dict(enumerate(shares)) if len(shares) in (len(row_names), len(row_names) - 1) else {}
        )
        return {"Today": [cells.get(n, _NOTHING) for n in range(len(row_names))]}
    if table.title == "Model of User Requirement":
        return {
            "CGI requests today": [_dynamic(today, WEBBENCH[row_name]) for row_name in row_names]
        }
    if table.title == "Peak Performance Data":
        mbit, today = MBIT / WEBSTONE_MBIT, today.of_processors(table.columns[0])
        return {
            "Connections/s today": [
                today.peak_at(WEBSTONE[row_name], "connects_per_s") for row_name in row_names
            ],
            "Mbit/s today (2^20)": [
                today.peak_at(WEBSTONE[row_name], "mbit_per_s", mbit) for row_name in row_names
            ],
        }
    return _spice_columns(row_names, table, today) if paper.key == "webbench3" else {}


def _spice_columns(
    row_names: Sequence[str], table: PrintedTable, today: _Today
) -> dict[str, list[str]]:
    if "Efficiency" in table.title:
        pairs = [
            today.of_processors(row_name, "4-CPU").efficiency(_workload(row_name))
            for row_name in row_names
        ]
        return {
            "Request rate today": [rate for rate, _ in pairs],
            "Latency today": [latency for _, latency in pairs],
        }
    if any("Latency (ms)" in row_name for row_name in row_names):
        return {
            "Today": [
                _measurement(today.of_processors(table.title, row_name, "4-CPU"), row_name)
                for row_name in row_names
            ]
        }
    return {}


def _workload(row: str) -> str:
    kind = next(kind for word, kind in _SPI.items() if word in row.lower())
    return f"ecommerce-{kind}" if "commerce" in row.lower() else f"spice-{kind}"


def _measurement(today: _Today, row: str) -> str:
    workload = _workload(row)
    if "Latency" in row:
        return today.peak(workload, latency_s, lambda seconds: f"{1e3 * seconds:.3g}")
    return today.peak(workload, figure_of("requests_per_s"), format_rate)


def _dynamic(today: _Today, workload: str) -> str:
    shares = today.shares(workload)
    if not shares:
        return _NOTHING
    return shares[-1] if workload != "webbench1-static" else "0%"


def _rows(table: PrintedTable, today: _Today) -> list[Row]:
    if table.title == "Peak Throughput":
        cells = [today.peak_at(WEBBENCH[name], "requests_per_s") for name in table.columns[1:]]
        return [[f"Today, requests/s: {_setup(today)}", *cells]]
    if table.title.startswith("Monitoring Results"):
        best = today.best("webbench1-static")
        if best is None:
            return []
        cpu, sent = (
            best.median(getter)
            for getter in (lambda r: r.use.target_cpu_percent, figure_of("mbit_per_s"))
        )
        memory = best.median(lambda r: r.use.target_rss)
        bound = ">= " if best.grade == Quoted.AT_LEAST else ""
        return [
            [
                f"Today: {setup([best])}",
                f"{best.spec.users:,}",
                _NOTHING if cpu is None else f"{bound}{cpu:.0f}%",
                _NOTHING if sent is None else f"{bound}{format_rate(sent)} Mbit/s",
                _NOTHING if memory is None else format_bytes(memory),
            ]
        ]
    if table.title == "Common networking technologies":
        return [
            [
                f"Conn/Sec. @ {size} {kind}, K as {k}",
                *(
                    f"{line_capacity(lines[name], float(size[:-1]), efficiency=part, k=k):.4g}"
                    for name in table.columns[1:]
                ),
            ]
            for k, lines in _AS_K
            for size, practice in LINE_EFFICIENCY.items()
            for kind, part in (("in theory", 1.0), ("in practice", practice))
        ]
    return []


_AS_K: tuple[tuple[Literal["bits", "bytes"], Mapping[str, float]], ...] = (
    ("bits", _LINES_1996),
    ("bytes", _LINES),
)


def _setup(today: _Today) -> str:
    """Return the target and its processors; each cell names its own clients."""
    points = [point for name in WEBBENCH.values() for point in today.workloads.get(name, ())]
    if not points:
        return "none"
    target, *rest = setup(points).split(", ")
    return ", ".join([target, *(part for part in rest if "processor" in part)])
